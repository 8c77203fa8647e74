package main

import (
	"bufio"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestProgramAsksItsClient speaks to the program itself, over stdio and
// HTTP, with clients of both eras: the root that a client names is the
// workspace where the operator allows it, and what needs a person is asked
// of the client.
func TestProgramAsksItsClient(t *testing.T) {
	program := buildProgram(t)
	top := t.TempDir()
	for _, dir := range []string{"in/one", "out"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, dir, "name.txt"), []byte("this is "+dir+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	start := func(t *testing.T, way string, args ...string) mcp.Transport {
		cmd := exec.Command(program, append([]string{"mcp", "--mode", "read-only"}, args...)...)
		cmd.Env, cmd.Dir = env, filepath.Join(top, "out")
		if way == "stdio" {
			return &mcp.CommandTransport{Command: cmd, TerminateDuration: 5 * time.Second}
		}
		cmd.Args = append(cmd.Args, "--http", "127.0.0.1:0")
		return &mcp.StreamableClientTransport{Endpoint: serveProgram(t, cmd)}
	}
	for _, way := range []string{"stdio", "http"} {
		for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
			t.Run(way+" "+version, func(t *testing.T) {
				var action atomic.Value
				connect := func(root string, args ...string) *mcp.ClientSession {
					c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
						ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
							return &mcp.ElicitResult{Action: action.Load().(string)}, nil
						},
					})
					c.AddRoots(&mcp.Root{URI: (&url.URL{Scheme: "file", Path: filepath.Join(top, root)}).String()})
					s, err := c.Connect(t.Context(), start(t, way, args...), &mcp.ClientSessionOptions{ProtocolVersion: version})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = s.Close() })
					return s
				}
				do := func(s *mcp.ClientSession, name string, args map[string]any) string {
					r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
					if err != nil {
						return err.Error()
					}
					text, _ := r.Content[0].(*mcp.TextContent)
					return text.Text
				}
				read := map[string]any{"path": "name.txt"}
				write := map[string]any{"path": strings.ReplaceAll(way+version, "-", "") + ".txt", "content": "new\n"}
				made := filepath.Join(top, "in/one", write["path"].(string))

				flags := []string{"--allow-root", filepath.Join(top, "in")}
				if version == "2026-07-28" { // names no roots
					if text := do(connect("in/one", flags...), "read_file", read); !strings.Contains(text, "not asked for its roots") {
						t.Error(text)
					}
					flags = []string{"-w", filepath.Join(top, "in/one")}
				} else if text := do(connect("out", flags...), "read_file", read); !strings.Contains(text, "does not lie in a folder") {
					t.Error(text)
				}
				s := connect("in/one", flags...)
				if text := do(s, "read_file", read); !strings.Contains(text, "this is in/one") {
					t.Error(text)
				}
				action.Store("decline")
				if text := do(s, "write_file", write); !strings.Contains(text, "a person refused") {
					t.Error(text)
				}
				if _, err := os.Stat(made); err == nil {
					t.Error("written although it was refused")
				}
				action.Store("accept")
				if text := do(s, "write_file", write); !strings.Contains(text, write["path"].(string)) {
					t.Error(text)
				}
				if _, err := os.Stat(made); err != nil {
					t.Error(err)
				}
				never := connect("in/one", append(flags, "--approval", "never")...)
				if text := do(never, "write_file", write); !strings.Contains(text, "nobody is asked") {
					t.Error(text)
				}
			})
		}
	}
}

// serveProgram starts the program and returns the address that it says it
// serves at.
func serveProgram(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	says, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(says)
	line, err := lines.ReadString('\n')
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		for err == nil {
			_, err = lines.ReadString('\n')
		}
		_ = cmd.Wait() // told to stop, it may say so by its code
	})
	address := regexp.MustCompile(`http://\S+`).FindString(line)
	if err != nil || address == "" {
		t.Fatalf("%q %v", line, err)
	}
	return address
}
