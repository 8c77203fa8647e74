package handrail_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// commands opens a session whose commands run in a fence.
func commands(t *testing.T, o handrail.Options) *handrail.Session {
	t.Helper()
	if o.Workspace == "" {
		o.Workspace = t.TempDir()
	}
	if o.Permission.Mode == "" {
		o.Permission.Mode = handrail.WorkspaceWrite
	}
	s, err := handrail.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func order(t *testing.T, s *handrail.Session, name string, args any) *tool.Result {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return s.Run(context.Background(), handrail.Call{Tool: name, Args: raw})[0]
}

type obj = map[string]any

func TestShellInTheFence(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	s := commands(t, handrail.Options{})
	r := order(t, s, "shell", obj{"command": "echo hello > in.txt; echo x > " + outside + "; cat in.txt; pwd; id -u; ls /proc | grep -c '^[0-9]'"})
	t.Log(r.Text, r.Metadata)
	if _, err := os.Stat(outside); err == nil {
		t.Error("a command wrote outside of the workspace")
	}
	if len(r.Changed) != 1 || r.Changed[0] != "in.txt" {
		t.Errorf("changed %v", r.Changed)
	}
	r = order(t, s, "undo", obj{})
	t.Log(r.Text)
	r = order(t, s, "shell", obj{"command": "ls -A; sleep 50 & echo bg"})
	t.Log(r.Text)
	if strings.Contains(r.Text, "in.txt") {
		t.Error("the change was not undone")
	}
	r = order(t, s, "exec_command", obj{"cmd": "python3 -q", "tty": true, "yield_time_ms": 1500})
	t.Log(r.Text)
	id := r.Metadata["session_id"]
	r = order(t, s, "write_stdin", obj{"session_id": id, "chars": "6*7\n"})
	t.Log(r.Text)
	r = order(t, s, "write_stdin", obj{"session_id": id, "chars": "exit(3)\n"})
	t.Log(r.Text)
	r = order(t, s, "run_code", obj{"language": "python", "code": "x=5\nx*2"})
	t.Log(r.Text)
	r = order(t, s, "run_code", obj{"language": "python", "code": "x+1"})
	t.Log(r.Text)
	r = order(t, s, "run_code", obj{"language": "node", "code": "let y = 5; y*3"})
	t.Log(r.Text)
	r = order(t, s, "run_code", obj{"language": "sh", "code": "z=7; echo $z"})
	t.Log(r.Text)
	r = order(t, s, "run_code", obj{"language": "sh", "code": "echo $((z+1)); false"})
	t.Log(r.Text)
	r = order(t, s, "check", obj{})
	t.Log(r.Text)
}
