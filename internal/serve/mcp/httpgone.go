package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goneKey is the context's key for a context that ends when the client can
// no longer be asked.
type goneKey struct{}

// mark gives a call's context that of the request that it came with. A call
// in a session goes on when its request has broken off, since a client may
// have lost no more than a connection; but the question about it can reach
// nobody then.
func (l *responses) mark(ctx context.Context, call *mcp.CallToolRequest) context.Context {
	if call.Extra == nil || call.Session.ID() == "" {
		return ctx
	}
	l.mu.Lock()
	into := l.open[call.Extra.Header.Get(liftHeader)]
	l.mu.Unlock()
	if into != nil {
		return context.WithValue(ctx, goneKey{}, into.gone)
	}
	ended, end := context.WithCancel(context.Background()) // it has broken off already
	end()
	return context.WithValue(ctx, goneKey{}, ended)
}
