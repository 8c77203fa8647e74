package dispatch

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/handrail-tools/handrail/tool"
)

// outcome is what came back from foreign code.
type outcome[T any] struct {
	value T
	err   error
}

// errEnded is the outcome of code that ended its goroutine.
var errEnded = tool.Errorf(tool.CodePanicked, "failed with an internal error: it ended without an answer")

// apart calls f in a goroutine of its own and hands over what comes back,
// also when f panics or ends the goroutine; after runs last. The goroutine
// ends when f does.
func apart[T any](f func() (T, error), after func()) <-chan outcome[T] {
	done := make(chan outcome[T], 1)
	go func() {
		o := outcome[T]{err: errEnded}
		defer func() {
			done <- o
			if after != nil {
				after()
			}
		}()
		o.value, o.err = isolated(f)
	}()
	return done
}

// await calls f apart and waits for it or for ctx, whichever comes first.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	select {
	case o := <-apart(f, nil):
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// isolated turns a panic of f into an error, so that foreign code cannot
// take the session down.
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

// tell calls a listener of the embedder's. What it does wrong changes
// nothing for the call.
func (t *trip) tell(listener func()) {
	defer func() {
		if p := recover(); p != nil {
			t.d.Logger.Error("a listener panicked", "tool", t.name(), "panic", p, "stack", string(debug.Stack()))
		}
	}()
	listener()
}
