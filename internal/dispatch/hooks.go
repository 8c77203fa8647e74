package dispatch

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// beforeHooks lets hooks refuse the call, have a person asked, or rewrite the
// arguments, which are then judged like any others, by the other hooks too.
// Each hook's rewriting is taken once, so this ends.
func (t *trip) beforeHooks(ctx context.Context) *tool.Error {
	if !t.d.Hooks.Has(hook.PreToolUse) {
		return nil
	}
	in := t.hookInput(hook.PreToolUse)
	for {
		o := t.d.Hooks.Run(ctx, in)
		if stop := t.stopped(ctx); stop != nil {
			return stop
		}
		t.hear(o)
		switch o.Verdict {
		case hook.Deny:
			return t.hookDenies(o)
		case hook.Ask:
			t.hookAsks = cmp.Or(t.hookAsks, o.Reason, "a hook wants a person to look at this call")
		}
		if o.Args == nil {
			t.hookAllows = t.hookAllows || o.Verdict == hook.Allow
			return nil
		}
		t.hookAllows = o.RewriterAllows
		if err := t.rewrite(ctx, o.Args, "a hook"); err != nil {
			return err
		}
		rewritten := append(in.Rewritten, o.Rewriter)
		in = t.hookInput(hook.PreToolUse)
		in.Rewritten = rewritten
	}
}

// hookDenies is the refusal of a hook.
func (t *trip) hookDenies(o hook.Outcome) *tool.Error {
	t.rule = "hook"
	return tool.Errorf(tool.CodeDenied, "a hook refused this call: %s\nDo not retry it unchanged.", strings.Join(o.Feedback, "\n"))
}

// hear keeps what hooks have to say beside their verdict.
func (t *trip) hear(o hook.Outcome) {
	for _, text := range o.Context {
		if !slices.Contains(t.hookNotes, text) { // a hook may look at a call more than once
			t.hookNotes = append(t.hookNotes, text)
		}
	}
	if o.Stop && t.stopTurn == "" {
		t.stopTurn = cmp.Or(o.StopReason, "a hook ends the turn")
	}
}

// hookAllowed lets a hook's allow answer the question that the mode would
// put. A rule that asks, an approval that asks about everything and a command
// that wants out of the fence were meant for a person.
func (t *trip) hookAllowed(v permission.Verdict) permission.Verdict {
	if v.Outcome != permission.Ask || !t.hookAllows || t.hookAsks != "" || t.act.Unfenced || !strings.HasPrefix(v.Rule, "mode ") {
		return v
	}
	return permission.Verdict{Outcome: permission.Allow, Rule: "hook", Reason: "a hook answers what a person would have been asked"}
}

// askHooks puts the question to the hooks that stand for a person, and
// reports whether they have answered it. A command that wants out of the
// fence they may only refuse.
func (t *trip) askHooks(ctx context.Context) (answered bool, err *tool.Error) {
	if !t.d.Hooks.Has(hook.PermissionRequest) {
		return false, nil
	}
	o := t.d.Hooks.Run(ctx, t.hookInput(hook.PermissionRequest))
	if stop := t.stopped(ctx); stop != nil {
		return true, stop
	}
	t.hear(o)
	switch {
	case o.Verdict == hook.Deny:
		return true, t.hookDenies(o)
	case o.Verdict != hook.Allow || t.act.Unfenced:
		return false, nil
	case o.Args == nil:
		t.rule = "approved by a hook"
		return true, nil
	case !o.RewriterAllows:
		return false, nil // whoever allows it has not seen what another makes of it
	}
	return t.askedRewrite(ctx, o.Args)
}

// askedRewrite judges what a hook has made of a call that it was asked about.
// The hooks before a call see it, and where one of them asks, or it wants out
// of the fence, the question is a person's.
func (t *trip) askedRewrite(ctx context.Context, raw []byte) (answered bool, err *tool.Error) {
	t.hookAsks, t.hookAllows = "", false
	if err := t.rewrite(ctx, raw, "a hook"); err != nil {
		return true, err
	}
	if err := t.beforeHooks(ctx); err != nil {
		return true, err
	}
	judge, version := t.d.Judge.Current()
	v := judge.Judge(t.act)
	t.verdict, t.rule, t.by, t.version = v, v.Rule, judge, version
	switch {
	case v.Outcome == permission.Deny:
		return true, tool.Errorf(tool.CodeDenied, "a hook that was asked about this call rewrote it, and the call that it made is refused by %s: %s",
			tool.Clip(v.Rule), v.Reason)
	case t.hookAsks != "" || t.act.Unfenced:
		t.verdict = judge.Question("hook", cmp.Or(t.hookAsks, "a hook rewrote the call"))
		return false, nil
	}
	t.rule = "approved by a hook"
	return true, nil
}

// rewrite replaces the arguments by what somebody else made of them, and
// assesses the call again.
func (t *trip) rewrite(ctx context.Context, raw []byte, who string) *tool.Error {
	t.raw = raw
	if err := t.size(ctx); err != nil {
		return err
	}
	decoded, err := t.resolved.Entry.Args.Decode(raw)
	if err != nil {
		e := asError(err, tool.CodeInvalidInput)
		return tool.Errorf(tool.CodeDenied, "%s rewrote the arguments into something that does not fit: %s", who, e.Text)
	}
	t.repairs = append(t.repairs, decoded.Repairs...)
	t.call = tool.Call{
		ID: t.call.ID, Tool: t.call.Tool, Asked: t.call.Asked, Args: decoded.Args, Session: t.call.Session, Origin: t.call.Origin,
	}
	p, err := t.standin()
	if err != nil {
		return asError(err, tool.CodePanicked)
	}
	if p.key != t.place.key {
		return tool.Errorf(tool.CodeDenied, "%s moved this call from %q to %q, which has a queue of its own; it was not run",
			who, tool.Clip(t.place.key), tool.Clip(p.key))
	}
	return t.assess(ctx)
}

// afterHooks lets hooks look at the result of a call that ran and add
// feedback, behind what those before it had to say.
func (t *trip) afterHooks(ctx context.Context) *tool.Error {
	notes := t.hookNotes
	event := hook.PostToolUse
	if !t.result.OK {
		event = hook.PostToolUseFailure
	}
	if t.ran && t.d.Hooks.Has(event) {
		in := t.hookInput(event)
		seen := *t.result // a hook looks at the result; it does not make it
		in.Result = &seen
		o := t.d.Hooks.Run(context.WithoutCancel(ctx), in)
		t.hookNotes = nil
		t.hear(o)
		notes = slices.Concat(notes, o.Feedback, t.hookNotes)
		for _, path := range o.Changed {
			if !slices.Contains(t.result.Changed, path) {
				t.result.Changed = append(t.result.Changed, path)
			}
		}
		defer t.append(o.Notes)
	}
	lines := make([]string, len(notes))
	for i, text := range notes {
		lines[i] = "[hook] " + output.Prepare(text, false, t.d.Redactor).Text
	}
	t.append(lines)
	if t.stopTurn != "" {
		metadata := maps.Clone(t.result.Metadata) // which may be the tool's own
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata["stop_turn"], metadata["stop_reason"] = "hook", t.stopTurn
		t.result.Metadata = metadata
	}
	return nil
}

// hookInput is the call as hooks see it: what they do to it changes nothing.
func (t *trip) hookInput(e hook.Event) hook.Input {
	return hook.Input{
		Event: e, CallID: t.asked.ID, Tool: t.spec.Name, Aliases: slices.Clone(t.spec.Aliases), Args: bytes.Clone(t.call.Args), Act: t.act,
		Reads:   t.absolute(t.assessed.Reads, (*workspace.Workspace).Resolve),
		Writes:  append(t.absolute(t.assessed.Writes, (*workspace.Workspace).Resolve), t.absolute(t.assessed.Entries, (*workspace.Workspace).ResolveEntry)...),
		Summary: t.summary(),
	}
}

// absolute gives paths as hooks see them: absolute, with links followed.
func (t *trip) absolute(paths []string, resolve func(*workspace.Workspace, string) (workspace.Resolved, error)) []string {
	var all []string
	for _, p := range paths {
		if t.d.Workspace != nil {
			if r, err := resolve(t.d.Workspace, p); err == nil {
				p = r.Abs
			}
		}
		all = append(all, p)
	}
	return all
}
