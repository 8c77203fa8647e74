package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is the session of the client, or nil before there is one. Only the
// goroutine that reads calls it.
func (c *stdio) client() *mcp.ServerSession {
	if c.peer == nil {
		for client := range c.server.sdk.Sessions() {
			c.peer = client // one pair of streams is one session
			break
		}
	}
	return c.peer
}

// askerOf says how the client is asked about a call, or why the call is
// refused. client is nil for a call of the stateless revision; the round is
// nil for any other.
func (c *stdio) askerOf(ctx context.Context, p callParams, client *mcp.ServerSession) (context.Context, *round, *jsonrpc.Error) {
	if client != nil {
		return withAsker(ctx, direct{session: client, gone: c.present}), nil, nil
	}
	r := &round{server: c.server, name: p.name, args: p.arguments, lasting: true}
	var can mcp.ClientCapabilities
	r.can = json.Unmarshal(p.capabilities, &can) == nil && fillsForms(&can)
	if err := r.open(p.state, replyTo(p.answers)); err != nil {
		return ctx, nil, err
	}
	return withAsker(ctx, r), r, nil
}

// replyTo is the answer to the question about the call among those that were
// brought, or nil.
func replyTo(answers json.RawMessage) *formReply {
	var all map[string]json.RawMessage
	var one formReply
	if json.Unmarshal(answers, &all) != nil || json.Unmarshal(all[approvalKey], &one) != nil {
		return nil
	}
	return &one
}
