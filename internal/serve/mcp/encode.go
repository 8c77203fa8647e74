package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// appendAnswer appends the line that answers a call. stateless says that the
// client speaks the revision in which every answer says whose it is.
func (s *Server) appendAnswer(dst []byte, id json.RawMessage, r *tool.Result, stateless bool) []byte {
	if r.Code == tool.CodeUnknownTool {
		return appendError(dst, id, jsonrpc.CodeInvalidParams, r.Text)
	}
	dst = appendHead(dst, id)
	dst = append(dst, `"result":{`...)
	if stateless {
		dst = append(dst, `"resultType":"complete",`...)
	}
	dst = s.appendMeta(dst, r, stateless)
	dst = append(dst, `"content":[`...)
	if r.Text != "" || len(r.Media) == 0 {
		dst = append(dst, `{"type":"text","text":`...)
		dst = append(jsondoc.AppendString(dst, r.Text), '}')
	}
	for i, m := range r.Media {
		if i > 0 || r.Text != "" {
			dst = append(dst, ',')
		}
		dst = appendMedia(dst, m)
	}
	for _, path := range r.Deliver {
		dst = appendLink(append(dst, ','), path)
	}
	dst = append(dst, ']')
	if r.Structured != nil {
		dst = appendRaw(append(dst, `,"structuredContent":`...), r.Structured)
	}
	if !r.OK {
		dst = append(dst, `,"isError":true`...)
	}
	return append(dst, "}}\n"...)
}

func appendHead(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		id = json.RawMessage("null")
	}
	return append(append(dst, id...), ',')
}

// appendMeta appends what a host may want to know beside the result. The
// keys are those of [wire].
func (s *Server) appendMeta(dst []byte, r *tool.Result, stateless bool) []byte {
	start := len(dst)
	key := func(name string) {
		if len(dst) == start {
			dst = append(dst, `"_meta":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
	}
	if r.Code != "" {
		key(metaCode)
		dst = jsondoc.AppendString(dst, string(r.Code))
	}
	if r.ID != "" {
		key(metaResult)
		dst = jsondoc.AppendString(dst, r.ID)
	}
	if len(r.Changed) > 0 {
		key(metaChanged)
		dst = append(dst, '[')
		for i, name := range r.Changed {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsondoc.AppendString(dst, name)
		}
		dst = append(dst, ']')
	}
	if stateless {
		key(mcp.MetaKeyServerInfo)
		dst = append(dst, s.info...)
	}
	if len(dst) > start {
		dst = append(dst, "},"...)
	}
	return dst
}

func appendMedia(dst []byte, m tool.Media) []byte {
	kind, data := kindOf(m.MIME), "data"
	if kind != "" {
		dst = append(append(append(dst, `{"type":"`...), kind...), `","mimeType":`...)
	} else {
		data = "blob"
		dst = append(dst, `{"type":"resource","resource":{"uri":"`+contentURI+`","mimeType":`...)
	}
	dst = jsondoc.AppendString(dst, m.MIME)
	dst = append(append(append(dst, `,"`...), data...), `":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, m.Data)
	dst = append(dst, `"}`...)
	if kind == "" {
		dst = append(dst, '}')
	}
	return dst
}

// appendLink appends the link to a file that is for the person.
func appendLink(dst []byte, path string) []byte {
	link := linkTo(path)
	dst = jsondoc.AppendString(append(dst, `{"type":"resource_link","uri":`...), link.URI)
	dst = jsondoc.AppendString(append(dst, `,"name":`...), link.Name)
	if link.MIMEType != "" {
		dst = jsondoc.AppendString(append(dst, `,"mimeType":`...), link.MIMEType)
	}
	return append(dst, '}')
}

// appendRaw appends a JSON value, which must not hold the line end that
// closes a message.
func appendRaw(dst []byte, raw json.RawMessage) []byte {
	if bytes.IndexByte(raw, '\n') < 0 {
		return append(dst, raw...)
	}
	line := bytes.NewBuffer(dst)
	_ = json.Compact(line, raw) // the journey has checked it
	return line.Bytes()
}

// appendError appends the line that refuses a request.
func appendError(dst []byte, id json.RawMessage, code int64, text string) []byte {
	return appendFailure(dst, id, &jsonrpc.Error{Code: code, Message: text})
}

// appendFailure appends the line that refuses a request with what the error
// says.
func appendFailure(dst []byte, id json.RawMessage, err error) []byte {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	dst = appendHead(dst, id)
	dst = strconv.AppendInt(append(dst, `"error":{"code":`...), wire.Code, 10)
	dst = jsondoc.AppendString(append(dst, `,"message":`...), wire.Message)
	if len(wire.Data) > 0 {
		dst = append(append(dst, `,"data":`...), wire.Data...)
	}
	return append(dst, "}}\n"...)
}

// appendProgress appends the line that reports on a call.
func appendProgress(dst []byte, token json.RawMessage, p tool.Progress) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	dst = append(append(dst, token...), `,"progress":`...)
	dst = appendFloat(dst, p.Done)
	if p.Total > 0 {
		dst = appendFloat(append(dst, `,"total":`...), p.Total)
	}
	if p.Message != "" {
		dst = jsondoc.AppendString(append(dst, `,"message":`...), p.Message)
	}
	return append(dst, "}}\n"...)
}

func appendFloat(dst []byte, f float64) []byte {
	out, err := json.Marshal(f)
	if err != nil { // not a number that JSON has
		out = []byte("0")
	}
	return append(dst, out...)
}
