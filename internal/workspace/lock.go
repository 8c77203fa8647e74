package workspace

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// lockKey names a folder within a workspace.
type lockKey struct {
	zone *zone
	dir  string
}

// A lockTable lets the writers of one folder take turns in order of arrival.
// The zero value is ready. The lock is per folder and not per file because
// flock, which keeps other processes out, is taken on the folder as well: a
// file that is replaced takes its lock with it.
type lockTable struct {
	mu   sync.Mutex
	held map[lockKey][]chan struct{} // the waiting, first come first
	done map[lockKey]bool            // folders that were swept
}

// acquire waits for the turn of the folder and returns its end.
func (t *lockTable) acquire(ctx context.Context, key lockKey) (release func(), err error) {
	t.mu.Lock()
	queue, busy := t.held[key]
	if !busy {
		if t.held == nil {
			t.held = make(map[lockKey][]chan struct{})
		}
		t.held[key] = nil
		t.mu.Unlock()
		return func() { t.release(key) }, nil
	}
	turn := make(chan struct{})
	t.held[key] = append(queue, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return func() { t.release(key) }, nil
	case <-ctx.Done():
		t.leave(key, turn)
		return nil, ctx.Err()
	}
}

// tryAcquire takes the turn only if nobody has it.
func (t *lockTable) tryAcquire(key lockKey) (release func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, busy := t.held[key]; busy {
		return nil, false
	}
	if t.held == nil {
		t.held = make(map[lockKey][]chan struct{})
	}
	t.held[key] = nil
	return func() { t.release(key) }, true
}

func (t *lockTable) release(key lockKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next(key)
}

// next hands the turn on. t.mu is held.
func (t *lockTable) next(key lockKey) {
	queue := t.held[key]
	if len(queue) == 0 {
		delete(t.held, key)
		return
	}
	t.held[key] = queue[1:]
	close(queue[0])
}

// leave takes a waiter out of the queue. If its turn came at the same
// moment, the turn is handed on.
func (t *lockTable) leave(key lockKey, turn chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.held[key] {
		if c == turn {
			queue := t.held[key]
			t.held[key] = append(queue[:i:i], queue[i+1:]...)
			return
		}
	}
	t.next(key)
}

// firstTime reports whether the folder is locked for the first time.
func (t *lockTable) firstTime(key lockKey) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done[key] {
		return false
	}
	if t.done == nil {
		t.done = make(map[lockKey]bool)
	}
	t.done[key] = true
	return true
}

// maxLockWait is how long a writer waits for another process to finish with
// a folder. A write takes milliseconds; who holds the lock for longer is
// stuck or means something else by it.
const maxLockWait = 10 * time.Second

// errLocked: another process holds the lock of a folder.
var errLocked = errors.New("locked by another process")

// lockFolder takes the lock that keeps other processes from writing in the
// folder. The lock ends when f is closed, also if the process is killed. It
// reports false where the file system has no such locks.
func lockFolder(ctx context.Context, f *os.File, name string) (bool, error) {
	if f == nil {
		return false, nil
	}
	deadline := time.Now().Add(maxLockWait)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		ok, err := tryFlock(f)
		if !errors.Is(err, errLocked) {
			return ok, err
		}
		if time.Now().After(deadline) {
			return false, failed(errLocked, "%s: another program has held the lock of this folder for %v; try again when it has finished", tool.Clip(name), maxLockWait)
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(pause):
		}
	}
}
