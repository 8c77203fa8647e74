package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/serve/mcp/roundtrip"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// approvalKey names the question among those that a result may put.
const approvalKey = "approval"

// formReply is a client's answer to a form.
type formReply struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content"`
}

// round is one attempt of a call of the stateless revision. The first asks
// with its result; the next brings the answer and goes the whole way again,
// so that the call is judged by what holds then. The answer counts only if
// the judgement asks the very question that was answered.
type round struct {
	attempt
	server *Server

	mu   sync.Mutex
	home string // the session that the request goes to
	// sealed is the act that was asked about in the round before, and
	// brought the answer; nil once it has been used.
	sealed  string
	brought *formReply
	asked   *handrail.ApprovalRequest // what this round is to ask
}

// round takes in what the client has brought with a request. A state that is
// not good ends the request, in words that say why; an answer without one
// answers nothing. The error is a [*jsonrpc.Error].
func (s *Server) round(a attempt) (*round, error) {
	r := &round{attempt: a, server: s}
	if a.state == "" {
		return r, nil
	}
	act, err := s.sealer.Open(r.request(), a.state)
	if err != nil {
		s.logger.Warn("an answer to a question was refused", "method", a.method, "name", cut(a.name), "reason", err)
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
			Message: fmt.Sprintf("requestState is refused: %v. Nothing was run. Ask again without requestState; a person is asked anew then", err)}
	}
	r.sealed, r.brought = act, a.answer
	return r, nil
}

func (r *round) request() roundtrip.Request {
	return roundtrip.Request{
		Principal: r.principal + "\n" + r.server.session.ID(), Method: r.method, Name: r.name, Args: canonical(r.args),
	}
}

// canonical makes arguments comparable that a client has written twice: the
// order of keys and white space say nothing.
func canonical(args json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return args
	}
	out, err := json.Marshal(v)
	if err != nil {
		return args
	}
	return out
}

// in says which session the request goes to, before it does. A round that is
// nil need not know.
func (r *round) in(h *home) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.home = h.session.ID()
}

// ask takes the answer that was brought, if it is to this question, and
// otherwise puts the question.
func (r *round) ask(_ context.Context, q handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
	if !r.can {
		return handrail.ApprovalAnswer{}, handrail.ErrNobody
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := r.brought
	r.brought = nil
	if answer != nil && r.sealed == r.actOf(q) {
		return answered(q, answer.Action, answer.Content, r.lasting)
	}
	r.asked = &q
	return handrail.ApprovalAnswer{}, &tool.Error{
		Code: tool.CodeApprovalRequired, Text: q.Tool + " needs a person's approval and the client was told to ask", Err: handrail.ErrCarried,
	}
}

// question returns what the client is to ask instead of getting the result
// that has the code, or nil. A round that is nil asks nothing.
func (r *round) question(code tool.Code) (ask *mcp.ElicitParams, state string) {
	if r == nil || code != tool.CodeApprovalRequired {
		return nil, ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		return nil, ""
	}
	ask = &mcp.ElicitParams{Mode: "form", Message: question(*r.asked), RequestedSchema: form(*r.asked, r.lasting)}
	return ask, r.server.sealer.Seal(r.request(), r.actOf(*r.asked))
}

// actOf identifies what was asked: the call, the files that it and its command
// mean and the session whose they are, the tool as it was then, the rule that asked, the
// version of all rules, and what an answer for always would write. Where any of
// them has changed, the answer is to another question. r.mu is held.
func (r *round) actOf(q handrail.ApprovalRequest) string {
	h := sha256.New()
	a := q.Act
	fmt.Fprintf(h, "%q %q %q ", r.home, q.Policy, q.Offers)
	fmt.Fprintf(h, "%q %q %q %q %q %q %q %q %q %d", q.Tool, canonical(q.Args), q.Rule, q.Reason, a.Reads, a.Trees, a.Writes, a.Hosts, a.Command, a.Effects)
	fmt.Fprintf(h, " %q %q %t", a.Unclear, a.Unresolved, a.Unfenced)
	for _, file := range a.Touches {
		fmt.Fprintf(h, " %q", file.Path)
	}
	if a.Spec != nil {
		fmt.Fprintf(h, " %q %q %q %q %d", a.Spec.Name, a.Spec.Title, a.Spec.Description, a.Spec.Input, a.Spec.Effects)
	}
	return string(h.Sum(nil))
}

// appendQuestion appends the line that answers a call with a question.
func (s *Server) appendQuestion(dst []byte, id json.RawMessage, form *mcp.ElicitParams, state string) []byte {
	dst = append(appendHead(dst, id), `"result":{"resultType":"input_required",`...)
	dst = s.appendMeta(dst, &tool.Result{}, true)
	return append(appendInputs(dst, form, state), "}}\n"...)
}

// appendInputs appends what a result says that puts a question.
func appendInputs(dst []byte, form *mcp.ElicitParams, state string) []byte {
	params, _ := json.Marshal(form) // texts, and a form that is our own
	dst = append(append(dst, `"inputRequests":{"`+approvalKey+`":{"method":"elicitation/create","params":`...), params...)
	return append(append(append(dst, `}},"requestState":"`...), state...), '"')
}
