package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestReportsOfPaths are reports about paths that were checked as one thing
// and opened as another, in both ways of opening.
func TestReportsOfPaths(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		out := filepath.Join(filepath.Dir(dir), "outside")
		plant(t, filepath.Dir(dir), []string{"outside/kept", "ws/.git/config", "ws/a.txt"}, map[string]string{"ws/d": out, "ws/l": out + "/not-there", "ws/rel": "../outside/neither"})
		w := open(Options{})
		refused := func(t *testing.T, name string) {
			t.Helper()
			if c, err := w.WriteFile(context.Background(), name, []byte("x"), WriteOptions{}); err == nil {
				t.Errorf("%s is written: %+v", name, c)
			}
			if _, err := w.Apply(context.Background(), []Step{{Op: OpMakeDir, Name: name}}); err == nil {
				t.Errorf("%s is made", name)
			}
			if entries, err := os.ReadDir(out); err != nil || len(entries) != 1 {
				t.Errorf("%s: outside there are %v, %v", name, entries, err)
			}
		}
		t.Run("F088 a new file behind a link that leads out", func(t *testing.T) {
			refused(t, "d/new/x.txt")
			refused(t, "d/x.txt")
			refused(t, "d/new/../x.txt")
		})
		t.Run("F089 a link to what does not exist outside", func(t *testing.T) {
			refused(t, "l")
			refused(t, "l/x")
			refused(t, "rel")
		})
		t.Run("F091 closed by any spelling", func(t *testing.T) {
			for _, name := range []string{".GIT/hooks/pre-commit", ".git./x", ".git /x", "GIT~1/x", "git~1", ".g\u200dit/x", ".GIT. ./config"} {
				if _, err := w.WriteFile(context.Background(), name, []byte("x"), WriteOptions{}); !errors.Is(err, ErrProtected) {
					t.Errorf("%q: %v", name, err)
				}
			}
			caf := open(Options{Protected: []string{"caf\u00e9"}})
			for _, name := range []string{"caf\u00e9/x", "cafe\u0301/x", "CAF\u00c9/x", "CAFE\u0301"} {
				if _, err := caf.WriteFile(context.Background(), name, []byte("x"), WriteOptions{}); !errors.Is(err, ErrProtected) {
					t.Errorf("%q: %v", name, err)
				}
			}
		})
		t.Run("F090 the root is a link", func(t *testing.T) {
			link := filepath.Join(filepath.Dir(dir), "link")
			if err := os.Symlink(dir, link); err != nil {
				t.Fatal(err)
			}
			v, err := Open(link, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = v.Close() }()
			for _, name := range []string{"a.txt", link + "/a.txt", dir + "/a.txt"} {
				if f, err := v.ReadFile(context.Background(), name, 100); err != nil || string(f.Data) != secret {
					t.Errorf("%s: %q, %v", name, f.Data, err)
				}
			}
		})
	})
}
