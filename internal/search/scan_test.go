package search

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/handrail-tools/handrail/internal/search/match"
)

// tb is what a test and a property have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

func compile(tb tb, expr string, o match.Options) *match.Pattern {
	tb.Helper()
	p, err := match.Compile(expr, o)
	if err != nil {
		tb.Fatalf("Compile(%q): %v", expr, err)
	}
	return p
}

// scannerOf returns a scanner with a buffer of that size.
func scannerOf(q *Query, size int) *scanner {
	large := make(chan []byte, 1)
	large <- nil
	s := newScanner(q, new(atomic.Bool), large)
	s.buf = make([]byte, size)
	return s
}

// model is what extract must return, worked out line by line.
func model(re *regexp.Regexp, text string, before, after, from, to int) (count int, lines []Line) {
	all := strings.Split(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	hitOf := make([]int, len(all)) // of the lines to show, from 1
	isHit := make([]bool, len(all))
	for i, line := range all {
		if !re.MatchString(strings.TrimSuffix(line, "\r")) {
			continue
		}
		if count >= from && count < to {
			isHit[i] = true
			for k := max(0, i-before); k <= min(len(all)-1, i+after); k++ {
				if hitOf[k] == 0 || k >= i {
					hitOf[k] = count + 1
				}
			}
		}
		count++
	}
	for i, line := range all {
		if hitOf[i] > 0 {
			lines = append(lines, Line{Number: i + 1, Text: strings.TrimSuffix(line, "\r"), Match: isHit[i], Hit: hitOf[i] - 1})
		}
	}
	return count, lines
}

// TestExtract holds the reading in pieces to the model, with buffers so
// small that every boundary occurs.
func TestExtract(t *testing.T) {
	exprs := []string{"a", "ab", "b.*a", "^$", "^a", "b$", "[ab]{2}c", "x*", "c"}
	rapid.Check(t, func(rt *rapid.T) {
		expr := rapid.SampledFrom(exprs).Draw(rt, "expr")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"", "a", "b", "ab", "abc", "bac", "cccc", "ba\r", "é", "\ufeff", "zzzzzz",
		}), 0, 60).Draw(rt, "lines"), "\n")
		if rapid.Bool().Draw(rt, "final newline") {
			text += "\n"
		}
		q := &Query{Pattern: compile(rt, expr, match.Options{}), Before: rapid.IntRange(0, 3).Draw(rt, "before"), After: rapid.IntRange(0, 3).Draw(rt, "after")}
		from := rapid.IntRange(0, 5).Draw(rt, "from")
		f := FileHits{From: from, To: from + rapid.IntRange(0, 5).Draw(rt, "number")}
		size := rapid.IntRange(64, 300).Draw(rt, "buffer")
		var r io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(rt, "slow reader") {
			r = iotest.OneByteReader(r)
		}
		text = strings.TrimPrefix(text, "\ufeff")
		count, want := model(regexp.MustCompile(expr), text, q.Before, q.After, f.From, f.To)
		s := scannerOf(q, size)
		if sum, err := s.count(strings.NewReader(text)); sum.hits != count || err != nil {
			rt.Errorf("count %d, %v, want %d", sum.hits, err, count)
		}
		s.extract(r, &f)
		if f.From == f.To {
			want = nil
		}
		if diff := cmp.Diff(want, f.Lines); diff != "" {
			rt.Errorf("%q in %q, hits %d to %d, -B%d -A%d, buffer %d (-want +got):\n%s",
				expr, text, f.From, f.To, q.Before, q.After, size, diff)
		}
	})
}

// TestLongLines counts in texts whose lines may be many buffers long.
func TestLongLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		expr := rapid.SampledFrom([]string{"ab", "é+b", "^b.*b$", "a$", "世界", `\xff?c`, "[^b]c"}).Draw(rt, "expr")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "b", "c", "é", "世界", "\xff", "\n", "\n", strings.Repeat("z", 40), strings.Repeat("é", 33), "\r\n",
		}), 0, 80).Draw(rt, "pieces"), "")
		count, _ := model(regexp.MustCompile(expr), text, 0, 0, 0, 0)
		q := &Query{Pattern: compile(rt, expr, match.Options{})}
		s := scannerOf(q, rapid.IntRange(16, 60).Draw(rt, "buffer"))
		sum, err := s.count(iotest.HalfReader(strings.NewReader(text)))
		if sum.hits != count || err != nil {
			rt.Errorf("%q in %q: %d hits, %v, want %d", expr, text, sum.hits, err, count)
		}
		// Whatever is kept has the right number.
		f := FileHits{To: 100}
		s.extract(strings.NewReader(text), &f)
		for _, l := range f.Lines {
			line := strings.TrimSuffix(strings.Split(text, "\n")[l.Number-1], "\r")
			if !strings.Contains(line, l.Text) {
				rt.Errorf("%q in %q: line %d is not %q", expr, text, l.Number, l.Text)
			}
		}
	})
}

func TestL57_LongLinesAreCutAroundTheMatch(t *testing.T) {
	filler := strings.Repeat("é", 100_000)
	for _, tt := range []struct {
		name, line    string
		skipped, size int
	}{
		{"in the buffer, in the middle", strings.Repeat("é", 1000) + "needle" + strings.Repeat("é", 1000), 750, 500},
		{"in the buffer, at the start", "needle" + strings.Repeat("é", 1000), 0, 500},
		{"in the buffer, at the end", strings.Repeat("é", 1000) + "needle", 506, 500},
		{"longer than the buffer", filler + "needle" + filler, 99_750, 500},
		{"longer than the buffer, at the end", filler + filler + "needle", 199_506, 500},
		{"exactly the limit", strings.Repeat("é", 494) + "needle", 0, 500},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &Query{Pattern: compile(t, "needle", match.Options{})}
			f := FileHits{To: 1}
			scannerOf(q, bufferSize).extract(strings.NewReader("first\n"+tt.line+"\nlast\n"), &f)
			if len(f.Lines) != 1 {
				t.Fatalf("%d lines", len(f.Lines))
			}
			l := f.Lines[0]
			runes := len([]rune(tt.line))
			if runes <= MaxLine {
				runes = 0
			}
			if !strings.Contains(l.Text, "needle") || l.Number != 2 || l.Runes != runes || len([]rune(l.Text)) > MaxLine {
				t.Errorf("line %d: %d runes of %d after %d: %.20q…", l.Number, len([]rune(l.Text)), l.Runes, l.Skipped, l.Text)
			}
			if d := l.Skipped - tt.skipped; d < -10 || d > 10 {
				t.Errorf("%d runes skipped, want about %d", l.Skipped, tt.skipped)
			}
			if d := len([]rune(l.Text)) - tt.size; d < -10 || d > 10 {
				t.Errorf("%d runes shown, want about %d", len([]rune(l.Text)), tt.size)
			}
		})
	}
}

// Lines around one that is longer than the buffer.
func TestContextOfLongLines(t *testing.T) {
	long := strings.Repeat("x", 3*bufferSize)
	text := "1\n2\n3\n" + long + "needle\n5\n6\nneedle\n8\n9\n" + long + "\n11\nneedle\n" + long
	q := &Query{Pattern: compile(t, "needle", match.Options{}), Before: 2, After: 1}
	f := FileHits{To: 9}
	scannerOf(q, bufferSize).extract(strings.NewReader(text), &f)
	got := []string{}
	for _, l := range f.Lines {
		got = append(got, fmt.Sprint(l.Number, l.Match, l.Runes))
	}
	size := len(long)
	want := []string{
		"2false0", "3false0", fmt.Sprint(4, "true", size+6), "5false0", "6false0", "7true0", "8false0",
		fmt.Sprint(10, "false", size), "11false0", "12true0", fmt.Sprint(13, "false", size),
	}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], " ", "")
		got[min(i, len(got)-1)] = strings.ReplaceAll(got[min(i, len(got)-1)], " ", "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEncodings(t *testing.T) {
	utf16Of := func(s string, big bool) string {
		var b bytes.Buffer
		for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
			if big {
				b.Write([]byte{byte(u >> 8), byte(u)})
			} else {
				b.Write([]byte{byte(u), byte(u >> 8)})
			}
		}
		return b.String()
	}
	long := strings.Repeat("filler line 😀\n", 30_000)
	tests := []struct {
		name, expr, text string
		hits, number     int
		binary, notUTF8  bool
	}{
		{name: "UTF-8 with a mark", expr: "^needle", text: "\ufeffneedle\n", hits: 1, number: 1},
		{name: "UTF-16 little end", expr: "^né😀$", text: utf16Of("a\r\nné😀\r\n", false), hits: 1, number: 2},
		{name: "UTF-16 big end", expr: "^né😀$", text: utf16Of("a\nné😀", true), hits: 1, number: 2},
		{name: "UTF-16 in many pieces", expr: "needle", text: utf16Of(long+"needle\n", false), hits: 1, number: 30_001},
		{name: "UTF-16 with half a pair", expr: "^\uFFFDx$", text: utf16Of("", false) + "\x00\xd8x\x00", hits: 1, number: 1},
		{name: "UTF-16 with half a unit", expr: "^x\uFFFD$", text: utf16Of("x", false) + "z", hits: 1, number: 1},
		{name: "UTF-16 without text", expr: "x*", text: utf16Of("", true), hits: 0},
		{name: "a NUL before the match", expr: "needle", text: "\x00\nneedle\n", hits: 1, binary: true},
		{name: "a NUL after the match", expr: "needle", text: "needle\n\x00", hits: 1, binary: true},
		{name: "a NUL and no match", expr: "needle", text: "\x00\n", hits: 0},
		{name: "a NUL many pieces before the match", expr: "needle", text: "\x00\n" + long + "needle\n", hits: 1, binary: true},
		{name: "a NUL many pieces after the match", expr: "needle", text: "needle\n" + long + "\x00", hits: 1, binary: true},
		{name: "a NUL in a long line", expr: "needle", text: strings.Repeat("x", 300_000) + "\x00needle", hits: 1, binary: true},
		{name: "another encoding and a pattern in ASCII", expr: "caf.$", text: "caf\xe9\n", hits: 1, number: 1},
		{name: "another encoding and a pattern that it spells differently", expr: "café", text: "caf\xe9\n", hits: 0, notUTF8: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := &Query{Pattern: compile(t, tt.expr, match.Options{})}
			s := scannerOf(q, bufferSize)
			sum, err := s.count(strings.NewReader(tt.text))
			if err != nil || sum.hits != tt.hits || sum.binary && tt.hits > 0 != tt.binary || sum.notUTF8 != tt.notUTF8 {
				t.Errorf("%+v, %v", sum, err)
			}
			if tt.number == 0 {
				return
			}
			f := FileHits{To: 10}
			s.extract(strings.NewReader(tt.text), &f)
			if len(f.Lines) != 1 || f.Lines[0].Number != tt.number {
				t.Errorf("lines %+v, want number %d", f.Lines, tt.number)
			}
			if strings.HasPrefix(tt.name, "another") != f.Invalid {
				t.Errorf("Invalid = %v", f.Invalid)
			}
		})
	}
}

func TestMultiline(t *testing.T) {
	tests := []struct {
		name, expr, text string
		q                Query
		from, to         int
		hits             int
		want             string // numbers of the lines; * matches, + has more
	}{
		{name: "one match", expr: "a.*?c", text: "x\na\nb\nc\ny\n", to: 9, hits: 1, want: "2* 3* 4*"},
		{name: "within a line", expr: "b", text: "a\nb\nc\n", to: 9, hits: 1, want: "2*"},
		{name: "two that share a line", expr: "a\nb|c\nd", text: "a\nbc\nd\n", to: 9, hits: 2, want: "1* 2* 3*"},
		{name: "context", expr: "b\nc", text: "1\na\nb\nc\nd\n6\n", q: Query{Before: 1, After: 1}, to: 9, hits: 1, want: "2 3* 4* 5"},
		{name: "context that meets", expr: "b\nc", text: "a\nb\nc\nd\nb\nc\n", q: Query{Before: 1, After: 1}, to: 9, hits: 2, want: "1 2* 3* 4 5* 6*"},
		{name: "the second", expr: "b\nc", text: "a\nb\nc\nd\nb\nc\n", from: 1, to: 2, hits: 2, want: "5* 6*"},
		{name: "the first", expr: "b\nc", text: "b\nc\nb\nc\n", to: 1, hits: 2, want: "1* 2*"},
		{name: "a match that ends with its newline", expr: "b\n", text: "a\nb\nc\n", to: 9, hits: 1, want: "2*"},
		{name: "an empty match on every line", expr: "^", text: "a\n\nb\n", to: 9, hits: 3, want: "1* 2* 3*"},
		{name: "a long match", expr: "<.*>", text: "<\n" + strings.Repeat("x\n", 100) + ">\n", to: 9, hits: 1, want: strings.TrimSpace(func() (s string) {
			for i := range maxMatchLines {
				s += fmt.Sprintf(" %d*", i+1)
			}
			return s + "+52"
		}())},
		{name: "a mark", expr: "^a\nb", text: "\ufeffa\nb\n", to: 9, hits: 1, want: "1* 2*"},
		{name: "a file of middle size", expr: "a\nb", text: strings.Repeat("line\n", 100_000) + "a\nb\n", to: 9, hits: 1, want: "100001* 100002*"},
		{name: "a large file", expr: "a\nb", text: strings.Repeat("line\n", 1_000_000) + "a\nb\n", to: 9, hits: 1, want: "1000001* 1000002*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := tt.q
			q.Pattern, q.Multiline = compile(t, tt.expr, match.Options{Multiline: true}), true
			s := scannerOf(&q, bufferSize)
			for range 2 {
				if sum, err := s.count(strings.NewReader(tt.text)); sum.hits != tt.hits || err != nil {
					t.Errorf("%d hits, %v, want %d", sum.hits, err, tt.hits)
				}
			}
			f := FileHits{From: tt.from, To: tt.to}
			s.extract(strings.NewReader(tt.text), &f)
			var got []string
			for _, l := range f.Lines {
				one := fmt.Sprint(l.Number)
				if l.Match {
					one += "*"
				}
				if l.More > 0 {
					one += fmt.Sprintf("+%d", l.More)
				}
				got = append(got, one)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("too large", func(t *testing.T) {
		q := Query{Pattern: compile(t, "a\nb", match.Options{Multiline: true}), Multiline: true}
		sum, err := scannerOf(&q, bufferSize).count(io.LimitReader(endless{}, maxWhole+1))
		if !sum.tooLarge || err != nil {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

// endless is a file of lines without end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = "line\n"[i%5]
	}
	return len(b), nil
}
