package mcp

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// calls are the calls of tools that run, of all clients.
type calls struct {
	responses responses // that their results go into

	mu       sync.Mutex
	next     int
	open     map[int]*openCall
	stopping bool
	idle     chan struct{} // made when stopping; closed when none is open
	// What became of those that were open when stopping began.
	finished, cancelled []string
}

type openCall struct {
	name    string
	session string // "" for a client without one
	stop    context.CancelFunc
	asked   bool // open when stopping began
	ending  bool // told to stop
}

// track notes each call of a tool while it runs, and takes what is long out
// of its result. One that comes when the server is stopping is refused.
func (c *calls) track(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		call, ok := req.(*mcp.CallToolRequest)
		if !ok || method != callMethod {
			result, err := next(ctx, method, req)
			if r, ok := result.(*contents); ok && r != nil && err == nil {
				r.liftInto(c.responses.of(req.GetExtra()))
			}
			return result, err
		}
		name := cut(call.Params.Name)
		id := call.Session.ID()
		if id != "" {
			name = fmt.Sprintf("%s (session %.8s)", name, id)
		}
		ctx, end, ok := c.begin(ctx, name, id)
		if !ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server is stopping and takes no more calls"}
		}
		defer end()
		result, err := next(ctx, method, req)
		if r, ok := result.(*mcp.CallToolResult); ok && r != nil && err == nil {
			return c.responses.lift(call.Extra, r), nil
		}
		return result, err
	}
}

func (c *calls) begin(ctx context.Context, name, session string) (_ context.Context, end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return ctx, nil, false
	}
	ctx, stop := context.WithCancel(ctx)
	key := c.next
	c.next++
	c.open[key] = &openCall{name: name, session: session, stop: stop}
	return ctx, func() { c.end(key) }, true
}

func (c *calls) end(key int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.open[key]
	delete(c.open, key)
	call.stop()
	switch {
	case !c.stopping:
	case call.ending:
		c.cancelled = append(c.cancelled, call.name)
	case call.asked:
		c.finished = append(c.finished, call.name)
	}
	c.settle()
}

// settle tells who waits that nothing is open. c.mu is held.
func (c *calls) settle() {
	if c.idle != nil && len(c.open) == 0 {
		close(c.idle)
		c.idle = nil
	}
}

// refuseMore refuses further calls and returns a channel that is closed when
// none is open.
func (c *calls) refuseMore() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
	for _, call := range c.open {
		call.asked = true
	}
	idle := make(chan struct{})
	c.idle = idle
	c.settle()
	return idle
}

// cancelAll tells every open call to stop.
func (c *calls) cancelAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.open {
		call.ending = true
		call.stop()
	}
}

// cancelSession tells the open calls of one session to stop.
func (c *calls) cancelSession(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.open {
		if call.session == id {
			call.ending = true
			call.stop()
		}
	}
}

// outcome says what became of the calls that were open when stopping began;
// left are those that are open still.
func (c *calls) outcome() (finished, cancelled, left []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.open {
		left = append(left, call.name)
	}
	slices.Sort(left)
	return slices.Clone(c.finished), slices.Clone(c.cancelled), left
}
