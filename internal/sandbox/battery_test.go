//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// The test binary plays three parts: the tests, the owner of a fence as
// another user, and the probes inside it.
const (
	ownerMark = "HANDRAIL_TEST_OWNER"
	probeMark = "HANDRAIL_TEST_PROBES"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(probeMark) != "":
		probeAll()
	case os.Getenv(ownerMark) != "":
		own()
	case os.Getenv(sleeperMark) != "":
		sleeper(os.Getenv(sleeperMark))
	case os.Getenv(nestedMark) != "":
		nested()
	case os.Getenv(helplessMark) != "":
		helpless(os.Getenv(helplessMark))
	default:
		goleak.VerifyTestMain(m)
	}
}

// described is a scene on its way through an environment.
type described struct {
	Base              string
	Driver            Driver
	Victim, Owner     int
	Port, Port6, UDP  string
	Abstract          string
	ShmKey, ShmID     int
	HostTmp, HostShm  string
	Binary            string
	UnixSockets, Bare bool
	Wrapper           []string
}

func (d described) scene() *scene {
	return &scene{
		ws: d.Base + "/ws", out: d.Base + "/out", hidden: d.Base + "/out/hidden", secret: d.Base + "/out/secret",
		victim: d.Victim, owner: d.Owner, port: d.Port, port6: d.Port6, udp: d.UDP,
		unixSock: d.Base + "/sock/unix", abstract: d.Abstract, shmKey: d.ShmKey, shmID: d.ShmID, hostTmp: d.HostTmp, hostShm: d.HostShm,
	}
}

// patience is how long one probe may take. Under a fence that is not ours, what
// hangs is only noted.
func (d described) patience() time.Duration {
	if len(d.Wrapper) > 0 {
		return time.Second
	}
	return 10 * time.Second
}

// build makes the folders that the probes aim at.
func (s *scene) build() error {
	for _, dir := range []string{"/mnt", "/mnt2"} {
		for unix.Unmount(s.ws+dir, unix.MNT_DETACH) == nil {
			continue // what a probe of the control mounted
		}
	}
	if err := errors.Join(clear(s.out), clear(s.ws)); err != nil {
		return err
	}
	var bad []error
	file := func(path, text string) {
		bad = append(bad, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	for _, name := range []string{"file", "trunc", "trunc2", "unlink", "ren", "ren3", "exch", "chmod", "chmod2", "chmod3", "chown", "utimes", "xattr", "xattr2", "flags", "hid2", "home/.bashrc", "home/.ssh/known", "bin/other"} {
		file(s.out+"/"+name, strings.Repeat(name+"\n", 1000))
	}
	_ = unix.Setxattr(s.out+"/xattr2", "user.made", []byte("x"), 0) // a file system without them makes the probe impossible
	bad = append(bad, os.Mkdir(s.out+"/empty", 0o755))
	file(s.secret, "secret")
	file(s.hidden+"/key", "secret")
	for _, name := range []string{"mine", "mine2", "mnt/.keep", "mnt2/.keep", ".git/refs/x", ".git/hooks/pre-commit", ".git/info/attributes", ".git/objects/x"} {
		file(s.ws+"/"+name, "x")
	}
	file(s.ws+"/.git/HEAD", "ref: refs/heads/main\n")
	file(s.ws+"/.git/config", "[core]\n\trepositoryformatversion = 0\n")
	for name, to := range map[string]string{"to-file": s.out + "/file", "to-out": s.out, "to-link": "to-out", "to-secret": s.secret, "to-sock": s.unixSock, "dangling": s.out + "/by-link"} {
		bad = append(bad, os.Symlink(to, s.ws+"/"+name))
	}
	return errors.Join(append(bad, os.Mkdir(s.ws+"/.handrail", 0o755))...)
}

func clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// probeAll makes every probe, each on a thread that is not used again, and
// writes a line for each.
func probeAll() {
	var d described
	if err := json.Unmarshal([]byte(os.Getenv(probeMark)), &d); err != nil {
		fmt.Println("error", err)
		os.Exit(3)
	}
	s := d.scene()
	for _, p := range allProbes() {
		if d.Bare {
			if err := s.build(); err != nil {
				fmt.Printf("%s\trebuild: %v\n", p.name, err)
				continue
			}
		}
		done := make(chan error, 1)
		go func() {
			runtime.LockOSThread() // never unlocked
			done <- p.try(s)
		}()
		select {
		case err := <-done:
			fmt.Printf("%s\t%s\n", p.name, verdict(err))
		case <-time.After(d.patience()):
			fmt.Printf("%s\ttimeout\n", p.name)
		}
	}
}

const isOpen, skipped = "open", "skipped"

func verdict(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return isOpen
	case errors.Is(err, errSkip):
		return skipped
	case errors.As(err, &errno):
		return unix.ErrnoName(errno)
	}
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ")
	return "failed: " + text[:min(len(text), 60)]
}

// own opens a fence as this process's user and runs the probes in it.
func own() {
	var d described
	if err := json.Unmarshal([]byte(os.Getenv(ownerMark)), &d); err != nil {
		fmt.Println("error", err)
		os.Exit(3)
	}
	d.Owner = os.Getpid()
	s := d.scene()
	text, _ := json.Marshal(d) // strings and numbers only
	env := []string{probeMark + "=" + string(text), "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.out + "/home"}
	in, err := os.Open(s.out + "/file")
	if err != nil {
		fmt.Println("error", err)
		os.Exit(3)
	}
	if len(d.Wrapper) > 0 {
		c := exec.Command(d.Wrapper[0], append(slices.Clone(d.Wrapper[1:]), d.Binary)...)
		c.Env, c.Stdin, c.Stdout, c.Stderr, c.Dir = append(os.Environ(), env...), in, os.Stdout, os.Stdout, s.ws
		if err := c.Run(); err != nil {
			fmt.Println("error", err)
		}
		return
	}
	p := Policy{Mode: WorkspaceWrite, Workspace: s.ws, UnixSockets: d.UnixSockets,
		Unreadable: []string{s.secret, s.hidden, s.out + "/hid2", "/etc/shadow"}, Protected: DefaultProtected()}
	if d.Bare {
		p = Policy{Mode: FullAccess, Workspace: s.ws}
	}
	f, err := Open(context.Background(), Options{Driver: d.Driver, Policy: p})
	if err != nil {
		fmt.Println("unavailable", err)
		return
	}
	for _, text := range f.Report().Open {
		fmt.Printf("%s%s\n", saysMark, text)
	}
	if d.Driver == Bubblewrap {
		in = piped(in)
	}
	proc, err := f.Start(context.Background(), Spec{Path: d.Binary, Argv: []string{"probes"}, Env: append(env, f.Report().Env...), Stdin: in, Stdout: os.Stdout, Stderr: os.Stdout})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(3)
	}
	if x, err := proc.Wait(); err != nil || x.Code != 0 {
		fmt.Println("error", x, err)
	}
	_ = f.Close() // the lines are out
}

// saysMark begins the lines of [Report.Open].
const saysMark = "says "

// piped returns a pipe with the beginning of a file.
func piped(from *os.File) *os.File {
	r, w, err := os.Pipe()
	if err == nil {
		_, err = io.CopyN(w, from, 100)
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(3)
	}
	_ = w.Close() // as after an echo
	return r
}

// stage makes the scene and what listens around it, for one user.
type stage struct {
	described
	uid   int
	moved chan string // what reached a listener outside
	says  []string    // what the fence reported as open
}

func newStage(t *testing.T, uid int) *stage {
	t.Helper()
	base := scratch(t)
	st := &stage{uid: uid, moved: make(chan string, 1000)}
	st.Base, st.Binary = base, base+"/ws-bin/probes"
	for _, dir := range []string{"ws", "out", "sock", "ws-bin"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyProgram(t, st.Binary)
	if err := st.scene().build(); err != nil {
		t.Fatal(err)
	}
	st.listen(t)
	st.sharedThings(t)
	if os.Getuid() == 0 {
		err := filepath.WalkDir(base, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, uid, uid))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	victim := exec.Command("/bin/sh", "-c", "trap '' USR1; exec sleep 300")
	victim.Dir = base + "/out"
	victim.SysProcAttr = st.as(true)
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = victim.Process.Kill(); _ = victim.Wait() })
	st.Victim = victim.Process.Pid
	return st
}

func (st *stage) as(setsid bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: setsid}
	if os.Getuid() == 0 && st.uid != 0 {
		a.Credential = &syscall.Credential{Uid: uint32(st.uid), Gid: uint32(st.uid)}
	}
	return a
}

func copyProgram(t testing.TB, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// listen opens what the probes must not reach. Each answers and tells.
func (st *stage) listen(t *testing.T) {
	t.Helper()
	serve := func(network, addr string) string {
		l, err := net.Listen(network, addr)
		if err != nil {
			t.Logf("no listener at %s %s: %v", network, addr, err)
			return "9"
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				st.moved <- network + " " + addr
				_ = c.Close()
			}
		}()
		if network == "unix" {
			return ""
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		return port
	}
	st.Port, st.Port6 = serve("tcp4", "127.0.0.1:0"), serve("tcp6", "[::1]:0")
	st.Abstract = filepath.Base(st.Base)
	serve("unix", st.Base+"/sock/unix")
	serve("unix", "@"+st.Abstract)
	for _, at := range [][2]string{{"udp4", "127.0.0.1:0"}, {"unixgram", "@" + st.Abstract + "-dgram"}} {
		c, err := net.ListenPacket(at[0], at[1])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if at[0] == "udp4" {
			_, st.UDP, _ = net.SplitHostPort(c.LocalAddr().String())
		}
		go func() {
			var b [64]byte
			for {
				_, from, err := c.ReadFrom(b[:])
				if err != nil {
					return
				}
				st.moved <- at[0]
				if from != nil {
					_, _ = c.WriteTo([]byte("heard"), from)
				}
			}
		}()
	}
}

// sharedThings makes what lies in the folders and tables that all processes of
// a machine share.
func (st *stage) sharedThings(t *testing.T) {
	t.Helper()
	for _, place := range []struct {
		dir string
		to  *string
	}{{"/tmp", &st.HostTmp}, {"/dev/shm", &st.HostShm}} {
		f, err := os.CreateTemp(place.dir, "handrail-test-")
		if err != nil {
			t.Fatal(err)
		}
		*place.to = f.Name()
		t.Cleanup(func() { _ = os.Remove(f.Name()) })
		if err := errors.Join(f.Chmod(0o666), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	st.ShmKey = 0x48520000 | os.Getpid()&0x7fff<<1 | st.uid&1
	id, err := unix.SysvShmGet(st.ShmKey, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Logf("no System V segment: %v", err)
		return
	}
	st.ShmID = id
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	queue, err := callN(unix.SYS_MSGGET, uintptr(st.ShmKey), unix.IPC_CREAT|0o666)
	if err != nil {
		t.Logf("no System V queue: %v", err)
		return
	}
	t.Cleanup(func() { _, _ = callN(unix.SYS_MSGCTL, queue, unix.IPC_RMID, 0) })
	fd, err := callN(unix.SYS_MQ_OPEN, str(st.Abstract), unix.O_CREAT|unix.O_RDWR, 0o666, 0)
	if err != nil {
		t.Logf("no POSIX queue: %v", err)
		return
	}
	_ = unix.Close(int(fd))
	t.Cleanup(func() { _, _ = callN(unix.SYS_MQ_UNLINK, str(st.Abstract)) })
}

// tree describes a folder so that any change shows.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		attrs := make([]byte, 256)
		n, _ := unix.Llistxattr(path, attrs)
		m[strings.TrimPrefix(path, dir)] = fmt.Sprintf("%o %d %d %d %d %d.%d %q", st.Mode, st.Uid, st.Nlink, st.Size, st.Ino, st.Mtim.Sec, st.Mtim.Nsec, attrs[:max(n, 0)])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answers runs the probes for one driver and returns each one's verdict, or
// why there are none. What the fence said that it leaves open is in st.says.
func (st *stage) answers(t *testing.T) (map[string]string, string) {
	t.Helper()
	text, err := json.Marshal(st.described)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, st.Binary)
	c.Env = []string{ownerMark + "=" + string(text), "PATH=" + os.Getenv("PATH"), "HOME=" + st.Base + "/out/home"}
	c.Dir = "/"
	c.SysProcAttr = st.as(true)
	if st.Bare && os.Getuid() == 0 {
		c.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS // what the control mounts goes with it
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil && len(st.Wrapper) == 0 {
		t.Fatalf("%v: %s", err, out.String())
	}
	m := map[string]string{}
	for line := range strings.Lines(out.String()) {
		name, got, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch text, says := strings.CutPrefix(line, saysMark); {
		case says:
			st.says = append(st.says, strings.TrimSpace(text))
		case ok:
			m[name] = got
		case strings.HasPrefix(line, "unavailable"):
			return nil, line
		case strings.HasPrefix(line, "error"):
			t.Errorf("%s", line)
		}
	}
	return m, ""
}

// declared are the probes, by the beginning of their names, that may get
// through where Report.Open of the very fence says so, by a part of its sentence.
// Nothing else may: what a driver leaves open and does not say is an escape.
var declared = []struct {
	says   string
	probes []string
}{
	{"PID 1 of each command is bwrap itself", []string{"F059 read the parent's environ", "open /proc/1/mem", "read /proc/1/environ", "open a descriptor of PID 1"}},
	{"Mode, owner, times and extended attributes of files outside the workspace can be changed",
		[]string{"chmod ", "fchmod ", "chown ", "utimes ", "touch ", "setxattr ", "removexattr ", "set file flags "}},
	{"other processes of the user can be seen, and their priority and limits changed",
		[]string{"see the command line", "priority of a process", "I/O priority", "affinity of", "limits of"}},
	{"Hidden folders can be entered", []string{"chdir into a hidden folder", "size of a hidden file"}},
}

// declares reports whether the fence said that the probe gets through.
func (st *stage) declares(p probe) bool {
	for _, d := range declared {
		if slices.ContainsFunc(st.says, func(s string) bool { return strings.Contains(s, d.says) }) &&
			slices.ContainsFunc(d.probes, func(s string) bool { return strings.HasPrefix(p.name, s) }) {
			return true
		}
	}
	return slices.ContainsFunc(st.says, func(s string) bool { return strings.HasPrefix(s, "Protected paths in the workspace can be changed") }) &&
		slices.ContainsFunc(protectedProbes(), func(o probe) bool { return o.name == p.name })
}

// atLeast is how many probes must really have been tried by a driver, with the
// control showing that they succeed without a fence.
const atLeast = 150

func TestBattery(t *testing.T) {
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, 65534)
	}
	for _, uid := range users {
		t.Run(fmt.Sprintf("user %d", uid), func(t *testing.T) { battery(t, uid) })
	}
}

func battery(t *testing.T, uid int) {
	control := newStage(t, uid)
	control.Bare, control.Driver, control.UnixSockets = true, None, true
	bare, why := control.answers(t)
	if bare == nil {
		t.Fatal(why)
	}
	columns := []string{"bare"}
	results := map[string]map[string]string{"bare": bare}
	for _, d := range []Driver{Namespaces, Bubblewrap, Landlock} {
		st := newStage(t, uid)
		st.Driver = d
		st.UnixSockets = d != Landlock // which cannot hold them, and says so
		before := tree(t, st.Base+"/out")
		got, why := st.answers(t)
		if got == nil {
			t.Logf("%s: no probe was made: %s", d, why)
			continue
		}
		columns, results[string(d)] = append(columns, string(d)), got
		t.Run(string(d), func(t *testing.T) {
			judge(t, st, bare, got)
			if d != Landlock {
				unchanged(t, before, tree(t, st.Base+"/out"))
			}
		})
	}
	// Another system's fence, for the table alone: HANDRAIL_CODEX names its program.
	if codex := os.Getenv("HANDRAIL_CODEX"); codex != "" {
		st := newStage(t, uid)
		home := st.Base + "/codex-home"
		if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, uid, uid)); err != nil {
			t.Fatal(err)
		}
		st.Wrapper = []string{"/usr/bin/env", "CODEX_HOME=" + home, codex, "sandbox", "-P", ":workspace", "-C", st.Base + "/ws", "--"}
		got, _ := st.answers(t)
		columns, results["codex"] = append(columns, "codex"), got
	}
	print(t, uid, columns, results)
}

// judge fails for every probe that got out where the driver does not say so.
func judge(t *testing.T, st *stage, bare, got map[string]string) {
	t.Helper()
	proved, idle := 0, []string{}
	for _, p := range allProbes() {
		v, made := got[p.name]
		switch {
		case !made:
			t.Errorf("%s: no answer", p.name)
		case v == isOpen && !st.declares(p):
			t.Errorf("ESCAPED: %s", p.name)
		case v == "timeout":
			t.Errorf("%s: took too long", p.name)
		case bare[p.name] == isOpen && v != skipped:
			proved++
		default:
			idle = append(idle, p.name+" ("+bare[p.name]+", here "+v+")")
		}
	}
	for {
		select {
		case what := <-st.moved:
			t.Errorf("ESCAPED: something reached %s", what)
			continue
		default:
		}
		break
	}
	if err := unix.Kill(st.Victim, 0); err != nil {
		t.Errorf("the process outside: %v", err)
	}
	t.Logf("%d probes, of which %d succeed without a fence; not proved here, because they fail bare, too, or cannot be made here: %s", len(got), proved, strings.Join(idle, ", "))
	if proved < atLeast {
		t.Errorf("only %d probes prove anything; at least %d", proved, atLeast)
	}
}

func unchanged(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name, was := range before {
		if after[name] != was {
			t.Errorf("outside%s changed: %s, was %s", name, after[name], was)
		}
	}
	for name := range after {
		if _, was := before[name]; !was {
			t.Errorf("outside%s is new", name)
		}
	}
}

// print writes the side-by-side table to the file that HANDRAIL_BATTERY names.
func print(t *testing.T, uid int, columns []string, results map[string]map[string]string) {
	t.Helper()
	name := os.Getenv("HANDRAIL_BATTERY")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "user %d\n%-48s", uid, "probe")
	counts := map[string]int{}
	for _, c := range columns {
		fmt.Fprintf(f, " %-20s", c)
	}
	for _, p := range allProbes() {
		fmt.Fprintf(f, "\n%-48s", p.name)
		for _, c := range columns {
			v := results[c][p.name]
			if v == isOpen {
				counts[c]++
			}
			fmt.Fprintf(f, " %-20.20s", v)
		}
	}
	fmt.Fprintf(f, "\n%-48s", "open")
	for _, c := range columns {
		fmt.Fprintf(f, " %-20d", counts[c])
	}
	_, _ = io.WriteString(f, "\n\n")
}
