//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// start begins a script whose output goes to the returned pipe.
func start(t *testing.T, f Fence, script string) (Proc, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	p, err := f.Start(context.Background(), Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: w, Stderr: w})
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

func save(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestReplacedMasks holds that a file stays hidden although a program outside
// saves it anew, which takes the mount over it away.
func TestReplacedMasks(t *testing.T) {
	root, outside := workspace(t)
	secret, later, deep := filepath.Join(outside, "secret"), filepath.Join(outside, "later"), filepath.Join(outside, "not", "yet", "there")
	write(t, secret, "secret\n")
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root, Unreadable: []string{secret, later, deep}})
	for i := range 20 {
		save(t, secret, "secret\n")
		if r := sh(t, f, "cat "+secret); r.Code == 0 || strings.Contains(r.out, "secret\n") {
			t.Fatalf("round %d, a command after the save read %q", i, r.out)
		}
	}
	// A command that runs while the file is saved, too, but for a moment.
	p, r := start(t, f, "echo up; while :; do if cat "+secret+" 2>/dev/null; then echo; fi; done")
	_, _ = r.Read(make([]byte, 3))
	save(t, secret, "secret\n")
	time.Sleep(200 * time.Millisecond)
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	said, _ := io.ReadAll(r)
	if n := strings.Count(string(said), "secret"); n > 50 {
		t.Errorf("read %d times in 200 ms: the file was not hidden again", n)
	} else {
		t.Logf("read %d times before it was hidden again", n)
	}
	write(t, later, "secret\n")
	if r := sh(t, f, "cat "+later); r.Code == 0 {
		t.Errorf("a file that came later: %q", r.out)
	}
	write(t, deep, "secret\n")
	if r := sh(t, f, "cat "+deep); r.Code == 0 {
		t.Errorf("a file whose folder came later: %q", r.out)
	}
	if err := os.RemoveAll(filepath.Join(outside, "not")); err != nil {
		t.Fatal(err)
	}
	write(t, deep, "secret\n")
	if r := sh(t, f, "cat "+deep); r.Code == 0 {
		t.Errorf("a file whose folder was made anew: %q", r.out)
	}
}

// TestLaterSockets holds that a socket that was bound after the fence was built
// cannot be reached by the next command.
// TestHiddenBelowWhatIsMissing holds that a hidden file is hidden although the
// folders that it lies in were made later, while a command runs.
func TestHiddenBelowWhatIsMissing(t *testing.T) {
	root, outside := workspace(t)
	secret := filepath.Join(outside, "a/b/secret")
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root, Unreadable: []string{secret}})
	p, out := start(t, f, "until test -e "+secret+"; do sleep 0.01; done; sleep 0.3; cat "+secret)
	write(t, secret, "the content of it")
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if said, _ := io.ReadAll(out); strings.Contains(string(said), "the content of it") {
		t.Errorf("%s", said)
	}
}

// TestHiddenInAnotherFolder holds that a hidden file is hidden although a folder
// on the way to it was replaced by another.
func TestHiddenInAnotherFolder(t *testing.T) {
	root, outside := workspace(t)
	secret := filepath.Join(outside, "a/b/secret")
	write(t, secret, "the old content")
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root, Unreadable: []string{secret}})
	write(t, filepath.Join(outside, "new/b/secret"), "the content of it")
	for _, move := range [][2]string{{"a", "old"}, {"new", "a"}} {
		if err := os.Rename(filepath.Join(outside, move[0]), filepath.Join(outside, move[1])); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if r := sh(t, f, "cat "+secret); r.Code == 0 || strings.Contains(r.out, "content") {
			t.Errorf("%s", r.out)
		}
	}
}

func TestLaterSockets(t *testing.T) {
	root, outside := workspace(t)
	listen := func(path string) {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
	reach := func(f Fence, path string) bool {
		r := run(t, f, Spec{Path: "python3", Argv: []string{"python3", "-c", "import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])", path}})
		return r.Code == 0
	}
	first, second, mine := filepath.Join(outside, "first"), filepath.Join(outside, "second"), filepath.Join(root, "mine")
	listen(first)
	for _, d := range []Driver{Namespaces, Bubblewrap} {
		f, err := Open(context.Background(), Options{Driver: d, Policy: Policy{Mode: WorkspaceWrite, Workspace: root, UnixSockets: true}})
		if err != nil {
			t.Logf("not here: %v", err)
			continue
		}
		t.Run(string(d), func(t *testing.T) {
			defer f.Close()
			_ = os.Remove(second)
			_ = os.Remove(mine)
			listen(second)
			listen(mine)
			if reach(f, first) || reach(f, second) {
				t.Error("a socket outside was reached")
			}
			if !reach(f, mine) {
				t.Error("a socket in the workspace was not reached")
			}
			// A daemon that starts again binds the same name.
			if err := os.Remove(first); err != nil {
				t.Fatal(err)
			}
			listen(first)
			if reach(f, first) {
				t.Error("a socket that was bound again was reached")
			}
		})
	}
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root})
	if reach(f, mine) {
		t.Error("a socket was made although the policy gives none")
	}
	r := run(t, f, Spec{Path: "python3", Argv: []string{"python3", "-c", "import socket; a,b=socket.socketpair(); a.send(b'x'); print(b.recv(1))"}})
	if r.Code != 0 {
		t.Errorf("F104 a pair of sockets: %s", r.out)
	}
}

func TestProtectedPaths(t *testing.T) {
	root, _ := workspace(t)
	p := Policy{Mode: WorkspaceWrite, Workspace: root, Protected: append(DefaultProtected(), ".envrc", "a/b/c/")}
	t.Run("F110 missing, with missing parents", func(t *testing.T) {
		f := open(t, Namespaces, p)
		if r := sh(t, f, "echo x > .handrail/x; mkdir -p a/b && echo fine"); !strings.HasSuffix(r.out, "fine\n") || !strings.Contains(r.out, "Read-only") {
			t.Errorf("%q", r.out)
		}
		r := sh(t, f, "git init -q . && echo '#!/bin/sh' > .git/hooks/pre-commit && echo x > .envrc && mkdir -p a/b/c")
		if want := []string{".git/hooks/", ".git/config", ".envrc", "a/b/c/"}; fmt.Sprint(r.Appeared) != fmt.Sprint(want) {
			t.Errorf("Appeared = %q, want %q (%s)", r.Appeared, want, r.out)
		}
		for _, script := range []string{"echo x >> .git/hooks/pre-commit", "echo x >> .envrc", "mv .git .git2", "echo x > a/b/c/d", "git config a.b c"} {
			if r := sh(t, f, script); r.Code == 0 || len(r.Appeared) > 0 {
				t.Errorf("%s afterwards: %d %q", script, r.Code, r.Appeared)
			}
		}
		t.Run("F107 git works", func(t *testing.T) {
			r := sh(t, f, "git -c user.name=a -c user.email=a@b add -A && rm -f .git/hooks/none && git -c core.hooksPath=/dev/null -c user.name=a -c user.email=a@b commit -qm x && git branch other && git checkout -q other && git stash list && git gc -q && git log --oneline | wc -l")
			if r.Code != 0 || strings.TrimSpace(r.out) != "1" {
				t.Errorf("%d %q", r.Code, r.out)
			}
		})
	})
	if _, err := os.Lstat(filepath.Join(root, ".handrail")); err == nil {
		t.Error("the placeholder is still there after Close")
	}
	t.Run("a worktree's .git is a file", func(t *testing.T) {
		root, _ := workspace(t)
		write(t, filepath.Join(root, ".git"), "gitdir: /nowhere\n")
		f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root, Protected: DefaultProtected()})
		if r := sh(t, f, "rm -f .git; echo x > .git; mv .git g; mkdir .git"); r.Code == 0 {
			t.Errorf("%q", r.out)
		}
	})
	t.Run("a link on the way is refused", func(t *testing.T) {
		root, outside := workspace(t)
		if err := os.Symlink(outside, filepath.Join(root, ".git")); err != nil {
			t.Fatal(err)
		}
		for _, d := range []Driver{Namespaces, Bubblewrap} {
			if f, err := Open(context.Background(), Options{Driver: d, Policy: Policy{Mode: WorkspaceWrite, Workspace: root, Protected: DefaultProtected()}}); err == nil {
				_ = f.Close()
				t.Errorf("%s took it", d)
			} else if !strings.Contains(err.Error(), "symbolic link") && !strings.Contains(err.Error(), "not installed") {
				t.Errorf("%s: %v", d, err)
			}
		}
	})
	t.Run("a driver that cannot hold them tells", func(t *testing.T) {
		root, _ := workspace(t)
		write(t, filepath.Join(root, ".git", "hooks", "pre-commit"), "x")
		write(t, filepath.Join(root, ".git", "config"), "x")
		f := open(t, Landlock, Policy{Mode: WorkspaceWrite, Workspace: root, Protected: append(DefaultProtected(), ".envrc")})
		for script, want := range map[string]string{
			"echo fine > file": "[]", "echo x >> .git/config": "[.git/config]", "echo x > .git/hooks/post-commit; echo x > .envrc": "[.git/hooks/ .envrc]", "mv .git g": "[.git/hooks/ .git/config]",
		} {
			if r := sh(t, f, script); fmt.Sprint(r.Appeared) != want {
				t.Errorf("%s: %q, want %s", script, r.Appeared, want)
			}
			if script == "mv .git g" {
				sh(t, f, "mv g .git")
			}
		}
	})
	t.Run("F112 a command cannot make settings", func(t *testing.T) {
		f := open(t, Namespaces, p)
		if r := sh(t, f, "mkdir -p .handrail; echo x > .handrail/settings.toml || rm -rf .handrail"); r.Code == 0 {
			t.Errorf("%q", r.out)
		}
	})
}

func TestModes(t *testing.T) {
	root, outside := workspace(t)
	write(t, filepath.Join(outside, "secret"), "secret")
	t.Run("read-only", func(t *testing.T) {
		for _, d := range drivers(t, Policy{Workspace: root}) {
			f := open(t, d, Policy{Workspace: root, Writable: []string{outside}})
			if r := sh(t, f, "echo x > f || echo x > "+outside+"/f"); r.Code == 0 {
				t.Errorf("%s: written: %q", d, r.out)
			}
			if r := sh(t, f, "T=$(mktemp) && echo x > $T && cat $T && ls"); r.out != "x\n" {
				t.Errorf("%s: F122 a temporary file: %q", d, r.out)
			}
		}
	})
	t.Run("extra folder", func(t *testing.T) {
		for _, d := range drivers(t, Policy{Workspace: root}) {
			f := open(t, d, Policy{Mode: WorkspaceWrite, Workspace: root, Writable: []string{outside, "/nonexistent/x"}})
			if r := sh(t, f, "echo x > "+outside+"/extra"); r.Code != 0 {
				t.Errorf("%s: %q", d, r.out)
			}
		}
	})
	t.Run("full access hides all the same", func(t *testing.T) {
		f, err := Open(context.Background(), Options{Policy: Policy{Mode: FullAccess, Workspace: root, Unreadable: []string{filepath.Join(outside, "secret")}}})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if d := f.Report().Driver; d != Namespaces {
			t.Errorf("driver %q", d)
		}
		if r := sh(t, f, "cat "+outside+"/secret"); r.Code == 0 {
			t.Errorf("read: %q", r.out)
		}
		if r := sh(t, f, "echo x > "+outside+"/written && ls /dev/pts >/dev/null"); r.Code != 0 {
			t.Errorf("write: %q", r.out)
		}
	})
	t.Run("F111 off is off", func(t *testing.T) {
		f, err := Open(context.Background(), Options{Policy: Policy{Mode: FullAccess, Workspace: root}})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if r := f.Report(); r.Driver != None || len(r.Open) != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("F109 F116 F121 what programs expect", func(t *testing.T) {
		f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root})
		for _, script := range []string{
			"mktemp -p /tmp", "mktemp -p /var/tmp", "cat <<X\nx\nX\n", "echo x >/dev/null; head -c4 /dev/urandom >/dev/null; head -c1 /dev/zero >/dev/null",
			"bash -c 'cat <(echo x)'", "script -qc true /dev/null", "python3 -c 'import pty,os; m,s=pty.openpty(); os.write(s,b\"x\")'",
			"python3 -c 'import multiprocessing as m; m.Lock(); m.Queue()'", "python3 -c 'import ssl,pwd,os; pwd.getpwuid(os.getuid()); ssl.create_default_context()'",
			"mkfifo p && rm p", "echo a > f1; mv f1 f2; rm f2", "ls /proc/self/fd", "ps -e | grep -q ps",
		} {
			if r := sh(t, f, script); r.Code != 0 {
				t.Errorf("%s: %d %q", script, r.Code, r.out)
			}
		}
	})
}

func TestLimits(t *testing.T) {
	root, _ := workspace(t)
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root, Limits: Limits{
		Memory: 256 << 20, Processes: 310, FileSize: 1 << 20, CPU: 2 * time.Second, Temp: 8 << 20,
	}})
	for _, o := range f.Report().Open {
		if strings.Contains(o, "processes is not limited") {
			t.Log(o)
		}
	}
	if r := sh(t, f, "python3 -c 'x = bytearray(400<<20)'"); r.Code == 0 {
		t.Error("memory is not limited")
	}
	if r := sh(t, f, "python3 -c 'x = bytearray(50<<20)'"); r.Code != 0 {
		t.Errorf("memory within the limit: %s", r.out)
	}
	if r := sh(t, f, "python3 -c 'open(\"big\",\"w\").write(\"x\"*(2<<20))'; stat -c %s big"); !strings.HasSuffix(r.out, "1048576\n") {
		t.Errorf("F056 file size: %q", r.out)
	}
	if r := sh(t, f, "head -c 20000000 /dev/zero > /tmp/x; stat -c %s /tmp/x"); strings.Contains(r.out, "20000000") {
		t.Errorf("/tmp: %q", r.out)
	}
	began := time.Now()
	if r := sh(t, f, "while :; do :; done"); r.Signal != syscall.SIGKILL && r.Signal != syscall.SIGXCPU || time.Since(began) > 20*time.Second {
		t.Errorf("CPU: %+v after %v", r.Exit, time.Since(began))
	}
	const forks = `
import os, time
n = 0
try:
    while n < 600:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError as e: print(n, e, flush=True)
else: print(n, "all", flush=True)
os._exit(0)`
	r := run(t, f, Spec{Path: "python3", Argv: []string{"python3", "-c", forks}})
	if n, _ := strconv.Atoi(strings.Fields(r.out + " 0")[0]); n < 250 || n > 310 {
		t.Errorf("processes: %q", r.out)
	}
}

func TestSlotsShrink(t *testing.T) {
	root, _ := workspace(t)
	f, ok := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root}).(*spaces)
	if !ok {
		t.Fatal("not the namespaces driver")
	}
	count := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.idle)
	}
	done := make(chan struct{})
	for range 12 {
		go func() { sh(t, f, "sleep 0.3"); done <- struct{}{} }()
	}
	for range 12 {
		<-done
	}
	before := count()
	if before < 10 {
		t.Fatalf("%d slots after 12 commands at once", before)
	}
	for range before {
		f.shrinkOne()
	}
	if n := count(); n != idleSlots {
		t.Errorf("%d slots stay", n)
	}
	if r := sh(t, f, "echo works"); r.out != "works\n" {
		t.Errorf("%q", r.out)
	}
}

// TestSignalsDoNotReachTheNext sends signals at the very end of commands, whose
// slot the next command takes.
func TestSignalsDoNotReachTheNext(t *testing.T) {
	root, _ := workspace(t)
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root})
	for range 100 {
		p, err := f.Start(context.Background(), Spec{Path: "/bin/true", Argv: []string{"true"}})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = p.Signal(syscall.SIGKILL) }()
		_, _ = p.Wait()
		q, err := f.Start(context.Background(), Spec{Path: "/bin/true", Argv: []string{"true"}})
		if err != nil {
			t.Fatal(err)
		}
		if x, err := q.Wait(); err != nil || x.Code != 0 {
			t.Fatalf("the next command: %+v, %v", x, err)
		}
	}
}

// TestFenceKilled kills a slot, then the fence process, from outside.
func TestFenceKilled(t *testing.T) {
	root, _ := workspace(t)
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root})
	p, _ := start(t, f, "sleep 60")
	slot, ok := p.(*slotProc)
	if !ok {
		t.Fatal("not in a slot")
	}
	slot.mu.Lock()
	err := unix.PidfdSendSignal(slot.slot.pidfd, unix.SIGKILL, nil, 0)
	slot.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	// The kernel killed the command with its namespace.
	if x, err := p.Wait(); x.Signal != syscall.SIGKILL && !errors.Is(err, ErrClosed) {
		t.Errorf("Wait = %+v, %v", x, err)
	}
	if r := sh(t, f, "echo works"); r.out != "works\n" {
		t.Errorf("after a slot was killed: %q", r.out)
	}
	fence := 0
	p, _ = start(t, f, "sleep 60")
	for _, name := range children(os.Getpid()) {
		if cmd, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", name)); strings.HasPrefix(string(cmd), "handrail-fence") {
			fence = name
		}
	}
	if fence == 0 {
		t.Fatal("no fence process")
	}
	if err := unix.Kill(fence, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); !errors.Is(err, ErrClosed) {
		t.Errorf("Wait = %v", err)
	}
	<-p.Gone()
	if _, err := f.Start(context.Background(), Spec{Path: "/bin/true", Argv: []string{"true"}}); !errors.Is(err, ErrClosed) {
		t.Errorf("Start = %v", err)
	}
}

func children(parent int) []int {
	var list []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscan(e.Name(), &pid); err == nil {
			if _, ppid, _ := stat(pid); ppid == parent {
				list = append(list, pid)
			}
		}
	}
	return list
}

// TestF051_OwnerKilled kills the owner of a fence, once with the fence process
// stopped so that it cannot notice.
func TestF051_OwnerKilled(t *testing.T) {
	for _, d := range []Driver{Namespaces, Landlock, Bubblewrap} {
		for _, stopped := range []bool{false, true} {
			if stopped && d != Namespaces {
				continue
			}
			t.Run(fmt.Sprintf("%s, stopped %v", d, stopped), func(t *testing.T) {
				root, _ := workspace(t)
				self, err := os.Executable()
				if err != nil {
					t.Fatal(err)
				}
				c := exec.Command(self)
				c.Env = append(os.Environ(), sleeperMark+"="+string(d)+" "+root)
				out, err := c.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				line := make([]byte, 100)
				n, _ := out.Read(line)
				if !strings.HasPrefix(string(line[:n]), "up") {
					_ = c.Process.Kill()
					_ = c.Wait()
					t.Logf("not here: %s", line[:n])
					return
				}
				if stopped {
					for _, pid := range children(c.Process.Pid) {
						_ = unix.Kill(pid, unix.SIGSTOP)
					}
				}
				_ = c.Process.Kill()
				_ = c.Wait()
				deadline := time.Now().Add(5 * time.Second)
				for len(withArgument(root)) > 0 {
					if time.Now().After(deadline) {
						t.Fatalf("left: %v", withArgument(root))
					}
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
	}
}

// withArgument lists the processes that have text in their arguments.
func withArgument(text string) []string {
	var list []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && strings.Contains(string(data), text) {
			list = append(list, f)
		}
	}
	return list
}

const sleeperMark = "HANDRAIL_TEST_SLEEPER"

// sleeper owns a fence until it is killed.
func sleeper(how string) {
	d, root, _ := strings.Cut(how, " ")
	f, err := Open(context.Background(), Options{Driver: Driver(d), Policy: Policy{Mode: WorkspaceWrite, Workspace: root}})
	if err == nil {
		_, err = f.Start(context.Background(), Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "trap '' TERM HUP; echo up; while :; do sleep 1; done", root}, Env: []string{"PATH=/bin:/usr/bin"}, Stdout: os.Stdout})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	time.Sleep(time.Hour)
}

// TestIgnoredSignals: what this process ignores, as all that nohup starts does,
// its commands do not.
func TestIgnoredSignals(t *testing.T) {
	ignored := []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTSTP, syscall.SIGPIPE}
	signal.Ignore(ignored...)
	defer signal.Reset(ignored...)
	root, _ := workspace(t)
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root})
	const script = `for s in HUP INT PIPE TSTP; do trap "printf $s," $s; kill -$s $$; done; grep SigIgn /proc/self/status`
	if r := sh(t, f, script); r.out != "HUP,INT,PIPE,TSTP,SigIgn:\t0000000000000000\n" {
		t.Errorf("%q", r.out)
	}
}

// TestLimitsAreThereFromTheStart: a limit holds for what a command starts with
// its very first instruction, on a terminal, too, and the smallest one leaves
// the fence itself whole.
func TestLimitsAreThereFromTheStart(t *testing.T) {
	root, _ := workspace(t)
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root, Limits: Limits{Memory: minMemory, FileSize: 4096, CPU: 7 * time.Second}})
	for range 20 {
		if r := sh(t, f, "ulimit -d; ulimit -f; ulimit -t; ulimit -c"); r.out != "1024\n8\n7\n0\n" {
			t.Fatalf("limits: %q", r.out)
		}
	}
	if p, err := f.Start(t.Context(), Spec{Path: "/nowhere/program", Argv: []string{"x"}}); p != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
	p, err := f.Start(t.Context(), Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "test -t 0 && ulimit -t >/dev/tty"}, Terminal: &Size{Rows: 24, Cols: 80}})
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(p.Terminal()) // EIO at its end
	p.Terminal().Close()
	if exit, err := p.Wait(); exit.Code != 0 || string(said) != "7\r\n" || err != nil {
		t.Errorf("on a terminal: %q, %+v, %v", said, exit, err)
	}
}
