package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/tool"
)

// blocks reports whether a failure of the hook refuses.
func (e *entry) blocks() bool {
	return !e.Async && (e.OnFailure == Block || e.OnFailure == "" && e.kind.gate)
}

// ask runs one hook and makes of a failure what it means.
func (r *Runner) ask(ctx context.Context, j job, in *Input) Answer {
	if j.Async {
		r.start(j, in)
		return Answer{}
	}
	failures, why, again := j.breaker.tripped()
	switch {
	case failures > 0 && !j.blocks():
		return Answer{}
	case !again:
		j.ran.Store(false)
		return Answer{Verdict: Deny, Reason: fmt.Sprintf("the hook that must agree (%s) has failed %d times in a row and is not asked for a while; the last time: %s",
			j.label, failures, tool.ClipText(why, MaxFeedback/2))}
	}
	a, err := r.answer(ctx, j, in)
	if err == nil {
		j.breaker.succeeded()
		if a.Message != "" {
			r.report(Report{Event: in.Event, Hook: j.label, CallID: in.CallID, Message: tool.ClipText(a.Message, MaxFeedback)})
		}
		a.Reason, a.StopReason = tool.ClipText(a.Reason, MaxFeedback), tool.ClipText(a.StopReason, MaxFeedback)
		a.Context = tool.ClipText(a.Context, MaxContext)
		return a
	}
	if ctx.Err() != nil {
		j.ran.Store(false)
		return Answer{Verdict: Deny, Reason: "the call was given up while a hook was asked"}
	}
	n := r.failed(j, in, err)
	if !j.blocks() {
		return Answer{}
	}
	j.ran.Store(false) // a gate that has not answered is still to be asked, also one that is asked once
	reason := fmt.Sprintf("the hook that must agree (%s) failed: %s", j.label, err)
	if n >= BreakerAfter {
		reason = fmt.Sprintf("the hook that must agree (%s) has failed %d times in a row: %s", j.label, n, err)
	}
	return Answer{Verdict: Deny, Reason: tool.ClipText(reason, MaxFeedback)}
}

// failed counts and reports a failure.
func (r *Runner) failed(j job, in *Input, err error) int {
	n := j.breaker.failed(err)
	r.report(Report{Event: in.Event, Hook: j.label, CallID: in.CallID, Failure: tool.ClipText(err.Error(), MaxFeedback), Failures: n, Tripped: n == BreakerAfter})
	return n
}

// start runs a hook beside everything else, until the session ends.
func (r *Runner) start(j job, in *Input) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if failures, _, _ := j.breaker.tripped(); r.closed || failures > 0 {
		return
	}
	select {
	case r.slots <- struct{}{}:
	default:
		r.report(Report{Event: in.Event, Hook: j.label, CallID: in.CallID, Failure: fmt.Sprintf("left out: %d asynchronous hooks run already", maxAsync)})
		return
	}
	own := *in
	r.wg.Go(func() {
		defer func() { <-r.slots }()
		_, err := r.answer(r.ctx, j, &own)
		switch {
		case r.ctx.Err() != nil:
		case err != nil:
			r.failed(j, &own, err)
		default:
			j.breaker.succeeded()
		}
	})
}

// answer has one hook answer about everything that it is shown. The strongest
// word counts.
func (r *Runner) answer(ctx context.Context, j job, in *Input) (Answer, error) {
	if j.Func != nil {
		return call(ctx, j, in)
	}
	if j.views == nil {
		return r.one(ctx, j, in, nil)
	}
	if len(j.views) > maxFiles {
		return Answer{}, fmt.Errorf("the call is about %d files and the hook is shown them one by one; at most %d", len(j.views), maxFiles)
	}
	var all Answer
	for i := range j.views {
		a, err := r.one(ctx, j, in, &j.views[i])
		if err != nil {
			return Answer{}, err
		}
		if i == 0 {
			all = a
			continue
		}
		all.join(&a)
	}
	return all, nil
}

// join adds what a hook says about the next part of a call. A part that it
// does not allow is not allowed by what it says of the others.
func (a *Answer) join(b *Answer) {
	switch {
	case a.Verdict <= Allow && b.Verdict <= Allow:
		a.Verdict = min(a.Verdict, b.Verdict)
	case b.Verdict > a.Verdict:
		a.Verdict, a.Reason = b.Verdict, b.Reason
	case b.Verdict == Deny && b.Reason != a.Reason:
		a.Reason += "\n" + b.Reason
	}
	if b.Context != "" && b.Context != a.Context {
		a.Context += "\n" + b.Context
	}
	if a.Message == "" {
		a.Message = b.Message
	}
	if b.Stop && !a.Stop {
		a.Stop, a.StopReason = true, b.StopReason
	}
}

// one has one process or server answer about one view.
func (r *Runner) one(ctx context.Context, j job, in *Input, v *view) (Answer, error) {
	told, err := r.base.payload(in, v)
	if err != nil {
		return Answer{}, err
	}
	var came reply
	if j.URL != "" {
		came, err = post(ctx, r.client, &j.Hook, told, j.Timeout)
	} else {
		came, err = r.commands.run(ctx, &j.Hook, cmp.Or(r.base.Project, r.base.Root), told, j.Timeout)
	}
	if err != nil || j.Async {
		return Answer{}, err
	}
	a, err := readReply(in.Event, came)
	if err != nil || a.Args == nil {
		return a, err
	}
	return a, a.giveBack(v)
}

// giveBack turns rewritten arguments into the tool's own. Those that are as
// they were are no rewriting.
func (a *Answer) giveBack(v *view) error {
	if equal(a.Args, v.input) {
		a.Args = nil
		return nil
	}
	args, err := v.back(a.Args)
	if err != nil {
		return fmt.Errorf("it rewrote the call: %w", err)
	}
	a.Args = args
	return nil
}

// equal reports whether two texts are the same JSON value.
func equal(a, b json.RawMessage) bool {
	x, errX := jsondoc.Parse(string(a))
	y, errY := jsondoc.Parse(string(b))
	return errX == nil && errY == nil && x.Canonical() == y.Canonical()
}

// call has a function answer.
func call(ctx context.Context, j job, in *Input) (Answer, error) {
	a, err := bounded(ctx, j.Timeout, func(ctx context.Context) (Answer, error) {
		own := *in
		own.Args = append(json.RawMessage(nil), in.Args...)
		return j.Func(ctx, own)
	})
	switch {
	case err != nil:
		return Answer{}, err
	case a.Verdict > Deny:
		return Answer{}, fmt.Errorf("it gave the unknown verdict %d", a.Verdict)
	case a.Args != nil && equal(a.Args, in.Args):
		a.Args = nil
	case a.Args != nil && !j.kind.gate:
		return Answer{}, fmt.Errorf("a call cannot be rewritten at %s", in.Event)
	}
	if a.Verdict == Deny && a.Reason == "" {
		a.Reason = "it gave no reason"
	}
	return a, nil
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
		return zero, noAnswer(limit)
	}
}
