package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The headers that say whose a request is.
const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
)

// glance is what must be known of a body to send it to the right handler.
type glance struct {
	id      json.RawMessage // nil for what is no request
	method  string
	version string // the revision that the request itself names, as JSON
}

// look reads a body as far as that.
func look(body []byte) (glance, *refusal) {
	f, bad := readFrame(body)
	if bad != nil {
		no := refuse(http.StatusBadRequest, "%s", bad.text)
		no.code = bad.code
		return glance{id: bad.id}, no
	}
	g := glance{method: f.method}
	if f.method == "" {
		return g, nil
	}
	g.id = f.id
	if !idExact(f.id) {
		return g, refuse(http.StatusBadRequest, idInexact)
	}
	var name, arguments, meta, version []byte
	err := errNoObject
	if len(f.params) > 0 {
		err = pick(f.params, member{"name", &name}, member{"arguments", &arguments}, member{"_meta", &meta})
	}
	if err == nil && len(meta) > 0 {
		err = pick(meta, member{mcp.MetaKeyProtocolVersion, &version})
	}
	g.version = string(version)
	if errors.Is(err, errTwice) {
		no := refuse(http.StatusBadRequest, "in the parameters, %v", err)
		no.code = jsonrpc.CodeInvalidParams
		return g, no
	}
	return g, nil
}

// modern reports whether a request is of the stateless revision or a later
// one, by its header, by what it says in itself, or by its method. Where
// they disagree it is: the stateless handler says how.
func (g glance) modern(header string) bool {
	return header >= modern || g.version != "" || g.method == "server/discover" || g.method == "subscriptions/listen"
}

// plainName decodes the header that repeats a request's name or address,
// which a client encodes where it is not plain ASCII. The SDK compares it as
// it comes, and would take such a header for another name.
func plainName(h http.Header) {
	const key = "Mcp-Name"
	encoded, ok := strings.CutPrefix(h.Get(key), "=?base64?")
	if encoded, end := strings.CutSuffix(encoded, "?="); ok && end {
		if name, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			h.Set(key, string(name))
		}
	}
}

// idKey is the same for ids that are the same, however they are written.
func idKey(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return strconv.Quote(text)
}
