// Package search finds lines and files in a tree: what grep and glob do.
//
// Goals: a gigabyte of warm source in less time than ripgrep takes, at most
// 64 MiB of memory whatever lies in the tree, an end within 50 ms of a
// cancellation, and the same answer every time: what is returned are the
// first results in the order of their paths, although many goroutines look.
//
// The work is divided into rooms: ignore (which paths rules leave out), walk
// (the tree, in parallel), match (the lines of a text), glob (patterns for
// paths). This package joins them: it reads files piece by piece, gathers
// what was found, and counts what was not looked at, since "nothing found"
// means little without it.
package search

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/handrail-tools/handrail/internal/search/match"
	"github.com/handrail-tools/handrail/internal/search/walk"
)

// Mode is what a search for lines returns.
type Mode int8

const (
	// Lines returns the matching lines, with their surroundings.
	Lines Mode = iota
	// Files returns the files that have a match.
	Files
	// Counts returns those files and how many matches each has.
	Counts
)

// Query is a search for lines.
type Query struct {
	Pattern *match.Pattern
	// Multiline says that the pattern was compiled to span lines. A match is
	// then one hit, however many lines it has.
	Multiline bool
	Mode      Mode
	// Before and After are how many lines to return around each match.
	Before, After int
	// Offset and Limit choose the results to return: hits in the mode Lines,
	// files in the others. Their sum is at most [MaxReach].
	Offset, Limit int
	// Filter chooses the files; nil means all.
	Filter *Filter
	// Hidden and NoIgnore search what is hidden, and what ignore files leave
	// out.
	Hidden, NoIgnore bool
	// Time is how long the search may take; when it is over, what was found
	// is returned. 0 means no limit.
	Time time.Duration
}

const (
	// MaxReach is the last result that can be asked for. To get so far
	// means to have the wrong pattern.
	MaxReach = 10_000
	// enough is how many results are counted beyond those returned. Then the
	// counting ends: it would only make a large number larger.
	enough = 50_000
)

// Result is what a search for lines found.
type Result struct {
	// Files are the files of the results asked for, in order of path.
	Files []FileHits
	// Shown is how many results, hits or files, these are.
	Shown int
	// Hits and HitFiles are how many matches, and files that have some,
	// there are. In the mode Files, Hits is 0.
	Hits, HitFiles int
	// AtLeast says that counting ended early: there are more.
	AtLeast bool
	// TimeOut says that the time was over: the results are some, not the
	// first.
	TimeOut bool
	// Others are the files with matches that come after Files, in order of
	// path; at most 20,000 files are remembered.
	Others []FileCount

	// Searched is how many files were read.
	Searched int
	// Binary counts files with a match that have a NUL byte; their lines are
	// not returned.
	Binary Tally
	// TooLarge counts files that a search across lines does not hold in
	// memory. They were not searched.
	TooLarge Tally
	// NotUTF8 counts files without a match that are not UTF-8, where the
	// pattern has characters that other encodings spell differently.
	NotUTF8 Tally
	// Unreadable counts files that could not be read.
	Unreadable Tally
	// Closed is how many files may not be read. They were not: whether one
	// has a match would tell what is in it.
	Closed int
	// Left is what the walk left out.
	Left walk.Left
}

// FileHits is a file and what was found in it.
type FileHits struct {
	Path string
	// Hits is how many matches the whole file has. In the mode Files it is
	// 1, since nobody counted.
	Hits int
	// From and To choose the hits whose lines are returned: those numbered
	// From, from 0, up to but not including To.
	From, To int
	// Lines are the lines to show, in order. Where the file has changed
	// meanwhile there may be fewer than were chosen.
	Lines []Line
	// Invalid says that lines hold bytes that are not UTF-8.
	Invalid bool
}

// FileCount is a file with matches.
type FileCount struct {
	Path string
	Hits int
}

// Tally counts files of some kind and names the first of them.
type Tally struct {
	Count int
	Names []string
}

// Grep searches the files of a place for lines. It returns an error only
// when ctx is done.
//
// All files are counted first, in parallel; then the few that hold the
// results asked for are read again for their lines. So memory does not
// depend on how much is found, and the results are the first by path.
func Grep(ctx context.Context, p Place, q Query) (*Result, error) {
	searching, cancel := withTime(ctx, q.Time)
	defer cancel()
	g := newGrep(&p, &q)
	defer context.AfterFunc(searching, func() { g.stop.Store(true) })()
	left, _ := walk.Walk(searching, p.Tree, g.walkConfig(), g.visit)
	g.result.Left = left
	g.choose()
	if q.Mode == Lines {
		g.lines(func(path string) (io.ReadCloser, error) { return p.open(path) })
	}
	return g.end(ctx)
}

// GrepFile searches one open file, whatever the filter of the query says.
// path is its path in the result.
func GrepFile(ctx context.Context, path string, file io.ReadSeeker, q Query) (*Result, error) {
	searching, cancel := withTime(ctx, q.Time)
	defer cancel()
	g := newGrep(&Place{}, &q)
	defer context.AfterFunc(searching, func() { g.stop.Store(true) })()
	g.search(g.scanner(0), []byte(path), file)
	g.choose()
	if q.Mode == Lines {
		g.lines(func(string) (io.ReadCloser, error) {
			_, err := file.Seek(0, io.SeekStart)
			return io.NopCloser(file), err
		})
	}
	return g.end(ctx)
}

func withTime(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d > 0 {
		return context.WithTimeout(ctx, d)
	}
	return context.WithCancel(ctx)
}

// grep is a search that is under way.
type grep struct {
	place    *Place
	query    *Query
	stop     atomic.Bool
	scanners []*scanner // by worker
	large    chan []byte
	collector
}

func newGrep(p *Place, q *Query) *grep {
	g := &grep{place: p, query: q, scanners: make([]*scanner, walk.Workers()), large: make(chan []byte, 1)}
	g.large <- nil
	g.collector.query = q
	return g
}

// end closes the search. The time of the search being over is no error.
func (g *grep) end(ctx context.Context) (*Result, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	g.result.TimeOut = g.stop.Load()
	return &g.result, nil
}

// scanner returns the scanner of a worker, made when it is first needed.
func (g *grep) scanner(worker int) *scanner {
	if g.scanners[worker] == nil {
		g.scanners[worker] = newScanner(g.query, &g.stop, g.large)
	}
	return g.scanners[worker]
}

func (g *grep) walkConfig() walk.Config {
	c := g.place.config(g.query.Hidden, g.query.NoIgnore)
	if f := g.query.Filter; f != nil {
		inner := c.Want
		c.Want = func(path []byte, dir bool) bool { return f.Want(path, dir) && (inner == nil || inner(path, dir)) }
	}
	c.Beyond = g.beyond
	return c
}

func (g *grep) visit(worker int, e *walk.Entry) {
	if g.place.Closed != nil && g.place.Closed(e.Path()) {
		g.closed()
		return
	}
	file, err := e.Open()
	if err != nil {
		g.tally(&g.result.Unreadable, e.Path())
		return
	}
	g.search(g.scanner(worker), e.Path(), file)
	_ = file.Close() // it was only read
}

// search counts the matches of one file.
func (g *grep) search(s *scanner, path []byte, file io.Reader) {
	sum, err := s.count(file)
	switch {
	case g.stop.Load():
		// What was counted is not the whole.
	case err != nil:
		g.tally(&g.result.Unreadable, path)
	case sum.tooLarge:
		g.tally(&g.result.TooLarge, path)
	case sum.hits > 0 && sum.binary:
		g.tally(&g.result.Binary, path)
	default:
		g.found(path, sum)
	}
}

// lines reads the lines of the results that were chosen.
func (g *grep) lines(open func(path string) (io.ReadCloser, error)) {
	s := g.scanner(0)
	for i := range g.result.Files {
		f := &g.result.Files[i]
		file, err := open(f.Path)
		if err != nil {
			continue // it is gone
		}
		s.extract(file, f)
		_ = file.Close() // it was only read
	}
}
