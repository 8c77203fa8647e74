package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plant makes files, with the folders they lie in, and links.
func plant(t *testing.T, base string, files []string, links map[string]string) {
	t.Helper()
	for _, name := range files {
		full := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(secret), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range links {
		full := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.Symlink(target, full)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClosedPathsInEveryFolder: settings and state are out of reach in the
// root and in granted folders, by their own name and by every link.
func TestClosedPathsInEveryFolder(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		base := filepath.Dir(dir)
		plant(t, base, []string{"home/.config/handrail/config.json", "home/.state/journal", "home/plain", "ws/c[1].json", "ws/c1.json", "ws/target.json", "ws/sub/c[1].json"},
			map[string]string{
				"home/lnk": ".state", "ws/lnk": base + "/home/.state", "ws/conf": base + "/home/.config/handrail/config.json",
				"linked.json": "ws/target.json", "chain.json": "chain2.json", "chain2.json": "ws/unmade/later.json",
				"home/dots": "../home/.config",
			})
		home := base + "/home"
		w := open(Options{Granted: []string{home}, Unreadable: []string{}, Closed: []string{
			home + "/.state", home + "/dots/handrail/config.json", base + "/linked.json", base + "/chain.json", dir + "/c[1].json", home + "/un/made.json",
		}})
		ctx := context.Background()
		for _, name := range []string{
			home + "/.state", home + "/.state/journal", home + "/.state/new/x", home + "/.STATE/new", home + "/lnk/journal", home + "/lnk/new", "lnk/journal", "lnk/new", "lnk",
			home + "/.config/handrail/config.json", home + "/.config/../.config/handrail/config.json", "conf",
			"target.json", "unmade/later.json", dir + "/target.json", "c[1].json", home + "/un/made.json",
		} {
			_, readErr := w.ReadFile(ctx, name, 100)
			_, dirErr := w.OpenDir(name)
			_, statErr := w.Stat(name)
			_, writeErr := w.WriteFile(ctx, name, []byte("x"), WriteOptions{})
			_, editErr := w.Edit(ctx, name, func(File) ([]byte, error) { return []byte("x"), nil })
			for what, err := range map[string]error{"read": readErr, "list": dirErr, "stat": statErr, "write": writeErr, "edit": editErr} {
				if !errors.Is(err, ErrUnreadable) {
					t.Errorf("%s %s: %v", what, name, err)
				}
			}
		}
		for name, want := range map[string]bool{
			home + "/.state": true, home + "/.state/journal": true, home + "/.config/handrail/config.json": true, home + "/.config/handrail": false,
			home + "/plain": false, "target.json": true, "c[1].json": true, "c1.json": false, "sub/c[1].json": false, base + "/other": true,
		} {
			if got := w.Unreadable(name); got != want {
				t.Errorf("Unreadable(%s) = %v", name, got)
			}
		}
		for _, name := range []string{home + "/plain", "c1.json", "sub/c[1].json", home + "/.config/handrail/other.json"} {
			if _, err := w.WriteFile(ctx, name, []byte("x"), WriteOptions{}); err != nil {
				t.Errorf("writing %s: %v", name, err)
			}
		}
	})
}

func TestClosedPathsThatMeanNothing(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plant(t, base, []string{"state/ws/f"}, map[string]string{"loop": "loop2", "loop2": "loop"})
	for name, opts := range map[string]Options{
		"relative":            {Closed: []string{"state"}},
		"the root":            {Closed: []string{base + "/state/ws"}},
		"above the root":      {Closed: []string{base + "/state"}},
		"a loop":              {Closed: []string{base + "/loop"}},
		"a granted folder":    {Granted: []string{base}, Closed: []string{base}},
		"under a loop of two": {Closed: []string{base + "/loop/x"}},
	} {
		if w, err := Open(base+"/state/ws", opts); err == nil {
			_ = w.Close()
			t.Errorf("%s: opened", name)
		} else if !strings.Contains(err.Error(), "closing paths") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
