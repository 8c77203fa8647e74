package registry

import "sync"

// listeners are functions to call after a change. The zero value has none.
type listeners struct {
	mu   sync.Mutex
	next int
	fns  map[int]func()
}

// add keeps fn until cancel is called; cancel may be called more than once.
func (l *listeners) add(fn func()) (cancel func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fns == nil {
		l.fns = map[int]func(){}
	}
	id := l.next
	l.next++
	l.fns[id] = fn
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.fns, id)
	}
}

// call calls every function outside the lock, so that one of them may add or
// cancel.
func (l *listeners) call() {
	l.mu.Lock()
	fns := make([]func(), 0, len(l.fns))
	for _, fn := range l.fns {
		fns = append(fns, fn)
	}
	l.mu.Unlock()
	for _, fn := range fns {
		fn()
	}
}
