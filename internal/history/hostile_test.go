package history

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// Models and their servers give one id to several calls. Each is a change of
// its own.
func TestACallIDThatIsUsedAgain(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "0", "b": "0"})
	for _, name := range []string{"a", "b"} {
		if _, err := b.w.WriteFile(callNamed("call_0"), name, []byte("1"), workspace.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	b.undo(UndoOptions{})
	b.wantFile("a", "1")
	b.wantFile("b", "0")
}

// What is written into a file that has been removed is recorded nowhere.
func TestTheStateFolderIsRemovedMeanwhile(t *testing.T) {
	for name, gone := range map[string]func(b *bench) string{
		"the segments": func(b *bench) string { return filepath.Join(b.state, folderOf(b.dir)) },
		"all":          func(b *bench) string { return filepath.Dir(b.state) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{}, map[string]string{"a": "0"})
			b.write("a", "1")
			if err := os.RemoveAll(gone(b)); err != nil {
				t.Fatal(err)
			}
			b.write("a", "2")
			if n := len(b.list()); n != 1 {
				t.Fatalf("%d changes", n)
			}
			b.undo(UndoOptions{})
			b.wantFile("a", "1")
		})
	}
}

// On a full disk the record may be written and its end not.
func TestAnEndThatCouldNotBeWritten(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "0"})
	b.write("a", "1")
	seg := b.line.trail.own
	file := seg.file
	read, err := os.Open(filepath.Join(b.state, folderOf(b.dir), seg.name))
	if err != nil {
		t.Fatal(err)
	}
	done, err := b.line.Begin(b.call(), []workspace.Planned{{Rel: "b", After: &workspace.State{Mode: 0o644, Size: 1, Data: []byte("b"), Whole: true}}})
	if err != nil {
		t.Fatal(err)
	}
	seg.file = read // which takes no writes
	b.put("b", "b")
	done(nil)
	seg.file = file
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	if c := b.newest(); c.Status != Done {
		t.Errorf("the change is %s", c.Status)
	}
	b.undo(UndoOptions{})
	b.undo(UndoOptions{})
	b.wantTree(map[string]string{"a": "-rw-r--r-- 0"})
}

// Names need not be UTF-8.
func TestNamesThatAreNoText(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"d/\xff.txt": "1", "d/\xfe.txt": "2", "-rf": "3", "~x": "4", "e\u0301": "5", "é": "6", `q"uote`: "7"})
	start := b.tree()
	b.apply(stepRemove("d/\xff.txt"), stepRemove("d/\xfe.txt"), stepRemove("d"), stepRemove("-rf"), stepRemove("./~x"), stepRemove("e\u0301"), stepRemove("é"), stepRemove(`q"uote`))
	b.undo(UndoOptions{})
	b.wantTree(start)
	b.apply(stepMove("d/\xff.txt", "m/\xfd"))
	b.undo(UndoOptions{})
	b.wantTree(start)
}

// A change that puts another file in the place of one gives it other
// permissions as well.
func TestUndoRestoresTheModeOfAReplacedFile(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"run.sh": "1"})
	if err := os.Chmod(filepath.Join(b.dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	start := b.tree()
	b.apply(stepRemove("run.sh"), stepWrite("run.sh", "2"))
	after := b.tree()
	b.undo(UndoOptions{})
	b.wantTree(start)
	b.undo(UndoOptions{ID: b.newest().ID})
	b.wantTree(after)
}

// Comparing lines cannot be interrupted, so there is a bound to it.
func TestTooManyLinesToBeCompared(t *testing.T) {
	many := func(last string) string { return strings.Repeat("1\n2\n", maxLines/3) + last }
	b := newBench(t, Options{}, map[string]string{"a": many("0")})
	b.write("a", many("1"))
	id := b.newest().ID
	b.write("a", "before\n"+many("1"))
	start := time.Now()
	_, err := b.line.Undo(b.call(), b.w, UndoOptions{ID: id})
	if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("undo: %v", err)
	}
	d, err := b.line.Diff(b.call(), b.w, Range{ID: id}, nil)
	if err != nil || !strings.Contains(d.Text, "too large to compare") {
		t.Errorf("diff: %.80q, %v", d.Text, err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A file that is reached through a link by now is another one.
func TestAFolderThatBecameALink(t *testing.T) {
	for name, change := range map[string]func(b *bench){
		"created": func(b *bench) { b.write("d/__init__.py", "") },
		"deleted": func(b *bench) { b.put("d/gone", "1"); b.apply(stepRemove("d/gone")) },
		"moved":   func(b *bench) { b.put("d/old", "1"); b.apply(stepMove("d/old", "new")) },
		"moved in": func(b *bench) {
			b.put("old", "")
			b.apply(stepMove("old", "d/__init__.py"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{}, map[string]string{"other/__init__.py": ""})
			change(b)
			if err := errors.Join(os.Rename(filepath.Join(b.dir, "d"), filepath.Join(b.dir, "away")), os.Symlink("other", filepath.Join(b.dir, "d"))); err != nil {
				t.Fatal(err)
			}
			before := b.tree()
			if r, err := b.line.Undo(b.call(), b.w, UndoOptions{}); !errors.Is(err, ErrConflict) {
				t.Errorf("%+v, %v", r, err)
			}
			b.wantTree(before)
		})
	}
}

// What stands where something was moved to need not be that.
func TestUndoMovesNothingElseBack(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "1"})
	b.apply(stepMove("a", "b"))
	if err := os.Remove(filepath.Join(b.dir, "b")); err != nil {
		t.Fatal(err)
	}
	b.put("b/mine", "2")
	before := b.tree()
	if _, err := b.line.Undo(b.call(), b.w, UndoOptions{}); !errors.Is(err, ErrConflict) {
		t.Errorf("%v", err)
	}
	b.wantTree(before)
}
