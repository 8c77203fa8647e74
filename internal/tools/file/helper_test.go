package file

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// A bench is one session over a fresh folder.
type bench struct {
	t        *testing.T
	dir      string
	w        *workspace.Workspace
	redactor output.Redactor
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir}
	for name, content := range files {
		b.write(name, content)
	}
	b.w, err = workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.w.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// write puts a file on the disk behind the session's back.
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

// content reads a file behind the session's back.
func (b *bench) content(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// around adds to a context what a session does.
func (b *bench) around(ctx context.Context) context.Context {
	return output.WithRedactor(workspace.With(ctx, b.w), &b.redactor)
}

// call runs a tool with arguments as a Go value.
func (b *bench) call(tl tool.Tool, args any) *tool.Result {
	b.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := tl.Run(b.around(context.Background()), &tool.Call{Tool: tl.Spec().Name, Args: raw})
	if err != nil {
		r = tool.FromError(err)
	}
	if len(r.Text) > tool.MaxErrorText && !r.OK {
		b.t.Errorf("an error of %d bytes", len(r.Text))
	}
	return r
}

type object = map[string]any

func (b *bench) read(args object) *tool.Result    { b.t.Helper(); return b.call(ReadFile(), args) }
func (b *bench) edit(args object) *tool.Result    { b.t.Helper(); return b.call(EditFile(), args) }
func (b *bench) rewrite(args object) *tool.Result { b.t.Helper(); return b.call(WriteFile(), args) }
