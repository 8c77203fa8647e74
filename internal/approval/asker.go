package approval

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/statedir"
)

// ask writes the question down.
func (q *Queue) ask(r permission.Request) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return nil, errClosed
	case len(q.waiting) >= maxStanding:
		return nil, fmt.Errorf("%d questions stand in it already", maxStanding)
	}
	if err := q.beAlive(); err != nil {
		return nil, err
	}
	question, text, err := newQuestion(q.owner, r)
	if err != nil {
		return nil, err
	}
	if err := q.locked(func() error { return replace(q.dir, question.ID+askEnd, text, false) }); err != nil {
		return nil, err
	}
	w := &waiter{question: question, request: r, done: make(chan outcome, 1)}
	q.waiting[question.ID] = w
	if !q.polling {
		q.polling = true
		q.polls.Go(q.poll)
	}
	return w, nil
}

// beAlive makes the file whose lock says that this process still waits. The
// queue is locked meanwhile, so that nobody finds the file free. q.mu is held.
func (q *Queue) beAlive() error {
	if q.alive != nil {
		return nil
	}
	owner := strings.ToLower(rand.Text()[:16])
	return q.locked(func() error {
		f, err := q.dir.OpenFile(owner+ownerEnd, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		if err != nil {
			return err
		}
		if _, err := statedir.Lock(f, false, true); err != nil {
			return errors.Join(err, f.Close())
		}
		q.owner, q.alive = owner, f
		return nil
	})
}

// finish ends the wait for a question and takes it out of the queue. The
// first that does so says what becomes of it. q.mu is held.
func (q *Queue) finish(id string, o outcome) {
	w := q.waiting[id]
	if w == nil {
		return
	}
	delete(q.waiting, id)
	// What cannot be removed does no harm: the question has no asker any more,
	// and whoever looks finds that out when this process ends.
	_ = q.locked(func() error {
		return errors.Join(q.dir.Remove(id+askEnd), q.removeIfThere(id+replyEnd))
	})
	w.done <- o
}

func (q *Queue) removeIfThere(name string) error {
	err := q.dir.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// poll looks for answers while anything is asked.
func (q *Queue) poll() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for range tick.C {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.polling = false
			q.mu.Unlock()
			return
		}
		q.look()
		q.mu.Unlock()
	}
}

// look takes in what was answered. An answer that is no answer to its question
// is thrown away, and the question stands. q.mu is held.
func (q *Queue) look() {
	replies, err := q.names(replyEnd)
	if err != nil {
		for id := range q.waiting {
			q.finish(id, outcome{err: fmt.Errorf("reading the queue of questions: %w", err)})
		}
		return
	}
	for _, id := range replies {
		w := q.waiting[id]
		if w == nil {
			continue
		}
		reply, err := q.readReply(id)
		if err == nil {
			err = reply.check(w.question)
		}
		if err != nil {
			_ = q.locked(func() error { return q.removeIfThere(id + replyEnd) })
			continue
		}
		q.finish(id, outcome{answer: reply.answer(w.request)})
	}
}

func (q *Queue) readReply(id string) (Reply, error) {
	text, err := q.read(id+replyEnd, maxReply)
	if err != nil {
		return Reply{}, err
	}
	var p Reply
	err = strict(text, &p)
	return p, err
}
