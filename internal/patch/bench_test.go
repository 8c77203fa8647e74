package patch

import (
	"fmt"
	"strings"
	"testing"
)

// large returns a file of n lines and a patch of its lines by hunks, as an
// envelope and as a diff. Every tenth line is like many others.
func large(n, hunks int, loose bool) (content, env, diff string) {
	var c, e, d strings.Builder
	line := func(i int) string {
		if i%10 == 0 {
			return "\t}"
		}
		return fmt.Sprintf("\tline %d of the file", i)
	}
	for i := range n {
		c.WriteString(line(i) + "\n")
	}
	d.WriteString("--- a/f\n+++ b/f\n")
	for k := range hunks {
		at := k*(n/hunks) + 5
		var body strings.Builder
		for i := at - 3; i < at; i++ {
			body.WriteString(" " + line(i) + "\n")
		}
		fmt.Fprintf(&body, "-%s\n+\tchanged %d\n", line(at), k)
		for i := at + 1; i < at+4; i++ {
			body.WriteString(" " + line(i) + "\n")
		}
		text := body.String()
		if loose {
			text = strings.ReplaceAll(text, "\t", "    ")
		}
		e.WriteString("@@\n" + text)
		fmt.Fprintf(&d, "@@ -%d,7 +%d,7 @@\n%s", at+40, at+40, text)
	}
	return c.String(), inEnvelope(e.String()), d.String()
}

func benchmark(b *testing.B, content, text string, hunks int) {
	b.ReportAllocs()
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		got, o, err := run(content, text, Options{})
		if err != nil || len(o.Splices) != hunks || got == content {
			b.Fatal(err)
		}
	}
}

// A patch of 200 hunks on a file of 20,000 lines.
func BenchmarkEnvelope200Hunks(b *testing.B) {
	content, text, _ := large(20_000, 200, false)
	benchmark(b, content, text, 200)
}

func BenchmarkDiff200Hunks(b *testing.B) {
	content, _, text := large(20_000, 200, false)
	benchmark(b, content, text, 200)
}

func BenchmarkLoose200Hunks(b *testing.B) {
	content, text, _ := large(20_000, 200, true)
	benchmark(b, content, text, 200)
}

func BenchmarkParse200Hunks(b *testing.B) {
	_, text, _ := large(20_000, 200, false)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse(text, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// A small patch of a small file, as most are.
func BenchmarkSmall(b *testing.B) {
	content, text, _ := large(200, 2, false)
	benchmark(b, content, text, 2)
}
