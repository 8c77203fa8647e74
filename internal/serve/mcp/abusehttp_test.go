package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listening serves over its own listener, as the program does, with the
// times that configure sets.
func listening(t *testing.T, o HTTPOptions, configure func(*HTTP), tools func() []tool.Tool) face {
	t.Helper()
	o.Open = SessionPeers(func(ctx context.Context) (*handrail.Session, error) {
		return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Guard: handrail.GuardOff, Tools: tools()})
	}, Options{Version: "test"})
	h, err := NewHTTP(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	h.o.Grace = 100 * time.Millisecond
	configure(h)
	l, err := h.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
		if err := h.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return face{h, "http://" + l.Addr().String() + Path}
}

// dial opens a bare connection and says something on it.
func (f face) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(f.url, "http://"), Path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// head is the head of a POST with a body of so many bytes.
func head(size int, header ...string) string {
	text := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n", Path, size)
	for i := 0; i < len(header); i += 2 {
		text += header[i] + ": " + header[i+1] + "\r\n"
	}
	return text + "\r\n"
}

// TestHalfOpenConnections: connections that say nothing, or too slowly, are
// closed, and nobody waits behind them.
func TestHalfOpenConnections(t *testing.T) {
	sameDescriptors(t)
	each := 50
	if long() {
		each = 200
	}
	patient := 400 * time.Millisecond
	f := listening(t, HTTPOptions{}, func(h *HTTP) { h.headers, h.bodies = patient, patient }, oneTool)
	before := inUse(true)
	done := memory(t, 128<<20)
	began := time.Now()
	var trickle []net.Conn
	var all []net.Conn
	for range each {
		all = append(all, f.dial(t, ""), f.dial(t, head(maxLine)), f.dial(t, head(100)+`{"jsonrpc"`),
			f.dial(t, strings.Replace(head(100), "localhost", "evil.example", 1)), // refused before its body
			f.dial(t, strings.Replace(head(100), "POST", "GET", 1)))
		slow := f.dial(t, "POST "+Path+" HTTP/1.1\r\nHost: local")
		body := f.dial(t, head(1000)+"{")
		chunked := f.dial(t, strings.Replace(head(0), "Content-Length: 0", "Transfer-Encoding: chunked", 1)+"fffff\r\n{")
		all, trickle = append(all, slow, body, chunked), append(trickle, slow, body, chunked)
	}
	quit := make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() { // a byte at a time, for as long as it is taken
		for {
			select {
			case <-quit:
				return
			case <-time.After(50 * time.Millisecond):
			}
			for _, c := range trickle {
				_, _ = c.Write([]byte(" "))
			}
		}
	})
	for range 20 {
		asked := time.Now()
		if a := f.modernCall(t, "apple"); a.status != http.StatusOK {
			t.Fatalf("another client: %d %s", a.status, a.body)
		}
		if took := time.Since(asked); took > 2*time.Second {
			t.Errorf("another client waits %v", took)
		}
	}
	for _, c := range all {
		_ = c.SetReadDeadline(began.Add(30 * time.Second))
		if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Fatal("a half-open connection stays open")
		}
	}
	close(quit)
	writers.Wait()
	done()
	if held := f.held.Load(); held != 0 {
		t.Errorf("%d bytes stay held", held)
	}
	settled(t, before, 8<<20)
}

// TestPromisedBodiesTakeNoRoom: what was only promised keeps nobody out.
func TestPromisedBodiesTakeNoRoom(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	for range 2 * maxHeld / maxLine {
		f.dial(t, head(maxLine))
		f.dial(t, strings.Replace(head(0), "Content-Length: 0", "Transfer-Encoding: chunked", 1))
	}
	time.Sleep(50 * time.Millisecond)
	if a := f.modernCall(t, "apple"); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestBodiesAreReadWhole: the room that is taken for a body never cuts it.
func TestBodiesAreReadWhole(t *testing.T) {
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000, maxLine} {
		for _, promised := range []int64{-1, int64(size)} {
			var held atomic.Int64
			m := room{held: &held}
			body, err := m.read(io.LimitReader(endless{}, int64(size)), promised)
			if err != nil || len(body) != size || held.Load() < int64(size) || held.Load() > 2*int64(size)+64<<10 {
				t.Errorf("%d of %d promised: %d bytes, %d held, %v", size, promised, len(body), held.Load(), err)
			}
			m.release()
			if held.Load() != 0 {
				t.Errorf("%d stay held", held.Load())
			}
		}
	}
	full := atomic.Int64{}
	full.Store(maxHeld - 100_000)
	m := room{held: &full}
	if _, err := m.read(io.LimitReader(endless{}, 1<<20), -1); err != errNoRoom {
		t.Errorf("without room: %v", err)
	}
	if m.release(); full.Load() != maxHeld-100_000 {
		t.Errorf("%d held", full.Load())
	}
}

// picture is a tool with a result that fills every buffer on its way.
func picture() []tool.Tool {
	return []tool.Tool{ok("apple", tool.Read), tool.Typed[nothing]{
		Spec: tool.Spec{Name: "picture", Description: "Shows much.", Effects: tool.Pure, Concurrency: tool.Safe},
		Handle: func(context.Context, *tool.Call, nothing) (*tool.Result, error) {
			return &tool.Result{OK: true, Media: []tool.Media{{MIME: "audio/wav", Data: make([]byte, 12<<20)}}}, nil
		},
	}.Tool()}
}

// TestReadersThatDoNotRead: they are given up.
func TestReadersThatDoNotRead(t *testing.T) {
	sameDescriptors(t)
	f := listening(t, HTTPOptions{}, func(h *HTTP) { h.patience = 300 * time.Millisecond }, picture)
	id := f.open(t)
	before := inUse(true)
	done := memory(t, 512<<20)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"picture","arguments":{},` + metaBody + `}}`
	for range 4 {
		modernCall := f.dial(t, head(len(call), versionHeader, modern, "Mcp-Method", callMethod, "Mcp-Name", "picture")+call)
		old := toolCall(rand.Int32(), "picture")
		inSession := f.dial(t, head(len(old), sessionHeader, id)+old)
		for _, c := range []net.Conn{modernCall, inSession} {
			_ = c.(*net.TCPConn).SetReadBuffer(4096)
		}
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		f.calls.mu.Lock()
		open := len(f.calls.open)
		f.calls.mu.Unlock()
		if held := f.held.Load(); held == 0 && open == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d calls are open still", open)
		}
		time.Sleep(10 * time.Millisecond)
	}
	done()
	if a := f.post(t, toolCall(2, "apple"), sessionHeader, id); a.status != http.StatusOK {
		t.Errorf("the session afterwards: %d %s", a.status, a.body)
	}
	settled(t, before, 16<<20)
}

// TestSessionsThatAreOnlyOpenedEnd: they keep nobody out for long, and one
// that is used lives on.
func TestSessionsThatAreOnlyOpenedEnd(t *testing.T) {
	f := serveTools(t, HTTPOptions{Sessions: 5}, oneTool)
	f.first = 300 * time.Millisecond
	used := f.open(t)
	for range 4 {
		f.handle(http.MethodPost, openBody)
	}
	if a := f.handle(http.MethodPost, openBody); a.Code != http.StatusServiceUnavailable {
		t.Fatalf("one more: %d", a.Code)
	}
	deadline := time.Now().Add(10 * time.Second)
	for f.handle(http.MethodPost, openBody).Code != http.StatusOK {
		if time.Now().After(deadline) {
			t.Fatal("sessions that nobody uses keep their places")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if a := f.post(t, toolCall(2, "apple"), sessionHeader, used); a.status != http.StatusOK {
		t.Errorf("one that is used: %d %s", a.status, a.body)
	}
}

// TestStrangersKeepNoConnection: one that is refused for who it is is closed.
func TestStrangersKeepNoConnection(t *testing.T) {
	f := serveTools(t, HTTPOptions{Token: "secret"}, oneTool)
	c := f.dial(t, head(2)+"{}")
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	said, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 401") {
		t.Errorf("%q, %v", said, err)
	}
}

// TestReaderOfRefusalsThatDoesNotRead sends requests that are refused, one
// after the other, and reads no answer. The server closes the connection.
func TestReaderOfRefusalsThatDoesNotRead(t *testing.T) {
	f := listening(t, HTTPOptions{}, func(h *HTTP) { h.patience = 300 * time.Millisecond }, oneTool)
	refused := strings.Repeat(head(2)+"{}", 100)
	c := f.dial(t, "")
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	for {
		_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.WriteString(c, refused); err != nil {
			break // closed, or, where the system holds that back, not taken any more
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for buf := make([]byte, 1<<20); strings.Contains(string(buf[:runtime.Stack(buf, true)]), "net/http.(*conn).serve("); {
		if time.Now().After(deadline) {
			t.Fatal("the server waits for a reader of refusals")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestReaderOfNewsThatDoesNotRead: the stream of news of a client that does
// not read ends, and its session and all others go on.
func TestReaderOfNewsThatDoesNotRead(t *testing.T) {
	own := make(chan *sessionPeer, 3)
	f := listening(t, HTTPOptions{}, func(h *HTTP) {
		h.patience = 300 * time.Millisecond
		open := h.o.Open
		h.o.Open = func(ctx context.Context) (Peer, error) {
			peer, err := open(ctx)
			if err == nil {
				own <- peer.(*sessionPeer)
			}
			return peer, err
		}
	}, oneTool)
	id := f.open(t)
	peer := <-own
	c := f.dial(t, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n%s: %s\r\n\r\n", Path, sessionHeader, id))
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	if _, err := bufio.NewReaderSize(c, 16).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	done := memory(t, 64<<20)
	s, _ := f.session(id)
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	news := &mcp.ProgressNotificationParams{ProgressToken: "news", Message: strings.Repeat("n", 64<<10)}
	for sdk := range peer.SDK().Sessions() {
		for i := range 1000 { // 64 MB, and nobody takes them
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			_ = sdk.NotifyProgress(ctx, news)
			cancel()
			select {
			case <-ended:
				t.Logf("given up after %d messages", i)
			case <-time.After(time.Millisecond):
				continue
			}
			break
		}
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the server waits for a reader of news")
	}
	done()
	if a := f.post(t, toolCall(2, "apple"), sessionHeader, id); a.status != http.StatusOK && a.status != http.StatusNotFound {
		t.Errorf("the session afterwards: %d %s", a.status, a.body)
	}
	if other := f.open(t); f.post(t, toolCall(2, "apple"), sessionHeader, other).status != http.StatusOK {
		t.Error("other sessions suffer")
	}
}

// handle sends one request past the network.
func (f face) handle(method, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+Path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// barePeer has the protocol's side of a session alone. A session of ours has
// files open, of which a process may not have as many.
type barePeer struct{ sdk *mcp.Server }

func (p barePeer) SDK() *mcp.Server { return p.sdk }
func (p barePeer) Close() error     { return nil }

func openBare(context.Context) (Peer, error) {
	sdk := mcp.NewServer(&mcp.Implementation{Name: "bare"}, nil)
	mcp.AddTool(sdk, &mcp.Tool{Name: "apple"}, func(context.Context, *mcp.CallToolRequest, nothing) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "apple"}}}, nil, nil
	})
	return barePeer{sdk}, nil
}

// TestThousandsOfSessions: opened, full, used, ended.
func TestThousandsOfSessions(t *testing.T) {
	size := func(short, full int) int {
		if long() {
			return full
		}
		return short
	}
	t.Run("governed", func(t *testing.T) { manySessions(t, size(200, 1000), nil) })
	t.Run("bare", func(t *testing.T) { manySessions(t, size(1000, 10_000), openBare) })
}

func manySessions(t *testing.T, many int, open func(context.Context) (Peer, error)) {
	sameDescriptors(t)
	f := serveTools(t, HTTPOptions{Sessions: many, Idle: time.Hour, Rate: 1e6}, oneTool)
	if open != nil {
		f.o.Open = open
	}
	f.first = time.Hour // longer than a busy machine takes to open them all
	goroutines, before := runtime.NumGoroutine(), inUse(true)
	const each = 96 << 10
	done := memory(t, uint64(many)*each*2+32<<20) // with what is not collected yet
	ids := map[string]bool{}
	for range many {
		a := f.handle(http.MethodPost, openBody)
		id := a.Header().Get(sessionHeader)
		if a.Code != http.StatusOK || ids[id] || len(id) < 26 { // 26 characters of 5 bits
			t.Fatalf("session %d: %d %q", len(ids), a.Code, id)
		}
		ids[id] = true
	}
	now := inUse(true)
	t.Logf("%d sessions take %d bytes and %d goroutines each", many, (now-before)/uint64(many), (runtime.NumGoroutine()-goroutines)/many)
	if now > before+uint64(many)*each {
		t.Errorf("a session takes %d bytes", (now-before)/uint64(many))
	}
	for range 100 {
		a := f.handle(http.MethodPost, openBody)
		if a.Code != http.StatusServiceUnavailable || a.Header().Get("Retry-After") == "" || !strings.Contains(a.Body.String(), "sessions are taken") {
			t.Fatalf("one more: %d %v %s", a.Code, a.Header(), a.Body)
		}
	}
	used := 0
	for id := range ids {
		if a := f.handle(http.MethodPost, toolCall(3, "apple"), sessionHeader, id); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"text":"apple`) {
			t.Fatalf("a call: %d %s", a.Code, a.Body)
		}
		if used++; used == 100 {
			break
		}
	}
	done()
	f.closeSessions()
	f.mu.Lock()
	left := len(f.sessions) + f.reserved
	f.mu.Unlock()
	if left != 0 {
		t.Errorf("%d sessions are left", left)
	}
	settled(t, before, 8<<20+uint64(many)*8<<10) // a third of what a session takes
	if now := runtime.NumGoroutine(); now > goroutines+10 {
		t.Errorf("%d goroutines, %d before", now, goroutines)
	}
}

// TestNoSessionWithoutFiles: a process that may open no more files says when
// to come again.
func TestNoSessionWithoutFiles(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	for failure, want := range map[error]int{syscall.EMFILE: http.StatusServiceUnavailable, errNoRoom: http.StatusInternalServerError} {
		f.o.Open = func(context.Context) (Peer, error) { return nil, fmt.Errorf("opening: %w", failure) }
		a := f.handle(http.MethodPost, openBody)
		if a.Code != want || (a.Header().Get("Retry-After") != "") != (want == http.StatusServiceUnavailable) {
			t.Errorf("%v: %d %v", failure, a.Code, a.Header())
		}
		if f.reserved != 0 {
			t.Errorf("%d places stay taken", f.reserved)
		}
	}
}

// TestSessionsDoNotTalkAcross: sessions that use the same ids, tokens and
// names at the same time get their own answers and reports alone.
func TestSessionsDoNotTalkAcross(t *testing.T) {
	var made atomic.Int64
	f := listening(t, HTTPOptions{Rate: 1e6}, func(*HTTP) {}, func() []tool.Tool {
		mine := fmt.Sprintf("#%d#", made.Add(1))
		return []tool.Tool{tool.Typed[nothing]{
			Spec: tool.Spec{Name: "who", Description: "Says whose it is.", Effects: tool.Pure, Concurrency: tool.Safe},
			Handle: func(_ context.Context, c *tool.Call, _ nothing) (*tool.Result, error) {
				c.Progress(tool.Progress{Done: 1, Message: "report of " + mine})
				runtime.Gosched()
				return tool.Text("mine is " + mine), nil
			},
		}.Tool()}
	})
	const sessions, calls = 20, 8
	over := time.Now().Add(attackTime(t, 5))
	var all sync.WaitGroup
	for n := range sessions {
		id := f.open(t)
		mine := fmt.Sprintf("#%d#", n+2) // the first was made for clients without a session
		for k := range calls {
			all.Go(func() {
				for i := 0; i < 5 || time.Now().Before(over); i++ {
					call := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"who","arguments":{},"_meta":{"progressToken":"same"}}}`, k)
					a := f.post(t, call, sessionHeader, id)
					if a.status != http.StatusOK || string(a.message.ID) != fmt.Sprint(k) || !strings.Contains(a.body, "mine is "+mine) ||
						strings.Count(a.body, "#") != 2*strings.Count(a.body, mine) {
						t.Errorf("session %s, call %d: %d %s", mine, k, a.status, a.body)
						return
					}
				}
			})
		}
	}
	all.Wait()
}

// TestSessionNeedsItsToken: to know a session's id is not enough.
func TestSessionNeedsItsToken(t *testing.T) {
	f := serveTools(t, HTTPOptions{Token: "secret"}, oneTool)
	a := f.post(t, openBody, "Authorization", "Bearer secret")
	id := a.header.Get(sessionHeader)
	for _, header := range [][]string{nil, {"Authorization", "Bearer guess"}, {"Authorization", ""}, {"Authorization", "Bearer " + id}} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			a := f.send(t.Context(), t, method, toolCall(2, "apple"), append(header, sessionHeader, id)...)
			if a.status != http.StatusUnauthorized || strings.Contains(a.body, "apple") {
				t.Errorf("%s with %v: %d %s", method, header, a.status, a.body)
			}
		}
	}
	if a := f.post(t, toolCall(2, "apple"), sessionHeader, id, "Authorization", "Bearer secret"); a.status != http.StatusOK {
		t.Errorf("its own client: %d %s", a.status, a.body)
	}
	// What is nearly an id is none.
	for _, near := range []string{id[:len(id)-1], id + "A", strings.ToLower(id), " " + id + "x"} {
		if a := f.post(t, toolCall(2, "apple"), sessionHeader, near, "Authorization", "Bearer secret"); a.status != http.StatusNotFound {
			t.Errorf("%q: %d", near, a.status)
		}
	}
}

// TestFloodsOfEveryKindAreHeldBack: also requests that lead to nothing count.
func TestFloodsOfEveryKindAreHeldBack(t *testing.T) {
	for name, c := range map[string]struct{ method, body string }{
		"no JSON":         {http.MethodPost, "{"},
		"no session":      {http.MethodPost, toolCall(1, "apple")},
		"unknown session": {http.MethodPost, "session"},
		"GET":             {http.MethodGet, ""},
		"DELETE":          {http.MethodDelete, ""},
		"no method":       {http.MethodPatch, ""},
		"opening":         {http.MethodPost, openBody},
	} {
		f := serveTools(t, HTTPOptions{Rate: 10}, oneTool)
		refused := 0
		for range 60 {
			header := []string{}
			if c.body == "session" {
				header = []string{sessionHeader, "nobody"}
			}
			a := f.handle(c.method, c.body, header...)
			if a.Code == http.StatusTooManyRequests && a.Header().Get("Retry-After") == "1" {
				refused++
			}
		}
		if refused < 30 {
			t.Errorf("%s: %d of 60 are held back", name, refused)
		}
	}
}

// TestCallsOfClientsThatDieAreBounded: a call goes on when its connection
// has gone, and such calls do not pile up.
func TestCallsOfClientsThatDieAreBounded(t *testing.T) {
	running, release := make(chan string, maxOpen+10), make(chan struct{})
	f := serveTools(t, HTTPOptions{Rate: 1e6}, func() []tool.Tool { return []tool.Tool{gated("slow", running, release)} })
	id := f.open(t)
	const most = 8 << 20
	f.calls.most = most
	done := memory(t, 6*most+32<<20) // the SDK and the journey have copies
	pad := strings.Repeat(" ", 200_000)
	body := strings.Replace(toolCall(7, "slow"), `"arguments":{`, `"arguments":{`+pad, 1)
	for range most/len(pad) + 20 {
		ctx, die := context.WithTimeout(t.Context(), time.Millisecond)
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+Path, strings.NewReader(strings.Replace(body, `"id":7`, fmt.Sprintf(`"id":"%d"`, rand.Int64()), 1)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set(sessionHeader, id)
		f.ServeHTTP(httptest.NewRecorder(), r)
		die()
	}
	f.calls.mu.Lock()
	open, load := len(f.calls.open), f.calls.load[id]
	f.calls.mu.Unlock()
	t.Logf("%d calls are open", open)
	if open > maxOpen || load.bytes > most || open < 10 {
		t.Errorf("%d calls are open with %d bytes", open, load.bytes)
	}
	if a := f.handle(http.MethodPost, body, sessionHeader, id); !strings.Contains(a.Body.String(), "too many") {
		t.Errorf("one more: %d %s", a.Code, a.Body)
	}
	if a := f.send(t.Context(), t, http.MethodDelete, "", sessionHeader, id); a.status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", a.status, a.body)
	}
	done()
	f.calls.mu.Lock()
	defer f.calls.mu.Unlock()
	if len(f.calls.open)+len(f.calls.load) != 0 {
		t.Errorf("%d calls and %d sums are left", len(f.calls.open), len(f.calls.load))
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	var c net.ListenConfig
	l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := limitConns(l, 2)
	accepted := make(chan net.Conn, 5)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := limited.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	for range 3 {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	first := <-accepted
	defer (<-accepted).Close()
	select {
	case <-accepted:
		t.Fatal("the third is let in")
	case <-time.After(50 * time.Millisecond):
	}
	_ = first.Close()
	_ = first.Close() // a place is given back once
	select {
	case third := <-accepted:
		defer third.Close()
	case <-time.After(5 * time.Second):
		t.Fatal("a place that was given back stays taken")
	}
	_ = limited.Close()
	<-ended
}

// TestClosingWhileSessionsOpen: none is left behind.
func TestClosingWhileSessionsOpen(t *testing.T) {
	for range 20 {
		var opened, closed atomic.Int64
		o := HTTPOptions{Rate: 1e6}
		o.Open = SessionPeers(func(ctx context.Context) (*handrail.Session, error) {
			return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Tools: oneTool()})
		}, Options{})
		inner := o.Open
		o.Open = func(ctx context.Context) (Peer, error) {
			p, err := inner(ctx)
			opened.Add(1)
			return countedPeer{p, &closed}, err
		}
		h, err := NewHTTP(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		f := face{HTTP: h}
		var openers sync.WaitGroup
		for range 8 {
			openers.Go(func() {
				for range 5 {
					f.handle(http.MethodPost, openBody)
				}
			})
		}
		runtime.Gosched()
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		openers.Wait()
		if opened.Load() != closed.Load() {
			t.Fatalf("%d of %d peers are closed", closed.Load(), opened.Load())
		}
	}
}

type countedPeer struct {
	Peer
	closed *atomic.Int64
}

func (p countedPeer) Close() error {
	p.closed.Add(1)
	return p.Peer.Close()
}
