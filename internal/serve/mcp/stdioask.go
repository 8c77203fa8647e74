package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is the session of the one client over stdio, or nil.
func (s *Server) client() *mcp.ServerSession {
	for client := range s.sdk.Sessions() {
		return client
	}
	return nil
}

// askerOf says how the client is asked about a call, or why the call is
// refused. The round is nil for a client that is asked directly.
func (c *stdio) askerOf(ctx context.Context, p callParams, stateless bool) (context.Context, *round, *jsonrpc.Error) {
	if !stateless {
		return withAsker(ctx, direct{session: c.server.client(), gone: c.present}), nil, nil
	}
	r := &round{server: c.server, name: p.Name, args: p.Arguments, lasting: true}
	var can mcp.ClientCapabilities
	r.can = json.Unmarshal(p.Meta.Capabilities, &can) == nil && fillsForms(&can)
	if err := r.open(p.State, replyTo(p.Answers)); err != nil {
		return ctx, nil, err
	}
	return withAsker(ctx, r), r, nil
}

// replyTo is the answer to the question about the call among those that were
// brought, or nil.
func replyTo(answers json.RawMessage) *reply {
	var all map[string]json.RawMessage
	var one reply
	if json.Unmarshal(answers, &all) != nil || json.Unmarshal(all[approvalKey], &one) != nil {
		return nil
	}
	return &one
}
