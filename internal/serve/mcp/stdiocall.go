package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callParams are the parameters of tools/call, as they came.
type callParams struct {
	carried
	name      string
	arguments json.RawMessage // nil where there are none
}

// carried is what any request that goes past the SDK may bring, as it came.
type carried struct {
	progressToken json.RawMessage // nil where there is none
	version       string          // the revision that the request itself names
	capabilities  json.RawMessage // of the client; nil unless they are an object
	state         string          // what the client brings back with its answers
	answers       json.RawMessage // nil where there are none
}

// stateless reports whether the request belongs to the revision without
// sessions.
func (c carried) stateless() bool { return c.version == modern && c.capabilities != nil }

// size is what is held of it, in bytes.
func (c carried) size() int { return len(c.state) + len(c.answers) }

// What may be wrong with the parameters of a request.
var (
	errToken   = errors.New("the progress token must be a text or a number")
	errVersion = errors.New("the revision that a request names itself is " + modern + " or a later one")
	errName    = errors.New("the name of the tool must be a text")
	errState   = errors.New("requestState must be the text that the server gave")
)

// readCall reads the parameters of a call. Nothing in them lies in params.
func readCall(params []byte) (p callParams, err error) {
	var name, arguments []byte
	if p.carried, err = readParams(params, member{"name", &name}, member{"arguments", &arguments}); err != nil {
		return p, err
	}
	if name == nil || name[0] != '"' || json.Unmarshal(name, &p.name) != nil {
		return p, errName
	}
	if !bytes.Equal(arguments, []byte("null")) {
		p.arguments = bytes.Clone(arguments)
	}
	return p, nil
}

// readParams reads what any request may bring, and finds the members that
// are its own, which lie in params.
func readParams(params []byte, own ...member) (c carried, err error) {
	var state, answers, meta, token, version, capabilities []byte
	if len(params) == 0 {
		return c, errNoObject
	}
	if err := pick(params, append(own, member{"_meta", &meta}, member{"requestState", &state}, member{"inputResponses", &answers})...); err != nil {
		return c, err
	}
	if len(meta) > 0 {
		if err := pick(meta, member{"progressToken", &token}, member{mcp.MetaKeyProtocolVersion, &version}, member{mcp.MetaKeyClientCapabilities, &capabilities}); err != nil {
			return c, fmt.Errorf("_meta: %w", err)
		}
	}
	switch {
	case token != nil && idWrong(token) != "":
		return c, errToken
	case version != nil && (json.Unmarshal(version, &c.version) != nil || c.version < modern):
		return c, errVersion
	case state != nil && json.Unmarshal(state, &c.state) != nil:
		return c, errState
	}
	c.progressToken, c.answers = bytes.Clone(token), bytes.Clone(answers)
	if isObject(capabilities) {
		c.capabilities = bytes.Clone(capabilities)
	}
	return c, nil
}

// modern is the revision since which every request says what it speaks.
const modern = "2026-07-28"

// openStdio is a call that runs or waits.
type openStdio struct {
	stop context.CancelFunc
	size int // of what came with it, in bytes
}

// takeCall starts a call of a tool. It reports false for one that the SDK
// must judge: in a session that was not opened, or of a revision that is not
// known.
func (c *stdio) takeCall(ctx context.Context, f frame) bool {
	p, err := readCall(f.params)
	if err != nil {
		c.refuse(f.id, jsonrpc.CodeInvalidParams, "these are no parameters of a call: "+err.Error())
		return true
	}
	ctx, began, refused := c.begin(ctx, f.id, len(p.arguments)+p.size(), p.carried)
	if began {
		c.start(ctx, string(f.id), p)
	}
	return began || refused
}

// begin notes a request that goes past the SDK, if it may. It refuses one
// whose id is in use, and one too many. size is what it holds, in bytes.
func (c *stdio) begin(ctx context.Context, id json.RawMessage, size int, from carried) (_ context.Context, began, refused bool) {
	inner, stop := context.WithCancel(ctx)
	began, no := c.enter(id, openStdio{stop, size}, from)
	if began {
		return inner, true, false
	}
	stop()
	if no != "" {
		c.refuse(id, jsonrpc.CodeInvalidRequest, no)
	}
	return ctx, false, no != ""
}

// enter notes a call that is ours to run, or says why it may not run. It
// does neither for one that is not ours.
func (c *stdio) enter(id json.RawMessage, call openStdio, from carried) (taken bool, no string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.calls[string(id)]
	switch {
	case open || c.isAsked(id):
		return false, idTaken
	case len(c.calls)+c.answering >= maxOpen || c.held > 0 && c.held+call.size > maxKeptBack:
		return false, tooMany
	case c.idle != nil || !from.stateless() && (from.version != "" || !c.ready):
		return false, ""
	}
	c.calls[string(id)] = call
	c.held += call.size
	return true, ""
}

// isAsked reports whether the SDK has an open request with the id. c.mu is
// held.
func (c *stdio) isAsked(id json.RawMessage) bool {
	if len(c.asked) == 0 || !idExact(id) {
		return false
	}
	var v any
	_ = json.Unmarshal(id, &v) // it is valid
	key, err := jsonrpc.MakeID(v)
	_, open := c.asked[key]
	return err == nil && open
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// start takes the call's place in the queue at once, or as soon as it is
// known which workspace it is for, and runs it beside the reading.
func (c *stdio) start(ctx context.Context, id string, p callParams) {
	client := c.clientOf(p.carried)
	ctx, round, err := c.askerOf(ctx, p.carried, attempt{method: callMethod, name: p.name, args: p.arguments}, client)
	if err != nil {
		c.answer(ctx, id, 0, func(line []byte) []byte { return appendFailure(line, json.RawMessage(id), err) })
		return
	}
	c.server.whenRooted(ctx, client, func() {
		h := c.server.enter()
		round.in(h)
		call, reporter := c.call(p)
		wait := h.session.Start(ctx, call)
		go func() {
			result := c.server.explain(wait()[0], client)
			c.server.leave(h)
			reporter.stop()
			c.server.report(ctx, client, call.Tool, result)
			c.answer(ctx, id, resultSize(result), func(line []byte) []byte {
				if form, state := round.question(result.Code); form != nil {
					return c.server.appendQuestion(line, json.RawMessage(id), form, state)
				}
				return c.server.appendAnswer(line, json.RawMessage(id), result, p.stateless())
			})
		}()
	})
}

// call is what the parameters ask for. The reporter is nil where the client
// wants to hear of no progress.
func (c *stdio) call(p callParams) (handrail.Call, *reporter) {
	call := handrail.Call{Tool: p.name, Args: p.arguments}
	if p.progressToken == nil {
		return call, nil
	}
	r := newReporter(func(report tool.Progress) { _ = c.send(appendProgress(nil, p.progressToken, report)) })
	call.Progress = r.report
	return call, r
}

// answer sends what write appends, unless the client has taken the call
// back: it expects no answer then. size is what the answer holds, in bytes.
func (c *stdio) answer(ctx context.Context, id string, size int, write func(line []byte) []byte) {
	// The client may use the id again as soon as it has the answer.
	c.mu.Lock()
	call := c.calls[id]
	delete(c.calls, id)
	c.answering++
	c.held += size - call.size
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
	call.stop()
	c.mu.Lock()
	c.answering--
	c.held -= size
	c.settle()
	c.mu.Unlock()
}

// resultSize is what a result holds of memory, in bytes.
func resultSize(r *tool.Result) int {
	return len(r.Text) + len(r.Structured) + mediaSize(r.Media)
}

func mediaSize(media []tool.Media) (size int) {
	for _, m := range media {
		size += len(m.Data)
	}
	return size
}

// maxKept is the largest buffer that is kept for the next answer, in bytes.
const maxKept = 256 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// cancel stops the call that a notification names. It reports false where
// that is none of ours.
func (c *stdio) cancel(params []byte) bool {
	var id []byte
	if len(params) == 0 || pick(params, member{"requestId", &id}) != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call, ours := c.calls[string(id)]
	if ours {
		call.stop()
	}
	return ours
}
