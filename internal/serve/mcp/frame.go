package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxID is the longest id of a request, in bytes. It comes back with every
// answer; the longest that a known client sends is a UUID.
const maxID = 1 << 10

// frame is a JSON-RPC message as far as it must be known to be passed on.
// Its parts lie in the text that it was read from.
//
// Who passes a message on and who handles it must read the same in it, or
// what the one has let through is not what the other does. So names are
// taken as they are written, and a message that says one thing twice is
// refused.
type frame struct {
	id     json.RawMessage // nil for a notification
	method string          // "" for an answer
	params json.RawMessage // nil where there are none
}

// fault says why a text is no message.
type fault struct {
	code int64
	id   json.RawMessage // of the request, as far as it can be known
	text string
	// answer says that the text is an answer that belongs to no request.
	// Refusing it could go on for ever between two sides that refuse.
	answer bool
}

// readFrame reads one message.
func readFrame(text []byte) (frame, *fault) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return frame{}, &fault{code: jsonrpc.CodeParseError, text: "this is no JSON in UTF-8"}
	}
	var version, id, method, params, result, failure []byte
	err := pick(text, member{"jsonrpc", &version}, member{"id", &id}, member{"method", &method},
		member{"params", &params}, member{"result", &result}, member{"error", &failure})
	no := &fault{code: jsonrpc.CodeInvalidRequest, answer: method == nil && (result != nil || failure != nil)}
	if err != nil {
		no.text = "a message is one JSON-RPC object, and not a batch: " + err.Error()
		return frame{}, no
	}
	if no.text = idWrong(id); no.text != "" {
		return frame{}, no
	}
	no.id = id
	f := frame{id: id, params: params}
	switch {
	case string(version) != `"2.0"`:
		no.text = `a message says "jsonrpc":"2.0"`
	case no.answer && id != nil:
		return f, nil
	case method == nil || json.Unmarshal(method, &f.method) != nil || f.method == "":
		no.text = "a request names its method, as a text"
	default:
		return f, nil
	}
	return frame{}, no
}

// idWrong says what is wrong with an id. It has nothing against none.
func idWrong(id []byte) string {
	switch {
	case len(id) > maxID:
		return fmt.Sprintf("an id may have at most %d bytes", maxID)
	case id != nil && bytes.IndexByte([]byte(`"-0123456789`), id[0]) < 0:
		return "an id is a text or a number"
	}
	return ""
}

// idExact reports whether an id comes back from the SDK as it was: of a
// number it keeps what 64 bits hold of the whole part, by way of a float.
func idExact(id []byte) bool {
	if len(id) == 0 || id[0] == '"' {
		return true
	}
	const most = 1 << 53
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && -most <= n && n <= most
}

const idInexact = "a number as id must be whole and at most 2^53, or its answer would not be known again"

// member is where the value of a member is to go.
type member struct {
	name string
	to   *[]byte
}

var (
	errNoObject = errors.New("this is no object")
	errTwice    = errors.New("is there twice")
)

// pick finds members of an object in valid JSON. One that is missing leaves
// its place as it was; one that comes twice is an error.
func pick(object []byte, wanted ...member) error {
	i := afterSpace(object, 0)
	if i == len(object) || object[i] != '{' {
		return errNoObject
	}
	i = afterSpace(object, i+1)
	for object[i] != '}' {
		end := afterString(object, i)
		name := unquote(object[i:end])
		i = afterSpace(object, afterSpace(object, end)+1) // behind the colon
		end = afterValue(object, i)
		for _, m := range wanted {
			if m.name != string(name) {
				continue
			}
			if *m.to != nil {
				return fmt.Errorf("%q %w", m.name, errTwice)
			}
			*m.to = object[i:end:end]
		}
		if i = afterSpace(object, end); object[i] == ',' {
			i = afterSpace(object, i+1)
		}
	}
	return nil
}

func unquote(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text[1 : len(text)-1]
	}
	var name string
	_ = json.Unmarshal(text, &name) // it is a valid one
	return []byte(name)
}

func afterSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// afterString returns the place behind the string that begins at i.
func afterString(text []byte, i int) int {
	for {
		i += 1 + bytes.IndexByte(text[i+1:], '"')
		escapes := 0
		for text[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// afterValue returns the place behind the value that begins at i.
func afterValue(text []byte, i int) int {
	switch text[i] {
	case '"':
		return afterString(text, i)
	case '{', '[':
	default:
		if end := bytes.IndexAny(text[i:], ",}] \t\r\n"); end >= 0 {
			return i + end
		}
		return len(text)
	}
	for depth := 0; ; i++ {
		switch text[i] {
		case '"':
			i = afterString(text, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}
