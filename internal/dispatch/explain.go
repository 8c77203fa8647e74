package dispatch

import (
	"context"

	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// Judgement is what one step of the journey says about a call.
type Judgement struct {
	// Step is the step's name.
	Step string
	// Verdict is "ok", "refused", "ask" or "not taken".
	Verdict string
	// Detail is one sentence; Rule is what decided, or "".
	Detail, Rule string
	// Tried are the rules that the step asked about each part of the call.
	Tried []permission.Traced
}

// Explanation is how the journey would judge a call.
type Explanation struct {
	// Tool is the canonical name, or "" where none was found.
	Tool  string
	Steps []Judgement
	// Outcome is Allow, Ask or Deny; Code says why it is Deny.
	Outcome permission.Outcome
	Code    tool.Code
}

// Explain takes a call through the steps that only judge. Nothing runs,
// nobody is asked, hooks are not called, and nothing is recorded.
func (d *Dispatcher) Explain(ctx context.Context, c Call) Explanation {
	t := d.newTrip(c, &batch{ctx: ctx}, 0)
	t.judging = true
	var e Explanation
	for _, list := range [][]step{intake, passage} {
		for _, s := range list {
			e.Steps = append(e.Steps, t.judge(ctx, s))
		}
	}
	if t.spec != nil {
		e.Tool = t.spec.Name
	}
	switch {
	case t.refusal != nil:
		e.Code = t.refusal.Code
	default:
		e.Outcome = t.verdict.Outcome
	}
	return e
}

// judge takes one step, if it only judges, and reports on it.
func (t *trip) judge(ctx context.Context, s step) Judgement {
	j := Judgement{Step: s.name, Verdict: "not taken"}
	switch {
	case t.refusal != nil:
		return j
	case !s.judges:
		if s.name == "before-hooks" && t.d.Hooks.Has(hook.PreToolUse) {
			j.Detail = "hooks are not called by an explanation; they may refuse or change the call"
		}
		return j
	}
	err := s.do(t, ctx)
	if s.name == "permit" {
		j.Tried = t.by.Trace(t.act) // the judge that permit has just asked
	}
	for _, note := range t.trace {
		if note.Step == s.name {
			j.Detail, j.Rule = note.Detail, note.Rule
		}
	}
	switch {
	case err != nil:
		t.refusal, t.refusedAt = err, s.name
		j.Verdict, j.Detail = "refused", err.Text
		if j.Rule == "" && s.name != "resolve" {
			j.Rule = t.rule
		}
	case s.name == "permit" && t.verdict.Outcome == permission.Ask:
		j.Verdict = "ask"
	default:
		j.Verdict = "ok"
	}
	return j
}

// note keeps what a step found, for an explanation.
func (t *trip) note(step, detail, rule string) {
	if t.judging {
		t.trace = append(t.trace, Judgement{Step: step, Detail: detail, Rule: rule})
	}
}
