package dispatch

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// What became of a question, in the field Answer of an event of PhaseAnswered.
// A yes is "once", "session" or "always".
const (
	AnswerNo        = "no"
	AnswerEdited    = "edited"    // with other arguments, which are judged anew
	AnswerExpired   = "expired"   // nobody answered in time
	AnswerVoid      = "void"      // it was to other rules, or to another question
	AnswerCancelled = "cancelled" // the call ended first
	AnswerNone      = "none"      // nobody could be asked, or the question failed
)

// ask puts the question to a person, or refuses where there is nobody. It
// reports whether the call is to be judged again.
func (t *trip) ask(ctx context.Context, changed <-chan struct{}) (again bool, refusal *tool.Error) {
	if t.judging {
		return false, nil
	}
	act := t.grant()
	if t.approved == act {
		t.rule = t.approvedBy // the wait has changed nothing of what was answered
		return false, nil
	}
	if g, ok := t.d.grants.Find(act); ok {
		t.rule = "granted for this session (" + g.ID + ")"
		return false, nil
	}
	if answered, refusal := t.askHooks(ctx); refusal != nil {
		return false, refusal
	} else if answered {
		t.approved, t.approvedBy = t.grant(), t.rule
		return false, nil
	}
	act = t.grant() // which a hook may have rewritten
	if t.d.Approver == nil {
		return false, t.nobody()
	}
	if stop := t.stopped(ctx); stop != nil {
		return false, stop // nobody is bothered with a call that is over
	}
	request := t.question()
	t.observe(Event{Phase: PhaseAsked, Question: request.ID, Rule: request.Rule})
	answer, err := t.put(ctx, request, changed)
	again, became, refusal := t.weigh(ctx, request, answer, err)
	t.observe(Event{Phase: PhaseAnswered, Question: request.ID, Rule: request.Rule, Answer: became, By: answer.By})
	if refusal != nil || again {
		return again, refusal
	}
	t.approved, t.approvedBy = act, t.rule
	if answer.Scope == permission.ForSession {
		t.remember(act, request, answer)
	}
	return false, nil
}

// question is what a person is asked about the call.
func (t *trip) question() permission.Request {
	r := permission.Request{
		ID: "q_" + strings.ToLower(rand.Text()[:16]), Session: t.d.Session, CallID: t.asked.ID,
		Tool: t.spec.Name, Args: bytes.Clone(t.call.Args), Summary: t.summary(), Reason: t.verdict.Reason, Rule: t.verdict.Rule,
		Act: t.act, Origin: t.d.Origin, Policy: t.version, Asked: time.Now(), Editable: t.instead == nil,
	}
	if t.d.AskFor > 0 {
		r.Expires = r.Asked.Add(t.d.AskFor)
	}
	if t.hookAsks == "" {
		r.Offers = t.d.Judge.Offers(t.act)
	}
	r.Digest = r.Bind()
	return r
}

// put has the approver ask, until the call is over, the question has expired,
// or the rules are others.
func (t *trip) put(ctx context.Context, r permission.Request, changed <-chan struct{}) (permission.Answer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if !r.Expires.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, r.Expires, permission.ErrExpired)
		defer cancel()
	}
	if changed != nil {
		asking := ctx
		go func() { // ends with the question
			select {
			case <-changed:
				stop(permission.ErrRulesChanged)
			case <-asking.Done():
			}
		}()
	}
	answer, err := await(ctx, func() (permission.Answer, error) { return t.d.Approver(ctx, r) })
	if cause := context.Cause(ctx); cause != nil {
		return permission.Answer{}, cause // an answer that comes with the end comes too late
	}
	if !r.Expires.IsZero() && !time.Now().Before(r.Expires) {
		return permission.Answer{}, permission.ErrExpired
	}
	return answer, err
}

// weigh says what an answer comes to. An answer counts only under the rules
// that asked, before its question expires, and for that question.
func (t *trip) weigh(ctx context.Context, r permission.Request, answer permission.Answer, err error) (again bool, became string, refusal *tool.Error) {
	_, version := t.d.Judge.Current()
	stop := t.stopped(ctx)
	switch {
	case stop != nil:
		return false, AnswerCancelled, stop
	case errors.Is(err, permission.ErrRulesChanged), err == nil && version != r.Policy:
		return true, AnswerVoid, nil
	case errors.Is(err, permission.ErrExpired):
		return false, AnswerExpired, tool.Errorf(tool.CodeApprovalRequired, "%s needs a person's approval and nobody answered within %s; it was not run. Do not retry by yourself; tell the person what you wanted to do.",
			t.spec.Name, t.d.AskFor)
	case err != nil:
		return false, AnswerNone, t.unanswered(err)
	case answer.Digest != r.Digest:
		return false, AnswerVoid, tool.Errorf(tool.CodeApprovalDenied, "the approval that came back is for another call; %s was not run", t.spec.Name)
	case answer.Args != nil:
		refusal = t.edit(ctx, answer.Args)
		if refusal == nil {
			t.notes = append(t.notes, "A person changed the arguments of this call, to "+tool.ClipText(string(t.call.Args), 1000))
		}
		return refusal == nil, AnswerEdited, refusal
	case !answer.Allow:
		return false, AnswerNo, tool.Errorf(tool.CodeApprovalDenied, "a person refused this call of %s%s. Do not retry it.", t.spec.Name, because(answer.Reason))
	}
	t.rule = "approved by a person"
	if answer.Scope == permission.ForAlways {
		refusal = t.keepRules(r, answer)
		return refusal == nil, answer.Scope.String(), refusal
	}
	return false, answer.Scope.String(), nil
}

// keepRules writes the rules of an answer for always. The call is judged again
// then, by the rules as they stand: it runs because of them, or not at all.
func (t *trip) keepRules(r permission.Request, answer permission.Answer) *tool.Error {
	if answer.Offer < 0 || answer.Offer >= len(r.Offers) {
		return tool.Errorf(tool.CodeApprovalDenied, "the answer that came back takes a rule that was not offered; %s was not run", t.spec.Name)
	}
	var rules []permission.Grant
	for _, rule := range r.Offers[answer.Offer].Rules {
		rules = append(rules, permission.Grant{
			ID: rule, Scope: permission.ForAlways, Tool: r.Tool, Summary: r.Summary, Digest: permission.Digest(r.Tool, r.Args),
			Rule: rule, By: answer.By, Given: time.Now(),
		})
	}
	if err := t.d.Judge.Keep(rules); err != nil {
		t.d.Logger.Error("keeping a rule that a person allowed", "rules", r.Offers[answer.Offer].Rules, "error", err)
		return tool.Errorf(tool.CodeApprovalRequired, "a person allowed %s for always, and the rule could not be written, so it was not run: %w. Tell the person.", t.spec.Name, err)
	}
	return nil
}

// remember keeps a yes for the session.
func (t *trip) remember(act granted, r permission.Request, answer permission.Answer) {
	g := permission.Grant{
		Scope: permission.ForSession, Tool: r.Tool, Summary: r.Summary, Digest: permission.Digest(r.Tool, r.Args), By: answer.By, Given: time.Now(),
	}
	if answer.For > 0 {
		g.Expires = g.Given.Add(answer.For)
	}
	if _, ok := t.d.grants.Add(act, g); !ok {
		t.d.Logger.Warn("a session holds no more grants; a person is asked again", "tool", r.Tool)
	}
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

// Grants returns what a person has allowed for the rest of the session and
// still holds, the oldest first.
func (d *Dispatcher) Grants() []permission.Grant { return d.grants.List() }

// Revoke takes such a grant back and reports whether it was there.
func (d *Dispatcher) Revoke(id string) bool { return d.grants.Revoke(id) }
