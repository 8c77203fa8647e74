package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/sandbox"
)

// nasty are commands that do not want to end, or leave something behind.
var nasty = []struct {
	name, script string
	ends         bool // by itself, within the limit
}{
	{"sleeps", "sleep 500", false},
	{"spins", "while :; do :; done", false},
	{"ignores TERM", "trap '' TERM INT HUP; while :; do sleep 0.1; done", false},
	{"python that ignores TERM", "exec python3 -c 'import signal,time\nsignal.signal(15,signal.SIG_IGN)\nwhile 1: time.sleep(1)'", false},
	{"forks", "for i in 1 2 3 4 5 6 7 8; do sleep 500 & done; wait", false},
	{"forks and ends", "for i in 1 2 3 4; do sleep 500 & done", true},
	{"forks without the pipe and ends", "sleep 500 >/dev/null 2>&1 </dev/null &", true},
	{"own session", "setsid sleep 500", false},
	{"own session behind", "setsid sleep 500 & exit 0", true},
	{"double fork", "(setsid sh -c '(sleep 500 &) ; sleep 500' &) ; exit 0", true},
	{"daemon", "(setsid sh -c 'exec >/dev/null 2>&1 </dev/null; trap \"\" TERM; (while :; do sleep 1; done) & while :; do sleep 1; done' &)", true},
	{"nohup", "nohup sh -c 'while :; do sleep 0.1; done' & disown", true},
	{"stops itself", "kill -STOP $$; echo on", false},
	{"stopped child", "sleep 500 & kill -STOP $!; wait", false},
	{"holds a fifo", "rm -f p$$; mkfifo p$$; cat p$$", false},
	{"a pipeline", "yes | tr y n | cat > /dev/null", false},
	{"floods", "yes", false},
	{"floods and ends", "head -c 20000000 /dev/zero", true},
	{"no newline", "while :; do printf x; done", false},
	{"one long line", "head -c 5000000 /dev/zero | tr '\\0' x", true},
	{"reads", "cat; cat -; read x; exit 0", true},
	{"two outputs", "while :; do echo out; echo err >&2; done", false},
	{"closes its outputs", "exec >&- 2>&-; sleep 500", false},
	{"many short children", "for i in $(seq 200); do /bin/true; done", true},
	{"zombies", "for i in 1 2 3; do (exit 3) & done; exec sleep 500", false},
}

// TestTorture runs 200 of them, eight at a time, in each fence: after each its
// deadline was met and no process of it is left; in the end no descriptor, no
// goroutine, no file, and little memory.
func TestTorture(t *testing.T) {
	for _, driver := range []sandbox.Driver{sandbox.None, sandbox.Auto} {
		t.Run(string(driver), func(t *testing.T) { torture(t, driver) })
	}
}

func torture(t *testing.T, driver sandbox.Driver) {
	policy := sandbox.Policy{Mode: sandbox.WorkspaceWrite, Workspace: t.TempDir(), Network: sandbox.NetLoopback}
	if driver == sandbox.None {
		policy = sandbox.Policy{Mode: sandbox.FullAccess, Workspace: policy.Workspace, Network: sandbox.NetOn}
	}
	f, err := sandbox.Open(context.Background(), sandbox.Options{Driver: driver, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	spool := t.TempDir()
	one := func(i int) {
		c := nasty[i%len(nasty)]
		o := script(c.script)
		o.Spool, o.Limit = spool, 300*time.Millisecond
		if c.ends {
			o.Limit = 20 * time.Second
		}
		o.SplitStderr = i%3 == 0
		o.Spec.Keep = i%2 == 0
		p, err := Start(context.Background(), f, o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			return
		}
		select {
		case <-p.Ended():
		case <-time.After(25 * time.Second):
			t.Errorf("%s: it did not end", c.name)
		}
		if took := p.Duration(); !c.ends && took > o.Limit+Grace+3*time.Second {
			t.Errorf("%s: it ended after %v, its limit was %v", c.name, took, o.Limit)
		}
		if c.ends && p.Stopped() != "" {
			t.Errorf("%s: it was stopped: %s", c.name, p.Stopped())
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if left := marked(p); p.Left() || len(left) > 0 {
			t.Errorf("%s: left: %v", c.name, left)
		}
	}
	for i := range len(nasty) {
		one(i) // once each, so that what stays open for good is open
	}
	files, goroutines := settle()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range 200 {
		slots <- struct{}{}
		wg.Go(func() { one(i); <-slots })
	}
	wg.Wait()
	afterFiles, afterGoroutines := settle()
	// A fence may keep a few slots ready for the next commands.
	if afterFiles > files+40 || afterGoroutines > goroutines+24 {
		t.Errorf("descriptors %d, then %d; goroutines %d, then %d", files, afterFiles, goroutines, afterGoroutines)
	}
	if left, _ := filepath.Glob(filepath.Join(spool, "*")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 64<<20 {
		t.Errorf("the heap holds %d MB", m.HeapAlloc>>20)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left := stillThere(policy.Workspace); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// settle counts descriptors and goroutines once they no longer become fewer.
func settle() (files, goroutines int) {
	for range 20 {
		time.Sleep(50 * time.Millisecond)
		entries, _ := os.ReadDir("/proc/self/fd")
		n := runtime.NumGoroutine()
		if len(entries) == files && n == goroutines {
			break
		}
		files, goroutines = len(entries), n
	}
	return files, goroutines
}

// stillThere lists the living processes that work in a folder.
func stillThere(dir string) []string {
	var left []string
	for pid := range processes() {
		cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if strings.HasPrefix(cwd, dir) {
			cmd, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			left = append(left, fmt.Sprintf("%d %s", pid, strings.ReplaceAll(string(cmd), "\x00", " ")))
		}
	}
	return left
}

// TestF051_Strays: what outlived its owner is recognised by its mark and
// ended; what bears none, or that of an owner who lives, is left alone.
func TestF051_Strays(t *testing.T) {
	f := open(t)
	living := start(t, f, script("sleep 401"))
	owner, err := self()
	if err != nil {
		t.Fatal(err)
	}
	ns, _, _ := strings.Cut(owner, ".")
	stray := func(value string) *os.Process {
		p, err := os.StartProcess("/bin/sleep", []string{"sleep", "402"}, &os.ProcAttr{Env: []string{markName + "=" + value}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = p.Wait() })
		t.Cleanup(func() { _ = p.Kill() })
		return p
	}
	dead := stray(ns + ".4194000.1.x")     // no process has that number
	reused := stray(ns + ".1.1.x")         // another process has it now
	elsewhere := stray("1234.4194000.1.x") // of another namespace
	malformed := stray("something." + "else")
	if n := EndStrays(context.Background()); n < 2 {
		t.Errorf("%d were ended", n)
	}
	for name, c := range map[string]struct {
		pid   int
		alive bool
	}{"dead": {dead.Pid, false}, "reused": {reused.Pid, false}, "elsewhere": {elsewhere.Pid, true}, "malformed": {malformed.Pid, true}, "living": {living.Pid(), true}} {
		for range 100 {
			if state, _, _, ok := look(c.pid); (ok && state != 'Z') == c.alive {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		if state, _, _, ok := look(c.pid); (ok && state != 'Z') != c.alive {
			t.Errorf("%s: alive %v", name, !c.alive)
		}
	}
}

// BenchmarkFlood is a gigabyte of output.
func BenchmarkFlood(b *testing.B) {
	f := open(b)
	b.SetBytes(1 << 30)
	b.ReportAllocs()
	for b.Loop() {
		o := script("yes 'a line of ordinary output, as a build writes them by the thousand' | head -c 1073741824")
		o.Spool = b.TempDir()
		p := start(b, f, o)
		<-p.Ended()
		if p.Output().Size() < 1<<30 {
			b.Fatalf("%d bytes", p.Output().Size())
		}
		_ = p.Close()
	}
}

// BenchmarkThousand is a thousand short commands in a row.
func BenchmarkThousand(b *testing.B) {
	f := open(b)
	for b.Loop() {
		for range 1000 {
			p := start(b, f, script("true"))
			<-p.Ended()
			_ = p.Close()
		}
	}
}

func BenchmarkCommand(b *testing.B) {
	for _, driver := range []sandbox.Driver{sandbox.None, sandbox.Auto} {
		b.Run(string(driver), func(b *testing.B) {
			policy := sandbox.Policy{Mode: sandbox.WorkspaceWrite, Workspace: b.TempDir()}
			if driver == sandbox.None {
				policy = sandbox.Policy{Mode: sandbox.FullAccess, Workspace: policy.Workspace, Network: sandbox.NetOn}
			}
			f, err := sandbox.Open(context.Background(), sandbox.Options{Driver: driver, Policy: policy})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			b.ReportAllocs()
			for b.Loop() {
				p := start(b, f, script("true"))
				<-p.Ended()
				_ = p.Close()
			}
		})
	}
}
