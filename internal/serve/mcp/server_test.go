package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type nothing struct{}

// connect opens a session with the tools and a client to it.
func connect(t *testing.T, o handrail.Options, c *mcp.ClientOptions) (*handrail.Session, *mcp.ClientSession) {
	t.Helper()
	o.NoBuiltins = true
	session, err := handrail.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	server, err := New(session, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ct, st := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.serve(ctx, st) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, c).Connect(t.Context(), ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		cancel()
		if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("serving: %v", err)
		}
		if err := session.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return session, client
}

func ok(name string, effects tool.Effects) tool.Tool {
	return tool.Func(name, "Does "+name+".", effects, func(context.Context, nothing) (string, error) { return name, nil })
}

func list(t *testing.T, client *mcp.ClientSession) string {
	t.Helper()
	r, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tl := range r.Tools {
		names = append(names, tl.Name)
	}
	return strings.Join(names, " ")
}

func TestListIsTheSessionsList(t *testing.T) {
	changed := make(chan struct{}, 10)
	session, client := connect(t, handrail.Options{
		Tools:  []tool.Tool{ok("zebra", tool.Read), ok("apple", tool.Read), ok("hidden", tool.Read)},
		Policy: handrail.Policy{Deny: []string{"hidden"}},
	}, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
	if got := list(t, client); got != "apple zebra" {
		t.Errorf("list %q", got)
	}
	if err := session.Add(ok("middle", tool.Read)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(5 * time.Second):
		t.Fatal("the client was not told of the change")
	}
	session.Remove("zebra")
	if got := list(t, client); got != "apple middle" {
		t.Errorf("list %q", got)
	}
}

func TestAnnotationsFollowEffects(t *testing.T) {
	_, client := connect(t, handrail.Options{Tools: []tool.Tool{ok("reads", tool.Read), ok("writes", tool.Read|tool.Write), ok("undeclared", 0), ok("fetches", tool.Network)}}, nil)
	r, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][3]bool{ // read-only, destructive, open world
		"reads": {true, true, false}, "writes": {false, true, false}, "undeclared": {false, true, true}, "fetches": {true, true, true},
	}
	for _, tl := range r.Tools {
		a := tl.Annotations
		got := [3]bool{a.ReadOnlyHint, a.DestructiveHint == nil || *a.DestructiveHint, a.OpenWorldHint == nil || *a.OpenWorldHint}
		if got != want[tl.Name] {
			t.Errorf("%s: %v, want %v", tl.Name, got, want[tl.Name])
		}
	}
}

func call(t *testing.T, client *mcp.ClientSession, name string, args any) *mcp.CallToolResult {
	t.Helper()
	r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestResultsOnTheWire(t *testing.T) {
	typed := tool.Typed[nothing]{
		Spec: tool.Spec{Name: "typed", Description: "Returns a value.", Effects: tool.Pure, Output: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
		Handle: func(context.Context, *tool.Call, nothing) (*tool.Result, error) {
			return &tool.Result{OK: true, Text: `{"n":9007199254740993}`, Structured: []byte(`{"n":9007199254740993}`), Metadata: map[string]any{"secret": "for the host"}}, nil
		},
	}.Tool()
	aliased := tool.Typed[nothing]{
		Spec:   tool.Spec{Name: "named", Aliases: []string{"other_name"}, Description: "Has an alias.", Effects: tool.Pure},
		Handle: func(context.Context, *tool.Call, nothing) (*tool.Result, error) { return tool.Text("named"), nil },
	}.Tool()
	_, client := connect(t, handrail.Options{Tools: []tool.Tool{typed, aliased, ok("writes", tool.Write)}}, nil)

	if r := call(t, client, "typed", nil); r.IsError || r.StructuredContent == nil || r.Content[0].(*mcp.TextContent).Text != `{"n":9007199254740993}` {
		t.Errorf("typed: %+v", r)
	}
	if r := call(t, client, "other_name", nil); r.IsError || r.Content[0].(*mcp.TextContent).Text != "named" {
		t.Errorf("alias: %+v", r)
	}
	if r := call(t, client, "writes", nil); !r.IsError || r.Meta["handrail/code"] != "approval_required" {
		t.Errorf("refused: %+v", r)
	}
	if r := call(t, client, "typed", map[string]any{"x": 1}); !r.IsError || r.Meta["handrail/code"] != "invalid_input" {
		t.Errorf("invalid: %+v", r)
	}
	_, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "tipped"})
	var wireErr *jsonrpc.Error
	if !errors.As(err, &wireErr) || wireErr.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wireErr.Message, "typed") {
		t.Errorf("unknown tool: %v", err)
	}
}

func TestCancellationStopsTheWork(t *testing.T) {
	started, stopped := make(chan struct{}), make(chan struct{})
	slow := tool.Func("slow", "Waits.", tool.Pure, func(ctx context.Context, _ nothing) (string, error) {
		close(started)
		<-ctx.Done()
		close(stopped)
		return "", ctx.Err()
	})
	_, client := connect(t, handrail.Options{Tools: []tool.Tool{slow}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "slow"}); err == nil {
		t.Error("a cancelled call gives no error")
	}
	select {
	case <-stopped:
	case <-time.After(5 * time.Second):
		t.Fatal("the work goes on after it was cancelled")
	}
}

func TestProgress(t *testing.T) {
	steps := tool.Typed[nothing]{
		Spec: tool.Spec{Name: "steps", Description: "Reports.", Effects: tool.Pure},
		Handle: func(_ context.Context, c *tool.Call, _ nothing) (*tool.Result, error) {
			for _, done := range []float64{1, 1, 2, 3} { // the second is no progress
				c.Progress(tool.Progress{Message: "step", Done: done, Total: 3})
			}
			return tool.Text("ok"), nil
		},
	}.Tool()
	var mu sync.Mutex
	var seen []float64
	_, client := connect(t, handrail.Options{Tools: []tool.Tool{steps}}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, r.Params.Progress)
		},
	})
	params := &mcp.CallToolParams{Name: "steps"}
	params.SetProgressToken("token")
	if _, err := client.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	// Notifications are handled beside the answer, so they may come later.
	deadline := time.Now().Add(5 * time.Second)
	for {
		mu.Lock()
		n := len(seen)
		mu.Unlock()
		if n == 3 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("reports %v", seen)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestAnswersBeforeTheEnd: a script that writes its requests and closes its
// side gets every answer.
func TestAnswersBeforeTheEnd(t *testing.T) {
	slow := tool.Func("slow", "Takes a moment.", tool.Pure, func(context.Context, nothing) (string, error) {
		time.Sleep(100 * time.Millisecond)
		return "took a moment", nil
	})
	session, err := handrail.Open(t.Context(), handrail.Options{NoBuiltins: true, Tools: []tool.Tool{slow}})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	server, err := New(session, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{}}}
`)
	var out strings.Builder
	if err := server.ServeStdio(t.Context(), io.NopCloser(in), writeCloser{&out}); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, `"result"`) != 2 || !strings.Contains(got, "took a moment") {
		t.Errorf("answers: %s", got)
	}
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

// TestCallsKeepTheOrderOfTheWire: a read that follows a write on the wire
// sees the write, although the SDK handles them beside each other.
func TestCallsKeepTheOrderOfTheWire(t *testing.T) {
	var written atomic.Int64
	type number struct {
		N int64 `json:"n" jsonschema:"a number"`
	}
	write := tool.Func("write", "Writes.", tool.Pure, func(_ context.Context, in number) (string, error) {
		written.Store(in.N)
		return "written", nil
	})
	read := tool.Typed[number]{
		Spec: tool.Spec{Name: "read", Description: "Reads.", Effects: tool.Pure, Concurrency: tool.Safe},
		Handle: func(_ context.Context, _ *tool.Call, in number) (*tool.Result, error) {
			if got := written.Load(); got != in.N {
				return nil, tool.Failf("read %d, want %d", got, in.N)
			}
			return tool.Text("as written"), nil
		},
	}.Tool()
	session, err := handrail.Open(t.Context(), handrail.Options{NoBuiltins: true, Tools: []tool.Tool{write, read}})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	server, err := New(session, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`)
	const pairs = 300
	for i := 1; i <= pairs; i++ {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"write","arguments":{"n":%d}}}
{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"n":%d}}}
`, 2*i-1, i, 2*i, i)
	}
	var out strings.Builder
	if err := server.ServeStdio(t.Context(), io.NopCloser(strings.NewReader(in.String())), writeCloser{&out}); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "as written"); n != pairs {
		t.Errorf("%d of %d reads saw the write before them", n, pairs)
	}
}
