package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/tool"
)

// commands are where hooks of a test run: in the best fence of the machine.
func commands(t testing.TB, root string) Commands {
	t.Helper()
	open := func(driver sandbox.Driver, mode sandbox.Mode) func(context.Context) (sandbox.Fence, error) {
		once := sync.OnceValues(func() (sandbox.Fence, error) {
			f, err := sandbox.Open(t.Context(), sandbox.Options{Driver: driver, Policy: sandbox.Policy{Mode: mode, Workspace: root}})
			if err == nil {
				t.Cleanup(func() { _ = f.Close() })
			}
			return f, err
		})
		return func(context.Context) (sandbox.Fence, error) { return once() }
	}
	return Commands{Fence: open(sandbox.Auto, sandbox.WorkspaceWrite), Free: open(sandbox.None, sandbox.FullAccess)}
}

// reports collects what is observed.
type reports struct {
	sync.Mutex
	all []Report
}

func (r *reports) observe(p Report) {
	r.Lock()
	defer r.Unlock()
	r.all = append(r.all, p)
}

func runner(t testing.TB, c Config) (*Runner, *reports) {
	t.Helper()
	seen := &reports{}
	if c.Base.Root == "" {
		c.Base.Root = realDir(t)
	}
	if c.Base.Session == "" {
		c.Base.Session = "s_test"
	}
	c.Commands, c.Observe = commands(t, c.Base.Root), seen.observe
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	return r, seen
}

func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func bash(command string) Input {
	args, _ := json.Marshal(map[string]string{"command": command})
	return Input{Event: PreToolUse, CallID: "c1", Tool: "shell", Args: args,
		Act: permission.Act{Spec: &tool.Spec{Name: "shell", Effects: tool.Exec}, Effects: tool.Exec, Command: command}}
}

// TestTorture: whatever a program does that was set as a gate, it is over in
// time and refuses, unless it says clearly that it does not.
func TestTorture(t *testing.T) {
	big := bash("echo " + strings.Repeat("x", 900_000))
	for _, c := range []struct {
		name, command string
		in            Input
		want          Verdict
		reason        string
	}{
		{"64 KB on both pipes", `head -c 300000 /dev/zero | tr '\0' a; head -c 300000 /dev/zero | tr '\0' b >&2; exit 2`, bash("ls"), Deny, "bbb"},
		{"64 KB of words and a yes", `head -c 300000 /dev/zero | tr '\0' a`, bash("ls"), Pass, ""},
		{"H10 never reads a large input", `exit 0`, big, Pass, ""},
		{"H1 ends before it could read", `exec 0<&-; exit 0`, bash("ls"), Pass, ""},
		{"reads a large input", `test $(wc -c) -gt 900000 || exit 2`, big, Pass, ""},
		{"H2 never ends", `sleep 600`, bash("ls"), Deny, "no answer within"},
		{"H2 never ends and will not", `trap '' TERM INT; while :; do sleep 600; done`, bash("ls"), Deny, "no answer within"},
		{"H3 more than an answer may have", `head -c 2000000 /dev/zero | tr '\0' a`, bash("ls"), Deny, "at most"},
		{"H5 invalid JSON", `echo '{"decision":'`, bash("ls"), Deny, "it is not JSON"},
		{"not text", `head -c 5000 /dev/zero`, bash("ls"), Deny, "not text"},
		{"127", `no-such-guard --check`, bash("ls"), Deny, "was not found"},
		{"the script is gone", `"$CLAUDE_PROJECT_DIR"/.claude/hooks/gone.sh`, bash("ls"), Deny, "was not found"},
		{"H4 a signal", `kill -SEGV $$`, bash("ls"), Deny, "signal 11"},
		{"H4 a crash", `exit 1`, bash("ls"), Deny, "exit code 1"},
		{"F252 no profile is read", `shopt -q login_shell && exit 2; echo '{}'`, bash("ls"), Pass, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := realDir(t)
			if err := os.WriteFile(filepath.Join(root, "profile"), []byte("echo hi\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			limit := time.Minute // which a busy machine may need
			if strings.Contains(c.command, "sleep") {
				limit = 2 * time.Second
			}
			r, _ := runner(t, Config{Base: Base{Root: root}, Hooks: []Hook{{Event: PreToolUse, Matcher: "Bash", Command: c.command, Timeout: limit}}})
			r.commands.Environment = process.Environment{From: append(os.Environ(), "BASH_ENV="+root+"/profile", "ENV="+root+"/profile")}
			start := time.Now()
			o := r.Run(t.Context(), c.in)
			if o.Verdict != c.want || !strings.Contains(o.Reason, c.reason) {
				t.Errorf("verdict %d, %.300q; want %d, %q", o.Verdict, o.Reason, c.want, c.reason)
			}
			if took := time.Since(start); took > time.Minute || len(o.Reason) > MaxFeedback {
				t.Errorf("it took %s, and the reason has %d bytes", took, len(o.Reason))
			}
		})
	}
}

// A daemon that a hook leaves behind, and that holds its pipes, neither keeps
// the call waiting nor lives on.
func TestHookLeavesNoDaemon(t *testing.T) {
	r, _ := runner(t, Config{Hooks: []Hook{{Event: PreToolUse, Command: `(setsid sh -c 'while :; do date +%s%N > beat; sleep 0.05; done' &) ; sleep 0.3`}}})
	start := time.Now()
	if o := r.Run(t.Context(), bash("ls")); o.Verdict != Pass {
		t.Fatalf("%+v", o)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("the call waited %s for a daemon", took)
	}
	beat := filepath.Join(r.base.Root, "beat")
	before, err := os.ReadFile(beat)
	if err != nil {
		t.Fatal("the daemon never ran, so nothing is shown:", err)
	}
	time.Sleep(300 * time.Millisecond)
	if after, _ := os.ReadFile(beat); string(after) != string(before) {
		t.Error("the daemon still runs")
	}
}

// TestF251_EnvironmentOfAHook: what a hook is told by its environment is
// documented, and its failure shows the command.
func TestF251_EnvironmentOfAHook(t *testing.T) {
	root := realDir(t)
	r, _ := runner(t, Config{Base: Base{Root: root}, Hooks: []Hook{
		{Event: PreToolUse, Command: `test "$CLAUDE_PROJECT_DIR" = "$PWD" && test "$HANDRAIL_PROJECT_DIR" = "$PWD" || exit 2; env | cut -d= -f1 > names`},
		{Event: PreToolUse, Command: `${CLAUDE_PLUGIN_ROOT}/hooks/x.sh`, OnFailure: Block},
	}})
	o := r.Run(t.Context(), bash("ls"))
	if o.Verdict != Deny || !strings.Contains(o.Reason, "CLAUDE_PLUGIN_ROOT") || !strings.Contains(o.Reason, "/hooks/x.sh: No such file") || len(o.Feedback) != 1 {
		t.Errorf("%+v", o)
	}
	names, err := os.ReadFile(filepath.Join(root, "names"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(names)) {
		if name == "AI_AGENT" || name == "CLAUDECODE" || process.IsSecretName(name) {
			t.Errorf("the environment has %s", name) // F253: nothing marks a hook as an agent's
		}
	}
}

// TestF252_ProfilesAreNotRead: nothing that a shell would read at its start
// speaks before the hook.
func TestF252_ProfilesAreNotRead(t *testing.T) {
	home := realDir(t)
	for _, name := range []string{".bashrc", ".bash_profile", ".profile"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("echo hi\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, _ := runner(t, Config{Hooks: []Hook{{Event: PreToolUse, Command: `echo '{"decision":"deny","reason":"from the hook"}'`, Unfenced: true}}})
	r.commands.Environment = process.Environment{From: append(os.Environ(), "HOME="+home, "BASH_ENV="+home+"/.bashrc")}
	if o := r.Run(t.Context(), bash("ls")); o.Verdict != Deny || o.Reason != "from the hook" {
		t.Errorf("%+v", o)
	}
}

// TestF254_AnEchoIsNoAnswer: cat as a hook refuses as a gate, and only as one.
func TestF254_AnEchoIsNoAnswer(t *testing.T) {
	r, seen := runner(t, Config{Hooks: []Hook{
		{Event: PreToolUse, Command: "cat"}, {Event: PostToolUse, Command: "cat"}, {Event: PermissionRequest, Command: "cat", OnFailure: Continue},
	}})
	in := bash("ls")
	if o := r.Run(t.Context(), in); o.Verdict != Deny || !strings.Contains(o.Reason, "what the hook was told") {
		t.Errorf("%+v", o)
	}
	in.Event, in.Result = PostToolUse, tool.Text("done")
	if o := r.Run(t.Context(), in); o.Verdict != Pass {
		t.Errorf("after the call: %+v", o)
	}
	in.Event = PermissionRequest
	if o := r.Run(t.Context(), in); o.Verdict != Pass {
		t.Errorf("with on_failure continue: %+v", o)
	}
	if len(seen.all) != 3 {
		t.Errorf("%d reports of 3 failures", len(seen.all))
	}
}

// A hook runs in the fence, and outside of it only where it is set so.
func TestHookIsFenced(t *testing.T) {
	outside := filepath.Join(realDir(t), "out")
	write := fmt.Sprintf("echo x > %q || exit 2", outside)
	r, _ := runner(t, Config{Hooks: []Hook{{Event: PreToolUse, Command: write}, {Event: PermissionRequest, Command: write, Unfenced: true}}})
	in := bash("ls")
	o := r.Run(t.Context(), in)
	if _, err := os.Stat(outside); err == nil || o.Verdict != Deny {
		t.Errorf("a hook in the fence wrote outside of it: %+v", o)
	}
	in.Event = PermissionRequest
	if o = r.Run(t.Context(), in); o.Verdict != Pass {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error("a hook outside of the fence did not write:", err)
	}
}

// A caller that gives up is not kept waiting, and it is not the hook's fault.
func TestCancelledHookHasNotFailed(t *testing.T) {
	r, seen := runner(t, Config{Hooks: []Hook{{Event: PreToolUse, Command: "sleep 600"}}})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if o := r.Run(ctx, bash("ls")); o.Verdict != Deny {
		t.Errorf("%+v", o)
	}
	if len(seen.all) != 0 {
		t.Errorf("%+v", seen.all)
	}
}

// An asynchronous hook runs beside everything and ends with the session.
func TestAsyncHook(t *testing.T) {
	r, _ := runner(t, Config{Hooks: []Hook{{Event: PreToolUse, Command: "touch ran; sleep 600; touch late", Async: true}}})
	start := time.Now()
	if o := r.Run(t.Context(), bash("ls")); o.Verdict != Pass || time.Since(start) > time.Second {
		t.Errorf("%+v after %s", o, time.Since(start))
	}
	for range 200 {
		if _, err := os.Stat(filepath.Join(r.base.Root, "ran")); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(r.base.Root, "ran")); err != nil {
		t.Error("it never ran:", err)
	}
}

// BenchmarkCommand is what a hook costs that does nothing, and what its
// process alone does.
func BenchmarkCommand(b *testing.B) {
	r, _ := runner(b, Config{Hooks: []Hook{{Event: PreToolUse, Command: "/bin/true", Args: []string{}}}})
	in := bash("ls -la")
	fence, err := r.commands.Fence(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("hook", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if o := r.Run(b.Context(), in); o.Verdict != Pass {
				b.Fatal(o)
			}
		}
	})
	b.Run("process", func(b *testing.B) {
		b.ReportAllocs()
		env, _ := r.commands.Environment.Build(false)
		for b.Loop() {
			p, err := process.Start(b.Context(), fence, process.Options{
				Spec:  sandbox.Spec{Path: "/bin/true", Argv: []string{"/bin/true"}, Env: env, Dir: r.base.Root},
				Stdin: []byte("{}"), SplitStderr: true,
			})
			if err != nil {
				b.Fatal(err)
			}
			<-p.Ended()
			if err := p.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
