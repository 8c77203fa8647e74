package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// resolve finds the one visible tool that the name means.
func (t *trip) resolve(context.Context) *tool.Error {
	resolved, err := t.d.View.Resolve(t.asked.Tool)
	if err == nil {
		t.resolved, t.spec = resolved, resolved.Entry.Spec
		t.note("resolve", t.spec.Name, "")
		if t.instead != nil {
			return t.own()
		}
		if !t.judging {
			t.d.View.Touch(t.spec.Name) // a tool that was put away comes back
		}
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
	if t.instead != nil {
		return nil // a host that looks again is no model that goes in circles
	}
	t.finding = t.d.Guard.Before(t.name(), t.asked.Args)
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
	p, err := t.standin()
	if err != nil {
		return asError(err, tool.CodePanicked)
	}
	if failed := t.batch.failedBefore(p); failed != nil {
		return errEarlier(failed)
	}
	p.cancel = t.cancel
	if !t.d.queue.arrive(p) {
		return errClosed
	}
	t.place = p
	return nil
}

// assess asks the tool what the call would do and resolves the paths.
func (t *trip) assess(ctx context.Context) *tool.Error {
	spec := t.spec
	t.assessed = tool.Act{Effects: spec.Effects}
	if a := t.resolved.Entry.Assesser; a != nil {
		act, err := t.narrowed(ctx, a)
		if err != nil {
			return err
		}
		t.assessed = act
	}
	if err := t.preflight(ctx); err != nil {
		return err
	}
	if err := t.resolveAct(); err != nil {
		return err
	}
	if t.judging {
		t.note("assess", describe(t.act), "")
	}
	return nil
}

// narrowed is the tool's own assessment, which may not go beyond what the tool
// declares.
func (t *trip) narrowed(ctx context.Context, a tool.Assesser) (tool.Act, *tool.Error) {
	act, err := t.askTool(ctx, a)
	if err != nil {
		return act, err
	}
	if act.Effects == 0 {
		act.Effects = t.spec.Effects
	}
	act.Effects |= implied(act)
	if !act.Effects.Within(t.spec.Effects) {
		return act, tool.Errorf(tool.CodeDenied, "%s wants to do more than it declares (%s beyond %s); it was not run",
			t.spec.Name, act.Effects, t.spec.Effects)
	}
	return act, nil
}

// preflight has a tool that is meant for the background check the call while
// the model can still mend it.
func (t *trip) preflight(ctx context.Context) *tool.Error {
	e := t.resolved.Entry
	if !e.Background || e.Preflighter == nil {
		return nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, t.d.Timeout, overBudget(t.d.Timeout))
	defer stop()
	call, inside := t.call, t.surround(ctx)
	_, err := await(ctx, func() (struct{}, error) { return struct{}{}, e.Preflighter.Preflight(inside, &call) })
	switch {
	case err != nil && ctx.Err() != nil:
		return t.stopped(ctx)
	case err != nil:
		return asError(err, tool.CodeInvalidInput)
	}
	return nil
}

// implied are the effects that an assessment gives away by its details.
func implied(a tool.Act) (e tool.Effects) {
	if len(a.Writes)+len(a.Entries) > 0 {
		e |= tool.Write
	}
	if len(a.Hosts) > 0 {
		e |= tool.Network
	}
	if a.Command != "" || a.Unclear != "" {
		e |= tool.Exec
	}
	return e
}

// resolveAct makes of the assessment what rules judge. A path that the
// workspace cannot make anything of ends the call here, with the workspace's
// own word on what is wrong with it: no rule could judge it.
func (t *trip) resolveAct() *tool.Error {
	a := t.assessed
	known := t.act.Program // of this very command, where the call is judged again
	if t.act.Command != a.Command {
		known = nil
	}
	t.act = permission.Act{Spec: t.spec, Effects: a.Effects, Hosts: a.Hosts, Command: a.Command, Unclear: a.Unclear, Program: known, Filtered: t.resolved.Entry.Source == "",
		Confined: t.d.Confined && t.resolved.Entry.Source == "" && a.Effects.Has(tool.Exec) && !a.Unfenced, Unfenced: a.Unfenced}
	var err error
	if t.act.Reads, _, err = t.resolvePaths(a.Reads, (*workspace.Workspace).Resolve, false); err == nil {
		t.act.Trees, _, err = t.resolvePaths(a.Trees, (*workspace.Workspace).Resolve, false)
	}
	if err == nil {
		t.act.Writes, t.writes, err = t.resolvePaths(a.Writes, (*workspace.Workspace).Resolve, true)
	}
	if err == nil && len(a.Entries) > 0 {
		var judged, here []string
		judged, here, err = t.resolvePaths(a.Entries, (*workspace.Workspace).ResolveEntry, true)
		t.act.Writes, t.writes = append(t.act.Writes, judged...), append(t.writes, here...)
	}
	if err != nil {
		return asError(err, tool.CodeDenied)
	}
	if t.act.Command != "" {
		t.act.Look(a.Dir, a.Resumed, t.locator())
	}
	return nil
}

// askTool has the tool assess the call. Handrail's own tools answer at once;
// any other gets the session's budget and a goroutine of its own.
func (t *trip) askTool(ctx context.Context, a tool.Assesser) (tool.Act, *tool.Error) {
	call := t.call
	var act tool.Act
	var err error
	if t.resolved.Entry.Source == "" {
		act, err = isolated(func() (tool.Act, error) { return a.Assess(t.surround(ctx), &call) })
	} else {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, t.d.Timeout, overBudget(t.d.Timeout))
		defer stop()
		inside := t.surround(ctx)
		act, err = await(ctx, func() (tool.Act, error) { return a.Assess(inside, &call) })
	}
	if err != nil {
		return act, cmp.Or(t.stopped(ctx), asError(err, tool.CodeFailed))
	}
	t.call = call // with what the tool has decoded
	return act, nil
}

// resolvePaths gives the paths as rules judge them and as the workspace
// spells them, with links followed as resolve does.
func (t *trip) resolvePaths(paths []string, resolve func(*workspace.Workspace, string) (workspace.Resolved, error), write bool) (judged, here []string, err error) {
	for _, p := range paths {
		if t.d.Workspace == nil {
			t.act.Unresolved = p
			continue
		}
		r, err := resolve(t.d.Workspace, p)
		if err != nil {
			return nil, nil, err
		}
		why := r.Unreadable
		if write && why == "" {
			why = r.Unwritable
		}
		if why != "" && t.act.Protected == "" {
			t.act.Protected, t.act.ProtectedBy = r.Rel, why
		}
		judged, here = append(judged, r.Judged), append(here, r.Rel)
	}
	return judged, here, nil
}

func describe(a permission.Act) string {
	text := a.Effects.String()
	for _, part := range []struct {
		name string
		list []string
	}{{"reads", a.Reads}, {"reads all in", a.Trees}, {"writes", a.Writes}, {"hosts", a.Hosts}} {
		if len(part.list) > 0 {
			text += fmt.Sprintf("; %s %s", part.name, tool.Clip(fmt.Sprint(part.list)))
		}
	}
	if parts := a.Parts(); parts != "" {
		text += "; " + parts
	}
	switch {
	case a.Confined:
		text += "; held by the fence"
	case a.Unfenced:
		text += "; outside of the fence"
	}
	if a.Unresolved != "" {
		text += "; cannot resolve " + tool.Clip(a.Unresolved)
	}
	return text
}

// waitTurn waits until nothing that conflicts is ahead.
func (t *trip) waitTurn(ctx context.Context) *tool.Error {
	err := t.d.queue.wait(ctx, t.place)
	stop := t.stopped(ctx)
	switch {
	case stop != nil:
		return stop
	case errors.Is(err, errStuck):
		return tool.Errorf(tool.CodeFailed, "not run: an earlier call was told to stop and has not, and %s may not run beside it", t.spec.Name)
	}
	return t.judgeAgain(ctx)
}

// maxRounds is how often a call is judged whose meaning changes each time
// while it is judged.
const maxRounds = 10

// judgeAgain makes sure that what was judged still holds when the call's
// turn has come: while hooks ran, a person thought or an earlier call worked,
// the tool may have been taken away, and a link may have come to lead
// elsewhere. Where that takes another question, it is looked at once more
// behind that.
func (t *trip) judgeAgain(ctx context.Context) *tool.Error {
	entry := t.resolved.Entry
	for range maxRounds {
		if err := cmp.Or(t.resolve(ctx), t.policy(ctx)); err != nil {
			return err
		}
		if t.resolved.Entry != entry {
			return tool.Errorf(tool.CodeDenied, "not run: while this call waited, %s was replaced by another tool of that name. Ask again.", t.spec.Name)
		}
		if same, err := t.stillSame(ctx); err != nil || same {
			return err
		}
		t.hookAllows = false
		if err := t.beforeHooks(ctx); err != nil { // none of which has seen what it is by now
			return err
		}
		if err := t.permit(ctx); err != nil {
			return err
		}
	}
	return tool.Errorf(tool.CodeDenied, "not run: what this call of %s would touch changed again and again while it was judged. Find out what changes it, and ask again.", t.spec.Name)
}

// stillSame assesses the call once more and reports whether it means what was
// judged, under the same rules.
func (t *trip) stillSame(ctx context.Context) (bool, *tool.Error) {
	was, version := t.act, t.version
	if err := t.assessAgain(ctx); err != nil {
		return false, err
	}
	if err := t.resolveAct(); err != nil {
		return false, err
	}
	return was.SameCommand(t.act) && slices.Equal(was.Reads, t.act.Reads) && slices.Equal(was.Writes, t.act.Writes) &&
		slices.Equal(was.Trees, t.act.Trees) && was.Protected == t.act.Protected && was.Unresolved == t.act.Unresolved && t.sameRules(version), nil
}

// sameRules reports whether the rules are still those of a version.
func (t *trip) sameRules(version string) bool {
	_, now := t.d.Judge.Current()
	return now == version
}

// asError finds the coded failure in an error's chain, or gives it a code.
func asError(err error, code tool.Code) *tool.Error {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	return tool.Errorf(code, "%w", err)
}
