// Package plain makes foreign text safe to look at: nothing in what it
// returns steers a terminal, hides, reorders or draws lines of its own.
package plain

import (
	"fmt"
	"strings"
	"unicode"
)

// Text returns s with everything written out that steers where it is shown
// or cannot be seen: control characters but for line ends and tabs,
// characters that format or reorder, separators of lines, and bytes that are
// no UTF-8.
func Text(s string) string {
	steers := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	if strings.IndexFunc(s, steers) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if steers(r) {
			fmt.Fprintf(&b, "\\u{%x}", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Line is [Text] on one line.
func Line(s string) string { return Text(OneLine(s)) }

// OneLine returns s with line ends shown as "⏎" and tabs as spaces.
func OneLine(s string) string {
	return strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\r", "⏎", "\t", " ").Replace(s)
}
