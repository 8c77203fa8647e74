package exec

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func TestShell(t *testing.T) {
	b := newBench(t, map[string]string{"sub/f": "x\n", "README": "r\n"})
	for _, c := range []struct {
		name string
		args object
		code tool.Code
		want []string // each is in the text
		not  string
	}{
		{"plain", object{"command": "echo hello"}, "", []string{"hello\n\nExit code: 0"}, ""},
		{"F065 no output", object{"command": "true"}, "", []string{"(no output)\n\nExit code: 0"}, ""},
		{"exit code", object{"command": "echo no; exit 3"}, tool.CodeFailed, []string{"no\n\nExit code: 3"}, ""},
		{"signal", object{"command": "kill -9 $$"}, tool.CodeFailed, []string{"Killed by signal 9"}, ""},
		{"F057 a folder for this call", object{"command": "pwd; ls", "workdir": "sub"}, "", []string{"/sub\nf\n", "Ran in sub"}, ""},
		{"F068 the folder is told as the shell takes it", object{"command": "true", "workdir": "./sub/"}, "", []string{"Ran in sub"}, ""},
		{"L73 an assignment in front", object{"command": "X=1 sh -c 'echo $X'"}, "", []string{"1\n"}, ""},
		{"F067 paths are not rewritten", object{"command": "echo $MSYS_NO_PATHCONV origin/main:.gitignore"}, "", []string{"1 origin/main:.gitignore\n"}, ""},
		{"L72 variables are set for the command alone", object{"command": "export HANDRAIL_TEST_X=1"}, "", []string{"(no output)"}, ""},
		{"L72 and not for the next", object{"command": "echo [$HANDRAIL_TEST_X]"}, "", []string{"[]\n"}, ""},
		{"F057 F058 and the next begins anew", object{"command": "cd sub && ls; cd .."}, "", []string{"f\n"}, "Ran in"},
		{"F057 in the root", object{"command": "ls"}, "", []string{"README\nsub"}, ""},
		{"no such folder", object{"command": "ls", "workdir": "nope"}, tool.CodeFailed, []string{"there is no folder nope"}, ""},
		{"a file as folder", object{"command": "ls", "workdir": "README"}, tool.CodeFailed, []string{"README is a file"}, ""},
		{"outside", object{"command": "ls", "workdir": "/etc"}, tool.CodeInvalidInput, []string{"workdir"}, ""},
		{"empty", object{"command": "  "}, tool.CodeInvalidInput, []string{"empty"}, ""},
		{"other names", object{"cmd": "echo alias", "cwd": "sub", "timeout": "5"}, "", []string{"alias"}, ""},
		{"F061 groups and heredocs", object{"command": "true | true; { echo in; }; cat <<'MY-END'\na\\\\b\n!x\nMY-END"}, "", []string{"in\na\\\\b\n!x\n"}, ""},
		{"F054 a prompt", object{"command": `read -p "name? " n; echo "got $n"`}, "", []string{"got \n"}, ""},
		{"F053 sudo and ssh have no terminal to ask on", object{"command": "cat < /dev/tty"}, tool.CodeFailed, []string{"No such device"}, ""},
		{"pipefail: a failure in front is told", object{"command": "ls /nonexistent-x 2>&1 | cat"}, tool.CodeFailed, []string{"Exit code: 2"}, ""},
		{"pipefail: whoever has read enough may stop", object{"command": "yes | head -1"}, "", []string{"y\n", "Exit code: 0 (an earlier"}, ""},
		{"pipefail: a condition is not changed", object{"command": "if yes | grep -q y; then echo found; fi"}, "", []string{"found\n\nExit code: 0"}, ""},
		{"syntax", object{"command": "echo 'x"}, tool.CodeFailed, []string{"unexpected EOF", "Exit code: 2"}, ""},
		{"unfenced without a reason", object{"command": "ls", "unfenced": true}, tool.CodeInvalidInput, []string{"justification"}, ""},
		{"unfenced where nobody can let it", object{"command": "ls", "unfenced": true, "justification": "must"}, tool.CodeDenied, []string{"no command runs outside"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := b.call(Shell(), c.args)
			if r.Code != c.code || r.OK != (c.code == "") {
				t.Errorf("code %q", r.Code)
			}
			for _, want := range c.want {
				if !contains(r.Text, want) {
					t.Errorf("%q is missing in\n%s", want, r.Text)
				}
			}
			if c.not != "" && contains(r.Text, c.not) {
				t.Errorf("%q is in\n%s", c.not, r.Text)
			}
		})
	}
}

// TestF074_TimeLimit: an endless command ends, and its output is not lost.
func TestF074_F050_TimeLimit(t *testing.T) {
	b := newBench(t, nil)
	began := time.Now()
	r := b.call(Shell(), object{"command": "mkfifo p; (while :; do echo c; sleep 0.1; done) > p & cat p", "timeout_secs": 1})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if r.Code != tool.CodeTimeout || !contains(r.Text, "c\nc\n") || !contains(r.Text, "Stopped after 1s, the time limit") {
		t.Errorf("%q: %s", r.Code, r.Text)
	}
}

// TestCancel: a call that is withdrawn takes its command along.
func TestCancel(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { time.Sleep(300 * time.Millisecond); cancel() }()
	began := time.Now()
	r := b.callIn(ctx, Shell(), object{"command": "echo begun; trap '' TERM; while :; do sleep 0.1; echo x > alive; done"})
	if took := time.Since(began); took > 3*time.Second || r.OK || !contains(r.Text, "begun") {
		t.Errorf("after %v: %s", took, r.Text)
	}
	if err := os.Remove(filepath.Join(b.dir, "alive")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if b.content("alive") == "x\n" {
		t.Error("it runs on")
	}
}

// TestL53_Receipt: what a command changed is told, and can be undone.
func TestL53_Receipt(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n", "same.txt": "s\n", ".gitignore": "*.log\n", "old.log": "l\n", "sub/c": "c\n"})
	for _, c := range []struct{ name, command, want string }{
		{"a sed that matches nothing", "sed -i s/absent/x/ same.txt", ""},
		{"one file", "echo more >> a.txt", "a.txt"},
		{"a second change of a changed file", "echo again >> a.txt", "a.txt"},
		{"created, deleted, renamed", "echo n > new; rm b.txt; mv sub/c sub/d", "b.txt new sub/c sub/d"},
		{"touched only", "touch a.txt same.txt", ""},
		{"mode", "chmod +x same.txt", "same.txt"},
		{"what ignore rules leave out", "echo x >> old.log; echo y > new.log", ""},
		{"a new ignore rule hides nothing that is there", "echo same.txt >> .gitignore", ".gitignore"},
		{"nothing", "cat a.txt", ""},
		{"a link", "ln -s a.txt link", "link"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := b.shell(c.command)
			if got := strings.Join(r.Changed, " "); got != c.want || !r.OK {
				t.Errorf("changed %q, want %q:\n%s", got, c.want, r.Text)
			}
			if c.want != "" && !contains(r.Text, fmt.Sprintf("files_changed: %d\n", len(r.Changed))) {
				t.Errorf("the text does not say so:\n%s", r.Text)
			}
		})
	}
	t.Run("ignored files when asked for", func(t *testing.T) {
		r := b.call(Shell(), object{"command": "echo z >> old.log", "include_ignored": true})
		if got := strings.Join(r.Changed, " "); got != "old.log" {
			t.Errorf("changed %q:\n%s", got, r.Text)
		}
	})
	list, err := b.line.List(context.Background(), history.Filter{})
	if err != nil || len(list.Changes) < 6 {
		t.Fatalf("%d changes in the history, %v", len(list.Changes), err)
	}
	for range len(list.Changes) {
		if _, err := b.line.Undo(b.around(context.Background()), b.files, history.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a.txt": "one\n", "b.txt": "two\n", "sub/c": "c\n", ".gitignore": "*.log\n", "old.log": "l\nx\n"} {
		if got := b.content(name); got != want {
			t.Errorf("%s is %q after all was undone, want %q", name, got, want)
		}
	}
}

func TestF048_Background(t *testing.T) {
	b := newBench(t, nil)
	began := time.Now()
	r := b.shell("(while :; do echo tick; sleep 0.1; done) & echo up")
	if took := time.Since(began); took > 3*time.Second || !r.OK || !contains(r.Text, "still run in the background") {
		t.Fatalf("after %v: %s", took, r.Text)
	}
	m := regexp.MustCompile(`session (\d+)`).FindStringSubmatch(r.Text)
	if m == nil {
		t.Fatal(r.Text)
	}
	r = b.call(WriteStdin(), object{"session_id": m[1], "yield_time_ms": 500})
	if !contains(r.Text, "tick") {
		t.Errorf("nothing more is heard: %s", r.Text)
	}
	r = b.call(WriteStdin(), object{"session_id": m[1], "end": true})
	if b.kit.Commands.Running() {
		t.Errorf("it still runs: %s", r.Text)
	}
}

// TestL61_Ampersand: the work itself is what is watched, not a shell that has
// ended.
func TestL61_Ampersand(t *testing.T) {
	b := newBench(t, nil)
	for _, args := range []object{{"command": "sleep 0.3; echo done; exit 4 &"}, {"command": "(sleep 0.3; echo done; exit 4) & "}, {"command": "sleep 0.3; echo done; exit 4", "background": true}} {
		r := b.call(Shell(), args)
		if !r.OK {
			t.Errorf("%v: %s", args, r.Text)
			continue
		}
		if r.Metadata["session_id"] == nil {
			continue // several statements, of which the last is in the background
		}
		if got := b.until(id(t, r), "Exit code", nil); !contains(got, "done") || !contains(got, "Exit code: 4") {
			t.Errorf("%v: %s", args, got)
		}
	}
}

// TestF059_L71_NoSecrets: what this process has is not what commands get.
func TestF059_L71_NoSecrets(t *testing.T) {
	for name, value := range map[string]string{
		"MODEL_API_KEY": "sk-test", "MY_HARMLESS_NAME": "a-registered-secret", "LD_PRELOAD_X": "no", "BASH_ENV": "/nonexistent", "NODE_OPTIONS": "--inspect",
		"HTTPS_PROXY": "http://user:pw@proxy:1", "GH_TOKEN": "gh", "UNKNOWN_VARIABLE": "u", "LC_TIME": "C",
	} {
		t.Setenv(name, value)
	}
	b := newBench(t, nil)
	b.kit.Environment.Secrets = []string{"a-registered-secret"}
	r := b.shell("env; cat /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n'")
	for _, name := range []string{"MODEL_API_KEY", "MY_HARMLESS_NAME", "LD_PRELOAD_X", "BASH_ENV", "NODE_OPTIONS", "user:pw", "GH_TOKEN", "UNKNOWN_VARIABLE"} {
		if contains(r.Text, name) {
			t.Errorf("%s reaches commands", name)
		}
	}
	if !contains(r.Text, "LC_TIME=C") || !contains(r.Text, "PATH=") {
		t.Errorf("harmless variables are missing:\n%s", r.Text)
	}
	if withheld := fmt.Sprint(r.Metadata["environment_withheld"]); !contains(withheld, "MODEL_API_KEY") || !contains(withheld, "GH_TOKEN") {
		t.Errorf("F060 what was kept back is not told to the host: %s", withheld)
	}
	t.Run("F060 an operator passes on what a program needs", func(t *testing.T) {
		b.kit.Environment.Pass = []string{"GH_TOKEN", "NODE_OPTIONS"}
		r := b.shell("env")
		if !contains(r.Text, "GH_TOKEN=gh") || contains(r.Text, "NODE_OPTIONS") {
			t.Error(r.Text)
		}
	})
}

func TestLongOutput(t *testing.T) {
	b := newBench(t, nil)
	r := b.shell("seq 1 400000")
	if len(r.Text) > 600_000 || !contains(r.Text, "1\n2\n3\n") || !contains(r.Text, "399999\n400000\n\nExit code: 0") {
		t.Errorf("%d bytes, %q", len(r.Text), r.Text[max(0, len(r.Text)-300):])
	}
	if !contains(r.Text, "is kept as the result r_1") || len(b.kept) != 1 || strings.Count(b.kept[0], "\n") != 400000 {
		t.Errorf("the whole is not kept: %d", len(b.kept))
	}
}

func TestWrites(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x\n"})
	b.kit.Writes = WritesDeny
	for _, c := range []struct {
		command string
		denied  bool
	}{
		{"echo x > f", true}, {"echo x >> f", true}, {"cat <<E > g\nE", true}, {"sed -i s/x/y/ f", true}, {"sudo tee f", true}, {"rm f", true},
		{"cd . && mv f g", true}, {"python3 -c \"open('f','w').write('x')\"", true}, {"true | xargs touch", true}, {"echo 'unterminated", true}, {"git apply p", true},
		{"$(cp a b)", true}, {"echo x &> f", true}, {"A=1 B=2 rm f", true},
		{"sort -o f f", true}, {"find . -name f -delete", true}, {"curl -o f http://127.0.0.1:1", true}, {"sh -c 'echo x > f'", true}, {"env rm f", true}, {"sed -n 's/x/y/w g' f", true}, {"perl -pi -e s/x/y/ f", true}, {"tar xf a.tar", true}, {"patch < p", true},
		{"sed -n 1p f", false}, {"npm test", false}, {"ssh nowhere.invalid 'rm f'", false}, {"cat <<E\nrm f\nE", false}, {"git log -1", false},
		{"grep -r 'a > b' .", false}, {"ls 2>/dev/null", false}, {"go build ./... 2>&1", false}, {"echo rm f", false}, {"git status", false}, {"awk '{print $1}' f", false},
		{"tar -tf a.tar || true", false}, {"echo x > f # handrail:allow-write", false}, {"echo '# handrail:allow-write' > f\necho y > f", true},
	} {
		r := b.shell(c.command)
		if (r.Code == tool.CodeDenied) != c.denied {
			t.Errorf("%q: %s", c.command, r.Text)
		}
	}
	// By whichever tool a command is run.
	for _, c := range []struct {
		language, code string
		denied         bool
	}{
		{"sh", "rm f", true}, {"python", "open('f','w').write('x')", true}, {"python", "print(1)", false},
		{"python", "open('f','w').write('y')\n# handrail:allow-write", false},
	} {
		if r := b.call(RunCode(), object{"language": c.language, "code": c.code}); (r.Code == tool.CodeDenied) != c.denied {
			t.Errorf("%s: %s", c.code, r.Text)
		}
	}
	if r := b.call(ExecCommand(), object{"cmd": "rm f"}); r.Code != tool.CodeDenied {
		t.Errorf("exec_command: %s", r.Text)
	}
	b.kit.Writes = WritesWarn
	if r := b.shell("echo warned > f"); !r.OK || !contains(r.Text, "better changed with edit_file") {
		t.Errorf("%s", r.Text)
	}
	if r := b.shell("cat f > /dev/null"); contains(r.Text, "better changed") {
		t.Errorf("advice where nothing was written: %s", r.Text)
	}
}

// TestReadOnly: no command changes anything.
func TestReadOnly(t *testing.T) {
	b := newBenchWith(t, map[string]string{"f": "x\n"}, sandbox.Auto, sandbox.ReadOnly)
	r := b.shell("echo y > f; cat f; touch /tmp/t && echo tmp")
	if b.content("f") != "x\n" || !contains(r.Text, "x\ntmp\n") {
		t.Errorf("%s", r.Text)
	}
}

func TestReadScript(t *testing.T) {
	for _, c := range []struct {
		text, cd   string
		background bool
		pipefail   bool
	}{
		{"cd sub && make", "sub", false, false}, {"cd 'a b' && x && y", "a b", false, false}, {"cd $X && y", "", false, false}, {"cd -P x && y", "", false, false},
		{"cd a*b && y", "", false, false}, {"cd sub; make", "", false, false}, {"A=1 cd x && y", "", false, false}, {"cd - && y", "", false, false},
		{"cd a && x; y", "a", false, false}, {"cd a && x; cd ..", "", false, false}, {"cd a && (cd b && x)", "", false, false},
		{"make &", "", true, false}, {"make && x &", "", true, false}, {"make & wait", "", false, false}, {"make &\n", "", true, false}, {"echo '&'", "", false, false},
		{"make 2>&1 | tail", "", false, true}, {"cd x && a | b | c", "x", false, true}, {"a | b; c", "", false, false}, {"a | b || c", "", false, false},
		{"if a | b; then c; fi", "", false, false}, {"! a | b", "", false, false}, {"x=$(a | b)", "", false, false}, {"a |& b", "", false, true},
		{"echo 'x", "", false, false}, {"", "", false, false},
	} {
		s := readScript(c.text)
		if s.cd != c.cd || s.background != c.background || s.pipefail != c.pipefail {
			t.Errorf("%q: %+v", c.text, s)
		}
		if !s.background && s.text != c.text {
			t.Errorf("%q became %q", c.text, s.text)
		}
	}
}

func TestTooltestShell(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x\n"})
	tooltest.Run(t, Shell(), tooltest.Options{
		Context: b.around, Blocking: `{"command":"sleep 100"}`, Patience: 20 * time.Second,
		Examples: []tooltest.Example{{Args: `{"command":"cat f"}`}, {Args: `{"command":"exit 3"}`, Code: tool.CodeFailed}},
	})
}
