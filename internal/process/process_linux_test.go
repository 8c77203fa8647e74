package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/sandbox"
)

// open returns a fence that holds nothing, so that what this package does
// itself is what is tested.
func open(tb testing.TB) sandbox.Fence {
	tb.Helper()
	f, err := sandbox.Open(context.Background(), sandbox.Options{
		Driver: sandbox.None,
		Policy: sandbox.Policy{Mode: sandbox.FullAccess, Workspace: tb.TempDir(), Network: sandbox.NetOn},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

func script(text string) Options {
	env, _ := Environment{}.Build(false)
	return Options{Spec: sandbox.Spec{Path: "bash", Argv: []string{"bash", "-c", text}, Env: env, Keep: true}}
}

func start(tb testing.TB, f sandbox.Fence, o Options) *Process {
	tb.Helper()
	p, err := Start(context.Background(), f, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = p.Close() })
	return p
}

// finish waits for the end, at most as long as no test should take.
func finish(tb testing.TB, p *Process) sandbox.Exit {
	tb.Helper()
	select {
	case <-p.Ended():
	case <-time.After(20 * time.Second):
		_ = p.Stop("the test is over")
		tb.Fatal("the command did not end")
	}
	e, err := p.Exit()
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func TestRun(t *testing.T) {
	f := open(t)
	for _, c := range []struct {
		name, script string
		stdin        string
		code         int
		signal       syscall.Signal
		out          string
	}{
		{"plain", "echo hello", "", 0, 0, "hello\n"},
		{"exit code", "echo no >&2; exit 3", "", 3, 0, "no\n"},
		{"both outputs in order", "echo 1; echo 2 >&2; echo 3; echo 4 >&2", "", 0, 0, "1\n2\n3\n4\n"},
		{"F065 nothing to say", "true; cd .", "", 0, 0, ""},
		{"F066 no newline at the end", "printf abc", "", 0, 0, "abc"},
		{"signal", "kill -9 $$", "", -1, syscall.SIGKILL, ""},
		{"F054 the input is at its end", `read -p "name? " n; echo "got $n, $?"`, "", 0, 0, "got , 1\n"},
		{"F046 F049 F072 nobody waits for a pipe", `cat; grep x; git commit -m "A <a@b.c>" 2>/dev/null; cat`, "", 0, 0, ""},
		{"given input", "tr a-z A-Z", "shout", 0, 0, "SHOUT"},
		{"F053 F071 no terminal to ask on", `(stty -a </dev/tty) 2>&1 | grep -c "No such device"`, "", 0, 0, "1\n"},
		{"F061 F062 the text is not touched", "cat <<'MY-END'\na\\\\b\n!x\nMY-END\ntrue | true; { echo in; }", "", 0, 0, "a\\\\b\n!x\nin\n"},
		{"a progress bar", `for i in 1 2 3; do printf '%s%%\r' $i; done; echo done`, "", 0, 0, "done\n"},
		{"colours", `printf '\033[31mred\033[0m \033]0;title\007end\n'`, "", 0, 0, "red end\n"},
		{"binary", "head -c 3000 /dev/zero", "", 0, 0, "[the output is binary data, 3000 bytes; it is not shown]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := script(c.script)
			if c.stdin != "" {
				o.Stdin = []byte(c.stdin)
			}
			p := start(t, f, o)
			e := finish(t, p)
			if e.Code != c.code || e.Signal != c.signal || p.Output().Text() != c.out {
				t.Errorf("exit %d, signal %v, output %q; want %d, %v, %q", e.Code, e.Signal, p.Output().Text(), c.code, c.signal, c.out)
			}
		})
	}
}

func TestF066_ManyShortCommands(t *testing.T) {
	f := open(t)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 50)
	for i := range 200 {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			p, err := Start(context.Background(), f, script(fmt.Sprintf("echo %d", i)))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = p.Close() }()
			<-p.Ended()
			if got, want := p.Output().Text(), fmt.Sprintf("%d\n", i); got != want {
				t.Errorf("output %q, want %q", got, want)
			}
		})
	}
	wg.Wait()
}

func TestSplitOutputs(t *testing.T) {
	o := script("echo out; echo err >&2")
	o.SplitStderr = true
	p := start(t, open(t), o)
	finish(t, p)
	if p.Output().Text() != "out\n" || p.Errors().Text() != "err\n" {
		t.Errorf("%q and %q", p.Output().Text(), p.Errors().Text())
	}
}

// TestF048_BackgroundChild: a child that holds the pipe does not hold the
// call, and is still the command's.
func TestF048_BackgroundChild(t *testing.T) {
	p := start(t, open(t), script("sleep 600 & echo up"))
	began := time.Now()
	e := finish(t, p)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	if !e.Left || !p.Left() || p.Output().Text() != "up\n" {
		t.Errorf("left %v and %v, output %q", e.Left, p.Left(), p.Output().Text())
	}
	if err := p.Stop("test"); err != nil || p.Left() {
		t.Errorf("stopped: %v, still left: %v", err, p.Left())
	}
}

// TestL59_L60_StopEndsTheTree takes commands that do not want to end.
func TestL59_L60_StopEndsTheTree(t *testing.T) {
	f := open(t)
	for _, c := range []struct{ name, script string }{
		{"ignores TERM", "trap '' TERM; while :; do sleep 1; done"},
		{"grandchildren ignore TERM", "(trap '' TERM; sleep 300 & sleep 301) & wait"},
		{"own session", "setsid sleep 302 & wait"},
		{"double fork", "(setsid sh -c 'sleep 303 & sleep 304' &) ; sleep 305"},
		{"stopped", "kill -STOP $$; sleep 306"},
		{"F050 a fifo and a pipeline", "mkfifo p; (while :; do echo c; sleep 0.05; done) > p & cat p | cat | cat"},
		{"F034 grep on a fifo", "mkfifo q; grep -R x q"},
		{"nohup", "nohup sleep 307 >/dev/null 2>&1 & disown; sleep 308"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, f, script(c.script))
			time.Sleep(150 * time.Millisecond)
			began := time.Now()
			if err := p.Stop("test"); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
			finish(t, p)
			if left := marked(p); len(left) > 0 {
				t.Errorf("still there: %v", left)
			}
			if p.Stopped() != "test" {
				t.Errorf("stopped because of %q", p.Stopped())
			}
		})
	}
}

// marked lists the living processes that bear the mark of a command.
func marked(p *Process) []string {
	if p.tree == nil {
		return nil
	}
	var left []string
	for pid := range processes() {
		if state, _, _, ok := look(pid); ok && state != 'Z' && bears(pid, p.tree.mark) {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			left = append(left, strings.ReplaceAll(string(name), "\x00", " "))
		}
	}
	return left
}

// TestOthersAreLeftAlone: what this process is given is not all its own.
func TestOthersAreLeftAlone(t *testing.T) {
	f := open(t)
	p := start(t, f, script("sleep 310"))
	// A child of an embedder's, and an orphan of that child.
	theirs, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "(setsid sleep 5 &) ; sleep 0.3; exit 7"}, &os.ProcAttr{Env: []string{"PATH=/bin:/usr/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if err := p.Stop("test"); err != nil {
		t.Fatal(err)
	}
	state, err := theirs.Wait()
	if err != nil || state.ExitCode() != 7 {
		t.Errorf("the embedder's child: %v, %v", state, err)
	}
	orphan := false
	for pid, of := range processes() {
		if cmd, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); string(cmd) == "sleep\x005\x00" {
			orphan = true
			_ = syscall.Kill(pid, syscall.SIGKILL)
			if of.parent == os.Getpid() {
				var ws syscall.WaitStatus
				_, _ = syscall.Wait4(pid, &ws, 0, nil)
			}
		}
	}
	if !orphan {
		t.Error("the embedder's orphan was killed")
	}
}

// TestL62_OutputIsBounded floods and looks at what is held.
func TestL62_OutputIsBounded(t *testing.T) {
	o := script("head -c 200000000 /dev/zero | tr '\\0' 'x'; echo; echo end")
	o.Spool = t.TempDir()
	p := start(t, open(t), o)
	finish(t, p)
	text := p.Output().Text()
	if len(text) > DefaultHead+DefaultTail+200 || !strings.HasSuffix(text, "\nend\n") {
		t.Errorf("%d bytes, ends in %q", len(text), text[max(0, len(text)-20):])
	}
	if p.Output().Size() != 200000005 {
		t.Errorf("size %d", p.Output().Size())
	}
	if left, _ := filepath.Glob(filepath.Join(o.Spool, "*")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 64<<20 {
		t.Errorf("the heap holds %d MB", m.HeapAlloc>>20)
	}
}

// TestF055_EndlessOutput: the deadline of a command that never stops writing
// is met.
func TestF055_EndlessOutput(t *testing.T) {
	pieces := 0
	o := script("yes")
	o.Live = func([]byte) { pieces++ }
	p := start(t, open(t), o)
	time.Sleep(300 * time.Millisecond)
	began := time.Now()
	if err := p.Stop("test"); err != nil {
		t.Fatal(err)
	}
	finish(t, p)
	if took := time.Since(began); took > 2*time.Second || pieces == 0 {
		t.Errorf("stopping took %v after %d pieces", took, pieces)
	}
}

func TestInput(t *testing.T) {
	o := script(`while read -r l; do echo "<$l>"; done; echo end`)
	o.Open = true
	p := start(t, open(t), o)
	if err := p.Write(context.Background(), []byte("one\ntwo\n")); err != nil {
		t.Fatal(err)
	}
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	finish(t, p)
	if got := p.Output().Text(); got != "<one>\n<two>\nend\n" {
		t.Errorf("%q", got)
	}
	if err := p.Write(context.Background(), []byte("x")); !errors.Is(err, ErrNoInput) {
		t.Errorf("writing after the end: %v", err)
	}
}

// TestWriteToOneWhoDoesNotRead: the writer is not held for ever.
func TestWriteToOneWhoDoesNotRead(t *testing.T) {
	o := script("sleep 20")
	o.Open = true
	p := start(t, open(t), o)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := p.Write(ctx, make([]byte, 512<<10)); !errors.Is(err, ErrNotReading) {
		t.Errorf("%v", err)
	}
	if err := p.Write(context.Background(), make([]byte, maxInput+1)); !errors.Is(err, ErrNotReading) {
		t.Errorf("%v", err)
	}
}

func TestTerminal(t *testing.T) {
	o := script(`stty size; tty >/dev/null && echo terminal; read -r x; echo "got $x"`)
	o.Spec.Terminal = &sandbox.Size{Rows: 24, Cols: 80}
	p := start(t, open(t), o)
	if err := p.Write(context.Background(), []byte("hi\n")); err != nil {
		t.Fatal(err)
	}
	e := finish(t, p)
	v, ok := p.Screen()
	if !ok || e.Code != 0 || !strings.Contains(v.Text, "24 80\nterminal\n") || !strings.HasSuffix(strings.TrimSpace(v.Text), "got hi") {
		t.Errorf("exit %d, screen %q", e.Code, v.Text)
	}
}

func TestStartFails(t *testing.T) {
	f := open(t)
	o := script("true")
	o.Spec.Path = "no-such-program"
	if _, err := Start(context.Background(), f, o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	o = script("true")
	o.Spec.Dir = filepath.Join(t.TempDir(), "missing")
	if _, err := Start(context.Background(), f, o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestF073_SignalsAfterTheEnd: a number that may be another's by now is never
// signalled.
func TestF073_SignalsAfterTheEnd(t *testing.T) {
	p := start(t, open(t), script("exit 0"))
	finish(t, p)
	for p.Left() {
		time.Sleep(time.Millisecond)
	}
	// Whatever has the number or leads the group now would get the signal.
	other, err := os.StartProcess("/bin/sleep", []string{"sleep", "30"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := p.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := p.Stop("again"); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("another process was hit: %v", err)
	}
	_ = other.Kill()
	_, _ = other.Wait()
	if p.Stopped() != "" {
		t.Errorf("it had ended by itself and says %q", p.Stopped())
	}
}
