package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

func TestWhoMaySpeak(t *testing.T) {
	open := serveTools(t, HTTPOptions{Hosts: []string{"tools.example"}, Origins: []string{"https://page.example"}}, oneTool)
	locked := serveTools(t, HTTPOptions{Token: "secret"}, oneTool)
	for name, c := range map[string]struct {
		f      face
		header []string
		status int
	}{
		"no header":              {open, nil, 200},
		"localhost":              {open, []string{"Host", "localhost:80"}, 200},
		"another loopback":       {open, []string{"Host", "[::1]:80"}, 200},
		"allowed host":           {open, []string{"Host", "Tools.example:8080"}, 200},
		"rebound host":           {open, []string{"Host", "evil.example"}, 403},
		"host in disguise":       {open, []string{"Host", "127.0.0.1.evil.example"}, 403},
		"address, no token":      {open, []string{"Host", "10.0.0.1"}, 403},
		"local page":             {open, []string{"Origin", "http://localhost:3000"}, 200},
		"allowed page":           {open, []string{"Origin", "https://page.example"}, 200},
		"page with another port": {open, []string{"Origin", "https://page.example:1"}, 403},
		"foreign page":           {open, []string{"Origin", "https://evil.example"}, 403},
		"page in disguise":       {open, []string{"Origin", "http://localhost.evil.example"}, 403},
		"page with a user":       {open, []string{"Origin", "http://localhost@evil.example"}, 403},
		"file":                   {open, []string{"Origin", "null"}, 403},
		"extension":              {open, []string{"Origin", "chrome-extension://localhost"}, 403},
		"no token":               {locked, nil, 401},
		"wrong token":            {locked, []string{"Authorization", "Bearer secrets"}, 401},
		"short token":            {locked, []string{"Authorization", "Bearer secre"}, 401},
		"empty token":            {locked, []string{"Authorization", "Bearer "}, 401},
		"another scheme":         {locked, []string{"Authorization", "Basic secret"}, 401},
		"token":                  {locked, []string{"Authorization", "Bearer secret"}, 200},
		"token, lower case":      {locked, []string{"Authorization", "bearer secret"}, 200},
		"token and address":      {locked, []string{"Authorization", "Bearer secret", "Host", "10.0.0.1"}, 200},
		"token and a name":       {locked, []string{"Authorization", "Bearer secret", "Host", "evil.example"}, 403},
	} {
		a := c.f.post(t, openBody, c.header...)
		if a.status != c.status {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if a.status == 401 && a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s does not say how", name)
		}
	}
	elsewhere := face{open.HTTP, strings.TrimSuffix(open.url, Path) + "/"}
	if a := elsewhere.post(t, openBody); a.status != 404 {
		t.Errorf("another path: %d", a.status)
	}
}

func TestAnAddressForOthersNeedsAToken(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "10.0.0.1:0", "tools.example:0", "127.0.0.1", ""} {
		if l, err := f.Listen(t.Context(), addr); err == nil {
			_ = l.Close()
			t.Errorf("%q is listened on without a token", addr)
		}
	}
	locked := serveTools(t, HTTPOptions{Token: "secret"}, oneTool)
	l, err := locked.Listen(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

func TestHostileBodies(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	id := f.open(t)
	for name, c := range map[string]struct {
		body   string
		status int
		code   int64
	}{
		"no JSON":        {`{"jsonrpc":`, 400, -32700},
		"empty":          {``, 400, -32700},
		"a string":       {`"tools/call"`, 400, -32600},
		"null":           {`null`, 400, 0},
		"deep":           {strings.Repeat("[", 20000), 400, 0},
		"deep object":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20001), 400, 0},
		"two messages":   {toolCall(1, "apple") + toolCall(2, "apple"), 400, -32700},
		"unknown method": {`{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}`, 400, 0},
		"no version":     {`{"id":1,"method":"tools/list"}`, 400, 0},
		"long":           {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", maxLine) + `"}}`, 413, 0},
	} {
		a := f.post(t, c.body, sessionHeader, id)
		if a.status != c.status || c.code != 0 && (a.message.Error == nil || a.message.Error.Code != c.code) {
			t.Errorf("%s: %d %.200s", name, a.status, a.body)
		}
	}
	if a := f.post(t, toolCall(9, "apple"), sessionHeader, id); a.status != 200 || a.message.Result == nil {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
}

func TestEndlessBodyIsCutOff(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	// Of 64 MB without a length no more than the limit is read.
	body := io.MultiReader(strings.NewReader(`{"a":"`), io.LimitReader(endless{}, 64<<20))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err == nil { // the connection may be closed before the answer is read
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
	if held := f.held.Load(); held != 0 {
		t.Errorf("%d bytes stay held", held)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestBodiesTogetherAreBounded(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	f.held.Add(maxHeld)
	if a := f.post(t, openBody); a.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", a.status, a.body)
	}
	f.held.Add(-maxHeld)
	if a := f.post(t, openBody); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestErasDoNotMix(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	id := f.open(t)
	inBody := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + metaBody + `}}`
	for name, c := range map[string]struct {
		body   string
		header []string
	}{
		"new body, old header":       {inBody, []string{versionHeader, "2025-11-25", sessionHeader, id}},
		"new body, no header":        {inBody, []string{sessionHeader, id}},
		"new header, old body":       {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{versionHeader, modern, "Mcp-Method", "tools/list"}},
		"new header, initialize":     {openBody, []string{versionHeader, modern, "Mcp-Method", "initialize"}},
		"another method in header":   {inBody, []string{versionHeader, modern, "Mcp-Method", "tools/call"}},
		"a revision to come":         {strings.ReplaceAll(inBody, modern, "2099-01-01"), []string{versionHeader, "2099-01-01", "Mcp-Method", "tools/list"}},
		"a revision that never was":  {strings.ReplaceAll(inBody, modern, "yesterday"), []string{versionHeader, "yesterday", "Mcp-Method", "tools/list"}},
		"old discover":               {`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, []string{sessionHeader, id}},
		"a batch in the new era":     {"[" + inBody + "]", []string{versionHeader, modern}},
		"a batch without a session":  {"[" + openBody + "]", nil},
		"an old revision not spoken": {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{versionHeader, "2001-01-01", sessionHeader, id}},
	} {
		a := f.post(t, c.body, c.header...)
		refused := a.status >= 400 && a.status <= 404 || a.message.Error != nil
		if !refused || a.message.Result != nil {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := f.post(t, toolCall(9, "apple"), sessionHeader, id); a.status != 200 || a.message.Result == nil {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
}

func TestOpenIdIsNotTakenTwice(t *testing.T) {
	running, release := make(chan string, 3), make(chan struct{})
	f := serveTools(t, HTTPOptions{}, func() []tool.Tool { return []tool.Tool{gated("slow", running, release)} })
	a, b := f.open(t), f.open(t)
	answers := make(chan answer, 2)
	for _, id := range []string{a, b} { // ids of one session say nothing in another
		go func() { answers <- f.post(t, toolCall(7, "slow"), sessionHeader, id) }()
		<-running
	}
	for _, id := range []string{"7", "7.0", "7.5"} { // the SDK reads all as 7
		if twice := f.post(t, toolCall(id, "slow"), sessionHeader, a); twice.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", id, twice.status, twice.body)
		}
	}
	close(release)
	for range 2 {
		if got := <-answers; got.message.Result == nil || string(got.message.ID) != "7" {
			t.Errorf("answer: %s", got.body)
		}
	}
	if again := f.post(t, toolCall(7, "slow"), sessionHeader, a); again.status != http.StatusOK {
		t.Errorf("once it is free: %d %s", again.status, again.body)
	}
}

func TestClientDiesMidCall(t *testing.T) {
	running, stopped := make(chan struct{}), make(chan struct{})
	f := serveTools(t, HTTPOptions{}, func() []tool.Tool {
		return []tool.Tool{tool.Func("slow", "Waits.", tool.Pure, func(ctx context.Context, _ nothing) (string, error) {
			close(running)
			<-ctx.Done()
			close(stopped)
			return "", ctx.Err()
		})}
	})
	ctx, die := context.WithCancel(t.Context())
	go func() { <-running; die() }()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{},`+metaBody+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", versionHeader: modern, "Mcp-Method": "tools/call", "Mcp-Name": "slow",
	} {
		r.Header.Set(k, v)
	}
	if resp, err := http.DefaultClient.Do(r); !errors.Is(err, context.Canceled) {
		if err == nil {
			_ = resp.Body.Close()
		}
		t.Errorf("the client did not die: %v", err)
	}
	select {
	case <-stopped:
	case <-time.After(5 * time.Second):
		t.Fatal("the work goes on for a client that has gone")
	}
}

func TestEndOfASessionEndsItsCalls(t *testing.T) {
	running := make(chan string, 2)
	f := serveTools(t, HTTPOptions{}, func() []tool.Tool { return []tool.Tool{gated("slow", running, nil)} })
	ended, other := f.open(t), f.open(t)
	answers := map[string]chan answer{ended: make(chan answer, 1), other: make(chan answer, 1)}
	for id, answer := range answers {
		go func() { answer <- f.post(t, toolCall(2, "slow"), sessionHeader, id) }()
		<-running
	}
	if a := f.send(t.Context(), t, http.MethodDelete, "", sessionHeader, ended); a.status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", a.status, a.body)
	}
	select {
	case <-answers[ended]:
	case <-time.After(5 * time.Second):
		t.Error("the call goes on")
	}
	select {
	case a := <-answers[other]:
		t.Errorf("a call of another session ends, too: %s", a.body)
	case <-time.After(50 * time.Millisecond):
	}
	f.calls.cancelAll()
	<-answers[other]
}

func FuzzLook(f *testing.F) {
	for _, seed := range []string{openBody, toolCall(1, "x"), `[]`, `{"id":1.5,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}}`, `{"params":{"_meta":null}}`, ``, `{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		g, no := look(body)
		if no != nil && (no.status != http.StatusBadRequest || no.text == "") {
			t.Errorf("%q: %+v", body, no)
		}
		if no == nil && g.id != nil && g.method == "" {
			t.Errorf("%q is a request without a method", body)
		}
		idKey(g.id)
	})
}
