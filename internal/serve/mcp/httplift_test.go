package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// longOne answers with texts that JSON must escape, and with much sound.
func longOne(text string, sound []byte) tool.Tool {
	return tool.Typed[nothing]{
		Spec: tool.Spec{Name: "long", Description: "Answers at length.", Effects: tool.Pure},
		Handle: func(context.Context, *tool.Call, nothing) (*tool.Result, error) {
			return &tool.Result{OK: true, Text: text, Media: []tool.Media{{MIME: "audio/wav", Data: sound}}}, nil
		},
	}.Tool()
}

func TestLongResultsArriveWhole(t *testing.T) {
	text := strings.Repeat("a \"quoted\" line \\ with <tags> & ünïcödé\n", 300)
	sound := bytes.Repeat([]byte("RIFF data\x00"), 400)
	f := serveTools(t, HTTPOptions{}, func() []tool.Tool { return []tool.Tool{longOne(text, sound)} })
	id := f.open(t)
	for era, a := range map[string]answer{
		"with sessions": f.post(t, toolCall(7, "long"), sessionHeader, id),
		"stateless":     f.modernCall(t, "long"),
		"a name of the client's own": f.post(t, toolCall(8, "long"), sessionHeader, id,
			liftHeader, "elsewhere"),
	} {
		content, _ := a.message.Result["content"].([]any)
		if len(content) != 2 {
			t.Fatalf("%s: %d %.300s", era, a.status, a.body)
		}
		if got := content[0].(map[string]any)["text"]; got != text {
			t.Errorf("%s: %s", era, cmp.Diff(text, got))
		}
		want := base64.StdEncoding.EncodeToString(sound)
		if got := content[1].(map[string]any)["data"]; got != want {
			t.Errorf("%s: the sound is %.100v", era, got)
		}
	}
	f.calls.responses.mu.Lock()
	defer f.calls.responses.mu.Unlock()
	if n := len(f.calls.responses.open); n != 0 {
		t.Errorf("%d requests are kept after their end", n)
	}
}

func TestLongResultsStayApart(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, func() []tool.Tool {
		return []tool.Tool{tool.Func("say", "Says it often.", tool.Pure, func(_ context.Context, in struct {
			What string `json:"what"`
		},
		) (string, error) {
			return strings.Repeat(in.What+" ", 1000), nil
		})}
	})
	id := f.open(t)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"say","arguments":{"what":"word-%d"}}}`, i, i)
			a := f.post(t, body, sessionHeader, id)
			want := strings.Repeat(fmt.Sprintf("word-%d ", i), 1000)
			content, _ := a.message.Result["content"].([]any)
			if len(content) != 1 || content[0].(map[string]any)["text"] != want {
				t.Errorf("call %d: %.200s", i, a.body)
			}
		})
	}
	all.Wait()
}

func TestLiftingLeavesWhatItIsGiven(t *testing.T) {
	var all responses
	long := strings.Repeat("x", liftFrom)
	given := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: long}, &mcp.TextContent{Text: "short"}}}
	if got := all.lift(&mcp.RequestExtra{Header: http.Header{}}, given); got != given {
		t.Error("a request that has ended changes the result")
	}
	r := &http.Request{Header: http.Header{}}
	parts, end := all.begin(r)
	got := all.lift(&mcp.RequestExtra{Header: r.Header}, given)
	if given.Content[0].(*mcp.TextContent).Text != long {
		t.Error("the tool's own result was changed")
	}
	mark := got.Content[0].(*mcp.TextContent).Text
	if len(mark) >= liftFrom || got.Content[1] != given.Content[1] {
		t.Errorf("lifted: %.100s, %v", mark, got.Content[1])
	}
	if out := parts.restore([]byte(`{"text":"` + mark + `"}`)); string(out) != `{"text":"`+long+`"}` {
		t.Errorf("restored: %.100s", out)
	}
	// What a tool says cannot bring it back a second time.
	if out := parts.restore([]byte(`"` + mark + `"`)); string(out) != `"`+mark+`"` {
		t.Errorf("restored again: %.100s", out)
	}
	end()
}
