package output

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isInvisible reports whether r takes no room on a screen or changes the
// direction of what stands around it. The characters are those of the
// general category Cf that no script shows, and the fillers and selectors
// that are known to carry hidden text.
func isInvisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x034f, r == 0x061c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e:
		return true
	case r >= 0x200b && r <= 0x200f:
		return !isJoiner(r)
	case r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r == 0x3164, r == 0xfeff, r == 0xffa0, r >= 0xfff9 && r <= 0xfffb:
		return true
	case r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// isJoiner reports whether r is one of the two zero-width joiners, which
// spelling needs in Persian, in the scripts of India, and in emoji.
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

// isJoinable reports whether a joiner beside r can have a meaning, as it has
// none beside ASCII.
func isJoinable(r rune) bool {
	return r >= 0xa0 && r != utf8.RuneError && !isJoiner(r) && !isInvisible(r) && !unicode.IsSpace(r)
}

// isSelector reports whether r chooses the form of the character before it.
func isSelector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f }

// isSelectable reports whether r has forms to choose from. A row of
// selectors chooses nothing and can carry bytes.
func isSelectable(r rune) bool {
	return r > 0x20 && r != utf8.RuneError && !isSelector(r) && !isJoiner(r) && !isInvisible(r)
}

// escapeAt says what the ESC at s[i:] begins: a sequence and its length, or
// nothing but itself. The forms are those of ECMA-48.
func escapeAt(s string, i int) (class, int) {
	if i+1 == len(s) {
		return control, 1
	}
	switch c := s[i+1]; {
	case c == '[':
		return sequence, 2 + csiLength(s[i+2:])
	case strings.IndexByte("]PX^_", c) >= 0:
		if n := stringLength(s, i+2, rune(c)+0x40); n > 0 {
			return sequence, 2 + n
		}
		return sequence, 2
	case c >= 0x20 && c < 0x30:
		end := i + 2
		for end < len(s) && s[end] >= 0x20 && s[end] < 0x30 {
			end++
		}
		if end < len(s) && s[end] >= 0x30 && s[end] < 0x7f {
			return sequence, end + 1 - i
		}
		return control, 1
	case c >= 0x30 && c < 0x7f:
		return sequence, 2
	}
	return control, 1
}

// csiLength returns the length of the parameters, the intermediate and the
// final byte of a CSI. One without a final byte ends where it stops fitting.
func csiLength(s string) int {
	n := 0
	for n < len(s) && s[n] >= 0x30 && s[n] < 0x40 {
		n++
	}
	for n < len(s) && s[n] >= 0x20 && s[n] < 0x30 {
		n++
	}
	if n < len(s) && s[n] >= 0x40 && s[n] < 0x7f {
		n++
	}
	return n
}

// stringLength returns how long the rest of a control sequence is that the
// C1 character intro has begun before s[i:], or 0 where it begins none that
// is whole. A control character other than the terminator aborts a control
// string, in a terminal too; so no place is looked at twice.
func stringLength(s string, i int, intro rune) int {
	switch intro {
	case 0x9b:
		return csiLength(s[i:])
	case 0x9d, 0x90, 0x98, 0x9e, 0x9f: // OSC, DCS, SOS, PM, APC
	default:
		return 0
	}
	for n := i; n < len(s); n++ {
		switch b := s[n]; {
		case b == '\a' && intro == 0x9d:
			return n + 1 - i
		case b == 0x1b && n+1 < len(s) && s[n+1] == '\\', b == 0xc2 && n+1 < len(s) && s[n+1] == 0x9c:
			return n + 2 - i
		case b < 0x20 && b != '\t', b == 0xc2 && n+1 < len(s) && s[n+1] < 0xa0:
			return 0
		}
	}
	return 0
}
