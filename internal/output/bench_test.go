package output

import (
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

func logText(bytes int) string {
	const line = "2026-11-30T12:00:00Z level=info msg=\"request done\" method=GET path=/api/v1/items status=200 token_count=17 ms=3\n"
	return strings.Repeat(line, bytes/len(line)+1)[:bytes]
}

func BenchmarkBudgetCut10MB(b *testing.B) {
	text := logText(10 << 20)
	budget := Budget{ResultID: "r_abcdefghijkl", RecallTool: "recall", Resume: func(tool.Cut) string { return "Narrow the pattern." }}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		budget.Apply(text)
	}
}

func BenchmarkBudgetFits(b *testing.B) {
	text := logText(2000)
	b.ReportAllocs()
	for b.Loop() {
		Budget{ResultID: "r_abcdefghijkl", RecallTool: "recall"}.Apply(text)
	}
}

func BenchmarkPrepare(b *testing.B) {
	var r Redactor
	if err := r.Know("K", "a-registered-secret"); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
	}{
		{"2KB log", logText(2000)},
		{"1MB log", logText(1 << 20)},
		{"1MB Japanese", strings.Repeat("日本語の長い文章です。\n", 1<<20/34)},
		{"1MB coloured", strings.Repeat("\x1b[32mok\x1b[0m   \texample.com/pkg/name\t0.003s\n", 1<<20/43)},
		{"1MB of secrets", strings.Repeat("TOKEN=ghp_"+fill(36)+" and some more text\n", 1<<20/66)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				Prepare(c.text, false, &r)
			}
		})
	}
}

func BenchmarkClean1MB(b *testing.B) {
	text := logText(1 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Clean(text)
	}
}

func BenchmarkRedact1MB(b *testing.B) {
	text := logText(1 << 20)
	var r Redactor
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Redact(text)
	}
}
