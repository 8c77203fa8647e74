//go:build unix

package sandbox

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// drivers are those that can be had on the machine that the tests run on; one
// that cannot is named in the log with its reason.
func drivers(t *testing.T, p Policy) []Driver {
	t.Helper()
	var have []Driver
	for _, d := range []Driver{Namespaces, Landlock, Bubblewrap, Seatbelt} {
		f, err := Open(context.Background(), Options{Driver: d, Policy: p})
		if err != nil {
			t.Logf("not here: %v", err)
			continue
		}
		have = append(have, d)
		if err := f.Close(); err != nil {
			t.Errorf("closing %s: %v", d, err)
		}
	}
	if len(have) == 0 {
		t.Fatal("no driver can be had, so nothing would be tested")
	}
	return have
}

func open(t testing.TB, d Driver, p Policy) Fence {
	t.Helper()
	f, err := Open(context.Background(), Options{Driver: d, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return f
}

// workspace is a folder that every user may reach, with files around it.
func workspace(t testing.TB) (root, outside string) {
	t.Helper()
	base := scratch(t)
	root, outside = filepath.Join(base, "ws"), filepath.Join(base, "out")
	for _, dir := range []string{root, outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root, outside
}

// scratch is a folder outside those that a fence replaces, so that what lies
// in it can be seen from inside.
func scratch(t testing.TB) string {
	t.Helper()
	home, _ := os.UserHomeDir()
	for _, parent := range []string{"/srv", "/var/lib", home} {
		dir, err := os.MkdirTemp(parent, "handrail-test-")
		if err != nil || within(dir, "/tmp") {
			continue
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Fatal("no folder outside /tmp can be written to")
	return ""
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// result is what a command said and how it ended.
type result struct {
	out string
	Exit
}

func run(t testing.TB, f Fence, s Spec) result {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s.Stdout, s.Stderr = w, w
	s.Env = append(append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"}, f.Report().Env...), s.Env...)
	p, err := f.Start(context.Background(), s)
	w.Close()
	if err != nil {
		t.Fatalf("%v: %v", s.Argv, err)
	}
	said := make(chan string, 1)
	go func() {
		out, _ := io.ReadAll(r)
		said <- string(out)
	}()
	x, err := p.Wait()
	if err != nil {
		t.Fatalf("%v: %v", s.Argv, err)
	}
	if !s.Keep {
		select {
		case <-p.Gone():
		case <-time.After(10 * time.Second):
			t.Fatalf("%v: processes are left", s.Argv)
		}
	}
	select {
	case out := <-said:
		return result{out, x}
	case <-time.After(10 * time.Second):
		t.Fatalf("%v: the pipe stays open", s.Argv)
		return result{}
	}
}

func sh(t testing.TB, f Fence, script string) result {
	t.Helper()
	return run(t, f, Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", script}})
}

// TestConformance is the suite that every driver passes.
func TestConformance(t *testing.T) {
	root, outside := workspace(t)
	p := Policy{Mode: WorkspaceWrite, Workspace: root}
	for _, d := range drivers(t, p) {
		t.Run(string(d), func(t *testing.T) {
			f := open(t, d, p)
			if got := f.Report().Driver; got != d {
				t.Errorf("Report.Driver = %q", got)
			}
			t.Run("ends", func(t *testing.T) { testEnds(t, f) })
			t.Run("start errors", func(t *testing.T) { testStartErrors(t, f, root) })
			t.Run("files", func(t *testing.T) { testFiles(t, f, root, outside) })
			t.Run("tree", func(t *testing.T) { testTree(t, f) })
			t.Run("keep", func(t *testing.T) { testKeep(t, f) })
			t.Run("terminal", func(t *testing.T) { testTerminal(t, f) })
			t.Run("many at once", func(t *testing.T) { testMany(t, f) })
			t.Run("close", func(t *testing.T) { testClose(t, d, p) })
		})
	}
}

func testEnds(t *testing.T, f Fence) {
	for _, c := range []struct {
		script, out string
		code        int
		signal      syscall.Signal
	}{
		{"true", "", 0, 0},
		{"exit 37", "", 37, 0},
		{"echo out; echo err >&2", "out\nerr\n", 0, 0},
		{"cat", "", 0, 0}, // standard input ends at once
		{"printf 'no newline'", "no newline", 0, 0},
		{"kill -9 $$", "", -1, syscall.SIGKILL},
		{"kill -15 $$", "", -1, syscall.SIGTERM},
	} {
		r := sh(t, f, c.script)
		if f.Report().Driver == Bubblewrap && c.signal != 0 {
			// bwrap passes the end of its child on as a shell would.
			c.code, c.signal = 128+int(c.signal), 0
		}
		if r.out != c.out || r.Code != c.code || r.Signal != c.signal {
			t.Errorf("%s: %q, %d, %v; want %q, %d, %v", c.script, r.out, r.Code, r.Signal, c.out, c.code, c.signal)
		}
	}
	r := sh(t, f, "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
	if r.User+r.System < time.Millisecond || r.MaxRSS < 100<<10 {
		t.Errorf("use of a busy command: %v, %v, %d bytes", r.User, r.System, r.MaxRSS)
	}
	if r := run(t, f, Spec{Path: "env", Argv: []string{"env"}, Env: []string{"ONE=1"}}); !strings.Contains(r.out, "ONE=1\n") || strings.Contains(r.out, "HANDRAIL_FENCE") {
		t.Errorf("environment: %q", r.out)
	}
	if r := sh(t, f, "pwd"); strings.TrimSpace(r.out) != f.Report().Policy.Workspace {
		t.Errorf("pwd = %q", r.out)
	}
	long := strings.Repeat("x", 100<<10)
	if r := run(t, f, Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", `echo ${#1}`, "sh", long}}); r.out != fmt.Sprintln(len(long)) {
		t.Errorf("a long argument: %q", r.out)
	}
}

func testStartErrors(t *testing.T, f Fence, root string) {
	if f.Report().Driver == Bubblewrap || f.Report().Driver == Seatbelt {
		return // the program that is started is the driver's own, and it exists
	}
	for _, c := range []struct {
		name string
		spec Spec
		op   string
	}{
		{"no program", Spec{Path: "/nonexistent/program", Argv: []string{"x"}}, "start"},
		{"not in PATH", Spec{Path: "no-such-program", Argv: []string{"x"}, Env: []string{"PATH=/bin"}}, "start"},
		{"relative", Spec{Path: "./x", Argv: []string{"x"}}, "start"},
		{"no folder", Spec{Path: "/bin/true", Argv: []string{"true"}, Dir: filepath.Join(root, "none")}, ""},
		{"no argv", Spec{Path: "/bin/true"}, ""},
		{"NUL", Spec{Path: "/bin/true", Argv: []string{"a\x00b"}}, ""},
	} {
		p, err := f.Start(context.Background(), c.spec)
		if err == nil {
			_ = p.Kill()
			t.Errorf("%s: started", c.name)
			continue
		}
		if c.op != "" && !strings.Contains(err.Error(), c.op) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if r := sh(t, f, "echo still here"); r.out != "still here\n" {
		t.Errorf("after failed starts: %q", r.out)
	}
}

func testFiles(t *testing.T, f Fence, root, outside string) {
	write(t, filepath.Join(outside, "file"), "theirs")
	for _, script := range []string{
		"echo x > " + outside + "/new",
		"echo x >> " + outside + "/file",
		"mkdir " + outside + "/dir",
		"rm " + outside + "/file",
		"mv " + outside + "/file here",
		"ln " + outside + "/file here && echo x > here",
		"ln -s " + outside + " link && echo x > link/new",
		"echo x > ../out/new",
	} {
		if r := sh(t, f, script); r.Code == 0 {
			t.Errorf("%s: succeeded: %s", script, r.out)
		}
	}
	if data, err := os.ReadFile(filepath.Join(outside, "file")); err != nil || string(data) != "theirs" {
		t.Errorf("the file outside: %q, %v", data, err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("outside: %v", entries)
	}
	r := sh(t, f, "rm -rf a && mkdir -p a/b && echo x > a/b/f && mv a/b/f a/g && ln a/g a/h && rm a/g && cat a/h && echo x >/dev/null && head -c4 /dev/urandom | wc -c && T=$(mktemp -d) && echo y > $T/f && cat $T/f")
	if r.Code != 0 || strings.Join(strings.Fields(r.out), " ") != "x 4 y" {
		t.Errorf("work inside: %d %q", r.Code, r.out)
	}
	if data, err := os.ReadFile(filepath.Join(root, "a", "h")); err != nil || string(data) != "x\n" {
		t.Errorf("what was made inside: %q, %v", data, err)
	}
}

func testTree(t *testing.T, f Fence) {
	began := time.Now()
	for _, script := range []string{
		"sleep 60 & echo up",
		"(sleep 60 & sleep 60) & echo up",
		"(trap '' TERM HUP INT; sleep 60; sleep 60) & echo up",
	} {
		if r := sh(t, f, script); r.out != "up\n" || r.Code != 0 {
			t.Errorf("%s: %q, %d", script, r.out, r.Code)
		}
	}
	if f.Report().Driver == Namespaces || f.Report().Driver == Bubblewrap {
		if r := sh(t, f, "setsid sh -c 'setsid sleep 60 & sleep 60' & sleep 0.05; echo up"); r.out != "up\n" {
			t.Errorf("setsid: %q", r.out)
		}
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
	p, err := f.Start(context.Background(), Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "trap '' TERM; sleep 60 & sleep 60; sleep 60"}, Env: []string{"PATH=/bin:/usr/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Pid() <= 1 || syscall.Kill(p.Pid(), 0) != nil {
		t.Errorf("Pid = %d", p.Pid())
	}
	time.Sleep(50 * time.Millisecond)
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("Signal: %v", err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("Kill: %v", err)
	}
	x, err := p.Wait()
	if err != nil || x.Code == 0 {
		t.Errorf("Wait after Kill: %+v, %v", x, err)
	}
	<-p.Gone()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("Signal after the end: %v", err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("Kill after the end: %v", err)
	}
}

func testKeep(t *testing.T, f Fence) {
	start := func(script string) Proc {
		p, err := f.Start(context.Background(), Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/bin:/usr/bin"}, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if f.Report().Driver == Bubblewrap {
		return // bwrap waits for what is left, so a command ends with its last process
	}
	p := start("sleep 60 & exit 3")
	x, err := p.Wait()
	if err != nil || x.Code != 3 || !x.Left {
		t.Errorf("Wait = %+v, %v", x, err)
	}
	select {
	case <-p.Gone():
		t.Error("Gone although a process was kept")
	case <-time.After(100 * time.Millisecond):
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	<-p.Gone()

	p = start("sleep 0.3 & exit 0")
	if x, err := p.Wait(); err != nil || !x.Left {
		t.Errorf("Wait = %+v, %v", x, err)
	}
	select {
	case <-p.Gone():
	case <-time.After(10 * time.Second):
		t.Error("never Gone although the last process ended")
	}
	p = start("exit 0")
	if x, err := p.Wait(); err != nil || x.Left {
		t.Errorf("nothing left: %+v, %v", x, err)
	}
	<-p.Gone()
}

func testTerminal(t *testing.T, f Fence) {
	p, err := f.Start(context.Background(), Spec{
		Path: "/bin/sh", Argv: []string{"sh", "-c", "stty size; test -t 0 && test -t 1 && echo yes; read x; echo got $x; echo x > /dev/tty"},
		Env: []string{"PATH=/bin:/usr/bin"}, Terminal: &Size{Rows: 33, Cols: 101},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Terminal().Close()
	if _, err := p.Terminal().WriteString("hello\n"); err != nil {
		t.Error(err)
	}
	out, _ := io.ReadAll(p.Terminal()) // ends with EIO when the other side is closed
	for _, want := range []string{"33 101", "yes", "got hello", "\nx"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	if x, err := p.Wait(); err != nil || x.Code != 0 {
		t.Errorf("%+v, %v", x, err)
	}
}

func testMany(t *testing.T, f Fence) {
	done := make(chan result, 20)
	began := time.Now()
	for i := range 20 {
		go func() { done <- sh(t, f, fmt.Sprintf("sleep 0.2; echo %d", i)) }()
	}
	seen := map[string]bool{}
	for range 20 {
		seen[(<-done).out] = true
	}
	if len(seen) != 20 {
		t.Errorf("%d different answers of 20", len(seen))
	}
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("20 commands of 0.2 s took %v: they ran one after the other", d)
	}
}

func testClose(t *testing.T, d Driver, p Policy) {
	f := open(t, d, p)
	proc, err := f.Start(context.Background(), Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "sleep 60 & sleep 60"}, Env: []string{"PATH=/bin:/usr/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	select {
	case <-proc.Gone():
	default:
		t.Error("Close returned with a command left")
	}
	if _, err := f.Start(context.Background(), Spec{Path: "/bin/true", Argv: []string{"true"}}); err == nil {
		t.Error("Start after Close")
	}
	if err := f.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// echoServer stands in for a proxy where only the door matters.
type echoServer struct{}

func (echoServer) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		_, _ = io.WriteString(c, "door\n")
		_ = c.Close()
	}
}

// TestBubblewrapHandsNoFilesOver: what a command could open again for writing
// past the mounts is refused before it starts.
func TestBubblewrapHandsNoFilesOver(t *testing.T) {
	root, outside := workspace(t)
	f := open(t, Bubblewrap, Policy{Mode: WorkspaceWrite, Workspace: root})
	name := filepath.Join(outside, "in")
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, s := range []Spec{{Stdin: in}, {Stdout: in}, {Stderr: in}} {
		s.Path, s.Argv = "/bin/true", []string{"true"}
		if p, err := f.Start(t.Context(), s); p != nil || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
