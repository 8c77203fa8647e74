package output

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Removed counts what [Clean] took out of a text, or what [Escape] made
// visible.
type Removed struct {
	// Sequences are terminal control sequences: CSI, OSC, DCS and the like.
	Sequences int
	// Controls are single control characters: C0 except newline and tab,
	// DEL, C1, and a carriage return that ends no line.
	Controls int
	// Invisible are zero-width, bidirectional, tag and other characters that
	// take no room on a screen.
	Invisible int
	// Invalid are bytes that are not UTF-8.
	Invalid int
}

// Any reports whether anything was counted.
func (r Removed) Any() bool { return r != Removed{} }

// note says what was counted and what was done about it, or "".
func (r Removed) note(did string) string {
	if !r.Any() {
		return ""
	}
	var parts []string
	for _, p := range [...]struct {
		n    int
		what string
	}{
		{r.Sequences, "terminal control sequence"},
		{r.Controls, "control character"},
		{r.Invisible, "invisible character"},
	} {
		if p.n > 0 {
			parts = append(parts, count(p.n, p.what))
		}
	}
	if len(parts) > 0 {
		parts[len(parts)-1] += " " + did
	}
	if r.Invalid > 0 {
		parts = append(parts, count(r.Invalid, "byte")+" that "+isAre(r.Invalid)+" not UTF-8 replaced")
	}
	return "In this text: " + strings.Join(parts, ", ") + "."
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// returnSymbol stands in for a carriage return that ends no line. A
// terminal would let the text after it cover the text before it; dropping
// either could hide something, and a newline would renumber the lines.
const returnSymbol = "␍"

// Clean removes from s what a terminal would obey and what a reader cannot
// see, and counts it. Bytes that are not UTF-8 become U+FFFD. The lines stay
// as they are, "\r\n" included. Where there is nothing to clean, s itself is
// returned.
//
// A control string such as an OSC ends on its own line: one that does not is
// no sequence, so its text stays visible instead of swallowing what follows.
func Clean(s string) (string, Removed) { return rewrite(s, false) }

// Escape makes visible, as \u{202e}, every character that [Clean] would
// remove or replace, and shows a byte that is not UTF-8 as \x{ff}. Nothing
// is dropped.
func Escape(s string) (string, Removed) { return rewrite(s, true) }

func rewrite(s string, escape bool) (string, Removed) {
	var removed Removed
	in := scanner{s: s, single: escape}
	i := in.skipPlain(0)
	if i == len(s) {
		return s, removed
	}
	var sb strings.Builder
	sb.Grow(len(s))
	for i < len(s) {
		c, size := in.inspect(i)
		if c == plain {
			i = in.skipPlain(i + size)
			continue
		}
		sb.WriteString(s[in.from:i])
		removed.add(c)
		switch {
		case escape && c == invalid:
			fmt.Fprintf(&sb, `\x{%02x}`, s[i])
		case escape:
			r, _ := utf8.DecodeRuneInString(s[i:])
			fmt.Fprintf(&sb, `\u{%x}`, r)
		case c == invalid:
			sb.WriteRune(utf8.RuneError)
		case s[i] == '\r':
			sb.WriteString(returnSymbol)
		}
		i += size
		in.from = i
		in.prev, _ = utf8.DecodeLastRuneInString(sb.String())
		i = in.skipPlain(i)
	}
	sb.WriteString(s[in.from:])
	return sb.String(), removed
}

func (r *Removed) add(c class) {
	switch c {
	case sequence:
		r.Sequences++
	case control:
		r.Controls++
	case invisible:
		r.Invisible++
	case invalid:
		r.Invalid++
	}
}

// class says what a place in a text holds.
type class uint8

const (
	plain class = iota
	sequence
	control
	invisible
	invalid
)

// scanner looks through a text. Whether a joiner or a selector has a
// meaning depends on what stands before it once all else is removed.
type scanner struct {
	s string
	// single looks at the characters of a sequence one by one.
	single bool
	// from is where the row of plain characters began that is being passed;
	// prev is the rune that stands before it in the text that is made.
	from int
	prev rune
}

// before returns the rune that stands before s[i:] in the text that is made.
func (in *scanner) before(i int) rune {
	if i == in.from {
		return in.prev
	}
	r, _ := utf8.DecodeLastRuneInString(in.s[in.from:i])
	return r
}

// inspect says what stands at s[i:] and how long it is.
func (in *scanner) inspect(i int) (class, int) {
	s := in.s
	b := s[i]
	switch {
	case b == '\r':
		if i+1 < len(s) && s[i+1] == '\n' {
			return plain, 1
		}
		return control, 1
	case b == 0x1b && !in.single:
		return escapeAt(s, i)
	case b == '\n' || b == '\t' || b >= 0x20 && b < 0x7f:
		return plain, 1
	case b < utf8.RuneSelf:
		return control, 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == utf8.RuneError && size == 1:
		return invalid, 1
	case r < 0xa0:
		if n := stringLength(s, i+size, r); n > 0 && !in.single {
			return sequence, size + n
		}
		return control, size
	case isInvisible(r):
		return invisible, size
	case isJoiner(r):
		after, _ := utf8.DecodeRuneInString(s[i+size:])
		if !isJoinable(in.before(i)) || !isJoinable(after) || isSelector(after) {
			return invisible, size
		}
	case isSelector(r):
		if !isSelectable(in.before(i)) {
			return invisible, size
		}
	}
	return plain, size
}

// skipPlain returns the first place from i on that is not plain. Text is
// mostly ASCII, so that is passed eight bytes at a time.
func (in *scanner) skipPlain(i int) int {
	const high, low = 0x8080808080808080, 0x0101010101010101
	s := in.s
	for i < len(s) {
		for i+8 <= len(s) {
			w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
				uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
			// The high bit of a byte is set in the first where it is not
			// ASCII, in the second where it is under 0x20, in the third
			// where it is DEL; a borrow can only set one more.
			if (w|(w-low*0x20)|((w^low*0x7f)-low))&high != 0 {
				break
			}
			i += 8
		}
		for end := min(i+8, len(s)); i < end; {
			c, size := in.inspect(i)
			if c != plain {
				return i
			}
			i += size
		}
	}
	return i
}
