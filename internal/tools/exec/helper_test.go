package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/internal/witness"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// A bench is one session over a fresh folder, with the fence that the machine
// gives.
type bench struct {
	t        testing.TB
	dir      string
	files    *workspace.Workspace
	line     *history.Timeline
	kit      *Kit
	redactor output.Redactor
	kept     []string
	calls    atomic.Int64
}

// cache is one folder for the build tools of all tests.
var cache = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "handrail-exec-cache-")
	if err != nil {
		panic(err)
	}
	return dir
})

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(cache())
	os.Exit(code)
}

func newBench(t testing.TB, files map[string]string) *bench {
	return newBenchWith(t, files, sandbox.Auto, sandbox.WorkspaceWrite)
}

func newBenchWith(t testing.TB, files map[string]string, driver sandbox.Driver, mode sandbox.Mode) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir}
	for name, content := range files {
		b.write(name, content)
	}
	state := t.TempDir()
	past, err := history.Open(filepath.Join(state, "history"), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b.line, err = past.For(history.Place{Top: dir, Root: dir, Tree: "s"}); err != nil {
		t.Fatal(err)
	}
	table := process.NewTable()
	seer := witness.New(witness.Options{Recorder: b.line, Dir: state, Busy: table.Running})
	if b.files, err = workspace.Open(dir, workspace.Options{Recorder: seer.Recorder(b.line)}); err != nil {
		t.Fatal(err)
	}
	seer.Watch(b.files)
	policy := sandbox.Policy{Mode: mode, Workspace: dir, Network: sandbox.NetLoopback, Protected: sandbox.DefaultProtected()}
	if driver == sandbox.None {
		policy = sandbox.Policy{Mode: sandbox.FullAccess, Workspace: dir, Network: sandbox.NetOn}
	}
	if mode == sandbox.WorkspaceWrite {
		policy.Writable = []string{cache()}
	}
	fence, err := sandbox.Open(context.Background(), sandbox.Options{Driver: driver, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	b.kit = &Kit{
		Cache: cache(),
		Fence: func(context.Context) (sandbox.Fence, error) { return fence, nil }, Policy: policy, Commands: table, Spool: state, Witness: seer,
		Keep: func(_ context.Context, _ *tool.Call, whole io.ReadSeeker) (string, error) {
			data, err := io.ReadAll(whole)
			b.kept = append(b.kept, string(data))
			return fmt.Sprintf("r_%d", len(b.kept)), err
		},
	}
	t.Cleanup(func() {
		for _, f := range []func() error{table.Close, fence.Close, seer.Close, b.files.Close, past.Close} {
			if err := f(); err != nil {
				t.Error(err)
			}
		}
	})
	return b
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) content(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(data)
}

// around adds to a context what a session does.
func (b *bench) around(ctx context.Context) context.Context {
	ctx = workspace.WithSource(ctx, workspace.Source{Session: "s", CallID: fmt.Sprint(b.calls.Add(1)), Tool: "test"})
	ctx = history.With(workspace.With(ctx, b.files), b.line)
	return With(output.WithRedactor(ctx, &b.redactor), b.kit)
}

type object = map[string]any

// call runs a tool as the journey does: decoded, assessed, run.
func (b *bench) call(tl tool.Tool, arguments object) *tool.Result {
	b.t.Helper()
	return b.callIn(context.Background(), tl, arguments)
}

func (b *bench) callIn(ctx context.Context, tl tool.Tool, arguments object) *tool.Result {
	b.t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		b.t.Fatal(err)
	}
	spec := tl.Spec()
	schema, err := args.Compile(spec.Name, spec.Input, spec.ArgAliases)
	if err != nil {
		b.t.Fatal(err)
	}
	decoded, err := schema.Decode(raw)
	if err != nil {
		return tool.FromError(err)
	}
	call := &tool.Call{ID: "c", Tool: spec.Name, Args: decoded.Args, Progress: func(tool.Progress) {}}
	ctx = b.around(ctx)
	if _, err := tl.(tool.Assesser).Assess(ctx, call); err != nil {
		return tool.FromError(err)
	}
	r, err := tl.Run(ctx, call)
	if err != nil {
		return tool.FromError(err)
	}
	return r
}

func (b *bench) shell(command string) *tool.Result {
	b.t.Helper()
	return b.call(Shell(), object{"command": command})
}

// id is the session that a result names.
func id(t testing.TB, r *tool.Result) int {
	t.Helper()
	n, ok := r.Metadata["session_id"].(int)
	if !ok {
		t.Fatalf("the result names no session: %s", r.Text)
	}
	return n
}

// until polls a session until what it says has a text, and returns all of it.
func (b *bench) until(session int, has string, send object) string {
	b.t.Helper()
	var all string
	for range 20 {
		in := object{"session_id": session, "yield_time_ms": 500}
		for k, v := range send {
			in[k] = v
		}
		send = nil
		r := b.call(WriteStdin(), in)
		if !contains(r.Text, "(nothing new)") {
			all += r.Text + "\n"
		}
		if contains(r.Text, has) {
			return r.Text
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("%q never came:\n%s", has, all)
	return ""
}
