package handrail_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// TestL33_G7_AChildWritesWhatItIsGranted: the write fence of a child binds
// every tool that changes files, and a grandchild never gets more.
func TestL33_G7_AChildWritesWhatItIsGranted(t *testing.T) {
	dir := tree(t, map[string]string{"docs/a.md": "a\n", "docs/deep/b.md": "b\n", "src/x.go": "x\n", "sub/f.txt": "f\n", "sub/g.txt": "g\n"})
	parent := open(t, handrail.Options{
		Workspace: dir, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite, Approval: handrail.Never}, Guard: handrail.GuardOff,
	})
	var denials int
	refused := func(t *testing.T, s *handrail.Session, name, args string) {
		t.Helper()
		r := run(s, name, args)
		if r.OK || r.Code != tool.CodeDenied {
			t.Errorf("%s %s: %+v", name, args, r)
		}
		if strings.Contains(r.Text, "may write") {
			denials++
		}
	}
	allowed := func(t *testing.T, s *handrail.Session, name, args string) {
		t.Helper()
		if r := run(s, name, args); !r.OK {
			t.Errorf("%s %s: %s: %s", name, args, r.Code, r.Text)
		}
	}
	t.Run("patterns", func(t *testing.T) {
		c := child(t, parent, handrail.ChildOptions{Writable: []string{"docs/*.md", "new/*"}})
		allowed(t, c, "write_file", `{"path":"docs/n.md","content":"n\n"}`)
		allowed(t, c, "edit_file", `{"path":"docs/n.md","old_string":"n","new_string":"m"}`)
		allowed(t, c, "move_file", `{"source":"docs/n.md","destination":"new/n.md"}`)
		allowed(t, c, "delete_file", `{"path":"new/n.md"}`)
		refused(t, c, "write_file", `{"path":"src/x.go","content":"x\n"}`)
		refused(t, c, "edit_file", `{"path":"docs/deep/b.md","old_string":"b","new_string":"c"}`)
		refused(t, c, "move_file", `{"source":"src/x.go","destination":"new/x.go"}`)
		refused(t, c, "move_file", `{"source":"docs/a.md","destination":"src/a.md"}`)
		refused(t, c, "move_file", `{"source":"docs","destination":"new/d"}`)
		refused(t, c, "delete_file", `{"path":"src/x.go"}`)
		refused(t, c, "delete_file", `{"path":"docs","recursive":true}`)
		refused(t, c, "make_dir", `{"path":"src/d"}`)
		if denials == 0 {
			t.Error("no refusal says what may be written")
		}
		if r := run(c, "write_file", `{"path":"src/x.go","content":"x\n"}`); !strings.Contains(r.Text, "docs/*.md") {
			t.Errorf("the refusal does not name what may be written: %s", r.Text)
		}
	})
	t.Run("an empty list is none", func(t *testing.T) {
		c := child(t, parent, handrail.ChildOptions{Writable: []string{}})
		refused(t, c, "write_file", `{"path":"docs/n.md","content":"n\n"}`)
		refused(t, c, "make_dir", `{"path":"d"}`)
		if r := run(c, "read_file", `{"path":"docs/a.md"}`); !r.OK {
			t.Errorf("reading: %s", r.Text)
		}
	})
	t.Run("no list is the parent's", func(t *testing.T) {
		allowed(t, child(t, parent, handrail.ChildOptions{}), "write_file", `{"path":"any/f","content":"n\n"}`)
	})
	t.Run("create only", func(t *testing.T) {
		c := child(t, parent, handrail.ChildOptions{CreateOnly: true})
		allowed(t, c, "write_file", `{"path":"made/f","content":"n\n"}`)
		refused(t, c, "write_file", `{"path":"made/f","content":"m\n"}`)
		refused(t, c, "edit_file", `{"path":"made/f","old_string":"n","new_string":"m"}`)
		refused(t, c, "delete_file", `{"path":"made/f"}`)
	})
	t.Run("a grandchild", func(t *testing.T) {
		c := child(t, parent, handrail.ChildOptions{Writable: []string{"docs/*.md", "sub/*.txt"}})
		// Its own list cannot widen, and is relative to its own folder.
		g := child(t, c, handrail.ChildOptions{Workspace: "sub", Writable: []string{"f.txt", "f.go"}})
		allowed(t, g, "write_file", `{"path":"f.txt","content":"n\n"}`)
		refused(t, g, "write_file", `{"path":"f.go","content":"n\n"}`)
		refused(t, g, "write_file", `{"path":"g.txt","content":"n\n"}`)
		// Without a list it has its parent's.
		g = child(t, c, handrail.ChildOptions{Workspace: "sub"})
		allowed(t, g, "write_file", `{"path":"g.txt","content":"n\n"}`)
		refused(t, g, "write_file", `{"path":"g.go","content":"n\n"}`)
		gg := child(t, child(t, c, handrail.ChildOptions{CreateOnly: true}), handrail.ChildOptions{Writable: []string{"docs/*"}})
		refused(t, gg, "write_file", `{"path":"docs/a.md","content":"a\n"}`)
		allowed(t, gg, "write_file", `{"path":"docs/gg.md","content":"a\n"}`)
	})
	t.Run("a bad pattern", func(t *testing.T) {
		if c, err := parent.Child(t.Context(), handrail.ChildOptions{Writable: []string{"docs/**"}}); err == nil || !strings.Contains(err.Error(), "docs/*/*.md") {
			t.Errorf("opened %v, %v", c, err)
		}
	})
	t.Run("without files", func(t *testing.T) {
		if c, err := open(t, handrail.Options{}).Child(t.Context(), handrail.ChildOptions{Writable: []string{}}); err == nil {
			t.Errorf("opened %v", c)
		}
	})
}

// TestMovingAndDeletingThroughTheGates: rules for paths hold for what is
// moved and deleted, links are taken as they are, and a rule that closes a
// file to reading closes the way round it.
func TestMovingAndDeletingThroughTheGates(t *testing.T) {
	dir := tree(t, map[string]string{"keys/a.pem": "k\n", "keys/readme": "r\n", "tmp/f": "f\n", "tmp/d/g": "g\n", "kept/f": "f\n"})
	for name, target := range map[string]string{"tmp/gone": "nowhere", "tmp/out": "/etc/passwd", "tmp/in": "../kept/f"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, handrail.Options{
		Workspace: dir, Guard: handrail.GuardOff,
		Permission: handrail.Permission{Mode: handrail.WorkspaceWrite, Approval: handrail.Never, Deny: []string{"read_file(**/*.pem)", "delete_file(kept/**)"}},
	})
	for _, tt := range []struct {
		tool, args string
		ok         bool
	}{
		{"move_file", `{"from":"keys/a.pem","to":"tmp/a.txt"}`, false},
		{"move_file", `{"from":"keys","to":"tmp/keys"}`, false},
		{"delete_file", `{"path":"keys","recursive":true}`, false},
		{"delete_file", `{"path":"kept/f"}`, false},
		{"delete_file", `{"path":"kept","recursive":true}`, false},
		{"move_file", `{"old_path":"keys/readme","new_path":"tmp/readme"}`, true},
		{"delete_file", `{"path":"tmp/in"}`, true},
		{"delete_file", `{"path":"tmp/gone"}`, true},
		{"move_file", `{"source":"tmp/out","destination":"tmp/out2"}`, true},
		{"delete_file", `{"path":"tmp","recursive":true}`, true},
		{"make_dir", `{"path":"tmp/again"}`, true},
		{"delete_file", `{"path":"../x"}`, false},
		{"move_file", `{"from":"kept/f","to":"../f"}`, false},
	} {
		if r := run(s, tt.tool, tt.args); r.OK != tt.ok || !tt.ok && r.Code != tool.CodeDenied {
			t.Errorf("%s %s: %s: %s", tt.tool, tt.args, r.Code, r.Text)
		}
	}
	for name, there := range map[string]bool{"keys/a.pem": true, "kept/f": true, "tmp/f": false, "tmp/again": true, "tmp/out2": false} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A scribe is a recorder that notes on whose behalf a change is made.
type scribe struct{ sources []workspace.Source }

func (s *scribe) Begin(ctx context.Context, _ []workspace.Planned) (func(error), error) {
	source, ok := workspace.SourceFrom(ctx)
	if !ok {
		return nil, fs.ErrInvalid
	}
	s.sources = append(s.sources, source)
	return func(error) {}, nil
}

// TestEveryChangeHasASource: the recorder of a session hears who changes
// what, also from a child.
func TestEveryChangeHasASource(t *testing.T) {
	r := &scribe{}
	s := open(t, handrail.Options{
		Workspace: tree(t, nil), Files: handrail.WorkspaceOptions{Recorder: r}, History: handrail.HistoryOptions{Off: true}, Origin: tool.Origin{Kind: tool.OriginCLI},
		Permission: handrail.Permission{Mode: handrail.WorkspaceWrite, Approval: handrail.Never},
	})
	c := child(t, s, handrail.ChildOptions{Name: "kid"})
	for _, who := range []*handrail.Session{s, c} {
		if got := who.Run(t.Context(), handrail.Call{ID: "call-7", Tool: "mkdir", Args: []byte(`{"path":"` + who.ID() + `"}`)})[0]; !got.OK {
			t.Fatal(got.Text)
		}
	}
	if len(r.sources) != 2 {
		t.Fatalf("sources %+v", r.sources)
	}
	want := workspace.Source{Session: s.ID(), CallID: "call-7", Tool: "make_dir", Origin: tool.Origin{Kind: tool.OriginCLI}}
	if r.sources[0] != want {
		t.Errorf("source %+v, want %+v", r.sources[0], want)
	}
	if got := r.sources[1]; got.Session != c.ID() || got.Origin.Kind != tool.OriginAgent || got.Origin.Name != "kid" {
		t.Errorf("source of the child %+v", got)
	}
}
