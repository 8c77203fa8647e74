//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestCommandsHaveNoneOfTheProtocol: a command that reads its input and looks
// for open files finds neither the client's messages nor the way to it.
func TestCommandsHaveNoneOfTheProtocol(t *testing.T) {
	t.Run("F155 a command does not eat the next request", func(t *testing.T) {
		p := startMCP(t, buildProgram(t))
		if err := p.out.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(p.out)
		p.say(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"shell","arguments":{"command":"cat; for f in /proc/$$/fd/*; do readlink $f; done; cat /proc/$$/fd/0"}}}`)
		p.say(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_dir","arguments":{"path":"."}}}`)
		for range 2 { // both only look, so they run beside each other
			line, err := lines.ReadString('\n')
			var answer struct {
				ID     int
				Result struct {
					IsError bool
					Content []struct{ Text string }
				}
			}
			if err != nil || json.Unmarshal([]byte(line), &answer) != nil || answer.Result.IsError || len(answer.Result.Content) != 1 {
				t.Fatalf("%.500s, %v\n%s", line, err, p.err.String())
			}
			text := answer.Result.Content[0].Text
			if answer.ID == 2 && (!strings.Contains(text, "/dev/null") || strings.Contains(text, "jsonrpc") || strings.Contains(text, "socket:")) {
				t.Errorf("the command has open:\n%s", text)
			}
		}
	})
}
