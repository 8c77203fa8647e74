package approval

import (
	"path/filepath"
	"testing"

	"github.com/handrail-tools/handrail/internal/permission"
)

// BenchmarkBookStamp is the look at the book that comes before each judgement
// of a session that has one.
func BenchmarkBookStamp(b *testing.B) {
	book, err := OpenBook(filepath.Join(b.TempDir(), "books"), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	if err := book.Keep([]permission.Grant{{Rule: "x"}}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		book.Stamp()
	}
}
