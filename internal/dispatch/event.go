package dispatch

import (
	"context"
	"time"

	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// Phase says at which point of a call an event was made.
type Phase string

// The phases. Every call that was started or asked about is finished exactly
// once, and every question that was asked is answered exactly once, whatever
// became of it.
const (
	PhaseStarted  Phase = "started"
	PhaseProgress Phase = "progress"
	PhaseAsked    Phase = "asked"
	PhaseAnswered Phase = "answered"
	PhaseFinished Phase = "finished"
	// PhaseHook is about a hook and not about a call.
	PhaseHook Phase = "hook"
)

// Event is one thing that happened to a call.
type Event struct {
	Time    time.Time
	Phase   Phase
	Session string
	Origin  tool.Origin
	CallID  string
	// Tool is the canonical name, or "" where none was found; Asked is the
	// name that was used, at most [tool.MaxEcho] bytes of it.
	Tool, Asked string
	// Progress is set in PhaseProgress.
	Progress tool.Progress
	// Question is the ID of the question, in PhaseAsked and PhaseAnswered.
	Question string
	// Answer is what became of it, and By the face that the answer came
	// through, in PhaseAnswered.
	Answer, By string
	// Hook is set in PhaseHook, and then little else.
	Hook *hook.Report
	// The rest is set in PhaseFinished.

	// Step is where the journey ended early, or "".
	Step string
	// Rule is what decided, or what asks the question.
	Rule string
	// Reason is the stable label of a policy denial, or "".
	Reason string
	// Finding is the label of what the loop guard noticed, or "".
	Finding string
	// Digest identifies the tool and its exact arguments.
	Digest string
	Result *tool.Result
}

// observe sends an event with what the trip knows.
func (t *trip) observe(e Event) {
	if t.d.Observe == nil || t.judging {
		return
	}
	e.Time, e.Session, e.Origin, e.CallID, e.Asked = time.Now(), t.d.Session, t.d.Origin, t.asked.ID, tool.Clip(t.asked.Tool)
	if t.spec != nil {
		e.Tool = t.name()
	}
	t.tell(func() { t.d.Observe(e) })
}

// record closes the call: one event, whatever became of it.
func (t *trip) record(context.Context) *tool.Error {
	t.result.Duration = time.Since(t.started)
	t.result.Repairs = t.repairs
	e := Event{Phase: PhaseFinished, Step: t.refusedAt, Rule: t.rule, Result: t.result, Digest: permission.Digest(t.name(), t.call.Args)}
	if t.denied != nil {
		e.Reason = string(t.denied.Decision.Reason)
	}
	if t.finding != nil {
		e.Finding = t.finding.Kind
	}
	t.observe(e)
	return nil
}
