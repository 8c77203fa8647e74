package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

// resolve finds the one visible tool that the name means.
func (t *trip) resolve(context.Context) *tool.Error {
	resolved, err := t.d.View.Resolve(t.asked.Tool)
	if err == nil {
		t.resolved, t.spec = resolved, resolved.Entry.Spec
		t.note("resolve", t.spec.Name, "")
		return nil
	}
	if denied, ok := errors.AsType[*registry.DeniedError](err); ok {
		t.denied, t.denial, t.spec = denied, err, denied.Spec
		t.note("resolve", t.spec.Name, "")
		return nil
	}
	return err
}

// policy refuses a tool that may not be used in this session. Whether it may
// was settled by the predicate that also decides what is listed.
func (t *trip) policy(context.Context) *tool.Error {
	if t.denied == nil {
		t.note("policy", "the tool may be used in this session", "")
		return nil
	}
	t.rule = t.denied.Decision.String()
	return t.denial
}

// guardBefore refuses to go on with a loop.
func (t *trip) guardBefore(context.Context) *tool.Error {
	t.finding = t.d.Guard.Before(t.name(), t.raw)
	if t.finding == nil {
		return nil
	}
	text := t.finding.Text
	if t.finding.Kind == "repeated_failure" {
		text += fmt.Sprintf("\nA valid call looks like this: %s", tool.ClipText(string(t.resolved.Args.Example()), 1000))
	}
	return tool.Errorf(tool.CodeDenied, "%s", text)
}

// size bounds the arguments before anything reads them.
func (t *trip) size(context.Context) *tool.Error {
	if n := len(t.raw); n > tool.MaxArgs {
		return tool.Errorf(tool.CodeTooLarge, "the arguments of %s are %d bytes; at most %d are taken. Write large content in parts.",
			tool.Clip(t.name()), n, tool.MaxArgs)
	}
	return nil
}

// decode mends and checks the arguments and puts them into the tool's own
// spelling.
func (t *trip) decode(context.Context) *tool.Error {
	decoded, err := t.resolved.Decode(t.raw)
	if err != nil {
		return asError(err, tool.CodeInvalidInput)
	}
	t.repairs = decoded.Repairs
	t.call = tool.Call{
		ID: t.asked.ID, Tool: t.name(), Asked: t.asked.Tool, Args: decoded.Args,
		Session: t.d.Session, Origin: t.d.Origin,
	}
	if t.judging && len(t.repairs) > 0 {
		t.note("decode", fmt.Sprintf("%d repair(s): %v", len(t.repairs), t.repairs), "")
	}
	return nil
}

// arrive takes a place in the queue, unless a call that this one would have
// to wait for was already refused.
func (t *trip) arrive(context.Context) *tool.Error {
	p := t.standin()
	if failed := t.batch.failedBefore(p); failed != nil {
		return errEarlier(failed)
	}
	t.place = t.d.queue.arrive(p.class, p.key)
	return nil
}

// beforeHooks lets hooks refuse, ask for a person, or rewrite the arguments,
// which are then sized and decoded like any others.
func (t *trip) beforeHooks(ctx context.Context) *tool.Error {
	if len(t.d.Hooks.Before) == 0 {
		return nil
	}
	d := t.d.Hooks.RunBefore(ctx, t.hookCall())
	if ctx.Err() != nil {
		return t.stopped(ctx)
	}
	switch d.Verdict {
	case hook.Deny:
		t.rule = "hook"
		return tool.Errorf(tool.CodeDenied, "a hook refused this call: %s. Do not retry it unchanged.", tool.Clip(d.Reason))
	case hook.Ask:
		t.hookAsks = d.Reason
		if t.hookAsks == "" {
			t.hookAsks = "a hook wants a person to look at this call"
		}
	}
	if d.Args == nil {
		return nil
	}
	return t.rewrite(ctx, d.Args)
}

// rewrite replaces the arguments by what a hook made of them.
func (t *trip) rewrite(ctx context.Context, raw []byte) *tool.Error {
	t.raw = raw
	if err := t.size(ctx); err != nil {
		return err
	}
	decoded, err := t.resolved.Entry.Args.Decode(raw)
	if err != nil {
		e := asError(err, tool.CodeInvalidInput)
		return tool.Errorf(tool.CodeDenied, "a hook rewrote the arguments into something that does not fit: %s", e.Text)
	}
	t.repairs = append(t.repairs, decoded.Repairs...)
	t.call = tool.Call{
		ID: t.call.ID, Tool: t.call.Tool, Asked: t.call.Asked, Args: decoded.Args, Session: t.call.Session, Origin: t.call.Origin,
	}
	if p := t.standin(); p.key != t.place.key {
		return tool.Errorf(tool.CodeDenied, "a hook moved this call from %q to %q, which has a queue of its own; it was not run",
			tool.Clip(t.place.key), tool.Clip(p.key))
	}
	return nil
}

// assess asks the tool what the call would do and resolves the paths.
func (t *trip) assess(ctx context.Context) *tool.Error {
	spec := t.spec
	t.assessed = tool.Act{Effects: spec.Effects}
	if a := t.resolved.Entry.Assesser; a != nil {
		act, err := isolated(func() (tool.Act, error) { return a.Assess(t.surround(ctx), &t.call) })
		if err != nil {
			return asError(err, tool.CodeFailed)
		}
		if act.Effects == 0 {
			act.Effects = spec.Effects
		}
		if !act.Effects.Within(spec.Effects) {
			return tool.Errorf(tool.CodeDenied, "%s wants to do more than it declares (%s beyond %s); it was not run",
				spec.Name, act.Effects, spec.Effects)
		}
		t.assessed = act
	}
	t.act = permission.Act{Spec: spec, Effects: t.assessed.Effects, Hosts: t.assessed.Hosts, Command: t.assessed.Command}
	t.act.Reads = t.resolvePaths(t.assessed.Reads, false)
	t.act.Writes = t.resolvePaths(t.assessed.Writes, true)
	if t.judging {
		t.note("assess", describe(t.act), "")
	}
	return nil
}

// resolvePaths gives the paths as rules judge them: below the workspace,
// with links followed as far as the path exists.
func (t *trip) resolvePaths(paths []string, write bool) []string {
	var out []string
	for _, p := range paths {
		if t.d.Workspace == nil {
			t.act.Unresolved = p
			continue
		}
		r, err := t.d.Workspace.Resolve(p)
		if err != nil {
			// The tool itself will say what is wrong with the path; for the
			// rules it is one that nothing allows.
			t.act.Unresolved = p
			continue
		}
		why := r.Unreadable
		if write && why == "" {
			why = r.Unwritable
		}
		if why != "" && t.act.Protected == "" {
			t.act.Protected, t.act.ProtectedBy = r.Rel, why
		}
		out = append(out, r.Rel)
	}
	return out
}

func describe(a permission.Act) string {
	text := a.Effects.String()
	for _, part := range []struct {
		name string
		list []string
	}{{"reads", a.Reads}, {"writes", a.Writes}, {"hosts", a.Hosts}} {
		if len(part.list) > 0 {
			text += fmt.Sprintf("; %s %s", part.name, tool.Clip(fmt.Sprint(part.list)))
		}
	}
	if a.Unresolved != "" {
		text += "; cannot resolve " + tool.Clip(a.Unresolved)
	}
	return text
}

// permit judges the act and asks a person where the judgement says so.
func (t *trip) permit(ctx context.Context) *tool.Error {
	v := t.d.Judge.Judge(t.act)
	if t.hookAsks != "" && v.Outcome == permission.Allow {
		v = permission.Verdict{Outcome: permission.Ask, Rule: "hook", Reason: t.hookAsks}
	}
	t.verdict, t.rule = v, v.Rule
	t.note("permit", v.Reason, v.Rule)
	switch v.Outcome {
	case permission.Allow:
		return nil
	case permission.Ask:
		return t.ask(ctx)
	default:
		return tool.Errorf(tool.CodeDenied, "%s was refused by %s: %s. Do not retry it unchanged; choose another way or tell the person.",
			t.spec.Name, tool.Clip(v.Rule), v.Reason)
	}
}

// ask puts the question to a person, or refuses where there is nobody.
func (t *trip) ask(ctx context.Context) *tool.Error {
	if t.judging {
		return nil
	}
	digest := permission.Digest(t.spec.Name, t.call.Args)
	if t.d.grants.Has(digest) {
		t.rule = "granted for this session"
		return nil
	}
	if t.d.Approver == nil {
		return tool.Errorf(tool.CodeApprovalRequired, "%s needs a person's approval (%s: %s) and nobody can be asked here. Do not retry; tell the person what you wanted to do.",
			t.spec.Name, tool.Clip(t.verdict.Rule), t.verdict.Reason)
	}
	t.observe(Event{Phase: PhaseAsked})
	answer, err := isolated(func() (permission.Answer, error) {
		return t.d.Approver(ctx, permission.Request{
			Tool: t.spec.Name, Args: t.call.Args, Digest: digest, Summary: t.summary(), Reason: t.verdict.Reason,
			Rule: t.verdict.Rule, Act: t.act, Origin: t.d.Origin, Asked: t.started,
		})
	})
	switch {
	case ctx.Err() != nil:
		return t.stopped(ctx)
	case err != nil:
		t.d.Logger.Warn("asking for approval", "tool", t.spec.Name, "error", err)
		return tool.Errorf(tool.CodeApprovalRequired, "%s needs a person's approval and the question could not be put: nobody has answered", t.spec.Name)
	case !answer.Allow:
		return tool.Errorf(tool.CodeApprovalDenied, "a person refused this call of %s%s. Do not retry it.", t.spec.Name, because(answer.Reason))
	case answer.Digest != digest:
		return tool.Errorf(tool.CodeApprovalDenied, "the approval that came back is for another call; %s was not run", t.spec.Name)
	}
	t.rule = "approved by a person"
	if answer.Session {
		t.d.grants.Add(digest)
	}
	return nil
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + tool.ClipText(reason, 1000)
}

// summary is the line that a person is asked about.
func (t *trip) summary() string {
	if t.assessed.Summary != "" {
		return t.assessed.Summary
	}
	return t.spec.Name + " " + tool.Clip(string(t.call.Args))
}

// waitTurn waits until nothing that conflicts is ahead.
func (t *trip) waitTurn(ctx context.Context) *tool.Error {
	err := t.d.queue.wait(ctx, t.place)
	switch {
	case ctx.Err() != nil:
		return t.stopped(ctx)
	case errors.Is(err, errStuck):
		return tool.Errorf(tool.CodeFailed, "not run: an earlier call was told to stop and has not, and %s may not run beside it", t.spec.Name)
	}
	return nil
}

func (t *trip) hookCall() hook.Call {
	return hook.Call{Tool: t.spec.Name, Args: t.call.Args, Session: t.d.Session, Origin: t.d.Origin}
}

// asError finds the coded failure in an error's chain, or gives it a code.
func asError(err error, code tool.Code) *tool.Error {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	return tool.Errorf(code, "%w", err)
}
