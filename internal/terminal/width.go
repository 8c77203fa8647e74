package terminal

import (
	"unicode"

	"golang.org/x/text/width"
)

const (
	zeroWidthJoiner = 0x200d
	keycap          = 0x20e3
)

// columns returns how many columns of a screen a character takes: 0 for what
// joins the one before, 1, or 2.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == zeroWidthJoiner, r == keycap, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef,
		r >= 0x1f3fb && r <= 0x1f3ff, unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
