package mcp

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// postHeader carries, on the way through the SDK, which request a call came
// with. What a client sends under that name is replaced.
const postHeader = "Handrail-Post"

// posts are the requests of clients with sessions that are open. A call goes
// on when its request has broken off, since a client may have lost no more
// than a connection; but the question about it can reach nobody then.
type posts struct {
	mu   sync.Mutex
	next int
	open map[string]context.Context
}

func (p *posts) begin(r *http.Request) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	key := strconv.Itoa(p.next)
	if p.open == nil {
		p.open = map[string]context.Context{}
	}
	p.open[key] = r.Context()
	r.Header.Set(postHeader, key)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, key)
	}
}

// mark gives a call's context that of the request that it came with.
func (p *posts) mark(ctx context.Context, call *mcp.CallToolRequest) context.Context {
	if call.Extra == nil || call.Session.ID() == "" {
		return ctx
	}
	p.mu.Lock()
	gone, ok := p.open[call.Extra.Header.Get(postHeader)]
	p.mu.Unlock()
	if !ok { // it has broken off already
		ended, end := context.WithCancel(context.Background())
		end()
		gone = ended
	}
	return context.WithValue(ctx, goneKey{}, gone)
}
