package textfile

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Show makes visible what a reader of a line could not see or a terminal
// would obey: control characters, zero-width and direction marks as
// \u{202e}, bytes that belong to no character as \x{ff}. It returns how many
// there were. A line without any is returned as it is. Tabs stay. Nothing is
// dropped, and [Unshow] is the way back.
func Show(line string) (string, int) {
	at := firstHidden(line)
	if at < 0 {
		return line, 0
	}
	var b strings.Builder
	n := 0
	b.WriteString(line[:at])
	for i := at; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x{%02x}`, line[i])
			n++
		case hidden(r) && !joins(r, line, i, size):
			fmt.Fprintf(&b, `\u{%x}`, r)
			n++
		default:
			b.WriteString(line[i : i+size])
		}
		i += size
	}
	return b.String(), n
}

// firstHidden returns where Show has work to do, or -1.
func firstHidden(line string) int {
	for i := 0; i < len(line); i++ {
		if c := line[i]; c < 0x20 && c != '\t' || c == 0x7f {
			return i
		}
		if line[i] < utf8.RuneSelf {
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if r == utf8.RuneError && size == 1 || hidden(r) && !joins(r, line, i, size) {
			return i
		}
		i += size - 1
	}
	return -1
}

// hidden reports whether a character has no picture of its own.
func hidden(r rune) bool {
	switch {
	case r < 0x80:
		return r < 0x20 && r != '\t' || r == 0x7f
	case r < 0xa0, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2028, r == 0x2029:
		return true // C1 controls, blank Hangul letters, line and paragraph separators
	case 0x0600 <= r && r <= 0x0605, r == 0x06dd, r == 0x070f, r == 0x08e2, r == 0x110bd, r == 0x110cd:
		return false // format characters that are seen: Arabic and Kaithi number signs
	case 0xe0100 <= r && r <= 0xe01ef:
		return true // variation selectors that carry hidden text
	}
	return unicode.Is(unicode.Cf, r)
}

// joins reports whether a joiner does its work between two characters of a
// script or of an emoji; anywhere else it only hides.
func joins(r rune, line string, at, size int) bool {
	if r != 0x200c && r != 0x200d {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(line[:at])
	after, _ := utf8.DecodeRuneInString(line[at+size:])
	return before >= 0x300 && before != utf8.RuneError && after >= 0x300 && after != utf8.RuneError &&
		!hidden(before) && !hidden(after)
}

// Unshow undoes Show, and reports whether there was anything to undo. It
// also reads \x1b and \u202e, which models write for the same.
func Unshow(s string) (string, bool) {
	var b strings.Builder
	done := 0
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		out, size := unshowAt(s[i:])
		if size == 0 {
			i++ // an escaped backslash hides what follows it
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(out)
		done = i + size
		i = done - 1
	}
	if done == 0 {
		return s, false
	}
	b.WriteString(s[done:])
	return b.String(), true
}

// unshowAt reads one escape at the start of s and returns its length, 0 if
// there is none that Show could have written.
func unshowAt(s string) (string, int) {
	kind := s[1]
	if kind != 'x' && kind != 'u' {
		return "", 0
	}
	digits, size := "", 0
	if rest := s[2:]; strings.HasPrefix(rest, "{") {
		end := strings.IndexByte(rest, '}')
		if end < 2 || end > 7 {
			return "", 0
		}
		digits, size = rest[1:end], end+3
	} else {
		n := map[byte]int{'x': 2, 'u': 4}[kind]
		if len(rest) < n {
			return "", 0
		}
		digits, size = rest[:n], n+2
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	switch {
	case err != nil || v > unicode.MaxRune:
		return "", 0
	case kind == 'x' && v >= utf8.RuneSelf && v <= 0xff && s[2] == '{':
		return string([]byte{byte(v)}), size
	case !hidden(rune(v)):
		return "", 0
	}
	return string(rune(v)), size
}
