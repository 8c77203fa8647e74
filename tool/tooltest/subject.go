package tooltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/tool"
)

// subject is the tool under test.
type subject struct {
	tool tool.Tool
	spec tool.Spec
	opts Options
	ids  atomic.Int64
	over atomic.Bool // the test has ended; what still runs is not heard
}

func newSubject(tl tool.Tool, opts Options) *subject {
	if opts.Patience == 0 {
		opts.Patience = defaultPatience
	}
	return &subject{tool: tl, spec: tl.Spec(), opts: opts}
}

// decoder returns what decodes the tool's arguments.
func (s *subject) decoder(tb testing.TB) *args.Schema {
	tb.Helper()
	d, err := args.Compile(s.spec.Name, s.spec.Input, s.spec.ArgAliases)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func (s *subject) context(ctx context.Context) context.Context {
	if s.opts.Context != nil {
		return s.opts.Context(ctx)
	}
	return ctx
}

// call makes a call as the journey would.
func (s *subject) call(tb testing.TB, text string) *tool.Call {
	return &tool.Call{
		ID: fmt.Sprintf("tooltest-%d", s.ids.Add(1)), Tool: s.spec.Name, Asked: s.spec.Name, Args: json.RawMessage(text),
		Session: "tooltest", Origin: tool.Origin{Kind: tool.OriginModel},
		Progress: func(p tool.Progress) {
			if !s.over.Load() && strings.ContainsAny(p.Message, "\r\n") {
				tb.Errorf("the progress %q is not one line", p.Message)
			}
		},
	}
}

// outcome is how one run ended.
type outcome struct {
	result   *tool.Result
	err      error
	panicked any
	late     bool // it had not returned when the patience was over
}

// run runs one call and waits for it as long as patience lasts.
func (s *subject) run(ctx context.Context, tb testing.TB, text string) outcome {
	tb.Helper()
	call := s.call(tb, text)
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.result, o.err = s.tool.Run(s.context(ctx), call)
	}()
	select {
	case o := <-done:
		if !bytes.Equal(call.Args, []byte(text)) {
			tb.Errorf("the run changed the arguments of its call from %s to %s", tool.Clip(text), tool.Clip(string(call.Args)))
		}
		return o
	case <-time.After(s.opts.Patience):
		return outcome{late: true}
	}
}

// guarded calls f and returns what it panicked with.
func guarded(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}
