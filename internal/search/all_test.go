package search

import (
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/handrail-tools/handrail/internal/search/match"
	"github.com/handrail-tools/handrail/internal/search/walk"
)

// grepAll writes all matching lines beneath a folder in ripgrep's format.
func grepAll(t testing.TB, dir, expr string, o match.Options, context int, files bool, c walk.Config, out io.Writer) {
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tree, err := walk.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	w := &allWriter{out: out, dir: dir + "/", workers: make([]*allSink, walk.Workers()), context: context}
	if !files {
		p, err := match.Compile(expr, o)
		if err != nil {
			t.Fatal(err)
		}
		w.query = &Query{Pattern: p, Before: context, After: context, Multiline: o.Multiline}
	}
	if _, err := walk.Walk(t.Context(), tree, c, w.visit); err != nil {
		t.Fatal(err)
	}
	for _, s := range w.workers {
		if s != nil {
			s.flush(0)
		}
	}
}

// allWriter is a sink for each worker and one output for all.
type allWriter struct {
	query   *Query
	dir     string
	context int
	workers []*allSink
	mu      sync.Mutex
	out     io.Writer
}

func (w *allWriter) visit(n int, e *walk.Entry) {
	s := w.workers[n]
	if s == nil {
		s = &allSink{w: w}
		if w.query != nil {
			s.scanner = newScanner(w.query, new(atomic.Bool), nil)
		}
		w.workers[n] = s
	}
	if w.query == nil {
		s.out = append(append(append(s.out, w.dir...), e.Path()...), '\n')
		s.flush(64 << 10)
		return
	}
	file, err := e.Open()
	if err != nil {
		return
	}
	defer file.Close()
	s.path, s.number, s.after, s.began = e.Path(), 0, 0, len(s.out)
	s.scanner.sink = s
	if err := s.scanner.file(file); err != nil {
		return
	}
	if s.scanner.sum.binary && s.scanner.sum.hits > 0 {
		s.out = s.out[:s.began]
	}
	s.flush(64 << 10)
}

// allSink writes every line.
type allSink struct {
	w       *allWriter
	scanner *scanner
	out     []byte
	began   int // where the file's lines begin
	path    []byte
	lineSink
}

func (s *allSink) flush(limit int) {
	if len(s.out) > limit {
		s.w.mu.Lock()
		_, _ = s.w.out.Write(s.out) // the reader's business
		s.w.mu.Unlock()
		s.out = s.out[:0]
		s.began = 0
	}
}

func (s *allSink) over() bool { return false }

func (s *allSink) piece(text []byte, begin int) {
	s.room, s.query = bufferSize/2, s.w.query
	s.lineSink.piece(text, begin)
}

func (s *allSink) write(start, end int, sep byte) {
	s.out = append(append(append(s.out, s.w.dir...), s.path...), sep)
	s.out = append(strconv.AppendInt(s.out, int64(s.numberAt(start)), 10), sep)
	s.out = append(append(s.out, s.text[start:end]...), '\n')
	s.shown = end + 1
}

func (s *allSink) match(start, end, _ int) bool {
	if s.w.context == 0 {
		s.write(start, end, ':')
		return true
	}
	s.follow(start)
	begin := max(linesBack(s.text, start, s.w.context), s.shown)
	if len(s.out) > s.began && begin > s.shown {
		s.out = append(s.out, "--\n"...)
	}
	for begin < start {
		end := lineEnd(s.text, begin)
		s.write(begin, end, '-')
		begin = end + 1
	}
	s.write(start, end, ':')
	s.after = s.w.context
	return true
}

func (s *allSink) follow(limit int) {
	for s.after > 0 && s.shown < limit {
		s.write(s.shown, lineEnd(s.text, s.shown), '-')
		s.after--
	}
}

func (s *allSink) done(end int) int {
	s.follow(end)
	return s.lineSink.done(end)
}

func (s *allSink) long(p passed) bool {
	number := max(s.number, 1)
	s.number, s.counted, s.shown = number+1, 0, 0
	sep := byte('-')
	if p.matches {
		sep = ':'
	}
	if p.matches {
		for _, l := range s.held {
			s.out = append(append(append(s.out, s.w.dir...), s.path...), '-')
			s.out = append(append(append(strconv.AppendInt(s.out, int64(l.Number), 10), '-'), l.Text...), '\n')
		}
		s.held = nil
	}
	if p.matches || s.after > 0 {
		s.out = append(append(append(s.out, s.w.dir...), s.path...), sep)
		s.out = append(strconv.AppendInt(s.out, int64(number), 10), sep)
		s.out = append(append(s.out, p.part...), '\n')
		s.after = max(0, s.after-1)
	}
	if p.matches {
		s.after = s.w.context
	}
	return true
}
