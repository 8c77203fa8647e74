package handrail_test

import (
	"context"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// TestFoldersDoNotOpenWhatRulesClose: what a rule closes is not found by way
// of a folder above it, with any of the tools that look into folders.
func TestFoldersDoNotOpenWhatRulesClose(t *testing.T) {
	dir := tree(t, map[string]string{"secret/k.txt": "needle\n", "sub/secret/k.txt": "needle\n", "open.txt": "needle\n", "sub/open.txt": "needle\n", "sub/a.key": "needle\n"})
	calls := map[string]string{
		"grep": `{"pattern":"needle","path":"PATH"}`, "glob": `{"pattern":"**","path":"PATH"}`, "list_dir": `{"path":"PATH","depth":5}`,
	}
	for name, args := range calls {
		at := func(path string) string { return strings.Replace(args, "PATH", path, 1) }
		for rule, p := range map[string]handrail.Permission{
			"deny":           {Deny: []string{name + "(secret)", name + "(*.key)"}},
			"deny read_file": {Deny: []string{"read_file(secret)", "read_file(*.key)"}},
			"ask":            {Ask: []string{name + "(secret)", name + "(*.key)"}},
			"deny, in full":  {Mode: handrail.FullAccess, Deny: []string{name + "(**/k.txt)", name + "(sub/*.key)"}},
		} {
			t.Run(name+" "+rule, func(t *testing.T) {
				s := open(t, handrail.Options{Workspace: dir, Permission: p})
				for _, path := range []string{".", "sub", "./sub/../sub"} {
					r := run(s, name, at(path))
					if !r.OK || !strings.Contains(r.Text, "open.txt") || strings.Contains(r.Text, "k.txt") || strings.Contains(r.Text, "a.key") {
						t.Errorf("%s: %s", path, r.Text)
					}
					if !strings.Contains(r.Text, "closed by the workspace's rules") {
						t.Errorf("%s: nothing says that something was left out: %s", path, r.Text)
					}
				}
				for _, path := range []string{"sub/secret", "secret/k.txt", "sub/a.key"} {
					if r := run(s, name, at(path)); strings.Contains(r.Text, "needle\n") || r.OK && strings.Contains(r.Text, "k.txt") {
						t.Errorf("%s: %s", path, r.Text)
					}
				}
			})
		}
		t.Run(name+" approved", func(t *testing.T) {
			s := open(t, handrail.Options{
				Workspace: dir, Permission: handrail.Permission{Ask: []string{name + "(/secret/**)"}},
				Approver: func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
					return handrail.ApprovalAnswer{Allow: true, Digest: r.Digest}, nil
				},
			})
			if r := run(s, name, at("secret")); !r.OK || !strings.Contains(r.Text, "k.txt") {
				t.Errorf("a person allowed it: %s", r.Text)
			}
		})
	}
}

// A tool of the embedder's that looks into a folder is not known to leave
// anything out, so a rule about something in the folder decides for it.
func TestAForeignTreeIsJudgedByWhatMayLieInIt(t *testing.T) {
	walker := named("walker", tool.Read)
	walker.assess = func(*tool.Call) (tool.Act, error) { return tool.Act{Effects: tool.Read, Trees: []string{"sub"}}, nil }
	for rule, want := range map[string]tool.Code{"walker(sub/secret/**)": tool.CodeDenied, "walker(*.key)": tool.CodeDenied, "walker(docs/**)": ""} {
		s := open(t, handrail.Options{
			Workspace: tree(t, map[string]string{"sub/secret/k.txt": "x"}), Tools: []tool.Tool{walker}, Permission: handrail.Permission{Deny: []string{rule}},
		})
		if r := run(s, "walker", `{}`); r.Code != want {
			t.Errorf("%s: %q %s", rule, r.Code, r.Text)
		}
	}
}

// Rules are seen from the top, also where a child works further down.
func TestAChildsFoldersAreClosedFromTheTop(t *testing.T) {
	dir := tree(t, map[string]string{"sub/secret/k.txt": "needle\n", "sub/in/secret/k.txt": "needle\n", "sub/in/open.txt": "needle\n"})
	s := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Deny: []string{"grep(/sub/secret/**)", "grep(/sub/in/secret/*.txt)"}}})
	c := child(t, s, handrail.ChildOptions{Workspace: "sub"})
	for _, path := range []string{".", "in"} {
		if r := run(c, "grep", `{"pattern":"needle","path":"`+path+`"}`); !r.OK || !strings.Contains(r.Text, "open.txt") || strings.Contains(r.Text, "k.txt") {
			t.Errorf("%s: %s", path, r.Text)
		}
	}
	if r := run(c, "grep", `{"pattern":"needle","path":"secret"}`); r.Code != tool.CodeDenied {
		t.Errorf("%q %s", r.Code, r.Text)
	}
}
