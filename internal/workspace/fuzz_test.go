//go:build linux || darwin

package workspace

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// words are the elements that the paths of FuzzPaths are made of.
var pathWords = []string{
	"a", "b", "..", ".", "", "in.txt", "deep.txt", "leaf-out", "dir-out", "dir-in", "dir-abs-in", "self", "parent", "up-in",
	"up-out", "s.txt", "outside", "ws", "chain", "loop", "dangling", "missing", ".git", "config", "to-git", "x", "zero", "~", "new",
}

// FuzzPaths asks the system itself where a name leads, and holds the
// workspace to it: what it opens lies inside, what it writes lies inside.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"a/in.txt", "dir-in/../x", "missing/../../outside/s.txt", "/etc/passwd", "a\x00", "self/self/chain"} {
		f.Add(seed, []byte{})
	}
	f.Add("", []byte{9, 0, 5})
	f.Add("", []byte{0, 1, 14})
	f.Add("", []byte{11, 2, 16, 15})
	f.Add("", []byte{21, 2, 2, 16, 15})
	base, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	dir := filepath.Join(base, "ws")
	out := hostile(f, dir)
	var spaces []*Workspace
	for _, engine := range engines {
		w, err := open(dir, Options{}, engine)
		if err != nil {
			f.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		spaces = append(spaces, w)
	}
	f.Fuzz(func(t *testing.T, name string, picks []byte) {
		var elems []string
		for _, p := range picks[:min(len(picks), 12)] {
			elems = append(elems, pathWords[int(p)%len(pathWords)])
		}
		name += strings.Join(elems, "/")
		for _, w := range spaces {
			checkPath(t, w, dir, name)
		}
		if entries, err := os.ReadDir(out); err != nil || len(entries) != 1 {
			t.Fatalf("%q: outside holds %v, %v", name, entries, err)
		}
		if b, err := os.ReadFile(out + "/s.txt"); err != nil || string(b) != secret {
			t.Fatalf("%q: the file outside is %q, %v", name, b, err)
		}
		if entries, err := os.ReadDir(base); err != nil || len(entries) != 2 {
			t.Fatalf("%q: beside the workspace are %v, %v", name, entries, err)
		}
		if b, err := os.ReadFile(dir + "/.git/config"); err != nil || string(b) != "git" {
			t.Fatalf("%q: the protected file is %q, %v", name, b, err)
		}
	})
}

func checkPath(t *testing.T, w *Workspace, dir, name string) {
	t.Helper()
	ctx := context.Background()
	inside := func(path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
	if f, err := w.OpenFile(name); err == nil {
		opened, statErr := f.Stat()
		_ = f.Close()
		given := name
		if !filepath.IsAbs(given) {
			given = filepath.Join(dir, given) // lexically; the workspace allows no other ".."
		}
		real, err := filepath.EvalSymlinks(given)
		if err != nil || !inside(real) || statErr != nil {
			t.Fatalf("OpenFile(%q) opened what is %q, %v, %v", name, real, err, statErr)
		}
		if info, err := os.Stat(real); err != nil || !os.SameFile(info, opened) {
			t.Fatalf("OpenFile(%q) opened another file than %s", name, real)
		}
		if filepath.Base(real) == "id_rsa" || strings.Contains(real, "/.ssh") {
			t.Fatalf("OpenFile(%q) opened the unreadable %s", name, real)
		}
	}
	r, err := w.Resolve(name)
	if err != nil {
		if _, err := w.WriteFile(ctx, name, nil, WriteOptions{}); err == nil {
			t.Fatalf("WriteFile(%q) wrote what does not resolve", name)
		}
		return
	}
	if !inside(r.Abs) {
		t.Fatalf("Resolve(%q) = %+v", name, r)
	}
	if again, err := w.Resolve(r.Rel); err != nil || again.Abs != r.Abs {
		t.Fatalf("Resolve(%q) = %+v, and of that %+v, %v", name, r, again, err)
	}
	if r.Exists {
		if real, err := filepath.EvalSymlinks(r.Abs); err != nil || real != r.Abs {
			t.Fatalf("Resolve(%q) = %s, which is %s, %v", name, r.Abs, real, err)
		}
		return // writing what exists would change the fixture
	}
	c, err := w.WriteFile(ctx, name, []byte("x"), WriteOptions{CreateOnly: true})
	if err != nil {
		return
	}
	if r.Unwritable != "" || r.Unreadable != "" {
		t.Fatalf("WriteFile(%q) wrote against %+v", name, r)
	}
	undo(t, w, c)
}

// undo removes what a write made.
func undo(t *testing.T, w *Workspace, c Change) {
	t.Helper()
	for i, rel := range append([]string{c.Rel}, reversed(c.Folders)...) {
		path := filepath.Join(w.Root(), rel)
		if info, err := os.Lstat(path); err != nil || (i == 0) != info.Mode().IsRegular() || i > 0 && info.Mode().Type() != fs.ModeDir {
			t.Fatalf("after %+v, %s is %v, %v", c, rel, info, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func reversed(list []string) []string {
	var out []string
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i])
	}
	return out
}
