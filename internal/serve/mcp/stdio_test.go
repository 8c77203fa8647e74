package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// pipe is a client that speaks line by line.
type pipe struct {
	t      *testing.T
	server *Server
	in     *io.PipeWriter
	lines  chan string
	ended  chan error
}

func stdioClient(t *testing.T, tools ...tool.Tool) *pipe {
	t.Helper()
	return stdioClientOf(t, func(ctx context.Context) (*handrail.Session, error) {
		return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Tools: tools})
	})
}

func stdioClientOf(t *testing.T, open func(context.Context) (*handrail.Session, error)) *pipe {
	t.Helper()
	return stdioClientWith(t, open, Options{Version: "test"})
}

func stdioClientWith(t *testing.T, open func(context.Context) (*handrail.Session, error), o Options) *pipe {
	t.Helper()
	session, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return pipeWith(t, session, o)
}

// pipeTo serves a session to a client; both end with the test.
func pipeTo(t *testing.T, session *handrail.Session) *pipe {
	t.Helper()
	return pipeWith(t, session, Options{Version: "test"})
}

func pipeWith(t *testing.T, session *handrail.Session, o Options) *pipe {
	t.Helper()
	server, err := New(session, o)
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	p := &pipe{t: t, server: server, in: toServer, lines: make(chan string, 1000), ended: make(chan error, 1)}
	go func() { p.ended <- server.ServeStdio(context.Background(), in, out) }()
	go func() {
		defer close(p.lines)
		scan := bufio.NewScanner(fromServer)
		scan.Buffer(nil, 16<<20)
		for scan.Scan() {
			p.lines <- scan.Text()
		}
	}()
	t.Cleanup(func() {
		_ = p.in.Close()
		for range p.lines { // until the server has closed its side
			continue
		}
		if err := <-p.ended; err != nil {
			t.Errorf("serving: %v", err)
		}
		if err := session.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return p
}

func (p *pipe) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// next returns the next message and its id.
func (p *pipe) next() (id, line string) {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatal("the server has closed")
		}
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			p.t.Fatalf("%q: %v", line, err)
		}
		return string(m.ID), line
	case <-time.After(10 * time.Second):
		p.t.Fatal("no answer")
	}
	return "", ""
}

func (p *pipe) open() {
	p.t.Helper()
	p.send(openBody)
	if id, line := p.next(); id != "1" || !strings.Contains(line, `"result"`) {
		p.t.Fatalf("initialize: %s", line)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func TestStdioSurvivesHostileLines(t *testing.T) {
	p := stdioClient(t, ok("apple", tool.Read))
	p.open()
	for name, c := range map[string]struct{ line, id, want string }{
		"no JSON":        {`{"jsonrpc":`, "null", "-32700"},
		"a word":         {`hello`, "null", "-32700"},
		"a number":       {`7`, "null", "-32600"},
		"a batch":        {`[` + toolCall(2, "apple") + `]`, "null", "-32600"},
		"deep":           {strings.Repeat("[", 20000), "null", "-32700"},
		"64 MB":          {strings.Repeat("x", 64<<20), "null", "-32600"},
		"not 2.0":        {`{"id":3,"method":"tools/list"}`, "3", "-32600"},
		"an id of lists": {`{"jsonrpc":"2.0","id":[1],"method":"tools/list"}`, "null", "-32600"},
		"unknown method": {`{"jsonrpc":"2.0","id":4,"method":"tools/destroy"}`, "4", "-32601"},
		"list of params": {`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}`, "5", "error"},
		"unknown tool":   {toolCall(6, "applee"), "6", "-32602"},
	} {
		p.send(c.line)
		if id, line := p.next(); id != c.id || !strings.Contains(line, c.want) {
			t.Errorf("%s: %.200s", name, line)
		}
	}
	p.send("\n\r\n   ") // empty lines are nothing
	p.send(toolCall(`"last"`, "apple"))
	if id, line := p.next(); id != `"last"` || !strings.Contains(line, `"text":"apple"`) {
		t.Errorf("afterwards: %s", line)
	}
}

func TestStdioAnswersOpenIdOnce(t *testing.T) {
	running, release := make(chan string, 1), make(chan struct{})
	p := stdioClient(t, gated("slow", running, release), ok("apple", tool.Read))
	p.open()
	p.send(toolCall(7, "slow"))
	<-running
	p.send(toolCall(7, "apple"))
	if id, line := p.next(); id != "7" || !strings.Contains(line, "still open") {
		t.Errorf("the second: %s", line)
	}
	close(release)
	if id, line := p.next(); id != "7" || !strings.Contains(line, "released") {
		t.Errorf("the first: %s", line)
	}
	p.send(toolCall(7, "apple"))
	if id, line := p.next(); id != "7" || !strings.Contains(line, `"text":"apple"`) {
		t.Errorf("once it is free: %s", line)
	}
}

// TestStdioIdIsFreeWithItsAnswer: who has read an answer may use its id.
func TestStdioIdIsFreeWithItsAnswer(t *testing.T) {
	p := stdioClient(t, ok("apple", tool.Read))
	p.open()
	for range 2000 {
		for _, line := range []string{`{"jsonrpc":"2.0","id":7,"method":"ping"}`, toolCall(7, "apple")} {
			p.send(line)
			if _, line := p.next(); !strings.Contains(line, `"result"`) {
				t.Fatal(line)
			}
		}
	}
}

func TestStdioIdsComeBackAsTheyWere(t *testing.T) {
	p := stdioClient(t, ok("apple", tool.Read))
	p.open()
	for _, id := range []string{`9007199254740993`, `1.5`, `"ä"`, `"\u00e4"`, `-0`} {
		p.send(toolCall(id, "apple"))
		if got, line := p.next(); got != id {
			t.Errorf("%s came back in %s", id, line)
		}
	}
}

func TestStdioErasDoNotMix(t *testing.T) {
	p := stdioClient(t, ok("apple", tool.Read))
	// Before the session is opened only the stateless revision is served.
	p.send(toolCall(1, "apple"))
	if _, line := p.next(); !strings.Contains(line, `"error"`) {
		t.Errorf("a call without a session: %s", line)
	}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"apple","arguments":{},` + metaBody + `}}`
	p.send(call)
	if _, line := p.next(); !strings.Contains(line, `"resultType":"complete"`) {
		t.Errorf("a stateless call: %s", line)
	}
	for name, broken := range map[string]string{
		"a revision to come": strings.Replace(call, modern, "2099-01-01", 1),
		"no capabilities":    strings.Replace(call, "clientCapabilities", "capabilities", 1),
		"capabilities []":    strings.Replace(call, `clientCapabilities":{}`, `clientCapabilities":[]`, 1),
	} {
		p.send(broken)
		if _, line := p.next(); !strings.Contains(line, `"error"`) {
			t.Errorf("%s: %s", name, line)
		}
	}
}

func TestStdioClientDiesMidCall(t *testing.T) {
	var started, stopped atomic.Int64
	running := make(chan string, 20)
	p := stdioClient(t, tool.Func("slow", "Waits.", tool.Pure, func(ctx context.Context, _ nothing) (string, error) {
		started.Add(1)
		running <- ""
		<-ctx.Done()
		stopped.Add(1)
		return "", ctx.Err()
	}))
	p.server.patience = 100 * time.Millisecond
	p.open()
	for i := range 10 { // one runs, the others wait for it
		p.send(toolCall(i+2, "slow"))
	}
	<-running
	// The first is taken back, and gets no answer.
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	<-running
	p.send(`{"jsonrpc":"2.0","id":99,"method":"ping"}`)
	if id, line := p.next(); id != "99" {
		t.Errorf("a call that was taken back is answered: %s", line)
	}
	_ = p.in.CloseWithError(errors.New("the client has died"))
	select {
	case err := <-p.ended:
		p.ended <- err
	case <-time.After(10 * time.Second):
		t.Fatal("the server waits for a client that has died")
	}
	deadline := time.Now().Add(5 * time.Second)
	for started.Load() != stopped.Load() {
		if time.Now().After(deadline) {
			t.Fatalf("%d calls go on", started.Load()-stopped.Load())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func FuzzStdioLine(f *testing.F) {
	for _, seed := range []string{openBody, toolCall(1, "x"), `[]`, `{`, `{"id":{}}`, "\x00", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":{}}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bufio.NewReaderSize(strings.NewReader(string(data)), 16)
		total := 0
		for {
			line, err := readLine(in)
			total += len(line)
			if err != nil {
				break
			}
		}
		if total > len(data) {
			t.Errorf("%d bytes made of %d", total, len(data))
		}
		f, no := readFrame(data)
		if no != nil {
			return
		}
		if p, err := readCall(f.params); err == nil && p.progressToken != nil && !json.Valid(appendProgress(nil, p.progressToken, tool.Progress{Done: 1})) {
			t.Errorf("%q makes a broken report", data)
		}
	})
}
