package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// A client that opens a session for a revision that is not known yet, or
// that has none, speaks the one that it is answered with, by every way.
func TestSessionsOfRevisionsToCome(t *testing.T) {
	for _, version := range []string{modern, "2099-01-01"} {
		opening := func(capabilities string) string {
			return strings.NewReplacer(`"2025-11-25"`, fmt.Sprintf("%q", version), `"capabilities":{}`, `"capabilities":{`+capabilities+`}`).Replace(openBody)
		}
		t.Run("stdio "+version, func(t *testing.T) {
			e := newEstate(t)
			p := lines{stdioClientWith(t, e.none, e.options()), map[string]string{}}
			p.send(opening(`"roots":{}`))
			if _, line := p.next(); !strings.Contains(line, newestInSession) {
				t.Fatal(line)
			}
			p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			p.read(2)
			id, line := p.next()
			for strings.Contains(line, "list_changed") {
				id, line = p.next()
			}
			if !strings.Contains(line, `"roots/list"`) {
				t.Fatalf("roots are not asked for: %s", line)
			}
			p.roots(id, e.uri("in/one"))
			if all := p.answers(1); !strings.Contains(all["2"], "this is in/one") {
				t.Error(all)
			}
		})
		t.Run("http "+version, func(t *testing.T) {
			var d danger
			f, _ := faceOf(t, dangerous(&d))
			id := f.post(t, opening(`"elicitation":{}`)).header.Get(sessionHeader)
			f.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, sessionHeader, id)
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
			defer stop()
			resp := f.begin(ctx, t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger","arguments":{"path":"x"}}}`, id)
			defer func() { _ = resp.Body.Close() }()
			scan := bufio.NewScanner(resp.Body)
			for scan.Scan() && !strings.Contains(scan.Text(), "data: {") {
				continue
			}
			if first := scan.Text(); !strings.Contains(first, "elicitation/create") || strings.Contains(first, "requestState") {
				t.Errorf("the first message: %q", first)
			}
		})
	}
}

// What one client has not read counts against it, of calls and of readings:
// it gets no further ones, and a reading may be refused since it can be
// asked for again.
func TestUnreadAnswersAreBounded(t *testing.T) {
	const each = 3 << 20 // what a medium may weigh, nearly
	ran := make(chan struct{}, 100)
	m := muteClient(t, tool.Typed[dangerArgs]{
		Spec: tool.Spec{Name: "picture", Description: "Shows much.", Effects: tool.Pure, Concurrency: tool.Safe},
		Handle: func(context.Context, *tool.Call, dangerArgs) (*tool.Result, error) {
			defer func() { ran <- struct{}{} }()
			return &tool.Result{OK: true, Media: []tool.Media{{MIME: "audio/wav", Data: make([]byte, each)}}}, nil
		},
	}.Tool())
	m.open()
	count, quiet := 0, false
	for i := 0; i < 3*maxKeptBack/each && !quiet; i++ {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"picture","arguments":{"path":"%d"}}}`, i+2, i)
		go func() { _, _ = io.WriteString(m.toIn, line+"\n") }()
		select {
		case <-ran:
			count++
			time.Sleep(20 * time.Millisecond) // until it counts as unread, mostly
		case <-time.After(2 * time.Second):
			quiet = true
		}
	}
	if most := 2 * maxKeptBack / each; count > most || count < 2 {
		t.Errorf("%d calls have run whose answers nobody reads, at most %d may", count, most)
	}
	c := &stdio{calls: map[string]openStdio{"1": {}, "2": {}}}
	if !c.hold("1", maxKeptBack) || c.hold("2", 1) || c.held != maxKeptBack || c.calls["1"].size != maxKeptBack {
		t.Errorf("held %d", c.held)
	}
}
