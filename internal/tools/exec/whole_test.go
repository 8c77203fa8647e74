package exec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

// TestNothingIsLost: what an answer does not show is in the ledger, whichever
// tool asked, and each answer's only once.
func TestNothingIsLost(t *testing.T) {
	need(t, "python3")
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name string
		tool tool.Tool
		args object
		want string
	}{
		{"shell, more than is kept", Shell(), object{"command": "seq 1 200000"}, lines(1, 200000)},
		{"exec_command, more than is shown", ExecCommand(), object{"cmd": "seq 1 10000", "yield_time_ms": 30000}, lines(1, 10000)},
		{"exec_command, more than was asked for", ExecCommand(), object{"cmd": "seq 1 500", "yield_time_ms": 30000, "max_output_tokens": 64}, lines(1, 500)},
		{"exec_command, more than is kept", ExecCommand(), object{"cmd": "seq 1 200000", "yield_time_ms": 30000}, lines(1, 200000)},
		{"exec_command, a terminal", ExecCommand(), object{"cmd": "seq 1 200000", "tty": true, "yield_time_ms": 60000}, lines(1, 200000)},
		{"run_code, more than is shown", RunCode(), object{"language": "python", "code": "for i in range(1, 10001): print(i)"}, lines(1, 10000)},
		{"run_code, more than is kept", RunCode(), object{"language": "python", "code": "for i in range(1, 200001): print(i)"}, lines(1, 200000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			r := b.call(c.tool, c.args)
			if !r.OK || !contains(r.Text, "is kept as the result r_1") || !contains(r.Text, "recall brings") {
				t.Errorf("%s", r.Text[max(0, len(r.Text)-500):])
			}
			if len(b.kept) != 1 || !strings.HasPrefix(b.kept[0]+"\n", c.want) {
				t.Fatalf("%d results are kept, the first of %d bytes", len(b.kept), len(strings.Join(b.kept[:min(1, len(b.kept))], "")))
			}
		})
	}
	t.Run("each turn its own", func(t *testing.T) {
		b := newBench(t, nil)
		r := b.call(ExecCommand(), object{"cmd": "seq 1 10000; read -r x; seq 10001 20000; read -r x; echo short", "stdin": true, "yield_time_ms": 1000})
		session := id(t, r)
		for !contains(r.Text, "It waits for input") {
			r = b.call(WriteStdin(), object{"session_id": session, "yield_time_ms": 200})
		}
		n := len(b.kept)
		b.until(session, "20000", object{"chars": "\n"})
		b.until(session, "short", object{"chars": "\n"})
		if n == 0 || len(b.kept) == n || !strings.HasPrefix(b.kept[n], "10001\n") || len(b.kept) > n+1 {
			t.Errorf("%d, then %d are kept", n, len(b.kept))
		}
	})
}

// TestBinaryIsNamed: what no person could read is named, in every way that there
// is to ask.
func TestBinaryIsNamed(t *testing.T) {
	const flood = "head -c 3000000 /dev/urandom"
	for name, r := range map[string]*tool.Result{
		"shell":        newBench(t, nil).shell(flood),
		"exec_command": newBench(t, nil).call(ExecCommand(), object{"cmd": flood, "yield_time_ms": 30000}),
	} {
		if !r.OK || len(r.Text) > 300 || !contains(r.Text, "[the output is binary data, 3000000 bytes; it is not shown]") {
			t.Errorf("%s: %d bytes: %q", name, len(r.Text), r.Text[:min(len(r.Text), 300)])
		}
	}
}

// TestL69_TheMiddleIsSearched: a refusal stands where nothing is kept of the
// output but in the ledger, and is named all the same.
func TestL69_TheMiddleIsSearched(t *testing.T) {
	need(t, "python3")
	const outside = "/usr/share/handrail-test-outside"
	flood := "seq 1 150000; cp /etc/hostname " + outside + "; seq 1 150000"
	for _, c := range []struct {
		tool tool.Tool
		args object
	}{
		{Shell(), object{"command": flood}},
		{ExecCommand(), object{"cmd": flood, "yield_time_ms": 60000}},
		{RunCode(), object{"language": "sh", "code": flood}},
	} {
		name := c.tool.Spec().Name
		if r := newBench(t, nil).call(c.tool, c.args); !r.OK || !contains(r.Text, "The fence kept it from: writing "+outside) {
			t.Errorf("%s: %q %s", name, r.Code, r.Text[max(0, len(r.Text)-400):])
		}
	}
	b := newBench(t, nil)
	r := b.call(ExecCommand(), object{"cmd": "cp /etc/hostname " + outside + "; sleep 60", "yield_time_ms": 500})
	if !r.OK || !contains(r.Text, "Still running") || !contains(r.Text, "The fence kept it from: writing") {
		t.Errorf("of one that runs on: %s", r.Text)
	}
}

// TestF049_WaitingForInput: a command that waits for somebody to type is told
// from one that works.
func TestF049_WaitingForInput(t *testing.T) {
	need(t, "python3")
	need(t, "less")
	const told = "It waits for input."
	b := newBench(t, map[string]string{"long.txt": strings.Repeat("line\n", 200)})
	for _, c := range []struct {
		name  string
		args  object
		waits bool
	}{
		{"cat", object{"cmd": "cat", "stdin": true}, true},
		{"grep behind a pipe", object{"cmd": "grep x | wc -l", "stdin": true}, true},
		{"a question", object{"cmd": `read -p "name? " n`, "tty": true}, true},
		{"a child asks", object{"cmd": "sh -c 'sh -c cat'; true", "stdin": true}, true},
		{"a password", object{"cmd": `bash -c 'read -s p </dev/tty'; true`, "tty": true}, true},
		{"a prompt with history", object{"cmd": "python3 -q", "tty": true}, true},
		{"the shell's", object{"cmd": "bash --norc -i", "tty": true}, true},
		{"a pager", object{"cmd": "less long.txt", "tty": true}, true},
		{"one that works", object{"cmd": "while :; do :; done", "stdin": true}, false},
		{"one that sleeps", object{"cmd": "sleep 60", "tty": true}, false},
		{"a pipe of its own", object{"cmd": "sleep 60 | cat", "stdin": true}, false},
		{"a closed input", object{"cmd": "cat; sleep 60"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.args["yield_time_ms"] = 100
			r := b.call(ExecCommand(), c.args)
			session := id(t, r)
			for i := 0; i < 100 && c.waits && !contains(r.Text, told); i++ {
				r = b.call(WriteStdin(), object{"session_id": session, "yield_time_ms": 100})
			}
			if contains(r.Text, told) != c.waits {
				t.Errorf("%s", r.Text)
			}
			b.call(WriteStdin(), object{"session_id": session, "end": true})
		})
	}
}

// TestF057_LiteralCd: a command that begins with "cd DIR &&" runs there, which
// is said and is where the paths in its output begin.
func TestF057_LiteralCd(t *testing.T) {
	b := newBench(t, map[string]string{"sub/f": "x", "sub/.git/config": "", "a b/g": ""})
	for _, c := range []struct{ command, ran string }{
		{"cd sub && pwd", "Ran in sub"},
		{"cd 'a b' && pwd", "Ran in a b"},
		{"cd " + b.dir + "/sub && pwd", "Ran in sub"},
		{"cd . && pwd", ""},
		{"cd nowhere && pwd", ""},
		{"cd /tmp && pwd", ""},
		{"cd $HOME && pwd", ""},
	} {
		r := b.shell(c.command)
		if got := contains(r.Text, "Ran in"); got != (c.ran != "") || !contains(r.Text, c.ran) {
			t.Errorf("%s: %s", c.command, r.Text)
		}
	}
	r := b.call(Shell(), object{"command": "cd deeper && pwd", "workdir": "sub"})
	if !contains(r.Text, "Ran in sub\n") && !strings.HasSuffix(r.Text, "Ran in sub") {
		t.Errorf("%s", r.Text)
	}
}

// TestEndsWithFigures: what a command used is known, however it was started.
func TestEndsWithFigures(t *testing.T) {
	b := newBench(t, nil)
	work := "head -c 3000000 /dev/urandom > f; sync f; for i in $(seq 20000); do :; done; seq 5"
	for _, r := range []*tool.Result{
		b.shell(work), b.call(ExecCommand(), object{"cmd": work, "yield_time_ms": 30000}), b.call(ExecCommand(), object{"cmd": work, "tty": true, "yield_time_ms": 30000}),
	} {
		for key, atLeast := range map[string]int64{"duration_ms": 1, "max_rss_bytes": 1 << 20, "output_bytes": 10, "disk_written_bytes": 0, "disk_read_bytes": 0} {
			if n, ok := r.Metadata[key].(int64); !ok || n < atLeast {
				t.Errorf("%s: %v", key, r.Metadata[key])
			}
		}
		user, _ := r.Metadata["user_ms"].(int64)
		system, _ := r.Metadata["system_ms"].(int64)
		if user+system < 1 || r.Metadata["exit_code"] != 0 {
			t.Errorf("%v", r.Metadata)
		}
	}
}
