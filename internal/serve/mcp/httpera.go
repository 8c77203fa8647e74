package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	version string // the revision that the request itself names
	batch   bool
}

// look reads a body as far as that.
func look(body []byte) (glance, *refusal) {
	body = bytes.TrimSpace(body)
	if bytes.HasPrefix(body, []byte("[")) {
		return glance{batch: true}, nil
	}
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, &message); errors.As(err, &syntax) {
		no := refuse(http.StatusBadRequest, "the body is no JSON")
		no.code = jsonrpc.CodeParseError
		return glance{}, no
	} else if err != nil {
		return glance{}, refuse(http.StatusBadRequest, "the body must be one JSON-RPC object")
	}
	g := glance{method: message.Method}
	if message.Method != "" && !bytes.Equal(message.ID, []byte("null")) {
		g.id = message.ID
	}
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(message.Params, &params) == nil {
		if raw, ok := params.Meta["io.modelcontextprotocol/protocolVersion"]; ok {
			g.version = string(raw)
		}
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

// idKey is the same for ids that the SDK takes for the same: of a number
// only the whole part counts.
func idKey(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	switch v := v.(type) {
	case float64:
		return strconv.FormatInt(int64(v), 10)
	case string:
		return strconv.Quote(v)
	}
	return ""
}
