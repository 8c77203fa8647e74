// Package foldname brings names of files to the form in which they are
// compared by what refuses: file systems that take ".GIT" for ".git", or one
// way to write an accent for the other, must not open what is closed under its
// usual name. Where the file system tells them apart that closes too much,
// which is the safe mistake.
package foldname

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Elem folds one element of a path: as [Text] does, without the trailing dots
// and blanks that Windows ignores, and with the usual name for the short one
// that Windows makes of .git and .handrail.
func Elem(s string) string {
	s = Text(s)
	if n := len(s); n > 0 && (s[n-1] == '.' || s[n-1] == ' ') {
		if cut := strings.TrimRight(s, ". "); cut != "" {
			s = cut
		}
	}
	switch s {
	case "git~1":
		return ".git"
	case "handra~1":
		return ".handrail"
	}
	return s
}

// Text folds a path or a pattern: one case, accents composed, and without the
// characters that HFS+ ignores. Lower-case ASCII is returned as it is.
func Text(s string) string {
	plain, ascii := true, true
	for i := 0; i < len(s); i++ {
		c := s[i]
		plain = plain && !('A' <= c && c <= 'Z')
		ascii = ascii && c < 0x80
	}
	switch {
	case plain && ascii:
		return s
	case ascii:
		return strings.ToLower(s)
	}
	// Composing makes letters that have a case themselves.
	return strings.Map(foldRune, norm.NFC.String(strings.Map(foldRune, s)))
}

// foldRune maps a rune to the smallest of those that differ from it only by
// case, in lower case where that is ASCII.
func foldRune(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}
