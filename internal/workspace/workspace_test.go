package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// engines are the two ways of opening beneath a folder; every test of this
// package that touches the disk runs over both.
var engines = map[string]func(string) (tree, error){
	"native":  newTree,
	"os.Root": newRootTree,
}

// eachEngine runs a test over a fresh folder for every engine.
func eachEngine(t *testing.T, fn func(t *testing.T, dir string, open func(Options) *Workspace)) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(base, "ws")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			fn(t, dir, func(opts Options) *Workspace {
				w, err := open(dir, opts, engine)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := w.Close(); err != nil {
						t.Error(err)
					}
				})
				return w
			})
		})
	}
}

// temps lists the temporary files beneath a folder.
func temps(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && IsTemp(d.Name()) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// within fails the test if fn does not come back soon: nothing may wait for
// the other end of a pipe.
func within(t *testing.T, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

func TestWriteReadEdit(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		w := open(Options{})
		ctx := context.Background()
		c, err := w.WriteFile(ctx, "a/b/c.txt", []byte("one\n"), WriteOptions{})
		if err != nil || !c.Created || c.Rel != "a/b/c.txt" || len(c.Folders) != 2 {
			t.Fatalf("change %+v, error %v", c, err)
		}
		f, err := w.ReadFile(ctx, filepath.Join(dir, "a/b/c.txt"), 100)
		if err != nil || string(f.Data) != "one\n" || f.Version != c.After {
			t.Fatalf("file %+v, error %v, want version %v", f, err, c.After)
		}
		c, err = w.Edit(ctx, "./a//b/c.txt", func(old File) ([]byte, error) { return append(old.Data, "two\n"...), nil })
		if err != nil || c.Created || c.Before != f.Version {
			t.Fatalf("change %+v, error %v", c, err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "a/b/c.txt")); string(got) != "one\ntwo\n" {
			t.Fatalf("content %q", got)
		}
		if _, err := w.WriteFile(ctx, "a/b/c.txt", nil, WriteOptions{Expect: &f.Version}); !errors.Is(err, ErrChanged) {
			t.Fatalf("error %v, want ErrChanged", err)
		}
	})
}

// TestReadWhileWritten: of a log that grows all the time the beginning can
// be read (a line that crosses a page may be seen in part), a file that is
// rewritten in place all the time is refused or whole.
func TestReadWhileWritten(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		w := open(Options{})
		for name, write := range map[string]func(f *os.File) error{
			"log": func(f *os.File) error { _, err := f.WriteString("a line\n"); return err },
			"row": func(f *os.File) error { _, err := f.WriteAt([]byte("A LINE\n"), 0); return err },
		} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte("a line\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			flag := os.O_WRONLY
			if name == "log" {
				flag |= os.O_APPEND
			}
			f, err := os.OpenFile(path, flag, 0)
			if err != nil {
				t.Fatal(err)
			}
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						if err := write(f); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
			for range 50 {
				got, err := w.ReadFile(context.Background(), name, 1<<30)
				switch {
				case name == "log" && (err != nil || !strings.HasPrefix(strings.Repeat("a line\n", len(got.Data)/7+1), string(got.Data))):
					t.Errorf("the log: %d bytes, %v", len(got.Data), err)
				case name == "row" && err != nil && !errors.Is(err, ErrUnsteady):
					t.Errorf("the row: %v", err)
				case name == "row" && err == nil && got.Growing:
					t.Error("the row does not grow")
				}
			}
			close(stop)
			wg.Wait()
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
