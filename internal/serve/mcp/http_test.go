package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// face is a server under test.
type face struct {
	*HTTP
	url string
}

// serveTools serves sessions with the tools that make returns, a new set for
// each.
func serveTools(t *testing.T, o HTTPOptions, make func() []tool.Tool) face {
	t.Helper()
	o.Open = SessionPeers(func(ctx context.Context) (*handrail.Session, error) {
		return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Tools: make()})
	}, Options{Version: "test"})
	return serveHTTP(t, o)
}

// serveHTTP serves until the test ends.
func serveHTTP(t *testing.T, o HTTPOptions) face {
	t.Helper()
	h, err := NewHTTP(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		h.endStreams()
		s.Close()
		if err := h.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return face{h, s.URL + Path}
}

type answer struct {
	status  int
	header  http.Header
	body    string
	message struct {
		ID     json.RawMessage
		Result map[string]any
		Error  *struct {
			Code    int64
			Message string
			Data    any
		}
	}
}

// send makes one request; header is key and value by turns.
func (f face) send(ctx context.Context, t testing.TB, method, body string, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, f.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(data)}
	for line := range strings.Lines(a.body) { // the answer is the last message
		line = strings.TrimPrefix(line, "data: ")
		if strings.HasPrefix(line, "{") {
			a.message.Result, a.message.Error = nil, nil
			if err := json.Unmarshal([]byte(line), &a.message); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
	}
	return a
}

func (f face) post(t testing.TB, body string, header ...string) answer {
	t.Helper()
	return f.send(context.Background(), t, http.MethodPost, body, header...)
}

const (
	openBody = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	metaBody = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`
)

// open opens a session of the era that has them.
func (f face) open(t testing.TB) string {
	t.Helper()
	a := f.post(t, openBody)
	id := a.header.Get(sessionHeader)
	if a.status != http.StatusOK || id == "" {
		t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	if a := f.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, sessionHeader, id); a.status != http.StatusAccepted {
		t.Fatalf("initialized: %d %s", a.status, a.body)
	}
	return id
}

func toolCall(id any, name string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, name)
}

// modernPost sends a request of the stateless revision.
func (f face) modernPost(t testing.TB, method, params string, header ...string) answer {
	t.Helper()
	return f.modernSend(context.Background(), t, method, params, header...)
}

func (f face) modernSend(ctx context.Context, t testing.TB, method, params string, header ...string) answer {
	t.Helper()
	if params != "" {
		params += ","
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, params, metaBody)
	return f.send(ctx, t, http.MethodPost, body, append([]string{versionHeader, modern, "Mcp-Method", method}, header...)...)
}

func (f face) modernCall(t testing.TB, name string) answer {
	t.Helper()
	return f.modernPost(t, "tools/call", fmt.Sprintf(`"name":%q,"arguments":{}`, name), "Mcp-Name", name)
}

func oneTool() []tool.Tool { return []tool.Tool{ok("apple", tool.Read)} }

func TestBothErasAtOneAddress(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	id := f.open(t)
	old := f.post(t, toolCall(2, "apple"), sessionHeader, id)
	if old.status != http.StatusOK || !strings.Contains(old.body, `"text":"apple"`) || strings.Contains(old.body, "resultType") {
		t.Errorf("with a session: %d %s", old.status, old.body)
	}
	found := f.modernPost(t, "server/discover", "")
	if v, _ := json.Marshal(found.message.Result["supportedVersions"]); found.status != http.StatusOK || !bytes.Contains(v, []byte(modern)) {
		t.Errorf("discover: %d %s", found.status, found.body)
	}
	listed := f.modernPost(t, "tools/list", "")
	if r := listed.message.Result; r["ttlMs"] != 0.0 || r["cacheScope"] != "private" || r["resultType"] != "complete" {
		t.Errorf("list: %s", listed.body)
	}
}

func TestEveryModernResultSaysItsType(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, func() []tool.Tool {
		return []tool.Tool{ok("apple", tool.Read), ok("writes", tool.Write), tool.Typed[nothing]{
			Spec:   tool.Spec{Name: "named", Aliases: []string{"other_name"}, Description: "Has an alias.", Effects: tool.Pure},
			Handle: func(context.Context, *tool.Call, nothing) (*tool.Result, error) { return tool.Text("by an alias"), nil },
		}.Tool()}
	})
	for name, want := range map[string]string{"apple": "apple", "writes": "approv", "named": "by an alias", "other_name": "by an alias"} {
		a := f.modernCall(t, name)
		if r := a.message.Result; a.status != http.StatusOK || r["resultType"] != "complete" || !strings.Contains(a.body, want) || !strings.Contains(a.body, "serverInfo") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := f.modernCall(t, "applee"); a.message.Error == nil || a.message.Error.Code != -32602 || a.status != http.StatusBadRequest {
		t.Errorf("unknown: %d %s", a.status, a.body)
	}
	empty := serveTools(t, HTTPOptions{}, func() []tool.Tool { return nil })
	if a := empty.modernCall(t, "apple"); a.message.Error == nil || a.message.Error.Code != -32602 {
		t.Errorf("without tools: %s", a.body)
	}
	// F141: a list of nothing is a list.
	if a := empty.modernPost(t, "tools/list", ""); !strings.Contains(a.body, `"tools":[]`) {
		t.Errorf("F141: %s", a.body)
	}
}

func TestF151_SessionsAreCheckedBeforeAnyStream(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	id := f.open(t)
	if a := f.send(t.Context(), t, http.MethodDelete, "", sessionHeader, id); a.status != http.StatusNoContent {
		t.Fatalf("DELETE: %d %s", a.status, a.body)
	}
	call := toolCall(2, "apple")
	for name, c := range map[string]struct {
		method, body string
		header       []string
		status       int
	}{
		"unknown":        {"POST", call, []string{sessionHeader, "nobody"}, 404},
		"missing":        {"POST", call, nil, 400},
		"after DELETE":   {"POST", call, []string{sessionHeader, id}, 404},
		"GET unknown":    {"GET", "", []string{sessionHeader, "nobody"}, 404},
		"GET missing":    {"GET", "", nil, 400},
		"DELETE unknown": {"DELETE", "", []string{sessionHeader, id}, 404},
		"DELETE missing": {"DELETE", "", nil, 400},
		"opened again":   {"POST", openBody, []string{sessionHeader, id}, 404},
		"no method":      {"PUT", call, []string{sessionHeader, id}, 405},
		"modern GET":     {"GET", "", []string{versionHeader, modern}, 405},
	} {
		a := f.send(t.Context(), t, c.method, c.body, c.header...)
		if a.status != c.status || strings.Contains(a.header.Get("Content-Type"), "event-stream") {
			t.Errorf("%s: %d %s %s", name, a.status, a.header.Get("Content-Type"), a.body)
		}
	}
}

func TestF161_ClientsThatVanishLeaveNothing(t *testing.T) {
	f := serveTools(t, HTTPOptions{Idle: 100 * time.Millisecond}, oneTool)
	for range 50 {
		if a := f.post(t, openBody); a.status != http.StatusOK {
			t.Fatalf("initialize: %d %s", a.status, a.body)
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		f.mu.Lock()
		left := f.reserved + len(f.sessions)
		f.mu.Unlock()
		if left == 0 {
			return // what their sessions held is counted by goleak
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions live on", left)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestSessionsAreCapped(t *testing.T) {
	f := serveTools(t, HTTPOptions{Sessions: 2}, oneTool)
	first := f.open(t)
	f.open(t)
	if a := f.post(t, openBody); a.status != http.StatusServiceUnavailable {
		t.Fatalf("the third: %d %s", a.status, a.body)
	}
	// Clients without a session are served all the same.
	if a := f.modernCall(t, "apple"); a.status != http.StatusOK {
		t.Errorf("modern: %d %s", a.status, a.body)
	}
	f.send(t.Context(), t, http.MethodDelete, "", sessionHeader, first)
	deadline := time.Now().Add(5 * time.Second)
	for f.post(t, openBody).status != http.StatusOK {
		if time.Now().After(deadline) {
			t.Fatal("the place of an ended session stays taken")
		}
		time.Sleep(10 * time.Millisecond)
	}
	// A session that cannot be opened gives its place back.
	for range 5 {
		f.post(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reserved != 2 {
		t.Errorf("%d places taken", f.reserved)
	}
}

func TestSessionsAreIsolated(t *testing.T) {
	var made atomic.Int64
	f := serveTools(t, HTTPOptions{}, func() []tool.Tool { return []tool.Tool{ok(fmt.Sprintf("own_%d", made.Add(1)), tool.Read)} })
	a, b := f.open(t), f.open(t)
	for _, c := range []struct {
		header []string
		own    string
	}{{[]string{sessionHeader, a}, "own_2"}, {[]string{sessionHeader, b}, "own_3"}} {
		listed := f.post(t, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, c.header...)
		if !strings.Contains(listed.body, c.own) || strings.Count(listed.body, `"name":`) != 1 {
			t.Errorf("%s: %s", c.own, listed.body)
		}
		for _, name := range []string{"own_1", "own_2", "own_3"} {
			called := f.post(t, toolCall(4, name), c.header...)
			if ran := called.message.Error == nil; ran != (name == c.own) {
				t.Errorf("%s with %s: %s", name, c.own, called.body)
			}
		}
	}
}

func TestRateOfOneSessionIsItsOwn(t *testing.T) {
	f := serveTools(t, HTTPOptions{Rate: 10}, oneTool)
	busy, quiet := f.open(t), f.open(t)
	refused := 0
	for range 40 {
		a := f.post(t, toolCall(2, "apple"), sessionHeader, busy)
		if a.status == http.StatusTooManyRequests && a.header.Get("Retry-After") == "1" {
			refused++
		} else if a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if refused == 0 {
		t.Error("a flood passes")
	}
	if a := f.post(t, toolCall(2, "apple"), sessionHeader, quiet); a.status != http.StatusOK {
		t.Errorf("another session pays for it: %d", a.status)
	}
}

// gated is a tool that says when it runs and waits to be let go.
func gated(name string, running chan<- string, release <-chan struct{}) tool.Tool {
	return tool.Func(name, "Waits.", tool.Pure, func(ctx context.Context, _ nothing) (string, error) {
		running <- name
		select {
		case <-release:
			return "released", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
}

func TestStoppingFinishesOrCancelsAndSaysWhich(t *testing.T) {
	for name, finish := range map[string]bool{"finished": true, "cancelled": false} {
		t.Run(name, func(t *testing.T) {
			running, release := make(chan string, 2), make(chan struct{})
			var said lockedBuffer
			o := HTTPOptions{Grace: 200 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&said, nil))}
			o.Open = SessionPeers(func(ctx context.Context) (*handrail.Session, error) {
				return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Tools: []tool.Tool{gated("slow", running, release)}})
			}, Options{})
			h, err := NewHTTP(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if finish {
				h.o.Grace = 10 * time.Second
			}
			l, err := h.Listen(t.Context(), "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- h.Serve(ctx, l) }()
			f := face{h, "http://" + l.Addr().String() + Path}
			id := f.open(t)
			answers := make(chan answer, 2)
			go func() { answers <- f.post(t, toolCall(2, "slow"), sessionHeader, id) }()
			go func() { answers <- f.modernCall(t, "slow") }()
			<-running
			<-running
			stop()
			if finish {
				time.Sleep(50 * time.Millisecond)
				close(release)
			}
			for range 2 {
				a := <-answers
				if done := strings.Contains(a.body, "released"); done != finish || a.status != http.StatusOK {
					t.Errorf("answer: %d %s", a.status, a.body)
				}
			}
			if err := <-served; err != nil {
				t.Errorf("serving: %v", err)
			}
			if err := h.Close(); err != nil {
				t.Errorf("closing: %v", err)
			}
			http.DefaultClient.CloseIdleConnections()
			if log := said.String(); !strings.Contains(log, name+`="[slow`) || !strings.Contains(log, "slow (session "+id[:8]+")") {
				t.Errorf("log: %s", log)
			}
		})
	}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
