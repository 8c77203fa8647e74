package plain

import "testing"

func TestNothingSteers(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, ünïcode":   "plain text, ünïcode",
		"\x1b[2J\x1b]0;title\a": `\u{1b}[2J\u{1b}]0;title\u{7}`,
		"a\u202eb\u2066c":       `a\u{202e}b\u{2066}c`,
		"zero\u200bwidth":       `zero\u{200b}width`,
		"a\nb\r\nc\td":          "a⏎b⏎c d",
		"next\u0085 \u2028":     `next\u{85} \u{2028}`,
		"bad \xff byte":         "bad \ufffd byte",
		"rubout\x7f\x00":        `rubout\u{7f}\u{0}`,
	} {
		if got := Line(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := Text("a\n\tb\x1b"); got != "a\n\tb\\u{1b}" {
		t.Errorf("%q", got)
	}
}
