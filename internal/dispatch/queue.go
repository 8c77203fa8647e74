package dispatch

import (
	"context"
	"errors"
	"sync"

	"github.com/handrail-tools/handrail/tool"
)

// errStuck reports that an earlier call, which must not run beside this one,
// was told to stop and has not.
var errStuck = errors.New("an earlier call does not stop")

// queue lets the calls of one session run in the order of their arrival:
// safe calls together, an exclusive call alone, keyed calls alone within
// their key. A call never overtakes one that it may not run beside, so a
// read that arrives after a write sees the write.
//
// The zero value is ready, with no bound on how many calls run together.
type queue struct {
	// limit is the most calls that run at once; 0 means no limit.
	limit int

	mu      sync.Mutex
	first   *place
	last    *place
	running int
	stuck   int // calls that do not stop; with limit of them nobody runs
	// drained is made when the queue is closed, and closed once nobody is
	// left in it.
	drained chan struct{}
}

// place is one call's position in the queue. It is held from arrival until
// leave.
type place struct {
	class      tool.Concurrency
	key        string
	next, prev *place
	turn       chan struct{} // closed when the call may run, or never will; nil if it may at once
	state      placeState
	cancel     func(cause error) // tells the call to stop; may be nil
}

type placeState uint8

const (
	waiting placeState = iota
	running
	blocked // behind a stuck place: it will never run
	stuck   // was told to stop and still runs
	gone
)

// conflicts reports whether a and b may not run at the same time.
func (p *place) conflicts(q *place) bool {
	switch {
	case p.class == tool.Exclusive || q.class == tool.Exclusive:
		return true
	case p.class == tool.Keyed && q.class == tool.Keyed:
		return p.key == q.key
	default:
		return false
	}
}

// arrive takes the next place for p. It reports false when the queue is
// closed.
func (q *queue) arrive(p *place) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.drained != nil {
		return false
	}
	if p.prev = q.last; q.last == nil {
		q.first = p
	} else {
		q.last.next = p
	}
	q.last = p
	q.grant()
	if p.state == waiting {
		p.turn = make(chan struct{})
	}
	return true
}

// close takes no more arrivals, tells everybody in the queue to stop, and
// returns a channel that is closed once all have left.
func (q *queue) close(cause error) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.drained != nil {
		return q.drained
	}
	q.drained = make(chan struct{})
	for p := q.first; p != nil; p = p.next {
		if p.cancel != nil {
			p.cancel(cause)
		}
	}
	if q.first == nil {
		close(q.drained)
	}
	return q.drained
}

// wait blocks until the call at p may run. It returns the context's error,
// or errStuck. The place is kept in either case.
func (q *queue) wait(ctx context.Context, p *place) error {
	if p.turn != nil {
		select {
		case <-p.turn:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.state == blocked {
		return errStuck
	}
	return nil
}

// leave gives the place up. Leaving twice is harmless.
func (q *queue) leave(p *place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.state == gone {
		return
	}
	switch p.state {
	case running:
		q.running--
	case stuck:
		q.stuck--
	}
	p.state = gone
	if p.prev == nil {
		q.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		q.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	if q.drained != nil && q.first == nil {
		close(q.drained)
	}
	q.grant()
}

// markStuck says that the running call at p was told to stop and has not.
// Whoever may not run beside it is turned away until it leaves.
func (q *queue) markStuck(p *place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.state == running {
		p.state = stuck
		q.running-- // its slot is free; what it may still do is not
		q.stuck++
		q.grant()
	}
}

// grant walks the queue once, in order, and lets every waiting call run that
// conflicts with nobody before it. The caller holds the lock.
func (q *queue) grant() {
	var ahead standing
	for p := q.first; p != nil; p = p.next {
		if p.state == waiting {
			switch {
			case ahead.stuckFor(p) || q.limit > 0 && q.stuck >= q.limit:
				p.settle(blocked)
			case ahead.clearFor(p) && (q.limit == 0 || q.running < q.limit):
				p.settle(running)
				q.running++
			}
		}
		ahead.add(p)
	}
}

// settle ends the waiting at p.
func (p *place) settle(state placeState) {
	p.state = state
	if p.turn != nil {
		close(p.turn)
	}
}

// standing sums up the places that were already walked past, so that a walk
// costs one step a place.
type standing struct {
	any, exclusive           bool
	stuckAny, stuckExclusive bool
	keys, stuckKeys          map[string]bool
}

func (s *standing) add(p *place) {
	if p.state == blocked {
		return // it never runs, so nobody waits for it
	}
	s.any = true
	s.exclusive = s.exclusive || p.class == tool.Exclusive
	if p.state == stuck {
		s.stuckAny = true
		s.stuckExclusive = s.stuckExclusive || p.class == tool.Exclusive
	}
	if p.class == tool.Keyed {
		mark(&s.keys, p.key)
		if p.state == stuck {
			mark(&s.stuckKeys, p.key)
		}
	}
}

func (s *standing) clearFor(p *place) bool {
	switch p.class {
	case tool.Safe:
		return !s.exclusive
	case tool.Keyed:
		return !s.exclusive && !s.keys[p.key]
	default:
		return !s.any
	}
}

func (s *standing) stuckFor(p *place) bool {
	switch p.class {
	case tool.Safe:
		return s.stuckExclusive
	case tool.Keyed:
		return s.stuckExclusive || s.stuckKeys[p.key]
	default:
		return s.stuckAny
	}
}

func mark(set *map[string]bool, key string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[key] = true
}

// leaveStuck gives up the place of a call that was abandoned and has now
// ended. A place that is not stuck is left to its owner.
func (q *queue) leaveStuck(p *place) {
	q.mu.Lock()
	isStuck := p.state == stuck
	q.mu.Unlock()
	if isStuck {
		q.leave(p)
	}
}
