package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const readMethod = "resources/read"

// takeRead starts the reading of a resource, which goes past the SDK for the
// same reasons as a call: a long content is written once. It reports false
// for what the SDK must judge.
func (c *stdio) takeRead(ctx context.Context, e envelope) bool {
	var p struct {
		URI  *string         `json:"uri"`
		Meta json.RawMessage `json:"_meta"`
	}
	var meta struct {
		Version      string          `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	}
	if json.Unmarshal(e.Params, &p) != nil || p.URI == nil || p.Meta != nil && json.Unmarshal(p.Meta, &meta) != nil {
		return false
	}
	stateless := meta.Version == modern && isObject(meta.Capabilities)
	ctx, began, refused := c.begin(ctx, e.ID, stateless || meta.Version == "" && c.opened())
	if began {
		id, wait := string(e.ID), c.server.startRead(ctx, *p.URI, stateless)
		go func() {
			result, err := wait()
			c.answer(ctx, id, func(line []byte) []byte { return c.server.appendContents(line, id, result, err) })
		}()
	}
	return began || refused
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
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return appendError(dst[:head], json.RawMessage(id), jsonrpc.CodeInternalError, err.Error())
	}
	dst = appendError(dst[:head], json.RawMessage(id), wire.Code, wire.Message)
	if len(wire.Data) == 0 {
		return dst
	}
	dst = append(dst[:len(dst)-len("}}\n")], `,"data":`...)
	return append(append(dst, wire.Data...), "}}\n"...)
}
