//go:build linux

package walk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// scratch is a temporary folder, in memory where the machine has that: many
// thousand files are made there.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "walk")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// deep makes a folder within a folder, levels deep, and returns the
// innermost. At each level there are siblings, so that folders wait to be
// entered all the way down. Paths grow longer than the kernel takes.
func deep(t *testing.T, dir, name string, levels int, siblings ...string) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range levels {
		for _, s := range append(siblings, name) {
			if err := unix.Mkdirat(fd, s, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		next, err := unix.Openat(fd, name, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		fd = next
	}
	file, err := unix.Openat(fd, "leaf", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(file)
	unix.Close(fd)
}

func TestDeepNesting(t *testing.T) {
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		for name, siblings := range map[string][]string{"a chain": nil, "a comb": {"aa", "zz"}} {
			t.Run(name, func(t *testing.T) {
				dir := scratch(t)
				deep(t, dir, "deeper", 2000, siblings...)
				var most atomic.Int32
				var paths []string
				left, err := Walk(context.Background(), openTree(t, dir, open), Config{Want: func(path []byte, isDir bool) bool {
					if isDir && len(path)%40 == 0 {
						most.Store(max(most.Load(), openFiles(t)))
					}
					return true
				}}, func(_ int, e *Entry) { paths = append(paths, string(e.Path())) })
				if err != nil || left.Any() {
					t.Errorf("left out %+v, %v", left, err)
				}
				if want := strings.Repeat("deeper/", 2000) + "leaf"; len(paths) != 1 || paths[0] != want {
					t.Errorf("%d paths", len(paths))
				}
				if n := most.Load(); n > 3*maxOpen {
					t.Errorf("%d files were open at once", n)
				}
			})
		}
	})
}

func openFiles(t *testing.T) int32 {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return int32(len(entries))
}

func TestHugeFolder(t *testing.T) {
	const files = 100_000
	dir := scratch(t)
	layTree(t, dir, map[string]string{".gitignore": "f99*\n"})
	for i := range files {
		fd, err := unix.Open(filepath.Join(dir, fmt.Sprintf("f%05d", i)), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
	}
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		var n atomic.Int32
		left, err := Walk(context.Background(), openTree(t, dir, open), Config{}, func(int, *Entry) { n.Add(1) })
		if err != nil || n.Load() != files-1000 || left.IgnoredFiles != 1000 {
			t.Errorf("%d files, %+v, %v", n.Load(), left, err)
		}
	})
}

func TestF033PipesSocketsAndDevices(t *testing.T) {
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		dir := t.TempDir()
		layTree(t, dir, map[string]string{"file": "x"})
		if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
			t.Fatal(err)
		}
		sock, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(sock)
		if err := unix.Bind(sock, &unix.SockaddrUnix{Name: filepath.Join(dir, "socket")}); err != nil {
			t.Fatal(err)
		}
		paths, left := collect(t, openTree(t, dir, open), Config{})
		if len(paths) != 1 || left.Special != 2 {
			t.Errorf("visited %q, left out %+v", paths, left)
		}
	})
}

// A file that becomes a pipe, or a link to one, after the folder was read.
func TestFileThatBecomesSomethingElse(t *testing.T) {
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		dir := t.TempDir()
		layTree(t, dir, map[string]string{"file": "x", "other": "secret"})
		path := filepath.Join(dir, "file")
		for name, swap := range map[string]func() error{
			"pipe":   func() error { return unix.Mkfifo(path, 0o644) },
			"link":   func() error { return os.Symlink("other", path) },
			"folder": func() error { return os.Mkdir(path, 0o755) },
			"none":   func() error { return nil },
		} {
			t.Run(name, func(t *testing.T) {
				_, err := Walk(context.Background(), openTree(t, dir, open), Config{}, func(_ int, e *Entry) {
					if string(e.Name()) != "file" {
						return
					}
					if err := errors.Join(os.Remove(path), swap()); err != nil {
						t.Fatal(err)
					}
					began := time.Now()
					if f, err := e.Open(); err == nil {
						data, err := io.ReadAll(f)
						if len(data) > 0 {
							t.Errorf("read %q, %v", data, err)
						}
						f.Close()
					}
					if took := time.Since(began); took > time.Second {
						t.Errorf("took %v", took)
					}
				})
				if err := errors.Join(err, os.RemoveAll(path), os.WriteFile(path, nil, 0o644)); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

// A folder changes places with a link that leads out, over and over, while
// walks go on: no walk may see what lies outside.
func TestSwapRace(t *testing.T) {
	outside := t.TempDir()
	layTree(t, outside, map[string]string{"inner/secret": ""})
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		dir := t.TempDir()
		layTree(t, dir, map[string]string{"a/inner/x": "", "b": "->" + outside})
		tree := openTree(t, dir, open)
		ctx, cancel := context.WithCancel(context.Background())
		swapped := make(chan int)
		go func() {
			n := 0
			for ; ctx.Err() == nil; n++ {
				err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, "a"), unix.AT_FDCWD, filepath.Join(dir, "b"), unix.RENAME_EXCHANGE)
				if err != nil {
					t.Error(err)
					break
				}
			}
			swapped <- n
		}()
		for range 1000 {
			if _, err := Walk(ctx, tree, Config{}, func(_ int, e *Entry) {
				if string(e.Name()) == "secret" {
					t.Error("the walk left the tree")
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		t.Logf("%d swaps", <-swapped)
	})
}

// The listing of a folder that the walk may not read is the one thing that
// root cannot be refused, so the walk runs as nobody where the tests are
// root's.
func TestUnreadableFoldersAreCounted(t *testing.T) {
	const mark = "HANDRAIL_WALK_AS_NOBODY"
	if os.Geteuid() == 0 && os.Getenv(mark) == "" {
		asNobody(t, mark)
		return
	}
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		dir := t.TempDir()
		layTree(t, dir, map[string]string{"closed/x": "", "a": "", "rules/.gitignore": "x\n", "rules/x": ""})
		for _, name := range []string{"closed", "rules/.gitignore"} {
			path := filepath.Join(dir, name)
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(path, 0o700) }) // so that it can be removed
		}
		paths, left := collect(t, openTree(t, dir, open), Config{})
		if len(paths) != 2 || left.Unreadable != 1 || left.BadRules != 1 || len(left.UnreadableNames) != 1 || left.UnreadableNames[0] != "closed/" {
			t.Errorf("visited %q, left out %+v", paths, left)
		}
	})
}

// asNobody runs the test that calls it again, in a process of user nobody.
func asNobody(t *testing.T, mark string) {
	t.Helper()
	const nobody = 65534
	args := []string{os.Args[0], "-test.run=^" + t.Name() + "$", "-test.v"}
	out, err := os.CreateTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	// The program is reached through /proc, since the folder that it lies in
	// is closed to nobody.
	p, err := os.StartProcess("/proc/self/exe", args, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{mark + "=1", "TMPDIR=/tmp", "HOME=/"},
		Files: []*os.File{nil, out, out},
		Sys:   &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}},
	})
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	text, _ := os.ReadFile(out.Name())
	if err != nil || !state.Success() || !strings.Contains(string(text), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v %v\n%s", state, err, text)
	}
}
