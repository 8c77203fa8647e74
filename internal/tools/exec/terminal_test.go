package exec

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// need fails where a program is missing that the tests drive: CI installs
// them.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("%s is not installed; .ci/run installs what is needed", program)
	}
}

// begin starts a program in a terminal and waits until it says something.
func (b *bench) begin(cmd, has string) int {
	b.t.Helper()
	r := b.call(ExecCommand(), object{"cmd": cmd, "tty": true, "yield_time_ms": 300})
	if !r.OK {
		b.t.Fatal(r.Text)
	}
	session := id(b.t, r)
	if !contains(r.Text, has) {
		b.until(session, has, nil)
	}
	return session
}

func TestTerminalPython(t *testing.T) {
	need(t, "python3")
	b := newBench(t, nil)
	session := b.begin("python3 -q", ">>> ")
	if got := b.until(session, "42", object{"chars": "6*7\n"}); !contains(got, ">>> 6*7\n42\n>>>") {
		t.Errorf("%q", got)
	}
	if got := b.until(session, "...", object{"chars": "for i in range(2):\n  print('line', i)\n\n"}); !contains(got, "line 0\nline 1\n>>>") {
		got += b.until(session, "line 1\n>>>", nil)
		if !contains(got, "line 0\nline 1\n") {
			t.Errorf("%q", got)
		}
	}
	if got := b.until(session, "KeyboardInterrupt", object{"chars": "import time; time.sleep(100)\n", "keys": []string{"ctrl-c"}}); !contains(got, ">>>") {
		b.until(session, ">>>", object{"chars": "\n"})
	}
	if got := b.until(session, "Exit code", object{"keys": []string{"ctrl-d"}}); !contains(got, "Exit code: 0") {
		t.Errorf("%q", got)
	}
}

func TestTerminalVim(t *testing.T) {
	need(t, "vim")
	b := newBench(t, map[string]string{"f.txt": "first line\nsecond line\n"})
	session := b.begin("vim -n -u NONE -N f.txt", "first line\nsecond line\n~")
	got := b.until(session, "-- INSERT --", object{"chars": "ggO"})
	if !contains(got, "This is the screen; the cursor is in row 1, column 1") {
		t.Errorf("%s", got)
	}
	got = b.until(session, "typed here", object{"chars": "typed here", "keys": []string{"esc"}})
	if !contains(got, "typed here\nfirst line\nsecond line\n~\n") {
		t.Errorf("%s", got)
	}
	b.until(session, "2,", object{"keys": []string{"down", "ctrl-g"}})
	got = b.until(session, "Exit code", object{"chars": ":wq\r"})
	if !contains(got, "Exit code: 0") || !contains(got, "files_changed: 1") || b.content("f.txt") != "typed here\nfirst line\nsecond line\n" {
		t.Errorf("%s\n%q", got, b.content("f.txt"))
	}
}

func TestTerminalLess(t *testing.T) {
	need(t, "less")
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "this is line %d\n", i+1)
	}
	b := newBench(t, map[string]string{"long.txt": text.String()})
	session := b.begin("less long.txt", "this is line 23\n")
	if got := b.until(session, "this is line 46", object{"chars": " "}); contains(got, "this is line 1\n") || !contains(got, "this is line 24\n") {
		t.Errorf("%s", got)
	}
	if got := b.until(session, "this is line 150", object{"chars": "/line 150\n"}); !contains(got, "This is the screen") {
		t.Errorf("%s", got)
	}
	b.until(session, "(END)", object{"chars": "G"})
	if got := b.until(session, "Exit code", object{"chars": "q"}); !contains(got, "Exit code: 0") {
		t.Errorf("%s", got)
	}
}

func TestTerminalTop(t *testing.T) {
	need(t, "top")
	b := newBench(t, nil)
	session := b.begin("top -d 0.5", "PID")
	// The picture is drawn again and again, and is always one.
	got := b.until(session, "load average", object{"keys": []string{"space"}})
	if n := strings.Count(got, "load average"); n != 1 || !contains(got, "This is the screen") || !contains(got, "%Cpu") {
		t.Errorf("%d pictures:\n%s", n, got)
	}
	if got := b.until(session, "Exit code", object{"chars": "q"}); !contains(got, "Exit code: 0") {
		t.Errorf("%s", got)
	}
}

func TestTerminalGitAddPatch(t *testing.T) {
	need(t, "git")
	b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n"})
	r := b.shell("git init -q . && git -c user.name=a -c user.email=a@b add f && git -c user.name=a -c user.email=a@b commit -qm first && echo four >> f")
	if !r.OK {
		t.Fatal(r.Text)
	}
	session := b.begin("git add -p", "Stage this hunk")
	if got := b.until(session, "Exit code", object{"chars": "y\n"}); !contains(got, "Exit code: 0") {
		t.Errorf("%s", got)
	}
	if r := b.shell("git diff --cached --stat"); !contains(r.Text, "1 insertion") {
		t.Errorf("F107 nothing was staged: %s", r.Text)
	}
}

// TestF053_PasswordPrompt: a program that asks on its terminal is heard, and
// what is typed is not echoed.
func TestF053_PasswordPrompt(t *testing.T) {
	b := newBench(t, nil)
	session := b.begin(`read -s -p "Password: " p </dev/tty; echo; echo "got ${#p} characters"`, "Password:")
	got := b.until(session, "got 6 characters", object{"chars": "hunter\n"})
	if contains(got, "hunter") {
		t.Errorf("%s", got)
	}
}

func TestTerminalProgressBar(t *testing.T) {
	b := newBench(t, nil)
	r := b.call(ExecCommand(), object{"cmd": `for i in $(seq 0 5 100); do printf '\rDownloading: %3d%%' $i; sleep 0.01; done; echo; echo complete`, "tty": true, "yield_time_ms": 5000})
	if !contains(r.Text, "Downloading: 100%\ncomplete\n") || contains(r.Text, " 50%") {
		t.Errorf("%q", r.Text)
	}
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// TestEndAfterTheLastOutput: however it falls, the exit code comes with
// or after the last of the output.
func TestEndAfterTheLastOutput(t *testing.T) {
	b := newBench(t, nil)
	for i := range 20 {
		r := b.call(ExecCommand(), object{"cmd": fmt.Sprintf("sleep 0.0%d; seq 1 2000; printf last", i%10), "tty": i%2 == 0, "yield_time_ms": 10 * i})
		said := func() string { // what is said about the command comes in a paragraph of its own
			output, _, _ := cutLast(r.Text, "\n\n")
			return strings.NewReplacer("(nothing new)", "", "(no output)", "").Replace(output)
		}
		all := said()
		for !contains(r.Text, "Exit code") {
			r = b.call(WriteStdin(), object{"session_id": id(t, r), "yield_time_ms": 250})
			all += said()
		}
		// Two answers may part it anywhere, and each ends its last line.
		if all = strings.Join(strings.Fields(all), ""); !strings.HasSuffix(all, "19992000last") {
			t.Fatalf("the end was told before all of the output:\n%s", all[max(0, len(all)-500):])
		}
	}
}

// TestF063_PipeInput: a command without a terminal can be written to.
func TestF063_PipeInput(t *testing.T) {
	need(t, "python3")
	b := newBench(t, nil)
	r := b.call(ExecCommand(), object{"cmd": "python3 -c 'print(input()[::-1])'", "stdin": true, "yield_time_ms": 300})
	if got := b.until(id(t, r), "cba", object{"chars": "abc\n"}); !contains(got, "Exit code: 0") {
		b.until(id(t, r), "Exit code: 0", nil)
	}
	r = b.call(ExecCommand(), object{"cmd": "cat; echo over", "stdin": true, "yield_time_ms": 100})
	if got := b.until(id(t, r), "over", object{"chars": "text", "close": true}); !contains(got, "textover") {
		t.Errorf("%s", got)
	}
	r = b.call(ExecCommand(), object{"cmd": "sort; echo over", "stdin": true, "yield_time_ms": 100})
	b.until(id(t, r), "a\nb\nover", object{"chars": "b\na\n\x04"})

	t.Run("without an open input the way on is told", func(t *testing.T) {
		r := b.call(ExecCommand(), object{"cmd": "sleep 30", "yield_time_ms": 100})
		got := b.call(WriteStdin(), object{"session_id": id(t, r), "chars": "x\n"})
		if got.OK || !contains(got.Text, "tty or stdin") {
			t.Errorf("%s", got.Text)
		}
		got = b.call(WriteStdin(), object{"session_id": id(t, r), "chars": "\x03", "yield_time_ms": 3000})
		if !contains(got.Text, "signal 2") {
			t.Errorf("control-C was not delivered: %s", got.Text)
		}
	})
}

// TestSignalsAndResize: the program hears of both.
func TestSignalsAndResize(t *testing.T) {
	b := newBench(t, nil)
	session := b.begin(`trap 'echo hup' HUP; trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done`, "ready")
	b.until(session, "hup", object{"signal": "HUP"})
	b.until(session, "40 100", object{"rows": 40, "cols": 100})
	r := b.call(WriteStdin(), object{"session_id": session, "end": true})
	if !contains(r.Text, "ended on request") || !r.OK {
		t.Errorf("%s", r.Text)
	}
	r = b.call(WriteStdin(), object{"session_id": session})
	if r.OK || !contains(r.Text, "is gone") || !contains(r.Text, "ended on request") {
		t.Errorf("F064 who ended it is not told: %s", r.Text)
	}
}

func TestUnknownSessionAndKeys(t *testing.T) {
	b := newBench(t, nil)
	if r := b.call(WriteStdin(), object{"session_id": 4242}); r.OK || !contains(r.Text, "no command 4242 in this session; none runs") {
		t.Errorf("%s", r.Text)
	}
	r := b.call(ExecCommand(), object{"cmd": "sleep 30", "yield_time_ms": 50})
	t.Run("F069 what runs and how to go on is told", func(t *testing.T) {
		if got := b.call(WriteStdin(), object{"session_id": id(t, r) - 1}); !contains(got.Text, fmt.Sprint("there are ", id(t, r))) {
			t.Errorf("%s", got.Text)
		}
		got := b.call(WriteStdin(), object{"session_id": id(t, r), "yield_time_ms": 1})
		for _, want := range []string{"Still running after", "waits and reads on", "ends it"} {
			if !contains(got.Text, want) {
				t.Errorf("%q is missing: %s", want, got.Text)
			}
		}
	})
	got := b.call(WriteStdin(), object{"session_id": id(t, r), "keys": []string{"entre", "warp"}})
	if got.Code != tool.CodeInvalidInput || !contains(got.Text, "entre (did you mean enter?)") || !contains(got.Text, "warp") {
		t.Errorf("%s", got.Text)
	}
}

// TestF055_FloodedTerminal: a terminal that is flooded stays bounded, and
// the end is what is shown.
func TestF055_FloodedTerminal(t *testing.T) {
	b := newBench(t, nil)
	r := b.call(ExecCommand(), object{"cmd": "seq 1 200000; echo finished", "tty": true, "yield_time_ms": 60000})
	if len(r.Text) > outputBytes || !contains(r.Text, "200000\nfinished") || !contains(r.Text, "earlier lines passed") {
		t.Errorf("%d bytes: %s", len(r.Text), r.Text[max(0, len(r.Text)-400):])
	}
}

// TestSmallBudget: a call gets as much text as it asked for, and no more than
// it may.
func TestSmallBudget(t *testing.T) {
	b := newBench(t, nil)
	r := b.call(ExecCommand(), object{"cmd": "seq 1 5000", "yield_time_ms": 5000, "max_output_tokens": 200})
	if len(r.Text) > 1200 || !contains(r.Text, "4999\n5000") {
		t.Errorf("%d bytes: %s", len(r.Text), r.Text)
	}
	r = b.call(ExecCommand(), object{"cmd": "seq 1 50000", "yield_time_ms": 5000, "max_output_tokens": 1 << 20})
	if len(r.Text) > outputBytes {
		t.Errorf("%d bytes", len(r.Text))
	}
}

// TestF064_Eviction: what is ended to make room says so.
func TestF064_Eviction(t *testing.T) {
	b := newBench(t, nil)
	var first int
	for i := range 66 {
		r := b.call(ExecCommand(), object{"cmd": "sleep 60", "yield_time_ms": 0})
		if i == 0 {
			first = id(t, r)
		}
	}
	if r := b.call(WriteStdin(), object{"session_id": first}); r.OK || !contains(r.Text, "to make room") {
		t.Errorf("%s", r.Text)
	}
	if n := len(b.kit.Commands.List()); n != 64 {
		t.Errorf("%d are kept", n)
	}
}

// TestF052_DeadlinesAreMonotonic: deadlines are counted by a clock that does not.
// Go's timers are; that the room compares no times of day is what is tried:
// a time without a monotonic part, as from a file, would show.
func TestF052_DeadlinesAreMonotonic(t *testing.T) {
	b := newBench(t, nil)
	r := b.call(ExecCommand(), object{"cmd": "sleep 60", "yield_time_ms": 10})
	e, done, err := b.kit.Commands.Talk(t.Context(), id(t, r))
	if err != nil {
		t.Fatal(err)
	}
	done()
	if s := e.Started().String(); !contains(s, " m=") {
		t.Errorf("the start has no monotonic part: %s", s)
	}
}

// TestSessionEnd: nothing that a session started is left after it.
func TestSessionEnd(t *testing.T) {
	b := newBench(t, nil)
	r := b.shell("setsid sleep 7171 & sleep 7172 & disown; echo")
	if !r.OK {
		t.Fatal(r.Text)
	}
	if err := b.kit.Commands.Close(); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command("pgrep", "-f", "^sleep 717[12]$").Output()
	if len(out) > 0 {
		t.Errorf("left: %s", out)
	}
	if _, err := os.Stat("/proc/self"); err != nil || syscall.Getpid() == 0 {
		t.Fatal("no /proc")
	}
	time.Sleep(10 * time.Millisecond)
	if r := b.call(Shell(), object{"command": "sleep 5", "background": true}); r.OK {
		t.Errorf("a command was started after the end: %s", r.Text)
	}
}
