package mcp

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"slices"
	"sync"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// On its way out the SDK marshals a result and scans it again at four layers.
// So what is long is lifted out of a result, leaving a mark in its place, and
// is put where the mark stands in the bytes that leave.

// liftFrom is the length in bytes from which that pays.
const liftFrom = 1 << 10

// liftHeader names, to ourselves, the request whose response a result goes
// into; what a client says in it is replaced.
const liftHeader = "Handrail-Response"

// lifted is what was taken out of the results that go into one response. It
// is gone with the request.
type lifted struct {
	mu    sync.Mutex
	parts []liftedPart
}

// liftedPart is one value: the JSON string that stands for it, and what
// writes the JSON that belongs there.
type liftedPart struct {
	mark   []byte
	append func([]byte) []byte
}

// responses are those that are being written, by their names.
type responses struct {
	mu   sync.Mutex
	open map[string]*lifted
}

// begin names a request; end forgets it.
func (l *responses) begin(r *http.Request) (parts *lifted, end func()) {
	name, parts := rand.Text(), new(lifted)
	r.Header.Set(liftHeader, name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[string]*lifted{}
	}
	l.open[name] = parts
	return parts, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, name)
	}
}

// of returns what is taken out of the results for a request, or nil once
// that has ended.
func (l *responses) of(extra *mcp.RequestExtra) *lifted {
	if extra == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[extra.Header.Get(liftHeader)]
}

// lift takes what is long out of a result that goes into the response of
// that request. A request that has ended leaves the result as it is.
func (l *responses) lift(extra *mcp.RequestExtra, r *mcp.CallToolResult) *mcp.CallToolResult {
	into := l.of(extra)
	if into == nil {
		return r
	}
	out := *r
	out.Content = slices.Clone(r.Content)
	for i, c := range out.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			if len(c.Text) >= liftFrom {
				own := *c
				own.Text = into.text(c.Text)
				out.Content[i] = &own
			}
		case *mcp.ImageContent:
			if len(c.Data) >= liftFrom {
				own := *c
				own.Data = into.data(c.Data)
				out.Content[i] = &own
			}
		case *mcp.AudioContent:
			if len(c.Data) >= liftFrom {
				own := *c
				own.Data = into.data(c.Data)
				out.Content[i] = &own
			}
		}
	}
	return &out
}

// text keeps a text and returns the one that stands for it.
func (l *lifted) text(s string) (mark string) {
	mark = rand.Text()
	l.add(mark, func(b []byte) []byte { return jsondoc.AppendString(b, s) })
	return mark
}

// data keeps bytes and returns those whose encoded form stands for them.
func (l *lifted) data(raw []byte) (mark []byte) {
	mark = []byte(rand.Text())
	l.add(base64.StdEncoding.EncodeToString(mark), func(b []byte) []byte {
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), raw), '"')
	})
	return mark
}

func (l *lifted) add(mark string, write func([]byte) []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts = append(l.parts, liftedPart{[]byte(`"` + mark + `"`), write})
}

// restore returns what p says with everything in its place. It may return p
// itself.
func (l *lifted) restore(p []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.parts) == 0 {
		return p
	}
	var out []byte
	l.parts = slices.DeleteFunc(l.parts, func(part liftedPart) bool {
		before, after, found := bytes.Cut(p, part.mark)
		if found { // the parts are in the order in which they were taken out
			out, p = part.append(append(out, before...)), after
		}
		return found
	})
	return append(out, p...)
}
