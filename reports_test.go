package handrail_test

import (
	"os"
	"path/filepath"
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

func TestOptionsThatMeanNothing(t *testing.T) {
	for name, o := range map[string]handrail.Options{
		"negative timeout":      {Timeout: -1},
		"timeout over the most": {Timeout: tool.MaxTimeout + 1},
		"negative hook timeout": {Hooks: handrail.Hooks{Timeout: -1}},
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
