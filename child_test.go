package handrail_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// writes is a trusted tool that writes a file through the session's
// workspace and tells of it whatever tells says.
func writes(path string, tells tool.Act) fake {
	return fake{
		spec: tool.Spec{Name: "writes", Effects: tool.Read | tool.Write},
		run: func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
			_, err := workspace.From(ctx).WriteFile(ctx, path, []byte("pwned\n"), workspace.WriteOptions{})
			return tool.Text("written"), err
		},
		assess: func(*tool.Call) (tool.Act, error) { return tells, nil },
	}
}

func TestL33_ChildIsConfinedByItsParent(t *testing.T) {
	dir := tree(t, map[string]string{"sub/a.txt": "a\n", "sub/closed/b.txt": "b\n", ".git/config": "x\n", "vendor/lib/v.txt": "v\n"})
	outside := tree(t, map[string]string{"secret.txt": "s\n"})
	parent := open(t, handrail.Options{
		Workspace: dir,
		Permission: handrail.Permission{
			Mode: handrail.WorkspaceWrite, Approval: handrail.Never,
			Deny: []string{"write_file(sub/closed/**)"},
		},
		Files: handrail.WorkspaceOptions{Protected: []string{"/sub/kept"}, ReadOnlyDirs: []string{filepath.Join(dir, "vendor")}},
		Tools: []tool.Tool{named("runs", tool.Exec)},
	})
	const write = `{"path":%q,"content":"x\n"}`
	args := func(path string) string { return strings.Replace(write, "%q", `"`+path+`"`, 1) }

	t.Run("the mode is never wider", func(t *testing.T) {
		c := child(t, parent, handrail.ChildOptions{Mode: handrail.FullAccess})
		if r := run(c, "runs", `{}`); r.Code != tool.CodeDenied {
			t.Errorf("a child with a wider mode runs what its parent may not: %q", r.Code)
		}
		c = child(t, child(t, parent, handrail.ChildOptions{Mode: handrail.ReadOnly}), handrail.ChildOptions{Mode: handrail.WorkspaceWrite})
		if r := run(c, "write_file", args("sub/new.txt")); r.Code != tool.CodeDenied {
			t.Errorf("a grandchild writes where its parent may only read: %q", r.Code)
		}
	})
	t.Run("an unknown mode is an error", func(t *testing.T) {
		if _, err := parent.Child(t.Context(), handrail.ChildOptions{Mode: "read_only"}); err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a workspace outside is an error", func(t *testing.T) {
		if err := os.Symlink(outside, filepath.Join(dir, "way-out")); err != nil {
			t.Fatal(err)
		}
		for _, w := range []string{outside, "/", filepath.Dir(dir), "..", "way-out", ".ssh", "missing", "sub/a.txt"} {
			if c, err := parent.Child(t.Context(), handrail.ChildOptions{Workspace: w}); err == nil {
				t.Errorf("a child may live in %s: %v", w, c.Close())
			}
		}
	})
	t.Run("a parent without files has a child without", func(t *testing.T) {
		p := open(t, handrail.Options{})
		if _, err := p.Child(t.Context(), handrail.ChildOptions{Workspace: dir}); err == nil {
			t.Error("the child has files")
		}
	})
	t.Run("the parent's rules for paths hold in a folder of it", func(t *testing.T) {
		for _, c := range []struct{ workspace, path string }{
			{"sub", "closed/new.txt"}, {"sub/closed", "new.txt"}, {"sub", "kept"}, {"vendor/lib", "new.txt"}, {".git", "config"}, {".git", "hooks/post-commit"},
		} {
			k := child(t, parent, handrail.ChildOptions{Workspace: c.workspace})
			if r := run(k, "write_file", args(c.path)); r.Code != tool.CodeDenied {
				t.Errorf("%s in %s: %q %s", c.path, c.workspace, r.Code, r.Text)
			}
			below := child(t, k, handrail.ChildOptions{})
			if r := run(below, "write_file", args(c.path)); r.Code != tool.CodeDenied {
				t.Errorf("a grandchild's %s in %s: %q", c.path, c.workspace, r.Code)
			}
		}
	})
	t.Run("what remains works", func(t *testing.T) {
		c := child(t, parent, handrail.ChildOptions{Workspace: "sub"})
		r := run(c, "write_file", args("new.txt"))
		if !r.OK || len(r.Changed) != 1 || r.Changed[0] != "new.txt" || content(t, dir, "sub", "new.txt") != "x\n" {
			t.Errorf("%q %s, changed %v", r.Code, r.Text, r.Changed)
		}
		if r := run(c, "read_file", `{"path":"../.git/config"}`); r.Code != tool.CodeDenied {
			t.Errorf("out of its folder: %q", r.Code)
		}
	})
}

func TestChildSharesTheQuestionsButNotTheAnswers(t *testing.T) {
	asked := 0
	parent := open(t, handrail.Options{
		Tools: []tool.Tool{named("runs", tool.Exec)},
		Approver: func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			asked++
			if r.Origin.Depth != asked-1 {
				t.Errorf("question %d comes from depth %d", asked, r.Origin.Depth)
			}
			return handrail.ApprovalAnswer{Allow: true, Scope: handrail.ForSession, Digest: r.Digest}, nil
		},
	})
	c := child(t, parent, handrail.ChildOptions{Name: "helper"})
	for _, s := range []*handrail.Session{parent, parent, c, c} {
		if r := run(s, "runs", `{}`); !r.OK {
			t.Fatalf("%q %s", r.Code, r.Text)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times; a yes for one session is not one for another", asked)
	}
}

func TestClosedSession(t *testing.T) {
	ctx := context.Background()
	hang := make(chan struct{})
	parent, err := handrail.Open(ctx, handrail.Options{
		Workspace: tree(t, map[string]string{"a.txt": "a\n"}),
		Tools: []tool.Tool{fake{spec: tool.Spec{Name: "hangs", Effects: tool.Read}, run: func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
			close(hang)
			<-ctx.Done()
			return nil, ctx.Err()
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := child(t, parent, handrail.ChildOptions{})
	hanging := make(chan *tool.Result, 1)
	go func() { hanging <- run(c, "hangs", `{}`) }()
	<-hang
	if err := parent.Close(); err != nil {
		t.Error(err)
	}
	select {
	case r := <-hanging:
		if r.Code != tool.CodeCancelled {
			t.Errorf("what ran in a child when its parent was closed: %q", r.Code)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a call outlives its session")
	}
	for name, s := range map[string]*handrail.Session{"the session": parent, "its child": c} {
		for _, tl := range []string{"read_file", "hangs"} {
			if r := run(s, tl, `{"path":"a.txt"}`); r == nil || r.OK {
				t.Errorf("%s, closed, runs %s: %+v", name, tl, r)
			}
		}
		if s.Explain(ctx, handrail.Call{Tool: "read_file"}).Steps == nil {
			t.Errorf("%s, closed, explains nothing", name)
		}
		if err := s.Add(named("late", tool.Read)); err == nil {
			t.Errorf("%s, closed, takes tools", name)
		}
		if k, err := s.Child(ctx, handrail.ChildOptions{}); err == nil {
			t.Errorf("%s, closed, has a child: %v", name, k.Close())
		}
		s.Specs()
		s.Remove("read_file")
		s.Turn()
		s.SetContext("x")
		if err := s.Close(); err != nil {
			t.Errorf("closing %s again: %v", name, err)
		}
	}
}

// TestUnreadableIsHiddenFromSearches: what may not be read is neither found
// nor named, also by a child that starts below the folder from which the
// rule is written.
func TestUnreadableIsHiddenFromSearches(t *testing.T) {
	dir := tree(t, map[string]string{"sub/secret/a.txt": "needle\n", "sub/open/b.txt": "needle\n"})
	for _, pattern := range []string{"/sub/secret", "sub/secret", "secret/*.txt", "SECRET"} {
		s := open(t, handrail.Options{Workspace: dir, Files: handrail.WorkspaceOptions{Unreadable: []string{pattern}}, Guard: handrail.GuardOff})
		for name, session := range map[string]*handrail.Session{"session": s, "child": child(t, s, handrail.ChildOptions{Workspace: "sub"})} {
			for tl, args := range map[string]string{
				"grep": `{"pattern":"needle"}`, "glob": `{"pattern":"**/*.txt"}`, "list_dir": `{"path":".","depth":4}`,
			} {
				r := run(session, tl, args)
				if !r.OK || strings.Contains(r.Text, "a.txt") || !strings.Contains(r.Text, "b.txt") {
					t.Errorf("%q, %s, %s: %q %s", pattern, name, tl, r.Code, r.Text)
				}
			}
		}
	}
}

// TestAClosedFileIsNoOracle: the answer of a search does not depend on what
// is in a file that may not be read.
func TestAClosedFileIsNoOracle(t *testing.T) {
	dir := tree(t, map[string]string{"sub/.netrc": "password correct-horse\n", "b.txt": "needle\n"})
	s := open(t, handrail.Options{Workspace: dir, Guard: handrail.GuardOff})
	for _, mode := range []string{"content", "files", "count"} {
		for _, args := range []string{
			`{"pattern":"correct","hidden":true,"no_ignore":true,"output_mode":"` + mode + `"}`,
			`{"pattern":"password.*c","hidden":true,"path":"sub","output_mode":"` + mode + `"}`,
			`{"pattern":"^p","hidden":true,"multiline":true,"glob":[".netrc"],"output_mode":"` + mode + `"}`,
		} {
			hit := run(s, "grep", args)
			miss := run(s, "grep", strings.NewReplacer("correct", "battery", "password.*c", "password.*b", "^p", "^b").Replace(args))
			same := strings.NewReplacer("correct", "X", "battery", "X", "password.*c", "X", "password.*b", "X", "^p", "X", "^b", "X")
			if !hit.OK || same.Replace(hit.Text) != same.Replace(miss.Text) {
				t.Errorf("%s tells the two apart:\n%s\n%s", args, hit.Text, miss.Text)
			}
		}
	}
	if r := run(s, "grep", `{"pattern":"correct","path":"sub/.netrc"}`); r.OK {
		t.Errorf("named directly: %s", r.Text)
	}
}
