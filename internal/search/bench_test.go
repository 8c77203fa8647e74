package search

import (
	"path/filepath"
	"testing"

	"github.com/handrail-tools/handrail/internal/search/glob"
	"github.com/handrail-tools/handrail/internal/search/match"
	"github.com/handrail-tools/handrail/internal/search/walk"
)

// BenchmarkGrep searches the Go source tree, about 11,000 files, as the tool
// does: count everything, return the first hundred.
func BenchmarkGrep(b *testing.B) {
	place := placeAt(b, filepath.Join(goRoot(b), "src"), "", walk.Open)
	for _, bb := range []struct {
		name string
		q    Query
		expr string
		o    match.Options
	}{
		{name: "rare word", expr: "ErrBodyNotAllowed"},
		{name: "common word", expr: "return"},
		{name: "ignore case", expr: "mutex", o: match.Options{IgnoreCase: true}},
		{name: "four words", expr: "ErrClosed|ErrNoDeadline|ErrUnexpectedEOF|ErrShortBuffer"},
		{name: "inner word, context", expr: `\w+\.Unlock\(\)`, q: Query{Before: 2, After: 2}},
		{name: "no word", expr: "[A-Z]{5,}[0-9]{2,}"},
		{name: "files", expr: "func", q: Query{Mode: Files}},
		{name: "across lines", expr: `mu\.Lock\(\)\s+defer`, q: Query{Multiline: true}, o: match.Options{Multiline: true}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			q := bb.q
			q.Pattern, q.Limit = compile(b, bb.expr, bb.o), 100
			b.ReportAllocs()
			for b.Loop() {
				if r, err := Grep(b.Context(), place, q); err != nil || r.Shown == 0 {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// BenchmarkFind finds the Go files of the same tree.
func BenchmarkFind(b *testing.B) {
	place := placeAt(b, filepath.Join(goRoot(b), "src"), "", walk.Open)
	g, err := glob.Compile("**/*_test.go")
	if err != nil {
		b.Fatal(err)
	}
	for name, newest := range map[string]bool{"by path": false, "newest": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if f, err := Find(b.Context(), place, FindQuery{Glob: g, Newest: newest, Limit: 100}); err != nil || f.Total == 0 {
					b.Fatal(f, err)
				}
			}
		})
	}
}
