package handrail

import (
	"context"

	"github.com/handrail-tools/handrail/internal/dispatch"
	"github.com/handrail-tools/handrail/internal/store"
)

// observe counts a finished call, writes it to the event log, and passes the
// event on.
func (s *Session) observe(e Event) {
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
		if err := s.store.Append(s.logEvent(e)); err != nil {
			s.logger().Error("writing the event log", "error", err)
		}
	}
	if s.options.OnEvent != nil {
		s.options.OnEvent(e)
	}
}

// logEvent is a finished call as the event log keeps it: what was asked and
// what became of it, without arguments or results.
func (s *Session) logEvent(e Event) store.Event {
	r := e.Result
	reason := e.Reason
	if reason == "" {
		reason = e.Finding
	}
	return store.Event{
		Time: e.Time, Session: e.Session, Workspace: s.root(), CallID: e.CallID, Tool: e.Tool, Asked: e.Asked,
		Origin: e.Origin, OK: r.OK, Code: r.Code, Step: e.Step, Rule: e.Rule, Reason: reason, ArgsDigest: e.Digest,
		ResultID: r.ID, Changed: r.Changed, Omitted: r.Omitted, Repairs: r.Repairs, Duration: r.Duration,
	}
}

// ledger lets the dispatcher keep results in the store.
type ledger struct{ store *store.Store }

func (l ledger) Put(ctx context.Context, e dispatch.Entry, durable bool) (string, error) {
	return l.store.Put(ctx, store.Entry{
		Session: e.Session, Workspace: e.Workspace, Tool: e.Tool, CallID: e.CallID,
		Text: e.Text, Media: e.Media, Verbatim: e.Verbatim,
	}, durable)
}
