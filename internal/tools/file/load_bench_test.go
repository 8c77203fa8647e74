package file

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

func BenchmarkEditFile10MB(b *testing.B) {
	benchTool(b, EditFile(), strings.Repeat(benchLine, 10_000_000/len(benchLine))+"\tone()\n",
		`{"path":"f","old_string":"\tone()\n","new_string":"\ttwo()\n"}`, `{"path":"f","old_string":"\ttwo()\n","new_string":"\tone()\n"}`)
}

// BenchmarkEditsInARow makes 1,000 edits of one file in one session. The
// ratio of the last hundred to the first says whether a call grows dearer
// with those before it; 1 is flat.
func BenchmarkEditsInARow(b *testing.B) {
	const edits, part = 1000, 100
	b.ReportAllocs()
	var first, last time.Duration
	for b.Loop() {
		dir := b.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(numbers(edits)), 0o644); err != nil {
			b.Fatal(err)
		}
		w, err := workspace.Open(dir, workspace.Options{})
		if err != nil {
			b.Fatal(err)
		}
		ctx, tl := workspace.With(context.Background(), w), EditFile()
		for i := range edits {
			args := fmt.Sprintf(`{"path":"f","old_string":"line %d\n","new_string":"edit %[1]d\n"}`, i+1)
			start := time.Now()
			if r, err := tl.Run(ctx, &tool.Call{Args: json.RawMessage(args)}); err != nil || !r.OK {
				b.Fatal(r, err)
			}
			switch took := time.Since(start); {
			case i < part:
				first += took
			case i >= edits-part:
				last += took
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(last)/float64(first), "last/first")
	b.ReportMetric(float64(last.Nanoseconds())/float64(b.N*part), "ns/edit")
}

// BenchmarkGlob500000 finds files in a tree of half a million, a tenth of
// them of the kind that is asked for. Links to one file make it quickly.
func BenchmarkGlob500000(b *testing.B) {
	dir := b.TempDir()
	origin := filepath.Join(dir, "origin")
	if err := os.WriteFile(origin, nil, 0o644); err != nil {
		b.Fatal(err)
	}
	for i := range 500_000 {
		folder := filepath.Join(dir, fmt.Sprintf("d%02d/e%02d", i/50_000, i/1000%50))
		if i%1000 == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		// A file system bounds the links of a file.
		if i%30_000 == 0 {
			if err := os.Remove(origin); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(origin, nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
		name := fmt.Sprintf("f%d.txt", i)
		if i%10 == 0 {
			name = fmt.Sprintf("f%d.go", i)
		}
		if err := os.Link(origin, filepath.Join(folder, name)); err != nil {
			b.Fatal(err)
		}
	}
	w, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	ctx := workspace.With(context.Background(), w)
	for name, args := range map[string]string{"newest": `{"pattern":"**/*.go","limit":100}`, "path": `{"pattern":"**/*.go","limit":100,"sort":"path"}`} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := Glob().Run(ctx, &tool.Call{Args: json.RawMessage(args)})
				if err != nil || !strings.Contains(r.Text, "of 50000,") {
					b.Fatal(r, err)
				}
			}
		})
	}
}
