package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/search/glob"
	"github.com/handrail-tools/handrail/internal/search/walk"
)

// FindQuery is a search for files by their paths.
type FindQuery struct {
	// Glob is matched against paths from the place's prefix on.
	Glob *glob.Glob
	// Newest sorts by the time of the last change, the latest first, and
	// by path where that is the same; otherwise by path alone.
	Newest bool
	// Prefix and After choose paths, which begin with the one and sort after
	// the other; "" chooses all. Skip, where it is set, passes paths over.
	Prefix, After string
	Skip          func(path []byte) bool
	// Offset and Limit choose the files to return. Their sum is at most
	// [MaxReach].
	Offset, Limit int
	// Hidden finds what is hidden although the glob does not name the dot.
	// NoIgnore finds what ignore files leave out.
	Hidden, NoIgnore bool
	// Time is how long the search may take; when it is over, what was found
	// is returned. 0 means no limit.
	Time time.Duration
}

// Found is what a search for files found.
type Found struct {
	// Files are the files asked for, in order.
	Files []FoundFile
	// Total is how many there are.
	Total int
	// TimeOut says that the time was over: there may be more, and the files
	// are some, not the first.
	TimeOut bool
	// Closed counts files that match and may not be shown.
	Closed Tally
	Left   walk.Left
}

// FoundFile is a file.
type FoundFile struct {
	Path    string
	ModTime time.Time // only where it was sorted by
}

// Find searches a place for files. It returns an error only when ctx is
// done.
func Find(ctx context.Context, p Place, q FindQuery) (*Found, error) {
	searching, cancel := withTime(ctx, q.Time)
	defer cancel()
	f := &finding{place: &p, query: &q, workers: make([]foundFiles, walk.Workers())}
	left, err := walk.Walk(searching, p.Tree, f.config(), f.visit)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	found := &Found{TimeOut: err != nil, Left: left}
	var all []FoundFile
	for i := range f.workers {
		w := &f.workers[i]
		all = append(all, w.files...)
		found.Total += w.total
		found.Closed.Count += w.closed.Count
		for _, name := range w.closed.Names {
			found.Closed.name(name)
		}
	}
	slices.SortFunc(all, f.compare)
	found.Files = all[min(q.Offset, len(all)):min(q.Offset+q.Limit, len(all))]
	return found, nil
}

// finding is a search that is under way.
type finding struct {
	place   *Place
	query   *FindQuery
	workers []foundFiles
}

// foundFiles are the files that one worker found: the first, as far as they
// can be among those asked for.
type foundFiles struct {
	files  []FoundFile
	total  int
	closed Tally
	_      [64]byte // each worker writes its own; none shall share a cache line
}

func (f *finding) config() walk.Config {
	c := f.place.config(f.query.Hidden, f.query.NoIgnore)
	absent := c.Want
	c.Want = func(path []byte, dir bool) bool {
		return f.can(path, dir, true) && f.query.within(path, dir) && (absent == nil || absent(path, dir))
	}
	c.Dot = func(path []byte, dir bool) bool { return f.can(path, dir, false) }
	return c
}

// can reports whether a file matches, or something in a folder could.
func (f *finding) can(path []byte, dir, dot bool) bool {
	if f.place.Prefix != "" {
		path = path[len(f.place.Prefix)+1:]
	}
	if dir {
		return f.query.Glob.Enter(path, dot)
	}
	return f.query.Glob.Match(path, dot)
}

// within reports whether a file is one of those that the query chooses by the
// order of paths, or something in a folder could be.
func (q *FindQuery) within(path []byte, dir bool) bool {
	if q.Prefix == "" && q.After == "" && (dir || q.Skip == nil) {
		return true
	}
	if !dir {
		return strings.HasPrefix(string(path), q.Prefix) && (q.After == "" || string(path) > q.After) && (q.Skip == nil || !q.Skip(path))
	}
	below := string(path) + "/"
	if !strings.HasPrefix(below, q.Prefix) && !strings.HasPrefix(q.Prefix, below) {
		return false
	}
	return q.After <= below || strings.HasPrefix(q.After, below)
}

func (f *finding) visit(worker int, e *walk.Entry) {
	w := &f.workers[worker]
	if f.place.Closed != nil && f.place.Closed(e.Path()) {
		w.closed.add(e.Path())
		return
	}
	file := FoundFile{Path: string(e.Path())}
	if f.query.Newest {
		info, err := e.Stat()
		if err != nil {
			return // it is gone
		}
		file.ModTime = info.ModTime
	}
	w.total++
	w.files = append(w.files, file)
	if reach := f.query.Offset + f.query.Limit; len(w.files) >= 2*reach+1000 {
		slices.SortFunc(w.files, f.compare)
		w.files = w.files[:reach]
	}
}

func (f *finding) compare(a, b FoundFile) int {
	return cmp.Or(b.ModTime.Compare(a.ModTime), strings.Compare(a.Path, b.Path))
}
