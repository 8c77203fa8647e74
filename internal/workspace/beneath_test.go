package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRootLiesBeneath(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"a/b", "ab", "out"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"a/leaves": "../out", "a/stays": "b"} {
		if err := os.Symlink(target, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	for root, good := range map[string]bool{"a": true, "a/b": true, "a/stays": true, "a/leaves": false, "ab": false, "out": false, ".": false} {
		w, err := Open(filepath.Join(top, root), Options{Beneath: filepath.Join(top, "a")})
		if good != (err == nil) || err != nil && !strings.Contains(err.Error(), "does not lie beneath") {
			t.Errorf("%s: %v", root, err)
		}
		if err == nil {
			_ = w.Close()
		}
	}
}

// Between the resolving of its path and its opening, the folder is replaced
// by a link that leads out.
func TestRootThatIsReplacedWhileItIsOpened(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"in/root", "out"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(top, "in", "root")
	swap := func(dir string) (tree, error) {
		if err := os.Remove(root); err != nil {
			return nil, err
		}
		if err := os.Symlink(filepath.Join(top, "out"), root); err != nil {
			return nil, err
		}
		return newTree(dir)
	}
	w, err := open(root, Options{Beneath: filepath.Join(top, "in")}, swap)
	if err == nil {
		_ = w.Close()
		t.Fatal("a folder outside was opened")
	}
	if !strings.Contains(err.Error(), "does not lie beneath") {
		t.Error(err)
	}
}
