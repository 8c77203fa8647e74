package changes_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/tools/changes"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

var update = flag.Bool("update", false, "write what the tools answer into the behaviour files")

// A bench is a session on a folder with a history.
type bench struct {
	t     testing.TB
	dir   string
	line  *history.Timeline
	w     *workspace.Workspace
	calls atomic.Int64
	ids   []string
}

func newBench(t testing.TB, opts workspace.Options) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(base, "w")}
	if err := errors.Join(os.Mkdir(b.dir, 0o755), os.Mkdir(filepath.Join(base, "state"), 0o700)); err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(filepath.Join(base, "state", "history"), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b.line, err = h.For(history.Place{Top: b.dir, Tree: "s_own"}); err != nil {
		t.Fatal(err)
	}
	opts.Recorder = b.line
	if b.w, err = workspace.Open(b.dir, opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(b.w.Close(), h.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) context(ctx context.Context) context.Context {
	ctx = workspace.WithSource(ctx, workspace.Source{Session: "s_own", CallID: fmt.Sprint(b.calls.Add(1)), Tool: "edit_file"})
	return history.With(workspace.With(ctx, b.w), b.line)
}

// change makes a change: lines "write PATH TEXT", "remove PATH" and "move
// PATH TO", all as one.
func (b *bench) change(script string) {
	b.t.Helper()
	var steps []workspace.Step
	for line := range strings.Lines(script) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		switch words[0] {
		case "write":
			steps = append(steps, workspace.Step{Op: workspace.OpWrite, Name: words[1], Data: []byte(strings.ReplaceAll(words[2], `\n`, "\n"))})
		case "remove":
			steps = append(steps, workspace.Step{Op: workspace.OpRemove, Name: words[1]})
		case "move":
			steps = append(steps, workspace.Step{Op: workspace.OpMove, Name: words[1], To: words[2]})
		}
	}
	if _, err := b.w.Apply(b.context(context.Background()), steps); err != nil {
		b.t.Fatal(err)
	}
	b.learn()
}

// learn numbers the newest change.
func (b *bench) learn() {
	b.t.Helper()
	l, err := b.line.List(context.Background(), history.Filter{Limit: 1})
	if err != nil {
		b.t.Fatal(err)
	}
	if len(l.Changes) == 1 && (len(b.ids) == 0 || b.ids[len(b.ids)-1] != l.Changes[0].ID) {
		b.ids = append(b.ids, l.Changes[0].ID)
	}
}

// run makes the call "NAME {arguments}", in which #1 is the id of the first
// change.
func (b *bench) run(call string) *tool.Result {
	b.t.Helper()
	name, raw, _ := strings.Cut(strings.TrimSpace(call), " ")
	for i, id := range b.ids {
		raw = strings.ReplaceAll(raw, fmt.Sprintf(`"#%d"`, i+1), `"`+id+`"`)
	}
	for _, tl := range changes.All() {
		spec := tl.Spec()
		if spec.Name != name {
			continue
		}
		schema, err := args.Compile(spec.Name, spec.Input, spec.ArgAliases)
		if err != nil {
			b.t.Fatal(err)
		}
		decoded, err := schema.Decode(json.RawMessage(raw))
		if err != nil {
			return tool.FromError(err)
		}
		r, err := tl.Run(b.context(context.Background()), &tool.Call{Tool: name, Args: decoded.Args})
		if err != nil {
			r = tool.FromError(err)
		}
		b.learn()
		return r
	}
	b.t.Fatalf("no tool %q", name)
	return nil
}

var when = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// steady replaces what differs from run to run.
func (b *bench) steady(text string) string {
	for i, id := range b.ids {
		text = strings.ReplaceAll(text, id, fmt.Sprintf("#%d", i+1))
	}
	return when.ReplaceAllString(text, "TIME")
}

// TestBehaviours runs the archives of testdata. A file "change" is a change
// that a tool makes, "hand PATH" one that is made by hand; "call NAME" is a
// call and "want NAME" what it answers; "after PATH" is what a file holds
// then. #1 stands for the id of the first change.
func TestBehaviours(t *testing.T) {
	files, err := filepath.Glob("*.txtar")
	if err != nil || len(files) != len(changes.All()) {
		t.Fatalf("%d behaviour files for %d tools, %v", len(files), len(changes.All()), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".txtar"), func(t *testing.T) { behave(t, file) })
	}
}

func behave(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, workspace.Options{Unreadable: []string{"secret"}})
	answers := map[string]string{}
	for i, f := range archive.Files {
		kind, name, _ := strings.Cut(f.Name, " ")
		var got string
		switch kind {
		case "change":
			b.change(string(f.Data))
			continue
		case "hand":
			if err := os.WriteFile(filepath.Join(b.dir, name), f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		case "call":
			r := b.run(string(f.Data))
			text := strings.TrimSuffix(b.steady(r.Text), "\n") + "\n"
			if !r.OK {
				text = fmt.Sprintf("! %s\n%s", r.Code, text)
			}
			answers[name] = text
			continue
		case "want":
			got = answers[name]
		case "after":
			data, err := os.ReadFile(filepath.Join(b.dir, name))
			if got = string(data); err != nil {
				got = "(nothing)\n"
			}
		default:
			t.Fatalf("a file %q", f.Name)
		}
		if *update {
			archive.Files[i].Data = []byte(got)
		} else if got != string(f.Data) {
			t.Errorf("%s:\n%s\nwant\n%s", f.Name, got, f.Data)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestContract holds the tools to the promises that every tool makes.
func TestContract(t *testing.T) {
	for _, tt := range []struct {
		tool     tool.Tool
		examples []tooltest.Example
	}{
		{changes.Log(), []tooltest.Example{{Args: `{}`}, {Args: `{"path":"a.txt","limit":1}`}, {Args: `{"path":"../x"}`, Code: tool.CodeDenied}}},
		{changes.Show(), []tooltest.Example{{Args: `{"id":"#1"}`}, {Args: `{"id":"#1","path":"first.txt"}`}, {Args: `{"id":"c_aaaaaaaaaaaa"}`, Code: tool.CodeFailed}, {Args: `{"id":"--help"}`, Code: tool.CodeInvalidInput}}},
		{changes.Diff(), []tooltest.Example{{Args: `{}`}, {Args: `{"from":"c_aaaaaaaaaaaa"}`, Code: tool.CodeFailed}, {Args: `{"to":"c_aaaaaaaaaaaa"}`, Code: tool.CodeInvalidInput}}},
		{changes.Undo(), []tooltest.Example{{Args: `{}`}, {Args: `{"dry_run":true}`}, {Args: `{"id":"../x"}`, Code: tool.CodeInvalidInput}, {Args: `{"paths":["b.txt"]}`, Code: tool.CodeFailed}}},
	} {
		t.Run(tt.tool.Spec().Name, func(t *testing.T) {
			b := newBench(t, workspace.Options{})
			b.change(`write first.txt x`)
			n := 0
			for i := range tt.examples {
				tt.examples[i].Args = strings.ReplaceAll(tt.examples[i].Args, "#1", b.ids[0])
				tt.examples[i].Setup = func(testing.TB) {
					n++
					b.change(fmt.Sprintf(`write a.txt %d\n`, n))
				}
			}
			tooltest.Run(t, tt.tool, tooltest.Options{Examples: tt.examples, Dir: b.dir, Context: b.context})
		})
	}
}

// G10: what a model gives as an id reaches no other program; it is an id or
// it is refused.
func TestG10_AnIDIsNoOption(t *testing.T) {
	b := newBench(t, workspace.Options{})
	b.change(`write a.txt x`)
	for _, id := range []string{"-x", "--output=/tmp/x", "HEAD", "c_../../../etc", "c_AAAAAAAAAAAA", "c_aaaaaaaaaaaa\n"} {
		raw, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{`workspace_show {"id":%s}`, `workspace_diff {"id":%s}`, `workspace_diff {"from":%s}`, `undo {"id":%s}`} {
			if r := b.run(fmt.Sprintf(call, raw)); r.OK || r.Code != tool.CodeInvalidInput {
				t.Errorf("%s: %s %s", fmt.Sprintf(call, raw), r.Code, r.Text)
			}
		}
	}
}

// What an undo would write is said before it is permitted.
func TestUndoNamesItsPaths(t *testing.T) {
	b := newBench(t, workspace.Options{})
	b.change("write a.txt x\nwrite d/b.txt x")
	b.change("move a.txt e.txt")
	for raw, want := range map[string]string{
		`{}`: "[e.txt a.txt]", `{"since":true,"id":"` + b.ids[0] + `"}`: "[e.txt a.txt d d/b.txt]",
		`{"id":"` + b.ids[0] + `","paths":["d"]}`: "[d d/b.txt]",
	} {
		act, err := changes.Undo().(tool.Assesser).Assess(b.context(context.Background()), &tool.Call{Args: json.RawMessage(raw)})
		if err != nil || fmt.Sprint(act.Writes) != want {
			t.Errorf("%s writes %v, want %s: %v", raw, act.Writes, want, err)
		}
	}
	act, err := changes.Undo().(tool.Assesser).Assess(b.context(context.Background()), &tool.Call{Args: json.RawMessage(`{"dry_run":true}`)})
	if err != nil || len(act.Writes) > 0 || act.Effects != tool.Read {
		t.Errorf("a dry run: %+v, %v", act, err)
	}
}
