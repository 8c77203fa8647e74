package dispatch

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

// permit judges the act and asks a person where the judgement says so.
func (t *trip) permit(ctx context.Context) *tool.Error {
	v := t.d.Judge.Judge(t.act)
	if t.hookAsks != "" && v.Outcome == permission.Allow {
		v = t.d.Judge.Question("hook", t.hookAsks)
	}
	v = t.hookAllowed(v)
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
	if t.d.grants.Has(t.grant(digest)) {
		t.rule = "granted for this session"
		return nil
	}
	if answered, err := t.askHooks(ctx); answered {
		return err
	}
	digest = permission.Digest(t.spec.Name, t.call.Args) // which a hook may have rewritten
	if t.d.Approver == nil {
		return t.nobody()
	}
	if stop := t.stopped(ctx); stop != nil {
		return stop // nobody is bothered with a call that is over
	}
	t.observe(Event{Phase: PhaseAsked})
	request := permission.Request{
		Tool: t.spec.Name, Args: bytes.Clone(t.call.Args), Digest: digest, Summary: t.summary(), Reason: t.verdict.Reason,
		Rule: t.verdict.Rule, Act: t.act, Origin: t.d.Origin, Asked: t.started,
	}
	answer, err := await(ctx, func() (permission.Answer, error) { return t.d.Approver(ctx, request) })
	stop := t.stopped(ctx)
	switch {
	case stop != nil:
		return stop
	case err != nil:
		return t.unanswered(err)
	case !answer.Allow:
		return tool.Errorf(tool.CodeApprovalDenied, "a person refused this call of %s%s. Do not retry it.", t.spec.Name, because(answer.Reason))
	case answer.Digest != digest:
		return tool.Errorf(tool.CodeApprovalDenied, "the approval that came back is for another call; %s was not run", t.spec.Name)
	}
	t.rule = "approved by a person"
	if answer.Session {
		t.d.grants.Add(t.grant(digest))
	}
	return nil
}

// nobody is the refusal where no person can be asked.
func (t *trip) nobody() *tool.Error {
	return tool.Errorf(tool.CodeApprovalRequired, "%s needs a person's approval (%s: %s) and nobody can be asked here. Do not retry; tell the person what you wanted to do.",
		t.spec.Name, tool.Clip(t.verdict.Rule), t.verdict.Reason)
}

// unanswered is the refusal where the approver came back without an answer.
func (t *trip) unanswered(err error) *tool.Error {
	if errors.Is(err, permission.ErrNobody) {
		return t.nobody()
	}
	if said, ok := errors.AsType[*tool.Error](err); ok && (said.Code == tool.CodeApprovalRequired || said.Code == tool.CodeApprovalDenied) {
		return said
	}
	t.d.Logger.Warn("asking for approval", "tool", t.spec.Name, "error", err)
	return tool.Errorf(tool.CodeApprovalRequired, "%s needs a person's approval and the question could not be put: nobody has answered", t.spec.Name)
}

// granted is what a yes for the session covers: the call, the files that it
// meant when the yes was given, and the very tool, since another may take its
// name.
type granted struct {
	entry  *registry.Entry
	digest string
}

func (t *trip) grant(digest string) granted {
	paths := slices.Concat(t.act.Reads, []string{""}, t.act.Writes, []string{""}, t.act.Trees)
	return granted{t.resolved.Entry, permission.Digest(digest, []byte(strings.Join(paths, "\x00")))}
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
