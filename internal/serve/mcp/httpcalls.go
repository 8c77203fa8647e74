package mcp

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// calls are the requests that do work of the session's, calls of tools above
// all, which run for all clients.
type calls struct {
	responses responses // that their results go into

	mu       sync.Mutex
	next     int
	open     map[int]*openCall
	load     map[string]load // by session
	most     int             // bytes of arguments that one session may have open
	stopping bool
	idle     chan struct{} // made when stopping; closed when none is open
	// What became of those that were open when stopping began.
	finished, cancelled []string
}

type openCall struct {
	name    string
	session string // "" for a client without one
	size    int    // of its arguments, in bytes
	stop    context.CancelFunc
	asked   bool // open when stopping began
	ending  bool // told to stop
}

// load is what the open calls of one session come to. A call goes on when
// its connection has gone, so connections do not bound it.
type load struct{ calls, bytes int }

// track notes each request that does work while it runs, and takes what is
// long out of its result. One that comes when the server is stopping is
// refused.
func (c *calls) track(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		name, size := work(req)
		if name == "" {
			return next(ctx, method, req)
		}
		id := req.GetSession().ID()
		if id != "" {
			name = fmt.Sprintf("%s (session %.8s)", name, id)
		}
		ctx, end, no := c.begin(ctx, openCall{name: name, session: id, size: size})
		if no != "" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: no}
		}
		defer end()
		result, err := next(c.responses.mark(ctx, req), method, req)
		if err != nil {
			return nil, err
		}
		switch r := result.(type) {
		case *mcp.CallToolResult:
			return c.responses.lift(req.GetExtra(), r), nil
		case *contents:
			r.liftInto(c.responses.of(req.GetExtra()))
		}
		return result, nil
	}
}

// work names a request that goes to the Handrail session and says what it
// holds, in bytes. Of any other the name is "".
func work(req mcp.Request) (name string, size int) {
	switch r := req.(type) {
	case *mcp.CallToolRequest:
		return cut(r.Params.Name), len(r.Params.Arguments) + len(r.Params.RequestState)
	case *mcp.ReadResourceRequest:
		return "reading " + cut(r.Params.URI), len(r.Params.URI) + len(r.Params.RequestState)
	case *mcp.ListResourcesRequest:
		return "listing resources", 0
	case *mcp.CompleteRequest:
		return "completion", 0
	default:
		return "", 0
	}
}

// begin notes a call, or says why it may not run.
func (c *calls) begin(ctx context.Context, call openCall) (_ context.Context, end func(), no string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return ctx, nil, "the server is stopping and takes no more calls"
	}
	all := c.load[call.session]
	if all.calls >= maxOpen || all.bytes > 0 && all.bytes+call.size > c.most {
		return ctx, nil, tooMany
	}
	c.load[call.session] = load{all.calls + 1, all.bytes + call.size}
	ctx, call.stop = context.WithCancel(ctx)
	key := c.next
	c.next++
	c.open[key] = &call
	return ctx, func() { c.end(key) }, ""
}

func (c *calls) end(key int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.open[key]
	delete(c.open, key)
	call.stop()
	if all := c.load[call.session]; all.calls == 1 {
		delete(c.load, call.session)
	} else {
		c.load[call.session] = load{all.calls - 1, all.bytes - call.size}
	}
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
