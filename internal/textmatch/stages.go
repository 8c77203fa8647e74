package textmatch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/textfile"
)

// window tries the quoted lines against every run of as many lines, with
// skip lines of the quotation left out at its start.
func (s *search) window(stage Stage, quoted []string, skip int, withEnd bool, same func(found, quoted string) bool) []Match {
	var found []Match
	key := max(s.key-skip, 0)
	for from := 0; from+len(quoted) <= s.lines() && len(found) < s.limit; from++ {
		if !same(s.line(from+key), quoted[key]) || !s.equal(from, quoted, same) {
			continue
		}
		m := Match{Stage: stage, Similarity: 1, pairs: make([]pair, len(quoted)), withEnd: withEnd}
		m.Start, m.End = s.span(from, from+len(quoted), withEnd)
		for i := range quoted {
			m.pairs[i] = pair{quoted: i + skip, found: i}
		}
		found = append(found, m)
	}
	return found
}

func (s *search) equal(from int, quoted []string, same func(found, quoted string) bool) bool {
	for i, q := range quoted {
		if !same(s.line(from+i), q) {
			return false
		}
	}
	return true
}

func (s *search) lineTrimmed() []Match {
	return s.window(LineTrimmed, s.quoted, 0, s.withEnd, func(found, quoted string) bool {
		return strings.TrimSpace(found) == strings.TrimSpace(quoted)
	})
}

func (s *search) whitespaceNormalized() []Match {
	return s.window(WhitespaceNormalized, s.quoted, 0, s.withEnd, sameWords)
}

// sameWords reports whether two lines are equal when every run of blanks
// counts as one and those at either end as none.
func sameWords(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		switch blankA, blankB := unicode.IsSpace(ra), unicode.IsSpace(rb); {
		case blankA != blankB:
			return false
		case blankA:
			a, b = strings.TrimLeftFunc(a, unicode.IsSpace), strings.TrimLeftFunc(b, unicode.IsSpace)
		case ra != rb || na != nb:
			return false
		default:
			a, b = a[na:], b[nb:]
		}
	}
	return a == "" && b == ""
}

func (s *search) indentationFlexible() []Match {
	first, last := 0, len(s.quoted)
	for first < last && strings.TrimSpace(s.quoted[first]) == "" {
		first++
	}
	for last > first && strings.TrimSpace(s.quoted[last-1]) == "" {
		last--
	}
	withEnd := s.withEnd && last == len(s.quoted)
	quoted := dedent(s.quoted[first:last])
	var found []Match
	for _, m := range s.window(IndentationFlexible, s.quoted[first:last], first, withEnd, sameTail) {
		from := s.at(m.Start)
		block := make([]string, len(quoted))
		for i := range block {
			block[i] = s.line(from + i)
		}
		if equalLines(dedent(block), quoted) {
			found = append(found, m)
		}
	}
	return found
}

// sameTail reports whether two lines are equal but for their indentation.
func sameTail(a, b string) bool { return strings.TrimLeft(a, " \t") == strings.TrimLeft(b, " \t") }

func equalLines(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// dedent takes the indentation that all lines share from each of them.
// Blank lines become empty.
func dedent(lines []string) []string {
	shared, any := "", false
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		indent := indentOf(l)
		if !any {
			shared, any = indent, true
		}
		for !strings.HasPrefix(indent, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if strings.TrimSpace(l) != "" {
			out[i] = l[len(shared):]
		}
	}
	return out
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

func (s *search) escapeNormalized() []Match {
	plain := Unescape(s.quote)
	if plain == s.quote || plain == "" {
		return nil
	}
	return findExact(s.text, plain, EscapeNormalized, s.limit, min(s.step, len(plain)))
}

// Unescape reads \n, \t, \r, \\, \' and \" as what they stand for, and so
// the escapes under which a read shows characters that nobody could see.
// Other escapes stay.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	s, _ = textfile.Unshow(s)
	return unescapes.Replace(s)
}

var unescapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\\`, `\`, `\'`, `'`, `\"`, `"`)

func (s *search) typographic() []Match {
	text, back := foldTypography(s.text)
	quote, _ := foldTypography(s.quote)
	if text == s.text && quote == s.quote {
		return nil
	}
	found := findExact(text, quote, Typographic, s.limit, min(s.step, len(quote)))
	for i := range found {
		found[i].Start, found[i].End = back.original(found[i].Start), back.original(found[i].End)
	}
	if len(found) > 0 {
		return found
	}
	quoted, _ := splitLines(quote)
	return s.window(Typographic, quoted, 0, s.withEnd, func(a, b string) bool {
		folded, _ := foldTypography(a)
		return sameWords(folded, b)
	})
}

// A foldMap leads from a folded text back to the original: every character
// that was folded took more bytes before.
type foldMap struct{ folded, saved []int }

// original returns the offset in the original of an offset in the folded
// text, which must lie between two characters.
func (f foldMap) original(offset int) int {
	lo, hi := 0, len(f.folded)
	for lo < hi {
		if mid := (lo + hi) / 2; f.folded[mid] < offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return offset
	}
	return offset + f.saved[lo-1]
}

// foldTypography replaces typographic characters by one ASCII character
// each.
func foldTypography(s string) (string, foldMap) {
	var m foldMap
	if ascii(s) {
		return s, m
	}
	var b strings.Builder
	b.Grow(len(s))
	saved, done := 0, 0
	for i, r := range s {
		c := asciiCousin(r)
		if c == 0 {
			continue
		}
		b.WriteString(s[done:i])
		m.folded = append(m.folded, b.Len())
		b.WriteByte(c)
		done = i + utf8.RuneLen(r)
		saved += utf8.RuneLen(r) - 1
		m.saved = append(m.saved, saved)
	}
	if done == 0 {
		return s, m
	}
	b.WriteString(s[done:])
	return b.String(), m
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// asciiCousin returns the ASCII character that is typed for r, or 0. The
// table is the one of Codex' patch tool.
func asciiCousin(r rune) byte {
	switch {
	case r < 0xa0:
		return 0
	case 0x2010 <= r && r <= 0x2015, r == 0x2212:
		return '-'
	case 0x2018 <= r && r <= 0x201b:
		return '\''
	case 0x201c <= r && r <= 0x201f:
		return '"'
	case r == 0xa0, 0x2002 <= r && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
		return ' '
	default:
		return 0
	}
}
