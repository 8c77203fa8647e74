package search

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/search/match"
	"github.com/handrail-tools/handrail/internal/search/walk"
)

// The speed test is a comparison with ripgrep on a corpus, in one run and
// with the same work: every matching line is written out.
//
//	HANDRAIL_RG=…/rg HANDRAIL_CORPUS=…/folder go test -run TestSpeed -v ./internal/search
//
// Ours runs in a process of its own as well, so that start and memory count.
const (
	envCorpus = "HANDRAIL_CORPUS"
	envRG     = "HANDRAIL_RG"
	envOne    = "HANDRAIL_SPEED_ONE" // in the process of ours: which case
)

var speedRounds = flag.Int("speed.rounds", 7, "rounds of the comparison with ripgrep")

// speedCase is one search, for both programs.
type speedCase struct {
	name, expr string
	o          match.Options
	context    int
	files      bool // list the files
	rg         []string
}

var speedCases = []speedCase{
	{name: "rare word", expr: "ErrBodyNotAllowed"},
	{name: "common word", expr: "return"},
	{name: "ignore case", expr: "mutex", o: match.Options{IgnoreCase: true}, rg: []string{"-i"}},
	{name: "four words", expr: "ErrClosed|ErrNoDeadline|ErrUnexpectedEOF|ErrShortBuffer"},
	{name: "class with context", expr: `\w+\.Unlock\(\)`, context: 2, rg: []string{"-C2"}},
	{name: "no word", expr: "[A-Z]{5,}[0-9]{2,}"},
	{name: "list files", files: true, rg: []string{"--files"}},
}

func TestSpeed(t *testing.T) {
	corpus, rg := os.Getenv(envCorpus), os.Getenv(envRG)
	if one := os.Getenv(envOne); one != "" {
		speedOne(t, corpus, one)
		return
	}
	if corpus == "" || rg == "" {
		t.Skipf("a measurement, made where %s and %s are set", envCorpus, envRG)
	}
	for _, c := range speedCases {
		ours, theirs := []run{}, []run{}
		for range *speedRounds {
			ours = append(ours, timed(t, []string{envOne + "=" + c.name}, os.Args[0], "-test.run=^TestSpeed$"))
			args := append(slices.Clone(c.rg), "--no-messages", "--no-heading", "--with-filename", "-n")
			if c.files {
				args = []string{"--files"}
			} else {
				args = append(args, "-e", c.expr)
			}
			theirs = append(theirs, timed(t, nil, rg, append(args, corpus)...))
		}
		o, r := median(ours), median(theirs)
		t.Logf("%-20s ours %6.0f ms %4d MB (%4.0f ms CPU)   ripgrep %6.0f ms %4d MB (%4.0f ms CPU)   ratio %.2f",
			c.name, ms(o.wall), o.memory>>20, ms(o.cpu), ms(r.wall), r.memory>>20, ms(r.cpu), ms(o.wall)/ms(r.wall))
	}
}

type run struct {
	wall, cpu time.Duration
	memory    int64 // most at once, in bytes
}

func timed(t *testing.T, env []string, name string, args ...string) run {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd.Stdin, cmd.Stdout = null, null
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	r := run{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = u.Maxrss << 10
	}
	return r
}

func median(runs []run) run {
	slices.SortFunc(runs, func(a, b run) int { return int(a.wall - b.wall) })
	return runs[len(runs)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// speedOne does one case and writes as ripgrep does.
func speedOne(t *testing.T, corpus, name string) {
	c := speedCases[slices.IndexFunc(speedCases, func(c speedCase) bool { return c.name == name })]
	grepAll(t, corpus, c.expr, c.o, c.context, c.files, walk.Config{}, os.Stdout)
}

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
		_, _ = s.w.out.Write(s.out)
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
