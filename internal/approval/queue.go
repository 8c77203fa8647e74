package approval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/statedir"
)

// The names in the folder of a queue. Everything else in it is left alone.
const (
	folder   = "approvals"
	lockName = "lock"
	ownerEnd = ".owner"
	askEnd   = ".question.json"
	replyEnd = ".answer.json"
	tempEnd  = ".part"
)

const (
	// pollEvery is how often an asker looks for answers. A person does not
	// notice it, and a look is one listing of a folder.
	pollEvery = 100 * time.Millisecond
	// maxStanding is how many questions one queue may hold.
	maxStanding = 10_000
)

// Queue is a folder of questions that other processes of the same user answer:
// one JSON file a question, and one for its answer, each complete from the
// first moment that it is seen. A question is answered at most once, and ends
// with the process that asked: one whose asker is gone is removed by whoever
// looks next, and an answer that comes later finds nothing. The answering
// side may come and go.
//
// Whoever has the user's account can write an answer. The folder is beneath the
// state folder, which is closed to tools and, in the fence, to commands.
// A Queue is safe for concurrent use.
type Queue struct {
	dir *statedir.Dir

	mu      sync.Mutex
	owner   string   // "" until the first question
	alive   *os.File // holds the owner's lock
	waiting map[string]*waiter
	polling bool
	closed  bool
	polls   sync.WaitGroup
}

// waiter is one question that is asked here.
type waiter struct {
	question Question
	request  permission.Request
	done     chan outcome // one
}

type outcome struct {
	answer permission.Answer
	err    error
}

// errClosed is what a queue answers that was closed.
var errClosed = errors.New("the queue of questions is closed")

// Open opens the queue beneath a state folder and makes it where it is
// missing. A folder that others could reach or exchange, and a link, is
// refused.
func Open(stateDir string) (*Queue, error) {
	top, err := statedir.Open(stateDir)
	if err != nil {
		return nil, fmt.Errorf("opening the queue of questions: %w", err)
	}
	defer func() { _ = top.Close() }()
	dir, err := top.Sub(folder)
	if err != nil {
		return nil, fmt.Errorf("opening the queue of questions: %w", err)
	}
	return &Queue{dir: dir, waiting: map[string]*waiter{}}, nil
}

// Path returns the folder of the queue.
func (q *Queue) Path() string { return q.dir.Path() }

// Close withdraws what is asked here and lets go of the folder.
func (q *Queue) Close() error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return nil
	}
	q.closed = true
	for id := range q.waiting {
		q.finish(id, outcome{err: errClosed})
	}
	alive, owner := q.alive, q.owner
	q.mu.Unlock()
	q.polls.Wait()
	var errs []error
	if alive != nil {
		errs = append(errs, q.dir.Remove(owner+ownerEnd), alive.Close())
	}
	return errors.Join(append(errs, q.dir.Close())...)
}

// locked runs f while no other process changes what stands in the queue.
func (q *Queue) locked(f func() error) error {
	lock, err := q.dir.OpenFile(lockName, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if _, err := statedir.Lock(lock, false, true); err != nil {
		return err
	}
	return f()
}

// read reads a file of at most most bytes.
func (q *Queue) read(name string, most int64) ([]byte, error) {
	f, err := q.dir.OpenFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it is longer than %d bytes", most)
	}
	return text, err
}

// exists reports whether there is anything of the name.
func (q *Queue) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(q.dir.Path(), name))
	return !errors.Is(err, fs.ErrNotExist)
}

// names lists what has the ending, without it.
func (q *Queue) names(end string) ([]string, error) {
	all, err := q.dir.Names()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if base, ok := strings.CutSuffix(name, end); ok && base != "" {
			names = append(names, base)
		}
	}
	return names, nil
}

// Ask puts the question into the queue and waits for its answer. It is a
// [permission.Approver].
func (q *Queue) Ask(ctx context.Context, r permission.Request) (permission.Answer, error) {
	if ctx.Err() != nil {
		return permission.Answer{}, context.Cause(ctx)
	}
	w, err := q.ask(r)
	if err != nil {
		return permission.Answer{}, fmt.Errorf("putting a question into the queue: %w", err)
	}
	select {
	case o := <-w.done:
		return o.answer, o.err
	case <-ctx.Done():
		q.mu.Lock()
		q.finish(w.question.ID, outcome{err: context.Cause(ctx)})
		q.mu.Unlock()
		o := <-w.done // which may be an answer that was faster
		return o.answer, o.err
	}
}
