package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goneKey is the context's key for a context that ends when the client can
// no longer be asked.
type goneKey struct{}

// mark gives the context of a call, or a reading, that of the request that it
// came with. A call in a session goes on when its request has broken off,
// since a client may have lost no more than a connection; but the question
// about it can reach nobody then.
func (l *responses) mark(ctx context.Context, req mcp.Request) context.Context {
	if req.GetExtra() == nil || req.GetSession().ID() == "" {
		return ctx
	}
	if into := l.of(req.GetExtra()); into != nil {
		return context.WithValue(ctx, goneKey{}, into.gone)
	}
	ended, end := context.WithCancel(context.Background()) // it has broken off already
	end()
	return context.WithValue(ctx, goneKey{}, ended)
}
