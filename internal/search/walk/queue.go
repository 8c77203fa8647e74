package walk

import (
	"sync"
	"sync/atomic"

	"github.com/handrail-tools/handrail/internal/search/ignore"
)

// job is a folder to enter, or some files of an open folder to visit.
type job struct {
	dir    string // path with a final slash, "" at the top without a prefix
	level  *ignore.Level
	parent *handle // the folder above, if it is kept open
	top    bool    // the folder is the tree's own

	files [][]byte // with a NUL behind each; then parent is the folder itself
}

// handle is an open folder that several jobs need.
type handle struct {
	folder folder
	users  atomic.Int32
	walker *walker
}

func (h *handle) release() {
	if h != nil && h.users.Add(-1) == 0 {
		h.walker.open.Add(-1)
		_ = h.folder.close() // it was only read
	}
}

// walker is what the workers share.
type walker struct {
	config Config
	visit  func(worker int, e *Entry)
	start  folder
	open   atomic.Int32 // handles
	halted atomic.Bool

	mu      sync.Mutex
	wake    *sync.Cond
	stack   []job
	batches int // how many jobs of the stack are files
	working int
}

func (w *walker) stop() {
	w.halted.Store(true)
	// With the lock, so that no worker is between looking and waiting.
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake.Broadcast()
}

// push hands over jobs. The last is taken first.
func (w *walker) push(jobs ...job) {
	w.mu.Lock()
	w.stack = append(w.stack, jobs...)
	for i := range jobs {
		if jobs[i].files != nil {
			w.batches++
		}
	}
	w.mu.Unlock()
	if len(jobs) == 1 {
		w.wake.Signal()
	} else {
		w.wake.Broadcast()
	}
}

// pop takes a job and waits for one as long as a worker may still push some.
func (w *walker) pop() (job, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working--
	for len(w.stack) == 0 && w.working > 0 && !w.halted.Load() {
		w.wake.Wait()
	}
	if len(w.stack) == 0 {
		w.wake.Broadcast()
		return job{}, false
	}
	last := len(w.stack) - 1
	j := w.stack[last]
	w.stack[last] = job{}
	w.stack = w.stack[:last]
	if j.files != nil {
		w.batches--
	}
	w.working++
	return j, true
}

// crowded reports whether enough batches wait.
func (w *walker) crowded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.batches >= maxQueue
}
