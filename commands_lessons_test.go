package handrail_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// TestL63_WhatACheckerSaysIsFeedback: that it found something is no failure,
// however it exits and however often; what several say is told each for
// itself; it runs in the session's folder; and whoever looks on learns which
// file it was about, whatever is kept secret.
func TestL63_WhatACheckerSaysIsFeedback(t *testing.T) {
	var seen []string
	var mu sync.Mutex
	after := func(says string) handrail.Hook {
		return handrail.Hook{Event: handrail.PostToolUse, Func: func(_ context.Context, c handrail.HookInput) (handrail.HookAnswer, error) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, string(c.Args))
			return handrail.HookAnswer{Context: says}, nil
		}}
	}
	root := t.TempDir()
	s := withCommands(t, handrail.Options{
		Workspace: root, Secrets: map[string]string{"path": "some-secret-value"},
		Hooks: []handrail.Hook{after("the first says this"), after("the second says that")},
		Commands: handrail.CommandOptions{
			Check:      `echo "$PWD/a.rs:3: error: mismatched types"; exit 101`,
			Formatters: map[string][]string{".rs": {"sh", "-c", `echo "it does not parse: $0"; exit 101`}},
		},
	})
	for i := range 12 {
		r := s.Run(t.Context(), handrail.Call{Tool: "check"}, handrail.Call{Tool: "write_file", Args: fmt.Appendf(nil, `{"path": "a.rs", "content": "x%d"}`, i)})
		if !r[0].OK || !strings.Contains(r[0].Text, "a.rs:3: error: mismatched types") || strings.Contains(r[0].Text, root) {
			t.Fatalf("check: %q %s", r[0].Code, r[0].Text)
		}
		if !r[1].OK || !strings.Contains(r[1].Text, "a.rs was not formatted by sh") || !strings.Contains(r[1].Text, "it does not parse") {
			t.Fatalf("the edit behind it: %q %s", r[1].Code, r[1].Text)
		}
		for _, one := range r {
			if !strings.Contains(one.Text, "the first says this") || !strings.Contains(one.Text, "the second says that") {
				t.Fatalf("%s", one.Text)
			}
		}
		if _, err := os.Stat(filepath.Join(root, "a.rs")); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(root, "a.rs"))
	}
	if !strings.Contains(strings.Join(seen, ""), `"path": "a.rs"`) && !strings.Contains(strings.Join(seen, ""), `"path":"a.rs"`) {
		t.Errorf("the hooks saw %q", seen[:2])
	}
	bare, err := handrail.Open(t.Context(), handrail.Options{Commands: handrail.CommandOptions{Check: "touch here"}})
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	if r := order(t, bare, "check", obj{}); r.Code != tool.CodeUnknownTool {
		t.Errorf("without a folder: %q %s", r.Code, r.Text)
	}
}

// TestL64_NoSessionDisablesAnothers: a formatter that fails in one session runs
// in the other, and is tried again there; a burst of edits costs one run for
// each file that was edited, and none for any other.
func TestL64_NoSessionDisablesAnothers(t *testing.T) {
	open := func(dir string) *handrail.Session {
		return withCommands(t, handrail.Options{Workspace: dir, Commands: handrail.CommandOptions{
			Formatters: map[string][]string{".txt": {"sh", "-c", `echo "$0" >> runs.log; test ! -e broken && sed -i s/a/A/ "$0"`}},
		}})
	}
	bad, good := t.TempDir(), t.TempDir()
	first, second := open(bad), open(good)
	if err := os.WriteFile(filepath.Join(bad, "broken"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if r := order(t, first, "write_file", obj{"path": fmt.Sprintf("f%d.txt", i), "content": "a\n"}); !r.OK || !strings.Contains(r.Text, "was not formatted") {
			t.Fatalf("%s", r.Text)
		}
	}
	if r := order(t, second, "write_file", obj{"path": "g.txt", "content": "a\n"}); !strings.Contains(r.Text, "Formatted by sh") {
		t.Errorf("the other session: %s", r.Text)
	}
	if err := os.Remove(filepath.Join(bad, "broken")); err != nil {
		t.Fatal(err)
	}
	if r := order(t, first, "write_file", obj{"path": "late.txt", "content": "a\n"}); !strings.Contains(r.Text, "Formatted by sh") {
		t.Errorf("it is not tried again: %s", r.Text)
	}
	patch := "*** Begin Patch\n"
	for i := range 5 {
		patch += fmt.Sprintf("*** Add File: p%d.txt\n+a\n", i)
	}
	if r := order(t, second, "apply_patch", obj{"patch": patch + "*** Add File: other.md\n+a\n*** End Patch\n"}); !r.OK {
		t.Fatal(r.Text)
	}
	runs, err := os.ReadFile(filepath.Join(good, "runs.log"))
	if n := strings.Count(string(runs), "\n"); err != nil || n != 6 {
		t.Errorf("%d runs for six files: %v\n%s", n, err, runs)
	}
}

// TestF122_TemporaryFolders: a command gets a temporary folder of its own in
// every mode and network, so that the empty name of one that could not be made
// never turns a clean-up on the workspace. One that is turned on it all the
// same is undone.
func TestF122_TemporaryFolders(t *testing.T) {
	for _, mode := range []handrail.Mode{handrail.ReadOnly, handrail.WorkspaceWrite, handrail.FullAccess} {
		root := t.TempDir()
		for name, text := range map[string]string{"a.txt": "a", "sub/b.txt": "b"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s := withCommands(t, handrail.Options{Workspace: root, Permission: handrail.Permission{Mode: mode}, Approver: yes})
		r := order(t, s, "shell", obj{"command": `T=$(mktemp -d); cd "$T" 2>/dev/null; pwd; echo x > f; rm -rf ./*; ls -A; cd /; rm -rf "$T"; test -n "$T" && test -w "${TMPDIR:-/tmp}" && mktemp -u >/dev/null`})
		if !r.OK || strings.Contains(r.Text, root) || len(r.Changed) != 0 {
			t.Errorf("%s: %s", mode, r.Text)
		}
		if _, err := os.Stat(filepath.Join(root, "sub", "b.txt")); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		if mode != handrail.WorkspaceWrite {
			continue
		}
		if r := order(t, s, "shell", obj{"command": `T=; cd "$T"; rm -rf ./*; ls`}); !r.OK || len(r.Changed) != 2 {
			t.Errorf("%v: %s", r.Changed, r.Text)
		}
		if r := order(t, s, "undo", obj{}); !r.OK {
			t.Errorf("%s", r.Text)
		}
		if data, err := os.ReadFile(filepath.Join(root, "sub", "b.txt")); err != nil || string(data) != "b" {
			t.Errorf("%q, %v", data, err)
		}
	}
}
