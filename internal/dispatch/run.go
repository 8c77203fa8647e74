package dispatch

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// snapshot notes the state of the files that the call may write.
func (t *trip) snapshot(context.Context) *tool.Error {
	if len(t.act.Writes) > 0 {
		t.before = t.states()
	}
	return nil
}

// states describes each file that the call may write, "" where there is
// none.
func (t *trip) states() map[string]string {
	out := make(map[string]string, len(t.act.Writes))
	for _, path := range t.act.Writes {
		if info, err := t.d.Workspace.Stat(path); err == nil {
			out[path] = fmt.Sprint(info.Sys())
		}
	}
	return out
}

// receipt names the files that are not as they were, where the tool itself
// did not.
func (t *trip) receipt(context.Context) *tool.Error {
	if t.before == nil || len(t.result.Changed) > 0 {
		return nil
	}
	after := t.states()
	for _, path := range t.act.Writes {
		if after[path] != t.before[path] {
			t.result.Changed = append(t.result.Changed, path)
		}
	}
	return nil
}

// outcome is what came back from a tool.
type outcome struct {
	result *tool.Result
	err    error
}

// run starts the tool and waits for it, its deadline, or a cancellation.
// Whatever happens, t.result is set.
func (t *trip) run(ctx context.Context) *tool.Error {
	budget := t.budget()
	if budget > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, budget, tool.Errorf(tool.CodeTimeout,
			"%s did not finish within its %s and was stopped", t.spec.Name, budget))
		defer stop()
	}
	t.observe(Event{Phase: PhaseStarted})
	var over atomic.Bool
	t.call.Progress = func(p tool.Progress) {
		if !over.Load() {
			t.observe(Event{Phase: PhaseProgress, Progress: p})
			if t.asked.Progress != nil {
				t.asked.Progress(p)
			}
		}
	}
	defer over.Store(true)
	done := make(chan outcome, 1)
	t.d.abandoned.Add(1)
	go t.runTool(t.surround(ctx), done)

	select {
	case o := <-done:
		return t.settle(ctx, o)
	case <-ctx.Done():
	}
	patience := time.NewTimer(abandonAfter)
	defer patience.Stop()
	select {
	case o := <-done:
		return t.settle(ctx, o)
	case <-patience.C:
		t.d.queue.markStuck(t.place)
		return t.stopped(ctx)
	}
}

// budget is how long the tool may run. 0 means as long as it takes.
func (t *trip) budget() time.Duration {
	spec := t.spec
	switch {
	case spec.WaitsForPerson:
		return 0
	case spec.Timeout > 0:
		return min(spec.Timeout, tool.MaxTimeout)
	default:
		return min(t.d.Timeout, tool.MaxTimeout)
	}
}

// runTool runs the tool in a goroutine of its own and hands over what comes
// back. If nobody waits any more, it gives up the call's place.
func (t *trip) runTool(ctx context.Context, done chan<- outcome) {
	defer t.d.abandoned.Done()
	call := t.call
	result, err := isolated(func() (*tool.Result, error) { return t.resolved.Entry.Tool.Run(ctx, &call) })
	done <- outcome{result, err}
	t.d.queue.leaveStuck(t.place)
}

// settle turns what the tool returned into the call's result. A tool that
// was told to stop and still finished keeps its result; one that returned
// what it had so far keeps the text.
func (t *trip) settle(ctx context.Context, o outcome) *tool.Error {
	if o.err != nil {
		if ctx.Err() != nil {
			return t.stopped(ctx)
		}
		return asError(o.err, tool.CodeFailed)
	}
	r := o.result
	switch {
	case r == nil:
		return tool.Errorf(tool.CodeFailed, "%s returned no result", t.spec.Name)
	case r.OK:
		r.Code = ""
	case ctx.Err() != nil:
		stop := t.stopped(ctx)
		r.Code = stop.Code
		t.notes = append(t.notes, stop.Text)
	case r.Code == "":
		r.Code = tool.CodeFailed
	}
	t.result = r
	return nil
}

// isolated turns a panic of f into an error, so that one tool cannot take
// the session down.
func isolated[T any](f func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &tool.Error{
				Code:     tool.CodePanicked,
				Text:     tool.ClipText(fmt.Sprintf("failed with an internal error: %v", p), tool.MaxErrorText),
				Metadata: map[string]any{"stack": tool.ClipText(string(debug.Stack()), 16<<10)},
			}
		}
	}()
	return f()
}

// surround adds to ctx what tools take from it.
func (t *trip) surround(ctx context.Context) context.Context {
	if t.d.Surround == nil {
		return ctx
	}
	return t.d.Surround(ctx)
}
