package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// kinds are changes of every kind, on the same files.
var kinds = map[string]func(b *bench){
	"a file is changed":          func(b *bench) { b.write("a.txt", "new\n") },
	"a program stays one":        func(b *bench) { b.write("run.sh", "echo 2\n") },
	"a file is created":          func(b *bench) { b.write("new.txt", "x") },
	"in new folders":             func(b *bench) { b.write("p/q/r/new.txt", "x") },
	"an empty one":               func(b *bench) { b.write("empty", "") },
	"a file is deleted":          func(b *bench) { b.apply(workspace.Step{Op: workspace.OpRemove, Name: "run.sh"}) },
	"a link is deleted":          func(b *bench) { b.apply(workspace.Step{Op: workspace.OpRemove, Name: "link"}) },
	"a dangling link is deleted": func(b *bench) { b.apply(workspace.Step{Op: workspace.OpRemove, Name: "dangling"}) },
	"through a link":             func(b *bench) { b.write("link", "new\n") },
	"binary":                     func(b *bench) { b.write("bin", "\x00\xff\x00\x01") },
	"a file is moved":            func(b *bench) { b.apply(workspace.Step{Op: workspace.OpMove, Name: "run.sh", To: "deep/er/run2.sh"}) },
	"moved over another": func(b *bench) {
		b.apply(workspace.Step{Op: workspace.OpMove, Name: "run.sh", To: "a.txt", Overwrite: true})
	},
	"moved and changed": func(b *bench) {
		b.apply(workspace.Step{Op: workspace.OpMove, Name: "a.txt", To: "z.txt"}, workspace.Step{Op: workspace.OpWrite, Name: "z.txt", Data: []byte("changed\n")})
	},
	"a link is moved":   func(b *bench) { b.apply(workspace.Step{Op: workspace.OpMove, Name: "link", To: "link2"}) },
	"a folder is moved": func(b *bench) { b.apply(workspace.Step{Op: workspace.OpMove, Name: "d", To: "e"}) },
	"a folder is made":  func(b *bench) { b.apply(workspace.Step{Op: workspace.OpMakeDir, Name: "m/n"}) },
	"a folder with all in it is deleted": func(b *bench) {
		b.apply(workspace.Step{Op: workspace.OpRemove, Name: "d/x"}, workspace.Step{Op: workspace.OpRemove, Name: "d/sub/y"},
			workspace.Step{Op: workspace.OpRemove, Name: "d/sub"}, workspace.Step{Op: workspace.OpRemove, Name: "d"})
	},
	"many at once": func(b *bench) {
		b.apply(workspace.Step{Op: workspace.OpWrite, Name: "a.txt", Data: []byte("A\n")}, workspace.Step{Op: workspace.OpRemove, Name: "bin"},
			workspace.Step{Op: workspace.OpWrite, Name: "n/1", Data: []byte("1")}, workspace.Step{Op: workspace.OpMove, Name: "d/x", To: "n/2"})
	},
	"several writes of one call": func(b *bench) {
		ctx := b.call()
		for _, s := range []string{"1", "2", "3"} {
			if _, err := b.w.WriteFile(ctx, "a.txt", []byte(s), workspace.WriteOptions{}); err != nil {
				b.t.Fatal(err)
			}
		}
	},
}

func newKindBench(t *testing.T) *bench {
	b := newBench(t, Options{}, map[string]string{"a.txt": "old\nno newline", "run.sh": "echo 1\n", "bin": "\x00\x01\x02", "d/x": "x\n", "d/sub/y": "y\n"})
	if err := errors.Join(os.Chmod(filepath.Join(b.dir, "run.sh"), 0o750), os.Chmod(filepath.Join(b.dir, "d/sub"), 0o700),
		os.Symlink("a.txt", filepath.Join(b.dir, "link")), os.Symlink("nowhere", filepath.Join(b.dir, "dangling"))); err != nil {
		t.Fatal(err)
	}
	return b
}

// Every kind of change comes back exactly, and the undo of the undo is the
// change again.
func TestUndoAndRedo(t *testing.T) {
	for name, do := range kinds {
		t.Run(name, func(t *testing.T) {
			b := newKindBench(t)
			before := b.tree()
			do(b)
			after := b.tree()
			if cmp.Equal(before, after) {
				t.Fatal("nothing was changed")
			}
			if n := len(b.list()); n != 1 {
				t.Fatalf("%d changes", n)
			}
			dry := b.undo(UndoOptions{DryRun: true})
			b.wantTree(after)
			r := b.undo(UndoOptions{})
			b.wantTree(before)
			if r.Diff != dry.Diff || r.Diff == "" {
				t.Errorf("the diff is %q, and was %q before it was done", r.Diff, dry.Diff)
			}
			if _, err := b.line.Undo(b.call(), b.w, UndoOptions{}); !errors.Is(err, ErrNotFound) {
				t.Errorf("a second undo: %v", err)
			}
			if _, err := b.line.Undo(b.call(), b.w, UndoOptions{ID: r.Undone[0].ID}); err == nil || !strings.Contains(err.Error(), "undo "+r.ID) {
				t.Errorf("undoing it again: %v", err)
			}
			b.undo(UndoOptions{ID: r.ID}) // redo
			b.wantTree(after)
			b.undo(UndoOptions{}) // it is the newest again
			b.wantTree(before)
		})
	}
}

// All kinds one after the other come back in one go.
func TestUndoSince(t *testing.T) {
	for name, first := range kinds {
		t.Run(name, func(t *testing.T) {
			b := newKindBench(t)
			b.write("other.txt", "1")
			before := b.tree()
			first(b)
			id := b.newest().ID
			b.write("other.txt", "2")
			b.undo(UndoOptions{})
			b.write("n1/n2/f", "x")
			b.apply(workspace.Step{Op: workspace.OpMove, Name: "n1", To: "n3"})
			b.write("n3/n2/f", "y")
			b.write("n3/n2/g", "g")
			after := b.tree()
			r := b.undo(UndoOptions{ID: id, Since: true})
			b.wantTree(before)
			b.undo(UndoOptions{ID: r.ID})
			b.wantTree(after)
		})
	}
}

func TestF227_EditsByHandAreKept(t *testing.T) {
	old := lines("one", "two", "three", "four", "five", "six", "seven")
	b := newBench(t, Options{}, map[string]string{"f": old})
	b.write("f", strings.Replace(old, "two", "TWO", 1))
	id := b.newest().ID
	t.Run("F227 elsewhere in the file: merged", func(t *testing.T) {
		b.put("f", strings.Replace(strings.Replace(old, "two", "TWO", 1), "six", "by hand", 1))
		r := b.undo(UndoOptions{ID: id})
		b.wantFile("f", strings.Replace(old, "six", "by hand", 1))
		if r.Files[0].What != UndoMerged {
			t.Errorf("it is said to be %q", r.Files[0].What)
		}
		b.undo(UndoOptions{ID: r.ID})
		b.wantFile("f", strings.Replace(strings.Replace(old, "two", "TWO", 1), "six", "by hand", 1))
	})
	t.Run("F227 in the same line: a conflict that names it, and nothing is changed", func(t *testing.T) {
		b.put("f", strings.Replace(old, "two", "2", 1))
		_, err := b.line.Undo(b.call(), b.w, UndoOptions{ID: id})
		if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "f: line 2") {
			t.Errorf("the answer is %v", err)
		}
		b.wantFile("f", strings.Replace(old, "two", "2", 1))
	})
}

func TestL50_UndoIsAllOrNothing(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "1\n", "b": "1\n"})
	b.apply(workspace.Step{Op: workspace.OpWrite, Name: "a", Data: []byte("2\n")}, workspace.Step{Op: workspace.OpWrite, Name: "b", Data: []byte("2\n")},
		workspace.Step{Op: workspace.OpWrite, Name: "c", Data: []byte("2\n")})
	b.put("b", "hand\n")
	b.put("c", "2\nhand\n")
	tree := b.tree()
	_, err := b.line.Undo(b.call(), b.w, UndoOptions{})
	for _, want := range []string{"b: line 1", "c: it was created by this change and changed since (line 2)"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	b.wantTree(tree)
	r := b.undo(UndoOptions{Paths: []string{"a"}})
	b.wantFile("a", "1\n")
	c, err := b.line.Get(context.Background(), r.Undone[0].ID)
	if err != nil || c.IsUndone() || !c.undoneAt("a") {
		t.Errorf("after a part of it: %+v, %v", c, err)
	}
	b.put("b", "2\n")
	b.put("c", "2\n")
	b.put("a", "hand\n")
	b.undo(UndoOptions{}) // the rest
	b.wantFile("b", "1\n")
	b.wantFile("a", "hand\n")
	if c, err = b.line.Get(context.Background(), c.ID); err != nil || !c.IsUndone() {
		t.Errorf("after the rest of it: %+v, %v", c.UndoneBy, err)
	}
}

func TestWhoseChangesAreUndone(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "1", "b": "1"})
	b.write("a", "2")
	id := b.newest().ID
	_, w := b.open("s_other", "")
	defer func() { _ = w.Close() }()
	if _, err := w.WriteFile(context.Background(), "b", []byte("2"), workspace.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.write("c", "1")
	if r := b.undo(UndoOptions{ID: id, Since: true}); r.Left != 1 || len(r.Undone) != 2 {
		t.Errorf("%d changes of others left, %d undone", r.Left, len(r.Undone))
	}
	b.wantFile("b", "2")
	if _, err := b.line.Undo(b.call(), b.w, UndoOptions{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("without a name, the change of another: %v", err)
	}
	if r := b.undo(UndoOptions{Anybody: true}); r.Undone[0].Own {
		t.Error("it is said to be the own one")
	}
	b.wantFile("b", "1")
}

func TestAChildSeesItsFolder(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"sub/a": "1", "top": "1"})
	line, w := b.open("s_own", "sub")
	defer func() { _ = w.Close() }()
	if _, err := w.WriteFile(callNamed("child"), "a", []byte("2"), workspace.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.write("top", "2")
	l, err := line.List(context.Background(), Filter{})
	if err != nil || len(l.Changes) != 1 || l.Changes[0].Files[0].Path != "a" {
		t.Fatalf("the child sees %+v, %v", l.Changes, err)
	}
	if got := b.list()[1].Files[0].Path; got != "sub/a" {
		t.Errorf("the parent sees %q", got)
	}
	b.undo(UndoOptions{ID: l.Changes[0].ID})
	b.wantFile("sub/a", "1")
	b.apply(workspace.Step{Op: workspace.OpWrite, Name: "sub/a", Data: []byte("3")}, workspace.Step{Op: workspace.OpWrite, Name: "top", Data: []byte("3")})
	id := b.newest().ID
	if _, err := line.Undo(callNamed("child2"), w, UndoOptions{ID: id}); err == nil || !strings.Contains(err.Error(), "outside of this session's folder") {
		t.Errorf("the undo of what reaches further: %v", err)
	}
	if _, err := line.Undo(callNamed("child3"), w, UndoOptions{ID: id, Paths: []string{"a"}}); err != nil {
		t.Error(err)
	}
	b.wantFile("sub/a", "1")
	b.wantFile("top", "3")
}

func TestUndoKeepsToTheRules(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "1"})
	b.write("a", "2")
	for name, opts := range map[string]workspace.Options{
		"read-only": {ReadOnly: true}, "protected": {Protected: []string{"a"}}, "unreadable": {Unreadable: []string{"a"}},
		"not granted": {Grants: &workspace.Grants{Patterns: []string{"b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			opts.Recorder = b.line
			w, err := workspace.Open(b.dir, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			if _, err := b.line.Undo(b.call(), w, UndoOptions{}); err == nil {
				t.Error("it was undone")
			}
			b.wantFile("a", "2")
			if name == "unreadable" {
				d, err := b.line.Diff(context.Background(), w, Range{ID: b.newest().ID}, nil)
				if err != nil || d.Text != "" || len(d.Withheld) != 1 {
					t.Errorf("the diff is %+v, %v", d, err)
				}
			}
		})
	}
}

func TestTooLargeToBeKept(t *testing.T) {
	b := newBench(t, Options{MaxFile: 10}, map[string]string{"big": strings.Repeat("x", 20), "small": "1"})
	b.apply(workspace.Step{Op: workspace.OpWrite, Name: "big", Data: []byte(strings.Repeat("y", 20))})
	if _, err := b.line.Undo(b.call(), b.w, UndoOptions{}); !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "is not kept") {
		t.Errorf("the answer is %v", err)
	}
	if f := b.newest().Files[0]; !f.Before.Lost || f.Before.Size != 20 {
		t.Errorf("the record is %+v", f.Before)
	}
	b.apply(workspace.Step{Op: workspace.OpMove, Name: "big", To: "big2"})
	b.undo(UndoOptions{}) // names are enough for that
	b.wantFile("big", strings.Repeat("y", 20))
}
