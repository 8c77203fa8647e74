package output

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		removed        Removed
	}{
		{"nothing", "plain text\twith a tab\n", "plain text\twith a tab\n", Removed{}},
		{"other scripts", "日本語 Ελληνικά हिन्दी עברית\n", "日本語 Ελληνικά हिन्दी עברית\n", Removed{}},
		{"colour", "\x1b[31mred\x1b[0m", "red", Removed{Sequences: 2}},
		{"colour with colons", "\x1b[38:2::1:2:3mx", "x", Removed{Sequences: 1}},
		{"cursor and erase", "a\x1b[2J\x1b[1;1Hb\x1b[?25l", "ab", Removed{Sequences: 3}},
		{"CSI without an end", "\x1b[31", "", Removed{Sequences: 1}},
		{"CSI broken by a newline", "\x1b[31\nx", "\nx", Removed{Sequences: 1}},
		{"C1 CSI", "\u009b31mred", "red", Removed{Sequences: 1}},
		{"OSC ended by BEL", "\x1b]0;title\aok", "ok", Removed{Sequences: 1}},
		{"OSC ended by ST", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", Removed{Sequences: 2}},
		{"C1 OSC and ST", "\u009d0;t\u009cok", "ok", Removed{Sequences: 1}},
		{"OSC without an end hides nothing", "\x1b]0;rm -rf\nnext", "0;rm -rf\nnext", Removed{Sequences: 1}},
		{"OSC broken by another sequence", "\x1b]0;a\x1b[31mb\a", "0;ab", Removed{Sequences: 2, Controls: 1}},
		{"DCS", "\x1bPq#0;2\x1b\\ok", "ok", Removed{Sequences: 1}},
		{"DCS is not ended by BEL", "\x1bPq\aok", "qok", Removed{Sequences: 1, Controls: 1}},
		{"APC, PM, SOS", "\x1b_a\x1b\\\x1b^b\x1b\\\x1bXc\x1b\\ok", "ok", Removed{Sequences: 3}},
		{"charset and reset", "\x1b(B\x1bcok\x1b=", "ok", Removed{Sequences: 3}},
		{"lone ESC", "a\x1b\nb\x1b", "a\nb", Removed{Controls: 2}},
		{"C0 and DEL", "a\x00b\bc\vd\fe\x7f", "abcde", Removed{Controls: 5}},
		{"C1", "a\u0085b\u0080c", "abc", Removed{Controls: 2}},
		{"CRLF stays", "a\r\nb\r\n", "a\r\nb\r\n", Removed{}},
		{"a lone CR hides nothing", "evil\r# fine\r\n", "evil␍# fine\r\n", Removed{Controls: 1}},
		{"zero-width", "a\u200bb\u2060c\ufeffd\u00ade", "abcde", Removed{Invisible: 4}},
		{"bidi", "a\u202eb\u2066c\u200ed\u061ce", "abcde", Removed{Invisible: 4}},
		{"tags", "ok\U000e0041\U000e0042", "ok", Removed{Invisible: 2}},
		{"joiners where they have a meaning", "\u0645\u06cc\u200c\u062e\u0648 \U0001f468\u200d\U0001f469\u200d\U0001f467 \u0915\u094d\u200d\u0937", "\u0645\u06cc\u200c\u062e\u0648 \U0001f468\u200d\U0001f469\u200d\U0001f467 \u0915\u094d\u200d\u0937", Removed{}},
		{"joiners where they have none", "a\u200db\u200c \u200d", "ab ", Removed{Invisible: 3}},
		{"a row of joiners", "अ\u200d\u200d\u200dक", "अ\u200dक", Removed{Invisible: 2}},
		{"a selector after an emoji", "❤️", "❤️", Removed{}},
		{"a row of selectors", "❤\ufe0f\ufe00\ufe01", "❤\ufe0f", Removed{Invisible: 2}},
		{"supplementary selectors", "a\U000e0100\U000e01ef", "a", Removed{Invisible: 2}},
		{"not UTF-8", "a\xffb\xc3", "a\ufffdb\ufffd", Removed{Invalid: 2}},
		{"U+FFFD itself is text", "a\ufffdb", "a\ufffdb", Removed{}},
		{"raw C1 bytes are not UTF-8", "a\x9b31mb", "a\ufffd31mb", Removed{Invalid: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, removed := Clean(c.in)
			if got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
			if diff := cmp.Diff(c.removed, removed); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "plain\ttext\r\n", "plain\ttext\r\n"},
		{"sequence", "\x1b[31mred", `\u{1b}[31mred`},
		{"bidi", "a\u202eb", `a\u{202e}b`},
		{"tag", "a\U000e0041", `a\u{e0041}`},
		{"zero-width", "a\u200bb", `a\u{200b}b`},
		{"lone CR", "a\rb\r\n", `a\u{d}b` + "\r\n"},
		{"C1", "\u009b31m", `\u{9b}31m`},
		{"not UTF-8", "a\xff", `a\x{ff}`},
		{"a meaningful joiner", "👨‍👩‍👧", "👨‍👩‍👧"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, removed := Escape(c.in)
			if got != c.want {
				t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
			}
			if removed.Any() != (got != c.in) {
				t.Errorf("the count is %+v", removed)
			}
		})
	}
}

func TestF193_NothingThatATerminalObeysReachesTheModel(t *testing.T) {
	t.Run("a command's output", func(t *testing.T) {
		p := Prepare("\x1b]52;c;eA==\a\x1b[2Jok\u202e\n", false, &Redactor{})
		if p.Text != "ok\n" || p.Note != "In this text: 2 terminal control sequences, 1 invisible character removed." {
			t.Errorf("%q, %q", p.Text, p.Note)
		}
	})
	t.Run("an MCP text with tag characters", func(t *testing.T) {
		p := Prepare("weather: fine\U000e0049\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065", false, &Redactor{})
		if p.Text != "weather: fine" || p.Removed.Invisible != 6 {
			t.Errorf("%q, %+v", p.Text, p.Removed)
		}
	})
	t.Run("a file that will be edited shows them escaped", func(t *testing.T) {
		p := Prepare("if access\u202e {\n", true, &Redactor{})
		if p.Text != `if access\u{202e} {`+"\n" || p.Note != "In this text: 1 invisible character shown escaped." {
			t.Errorf("%q, %q", p.Text, p.Note)
		}
	})
}

func TestNoteSaysWhatWasNotUTF8(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"fine", ""},
		{"\xff", "In this text: 1 byte that is not UTF-8 replaced."},
		{"\xff\xfe\a", "In this text: 1 control character removed, 2 bytes that are not UTF-8 replaced."},
	} {
		if got := Prepare(c.in, false, &Redactor{}).Note; got != c.want {
			t.Errorf("Note of %q = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCleanReturnsACleanTextItself(t *testing.T) {
	text := strings.Repeat("2026-11-30T12:00:00Z level=info msg=\"größer als 日本語\" path=/a/b\r\n", 1000)
	if n := testing.AllocsPerRun(10, func() { Clean(text); Escape(text) }); n != 0 {
		t.Errorf("%v allocations for a text without anything to clean", n)
	}
}

// FuzzClean checks that cleaning keeps the lines, removes all that it should,
// and is done after one pass; and that escaping drops nothing else.
func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"plain", "\x1b[31mred\x1b[0m\r\n", "\x1b]0;t\a\x1b]8;;u\x1b\\", "\u009b1m\u009d0;t\u009c", "\x1bP\n\x1b\\", "a\rb",
		"\u200d\u200d", "👨‍👩‍👧\ufe0f\ufe0f", "a\xff\xe2\x80", "\U000e0041", "é\u200d\u200bé", "\x1b\x1b[m", "\x1b(\n", "12345678\x7f\x1f",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, fn := range map[string]func(string) (string, Removed){"Clean": Clean, "Escape": Escape} {
			got, removed := fn(s)
			if strings.Count(got, "\n") != strings.Count(s, "\n") {
				t.Errorf("%s(%q) = %q has other lines", name, s, got)
			}
			if again, more := fn(got); again != got || more.Any() {
				t.Errorf("%s(%q) = %q is not clean: %q", name, s, got, again)
			}
			if removed.Any() == (got == s) {
				t.Errorf("%s(%q) = %q counts %+v", name, s, got, removed)
			}
			for _, r := range strings.ReplaceAll(got, "\r\n", "\n") {
				if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || isInvisible(r) {
					t.Errorf("%s(%q) = %q still holds %U", name, s, got, r)
				}
			}
		}
	})
}
