package handrail

import (
	"context"

	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/internal/workspace"
)

// observe counts questions and finished calls, writes the calls to the event
// log, and passes every event on.
func (s *Session) observe(e Event) {
	s.noteQuestion(e)
	if e.Phase == PhaseFinished {
		code := string(e.Result.Code)
		if e.Result.OK {
			code = "ok"
		}
		s.metrics.Call(e.Tool, code, e.Result.Duration)
		if e.Reason != "" {
			s.metrics.Denial(e.Tool, e.Reason)
		}
		if e.Finding != "" {
			s.metrics.Loop(e.Finding)
		}
		s.receive(e)
		if e.Result.ID != "" {
			s.recent.add(e.Result.ID)
		}
		if err := s.store.Append(logEvent(e)); err != nil {
			s.logger().Error("writing the event log", "error", err)
		}
	}
	if s.options.OnEvent != nil {
		s.options.OnEvent(e)
	}
}

// receive notes that a result showed a view of a file whole: it was not cut,
// and the tool, which knows what it had to hide, offers it.
func (s *Session) receive(e Event) {
	r := e.Result
	view, ok := r.Metadata[workspace.ViewKey].(string)
	if s.receipts != nil && ok && r.OK && r.ID != "" && r.Omitted == 0 {
		s.receipts.Earn(view, r.ID)
	}
}

// logEvent is a finished call as the event log keeps it: what was asked and
// what became of it, without arguments or results.
func logEvent(e Event) store.Event {
	r := e.Result
	reason := e.Reason
	if reason == "" {
		reason = e.Finding
	}
	return store.Event{
		Time: e.Time, Session: e.Session, Call: e.CallID, Tool: e.Tool, Asked: e.Asked, Origin: e.Origin,
		OK: r.OK, Code: r.Code, Reason: reason, Rule: e.Rule, ArgsSum: e.Digest,
		Result: r.ID, Changed: r.Changed, Omitted: r.Omitted, Repairs: r.Repairs, Duration: r.Duration,
	}
}

// Log returns the newest finished calls that the filter asks for, of every
// session that shares the state folder.
func (s *Session) Log(ctx context.Context, f LogFilter) (Log, error) {
	return s.store.Events(ctx, f)
}
