package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// snapshot notes the state of the files that the call may write.
func (t *trip) snapshot(context.Context) *tool.Error {
	if len(t.writes) > 0 {
		t.before = t.states()
	}
	return nil
}

// states describes each file that the call may write, "" where there is
// none.
func (t *trip) states() map[string]string {
	out := make(map[string]string, len(t.writes))
	for _, path := range t.writes {
		if info, err := t.d.Workspace.Stat(path); err == nil {
			out[path] = fmt.Sprint(info.Sys())
		}
	}
	return out
}

// receipt names the files that are not as they were, where the tool itself
// did not, and lets formatters at those that were edited.
func (t *trip) receipt(context.Context) *tool.Error {
	if t.before != nil && len(t.result.Changed) == 0 {
		t.compare()
	}
	if t.d.Polish != nil && t.result.OK && len(t.result.Changed) > 0 && t.resolved.Entry.Source == "" && !t.spec.Effects.Has(tool.Exec) {
		call := t.call
		further, notes := t.d.Polish(context.WithoutCancel(t.inside), &call, slices.Clone(t.result.Changed))
		for _, path := range further {
			if !slices.Contains(t.result.Changed, path) {
				t.result.Changed = append(t.result.Changed, path)
			}
		}
		t.notes = append(t.notes, notes...)
	}
	return nil
}

// compare names the files that are not as they were.
func (t *trip) compare() {
	after := t.states()
	for _, path := range t.writes {
		if after[path] != t.before[path] {
			t.result.Changed = append(t.result.Changed, path)
		}
	}
}

// run starts the tool and waits for it, its deadline, or a cancellation.
// Whatever happens, t.result is set.
func (t *trip) run(ctx context.Context) *tool.Error {
	budget := t.budget()
	if budget > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, budget, overBudget(budget))
		defer stop()
	}
	t.ran = true
	t.observe(Event{Phase: PhaseStarted})
	var over atomic.Bool
	t.call.Progress = func(p tool.Progress) {
		if !over.Load() {
			t.observe(Event{Phase: PhaseProgress, Progress: p})
			if t.asked.Progress != nil {
				t.tell(func() { t.asked.Progress(p) })
			}
		}
	}
	defer over.Store(true)
	call, inside := t.call, t.surround(ctx)
	t.inside = inside
	act := t.resolved.Entry.Tool.Run
	if t.instead != nil {
		act = t.instead
	}
	done := apart(func() (*tool.Result, error) { return act(inside, &call) },
		func() { t.d.queue.leaveStuck(t.place) })

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
	}
	t.d.queue.markStuck(t.place)
	select {
	case o := <-done: // it stopped before it was marked, so it has not seen the mark
		return t.settle(ctx, o)
	default:
		t.abandoned = true
		return t.stopped(ctx)
	}
}

// overBudget is the cause of a context that ran out of a call's own budget.
type overBudget time.Duration

func (b overBudget) Error() string { return "not finished within " + time.Duration(b).String() }

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

// settle turns what the tool returned into the call's result. A tool that
// was told to stop and still finished keeps its result; one that returned
// what it had so far keeps the text.
func (t *trip) settle(ctx context.Context, o outcome[*tool.Result]) *tool.Error {
	if o.err != nil {
		return t.settleError(ctx, o.err)
	}
	if o.value == nil {
		return tool.Errorf(tool.CodeFailed, "%s returned no result", t.spec.Name)
	}
	own := *o.value // a tool may give the same result to several calls
	r, stop := &own, t.stopped(ctx)
	switch {
	case r.OK:
		r.Code = ""
	case stop != nil:
		r.Code = stop.Code
		t.notes = append(t.notes, stop.Text)
	case r.Code == "":
		r.Code = tool.CodeFailed
	}
	t.result = r
	return nil
}

// settleError is how a call ends whose tool returned an error. What a tool
// that was told to stop says of its own stays in front of the reason.
func (t *trip) settleError(ctx context.Context, err error) *tool.Error {
	own, stop := asError(err, tool.CodeFailed), t.stopped(ctx)
	if stop == nil || own.Code == tool.CodePanicked {
		return own
	}
	if _, coded := errors.AsType[*tool.Error](err); coded {
		return &tool.Error{Code: stop.Code, Text: own.Text + "\n\n" + stop.Text, Metadata: own.Metadata, Err: err}
	}
	return stop
}

// surround adds to ctx what tools take from it.
func (t *trip) surround(ctx context.Context) context.Context {
	if t.act.Filtered {
		judge := t.by
		if judge == nil {
			judge, _ = t.d.Judge.Current()
		}
		ctx = workspace.WithClosed(ctx, judge.Closed(t.act))
	}
	if t.d.Workspace != nil {
		ctx = workspace.WithSource(ctx, workspace.Source{Session: t.d.Session, CallID: t.asked.ID, Tool: t.spec.Name, Origin: t.d.Origin})
	}
	if t.d.Surround == nil {
		return ctx
	}
	return t.d.Surround(ctx)
}
