package handrail

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/approval"
	"github.com/handrail-tools/handrail/internal/netproxy"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// ApprovalQueue puts questions where other processes of the same user answer
// them. Its Ask is an [Approver].
type ApprovalQueue = approval.Queue

// OpenApprovalQueue opens the queue of a state folder, an absolute path; the
// command `handrail approvals` and every other process that opens it see the
// same questions. Close it after the sessions that ask there.
func OpenApprovalQueue(stateDir string) (*ApprovalQueue, error) { return approval.Open(stateDir) }

// AskAll returns an approver that asks several at once: the first that answers
// decides, and the others are told so. One that fails or crashes does not
// refuse for the others. nil ones are left out; with none left it is nil.
func AskAll(approvers ...Approver) Approver { return approval.First(approvers...) }

// openQueue puts the queue beside whoever else is asked. Children ask there
// too.
func (s *Session) openQueue() error {
	if !s.options.Queue || s.options.StateDir == "" || s.options.Permission.Approval == Never {
		return nil
	}
	queue, err := approval.Open(s.options.StateDir)
	if err != nil {
		return err
	}
	s.onClose(queue.Close)
	s.options.Approver = approval.First(s.options.Approver, queue.Ask)
	return nil
}

// Grants returns what a person has allowed beyond one call and still holds
// here: for the session, the oldest first, then the rules for always.
func (s *Session) Grants() []Grant {
	return slices.Concat(s.dispatch.Grants(), s.judge.Kept())
}

// Revoke takes back a grant, by the ID that [Session.Grants] gives it, and
// reports whether it was there. A rule for always is removed for other
// sessions too. What a call has already been allowed by it goes on.
func (s *Session) Revoke(id string) (bool, error) {
	if s.dispatch.Revoke(id) {
		return true, nil
	}
	there, err := s.judge.Drop(id)
	if err != nil {
		return false, fmt.Errorf("revoking %s: %w", tool.Clip(id), err)
	}
	return there, nil
}

// noteQuestion counts and logs what became of a question.
func (s *Session) noteQuestion(e Event) {
	switch e.Phase {
	case PhaseAsked:
		s.logger().Info("a person is asked", "session", e.Session, "call", e.CallID, "tool", e.Tool, "question", e.Question, "rule", e.Rule)
	case PhaseAnswered:
		s.metrics.Question(e.Tool, e.Answer)
		s.logger().Info("a question is answered", "session", e.Session, "call", e.CallID, "tool", e.Tool, "question", e.Question, "answer", e.Answer, "by", e.By)
	}
}

// approveHost asks a person about a host that a command wants to reach, or is
// nil where nobody is asked.
func (s *Session) approveHost() func(context.Context, netproxy.Target) (bool, error) {
	if s.options.Approver == nil || s.options.Permission.Approval == permission.Never {
		return nil
	}
	return func(ctx context.Context, t netproxy.Target) (bool, error) {
		_, version := s.judge.Current()
		r := permission.Request{
			ID: "q_" + strings.ToLower(rand.Text()[:16]), Session: s.id, Tool: "network", Args: fmt.Appendf(nil, "%q", t.String()),
			Summary: "a command wants to reach " + tool.Clip(t.String()), Reason: "no list of hosts decides about it; the answer holds for the session",
			Rule: "network proxy", Origin: s.options.Origin, Policy: version, Asked: time.Now(),
			Act: permission.Act{Effects: tool.Network, Hosts: []string{t.Host}},
		}
		if s.options.AskFor > 0 {
			r.Expires = r.Asked.Add(s.options.AskFor)
			var stop context.CancelFunc
			ctx, stop = context.WithDeadlineCause(ctx, r.Expires, permission.ErrExpired)
			defer stop()
		}
		r.Digest = r.Bind()
		answer, err := s.options.Approver(ctx, r)
		return err == nil && ctx.Err() == nil && answer.Allow && answer.Args == nil && answer.Digest == r.Digest, err
	}
}
