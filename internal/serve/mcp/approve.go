package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/handrail-tools/handrail"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Approve is the approver of a session that is served to MCP clients: it
// asks the client of the call by elicitation. A client of a revision with
// sessions is asked while its call waits, as long as that takes; the question
// is withdrawn when the call is cancelled or the client goes away. A client
// of the stateless revision gets the question as the call's result, and the
// call begins anew when it comes back with the answer. The reading of a
// resource is asked about like the call that it is. Where the client has not
// said that it can fill in forms, nobody is asked; neither is anybody for
// lists and completions, which are there while somebody only looks around.
//
// It is safe for concurrent use, also by several sessions.
func Approve(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
	a, ok := ctx.Value(askerKey{}).(questioner)
	if !ok {
		return handrail.ApprovalAnswer{}, handrail.ErrNobody
	}
	return a.ask(ctx, r)
}

// questioner asks the client of one call.
type questioner interface {
	ask(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error)
}

type askerKey struct{}

// withAsker says who is asked about the call that the context belongs to.
func withAsker(ctx context.Context, a questioner) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// direct asks a client that can be sent requests.
type direct struct {
	session *mcp.ServerSession
	// gone ends when the client can no longer answer, although the call may
	// go on. nil means that the call's own context says so.
	gone context.Context
}

func (d direct) ask(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
	if d.session == nil {
		return handrail.ApprovalAnswer{}, handrail.ErrNobody
	}
	client := d.session.InitializeParams()
	if client == nil || !fillsForms(client.Capabilities) {
		return handrail.ApprovalAnswer{}, handrail.ErrNobody
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if d.gone != nil {
		defer context.AfterFunc(d.gone, stop)()
	}
	answer, err := d.session.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: question(r), RequestedSchema: form(r, true)})
	if err != nil {
		return handrail.ApprovalAnswer{}, fmt.Errorf("asking the client: %w", err)
	}
	return answered(r, answer.Action, answer.Content, true)
}

// fillsForms reports whether a client can have a form filled in. One that
// names no kind of elicitation means forms: there was nothing else at first.
func fillsForms(c *mcp.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// attempt is a request that a person may have to be asked about, and what
// came with it if the client belongs to the stateless revision.
type attempt struct {
	principal, method, name string
	args                    json.RawMessage // nil for a reading, whose name says all
	can                     bool            // the client can have a form filled in
	lasting                 bool            // there is a session in which an answer can last
	state                   string
	answer                  *formReply
}

// sdkRequest is what requests that came through the SDK have in common.
type sdkRequest interface {
	ProtocolVersion() string
	ClientCapabilities() *mcp.ClientCapabilities
	GetExtra() *mcp.RequestExtra
}

// askerOf says how the client of a request is asked that came through the
// SDK, or why the request is refused. The round is nil for a client that is
// asked directly.
func (s *Server) askerOf(ctx context.Context, req sdkRequest, client *mcp.ServerSession, a attempt, answers mcp.InputResponseMap) (context.Context, *round, error) {
	if req.ProtocolVersion() < modern {
		gone, _ := ctx.Value(goneKey{}).(context.Context)
		return withAsker(ctx, direct{session: client, gone: gone}), nil, nil
	}
	// What the client says of itself proves nothing; its token does.
	if extra := req.GetExtra(); extra != nil {
		a.principal = extra.Header.Get("Authorization")
	}
	a.can = fillsForms(req.ClientCapabilities())
	if given, ok := answers[approvalKey].(*mcp.ElicitResult); ok && given != nil {
		a.answer = &formReply{Action: given.Action, Content: given.Content}
	}
	r, err := s.round(a)
	if err != nil {
		return ctx, nil, err
	}
	return withAsker(ctx, r), r, nil
}
