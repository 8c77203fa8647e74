package search

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxFiles is how many files with matches are remembered: the first by path.
// A path is about 60 bytes, so they take about 2 MB.
const maxFiles = 20_000

// maxNames is how many names a [Tally] has.
const maxNames = 3

// collector gathers what the workers count.
type collector struct {
	query  *Query
	mu     sync.Mutex
	files  []FileCount // in no order
	result Result

	// bound, once counting has ended, is the path after which nothing is of
	// interest any more.
	bound atomic.Pointer[string]
}

// closed counts a file that may not be read.
func (c *collector) closed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result.Closed++
}

// found takes the count of one file.
func (c *collector) found(path []byte, sum summary) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result.Searched++
	if sum.hits == 0 {
		if sum.notUTF8 {
			c.result.NotUTF8.add(path)
		}
		return
	}
	c.result.Hits += sum.hits
	c.result.HitFiles++
	c.files = append(c.files, FileCount{string(path), sum.hits})
	if len(c.files) >= 2*maxFiles {
		c.sort()
		c.files = c.files[:maxFiles]
	}
	if c.total() > c.reach()+enough && c.bound.Load() == nil {
		c.sort()
		last, _ := c.at(c.reach() - 1)
		c.bound.Store(&c.files[last].Path)
		c.result.AtLeast = true
	}
}

// beyond reports whether nothing from path on is of interest.
func (c *collector) beyond(path []byte) bool {
	bound := c.bound.Load()
	return bound != nil && string(path) > *bound
}

// reach is the number of the last result that was asked for.
func (c *collector) reach() int { return c.query.Offset + c.query.Limit }

// total is how many results there are.
func (c *collector) total() int {
	if c.query.Mode == Lines {
		return c.result.Hits
	}
	return c.result.HitFiles
}

// weight is how many results a file is.
func (c *collector) weight(f FileCount) int {
	if c.query.Mode == Lines {
		return f.Hits
	}
	return 1
}

func (c *collector) sort() {
	slices.SortFunc(c.files, func(a, b FileCount) int { return strings.Compare(a.Path, b.Path) })
}

// at returns the file that holds the result with that number, and which of
// the file's results it is. Beyond the last result, the file is the one
// after the last.
func (c *collector) at(number int) (file, within int) {
	for i, f := range c.files {
		if w := c.weight(f); number >= w {
			number -= w
			continue
		}
		return i, number
	}
	return len(c.files), 0
}

// choose fills in the files of the results that were asked for.
func (c *collector) choose() {
	c.sort()
	if len(c.files) > maxFiles {
		c.files = c.files[:maxFiles]
	}
	file, within := c.at(c.query.Offset)
	for rest := c.query.Limit; file < len(c.files) && rest > 0; file++ {
		f := c.files[file]
		take := min(c.weight(f)-within, rest)
		c.result.Files = append(c.result.Files, FileHits{Path: f.Path, Hits: f.Hits, From: within, To: within + take})
		c.result.Shown += take
		rest -= take
		within = 0
	}
	c.result.Others = c.files[file:]
}

// tally counts a file of some kind.
func (c *collector) tally(t *Tally, path []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.add(path)
}

func (t *Tally) add(path []byte) {
	t.Count++
	if len(t.Names) < maxNames || string(path) < t.Names[maxNames-1] {
		t.name(string(path))
	}
}

// name keeps a name if it is among the first.
func (t *Tally) name(path string) {
	at, _ := slices.BinarySearch(t.Names, path)
	t.Names = slices.Insert(t.Names, at, path)
	t.Names = t.Names[:min(len(t.Names), maxNames)]
}
