package dispatch

import (
	"context"
	"runtime/debug"

	"github.com/handrail-tools/handrail/tool"
)

// step is one stop of a call's journey. It returns nil to go on, or the
// refusal that ends the way; the steps marked always are still taken then.
type step struct {
	name string
	do   func(*trip, context.Context) *tool.Error
	// judges marks a step that only decides: Explain takes it too.
	judges bool
	// always marks a step that a refused call takes as well.
	always bool
}

// The journey of one call, in order. Reading this list is reading the
// system. Intake happens in the order of the batch, before anything waits,
// so that places in the queue follow the order of arrival.
var (
	intake = []step{
		{name: "resolve", do: (*trip).resolve, judges: true},   // the name becomes the one tool it means, if it is visible
		{name: "policy", do: (*trip).policy, judges: true},     // may this tool be used here at all
		{name: "guard", do: (*trip).guardBefore, judges: true}, // is the agent going round in circles
		{name: "size", do: (*trip).size, judges: true},         // arguments within MaxArgs
		{name: "decode", do: (*trip).decode, judges: true},     // arguments mended, checked, in canonical spelling
		{name: "arrive", do: (*trip).arrive},                   // a place in the queue, kept until the end
	}
	passage = []step{
		{name: "assess", do: (*trip).assess, judges: true},          // what would this call do
		{name: "before-hooks", do: (*trip).beforeHooks},             // may deny, have a person asked, or rewrite: size, decode and assess again
		{name: "permit", do: (*trip).permit, judges: true},          // may that happen; a person is asked where rules say so
		{name: "wait-turn", do: (*trip).waitTurn},                   // until nothing that conflicts is ahead; then judged again
		{name: "snapshot", do: (*trip).snapshot},                    // the state of what it may write
		{name: "run", do: (*trip).run},                              // with deadline, cancellation and panic isolation
		{name: "receipt", do: (*trip).receipt},                      // what has really changed
		{name: "bound", do: (*trip).bound, always: true},            // ledger the whole, clean, redact, cut, say how to go on
		{name: "after-hooks", do: (*trip).afterHooks, always: true}, // may add feedback; cannot grant anything
		{name: "record", do: (*trip).record, always: true},          // one event
	}
)

// walk takes the steps in order.
func (t *trip) walk(ctx context.Context, steps []step) {
	for _, s := range steps {
		if t.refusal != nil && !s.always {
			continue
		}
		if err := t.take(ctx, s); err != nil && t.refusal == nil {
			t.refusal, t.refusedAt = err, s.name
		}
	}
}

// take takes one step. A step that panics is a bug of Handrail; it costs its
// call, not the session.
func (t *trip) take(ctx context.Context, s step) (err *tool.Error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		t.d.Logger.Error("a step of the journey panicked", "step", s.name, "tool", t.name(), "panic", p, "stack", string(debug.Stack()))
		err = tool.Errorf(tool.CodePanicked, "the call failed with an internal error in the step %q; it may or may not have had its effect", s.name)
		if t.result == nil || s.always {
			t.result = tool.FromError(err)
		}
	}()
	return s.do(t, ctx)
}
