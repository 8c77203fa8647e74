package handrail_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// TestF085_ACeilingAndOnesOwnLimits: what is set for the session that a person
// opens is the ceiling of all its descendants; what narrows one child is its
// own and that of its children. A narrow coordinator with capable workers is
// the coordinator and the workers as children of one session.
func TestF085_ACeilingAndOnesOwnLimits(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "a\n", "migrations/1.sql": "x\n"})
	top := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite, Deny: []string{"edit_file(migrations/**)"}}, Tools: []tool.Tool{named("delegate", tool.Delegate)}})
	coordinator := child(t, top, handrail.ChildOptions{Name: "coordinator", Policy: handrail.Policy{Allow: []string{"delegate", "read_file"}}})
	worker := child(t, top, handrail.ChildOptions{Name: "worker"})
	own := child(t, coordinator, handrail.ChildOptions{Name: "worker of the coordinator", Policy: handrail.Policy{Allow: []string{"edit_file"}}})
	for _, c := range []struct {
		who        string
		s          *handrail.Session
		path, want string
	}{
		{"the coordinator", coordinator, "a.txt", "denied"}, {"a worker", worker, "a.txt", "let through"},
		{"a worker above the ceiling", worker, "migrations/1.sql", "denied"}, {"the coordinator's own worker", own, "a.txt", "denied"},
	} {
		r := order(t, c.s, "write_file", obj{"path": c.path, "content": c.who})
		if got := verdictOf(r.Code); got != c.want {
			t.Errorf("%s is %s: %s", c.who, got, r.Text)
		}
	}
	if got := names(own); len(got) != 0 {
		t.Errorf("more than its parent sees: %q", got)
	}
}

// callsOfEveryTool are arguments with which each built-in tool gets past its
// decoding and its assessment.
func callsOfEveryTool(session any, change string) map[string]obj {
	return map[string]obj{
		"activate_tools": {}, "apply_patch": {"patch": "*** Begin Patch\n*** Add File: n.txt\n+x\n*** End Patch"}, "check": {},
		"delete_file": {"path": "a.txt"}, "diff_edit": {"path": "a.txt", "diff": "@@ -1 +1 @@\n-a\n+b\n"},
		"edit_file": {"path": "a.txt", "old_string": "a", "new_string": "b"}, "exec_command": {"cmd": "touch ran"},
		"glob": {"pattern": "*"}, "grep": {"pattern": "a"}, "list_dir": {}, "make_dir": {"path": "made"},
		"move_file": {"source": "a.txt", "destination": "b.txt"}, "notebook_edit": {"path": "n.ipynb", "cell": "1", "mode": "delete"},
		"read_file": {"path": "a.txt"}, "recall": {"id": "c_none"}, "run_code": {"language": "sh", "code": "touch ran"}, "shell": {"command": "touch ran"},
		"sleep": {"seconds": 1}, "tool_search": {"query": "files"}, "tool_suggest": {"task": "read a file"}, "undo": {}, "stranger": {},
		"update_plan": {"plan": []obj{{"step": "x", "status": "pending"}}}, "view_image": {"path": "a.txt"}, "workspace_diff": {}, "workspace_log": {},
		"workspace_show": {"id": change}, "write_file": {"path": "w.txt", "content": "x"}, "write_stdin": {"session_id": session, "chars": "x\n"},
	}
}

// TestF092_NoToolRunsBesideTheHooks: a hook on everything sees, and may
// refuse, every tool that there is: alone, in a batch, in a child session,
// from an MCP client, and by a stranger's name.
func TestF092_NoToolRunsBesideTheHooks(t *testing.T) {
	const notebook = `{"cells":[{"cell_type":"markdown","metadata":{},"source":["x"]}],"metadata":{},"nbformat":4,"nbformat_minor":4}`
	dir := tree(t, map[string]string{"a.txt": "a\n", "n.ipynb": notebook, "go.mod": "module x\n"})
	var armed atomic.Bool
	var mu sync.Mutex
	var seen []string
	var finished atomic.Int32
	s := open(t, handrail.Options{
		Workspace: dir, StateDir: t.TempDir(), Guard: handrail.GuardOff, Permission: handrail.Permission{Mode: handrail.FullAccess}, Tools: []tool.Tool{named("stranger", tool.Network)},
		OnEvent: func(e handrail.Event) {
			if e.Phase == handrail.PhaseFinished {
				finished.Add(1)
			}
		},
		Hooks: []handrail.Hook{{Event: handrail.PreToolUse, Matcher: "*", Func: func(_ context.Context, in handrail.HookInput) (handrail.HookAnswer, error) {
			if !armed.Load() {
				return handrail.HookAnswer{}, nil
			}
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, in.Tool)
			return handrail.HookAnswer{Verdict: handrail.HookDeny, Reason: "nothing runs here"}, nil
		}}},
	})
	kid := child(t, s, handrail.ChildOptions{})
	begun := func(in *handrail.Session) map[string]obj {
		order(t, in, "write_file", obj{"path": "made by " + in.ID(), "content": "x"})
		changes := regexp.MustCompile("c_[a-z0-9]{12}").FindAllString(order(t, in, "workspace_log", obj{}).Text, 1)
		if changes == nil {
			t.Fatal("no change is listed")
		}
		return callsOfEveryTool(order(t, in, "exec_command", obj{"cmd": "cat", "stdin": true, "yield_time_ms": 1}).Metadata["session_id"], changes[0])
	}
	of, ofKid := begun(s), begun(kid)
	armed.Store(true)
	finished.Store(0)
	var every []string
	var batch []handrail.Call
	client := dial(t, s)
	for _, name := range names(s) {
		args, ok := of[name]
		if !ok {
			t.Fatalf("add a call of %s to callsOfEveryTool", name)
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		every = append(every, name)
		batch = append(batch, handrail.Call{Tool: name, Args: raw})
		refused := func(by, text string) {
			if !strings.Contains(text, "nothing runs here") {
				t.Errorf("%s, %s: %s", name, by, text)
			}
		}
		refused("alone", order(t, s, name, args).Text)
		refused("in a child", order(t, kid, name, ofKid[name]).Text)
		_, text := callMCP(client, name, string(raw))
		refused("over MCP", text)
	}
	for i, r := range s.Run(t.Context(), batch...) {
		// What follows a refusal that could have changed something is not begun.
		if i == 0 && !strings.Contains(r.Text, "nothing runs here") || r.OK {
			t.Errorf("%s in a batch: %s", batch[i].Tool, r.Text)
		}
	}
	mu.Lock() // a hook may still be at a call that was given up
	defer mu.Unlock()
	for _, name := range every {
		if n := len(slices.DeleteFunc(slices.Clone(seen), func(s string) bool { return s != name })); n < 3 {
			t.Errorf("%s was shown %d times", name, n)
		}
	}
	if got := int(finished.Load()); got != 4*len(every) {
		t.Errorf("%d calls of %d are recorded", got, 4*len(every))
	}
	if content(t, dir, "ran") != "" || content(t, dir, "w.txt") != "" || content(t, dir, "a.txt") != "a\n" {
		t.Error("something ran")
	}
}

// TestF099_OneFolderWhateverACallNames: no argument of a call moves a tool out
// of the session's folder, and a session without a folder has no files.
func TestF099_OneFolderWhateverACallNames(t *testing.T) {
	other := tree(t, map[string]string{"x.txt": "other\n"})
	s := open(t, handrail.Options{Workspace: tree(t, map[string]string{"a.txt": "a\n"}), Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}})
	for name, args := range map[string]obj{
		"read_file": {"path": other + "/x.txt"}, "list_dir": {"path": other}, "glob": {"pattern": "*", "path": other}, "grep": {"pattern": "o", "path": other},
		"write_file": {"path": filepath.Join(other, "new"), "content": "x"}, "workspace_log": {"path": other + "/x.txt"}, "workspace_diff": {"path": other + "/x.txt"},
		"shell": {"command": "true", "workdir": other}, "exec_command": {"cmd": "true", "workdir": other}, "check": {"path": other},
		"move_file": {"source": "a.txt", "destination": other + "/a.txt"}, "delete_file": {"path": other + "/x.txt"}, "make_dir": {"path": other + "/d"}, "view_image": {"path": other + "/x.txt"},
	} {
		if r := order(t, s, name, args); r.OK || strings.Contains(r.Text, "other\n") {
			t.Errorf("%s %v: %s", name, args, r.Text)
		}
	}
	if content(t, other, "x.txt") != "other\n" || content(t, other, "a.txt")+content(t, other, "new") != "" {
		t.Error("the other folder was changed")
	}
	bare := open(t, handrail.Options{Permission: handrail.Permission{Mode: handrail.FullAccess}})
	for _, name := range []string{"read_file", "shell", "write_file", "workspace_log"} {
		if r := order(t, bare, name, obj{"path": other + "/x.txt", "command": "ls " + other}); r.OK {
			t.Errorf("%s without a folder: %s", name, r.Text)
		}
	}
}
