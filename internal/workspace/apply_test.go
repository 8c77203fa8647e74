package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/tool"
)

// lay makes files and folders: a name that ends in "/" is a folder, a
// content that begins with "-> " a link.
func lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		switch target, link := strings.CutPrefix(content, "-> "); {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(full, 0o755)
		case link:
			err = os.Symlink(target, full)
		default:
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// snapshot is lay read back.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir():
			out[rel+"/"] = ""
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			out[rel] = "-> " + target
			return err
		case !d.Type().IsRegular():
			out[rel] = d.Type().String()
		default:
			data, err := os.ReadFile(path)
			out[rel] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(name, data string) Step { return Step{Op: OpWrite, Name: name, Data: []byte(data)} }
func rm(name string) Step          { return Step{Op: OpRemove, Name: name} }
func mv(from, to string) Step      { return Step{Op: OpMove, Name: from, To: to} }
func over(from, to string) Step    { return Step{Op: OpMove, Name: from, To: to, Overwrite: true} }
func mkdir(name string) Step       { return Step{Op: OpMakeDir, Name: name} }

var before = map[string]string{
	"a": "A", "b": "B", "d/x": "X", "d/s/y": "Y", "e/": "", "l": "-> a", "ld": "-> d", "gone": "-> nowhere", "out": "-> /etc/passwd",
}

// with is before after some changes; "" removes, also everything beneath.
func with(changes map[string]string) map[string]string {
	out := maps.Clone(before)
	out["d/"], out["d/s/"] = "", ""
	for name, content := range changes {
		if content == "removed" {
			delete(out, name)
			continue
		}
		if content != "" || strings.HasSuffix(name, "/") {
			out[name] = content
			continue
		}
		maps.DeleteFunc(out, func(have, _ string) bool { return have == name || strings.HasPrefix(have, name+"/") })
	}
	return out
}

func TestApply(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		want  map[string]string // changes to before
		err   error             // or why nothing happens
		says  string
	}{
		{"nothing", nil, nil, nil, ""},
		{"many at once", []Step{write("a", "1"), write("n/e/w", "2"), rm("b"), mv("d/x", "x"), mkdir("m/k")},
			map[string]string{"a": "1", "n/": "", "n/e/": "", "n/e/w": "2", "b": "", "d/x": "", "x": "X", "m/": "", "m/k/": ""}, nil, ""},
		{"removed and written", []Step{rm("a"), write("a", "new")}, map[string]string{"a": "new"}, nil, ""},
		{"moved and the old path written", []Step{mv("a", "c"), write("a", "new")}, map[string]string{"a": "new", "c": "A"}, nil, ""},
		{"moved and then written", []Step{mv("a", "c"), write("c", "new")}, map[string]string{"a": "", "c": "new"}, nil, ""},
		{"written and then moved", []Step{write("a", "new"), mv("a", "c")}, map[string]string{"a": "", "c": "new"}, nil, ""},
		{"made and then moved", []Step{write("n", "new"), mv("n", "c")}, map[string]string{"c": "new"}, nil, ""},
		{"moved over", []Step{over("a", "b")}, map[string]string{"a": "", "b": "A"}, nil, ""},
		{"moved over and written again", []Step{over("a", "b"), write("a", "new")}, map[string]string{"a": "new", "b": "A"}, nil, ""},
		{"codex 11.1.6 moved onto itself", []Step{over("a", "a")}, nil, nil, ""},
		{"codex 11.1.6 moved onto itself by another spelling", []Step{over("d/x", "./d//x")}, nil, nil, ""},
		{"codex 11.1.6 moved onto itself through a link", []Step{over("d/x", "ld/x")}, nil, nil, ""},
		{"a tree, the innermost first", []Step{rm("d/s/y"), rm("d/s"), rm("d/x"), rm("d")}, map[string]string{"d": ""}, nil, ""},
		{"a tree emptied by a move", []Step{mv("d/s/y", "y"), rm("d/s")}, map[string]string{"d/s": "", "y": "Y"}, nil, ""},
		{"a folder replaced by a file", []Step{rm("e"), write("e", "file")}, map[string]string{"e/": "removed", "e": "file"}, nil, ""},
		{"a folder moves", []Step{mv("d", "n/d")}, map[string]string{"d": "", "n/": "", "n/d/": "", "n/d/x": "X", "n/d/s/": "", "n/d/s/y": "Y"}, nil, ""},
		{"a link is removed, not its target", []Step{rm("l")}, map[string]string{"l": ""}, nil, ""},
		{"a link to a folder is removed, not its target", []Step{rm("ld/")}, map[string]string{"ld": ""}, nil, ""},
		{"a dangling link, and one that leads out, are removed", []Step{rm("gone"), rm("out")}, map[string]string{"gone": "", "out": ""}, nil, ""},
		{"a link moves, not its target", []Step{mv("out", "e/out")}, map[string]string{"out": "", "e/out": "-> /etc/passwd"}, nil, ""},
		{"a file over a link replaces the link", []Step{over("b", "l")}, map[string]string{"b": "", "l": "B"}, nil, ""},
		{"a link removed and a file in its place", []Step{rm("l"), write("l", "file")}, map[string]string{"l": "file"}, nil, ""},
		{"a link brought back", []Step{rm("l"), {Op: OpWrite, Name: "l", Mode: fs.ModeSymlink, Data: []byte("b")}}, map[string]string{"l": "-> b"}, nil, ""},
		{"a folder that is there", []Step{mkdir("d"), mkdir("ld/s")}, nil, nil, ""},
		{"in a folder that a move makes", []Step{mv("a", "k/a"), write("k/f", "F"), mkdir("k")}, map[string]string{"a": "", "k/": "", "k/a": "A", "k/f": "F"}, nil, ""},
		{"a folder moves that a step makes", []Step{write("k/f", "F"), mv("k", "m")}, nil, ErrConflict, "step 1 makes"},
		{"a folder goes that a step makes", []Step{mkdir("k"), rm("k")}, nil, ErrConflict, "step 1 makes"},
		{"in a folder that is made", []Step{mkdir("k"), write("k/f", "F"), mkdir("k")}, map[string]string{"k/": "", "k/f": "F"}, nil, ""},

		{"no operation", []Step{{Name: "a"}}, nil, nil, "no operation"},
		{"written twice", []Step{write("a", "1"), write("a", "2")}, nil, ErrConflict, "a: step 1 writes this already"},
		{"codex 11.1.11 written twice by two spellings", []Step{write("d/x", "1"), write("./d//x", "2")}, nil, ErrConflict, "step 1 writes"},
		{"codex 11.1.11 written twice through a link", []Step{write("d/x", "1"), write("ld/x", "2")}, nil, ErrConflict, "step 1 writes"},
		{"written and removed", []Step{write("a", "1"), rm("a")}, nil, ErrConflict, "step 1 writes"},
		{"removed twice", []Step{rm("a"), rm("a")}, nil, ErrConflict, "step 1 removes"},
		{"moved twice", []Step{mv("a", "c"), mv("c", "f")}, nil, ErrConflict, "step 1 moves"},
		{"two moves to one path", []Step{mv("a", "c"), over("b", "c")}, nil, ErrConflict, "step 1 moves"},
		{"moved onto a new file", []Step{write("c", "1"), over("b", "c")}, nil, ErrConflict, "step 1 writes"},
		{"in a folder that moves", []Step{mv("d", "k"), write("k/x", "1")}, nil, ErrConflict, "call of its own"},
		{"out of a folder that moved", []Step{mv("d", "k"), write("d/x", "1")}, nil, ErrConflict, "call of its own"},
		{"a folder moves of which something was written", []Step{write("d/x", "1"), mv("d", "k")}, nil, ErrConflict, "call of its own"},
		{"in a folder that is removed", []Step{rm("e"), write("e/f", "1")}, nil, ErrConflict, "call of its own"},
		{"a folder in which something is made", []Step{write("e/f", "1"), rm("e")}, nil, ErrConflict, "step 1"},
		{"through a link that is removed", []Step{rm("ld"), write("ld/new", "1")}, nil, ErrConflict, "without links"},
		{"a file and a folder at one path", []Step{write("k/f", "1"), write("k", "2")}, nil, ErrNotRegular, ""},
		{"beneath a file that is made", []Step{write("k", "1"), write("k/f", "2")}, nil, syscall.ENOTDIR, ""},
		{"what is missing is removed", []Step{rm("k")}, nil, fs.ErrNotExist, "removing k"},
		{"what is missing is moved", []Step{mv("k", "c")}, nil, fs.ErrNotExist, "moving k to c"},
		{"onto a file", []Step{mv("a", "b")}, nil, fs.ErrExist, "nothing was moved"},
		{"onto a folder", []Step{over("a", "d")}, nil, fs.ErrExist, "for example d/a"},
		{"a folder onto a file", []Step{over("d", "a")}, nil, fs.ErrExist, "does not replace"},
		{"into itself", []Step{mv("d", "d/s/d")}, nil, nil, "into itself"},
		{"a folder with something in it", []Step{rm("d")}, nil, ErrNotEmpty, ""},
		{"a file made where a folder is", []Step{mkdir("a")}, nil, fs.ErrExist, "is a file"},
		{"a link where something is", []Step{{Op: OpWrite, Name: "a", Mode: fs.ModeSymlink, Data: []byte("b")}}, nil, fs.ErrExist, ""},
		{"the root", []Step{rm(".")}, nil, ErrProtected, ""},
		{"the root moves", []Step{mv("./", "k")}, nil, ErrProtected, ""},
		{"L50 one of several is wrong", []Step{write("a", "1"), write("n/new", "2"), rm("k")}, nil, fs.ErrNotExist, "step 3 of 3: removing k"},
		{"L1 all problems at once", []Step{rm("k"), write(".git/x", "1"), mv("a", "b")}, nil, ErrProtected, "step 3 of 3"},
		{"codex 11.1.1 create only", []Step{write("n", "1"), {Op: OpWrite, Name: "l", CreateOnly: true}}, nil, fs.ErrExist, ""},
		{"another version", []Step{{Op: OpRemove, Name: "a", Expect: &Version{Size: 1}}}, nil, ErrChanged, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
				lay(t, dir, before)
				changes, err := open(Options{}).Apply(context.Background(), tt.steps)
				switch refused := tt.err != nil || tt.says != ""; {
				case refused != (err != nil) || tt.err != nil && !errors.Is(err, tt.err):
					t.Fatalf("error %v, want %v", err, tt.err)
				case refused:
					var e *tool.Error
					if !errors.As(err, &e) || !strings.Contains(e.Text, tt.says) {
						t.Errorf("error %v, want it to say %q", err, tt.says)
					}
				case len(changes) != len(tt.steps):
					t.Errorf("%d changes for %d steps", len(changes), len(tt.steps))
				}
				if diff := cmp.Diff(with(tt.want), snapshot(t, dir)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestApplySays: what the changes report.
func TestApplySays(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		lay(t, dir, before)
		if err := os.Link(filepath.Join(dir, "b"), filepath.Join(dir, "b2")); err != nil {
			t.Fatal(err)
		}
		w := open(Options{})
		w.Views().Wrote("d/s/y", Version{}, SumOf([]byte("Y")), "Y")
		w.Views().Wrote("a", Version{}, SumOf([]byte("A")), "A")
		changes, err := w.Apply(context.Background(), []Step{mv("d", "n/m"), rm("b"), rm("a"), mkdir("e"), {Op: OpWrite, Name: "run", Mode: 0o755}, {Op: OpMakeDir, Name: "priv", Mode: 0o700}})
		if err != nil {
			t.Fatal(err)
		}
		if c := changes[0]; c.From != "d" || c.Rel != "n/m" || !c.Created || !c.Mode.IsDir() || len(c.Folders) != 1 || c.Folders[0] != "n" {
			t.Errorf("the move: %+v", c)
		}
		if c := changes[1]; c.OtherNames != 1 || c.Before.Size != 1 || !c.After.IsZero() {
			t.Errorf("the removal: %+v", c)
		}
		if c := changes[3]; !c.Unchanged || c.Created {
			t.Errorf("the folder that was there: %+v", c)
		}
		for name, want := range map[string]fs.FileMode{"run": 0o755, "priv": 0o700 | fs.ModeDir} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
		if _, known, _ := w.Views().Of("n/m/s/y"); !known {
			t.Error("what was seen of a file is lost when its folder moves")
		}
		for _, gone := range []string{"d/s/y", "a"} {
			if _, known, _ := w.Views().Of(gone); known {
				t.Errorf("%s is still known", gone)
			}
		}
		f, err := w.ReadFile(context.Background(), "run", 10)
		if err != nil || f.Version != changes[4].After {
			t.Errorf("%v, want %v (%v)", f.Version, changes[4].After, err)
		}
	})
}

// TestMovedViewIsOfTheVersionAfter: a file that was seen, moved and not
// changed may be written without being read again, also without its sum.
func TestMovedViewIsOfTheVersionAfter(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		lay(t, dir, map[string]string{"a": "A"})
		w, ctx := open(Options{}), context.Background()
		f, err := w.ReadFile(ctx, "a", 10)
		if err != nil {
			t.Fatal(err)
		}
		w.Views().Saw("a", View{Version: f.Version, Total: 1, Spans: []Span{{0, 1}}}, "A")
		if _, err := w.Move(ctx, "a", "c", MoveOptions{}); err != nil {
			t.Fatal(err)
		}
		f, err = w.ReadFile(ctx, "c", 10)
		view, known, _ := w.Views().Of("c")
		if err != nil || !known || !view.Same(f) {
			t.Errorf("view %+v of %+v, %v", view, f, err)
		}
	})
}

// TestConcurrentApplies: changes over overlapping folders in every order end,
// and each is whole.
func TestConcurrentApplies(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		folders := []string{"a", "b", "c", "a/d", "b/new", "c/new/deep"}
		handles := []*Workspace{open(Options{}), open(Options{})}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for round := range 5 {
					var steps []Step
					for k := range folders {
						steps = append(steps, write(folders[(i+k*(1+i%5))%len(folders)]+fmt.Sprintf("/f%d-%d-%d", i, round, k), "x"))
					}
					steps = append(steps, write(fmt.Sprintf("%s/shared", folders[(i+round)%len(folders)]), fmt.Sprint(i)))
					if _, err := handles[i%2].Apply(context.Background(), steps); err != nil {
						t.Error(err)
					}
				}
			})
		}
		within(t, "applying", wg.Wait)
		made := 0
		for name := range snapshot(t, dir) {
			if strings.Contains(name, "/f") {
				made++
			}
			if IsTemp(filepath.Base(name)) {
				t.Errorf("left behind: %s", name)
			}
		}
		if made != 8*5*len(folders) {
			t.Errorf("%d files, want %d", made, 8*5*len(folders))
		}
	})
}
