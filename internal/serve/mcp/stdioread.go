package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const readMethod = "resources/read"

// readMost is what one reading that is not sent yet is taken to hold, in
// bytes.
const readMost = 1 << 20

// takeRead starts the reading of a resource, which goes past the SDK for the
// same reasons as a call: a long content is written once. It reports false
// for what the SDK must judge.
func (c *stdio) takeRead(ctx context.Context, f frame) bool {
	var uri, meta, version, capabilities []byte
	var p struct{ uri, version string }
	if len(f.params) == 0 || pick(f.params, member{"uri", &uri}, member{"_meta", &meta}) != nil || uri == nil || uri[0] != '"' ||
		len(meta) > 0 && pick(meta, member{versionKey, &version}, member{capabilitiesKey, &capabilities}) != nil ||
		json.Unmarshal(uri, &p.uri) != nil || version != nil && json.Unmarshal(version, &p.version) != nil {
		return false
	}
	stateless := p.version == modern && isObject(capabilities)
	ctx, began, refused := c.begin(ctx, f.id, len(uri), p.version, stateless)
	if began {
		id := string(f.id)
		var client *mcp.ServerSession
		if !stateless {
			client = c.client()
		}
		c.server.whenRooted(ctx, client, func() {
			wait := c.server.startRead(ctx, p.uri, stateless)
			go func() {
				result, err := wait()
				c.answer(ctx, id, readMost, func(line []byte) []byte { return c.server.appendContents(line, id, result, err) })
			}()
		})
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
