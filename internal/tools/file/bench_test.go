package file

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// benchTool makes the same call of a tool again and again. TMPDIR says on
// which disk; a memory disk shows the work without the flush.
func benchTool(b *testing.B, tl tool.Tool, content string, calls ...string) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
	w, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	ctx := output.WithRedactor(workspace.With(context.Background(), w), &output.Redactor{})
	b.ReportAllocs()
	b.SetBytes(int64(len(content)))
	for i := 0; b.Loop(); i++ {
		r, err := tl.Run(ctx, &tool.Call{Args: json.RawMessage(calls[i%len(calls)])})
		if err != nil || !r.OK {
			b.Fatal(r, err)
		}
	}
}

const benchLine = "\tsome := line(of, code) // with a comment\n"

func BenchmarkReadFile4KiB(b *testing.B) {
	benchTool(b, ReadFile(), strings.Repeat(benchLine, 4<<10/len(benchLine)), `{"path":"f"}`)
}

func BenchmarkReadFile1MiB(b *testing.B) {
	benchTool(b, ReadFile(), strings.Repeat(benchLine, 1<<20/len(benchLine)), `{"path":"f","start_line":10000}`)
}

func BenchmarkEditFile4KiB(b *testing.B) {
	benchTool(b, EditFile(), strings.Repeat(benchLine, 4<<10/len(benchLine))+"\tone()\n",
		`{"path":"f","old_string":"\tone()\n","new_string":"\ttwo()\n"}`, `{"path":"f","old_string":"\ttwo()\n","new_string":"\tone()\n"}`)
}

func BenchmarkEditFile1MB(b *testing.B) {
	benchTool(b, EditFile(), strings.Repeat(benchLine, 1_000_000/len(benchLine))+"\tone()\n",
		`{"path":"f","old_string":"\tone()\n","new_string":"\ttwo()\n"}`, `{"path":"f","old_string":"\ttwo()\n","new_string":"\tone()\n"}`)
}

func BenchmarkWriteFile4KiB(b *testing.B) {
	content := strings.Repeat("x", 4<<10)
	args := func(c string) string {
		raw, err := json.Marshal(map[string]string{"path": "f", "content": c})
		if err != nil {
			b.Fatal(err)
		}
		return string(raw)
	}
	benchTool(b, WriteFile(), content, args(content+"1"), args(content+"2"))
}

// BenchmarkWindowOfGigabyte reads windows of a file of a gigabyte: at its
// start and, by bytes, at its end.
func BenchmarkWindowOfGigabyte(b *testing.B) {
	dir := b.TempDir()
	hugeFile(b, filepath.Join(dir, "huge"))
	w, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	ctx := output.WithRedactor(workspace.With(context.Background(), w), &output.Redactor{})
	for _, args := range []string{`{"path":"huge"}`, `{"path":"huge","start_line":99000,"limit":100}`, `{"path":"huge","byte_offset":1073741000}`} {
		b.Run(args, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadFile().Run(ctx, &tool.Call{Args: json.RawMessage(args)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
