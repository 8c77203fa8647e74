package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// lines counts the lines of a file of the workspace.
func lines(t *testing.T, r *Runner, name string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.base.Root, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

// TestShow: a call is shown as Claude Code's tools would have made it, and a
// hook that guards one way to do a thing is shown all of them.
func TestShow(t *testing.T) {
	for _, c := range []struct {
		name    string
		in      Input
		matcher string
		want    []string // name and input of each view; nil: not matched
	}{
		{"read", Input{Tool: "read_file", Args: json.RawMessage(`{"path":"a/../b.go","start_line":3}`), Reads: []string{"/w/b.go"}}, "Read",
			[]string{`Read {"file_path":"/w/b.go","offset":3}`}},
		{"read, by our own name", Input{Tool: "read_file", Args: json.RawMessage(`{"path":"b.go"}`), Reads: []string{"/w/b.go"}}, "read_file",
			[]string{`read_file {"path":"b.go"}`}},
		{"read of several", Input{Tool: "read_file", Args: json.RawMessage(`{"paths":["a","b"]}`), Reads: []string{"/w/a", "/w/b"}}, "Read",
			[]string{`Read {"paths":["a","b"],"file_path":"/w/a"}`, `Read {"paths":["a","b"],"file_path":"/w/b"}`}},
		{"edit", Input{Tool: "edit_file", Args: json.RawMessage(`{"path":"a","old_string":"x","new_string":"y"}`), Writes: []string{"/w/a"}}, "Edit|Write",
			[]string{`Edit {"file_path":"/w/a","old_string":"x","new_string":"y"}`}},
		{"several edits", Input{Tool: "edit_file", Args: json.RawMessage(`{"path":"a","edits":[{"old_string":"x","new_string":"y"}]}`), Writes: []string{"/w/a"}}, "Edit",
			[]string{`MultiEdit {"file_path":"/w/a","edits":[{"old_string":"x","new_string":"y"}]}`}},
		{"through a link", Input{Tool: "write_file", Args: json.RawMessage(`{"path":"link","content":""}`), Writes: []string{"/w/.env"}}, "Write",
			[]string{`Write {"file_path":"/w/.env","content":""}`}},
		{"a patch", Input{Tool: "apply_patch", Args: json.RawMessage(`{"patch":"…"}`), Writes: []string{"/w/a", "/w/b"}}, "Edit|Write",
			[]string{`Edit {"patch":"…","file_path":"/w/a"}`, `Edit {"patch":"…","file_path":"/w/b"}`}},
		{"a patch, for all", Input{Tool: "apply_patch", Args: json.RawMessage(`{"patch":"…"}`), Writes: []string{"/w/a"}}, "*",
			[]string{`Edit {"patch":"…","file_path":"/w/a"}`}},
		{"a command", Input{Tool: "shell", Args: json.RawMessage(`{"command":"ls","timeout_ms":5000}`), Act: permission.Act{Command: "ls"}}, "Bash",
			[]string{`Bash {"command":"ls","timeout":5000}`}},
		{"a command by another tool", Input{Tool: "exec_command", Args: json.RawMessage(`{"cmd":"ls"}`), Act: permission.Act{Command: "ls"}}, "Bash",
			[]string{`Bash {"cmd":"ls","command":"ls"}`}},
		{"typed into a terminal", Input{Tool: "write_stdin", Args: json.RawMessage(`{"session_id":1,"chars":"rm x\n"}`), Act: permission.Act{Command: "rm x\n"}}, "Bash",
			[]string{`Bash {"session_id":1,"chars":"rm x\n","command":"rm x\n"}`}},
		{"only read from a terminal", Input{Tool: "write_stdin", Args: json.RawMessage(`{"session_id":1}`)}, "Bash", nil},
		{"code", Input{Tool: "run_code", Args: json.RawMessage(`{"language":"python","code":"import os"}`), Act: permission.Act{Effects: tool.Exec, Filtered: true}}, "Bash",
			[]string{`Bash {"language":"python","code":"import os","command":"run_code\npython\nimport os"}`}},
		{"grep", Input{Tool: "grep", Args: json.RawMessage(`{"pattern":"x","path":"sub","glob":["*.go"],"output_mode":"files","ignore_case":true}`)}, "Grep",
			[]string{`Grep {"pattern":"x","path":"/w/sub","glob":"*.go","output_mode":"files_with_matches","-i":true}`}},
		{"a stranger's", Input{Tool: "mcp__fs__write", Args: json.RawMessage(`{"a":1}`)}, "mcp__.*", []string{`mcp__fs__write {"a":1}`}},
		{"no arguments", Input{Tool: "mcp__fs__list"}, "", []string{`mcp__fs__list {}`}},
		{"another", Input{Tool: "read_file", Args: json.RawMessage(`{"path":"b.go"}`)}, "Bash", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := show(&c.in, "/w")
			if err != nil {
				t.Fatal(err)
			}
			m, err := newMatcher(c.matcher)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range s.pick(m) {
				got = append(got, v.name+" "+string(v.input))
				if back, err := v.back(v.input); err != nil && len(s.views) == 1 {
					t.Errorf("what is not changed is not given back: %s, %v", back, err)
				}
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestGiveBack: a rewriting in Claude Code's form becomes one of the tool.
func TestGiveBack(t *testing.T) {
	for _, c := range []struct {
		name      string
		in        Input
		from, to  string
		want, bad string
	}{
		{"shell", Input{Tool: "shell", Args: json.RawMessage(`{"command":"rm -rf x","timeout_ms":5000}`), Act: permission.Act{Command: "rm -rf x"}},
			"rm -rf x", "ls x", `{"command":"ls x","timeout_ms":5000}`, ""},
		{"exec_command", Input{Tool: "exec_command", Args: json.RawMessage(`{"cmd":"rm x"}`), Act: permission.Act{Command: "rm x"}},
			`"command":"rm x"`, `"command":"ls x"`, `{"cmd":"ls x"}`, ""},
		{"edit", Input{Tool: "edit_file", Args: json.RawMessage(`{"path":"a","old_string":"x","new_string":"y"}`), Writes: []string{"/w/a"}},
			`"y"`, `"z"`, `{"path":"/w/a","old_string":"x","new_string":"z"}`, ""},
		{"code", Input{Tool: "run_code", Args: json.RawMessage(`{"code":"x"}`), Act: permission.Act{Effects: tool.Exec, Filtered: true}},
			`"run_code\nx"`, `"y"`, "", "stands for what the call would do"},
		{"a patch of two", Input{Tool: "apply_patch", Args: json.RawMessage(`{"patch":"p"}`), Writes: []string{"/w/a", "/w/b"}},
			`"p"`, `"q"`, "", "file by file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := show(&c.in, "/w")
			if err != nil {
				t.Fatal(err)
			}
			v := s.views[0]
			a := Answer{Args: json.RawMessage(strings.Replace(string(v.input), c.from, c.to, 1))}
			if string(a.Args) == string(v.input) {
				t.Fatal("nothing was rewritten")
			}
			err = a.giveBack(&v)
			if c.bad != "" {
				if err == nil || !strings.Contains(err.Error(), c.bad) {
					t.Errorf("%s, %v", a.Args, err)
				}
			} else if err != nil || string(a.Args) != c.want {
				t.Errorf("%s, %v; want %s", a.Args, err, c.want)
			}
		})
	}
}

// TestPayload is the wire format, field by field.
func TestPayload(t *testing.T) {
	b := Base{Session: "s_1", Root: "/w", Transcript: "/t.jsonl", Mode: permission.WorkspaceWrite}
	in := Input{Event: PostToolUse, CallID: "c9", Tool: "write_file", Args: json.RawMessage(`{"path":"a<b","content":"x"}`),
		Writes: []string{"/w/a<b"}, Act: permission.Act{Effects: tool.Write}, Result: tool.Text("written")}
	s, err := show(&in, b.Root)
	if err != nil {
		t.Fatal(err)
	}
	told, err := b.payload(&in, &s.views[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"cwd":"/w","duration_ms":0,"handrail":{"command":"","effects":"write","hosts":null,"input":{"path":"a<b","content":"x"},` +
		`"origin":{},"reads":null,"tool":"write_file","writes":["/w/a<b"]},"hook_event_name":"PostToolUse","permission_mode":"acceptEdits","session_id":"s_1",` +
		`"tool_input":{"file_path":"/w/a<b","content":"x"},"tool_name":"Write","tool_response":{"content":"written","filePath":"/w/a<b","success":true},` +
		`"tool_use_id":"c9","transcript_path":"/t.jsonl"}`
	if got := strings.TrimSpace(string(told)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.AgentID, b.AgentType = "s_2", "Explore"
	told, err = b.payload(&Input{Event: SubagentStart, Subject: "Explore"}, nil)
	if err != nil || !strings.Contains(string(told), `"agent_id":"s_2","agent_type":"Explore"`) {
		t.Errorf("%s, %v", told, err)
	}
}

func TestPermissionMode(t *testing.T) {
	for want, b := range map[string]Base{
		"plan": {}, "acceptEdits": {Mode: permission.WorkspaceWrite}, "bypassPermissions": {Mode: permission.FullAccess, Approval: permission.Never},
		"dontAsk": {Mode: permission.WorkspaceWrite, Approval: permission.Never}, "default": {Mode: permission.FullAccess, Approval: permission.Always},
	} {
		if got := b.permissionMode(); got != want {
			t.Errorf("%+v is %s, want %s", b, got, want)
		}
	}
}
