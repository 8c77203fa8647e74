//go:build linux

package exec

import (
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/tool"
)

// TestTheFenceNamesItsVariables holds that a program which is not started by a
// shell gets the value of the fence: of two, most take the first.
func TestTheFenceNamesItsVariables(t *testing.T) {
	b := newBenchWith(t, nil, sandbox.Landlock, sandbox.WorkspaceWrite)
	t.Setenv("TMPDIR", "/nowhere")
	b.kit.Environment.Set = []string{"PATH=/usr/bin:/bin"} // elsewhere python3 may be a script, and a shell takes the last
	r := b.call(RunCode(), object{"language": "python", "code": "import os,tempfile; tempfile.TemporaryFile(); print(os.environ['TMPDIR'])"})
	if !r.OK || contains(r.Text, "nowhere") {
		t.Errorf("%s", r.Text)
	}
}

// TestASecretWithinAValue holds that a variable of a harmless name is kept back
// when a secret is a part of its value.
func TestASecretWithinAValue(t *testing.T) {
	t.Setenv("GOPROXY", "https://proxy.invalid/a-registered-secret/go")
	b := newBench(t, nil)
	b.kit.Environment.Secrets = []string{"", "a-registered-secret"}
	if r := b.shell("env"); contains(r.Text, "a-registered-secret") || !contains(r.Text, "PATH=") {
		t.Errorf("%s", r.Text)
	}
}

// TestProgressIsPlain holds that what a person is shown while a command runs
// does not steer the terminal that shows it, and holds no secret.
func TestProgressIsPlain(t *testing.T) {
	b := newBench(t, nil)
	if err := b.redactor.Know("REGISTERED", "a-registered-secret"); err != nil {
		t.Fatal(err)
	}
	var said string
	call := &tool.Call{Progress: func(p tool.Progress) { said = p.Message }}
	progress(b.around(t.Context()), call)([]byte("\x1b]0;title\x07a\x1b[2Jb\u009b1mc a-registered-secret\n"))
	if contains(said, "a-registered-secret") || !strings.HasPrefix(said, "abc ") {
		t.Errorf("%q", said)
	}
}

// TestCodeThatSaysMuch holds that the end of code is seen however much it says.
func TestCodeThatSaysMuch(t *testing.T) {
	b := newBench(t, nil)
	r := b.call(RunCode(), object{"language": "python", "timeout_secs": 20, "code": "for i in range(400):\n    print('x'*20000, flush=True)\n    if i % 10 == 0: __import__('time').sleep(0.005)\nprint('the end')"})
	if !r.OK || !contains(r.Text, "the end") {
		t.Errorf("%v %s …%s", r.OK, r.Code, r.Text[max(0, len(r.Text)-300):])
	}
}
