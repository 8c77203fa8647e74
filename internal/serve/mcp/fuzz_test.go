package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
)

// FuzzHTTP sends requests with headers and bodies of any kind. "@" as session
// stands for one that is open.
func FuzzHTTP(f *testing.F) {
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"apple","arguments":{},` + metaBody + `}}`
	for _, seed := range [][6]string{
		{"POST", "", "", "", "", openBody},
		{"POST", "@", "", "", "", toolCall(1, "apple")},
		{"POST", "@", "2025-11-25", "", "", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
		{"POST", "", modern, callMethod, "apple", call},
		{"POST", "nobody", modern, "tools/list", "", call},
		{"POST", "@", "2025-03-26", "", "", "[" + toolCall(1, "apple") + "]"},
		{"GET", "@", "", "", "", ""},
		{"DELETE", "@", "", "", "", ""},
		{"GET", "", "2099-01-01", "", "", "{"},
		{"POST", "", modern, "subscriptions/listen", "", `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{},` + metaBody + `}}`},
		{"POST", "@", "", "", "", `{"jsonrpc":"2.0","id":1e400,"result":{"a":"\ud800"}}`},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4], seed[5])
	}
	o := HTTPOptions{Sessions: 4, Rate: 1e9, Idle: 200 * time.Millisecond}
	o.Open = SessionPeers(func(ctx context.Context) (*handrail.Session, error) {
		return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Guard: handrail.GuardOff, Tools: oneTool()})
	}, Options{Version: "test"})
	h, err := NewHTTP(f.Context(), o)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := h.Close(); err != nil {
			f.Errorf("closing: %v", err)
		}
	})
	server := face{HTTP: h}
	f.Fuzz(func(t *testing.T, method, session, version, named, name, body string) {
		if !tokenOnly(method) {
			return // no server is ever given one
		}
		if session == "@" {
			session = server.handle(http.MethodPost, openBody).Header().Get(sessionHeader)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // of what goes on by itself
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+Path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for key, value := range map[string]string{sessionHeader: session, versionHeader: version, "Mcp-Method": named, "Mcp-Name": name} {
			if value != "" {
				r.Header.Set(key, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		switch {
		case w.Code >= 500 && w.Code != http.StatusServiceUnavailable:
			t.Errorf("%d %s", w.Code, w.Body)
		case strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()):
			t.Errorf("the answer is no JSON: %q", w.Body)
		}
		if session != "" {
			server.handle(http.MethodDelete, "", sessionHeader, session)
		}
	})
}

func tokenOnly(method string) bool {
	return method != "" && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// FuzzStdioSession sends a line to a server that is in the middle of a
// session, which must go on.
func FuzzStdioSession(f *testing.F) {
	for _, seed := range []string{
		openBody, toolCall(1, "apple"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{` + metaBody + `}}`, `{"jsonrpc":"2.0","id":null,"error":{}}`,
		`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"apple","_meta":{"progressToken":"\ud800"}}}`, `{`, "[]", "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n") || strings.Contains(line, `"end"`) {
			return
		}
		p := stdioClient(t, oneTool()...)
		p.open()
		p.send(line)
		p.send(toolCall(`"end"`, "apple"))
		for { // next fails the test for what is no JSON, or if nothing comes
			if id, answer := p.next(); id == `"end"` {
				if !strings.Contains(answer, `"text":"apple`) {
					t.Errorf("after %q: %s", line, answer)
				}
				return
			}
		}
	})
}
