//go:build linux && measure

package search

import (
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/search/match"
	"github.com/handrail-tools/handrail/internal/search/walk"
)

// The speed test is a comparison with ripgrep on a corpus, in one run and
// with the same work: every matching line is written out. It takes minutes
// and proves nothing on a busy machine, so it is built only where it is asked
// for; scripts/search-speed.sh does.
//
// Ours runs in a process of its own as well, so that start and memory count.
const (
	envCorpus = "HANDRAIL_CORPUS"
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
	corpus := os.Getenv(envCorpus)
	if one := os.Getenv(envOne); one != "" {
		speedOne(t, corpus, one)
		return
	}
	if corpus == "" {
		t.Fatalf("%s does not name a folder to search", envCorpus)
	}
	rg := ripgrep(t)
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
		r.memory = int64(u.Maxrss) << 10 // 32 bits wide on some machines
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
