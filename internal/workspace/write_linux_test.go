package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// The test binary plays the other process when this variable names a part.
const partVar = "HANDRAIL_TEST_PART"

func TestMain(m *testing.M) {
	switch part := os.Getenv(partVar); part {
	case "":
		os.Exit(m.Run())
	case "writer":
		playWriter(os.Args[1], os.Args[2])
	case "adder":
		playAdder(os.Args[1], os.Args[2])
	case "limited":
		playLimited(os.Args[1])
	default:
		panic("unknown part " + part)
	}
}

func actor(t *testing.T, part string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), partVar+"="+part)
	cmd.Stderr = os.Stderr
	return cmd
}

// versions are the contents that the writer puts by turns.
func versions() [2][]byte {
	return [2][]byte{bytes.Repeat([]byte("old line\n"), 20_000), bytes.Repeat([]byte("NEW CONTENT\n"), 30_000)}
}

// playWriter changes files in one way without end: "write", "edit", or
// "apply", which exchanges two sets of names and contents.
func playWriter(dir, how string) {
	w, err := Open(dir, Options{})
	if err != nil {
		panic(err)
	}
	ctx, content := context.Background(), versions()
	at := 0 // where the last process was killed
	if _, err := os.Stat(dir + "/d/moved-1"); err == nil {
		at = 1
	}
	fmt.Println("ready")
	for i := at; ; i++ {
		switch how {
		case "write":
			_, err = w.WriteFile(ctx, "d/written", content[i%2], WriteOptions{})
		case "edit":
			_, err = w.Edit(ctx, "d/edited", func(File) ([]byte, error) { return content[i%2], nil })
		default:
			from, to := i%2, 1-i%2
			_, err = w.Apply(ctx, []Step{
				write("d/one", string(content[to])), write("e/two", string(content[to])), write("e/sub/three", string(content[to])),
				over(fmt.Sprint("d/moved-", from), fmt.Sprint("d/moved-", to)), over("e/other", "d/target"), write("e/other", string(content[to])),
				rm("d/comes"), write("d/comes", string(content[from])),
			})
			if errors.Is(err, fs.ErrNotExist) {
				err = mend(ctx, w, content[0], from)
			}
		}
		if err != nil {
			panic(err)
		}
	}
}

// mend makes again what the killed process had removed or moved away.
func mend(ctx context.Context, w *Workspace, content []byte, from int) error {
	for _, name := range []string{fmt.Sprint("d/moved-", from), "e/other", "d/comes"} {
		_, err := w.WriteFile(ctx, name, content, WriteOptions{CreateOnly: true})
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// TestKill9 kills a changing process at random moments. A file is always one
// of the two contents, whatever has changed at that moment, and what the
// process left behind is gone after the next change in the folder. A path
// that always has a file never lacks one.
func TestKill9(t *testing.T) {
	rounds := 60
	if long, err := strconv.Atoi(os.Getenv("HANDRAIL_KILL_ROUNDS")); err == nil {
		rounds = long
	}
	content := versions()
	for _, how := range []string{"write", "edit", "apply"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			names := []string{"d/written", "d/edited", "d/one", "e/two", "e/sub/three", "d/target"}
			sometimes := []string{"d/moved-0", "d/moved-1", "e/other", "d/comes"}
			for _, name := range append(sometimes, names...) {
				lay(t, dir, map[string]string{name: string(content[0])})
			}
			strays := 0
			for range rounds / 3 {
				strays += killOnce(t, dir, how)
				for i, name := range append(names, sometimes...) {
					got, err := os.ReadFile(filepath.Join(dir, name))
					if i >= len(names) && errors.Is(err, fs.ErrNotExist) {
						continue
					}
					if err != nil || !bytes.Equal(got, content[0]) && !bytes.Equal(got, content[1]) {
						t.Fatalf("%s is torn: %d bytes, %v", name, len(got), err)
					}
				}
				cleansUp(t, dir)
			}
			t.Logf("%d rounds left %d temporary files, all swept", rounds/3, strays)
		})
	}
}

// killOnce runs a writer for a moment, kills it and counts what it left.
func killOnce(t *testing.T, dir, how string) int {
	cmd := actor(t, "writer", dir, how)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(rand.IntN(12_000)) * time.Microsecond)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed; that is the point
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("the writer was not killed: %v", cmd.ProcessState)
	}
	return len(temps(t, dir))
}

// cleansUp has the next workspace sweep, by a change in each folder or by a
// listing that meets what was left.
func cleansUp(t *testing.T, dir string) {
	w, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if left := temps(t, dir); rand.IntN(2) == 0 {
		for _, path := range left {
			rel, _ := filepath.Rel(dir, path)
			w.Stray(rel)
		}
	} else if _, err := w.Apply(context.Background(), []Step{write("d/swept", ""), write("e/swept", ""), write("e/sub/swept", "")}); err != nil {
		t.Fatal(err)
	}
	if left := temps(t, dir); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
}

func TestConcurrentEdits(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		for _, n := range []int{20, 200} {
			name := fmt.Sprintf("f%d", n)
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			// Two handles on one folder, as two sessions of one process.
			handles := []*Workspace{open(Options{}), open(Options{})}
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					_, err := handles[i%2].Edit(context.Background(), name, func(old File) ([]byte, error) {
						return append(old.Data, fmt.Sprintf("line %d\n", i)...), nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if !bytes.Contains(got, fmt.Appendf(nil, "line %d\n", i)) {
					t.Errorf("of %d edits, number %d is lost", n, i)
				}
			}
		}
		if left := temps(t, dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func playAdder(dir, who string) {
	w, err := Open(dir, Options{})
	if err != nil {
		panic(err)
	}
	for i := range 20 {
		_, err := w.Edit(context.Background(), "f", func(old File) ([]byte, error) {
			return append(old.Data, fmt.Sprintf("%s %d\n", who, i)...), nil
		})
		if err != nil {
			panic(err)
		}
	}
}

func TestConcurrentProcesses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/f", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		cmd := actor(t, "adder", dir, fmt.Sprint("p", i))
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(dir + "/f")
	if err != nil || bytes.Count(got, []byte("\n")) != 80 {
		t.Errorf("%d of 80 lines are kept, %v", bytes.Count(got, []byte("\n")), err)
	}
}

// playLimited writes more than the process may, and exits with 0 if that
// fails as it should.
func playLimited(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	limit := unix.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	w, err := Open(dir, Options{})
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"f", "new/d/f"} {
		_, err := w.WriteFile(context.Background(), name, make([]byte, 100<<10), WriteOptions{})
		if !errors.Is(err, unix.EFBIG) || !strings.Contains(err.Error(), "nothing was changed") {
			panic(fmt.Sprint("the error is ", err))
		}
	}
	full := make([]byte, 100<<10)
	_, err = w.Apply(context.Background(), []Step{mkdir("new/made"), write("f", "short"), over("g", "moved"), {Op: OpWrite, Name: "new/d/f", Data: full}})
	if !errors.Is(err, unix.EFBIG) || !strings.Contains(err.Error(), "step 4 of 4") {
		panic(fmt.Sprint("the error is ", err))
	}
}

// TestNoRoom: a disk that is full, or a limit of the process, changes
// nothing and leaves nothing behind.
func TestNoRoom(t *testing.T) {
	unchanged := func(t *testing.T, dir string) {
		t.Helper()
		if diff := cmp.Diff(map[string]string{"f": "before", "g": "moves"}, snapshot(t, dir)); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("limit", func(t *testing.T) {
		dir := t.TempDir()
		lay(t, dir, map[string]string{"f": "before", "g": "moves"})
		if err := actor(t, "limited", dir).Run(); err != nil {
			t.Fatal(err)
		}
		unchanged(t, dir)
	})
	t.Run("full disk", func(t *testing.T) {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
			t.Logf("no small disk to be had here (%v); the limit above stands for it", err)
			return
		}
		defer func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }()
		lay(t, dir, map[string]string{"f": "before", "g": "moves"})
		w, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		for _, name := range []string{"f", "new/d/f"} {
			_, err := w.WriteFile(context.Background(), name, make([]byte, 1<<20), WriteOptions{})
			if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "nothing was changed") {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err = w.Apply(context.Background(), []Step{write("f", "short"), mv("g", "new/moved"), write("new/d/f", strings.Repeat("x", 1<<20))})
		if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "step 3 of 3") || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("several changes: %v", err)
		}
		unchanged(t, dir)
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Logf("no read-only disk to be had here: %v", err)
			return
		}
		_, err = w.WriteFile(context.Background(), "f", []byte("x"), WriteOptions{})
		if !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("on a read-only disk: %v", err)
		}
		for _, s := range []Step{rm("f"), mv("f", "h"), over("f", "g"), mkdir("new"), mv("f", "new/f")} {
			_, err := w.Apply(context.Background(), []Step{s})
			if !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), "read-only") {
				t.Errorf("%+v on a read-only disk: %v", s, err)
			}
		}
		unchanged(t, dir)
	})
}

// asNobody runs fn on a thread that may do to files what an ordinary user
// may. The thread ends with it.
func asNobody(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread is thrown away
		if os.Getuid() == 0 {
			if _, err := unix.SetfsuidRetUid(65534); err != nil {
				t.Error(err)
				return
			}
		}
		fn()
	}()
	<-done
}

func TestPermissionsOfTheSystem(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		for path := dir; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
			_ = os.Chmod(path, 0o777) // so that another user may come here at all
		}
		for name, mode := range map[string]fs.FileMode{"marked": 0o444, "closed/f": 0o666, "foreign": 0o644, "hidden": 0o200} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(dir, "closed"), 0o555); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o755) }()
		w := open(Options{})
		ctx := context.Background()
		asNobody(t, func() {
			refused := []string{"marked", "closed/f", "closed/new"}
			if os.Getuid() == 0 {
				refused = append(refused, "foreign") // it belongs to root
			}
			for _, name := range refused {
				if _, err := w.WriteFile(ctx, name, []byte("x"), WriteOptions{}); !errors.Is(err, fs.ErrPermission) {
					t.Errorf("writing %s: %v", name, err)
				}
			}
			for _, s := range []Step{rm("marked"), rm("closed/f"), mv("marked", "m"), mv("closed/f", "cf"), mkdir("closed/d"), over("hidden", "closed/f"), mv("hidden", "closed/g")} {
				if _, err := w.Apply(ctx, []Step{s}); !errors.Is(err, fs.ErrPermission) {
					t.Errorf("%+v: %v", s, err)
				}
			}
			if _, err := w.ReadFile(ctx, "hidden", 10); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("reading hidden: %v", err)
			}
		})
		if _, err := w.WriteFile(ctx, "marked", []byte("x"), WriteOptions{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("the owner overwrote a file marked read-only: %v", err)
		}
		for _, s := range []Step{rm("marked"), mv("marked", "m"), over("foreign", "marked")} {
			if _, err := w.Apply(ctx, []Step{s}); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("the owner's file marked read-only: %+v: %v", s, err)
			}
		}
		for _, name := range []string{"marked", "closed/f", "foreign", "hidden"} {
			if b, _ := os.ReadFile(filepath.Join(dir, name)); string(b) != "before" && os.Getuid() == 0 {
				t.Errorf("%s is %q", name, b)
			}
		}
		if left := temps(t, dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// TestF008_AttributesStay: mode, owner, group and extended attributes.
func TestF008_AttributesStay(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		path := filepath.Join(dir, "run.sh")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		uid, gid := os.Getuid(), os.Getgid()
		if uid == 0 {
			uid, gid = 12345, 54321
			if err := os.Chown(path, uid, gid); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(path, 0o755|fs.ModeSetuid|fs.ModeSetgid); err != nil {
			t.Fatal(err)
		}
		attrs := unix.Setxattr(path, "user.note", []byte("kept"), 0) == nil
		w := open(Options{})
		ctx := context.Background()
		if _, err := w.Edit(ctx, "run.sh", func(old File) ([]byte, error) { return append(old.Data, "exit\n"...), nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteFile(ctx, "run.sh", []byte("exit 1\n"), WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o755 {
			t.Errorf("mode %v, want 0755 without set-id bits", info.Mode())
		}
		if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != uid || int(st.Gid) != gid {
			t.Errorf("owner %d:%d, want %d:%d", st.Uid, st.Gid, uid, gid)
		}
		if attrs {
			value := make([]byte, 10)
			if n, err := unix.Getxattr(path, "user.note", value); err != nil || string(value[:n]) != "kept" {
				t.Errorf("the extended attribute is %q, %v", value[:max(n, 0)], err)
			}
		}
		old := syscall.Umask(0o027)
		defer syscall.Umask(old)
		if _, err := w.WriteFile(ctx, "new/file", nil, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]fs.FileMode{"new/file": 0o640, "new": 0o750 | fs.ModeDir} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
				t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
			}
		}
	})
}

func TestConditions(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		w := open(Options{})
		ctx := context.Background()
		path := filepath.Join(dir, "f")
		first, err := w.WriteFile(ctx, "f", []byte("same size"), WriteOptions{CreateOnly: true})
		if err != nil || !first.Created {
			t.Fatal(first, err)
		}
		if _, err := w.WriteFile(ctx, "f", nil, WriteOptions{CreateOnly: true}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("creating again: %v", err)
		}
		if err := os.Symlink("f", filepath.Join(dir, "l")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteFile(ctx, "l", nil, WriteOptions{CreateOnly: true}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("creating through a link: %v", err)
		}
		// L41: same size and a forged time stamp do not hide a change.
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("SAME SIZE"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteFile(ctx, "f", nil, WriteOptions{Expect: &first.After}); !errors.Is(err, ErrChanged) {
			t.Errorf("L41: %v", err)
		}
		if _, err := w.WriteFile(ctx, "g", nil, WriteOptions{Expect: &first.After}); !errors.Is(err, ErrChanged) {
			t.Errorf("expecting a file that is not there: %v", err)
		}
		// Somebody who takes no turns writes in the middle of an edit.
		_, err = w.Edit(ctx, "f", func(old File) ([]byte, error) {
			return []byte("mine"), os.WriteFile(path, []byte("theirs"), 0o644)
		})
		if !errors.Is(err, ErrChanged) {
			t.Errorf("an edit over somebody else's change: %v", err)
		}
		if b, _ := os.ReadFile(path); string(b) != "theirs" {
			t.Errorf("content %q", b)
		}
		cause := errors.New("no")
		if _, err := w.Edit(ctx, "f", func(File) ([]byte, error) { return nil, cause }); err != cause {
			t.Errorf("the error of the function became %v", err)
		}
		c, err := w.Edit(ctx, "f", func(old File) ([]byte, error) { return old.Data, nil })
		if err != nil || !c.Unchanged || c.After != c.Before {
			t.Errorf("an edit that changes nothing: %+v, %v", c, err)
		}
		if _, err := w.Edit(ctx, "missing", func(File) ([]byte, error) { return nil, nil }); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("editing what is missing: %v", err)
		}
		if _, err := w.ReadFile(ctx, "f", 3); !errors.Is(err, ErrTooLarge) {
			t.Errorf("reading over the limit: %v", err)
		}
		if f, err := w.ReadFile(ctx, "f", 6); err != nil || string(f.Data) != "theirs" {
			t.Errorf("reading at the limit: %q, %v", f.Data, err)
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := w.WriteFile(gone, "f", nil, WriteOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("writing after the end: %v", err)
		}
		if left := temps(t, dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// TestTurnsCanBeLeft: who waits for the folder and is called off does not
// block those behind.
func TestTurnsCanBeLeft(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		w := open(Options{})
		if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		inside, goOn := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := w.Edit(context.Background(), "f", func(old File) ([]byte, error) {
				close(inside)
				<-goOn
				return []byte("1"), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-inside
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if _, err := w.WriteFile(ctx, "g", nil, WriteOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a waiter that is called off: %v", err)
		}
		// The same for another process, or another handle in this one.
		other := open(Options{})
		ctx2, cancel2 := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel2()
		if _, err := other.WriteFile(ctx2, "g", nil, WriteOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a waiter of another handle: %v", err)
		}
		close(goOn)
		wg.Wait()
		if _, err := w.WriteFile(context.Background(), "g", nil, WriteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// TestBetweenDisks moves a file and a link between two real disks, where the
// machine has a second one in memory.
func TestBetweenDisks(t *testing.T) {
	shm, err := os.MkdirTemp("/dev/shm", "handrail-test-")
	if err != nil {
		t.Logf("no second disk to be had here (%v); the made-up one of TestToAnotherDisk stands for it", err)
		return
	}
	defer func() { _ = os.RemoveAll(shm) }()
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		lay(t, dir, before)
		if err := os.Chmod(filepath.Join(dir, "a"), 0o710); err != nil {
			t.Fatal(err)
		}
		w, ctx := open(Options{Granted: []string{shm}}), context.Background()
		changes, err := w.Apply(ctx, []Step{mv("a", shm+"/n/a"), mv("gone", shm+"/gone"), write("a", "again")})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(shm + "/n/a"); err != nil || info.Mode() != 0o710 || changes[0].Rel != shm+"/n/a" {
			t.Errorf("mode %v, change %+v, %v", info.Mode(), changes[0], err)
		}
		if diff := cmp.Diff(map[string]string{"n/": "", "n/a": "A", "gone": "-> nowhere"}, snapshot(t, shm)); diff != "" {
			t.Error(diff)
		}
		if _, err := w.Move(ctx, shm+"/n/a", "b", MoveOptions{Overwrite: true}); err != nil {
			t.Error(err)
		}
		if _, err := w.Apply(ctx, []Step{rm(shm + "/gone"), rm(shm + "/n")}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(with(map[string]string{"a": "again", "b": "A", "gone": ""}), snapshot(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
}
