//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mcpProcess is the server as a client starts it.
type mcpProcess struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *os.File // our end of its standard output
	err   strings.Builder
	ended chan error
}

func startMCP(t *testing.T, program string) *mcpProcess {
	t.Helper()
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &mcpProcess{cmd: exec.Command(program, "mcp", "--workspace", t.TempDir()), out: out, ended: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	p.cmd.Stdout, p.cmd.Stderr = theirs, &p.err
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = out.Close()
	})
	p.say(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
		t.Fatalf("initialize: %q, %v", line, err)
	}
	p.say(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *mcpProcess) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// end waits until the server has ended by itself.
func (p *mcpProcess) end(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		if code := p.cmd.ProcessState.ExitCode(); code < 0 {
			t.Errorf("it ends without having closed anything: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

// TestMCPEndsWithItsClient: whatever way a client goes, the server closes
// what it has open and ends.
func TestMCPEndsWithItsClient(t *testing.T) {
	program := buildProgram(t)
	const list = `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`
	t.Run("F156 it closes its side", func(t *testing.T) {
		p := startMCP(t, program)
		_ = p.in.Close()
		p.end(t)
		if rest, _ := io.ReadAll(p.out); len(rest) > 0 || p.err.String() != "" || !p.cmd.ProcessState.Success() {
			t.Errorf("%v, stdout %q, stderr %q", p.cmd.ProcessState, rest, p.err.String())
		}
	})
	t.Run("it no longer listens", func(t *testing.T) {
		p := startMCP(t, program)
		_ = p.out.Close()
		p.say(t, list) // the answer finds nobody
		p.end(t)
	})
	t.Run("it listens to nothing and the server is told to stop", func(t *testing.T) {
		p := startMCP(t, program)
		for i := range 50 { // more than a pipe holds
			p.say(t, strings.Replace(list, `"list"`, `"list`+strings.Repeat("x", i)+`"`, 1))
		}
		time.Sleep(200 * time.Millisecond)
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		p.end(t)
	})
}
