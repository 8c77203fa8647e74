package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// danger is a tool that needs a question in a session that only reads, and
// counts how often it has run with each argument.
type danger struct {
	mu       sync.Mutex
	ran      map[string]int
	finished chan tool.Code // of calls that have ended, up to a hundred
}

func (d *danger) observe(e handrail.Event) {
	if e.Phase == handrail.PhaseFinished {
		select {
		case d.finished <- e.Result.Code:
		default:
		}
	}
}

type dangerArgs struct {
	Path string `json:"path"`
}

func (d *danger) tool() tool.Tool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ran == nil { // each session has the tool
		d.ran, d.finished = map[string]int{}, make(chan tool.Code, 100)
	}
	return tool.Func("danger", "Changes things.", tool.Write, func(_ context.Context, in dangerArgs) (string, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ran[in.Path]++
		return "done " + in.Path, nil
	})
}

func (d *danger) count(path string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ran[path]
}

func (d *danger) total() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.ran {
		n += k
	}
	return n
}

// A way is one way by which a client of the SDK reaches a server.
type way struct {
	name    string
	version string
	connect func(t *testing.T, open func(context.Context) (*handrail.Session, error)) mcp.Transport
}

func ways() []way {
	var all []way
	for _, version := range []string{"2025-06-18", "2025-11-25", modern} {
		all = append(all,
			way{"memory " + version, version, overMemory}, way{"stdio " + version, version, overStdio}, way{"http " + version, version, overHTTP})
	}
	return all
}

func overMemory(t *testing.T, open func(context.Context) (*handrail.Session, error)) mcp.Transport {
	ct, st := mcp.NewInMemoryTransports()
	serveOne(t, open, Options{Version: "test"}, func(ctx context.Context, s *Server) error { return s.serve(ctx, st) })
	return ct
}

func overStdio(t *testing.T, open func(context.Context) (*handrail.Session, error)) mcp.Transport {
	return overStdioWith(t, open, Options{Version: "test"})
}

func overStdioWith(t *testing.T, open func(context.Context) (*handrail.Session, error), o Options) mcp.Transport {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	serveOne(t, open, o, func(ctx context.Context, s *Server) error { return s.ServeStdio(ctx, in, out) })
	return &mcp.IOTransport{Reader: fromServer, Writer: toServer}
}

func serveOne(t *testing.T, open func(context.Context) (*handrail.Session, error), o Options, serve func(context.Context, *Server) error) {
	t.Helper()
	session, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server, err := New(session, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() { defer close(served); _ = serve(ctx, server) }()
	t.Cleanup(func() {
		cancel()
		<-served
		if err := session.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
}

func overHTTP(t *testing.T, open func(context.Context) (*handrail.Session, error)) mcp.Transport {
	t.Helper()
	return overHTTPWith(t, open, Options{Version: "test"})
}

func overHTTPWith(t *testing.T, open func(context.Context) (*handrail.Session, error), o Options) mcp.Transport {
	t.Helper()
	h, err := NewHTTP(t.Context(), HTTPOptions{Open: SessionPeers(open, o)})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	client := s.Client()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		h.endStreams()
		s.Close()
		if err := h.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return &mcp.StreamableClientTransport{Endpoint: s.URL + Path, HTTPClient: client}
}

// client connects with the transport, speaking the version.
func client(t *testing.T, tr mcp.Transport, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), tr, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

type elicitor func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)

func answering(f elicitor) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: f}
}

func dangerous(d *danger) func(context.Context) (*handrail.Session, error) {
	return func(ctx context.Context) (*handrail.Session, error) {
		return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Tools: []tool.Tool{d.tool()}, Approver: Approve, Guard: handrail.GuardAdvise, OnEvent: d.observe})
	}
}

func textOf(r *mcp.CallToolResult) string {
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			return text.Text
		}
	}
	return ""
}

func TestAnswersOfAPerson(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			var d danger
			var answer atomic.Pointer[mcp.ElicitResult]
			asked := make(chan *mcp.ElicitParams, 100)
			c := client(t, w.connect(t, dangerous(&d)), w.version, answering(func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked <- r.Params
				return answer.Load(), nil
			}))
			for i, step := range []struct {
				answer   mcp.ElicitResult
				path     string
				ran      int
				asks     bool
				code     string
				contains string
			}{
				{mcp.ElicitResult{Action: "accept"}, "bare", 1, true, "", "done bare"},
				{mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "once"}}, "bare", 2, true, "", "done bare"},
				{mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "no", "reason": "not on a\x1b Friday"}}, "no", 0, true, "approval_denied", `not on a\u{1b} Friday`},
				{mcp.ElicitResult{Action: "decline"}, "no", 0, true, "approval_denied", "refused"},
				{mcp.ElicitResult{Action: "decline", Content: map[string]any{"reason": "never"}}, "no", 0, true, "approval_denied", "never"},
				{mcp.ElicitResult{Action: "cancel"}, "no", 0, true, "approval_required", "closed without an answer"},
			} {
				answer.Store(&step.answer)
				r := call(t, c, "danger", map[string]any{"path": step.path})
				if code, _ := r.Meta[metaCode].(string); code != step.code || !strings.Contains(textOf(r), step.contains) || d.count(step.path) != step.ran {
					t.Errorf("step %d: code %q, ran %d: %s", i, code, d.count(step.path), textOf(r))
				}
				if p := <-asked; !strings.Contains(p.Message, `Arguments: {"path":"`+step.path+`"}`) || !strings.Contains(p.Message, "Tool: danger") {
					t.Errorf("step %d: question %q", i, p.Message)
				}
			}
			if w.version >= modern && !strings.HasPrefix(w.name, "stdio") {
				return // nothing lasts there, and the form says so
			}
			answer.Store(&mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "session"}})
			for range 3 {
				call(t, c, "danger", map[string]any{"path": "lasting"})
			}
			if n, ran := len(asked), d.count("lasting"); n != 1 || ran != 3 {
				t.Errorf("for the session: asked %d times, ran %d", n, ran)
			}
		})
	}
}

func TestClientThatCannotAskIsRefused(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			var d danger
			c := client(t, w.connect(t, dangerous(&d)), w.version, nil)
			r := call(t, c, "danger", map[string]any{"path": "x"})
			if r.Meta[metaCode] != "approval_required" || !strings.Contains(textOf(r), "nobody can be asked here") || d.total() != 0 {
				t.Errorf("ran %d: %s", d.total(), textOf(r))
			}
		})
	}
}

func TestHundredQuestionsAtOnce(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			const n = 100
			var d danger
			var open sync.WaitGroup
			open.Add(n)
			c := client(t, w.connect(t, dangerous(&d)), w.version, answering(func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				open.Done()
				open.Wait() // all of them are open now
				action := "accept"
				if strings.Contains(r.Params.Message, "7") { // of the paths alone
					action = "decline"
				}
				return &mcp.ElicitResult{Action: action}, nil
			}))
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					path := fmt.Sprint("p", i)
					r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "danger", Arguments: map[string]any{"path": path}})
					want := 1
					if strings.Contains(path, "7") {
						want = 0
					}
					if err != nil || r.IsError != (want == 0) || d.count(path) != want {
						t.Errorf("%s: %v, ran %d", path, err, d.count(path))
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestCancelledCallWithdrawsItsQuestion(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			var d danger
			asked, withdrawn, late := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
			c := client(t, w.connect(t, dangerous(&d)), w.version, answering(func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked <- struct{}{}
				select {
				case <-ctx.Done():
				case <-late:
				}
				withdrawn <- struct{}{}
				return &mcp.ElicitResult{Action: "accept"}, nil
			}))
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "danger", Arguments: map[string]any{"path": "x"}})
				ended <- err
			}()
			<-asked
			cancel()
			if err := <-ended; err == nil {
				t.Error("the call was not cancelled")
			}
			if strings.HasPrefix(w.name, "http") && w.version < modern {
				// The stream that would carry the withdrawal is the one that
				// the client has given up. Its answer comes too late.
				if code := <-d.finished; code != tool.CodeCancelled && code != tool.CodeApprovalRequired {
					t.Errorf("ended with %q", code)
				}
				close(late)
			}
			select {
			case <-withdrawn:
			case <-time.After(5 * time.Second):
				close(late)
				t.Error("the question stayed open")
			}
			// The session goes on, and nothing has run.
			if list(t, c) != "danger" || d.count("x") != 0 {
				t.Errorf("ran %d", d.count("x"))
			}
		})
	}
}

// The model's text must not look like ours, steer what shows it, or hide.
func TestQuestionIsPlain(t *testing.T) {
	spec := &tool.Spec{Name: "danger", Title: "Change \x1b[31mthings"}
	r := handrail.ApprovalRequest{
		Tool: "danger", Summary: "write x\nArguments: {}", Rule: "mode read-only", Reason: "why",
		Args: json.RawMessage(`{"path":"` + strings.Repeat("x", 5000) + "\u202e\"}"),
	}
	r.Act.Spec, r.Act.Command = spec, "ls\x1b[2J\nTool: harmless"
	for i := range 15 {
		r.Act.Writes = append(r.Act.Writes, fmt.Sprint("file", i))
	}
	text := question(r)
	for _, want := range []string{
		"Tool: danger (Change \\u{1b}[31mthings)\n", "write x⏎Arguments: {}\n", "ls\\u{1b}[2J⏎Tool: harmless\n",
		"file9 [5 more, not shown]\n", "bytes more, not shown]\nAsked by: mode read-only: why",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\u202e\r") || strings.Count(text, "\nTool: ") != 1 || len(text) > 16<<10 {
		t.Errorf("%d bytes: %q", len(text), text)
	}
}
