package handrail_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// TestF197_ToolsCannotReachTheResults: where the state folder lies in the
// workspace, a tool can neither change what a result is said to hold, nor
// read what is not redacted there.
func TestF197_ToolsCannotReachTheResults(t *testing.T) {
	for _, state := range []string{"state", "a [b]*?/st\\ate", ".handrail/state"} {
		t.Run(state, func(t *testing.T) {
			dir := tree(t, map[string]string{"a.txt": "a\n"})
			s := open(t, handrail.Options{
				Workspace: dir, StateDir: filepath.Join(dir, state), Permission: handrail.Permission{Mode: handrail.FullAccess},
				Files: handrail.WorkspaceOptions{Unreadable: []string{}}, Guard: handrail.GuardOff,
			})
			run(s, "read_file", `{"path":"a.txt"}`)
			quoted := strings.ReplaceAll(state, `\`, `\\`)
			for _, c := range []struct{ tool, args string }{
				{"write_file", `{"path":"` + quoted + `/x","content":"x"}`},
				{"write_file", `{"path":"` + quoted + `/blobs/x","content":"x"}`},
				{"read_file", `{"path":"` + quoted + `/journal"}`},
			} {
				for _, session := range []*handrail.Session{s, child(t, s, handrail.ChildOptions{})} {
					if r := run(session, c.tool, c.args); r.Code != tool.CodeDenied {
						t.Errorf("%s %s: %q %s", c.tool, c.args, r.Code, r.Text)
					}
				}
			}
			if _, err := s.Child(t.Context(), handrail.ChildOptions{Workspace: state}); err == nil {
				t.Error("a child may live among the results")
			}
			if r := run(s, "read_file", `{"path":"a.txt"}`); !r.OK {
				t.Errorf("everything is closed: %s", r.Text)
			}
		})
	}
	dir := t.TempDir()
	if s, err := handrail.Open(t.Context(), handrail.Options{Workspace: dir, StateDir: dir}); err == nil {
		t.Errorf("the workspace itself is the state folder: %v", s.Close())
	}
	// A link to the state folder is no way in either.
	outside := filepath.Join(t.TempDir(), "state")
	link := filepath.Join(dir, "link")
	s := open(t, handrail.Options{Workspace: dir, StateDir: outside, Permission: handrail.Permission{Mode: handrail.FullAccess}})
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if r := run(s, "write_file", `{"path":"link/x","content":"x"}`); r.OK {
		t.Error("written through a link")
	}
}

// TestGrantedFolderHoldsNoState: a granted folder that holds the state, as
// the home directory does, does not open it.
func TestGrantedFolderHoldsNoState(t *testing.T) {
	home := t.TempDir()
	state, settings := filepath.Join(home, "state"), filepath.Join(home, ".config", "config.json")
	s := open(t, handrail.Options{
		Workspace: t.TempDir(), StateDir: state, Permission: handrail.Permission{Mode: handrail.FullAccess}, Guard: handrail.GuardOff,
		Files: handrail.WorkspaceOptions{Granted: []string{home}, Closed: []string{settings}},
	})
	for _, session := range []*handrail.Session{s, child(t, s, handrail.ChildOptions{})} {
		for _, c := range []struct{ tool, args string }{
			{"write_file", `{"path":"` + settings + `","content":"{}"}`},
			{"read_file", `{"path":"` + settings + `"}`},
			{"write_file", `{"path":"` + state + `/x","content":"x"}`},
			{"read_file", `{"path":"` + state + `/journal"}`},
			{"list_dir", `{"path":"` + state + `"}`},
		} {
			if r := run(session, c.tool, c.args); r.Code != tool.CodeDenied {
				t.Errorf("%s %s: %q %s", c.tool, c.args, r.Code, r.Text)
			}
		}
		if r := run(session, "list_dir", `{"path":"`+home+`"}`); !r.OK || strings.Contains(r.Text, "state/") {
			t.Errorf("list_dir of the granted folder: %s", r.Text)
		}
	}
}

func TestOptionsThatMeanNothing(t *testing.T) {
	for name, o := range map[string]handrail.Options{
		"negative timeout":      {Timeout: -1},
		"timeout over the most": {Timeout: tool.MaxTimeout + 1},
		"negative hook timeout": {Hooks: []handrail.Hook{{Event: handrail.Notification, URL: "http://127.0.0.1", Timeout: -1}}},
		"unknown guard level":   {Guard: handrail.GuardOff + 1},
		"unknown mode":          {Permission: handrail.Permission{Mode: "yolo"}},
		"unknown approval":      {Permission: handrail.Permission{Approval: "sometimes"}},
		"unknown surface":       {Surface: "cladue"},
		"unknown policy name":   {Policy: handrail.Policy{Deny: []string{"shel"}}},
		"unknown rule":          {Permission: handrail.Permission{Deny: []string{"shel"}}},
		"no such workspace":     {Workspace: filepath.Join(t.TempDir(), "missing")},
	} {
		if s, err := handrail.Open(t.Context(), o); err == nil {
			t.Errorf("%s: a session was opened: %v", name, s.Close())
		}
	}
}

// TestF167_NativeValuesAtEachHop: an array of objects arrives as one,
// directly and over MCP, also where the model wrote it as a text.
func TestF167_NativeValuesAtEachHop(t *testing.T) {
	var got []string
	tasks := fake{
		spec: tool.Spec{Name: "tasks", Effects: tool.Read, Input: json.RawMessage(
			`{"type":"object","properties":{"tasks":{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}}},"additionalProperties":false}`)},
		run: func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			got = append(got, string(c.Args))
			return tool.Text("ok"), nil
		},
	}
	s := open(t, handrail.Options{Tools: []tool.Tool{tasks}, Guard: handrail.GuardOff})
	client := dial(t, s)
	for _, args := range []string{`{"tasks":[{"a":1},{"a":9007199254740993}]}`, `{"tasks":"[{\"a\":1},{\"a\":9007199254740993}]"}`} {
		if r := run(s, "tasks", args); !r.OK {
			t.Errorf("%s: %s", args, r.Text)
		}
		if code, text := callMCP(client, "tasks", args); code != "" {
			t.Errorf("%s over MCP: %q %s", args, code, text)
		}
	}
	if want := `{"tasks":[{"a":1},{"a":9007199254740993}]}`; len(got) != 4 || len(slices.Compact(append(slices.Clone(got), want))) != 1 {
		t.Errorf("the tool saw %q", got)
	}
}

// TestF175_RulesSeeTheToolsOwnNames: an argument in another spelling is
// judged as the argument that it means.
func TestF175_RulesSeeTheToolsOwnNames(t *testing.T) {
	dir := tree(t, map[string]string{"secret/a.txt": "a\n"})
	for _, surface := range []string{"", "claude"} {
		s := open(t, handrail.Options{
			Workspace: dir, Surface: surface, Guard: handrail.GuardOff,
			Permission: handrail.Permission{Mode: handrail.FullAccess, Deny: []string{"edit_file(secret/**)", "read_file(secret/**)"}},
		})
		shown := map[string]string{"edit_file": "edit_file", "read_file": "read_file"}
		if surface == "claude" {
			shown = map[string]string{"edit_file": "Edit", "read_file": "Read"}
		}
		for _, path := range []string{"path", "file_path", "filePath", "FilePath", "file"} {
			for _, at := range []string{"secret/a.txt", "./secret//a.txt", filepath.Join(dir, "secret/a.txt")} {
				edit := fmt.Sprintf(`{%q:%q,"old_string":"a","new_string":"b"}`, path, at)
				read := fmt.Sprintf(`{%q:%q}`, path, at)
				for name, args := range map[string]string{"edit_file": edit, "read_file": read} {
					if r := run(s, shown[name], args); r.OK || r.Code == tool.CodeFailed {
						t.Errorf("%s %s: %q %s", shown[name], args, r.Code, r.Text)
					}
				}
			}
		}
		if r := run(s, shown["edit_file"], `{"filePath":"secret/a.txt","oldString":"a","newString":"b"}`); r.Code != tool.CodeDenied {
			t.Errorf("the spelling of another harness is not understood: %q %s", r.Code, r.Text)
		}
	}
	if content(t, dir, "secret/a.txt") != "a\n" {
		t.Error("the file was changed")
	}
}

// TestF199_HalfACallIsAnswered: a call that was cut off in mid-stream has
// one answer like any other, runs nothing, and the session goes on.
func TestF199_HalfACallIsAnswered(t *testing.T) {
	dir := tree(t, nil)
	s := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}, Guard: handrail.GuardOff})
	const whole = `{"path":"a.txt","content":"line1\nline2\n"}`
	for cut := 1; cut < len(whole); cut++ {
		results := s.Run(t.Context(),
			handrail.Call{ID: "half", Tool: "write_file", Args: json.RawMessage(whole[:cut])},
			handrail.Call{ID: "next", Tool: "read_file", Args: json.RawMessage(`{"path":"."}`)})
		if len(results) != 2 || results[0].Code != tool.CodeInvalidInput || results[1] == nil || results[1].Code == tool.CodeCancelled {
			t.Fatalf("cut after %q: %+v", whole[:cut], results)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("half a call wrote %v, %v", left, err)
	}
	if r := run(s, "write_file", whole); !r.OK {
		t.Errorf("afterwards: %q %s", r.Code, r.Text)
	}
	log, err := s.Log(t.Context(), handrail.LogFilter{})
	if err != nil || len(log.Events) == 0 {
		t.Fatalf("the log: %d entries, %v", len(log.Events), err)
	}
}

// advised finds the call that a cut result advises.
var advised = regexp.MustCompile(`call (\w+) with (\{"id":"[^}]*\})`)

// TestF195_WhatANoticeNamesWorks: the call in the notice of a cut result
// brings the rest, under the names of the surface and for a child; where it
// could not be called it is not advised.
func TestF195_WhatANoticeNamesWorks(t *testing.T) {
	big := fake{spec: tool.Spec{Name: "big", Effects: tool.Read, OutputBytes: 2000}, run: func(context.Context, *tool.Call) (*tool.Result, error) {
		return tool.Text(strings.Repeat("nothing to see\n", 500) + "needle\n" + strings.Repeat("nothing to see\n", 500)), nil
	}}
	for _, surface := range []string{"", "claude"} {
		s := open(t, handrail.Options{Tools: []tool.Tool{big}, Surface: surface})
		r := run(s, "big", `{}`)
		m := advised.FindStringSubmatch(r.Text)
		if m == nil || r.ID == "" || r.Omitted == 0 || len(r.Text) > 2000 {
			t.Fatalf("surface %q: %d bytes, %d omitted: %.300q", surface, len(r.Text), r.Omitted, r.Text[max(0, len(r.Text)-300):])
		}
		if !slices.Contains(names(s), m[1]) {
			t.Errorf("surface %q advises %q, which is not listed", surface, m[1])
		}
		if again := run(s, m[1], m[2]); !again.OK {
			t.Errorf("surface %q: %s %s: %q %s", surface, m[1], m[2], again.Code, again.Text)
		}
		if c := child(t, s, handrail.ChildOptions{}); !strings.Contains(run(c, m[1], `{"id":"`+r.ID+`","pattern":"needle"}`).Text, "needle") {
			t.Errorf("surface %q: a child cannot recall what its parent has seen", surface)
		}
		c := child(t, s, handrail.ChildOptions{})
		if again := run(s, m[1], `{"id":"`+run(c, "big", `{}`).ID+`"}`); again.OK {
			t.Errorf("surface %q: a parent reads what only its child has seen", surface)
		}
	}
	s := open(t, handrail.Options{Tools: []tool.Tool{big}, Policy: handrail.Policy{Deny: []string{"recall"}}})
	if r := run(s, "big", `{}`); strings.Contains(r.Text, "recall") || r.Omitted == 0 {
		t.Errorf("a denied tool is advised: %.300q", r.Text[max(0, len(r.Text)-300):])
	}
	other := open(t, handrail.Options{Tools: []tool.Tool{big}})
	if r := run(other, "recall", `{"id":"`+run(s, "big", `{}`).ID+`"}`); r.OK {
		t.Error("one session recalls what another has seen")
	}
}

// TestL56_TheBudgetIsTheTools: it does not depend on the name that was used.
func TestL56_TheBudgetIsTheTools(t *testing.T) {
	big := fake{spec: tool.Spec{Name: "big", Aliases: []string{"large"}, Effects: tool.Read, OutputBytes: 200_000}, run: func(context.Context, *tool.Call) (*tool.Result, error) {
		return tool.Text(strings.Repeat("x", 190_000)), nil
	}}
	s := open(t, handrail.Options{Tools: []tool.Tool{big}, Guard: handrail.GuardOff})
	for _, name := range []string{"big", "large"} {
		if r := run(s, name, `{}`); len(r.Text) != 190_000 || r.Omitted != 0 {
			t.Errorf("%s: %d bytes, %d omitted", name, len(r.Text), r.Omitted)
		}
	}
}
