package mcp

import (
	"context"
	"encoding/json"

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

// clientOf is the session that a request belongs to, or nil for one of the
// stateless revision.
func (c *stdio) clientOf(from carried) *mcp.ServerSession {
	if from.stateless() {
		return nil
	}
	return c.client()
}

// askerOf says how the client is asked about a request, or why the request is
// refused. client is nil for one of the stateless revision; the round is nil
// for any other.
func (c *stdio) askerOf(ctx context.Context, from carried, a attempt, client *mcp.ServerSession) (context.Context, *round, error) {
	if client != nil {
		return withAsker(ctx, direct{session: client, gone: c.present}), nil, nil
	}
	var can mcp.ClientCapabilities
	a.can = json.Unmarshal(from.capabilities, &can) == nil && fillsForms(&can)
	a.lasting, a.state, a.answer = true, from.state, replyTo(from.answers)
	r, err := c.server.round(a)
	if err != nil {
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
