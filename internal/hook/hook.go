// Package hook runs what an embedder wants to happen around a call: before
// it, where a hook may refuse the call, have a person asked, or rewrite its
// arguments; and after it, where a hook may add feedback for the model.
//
// A before-hook is a gate. One that returns an error, crashes or takes too
// long refuses the call. A hook can never allow what policy or permission
// refuse: the strongest word is kept, and rewritten arguments are judged
// like any others.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// DefaultTimeout is how long one hook may take, as in octos.
const DefaultTimeout = 5 * time.Second

// MaxFeedback is how much of one after-hook's text reaches the model, in
// bytes, as in octos.
const MaxFeedback = 2000

// Verdict is a before-hook's word, from weakest to strongest.
type Verdict uint8

const (
	// Pass says nothing about the call. It is the zero value.
	Pass Verdict = iota
	// Ask wants a person to be asked.
	Ask
	// Deny refuses the call.
	Deny
)

// Decision is what a before-hook answers. The zero value lets the call go on
// to the other gates.
type Decision struct {
	Verdict Verdict
	// Reason is told to the model, or to the person who is asked.
	Reason string
	// Args, when not nil, replaces the arguments. They are decoded, checked
	// and judged again.
	Args json.RawMessage
}

// Call is what a hook sees. It must not be changed.
type Call struct {
	Tool    string
	Args    json.RawMessage
	Session string
	Origin  tool.Origin
}

// Before and After are the two kinds of hooks. Both may be called from
// several goroutines at once.
type (
	Before func(ctx context.Context, c Call) (Decision, error)
	After  func(ctx context.Context, c Call, r *tool.Result) (feedback string, err error)
)

// Set is a session's hooks, in the order in which they run. The zero value
// has none.
type Set struct {
	Before []Before
	After  []After
	// Timeout bounds each hook. 0 means [DefaultTimeout].
	Timeout time.Duration
}

func (s Set) timeout() time.Duration {
	if s.Timeout == 0 {
		return DefaultTimeout
	}
	return s.Timeout
}

// RunBefore asks each before-hook in turn and returns the strongest verdict
// with its reason. Each hook sees the arguments as the hooks before it left
// them. A refusal ends the row.
func (s Set) RunBefore(ctx context.Context, c Call) Decision {
	var all Decision
	for i, h := range s.Before {
		d, err := bounded(ctx, s.timeout(), func(ctx context.Context) (Decision, error) { return h(ctx, c) })
		if err != nil {
			return Decision{Verdict: Deny, Reason: fmt.Sprintf("hook %d gave no usable answer: %v", i+1, err)}
		}
		if d.Verdict > Deny {
			return Decision{Verdict: Deny, Reason: fmt.Sprintf("hook %d gave an unknown verdict", i+1)}
		}
		if d.Verdict > all.Verdict {
			all.Verdict, all.Reason = d.Verdict, d.Reason
		}
		if all.Verdict == Deny {
			return all
		}
		if d.Args != nil {
			all.Args, c.Args = d.Args, d.Args
		}
	}
	return all
}

// RunAfter tells each after-hook how the call ended. It returns their
// feedback, bounded, and what went wrong with the hooks themselves.
func (s Set) RunAfter(ctx context.Context, c Call, r *tool.Result) (feedback []string, errs []error) {
	for i, h := range s.After {
		text, err := bounded(ctx, s.timeout(), func(ctx context.Context) (string, error) { return h(ctx, c, r) })
		if err != nil {
			errs = append(errs, fmt.Errorf("after-hook %d: %w", i+1, err))
			continue
		}
		if text != "" {
			feedback = append(feedback, tool.ClipText(text, MaxFeedback))
		}
	}
	return feedback, errs
}

// bounded runs f with a deadline and turns a panic, or the end of its
// goroutine, into an error. f's goroutine ends when f does; f is told to by
// its context.
func bounded[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errors.New("it ended without an answer")}
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("it panicked: %v", p)
			}
			done <- o
		}()
		o.value, o.err = f(ctx)
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var zero T
		return zero, fmt.Errorf("no answer within %s", limit)
	}
}
