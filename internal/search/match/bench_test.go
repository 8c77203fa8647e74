package match

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// benchText is 16 MB of Go source.
func benchText(b *testing.B) []byte {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	var text []byte
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		text = append(text, data...)
		if len(text) >= 16<<20 {
			return filepath.SkipAll
		}
		return err
	})
	if err != nil || len(text) < 1<<20 {
		b.Fatalf("reading the Go sources: %v, %d bytes", err, len(text))
	}
	return text
}

func BenchmarkMatcher(b *testing.B) {
	text := benchText(b)
	for _, bb := range []struct {
		name, expr string
		o          Options
	}{
		{"rare word", "ErrWriteAfterClose", Options{}},
		{"common word", "return", Options{}},
		{"ignore case", "mutex", Options{IgnoreCase: true}},
		{"ignore case, odd fold", "classes", Options{IgnoreCase: true}},
		{"four words", "ErrClosed|ErrNoDeadline|ErrUnexpectedEOF|ErrShortBuffer", Options{}},
		{"inner word", `\w+\.Unlock\(\)`, Options{}},
		{"whole word", "Read", Options{Word: true}},
		{"no word", "[A-Z]{5,}[0-9]{2,}", Options{}},
		{"no word, any rune", `^.{90,}$`, Options{}},
	} {
		p := mustCompile(b, bb.expr, bb.o)
		b.Run(bb.name, func(b *testing.B) { benchMatcher(b, p.Matcher(nil), text) })
		if len(p.words.words) > 0 {
			plain := &Matcher{pattern: p, finder: newPlainFinder(p.words)}
			b.Run(bb.name+"/plain", func(b *testing.B) { benchMatcher(b, plain, text) })
		}
	}
}

// benchMatcher searches in pieces of the size in which files are read.
func benchMatcher(b *testing.B, m *Matcher, text []byte) {
	const piece = 128 << 10
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	found := 0
	for b.Loop() {
		for at := 0; at < len(text); {
			end := min(at+piece, len(text))
			end = min(lineStartAfter(text, end-1), len(text))
			m.Reset(text[at:end])
			for _, ok := m.Next(); ok; _, ok = m.Next() {
				found++
			}
			at = end
		}
	}
	if found == 0 {
		b.Fatal("nothing found")
	}
}

// BenchmarkStandardRegexp is what the others are compared with.
func BenchmarkStandardRegexp(b *testing.B) {
	text := benchText(b)[:1<<20]
	re := regexp.MustCompile(`\w+\.Unlock\(\)`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		re.FindAllIndex(text, -1)
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(`\w+\.Unlock\(\)`, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
