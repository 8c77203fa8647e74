//go:build linux || darwin

package workspace

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const secret = "SECRET"

// hostile builds a workspace full of traps beside a folder that nothing may
// reach, and returns the latter.
func hostile(t testing.TB, dir string) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(filepath.Dir(dir), "outside")
	for _, d := range []string{out, dir + "/a/b", dir + "/.git/hooks", dir + "/sub/.git", dir + "/.ssh", dir + "/x"} {
		must(os.MkdirAll(d, 0o755))
	}
	for name, content := range map[string]string{
		out + "/s.txt": secret, dir + "/a/in.txt": "inside", dir + "/a/b/deep.txt": "inside",
		dir + "/.git/config": "git", dir + "/sub/.git/config": "git", dir + "/.ssh/config": secret, dir + "/id_rsa": secret,
	} {
		must(os.WriteFile(name, []byte(content), 0o644))
	}
	for name, target := range map[string]string{
		"leaf-out": "../outside/s.txt", "leaf-abs-out": out + "/s.txt", "dir-out": "../outside", "dir-abs-out": out,
		"out-and-back": "../ws/a/in.txt", "a/b/up-out": "../../../outside/s.txt", "proc": "/proc/self/root" + out + "/s.txt",
		"dangling": "nowhere", "dangling-out": "../outside/new.txt", "loop": "loop", "loop-a": "loop-b", "loop-b": "loop-a",
		"leaf-in": "a/in.txt", "leaf-abs-in": dir + "/a/in.txt", "dir-in": "a", "dir-abs-in": dir + "/a", "a/b/up-in": "../in.txt",
		"to-git": ".git", "to-git-config": ".git/config", "to-key": "id_rsa", "to-ssh": ".ssh", "zero": "/dev/zero",
		"chain": "chain2", "chain2": "dir-out/s.txt", "self": ".", "parent": "..",
	} {
		must(os.Symlink(target, filepath.Join(dir, name)))
	}
	must(os.Link(out+"/s.txt", dir+"/hard"))
	must(os.Link(dir+"/.git/config", dir+"/hard-git"))
	must(syscall.Mkfifo(dir+"/fifo", 0o644))
	must(os.Symlink("fifo", dir+"/to-fifo"))
	return out
}

// escapes are names that must never lead anywhere.
func escapes(dir string) []string {
	out := filepath.Dir(dir) + "/outside"
	names := []string{
		"leaf-out", "leaf-abs-out", "dir-out/s.txt", "dir-abs-out/s.txt", "out-and-back", "a/b/up-out", "proc", "dangling-out",
		"chain", "chain2", "parent/outside/s.txt", "self/leaf-out", "self/self/dir-out/s.txt", "dir-in/../../outside/s.txt",
		"dir-in/../leaf-out", "dir-out/../ws/a/in.txt", "self/../outside/s.txt", "zero", "loop", "loop/x", "loop-a", "dangling", "dangling/x",
		"", "..", "../", "./..", "a/..//..", "../outside/s.txt", "a/../../outside/s.txt", "a/b/../../../outside/s.txt",
		"missing/../../outside/s.txt", "missing/../x", "a/in.txt/../b", "a/missing/../in.txt", "a/in.txt/x",
		"/", "/etc/passwd", "//etc/passwd", "/./etc/passwd", "/proc/self/root/etc/passwd", "/proc/self/cwd/x", "/dev/zero", "/dev/stdin",
		out + "/s.txt", dir + "/../outside/s.txt", dir + "/a/../../outside/s.txt", dir + "x", dir + "x/../outside", filepath.Dir(dir),
		dir + "/missing/../../outside/s.txt", "/../" + dir, filepath.Dir(dir) + "/outside/../ws/a/in.txt",
		"~", "~/x", "file:///etc/passwd", "FILE:/etc/passwd", "a\x00b", "\x00", "a\nb", "a\x1b[31m", "a\x7f",
		strings.Repeat("a/", 3000), strings.Repeat("x", 256), "a/" + strings.Repeat("y", 300) + "/..",
	}
	for depth := 1; depth < 12; depth++ {
		up := strings.Repeat("../", depth)
		names = append(names, up+"outside/s.txt", "a/../"+up+"outside/s.txt", "./"+up+"etc/passwd", up+"..", "a/b/../../"+up+"/outside//s.txt")
	}
	return names
}

func TestL36_L37_NothingEscapes(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		out := hostile(t, dir)
		w := open(Options{})
		ctx := context.Background()
		for _, name := range escapes(dir) {
			within(t, name, func() {
				if f, err := w.OpenFile(name); err == nil {
					t.Errorf("OpenFile(%q) opened %s", name, f.Name())
				}
				if f, err := w.ReadFile(ctx, name, 1<<20); err == nil {
					t.Errorf("ReadFile(%q) read %q", name, f.Data)
				}
				if _, err := w.WriteFile(ctx, name, []byte("x"), WriteOptions{}); err == nil {
					t.Errorf("WriteFile(%q) wrote", name)
				}
				if _, err := w.Edit(ctx, name, func(File) ([]byte, error) { return []byte("x"), nil }); err == nil {
					t.Errorf("Edit(%q) edited", name)
				}
				if f, err := w.OpenDir(name); err == nil {
					t.Errorf("OpenDir(%q) opened %s", name, f.Name())
				}
				if r, err := w.Resolve(name); err == nil && !strings.HasPrefix(r.Abs+"/", dir+"/") {
					t.Errorf("Resolve(%q) = %+v", name, r)
				}
			})
		}
		if entries, _ := os.ReadDir(out); len(entries) != 1 {
			t.Errorf("outside holds %v", entries)
		}
		if b, _ := os.ReadFile(out + "/s.txt"); string(b) != secret {
			t.Errorf("the file outside is %q", b)
		}
	})
}

func TestLinksThatStayInside(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		hostile(t, dir)
		w := open(Options{})
		ctx := context.Background()
		for name, rel := range map[string]string{
			"leaf-in": "a/in.txt", "leaf-abs-in": "a/in.txt", "dir-in/in.txt": "a/in.txt", "dir-abs-in/b/deep.txt": "a/b/deep.txt",
			"a/b/up-in": "a/in.txt", "self/a/in.txt": "a/in.txt", "self/self/dir-in/b/up-in": "a/in.txt",
			dir + "/dir-in/in.txt": "a/in.txt", "a//b/./deep.txt": "a/b/deep.txt", "a/in.txt/": "a/in.txt", "a/b/../in.txt": "a/in.txt",
			dir + "//a/./b/../in.txt": "a/in.txt",
		} {
			f, err := w.ReadFile(ctx, name, 100)
			if err != nil || string(f.Data) != "inside" || f.Rel != rel {
				t.Errorf("ReadFile(%q) = %q of %q, %v", name, f.Data, f.Rel, err)
			}
			r, err := w.Resolve(name)
			if err != nil || r.Rel != rel || !r.Exists || r.Unwritable != "" {
				t.Errorf("Resolve(%q) = %+v, %v", name, r, err)
			}
		}
		// F017: the link stays, its target is written.
		c, err := w.WriteFile(ctx, "leaf-in", []byte("new"), WriteOptions{})
		if err != nil || c.Rel != "a/in.txt" {
			t.Fatalf("change %+v, %v", c, err)
		}
		if target, err := os.Readlink(dir + "/leaf-in"); target != "a/in.txt" {
			t.Errorf("the link is %q, %v", target, err)
		}
		if b, _ := os.ReadFile(dir + "/a/in.txt"); string(b) != "new" {
			t.Errorf("the target is %q", b)
		}
		if c, err := w.WriteFile(ctx, "dir-in/n/new.txt", []byte("new"), WriteOptions{}); err != nil || c.Rel != "a/n/new.txt" {
			t.Errorf("change %+v, %v", c, err)
		}
	})
}

// TestF033_SpecialFiles: pipes, sockets and devices are refused at once, by
// what they are and not by their name.
func TestF033_SpecialFiles(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		hostile(t, dir)
		// A socket's path is limited to about a hundred bytes, which a
		// temporary folder may exceed: bind it by a relative one.
		l, err := net.Listen("unix", filepath.Join(shortDir(t), "s"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		if err := os.Rename(l.Addr().String(), dir+"/socket"); err != nil {
			t.Fatal(err)
		}
		names := []string{"fifo", "to-fifo", "self/fifo", "socket", "a"}
		if os.Getuid() == 0 && syscall.Mknod(dir+"/zero-device", syscall.S_IFCHR|0o666, 1<<8|5) == nil {
			names = append(names, "zero-device")
		}
		w := open(Options{})
		ctx := context.Background()
		for _, name := range names {
			within(t, name, func() {
				_, readErr := w.ReadFile(ctx, name, 100)
				_, openErr := w.OpenFile(name)
				_, writeErr := w.WriteFile(ctx, name, nil, WriteOptions{})
				_, editErr := w.Edit(ctx, name, func(File) ([]byte, error) { return nil, nil })
				for what, err := range map[string]error{"read": readErr, "open": openErr, "write": writeErr, "edit": editErr} {
					// Opening a socket fails in the system already.
					if err == nil || !errors.Is(err, ErrNotRegular) && (name != "socket" || what != "read" && what != "open") {
						t.Errorf("%s %s: %v", what, name, err)
					}
				}
			})
		}
	})
}

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestProtectedAndUnreadable(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		hostile(t, dir)
		ro := filepath.Join(dir, "a", "b")
		w := open(Options{Protected: []string{"x/locked", "*.lock"}, ReadOnlyDirs: []string{ro}})
		ctx := context.Background()
		tests := []struct {
			name        string
			read, write error // nil: not refused by rule
		}{
			{".git/config", nil, ErrProtected},
			{".GIT/new", nil, ErrProtected},
			{".Git", nil, ErrProtected},
			{".g\u200dit/config", nil, ErrProtected},
			{".git./config", nil, ErrProtected},
			{"sub/.git/config", nil, ErrProtected},
			{"deep/new/.git/hooks/x", nil, ErrProtected},
			{"to-git/config", nil, ErrProtected},
			{"to-git-config", nil, ErrProtected},
			{"self/.git/config", nil, ErrProtected},
			{dir + "/.git/config", nil, ErrProtected},
			{"a/../.git/config", nil, ErrProtected},
			{".handrail/state", nil, ErrProtected},
			{"x/locked/file", nil, ErrProtected},
			{"deep/Cargo.LOCK", nil, ErrProtected},
			{".gitignore", nil, nil},
			{"git/config", nil, nil},
			{"a/b/deep.txt", nil, ErrReadOnly},
			{"dir-in/b/new.txt", nil, ErrReadOnly},
			{"A/B/new.txt", nil, ErrReadOnly},
			{"a/bc.txt", nil, nil},
			{".ssh/config", ErrUnreadable, ErrUnreadable},
			{"to-ssh/config", ErrUnreadable, ErrUnreadable},
			{"id_rsa", ErrUnreadable, ErrUnreadable},
			{"to-key", ErrUnreadable, ErrUnreadable},
			{"deep/ID_RSA", ErrUnreadable, ErrUnreadable},
			{"id_rsa.pub", nil, nil},
			{"k/.aws/credentials", ErrUnreadable, ErrUnreadable},
			{"k/.aws/config", nil, nil},
		}
		for _, tt := range tests {
			_, err := w.ReadFile(ctx, tt.name, 100)
			if tt.read != nil && !errors.Is(err, tt.read) || tt.read == nil && errors.Is(err, ErrUnreadable) {
				t.Errorf("reading %s: %v, want %v", tt.name, err, tt.read)
			}
			_, statErr := w.Stat(tt.name)
			if tt.read != nil && !errors.Is(statErr, tt.read) {
				t.Errorf("stat %s: %v, want %v", tt.name, statErr, tt.read)
			}
			_, err = w.WriteFile(ctx, tt.name, []byte("x"), WriteOptions{})
			if !errors.Is(err, tt.write) || (tt.write == nil) != (err == nil) {
				t.Errorf("writing %s: %v, want %v", tt.name, err, tt.write)
			}
			r, err := w.Resolve(tt.name)
			if err != nil || (r.Unreadable != "") != (tt.read != nil) || tt.read == nil && (r.Unwritable != "") != (tt.write != nil) {
				t.Errorf("Resolve(%s) = %+v, %v", tt.name, r, err)
			}
		}
		if _, err := w.OpenDir(".ssh"); !errors.Is(err, ErrUnreadable) {
			t.Errorf("listing .ssh: %v", err)
		}
		// A hard link to a protected file is another name of it; the write
		// goes to that name alone.
		c, err := w.WriteFile(ctx, "hard-git", []byte("mine"), WriteOptions{})
		if err != nil || c.OtherNames != 1 {
			t.Errorf("change %+v, %v", c, err)
		}
		if b, _ := os.ReadFile(dir + "/.git/config"); string(b) != "git" {
			t.Errorf(".git/config is %q", b)
		}
	})
}

// TestHardLinkToOutside: codex writes the outside file through a hard link;
// here only the name inside is replaced.
func TestHardLinkToOutside(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		out := hostile(t, dir)
		w := open(Options{})
		c, err := w.Edit(context.Background(), "hard", func(old File) ([]byte, error) { return []byte("mine"), nil })
		if err != nil || c.OtherNames != 1 {
			t.Fatalf("change %+v, %v", c, err)
		}
		if b, _ := os.ReadFile(out + "/s.txt"); string(b) != secret {
			t.Errorf("the file outside is %q", b)
		}
		if b, _ := os.ReadFile(dir + "/hard"); string(b) != "mine" {
			t.Errorf("the file inside is %q", b)
		}
	})
}

func TestReadOnlyWorkspace(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		hostile(t, dir)
		w := open(Options{ReadOnly: true})
		ctx := context.Background()
		for _, name := range []string{"new.txt", "a/in.txt", "n/e/w.txt", "leaf-in"} {
			if _, err := w.WriteFile(ctx, name, nil, WriteOptions{}); !errors.Is(err, ErrReadOnly) {
				t.Errorf("writing %s: %v", name, err)
			}
			if _, err := w.Edit(ctx, name, func(File) ([]byte, error) { return nil, nil }); !errors.Is(err, ErrReadOnly) {
				t.Errorf("editing %s: %v", name, err)
			}
		}
		if _, err := os.Stat(dir + "/n"); err == nil {
			t.Error("a folder was made")
		}
	})
}

func TestGrantedFolders(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		base := filepath.Dir(dir)
		for _, d := range []string{"granted/d", "reference", "neither"} {
			if err := os.MkdirAll(filepath.Join(base, d), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(base, d, "f"), []byte(d), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for name, target := range map[string]string{
			"to-granted": base + "/granted", "to-reference": base + "/reference", "to-neither": base + "/neither",
			"../granted/to-root": dir, "../granted/to-neither": "../neither", "../spelling": "ws",
		} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		w := open(Options{Granted: []string{base + "/granted"}, ReadOnlyDirs: []string{base + "/reference"}})
		ctx := context.Background()
		tests := []struct {
			name, rel   string
			read, write bool
		}{
			{base + "/granted/d/f", base + "/granted/d/f", true, true},
			{"to-granted/d/f", base + "/granted/d/f", true, true},
			{base + "/reference/f", base + "/reference/f", true, false},
			{"to-reference/f", base + "/reference/f", true, false},
			{base + "/granted/to-root/own", "own", false, true},
			{base + "/neither/f", "", false, false},
			{"to-neither/f", "", false, false},
			{base + "/granted/to-neither/f", "", false, false},
			{base + "/granted/../neither/f", "", false, false},
			{base + "/granted2", "", false, false},
		}
		for _, tt := range tests {
			f, err := w.ReadFile(ctx, tt.name, 100)
			if (err == nil) != tt.read || tt.read && f.Rel != tt.rel {
				t.Errorf("reading %s: %q, %v", tt.name, f.Rel, err)
			}
			c, err := w.WriteFile(ctx, tt.name, []byte("new"), WriteOptions{})
			if (err == nil) != tt.write || tt.write && c.Rel != tt.rel {
				t.Errorf("writing %s: %q, %v", tt.name, c.Rel, err)
			}
			if tt.rel != "" {
				// What was answered is a name again.
				if r, err := w.Resolve(tt.rel); err != nil || r.Rel != tt.rel {
					t.Errorf("Resolve(%s) = %+v, %v", tt.rel, r, err)
				}
			}
		}
	})
}

// TestRootByAnotherSpelling: the root may be named by the link that it was
// opened through.
func TestRootByAnotherSpelling(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(base+"/real", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", base+"/link"); err != nil {
		t.Fatal(err)
	}
	w, err := Open(base+"/link", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if w.Root() != base+"/real" {
		t.Errorf("root %q", w.Root())
	}
	for _, name := range []string{base + "/link/x/y", base + "/real/x/y", "x/y", base + "/link//x/./y/"} {
		if rel, err := w.Rel(name); err != nil || rel != "x/y" {
			t.Errorf("Rel(%q) = %q, %v", name, rel, err)
		}
	}
	for _, name := range []string{".", "./", "", base + "/link", base + "/real/"} {
		rel, err := w.Rel(name)
		if (name == "") != (err != nil) || err == nil && rel != "." {
			t.Errorf("Rel(%q) = %q, %v", name, rel, err)
		}
	}
}

func TestOpenFailsClosed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, opts := range map[string]Options{
		"relative grant":     {Granted: []string{"x"}},
		"missing grant":      {Granted: []string{dir + "/missing"}},
		"grant of a file":    {Granted: []string{file}},
		"missing read-only":  {ReadOnlyDirs: []string{dir + "/missing"}},
		"empty pattern":      {Protected: []string{""}},
		"dots in a pattern":  {Unreadable: []string{"a/../b"}},
		"stars in a pattern": {Protected: []string{"a/**/b"}},
		"broken pattern":     {Unreadable: []string{"a[b"}},
	} {
		if w, err := Open(dir, opts); err == nil {
			_ = w.Close()
			t.Errorf("%s: opened", name)
		}
	}
	for _, root := range []string{"", file, dir + "/missing", "a\x00b"} {
		if w, err := Open(root, Options{}); err == nil {
			_ = w.Close()
			t.Errorf("root %q: opened", root)
		}
	}
	_, err := Open(dir+"/missing", Options{Granted: []string{"x"}, Protected: []string{""}})
	if n := strings.Count(err.Error(), "\n") + 1; n != 3 {
		t.Errorf("%d of 3 problems are named: %v", n, err)
	}
	// An empty list of unreadable patterns is not no list.
	w, err := Open(dir, Options{Unreadable: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if w.Unreadable("id_rsa") {
		t.Error("id_rsa is unreadable although the list is empty")
	}
}

func TestClosed(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		w := open(Options{})
		if err := os.WriteFile(dir+"/f", []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := w.OpenFile("f")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.OpenFile("f"); err == nil {
			t.Error("a closed workspace opens files")
		}
		if b, err := io.ReadAll(f); err != nil || string(b) != "x" {
			t.Errorf("the open file gives %q, %v", b, err)
		}
	})
}
