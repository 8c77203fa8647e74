package handrail_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/handrail-tools/handrail"
	serve "github.com/handrail-tools/handrail/internal/serve/mcp"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// Nothing that a session starts may outlive it.
func TestMain(m *testing.M) {
	caches, err := os.MkdirTemp("", "handrail-caches-")
	if err == nil {
		err = os.Setenv("XDG_CACHE_HOME", caches) // commands of tests leave nothing in the person's own
	}
	if err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(caches)
		os.Exit(code)
	}))
}

// anyArgs is the schema of a tool that takes one number and one text.
const anyArgs = `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},"additionalProperties":false}`

// fake is a tool whose behaviour a test writes down.
type fake struct {
	spec   tool.Spec
	run    func(ctx context.Context, c *tool.Call) (*tool.Result, error)
	assess func(c *tool.Call) (tool.Act, error)
}

func (f fake) Spec() tool.Spec {
	if f.spec.Description == "" {
		f.spec.Description = "A tool for tests."
	}
	if f.spec.Input == nil {
		f.spec.Input = json.RawMessage(anyArgs)
	}
	return f.spec
}

func (f fake) Run(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	if f.run == nil {
		return tool.Text("ran " + c.Tool), nil
	}
	return f.run(ctx, c)
}

func (f fake) Assess(_ context.Context, c *tool.Call) (tool.Act, error) {
	if f.assess == nil {
		return tool.Act{}, nil
	}
	return f.assess(c)
}

// named is a tool of that name and those effects.
func named(name string, effects tool.Effects) fake {
	return fake{spec: tool.Spec{Name: name, Effects: effects}}
}

// tb is what helpers need of a test or of a property.
type tb interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
	Cleanup(func())
}

// open opens a session and closes it with the test.
func open(t tb, o handrail.Options) *handrail.Session {
	t.Helper()
	s, err := handrail.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the session: %v", err)
		}
	})
	return s
}

func child(t tb, s *handrail.Session, o handrail.ChildOptions) *handrail.Session {
	t.Helper()
	c, err := s.Child(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run makes one call.
func run(s *handrail.Session, name, args string) *tool.Result {
	return s.Run(context.Background(), handrail.Call{Tool: name, Args: json.RawMessage(args)})[0]
}

// tree makes a folder with these files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// content reads a file back; "" stands for none.
func content(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

func names(s *handrail.Session) []string {
	var all []string
	for _, spec := range s.Specs() {
		all = append(all, spec.Name)
	}
	return all
}

// dial connects an MCP client to the session over a pair of pipes.
func dial(t tb, s *handrail.Session) *mcp.ClientSession {
	t.Helper()
	return dialAs(t, s, nil)
}

// dialAs is dial with a certain revision of the protocol.
func dialAs(t tb, s *handrail.Session, o *mcp.ClientSessionOptions) *mcp.ClientSession {
	t.Helper()
	server, err := serve.New(s, serve.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.ServeStdio(ctx, fromClient, toClient) // ends with the pipe
	}()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(ctx, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close() // the pipe may be gone already
		cancel()
		<-served
	})
	return client
}

// callMCP makes one call and gives its code, "" for a success, and its text.
func callMCP(c *mcp.ClientSession, name, args string) (code, text string) {
	r, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		return string(tool.CodeUnknownTool), err.Error()
	}
	for _, part := range r.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	if code, ok := r.Meta["handrail/code"].(string); ok {
		return code, text
	}
	return "", text
}
