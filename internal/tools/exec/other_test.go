package exec

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

// TestL69_Denial: what the fence refused is named, however long the output.
func TestL69_Denial(t *testing.T) {
	const outside = "/usr/share/handrail-test-outside"
	b := newBench(t, nil)
	b.kit.Free = func(ctx context.Context) (sandbox.Fence, error) {
		return sandbox.Open(ctx, sandbox.Options{Driver: sandbox.None, Policy: sandbox.Policy{Mode: sandbox.FullAccess, Workspace: b.dir}})
	}
	r := b.shell("echo x > " + outside)
	if r.Code != tool.CodeSandboxDenied || !contains(r.Text, "The fence kept it from: writing "+outside) || !contains(r.Text, "unfenced and a justification") {
		t.Errorf("%q: %s", r.Code, r.Text)
	}
	// The refusal stands where the cut will be, and the command goes on.
	r = b.shell("seq 1 20000; cp /etc/hostname " + outside + "; seq 1 20000")
	if !r.OK || !contains(r.Text, "The fence kept it from: writing") {
		t.Errorf("%q %s", r.Code, r.Text[max(0, len(r.Text)-500):])
	}
	if r := b.shell("curl -sS http://example.invalid/ 2>&1 || getent hosts example.invalid || echo 'curl: (6) Could not resolve host: example.invalid' && false"); r.Code != tool.CodeSandboxDenied || !contains(r.Text, "example.invalid") {
		t.Errorf("%q %s", r.Code, r.Text)
	}
	if r := b.shell("ls /nonexistent"); r.Code != tool.CodeFailed {
		t.Errorf("an ordinary failure became %q", r.Code)
	}
	t.Run("L65 no setting is named", func(t *testing.T) {
		for _, word := range []string{"config", "full-access", "settings"} {
			if contains(r.Text, word) {
				t.Errorf("%q is in %s", word, r.Text)
			}
		}
	})
	t.Run("what a person let out runs outside", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		r := b.call(Shell(), object{"command": "echo x > " + out, "unfenced": true, "justification": "a test"})
		if _, err := os.Stat(out); err != nil || !r.OK {
			t.Errorf("%v: %s", err, r.Text)
		}
	})
}

func TestL68_NoFence(t *testing.T) {
	b := newBench(t, nil)
	b.kit.Fence = func(context.Context) (sandbox.Fence, error) {
		return nil, &sandbox.UnavailableError{Driver: sandbox.Landlock, Reason: "the kernel is too old"}
	}
	r := b.shell("true")
	if r.OK || !contains(r.Text, "no command can be run in this session") || !contains(r.Text, "too old") {
		t.Errorf("F103 %s", r.Text)
	}
}

func TestCheck(t *testing.T) {
	goFile := "package p\n\nimport \"fmt\"\n\nfunc f() { fmt.Printf(\"%d\", \"x\") }\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		own   string
		want  []string
		code  tool.Code
	}{
		{"nothing to check", map[string]string{"package.json": "{}"}, "", []string{"There is nothing to check here"}, ""},
		{"go clean", map[string]string{"go.mod": "module x\n\ngo 1.21\n", "p.go": "package p\n"}, "", []string{"go vet: clean"}, ""},
		{"go finding", map[string]string{"go.mod": "module x\n\ngo 1.21\n", "p.go": goFile}, "", []string{"go vet: 1 error, 0 warnings", "p.go:5: error: fmt.Printf format %d has arg"}, ""},
		{"go does not compile", map[string]string{"go.mod": "module x\n\ngo 1.21\n", "p.go": "package p\n\nvar x int = \"a\"\n"}, "", []string{"p.go:3: error: cannot use \"a\""}, ""},
		{"go.mod broken", map[string]string{"go.mod": "modul x\n", "p.go": "package p\n"}, "", []string{"go.mod:1: error:"}, ""},
		{"python", map[string]string{"setup.py": "x = 1\n", "bad.py": "def f(:\n"}, "", []string{"bad.py:1"}, ""},
		{"a command of the project's own", map[string]string{"f": ""}, "printf 'a b.c:3:7: warning: odd\\na b.c:3:7: warning: odd\\nother\\n'; exit 1", []string{"0 errors, 1 warning", "a b.c:3: warning: odd"}, ""},
		{"one that says nothing of a place", map[string]string{"f": ""}, "echo 'Could not resolve host: x' >&2; exit 2", []string{"did not check anything (exit code 2)", "needs the network"}, tool.CodeSandboxDenied},
		{"one that is missing", map[string]string{"f": ""}, "no-such-checker-x", []string{"A part of the toolchain is missing"}, tool.CodeFailed},
		{"L68 L70 the fence is the reason", map[string]string{"f": ""}, "touch /usr/handrail-x", []string{"The fence kept it from: writing /usr/handrail-x", "not a mistake in the code"}, tool.CodeSandboxDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.files)
			b.kit.Check = c.own
			b.kit.Environment.Set = []string{"GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local"}
			r := b.call(Check(), object{})
			if r.Code != c.code {
				t.Errorf("code %q", r.Code)
			}
			for _, want := range c.want {
				if !contains(r.Text, want) {
					t.Errorf("%q is missing in\n%s", want, r.Text)
				}
			}
		})
	}
}

func TestFindings(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"main.go:10:2: undefined: x", "main.go:10: error: undefined: x"},
		{"vet: ./main.go:10:2: undefined: x", "./main.go:10: error: undefined: x"},
		{"src/a(b).ts(3,14): error TS2322: Type 'x' is not assignable.", "src/a(b).ts:3: error[TS2322]: Type 'x' is not assignable."},
		{"app/x.py:3:1: F401 `os` imported but unused", "app/x.py:3: warning[F401]: `os` imported but unused"},
		{"app/x.py:3: error: Incompatible types  [assignment]", "app/x.py:3: error: Incompatible types [assignment]"},
		{"file.c:4:5: warning: unused variable", "file.c:4: warning: unused variable"},
		{`C:\x\y.cs(3,4): error CS1002: ; expected`, `C:\x\y.cs:3: error[CS1002]: ; expected`},
		{"12:30:00: started", ""}, {"ok  	x	0.1s", ""}, {"# pkg", ""}, {"http://x:80/ y", ""},
	} {
		f, ok := readLine(c.line)
		got := ""
		if ok {
			got = f.String()
		}
		if got != c.want && !(c.want == "" && !ok) {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
	cargo := `{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","code":{"code":"E0308"},"spans":[{"file_name":"src/a.rs","line_start":1,"is_primary":false},{"file_name":"src/main.rs","line_start":7,"is_primary":true}]}}
{"reason":"compiler-message","message":{"level":"error","message":"aborting due to 1 previous error","code":null,"spans":[]}}
{"reason":"compiler-artifact"}
not json`
	got := readCargo(cargo, "")
	if len(got) != 1 || got[0].String() != "src/main.rs:7: error[E0308]: mismatched types" {
		t.Errorf("%v", got)
	}
}

func TestRunCode(t *testing.T) {
	b := newBench(t, map[string]string{"data.txt": "12\n"})
	for _, c := range []struct {
		language, code, want string
		code2                tool.Code
	}{
		{"python", "x = 6\nx * 7", "42", ""},
		{"python", "x + 1", "7", ""},
		{"python", "print('a'); print('b', end='')", "a\nb", ""},
		{"python", "1/0", "ZeroDivisionError", tool.CodeFailed},
		{"python", "def f(:", "SyntaxError", tool.CodeFailed},
		{"python", "input()", "EOFError", tool.CodeFailed},
		{"python", "int(open('data.txt').read()) + x", "18", ""},
		{"python", "open('made.txt','w').write('m')", "files_changed: 1", ""},
		{"python", "'héllo ✓'", "'héllo ✓'", ""},
		{"sh", "y=5; echo $y", "5", ""},
		{"sh", "echo $((y+1)); false", "6", tool.CodeFailed},
		{"sh", "cat; read z; echo \"[$z]\"", "[]", ""},
		{"node", "let a = 5; a * 3", "15", ""},
		{"node", "a + 1", "6", ""},
		{"node", "({b: [1,2]})", "{ b: [ 1, 2 ] }", ""},
		{"node", "Promise.resolve('later')", "later", ""},
		{"node", "throw new Error('bad')", "Error: bad", tool.CodeFailed},
	} {
		need(t, map[string]string{"python": "python3", "sh": "bash", "node": "node"}[c.language])
		r := b.call(RunCode(), object{"language": c.language, "code": c.code, "timeout_secs": 60})
		if r.Code != c.code2 || !contains(r.Text, c.want) || contains(r.Text, "handrail-") {
			t.Errorf("%s %q: %q %s", c.language, c.code, r.Code, r.Text)
		}
	}
	t.Run("interrupted, and what it knows is kept", func(t *testing.T) {
		r := b.call(RunCode(), object{"language": "python", "code": "import time\nwhile True: time.sleep(0.1)", "timeout_secs": 1})
		if r.OK || !contains(r.Text, "Interrupted after 1s. The interpreter keeps what it knows.") {
			t.Errorf("%s", r.Text)
		}
		if r := b.call(RunCode(), object{"language": "python", "code": "x"}); !contains(r.Text, "6") {
			t.Errorf("%s", r.Text)
		}
	})
	t.Run("one that does not stop", func(t *testing.T) {
		r := b.call(RunCode(), object{"language": "python", "code": "import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass", "timeout_secs": 1})
		if r.OK || !contains(r.Text, "it did not stop") {
			t.Errorf("%s", r.Text)
		}
		if r := b.call(RunCode(), object{"language": "python", "code": "'x' in globals()"}); !contains(r.Text, "False") {
			t.Errorf("%s", r.Text)
		}
	})
	t.Run("the interpreter ends", func(t *testing.T) {
		r := b.call(RunCode(), object{"language": "sh", "code": "echo bye; exit 3"})
		if r.OK || !contains(r.Text, "bye") || !contains(r.Text, "has ended") {
			t.Errorf("%s", r.Text)
		}
		if r := b.call(RunCode(), object{"language": "sh", "code": "echo again"}); !r.OK || !contains(r.Text, "again") {
			t.Errorf("%s", r.Text)
		}
	})
	t.Run("restart", func(t *testing.T) {
		b.call(RunCode(), object{"language": "python", "code": "q = 1"})
		if r := b.call(RunCode(), object{"language": "python", "code": "'q' in globals()", "restart": true}); !contains(r.Text, "False") {
			t.Errorf("%s", r.Text)
		}
	})
}

func TestSleep(t *testing.T) {
	b := newBench(t, nil)
	if r := b.call(Sleep(), object{"seconds": 0.05}); !r.OK || !contains(r.Text, "Waited for") {
		t.Errorf("%s", r.Text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if r := b.callIn(ctx, Sleep(), object{"seconds": 60}); r.OK || time.Since(began) > 2*time.Second {
		t.Errorf("%s after %v", r.Text, time.Since(began))
	}
	r := b.call(Shell(), object{"command": "sleep 0.3", "background": true})
	r = b.call(Sleep(), object{"seconds": 30, "session_id": id(t, r)})
	if !contains(r.Text, "has ended") {
		t.Errorf("%s", r.Text)
	}
}

func TestL51_Formatter(t *testing.T) {
	need(t, "gofmt")
	b := newBench(t, map[string]string{"a.go": "package  a\nfunc  f( ) { }\n", "broken.go": "package a\nfunc f( {\n", "other.go": "package  a\n", "n.txt": "x"})
	b.kit.Formatters = map[string][]string{".go": {"gofmt", "-w"}, ".slow": {"sleep", "0.1"}}
	call := &tool.Call{Tool: "edit_file", ID: "e"}
	further, notes := b.kit.Format(b.around(context.Background()), call, []string{"a.go", "n.txt", "missing.go"})
	if strings.Join(further, " ") != "a.go" || len(notes) != 1 || b.content("a.go") != "package a\n\nfunc f() {}\n" {
		t.Errorf("%v %v %q", further, notes, b.content("a.go"))
	}
	if b.content("other.go") != "package  a\n" {
		t.Error("a file was formatted that nobody edited")
	}
	further, notes = b.kit.Format(b.around(context.Background()), call, []string{"broken.go"})
	if len(further) != 0 || len(notes) != 1 || !contains(notes[0], "was not formatted by gofmt") {
		t.Errorf("%v %v", further, notes)
	}
	if _, notes = b.kit.Format(b.around(context.Background()), call, []string{"a.go"}); len(notes) != 0 {
		t.Errorf("a file that is well formatted: %v", notes)
	}
	b.kit.Formatters[".go"] = []string{"no-such-formatter"}
	if _, notes = b.kit.Format(b.around(context.Background()), call, []string{"a.go"}); len(notes) != 1 || !contains(notes[0], "not formatted") {
		t.Errorf("%v", notes)
	}
}

// TestF070_NoLocks: git that is run for a look takes no lock.
func TestF070_NoLocks(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x\n"})
	r := b.shell("git init -q . && git add f && touch f && git status --short && echo $GIT_OPTIONAL_LOCKS && ls .git/*.lock 2>/dev/null | wc -l")
	if !contains(r.Text, "0\n0\n") {
		t.Errorf("%s", r.Text)
	}
}

func TestTooltest(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x\n", "go.mod": "module x\n", "p.go": "package p\n"})
	b.kit.Environment.Set = []string{"GOPROXY=off"}
	r := b.call(Shell(), object{"command": "sleep 600", "background": true})
	for _, c := range []struct {
		tool     tool.Tool
		examples []tooltest.Example
		blocking string
	}{
		{ExecCommand(), []tooltest.Example{{Args: `{"cmd":"echo x","yield_time_ms":3000}`}}, `{"cmd":"sleep 100","yield_time_ms":60000}`},
		{WriteStdin(), []tooltest.Example{
			{Args: fmt.Sprintf(`{"session_id":%d,"yield_time_ms":1}`, id(t, r))}, {Args: `{"session_id":1}`, Code: tool.CodeFailed},
		}, fmt.Sprintf(`{"session_id":%d,"yield_time_ms":60000}`, id(t, r))},
		{Check(), []tooltest.Example{{Args: `{}`}}, ""},
		{RunCode(), []tooltest.Example{{Args: `{"language":"sh","code":"echo x"}`}}, `{"language":"sh","code":"sleep 100"}`},
		{Sleep(), []tooltest.Example{{Args: `{"seconds":0.01}`}}, `{"seconds":100}`},
	} {
		t.Run(c.tool.Spec().Name, func(t *testing.T) {
			tooltest.Run(t, c.tool, tooltest.Options{Context: b.around, Blocking: c.blocking, Patience: 30 * time.Second, Examples: c.examples})
		})
	}
}

func BenchmarkShell(b *testing.B) {
	for _, driver := range []sandbox.Driver{sandbox.Auto, sandbox.None} {
		b.Run(string(driver), func(b *testing.B) {
			bench := newBenchWith(b, nil, driver, sandbox.WorkspaceWrite)
			b.ReportAllocs()
			for b.Loop() {
				if r := bench.shell("true"); !r.OK {
					b.Fatal(r.Text)
				}
			}
		})
	}
}

// BenchmarkShellInALargeFolder is what the looks at the workspace cost.
func BenchmarkShellInALargeFolder(b *testing.B) {
	files := map[string]string{}
	for i := range 5000 {
		files[fmt.Sprintf("d%d/f%d.txt", i%50, i)] = strings.Repeat("line of text\n", 100)
	}
	bench := newBench(b, files)
	bench.shell("true")
	b.ReportAllocs()
	for b.Loop() {
		if r := bench.shell("true"); !r.OK {
			b.Fatal(r.Text)
		}
	}
}

// BenchmarkTerminalRoundTrip is from a line that is typed to its echo in an
// answer, without the wait for silence.
func BenchmarkTerminalRoundTrip(b *testing.B) {
	bench := newBench(b, nil)
	r := bench.call(ExecCommand(), object{"cmd": "cat", "tty": true, "yield_time_ms": 200})
	e, done, err := bench.kit.Commands.Talk(context.Background(), id(b, r))
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Write(context.Background(), []byte("ping\n")); err != nil {
			b.Fatal(err)
		}
		for seen := 0; seen < 2; { // the echo of the terminal, and that of cat
			v, _ := e.Screen()
			if v.Text == "" {
				time.Sleep(20 * time.Microsecond)
				continue
			}
			seen += strings.Count(v.Text, "ping")
		}
	}
}
