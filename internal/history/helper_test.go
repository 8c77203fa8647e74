package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// A bench is a workspace with a history.
type bench struct {
	t     testing.TB
	dir   string
	state string
	h     *History
	line  *Timeline
	w     *workspace.Workspace
	calls int
}

func newBench(t testing.TB, opts Options, files map[string]string) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(base, "w"), state: filepath.Join(base, "state", "history")}
	if err := errors.Join(os.Mkdir(b.dir, 0o755), os.MkdirAll(filepath.Dir(b.state), 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		b.put(name, content)
	}
	b.reopen(opts)
	t.Cleanup(func() {
		if err := errors.Join(b.w.Close(), b.h.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// reopen opens the history anew, as another process would.
func (b *bench) reopen(opts Options) {
	b.t.Helper()
	if b.h != nil {
		if err := errors.Join(b.w.Close(), b.h.Close()); err != nil {
			b.t.Fatal(err)
		}
	}
	var err error
	if b.h, err = Open(b.state, opts); err != nil {
		b.t.Fatal(err)
	}
	b.line, b.w = b.open("s_own", "")
}

// open opens a session of a tree on the workspace, or on a folder of it.
func (b *bench) open(tree, below string) (*Timeline, *workspace.Workspace) {
	b.t.Helper()
	root := filepath.Join(b.dir, below)
	line, err := b.h.For(Place{Top: b.dir, Root: root, Tree: tree})
	if err != nil {
		b.t.Fatal(err)
	}
	w, err := workspace.Open(root, workspace.Options{Recorder: line, Top: b.dir})
	if err != nil {
		b.t.Fatal(err)
	}
	return line, w
}

// call is the context of the next call of a tool.
func (b *bench) call() context.Context {
	b.calls++
	return callNamed(fmt.Sprint("call", b.calls))
}

func callNamed(id string) context.Context {
	return workspace.WithSource(context.Background(), workspace.Source{Session: "s_own", CallID: id, Tool: "write_file"})
}

// put writes behind the history's back.
func (b *bench) put(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	if _, err := b.w.WriteFile(b.call(), name, []byte(content), workspace.WriteOptions{}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) apply(steps ...workspace.Step) {
	b.t.Helper()
	if _, err := b.w.Apply(b.call(), steps); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) list() []*Change {
	b.t.Helper()
	l, err := b.line.List(context.Background(), Filter{Limit: maxListed})
	if err != nil {
		b.t.Fatal(err)
	}
	return l.Changes
}

func (b *bench) newest() *Change { b.t.Helper(); return b.list()[0] }

func (b *bench) undo(o UndoOptions) *UndoResult {
	b.t.Helper()
	r, err := b.line.Undo(b.call(), b.w, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// tree describes every file of the workspace: its mode and its content.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(b.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == b.dir {
			return err
		}
		rel, _ := filepath.Rel(b.dir, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			out[rel] = info.Mode().String()
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			out[rel] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(p)
			out[rel] = info.Mode().String() + " " + string(data)
			return err
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) wantTree(want map[string]string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.tree()); diff != "" {
		b.t.Errorf("the tree (-want +got):\n%s", diff)
	}
}

func (b *bench) wantFile(name, want string) {
	b.t.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil || string(got) != want {
		b.t.Errorf("%s holds %q, want %q: %v", name, got, want, err)
	}
}

func lines(words ...string) string { return strings.Join(words, "\n") + "\n" }
