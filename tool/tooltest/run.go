package tooltest

import (
	"context"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// Options tell the suite how to call a tool. Only Examples are required.
type Options struct {
	// Examples are calls whose outcome is known. At least one must succeed.
	Examples []Example
	// Context makes the context of each call from that of the test, for a
	// tool that takes its workspace or the like from there. nil leaves it as
	// it is.
	Context func(context.Context) context.Context
	// Dir is a directory that the calls may touch. The suite compares its
	// content before and after whatever must change nothing. Empty leaves
	// that out.
	Dir string
	// Blocking are the arguments of a call that takes longer than anybody
	// waits in a test; the suite cancels it midway. Empty leaves that out.
	Blocking string
	// Patience is how long a call may take that is cancelled or malformed,
	// and that an example may take. 0 means 5 seconds.
	Patience time.Duration
}

// Example is one call and how it ends.
type Example struct {
	// Name says what the example shows; empty means its arguments.
	Name string
	// Args is the JSON object of the arguments, valid as it stands.
	Args string
	// Code is how the call ends; empty means that it succeeds.
	Code tool.Code
	// Setup puts things in place before each run of the example. nil does
	// nothing.
	Setup func(tb testing.TB)
}

func (e Example) name() string {
	if e.Name != "" {
		return e.Name
	}
	return tool.Clip(e.Args)
}

const (
	defaultPatience = 5 * time.Second
	// parallel is how many calls of a safe tool run at once.
	parallel = 8
)

// check is one promise of the contract and how it is tried.
type check struct {
	name string
	try  func(tb testing.TB, s *subject)
}

// checks are in the order in which a mistake is best read.
var checks = [...]check{
	{"Declaration", declaration},
	{"Arguments", arguments},
	{"Stable", stable},
	{"Examples", examples},
	{"Assess", assess},
	{"Malformed", malformed},
	{"Cancellation", cancellation},
	{"Concurrency", concurrency},
	{"Resume", resume},
}

// Run holds a tool against the contract of package tool, each promise in a
// subtest.
func Run(t *testing.T, tl tool.Tool, opts Options) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			s := newSubject(tl, opts)
			defer s.over.Store(true)
			c.try(t, s)
		})
	}
}
