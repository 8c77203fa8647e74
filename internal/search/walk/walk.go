package walk

import (
	"context"
	"runtime"
	"sync"

	"github.com/handrail-tools/handrail/internal/search/ignore"
)

// Config says what a walk visits. The zero value visits every file that is
// neither hidden nor ignored.
type Config struct {
	// Prefix is the path of the tree, "" or without a final slash. The paths
	// that the walk gives begin with it, and rules from above are relative
	// to where it begins.
	Prefix string
	// Rules are the rules from the folders above, as [Tree.Rules] gives
	// them.
	Rules *ignore.Level
	// NoIgnore visits what ignore files leave out.
	NoIgnore bool
	// Hidden visits what has a name that begins with a dot. Even so, a .git
	// is never entered, unless the walk begins in it.
	Hidden bool
	// Links visits symbolic links too, which are still not followed.
	Links bool
	// Dot, where it is set, names hidden entries that are visited all the
	// same.
	Dot func(path []byte, dir bool) bool
	// Want, where it is set, says which files are visited and which folders
	// are entered at all. What it refuses is not counted as left out.
	Want func(path []byte, dir bool) bool
	// Closed, where it is set, names folders that may not be read. They are
	// counted, and not entered.
	Closed func(path []byte) bool
	// Beyond, where it is set, is asked shortly before a file is visited or
	// a folder is entered, in the form that sorts: a folder's path ends in a
	// slash. What is beyond is passed over. It lets a walk end early whose
	// consumer wants only the first paths in order.
	Beyond func(path []byte) bool
}

const (
	// maxOpen bounds the folders that wait, open, for their sub-folders to
	// be entered. Beyond it a sub-folder is opened again from the top.
	maxOpen = 256
	// batch is how many files of a large folder are handed to another
	// worker at a time.
	batch = 48
	// maxQueue bounds the batches that wait, so that a huge folder is not
	// held in memory by name.
	maxQueue = 1024
	// maxWorkers bounds the workers, since each holds buffers.
	maxWorkers = 16
)

// Workers returns how many goroutines a walk uses: four for each processor,
// since they wait for the disk as often as they work. Measured on two
// processors, twice as many as eight is slower with a warm cache and a third
// faster with a cold one.
func Workers() int { return min(4*runtime.GOMAXPROCS(0), maxWorkers) }

// Walk visits the files beneath t. It calls visit from [Workers] goroutines
// at once, each with its own number, and returns when all have ended. Files
// come in no certain order, folders roughly in the order of their names.
//
// When ctx is done, Walk ends after the visits that are under way and
// returns its error; what was counted up to then is returned with it. No
// other error ends a walk.
func Walk(ctx context.Context, t *Tree, c Config, visit func(worker int, e *Entry)) (Left, error) {
	w := &walker{config: c, visit: visit, start: t.folder, working: Workers()}
	w.wake = sync.NewCond(&w.mu)
	defer context.AfterFunc(ctx, w.stop)()
	top := job{level: c.Rules, top: true}
	if c.Prefix != "" {
		top.dir = c.Prefix + "/"
	}
	w.stack = append(w.stack, top)
	var all sync.WaitGroup
	workers := make([]worker, Workers())
	for i := range workers {
		workers[i].walker, workers[i].number = w, i
		all.Go(workers[i].run)
	}
	all.Wait()
	var left Left
	for i := range workers {
		left.add(&workers[i].left)
	}
	return left, ctx.Err()
}
