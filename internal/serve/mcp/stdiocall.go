package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callParams are the parameters of tools/call, as they came.
type callParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Meta      struct {
		ProgressToken json.RawMessage `json:"progressToken"`
		Version       string          `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities  json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
}

// modern is the revision since which every request says what it speaks.
const modern = "2026-07-28"

// takeCall starts a call of a tool. It reports false for one that the SDK
// must judge: in a session that was not opened, of a revision that is not
// known, or with parameters of another shape.
func (c *stdio) takeCall(ctx context.Context, e envelope) bool {
	var p callParams
	if json.Unmarshal(e.Params, &p) != nil {
		return false
	}
	stateless := p.Meta.Version == modern && isObject(p.Meta.Capabilities)
	ctx, began, refused := c.begin(ctx, e.ID, stateless || p.Meta.Version == "" && c.opened())
	if began {
		c.start(ctx, string(e.ID), p, stateless)
	}
	return began || refused
}

// opened reports whether the session was opened.
func (c *stdio) opened() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready
}

// begin notes a request that goes past the SDK, if it may. It refuses one
// whose id is in use, and one too many.
func (c *stdio) begin(ctx context.Context, id json.RawMessage, may bool) (_ context.Context, began, refused bool) {
	c.mu.Lock()
	_, taken := c.calls[string(id)]
	open := len(c.calls)
	if began = c.idle == nil && !taken && open < maxOpen && may; began {
		ctx, c.calls[string(id)] = context.WithCancel(ctx)
	}
	c.mu.Unlock()
	switch {
	case began:
	case taken:
		c.refuse(id, jsonrpc.CodeInvalidRequest, "a request with this id is still open")
		refused = true
	case open >= maxOpen:
		c.refuse(id, jsonrpc.CodeInternalError, "too many calls are open; wait until some have ended")
		refused = true
	}
	return ctx, began, refused
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{"))
}

// start takes the call's place in the queue at once and runs it beside the
// reading.
func (c *stdio) start(ctx context.Context, id string, p callParams, stateless bool) {
	call := handrail.Call{Tool: p.Name}
	if !bytes.Equal(p.Arguments, []byte("null")) {
		call.Args = p.Arguments
	}
	var r *reporter
	if len(p.Meta.ProgressToken) > 0 {
		r = newReporter(func(report tool.Progress) { _ = c.send(appendProgress(nil, p.Meta.ProgressToken, report)) })
		call.Progress = r.report
	}
	wait := c.server.session.Start(ctx, call)
	go func() {
		result := wait()[0]
		if r != nil {
			r.stop()
		}
		c.answer(ctx, id, func(line []byte) []byte {
			return c.server.appendAnswer(line, json.RawMessage(id), result, stateless)
		})
	}()
}

// answer sends what write appends, unless the client has taken the call back: it
// expects no answer then.
func (c *stdio) answer(ctx context.Context, id string, write func(line []byte) []byte) {
	// The client may use the id again as soon as it has the answer.
	c.mu.Lock()
	stop := c.calls[id]
	delete(c.calls, id)
	c.answering++
	c.mu.Unlock()
	if ctx.Err() == nil {
		buf := buffers.Get().(*[]byte)
		line := write((*buf)[:0])
		_ = c.send(line) // a client that has gone needs no answer
		if cap(line) <= maxKept {
			*buf = line
			buffers.Put(buf)
		}
	}
	stop()
	c.mu.Lock()
	c.answering--
	c.settle()
	c.mu.Unlock()
}

// maxKept is the largest buffer that is kept for the next answer, in bytes.
const maxKept = 256 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// cancel stops the call that a notification names. It reports false where
// that is none of ours.
func (c *stdio) cancel(params json.RawMessage) bool {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	stop, ours := c.calls[string(p.ID)]
	if ours {
		stop()
	}
	return ours
}

// implementation is what the server says of itself.
func (o Options) implementation() *mcp.Implementation {
	return &mcp.Implementation{Name: "handrail", Title: "Handrail", Version: o.Version}
}
