package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const readMethod = "resources/read"

// errURI is what may be wrong with the parameters of a reading alone.
var errURI = errors.New("uri must be a text")

// takeRead starts the reading of a resource, which goes past the SDK for the
// same reasons as a call: a long content is written once. It reports false
// for what the SDK must judge.
func (c *stdio) takeRead(ctx context.Context, f frame) bool {
	var raw []byte
	var uri string
	from, err := readParams(f.params, member{"uri", &raw})
	if err == nil && (raw == nil || raw[0] != '"' || json.Unmarshal(raw, &uri) != nil) {
		err = errURI
	}
	if err != nil {
		c.refuse(f.id, jsonrpc.CodeInvalidParams, "these are no parameters of a reading: "+err.Error())
		return true
	}
	ctx, began, refused := c.begin(ctx, f.id, len(uri)+from.size(), from)
	if began {
		c.startRead(ctx, string(f.id), uri, from)
	}
	return began || refused
}

// startRead takes the place of a reading and has it go on beside.
func (c *stdio) startRead(ctx context.Context, id, uri string, from carried) {
	client := c.clientOf(from)
	ctx, round, err := c.askerOf(ctx, from, attempt{method: readMethod, name: uri}, client)
	if err != nil {
		c.answer(ctx, id, 0, func(line []byte) []byte { return appendFailure(line, json.RawMessage(id), err) })
		return
	}
	c.server.whenRooted(ctx, client, func() {
		wait := c.server.startRead(ctx, uri, from.stateless(), round)
		go func() {
			result, err := wait()
			size := 0
			if err == nil {
				if size = result.size(); !c.hold(id, size) {
					// Nothing has happened that could not be asked for again.
					size, result, err = 0, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: tooMuch}
				}
			}
			c.answer(ctx, id, size, func(line []byte) []byte { return c.server.appendContents(line, id, result, err) })
		}()
	})
}

const tooMuch = "too much waits to be read by the client; take in what was sent and ask again"

// hold makes room for what an open request has to send, unless too much is
// held already.
func (c *stdio) hold(id string, size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held > 0 && c.held+size > maxKeptBack {
		return false
	}
	call := c.calls[id]
	call.size += size
	c.calls[id] = call
	c.held += size
	return true
}

// appendContents appends the line that answers the reading of a resource.
func (s *Server) appendContents(dst []byte, id string, c *contents, err error) []byte {
	head := len(dst)
	if err == nil {
		if c.modern {
			c.Meta = mcp.Meta{mcp.MetaKeyServerInfo: json.RawMessage(s.info)}
		}
		dst = append(appendHead(dst, json.RawMessage(id)), `"result":`...)
		if dst, err = c.append(dst); err == nil {
			return append(dst, "}\n"...)
		}
	}
	return appendFailure(dst[:head], json.RawMessage(id), err)
}
