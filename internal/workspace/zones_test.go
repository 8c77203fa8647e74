package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestTheInnermostFolderDecides: no detour by "..", by a link or by another
// folder's name lifts the rules of the folder in which a path lies.
func TestTheInnermostFolderDecides(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		base := filepath.Dir(dir)
		plant(t, base, []string{"g/sub/f", "g/ro/f", "g/ro/rw/f", "d/f", "ws/vendor/f", "ws/in/vendor/f", "ws/ref/f", "ws/in/f"}, map[string]string{
			"g/lnk": "ro", "g/abs": base + "/g/ro", "g/sub/up": "../ro", "ws/to-ro": base + "/g/lnk", "d/to-ws": "../ws", "d/to-vendor": "../ws/vendor",
			"g/rw-by-link": "ro/rw", "d/hop": "../g/sub/../ro",
		})
		w := open(Options{
			Granted:      []string{base, base + "/g", base + "/g/ro/rw", dir + "/in"},
			ReadOnlyDirs: []string{base + "/g/ro", dir + "/ref"}, Protected: []string{"/vendor", "/in/vendor"},
		})
		ctx := context.Background()
		for name, want := range map[string]error{
			"g/ro/new1": ErrReadOnly, "g/sub/../ro/new2": ErrReadOnly, "g/lnk/new3": ErrReadOnly, "g/abs/new4": ErrReadOnly, "g/sub/up/new5": ErrReadOnly,
			"ws/to-ro/new6": ErrReadOnly, "d/../g/ro/new7": ErrReadOnly, "d/hop/n/e/w8": ErrReadOnly, "g/lnk/f": ErrReadOnly, "g/RO/new9": ErrReadOnly,
			"d/../ws/vendor/a": ErrProtected, "d/to-ws/vendor/b": ErrProtected, "d/to-vendor/c": ErrProtected, "ws/vendor/f": ErrProtected,
			"d/to-ws/ref/e": ErrReadOnly, "d/../ws/ref/f": ErrReadOnly,
			"ws/in/vendor/f": ErrProtected, "ws/in/../in/vendor/g": ErrProtected,
			"g/sub/new": nil, "g/ro/rw/new": nil, "g/rw-by-link/new2": nil, "g/lnk/rw/new3": nil, "d/new": nil, "d/to-ws/new": nil, "ws/in/new": nil,
		} {
			name = base + "/" + name
			_, err := w.WriteFile(ctx, name, []byte("x"), WriteOptions{})
			if want == nil && err != nil || !errors.Is(err, want) {
				t.Errorf("writing %s: %v, want %v", name, err, want)
			}
			if r, err := w.Resolve(name); err != nil || (r.Unwritable != "") != (want != nil) {
				t.Errorf("Resolve(%s) = %+v, %v", name, r, err)
			}
			if _, err := os.Lstat(name); err == nil && want != nil && filepath.Base(name) != "f" {
				t.Errorf("%s was made", name)
			}
		}
		for name, rel := range map[string]string{
			"d/../ws/in/f": "in/f", "d/to-ws/in/f": "in/f", "d/../ws": ".", "d/to-ws": ".", "g/sub/../ro/f": base + "/g/ro/f",
		} {
			if r, err := w.Resolve(base + "/" + name); err != nil || r.Rel != rel || !r.Exists {
				t.Errorf("Resolve(%s) = %+v, %v, want %s", name, r, err, rel)
			}
		}
		if rel, err := w.Rel(base + "/d/../ws/in/f"); err != nil || rel != "in/f" {
			t.Errorf("Rel = %q, %v", rel, err)
		}
	})
}

// TestAFurtherFolderBeneathTheTop: who works in a part of a workspace is
// held by the rules of the whole, also in another part that is granted.
func TestAFurtherFolderBeneathTheTop(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		base := filepath.Dir(dir)
		plant(t, base, []string{"other/vendor/f", "other/keys/f", "other/f"}, nil)
		w := open(Options{Top: base, Granted: []string{base + "/other"}, Protected: []string{"/other/vendor"}, Unreadable: []string{"/other/keys"}})
		ctx := context.Background()
		if _, err := w.WriteFile(ctx, base+"/other/vendor/f", nil, WriteOptions{}); !errors.Is(err, ErrProtected) {
			t.Errorf("writing what is protected: %v", err)
		}
		if _, err := w.ReadFile(ctx, base+"/other/keys/f", 100); !errors.Is(err, ErrUnreadable) || !w.Unreadable(base+"/other/keys/f") {
			t.Errorf("reading what is unreadable: %v", err)
		}
		if _, err := w.WriteFile(ctx, base+"/other/f", nil, WriteOptions{}); err != nil {
			t.Errorf("writing: %v", err)
		}
		if r, err := w.Resolve(base + "/other/f"); err != nil || r.Judged != "other/f" || r.Rel != base+"/other/f" {
			t.Errorf("Resolve = %+v, %v", r, err)
		}
	})
}
