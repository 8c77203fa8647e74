package match

import (
	"bytes"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustCompile(tb testing.TB, expr string, o Options) *Pattern {
	tb.Helper()
	p, err := Compile(expr, o)
	if err != nil {
		tb.Fatalf("Compile(%q): %v", expr, err)
	}
	return p
}

// matching returns the numbers, from 0, of the lines that Next gives.
func matching(tb testing.TB, m *Matcher, text []byte) []int {
	tb.Helper()
	numbers := []int{}
	m.Reset(text)
	for {
		line, ok := m.Next()
		if !ok {
			return numbers
		}
		if line.Start > 0 && text[line.Start-1] != '\n' || line.End < len(text) && text[line.End] != '\n' ||
			line.At < line.Start || line.At > line.End {
			tb.Fatalf("%+v is no line of %q", line, text)
		}
		numbers = append(numbers, bytes.Count(text[:line.Start], []byte("\n")))
	}
}

// lines divides a text; what follows the last newline is a line only if it
// is not empty.
func lines(text []byte) [][]byte {
	all := bytes.Split(text, []byte("\n"))
	if len(all[len(all)-1]) == 0 {
		all = all[:len(all)-1]
	}
	return all
}

// wanted is the same as matching, by the standard library.
func wanted(re *regexp.Regexp, text []byte) []int {
	numbers := []int{}
	for i, line := range lines(text) {
		if re.Match(line) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

func TestLines(t *testing.T) {
	tests := []struct {
		name, expr string
		o          Options
		text       string
		want       []int
	}{
		{name: "word", expr: "foo", text: "a\nfoo\nxfoox\n\nfo\n", want: []int{1, 2}},
		{name: "no final newline", expr: "foo", text: "a\nfoo", want: []int{1}},
		{name: "empty text", expr: "x*", text: "", want: []int{}},
		{name: "an empty pattern matches every line", expr: "", text: "a\n\nb", want: []int{0, 1, 2}},
		{name: "nothing after the last newline", expr: "^$", text: "a\n\nb\n", want: []int{1}},
		{name: "anchors", expr: "^a$", text: "a\nba\nab\na", want: []int{0, 3}},
		{name: "anchor on an exact word", expr: "foo$", text: "foo\nfoox\n", want: []int{0}},
		{name: "text anchors are line anchors", expr: `\Afoo\z`, text: "foo\nxfoo\nfoo\n", want: []int{0, 2}},
		{name: "$ before a carriage return", expr: "foo$", text: "foo\r\nfoo\nfoo\rx\n", want: []int{0, 1}},
		{name: "an empty line with a carriage return", expr: "^$", text: "a\r\n\r\nb\r\n", want: []int{1}},
		{name: "a carriage return can be searched", expr: `\r$`, text: "a\r\nb\n", want: []int{0}},
		{name: "case", expr: "Foo", text: "foo\nFoo\n", want: []int{1}},
		{name: "case ignored", expr: "Foo", o: Options{IgnoreCase: true}, text: "foo\nFOO\nfo\n", want: []int{0, 1}},
		{name: "case ignored with odd folds", expr: "task", o: Options{IgnoreCase: true}, text: "TASK\nta\u017f\u212a\ntark\n", want: []int{0, 1}},
		{name: "case ignored in a part", expr: "(?i:foo)bar", text: "FOObar\nFOOBAR\n", want: []int{0}},
		{name: "smart case without capital", expr: `foo\W`, o: Options{SmartCase: true}, text: "FOO \nfoo.\n", want: []int{0, 1}},
		{name: "smart case with capital", expr: `Foo\W`, o: Options{SmartCase: true}, text: "FOO \nFoo.\n", want: []int{1}},
		{name: "smart case and the name of a class", expr: `\p{Greek}x`, o: Options{SmartCase: true}, text: "αX\nαx\n", want: []int{0, 1}},
		{name: "literal", expr: "a.(b", o: Options{Literal: true}, text: "a.(b\nax(b\n", want: []int{0}},
		{name: "literal, case ignored", expr: "A.", o: Options{Literal: true, IgnoreCase: true}, text: "a.\nax\n", want: []int{0}},
		{name: "word", expr: "foo", o: Options{Word: true}, text: "foo\nfoobar\nfoo_\n(foo)\néfoo\nfoo-bar\n", want: []int{0, 3, 5}},
		{name: "word that starts with no letter", expr: "-f", o: Options{Word: true}, text: "-f\na -f b\na-f\n-fx\n", want: []int{0, 1}},
		{name: "word with alternatives", expr: "foo|foobar", o: Options{Word: true}, text: "foobar\nfoo\nfooba\n", want: []int{0, 1}},
		{name: "word before a carriage return", expr: "foo", o: Options{Word: true}, text: "foo\r\n", want: []int{0}},
		{name: "invalid bytes are runes", expr: "^.$", text: "\xff\n\xff\xff\n\xc3\n\xc3\xa9\n\xe2\x82\n", want: []int{0, 2, 3}},
		{name: "U+FFFD matches an invalid byte", expr: "a\uFFFDb", text: "a\xffb\na\uFFFDb\n", want: []int{0, 1}},
		{name: "U+FFFD in a class", expr: "a[x\uFFFD]b", text: "a\xffb\naxb\n", want: []int{0, 1}},
		{name: "NUL", expr: `a\x00b`, text: "a\x00b\nab\n", want: []int{0}},
		{name: "a class never takes the newline", expr: `a[^b]c`, text: "a\nc\naxc\n", want: []int{2}},
		{name: "word boundary", expr: `\bfoo\b`, text: "foo\nxfoo\nfoo.\nfoox\n", want: []int{0, 2}},
		{name: "no word boundary", expr: `\Bfoo`, text: "foo\nxfoo\n", want: []int{1}},
		{name: "optional tail", expr: "https?://x", text: "http://x\nhttps://x\nhttpss://x\n", want: []int{0, 1}},
		{name: "factored alternatives", expr: "ErrClosed|ErrNone|ErrEOF", text: "ErrNone\nErr\nErrEOF\n", want: []int{0, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := mustCompile(t, tt.expr, tt.o)
			if diff := cmp.Diff(tt.want, matching(t, p.Matcher(nil), []byte(tt.text))); diff != "" {
				t.Errorf("%q in %q (-want +got):\n%s", tt.expr, tt.text, diff)
			}
		})
	}
}

func TestCompileErrorsTeach(t *testing.T) {
	tests := []struct {
		name, expr, want string
	}{
		{"F040 open parenthesis", "foo(", `\(`},
		{"F040 open bracket", "a[0", `\[`},
		{"star first", "*.go", `\*`},
		{"look-ahead", "foo(?!bar)", "look-around"},
		{"look-behind", "(?<=a)b", "look-around"},
		{"back-reference", `(a)\1`, "back-references"},
		{"needless escape", `\-\y`, "escape only"},
		{"newline", `a\nb`, "multiline"},
		{"count", "a{1001}", "1000"},
		{"counts that multiply", "((a{100}){100}){100}", "smaller"},
		{"too complex", strings.Repeat("(abcdefgh|ijkl){20}", 200), "too complex"},
		{"too long", strings.Repeat("a", MaxPattern+1), "at most"},
		{"invalid UTF-8", "a\xff", "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Compile(tt.expr, Options{})
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
			if len(err.Error()) > 500 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestRequired(t *testing.T) {
	tests := []struct {
		expr  string
		words []string
		fold  bool
		whole bool
	}{
		{"ErrBody", []string{"ErrBody"}, false, true},
		{"ErrClosed|ErrNone", []string{"ErrClosed", "ErrNone"}, false, true},
		{"(?i)mutex", []string{"mutex"}, true, true},
		{"(?i)class", []string{"cla"}, true, false},
		{`\w+\.Unlock\(\)`, []string{".Unlock()"}, false, false},
		{"foo$", []string{"foo"}, false, false},
		{"(?i:foo)bar", []string{"foobar"}, true, false},
		{"[A-Z]{5,}[0-9]{2,}", nil, false, false},
		{"x*", nil, false, false},
		{"(abc){2}", []string{"abcabc"}, false, true},
		{"(abc)+", []string{"abc"}, false, false},
		{"a[bc]d", []string{"abd", "acd"}, false, true},
		{"foo|x*", nil, false, false},
	}
	for _, tt := range tests {
		p := mustCompile(t, tt.expr, Options{})
		got := p.words
		if diff := cmp.Diff(tt.words, got.words); diff != "" {
			t.Errorf("%q: words (-want +got):\n%s", tt.expr, diff)
		}
		if got.fold != tt.fold || p.whole != tt.whole {
			t.Errorf("%q: fold %v, whole %v, want %v, %v", tt.expr, got.fold, p.whole, tt.fold, tt.whole)
		}
	}
}

// drawExpr draws a valid pattern over the alphabet of drawText.
func drawExpr(rt *rapid.T) string {
	atom := rapid.SampledFrom([]string{
		"a", "b", "k", "s", "S", "ab", "foo", "Foo", "kss", "é", "ſ", "\u212a", "ß", "世", "_", "0", ".", `\.`, `\r`,
		"[ab]", "[^a]", "[a-f]", "[^é]", "[é-世]", `\w`, `\W`, `\d`, `\s`, `\S`, `\pL`, `\x00`, `\x{FFFD}`,
		"^", "$", `\b`, `\B`, `\A`, `(?i:a)`, `(?i:ks)`, `(?i:é)`, "(?:)",
	})
	repeat := rapid.SampledFrom([]string{"", "", "", "", "*", "+", "?", "{2}", "{1,3}", "*?", "+?"})
	var expr func(depth int) string
	expr = func(depth int) string {
		var b strings.Builder
		for i := range rapid.IntRange(1, 3).Draw(rt, "alternatives") {
			if i > 0 {
				b.WriteByte('|')
			}
			for range rapid.IntRange(1, 4).Draw(rt, "parts") {
				if depth > 0 && rapid.IntRange(0, 4).Draw(rt, "group") == 0 {
					b.WriteString("(" + expr(depth-1) + ")")
				} else {
					b.WriteString("(?:" + atom.Draw(rt, "atom") + ")")
				}
				b.WriteString(repeat.Draw(rt, "repeat"))
			}
		}
		return b.String()
	}
	return expr(2)
}

func drawText(rt *rapid.T, most int) []byte {
	piece := rapid.SampledFrom([]string{
		"a", "b", "ab", "foo", "Foo", "FOO", "k", "K", "s", "S", "kss", "KSS", "é", "É", "ſ", "\u212a", "ß", "ẞ", "世界",
		"_", "0", ".", " ", "\r", "\x00", "\xff", "\xc3", "\xe4\xb8", "\xf0\x9f", "\uFFFD", "\n", "\n", "\n", "\r\n", "zzzzzzzzzzzzzzzzzzzzzzzzzzz",
	})
	var b bytes.Buffer
	for range rapid.IntRange(0, most).Draw(rt, "pieces") {
		b.WriteString(piece.Draw(rt, "piece"))
	}
	return b.Bytes()
}

// TestAgreesWithStandardRegexp compares every way of searching with the
// standard library, line by line.
func TestAgreesWithStandardRegexp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		expr := drawExpr(rt)
		o := Options{IgnoreCase: rapid.Bool().Draw(rt, "ignore case")}
		text := drawText(rt, 60)
		checkAgainstStandard(rt, expr, o, text)
	})
}

type failer interface {
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func checkAgainstStandard(t failer, expr string, o Options, text []byte) {
	flags := "(?m)"
	if o.IgnoreCase {
		flags = "(?mi)"
	}
	re, err := regexp.Compile(flags + "(?:" + expr + ")")
	if err != nil {
		t.Fatalf("drew the pattern %q: %v", expr, err)
	}
	p, err := Compile(expr, o)
	if err != nil {
		t.Fatalf("Compile(%q): %v", expr, err)
	}
	if bytes.ContainsRune(text, '\r') {
		// Here "$" means more than there.
		re = regexp.MustCompile(p.re.String())
	}
	want := wanted(re, text)
	number := func(at int) int { return bytes.Count(text[:at], []byte("\n")) }
	numbers := func(hits []int) []int {
		out := []int{}
		for _, h := range hits {
			out = append(out, number(h))
		}
		return out
	}
	var ways [4][]int
	// The text twice, since a matcher keeps what it learned.
	m := p.Matcher(nil)
	for range 2 {
		ways[0] = []int{}
		m.Reset(text)
		for line, ok := m.Next(); ok; line, ok = m.Next() {
			ways[0] = append(ways[0], number(line.Start))
		}
	}
	plain := &Matcher{pattern: p}
	if len(p.words.words) > 0 {
		plain.finder = newPlainFinder(p.words)
	}
	ways[1] = []int{}
	plain.Reset(text)
	for line, ok := plain.Next(); ok; line, ok = plain.Next() {
		ways[1] = append(ways[1], number(line.Start))
	}
	ways[2] = numbers(newAutomaton(p, nil).scan(text, nil))
	ways[3] = numbers(newAutomaton(p, nil).divided(text, nil))
	for i, got := range ways {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (%+v) in %q, way %d (-standard +here):\n%s", expr, o, text, i, diff)
		}
	}
	for i, line := range lines(text) {
		cut := len(line) / 2
		for cut > 0 && cut < len(line) && line[cut]&0xc0 == 0x80 {
			cut--
		}
		long := m.LongLine()
		if long.Feed(line[:cut]) < 0 {
			long.Feed(line[cut:])
		}
		got := long.End()
		if in := contains(want, i); got != in && !splitsRune(line, cut) {
			t.Errorf("%q (%+v) on the line %q in pieces: %v, standard says %v", expr, o, line, got, in)
		}
	}
}

func contains(list []int, n int) bool {
	for _, m := range list {
		if m == n {
			return true
		}
	}
	return false
}

// splitsRune reports whether a cut changes how the line decodes.
func splitsRune(line []byte, cut int) bool {
	return len([]rune(string(line))) != len([]rune(string(line[:cut])))+len([]rune(string(line[cut:])))
}

// A pattern whose automaton is far larger than its memory.
func TestBoundedMemory(t *testing.T) {
	p := mustCompile(t, "[ab]*a[ab]{18}c", Options{})
	text := make([]byte, 0, 1<<20)
	state := uint32(1)
	for len(text) < cap(text)-200 {
		for range 150 {
			state = state*1664525 + 1013904223
			text = append(text, "ab"[state>>31])
		}
		if state>>8&63 == 0 {
			text = append(text, 'c')
		}
		text = append(text, '\n')
	}
	a := newAutomaton(p, nil)
	hits := a.divided(text, nil)
	if a.bytes > maxMemory+1<<16 {
		t.Errorf("the automaton holds %d bytes, limit %d", a.bytes, maxMemory)
	}
	got := []int{}
	for _, h := range hits {
		got = append(got, bytes.Count(text[:h], []byte("\n")))
	}
	if diff := cmp.Diff(wanted(regexp.MustCompile("[ab]*a[ab]{18}c"), text), got); diff != "" {
		t.Errorf("(-standard +here):\n%s", diff)
	}
}

func TestStop(t *testing.T) {
	var stop atomic.Bool
	stop.Store(true)
	text := bytes.Repeat([]byte("é世界 abc\n"), 1<<16)
	for _, expr := range []string{"[xy]+[0-9]", "abc.*q"} {
		m := mustCompile(t, expr, Options{}).Matcher(&stop)
		if got := matching(t, m, text); len(got) != 0 {
			t.Errorf("%q found %d lines", expr, len(got))
		}
	}
	p := mustCompile(t, "a[^q]*b", Options{Multiline: true})
	p.Matcher(&stop).Spans(text, func(int, int) bool {
		t.Error("a stopped matcher found a span")
		return false
	})
}

func TestSpans(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		expr := drawExpr(rt)
		text := drawText(rt, 40)
		p, err := Compile(expr, Options{Multiline: true})
		if err != nil {
			rt.Fatalf("Compile(%q): %v", expr, err)
		}
		re := regexp.MustCompile(p.re.String())
		want := [][]int{}
		for _, loc := range re.FindAllIndex(text, -1) {
			// An empty match at the very end is on no line.
			if loc[0] < len(text) || len(text) == 0 {
				want = append(want, loc)
			}
		}
		got := [][]int{}
		p.Matcher(nil).Spans(text, func(start, end int) bool {
			if start < len(text) || len(text) == 0 {
				got = append(got, []int{start, end})
			}
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Errorf("%q in %q (-standard +here):\n%s", expr, text, diff)
		}
	})
}

func TestSpansOfWholeWords(t *testing.T) {
	p := mustCompile(t, "foo", Options{Multiline: true, Word: true})
	var got [][]int
	p.Matcher(nil).Spans([]byte("x\nfoo\nfoo foo\nfoox"), func(s, e int) bool {
		got = append(got, []int{s, e})
		return true
	})
	if diff := cmp.Diff([][]int{{2, 5}, {6, 9}, {10, 13}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("foo.*bar", "xfoo bar\nfoo\n", false)
	f.Add(`(?i)\bks$`, "\u212a\u017f\r\n", true)
	f.Add("^[^a]{2}$", "\xff\xfe\n\xe4\xb8\xad\n", false)
	f.Add(`a|b*|[^\x00-\x{10FFFF}]`, "b\n\n", true)
	f.Fuzz(func(t *testing.T, expr, text string, ignoreCase bool) {
		if len(expr) > 60 || len(text) > 2000 || strings.Contains(expr, `\z`) {
			return
		}
		// The standard package is the judge of what is valid. One that needs
		// a newline is refused here.
		if _, err := regexp.Compile("(?:" + expr + ")"); err != nil {
			return
		}
		if _, err := Compile(expr, Options{}); err != nil {
			return
		}
		// A pattern may change its own flags; the standard one must start
		// from the same.
		if strings.Contains(expr, "(?") {
			return
		}
		checkAgainstStandard(t, expr, Options{IgnoreCase: ignoreCase}, []byte(text))
	})
}
