package exec

import (
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
)

func TestAssemble(t *testing.T) {
	for _, c := range []struct {
		name, pending, data string
		terminal            bool
		text, unclear, rest string
	}{
		{"a whole line", "", "ls\n", false, "ls\n", "", ""},
		{"a piece", "", "r", false, "r", "", "r"},
		{"the piece behind it", "r", "m x", false, "rm x", "", "rm x"},
		{"enter alone", "rm x", "\n", false, "rm x\n", "", ""},
		{"enter as a terminal has it", "rm x", "\r", true, "rm x\n", "", ""},
		{"a return is a letter without a terminal", "", "ls\r", false, "ls\r", "", "ls\r"},
		{"more than one line", "", "ls\nrm", false, "ls\nrm", "", "rm"},
		{"a continued line", "", "r\\\n", false, "r\\\n", "", "r\\\n"},
		{"an open quote", "", "echo 'a\n", false, "echo 'a\n", "", "echo 'a\n"},
		{"its end", "echo 'a\n", "b'\n", false, "echo 'a\nb'\n", "", ""},
		{"a here-document", "", "cat <<E\nrm x\n", false, "cat <<E\nrm x\n", "", "cat <<E\nrm x\n"},
		{"ctrl-c throws a line away", "rm x", "\x03ls\n", true, "rm x\nls\n", "", ""},
		{"and what came before it in the same call is judged", "", "rm x\n\x03", true, "rm x\n", "", ""},
		{"a key that edits", "r", "\x7f", true, "r\x7f", editsLine, "r\x7f"},
		{"completion", "", "gi\t", true, "gi\t", editsLine, "gi\t"},
		{"a tab without a terminal", "", "ls\tx\n", false, "ls\tx\n", "", ""},
		{"history", "", "!rm\n", true, "!rm\n", editsLine, ""},
		{"no history", "", "! ls; [ a != b ]\n", true, "! ls; [ a != b ]\n", "", ""},
		{"history without a terminal", "", "!rm\n", false, "!rm\n", "", ""},
		{"the line before, changed", "", "^a^b\n", true, "^a^b\n", editsLine, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := assemble(c.pending, "", c.data, c.terminal)
			if l.text != c.text || l.unclear != c.unclear || strings.TrimSpace(c.rest) != strings.TrimSpace(l.rest) && c.unclear == "" {
				t.Errorf("%+v", l)
			}
		})
	}
	l := assemble("", editsLine, "x\n", true)
	if l.unclear != editsLine || l.restUnclear != editsLine {
		t.Errorf("a line that is not clear ends by itself: %+v", l)
	}
	if l = assemble("", editsLine, "\x03", true); l.restUnclear != "" {
		t.Errorf("ctrl-c does not begin anew: %+v", l)
	}
	if l = assemble("", "", "alias x=rm\n", true); l.unclear != "" || l.restUnclear != remade {
		t.Errorf("an alias: %+v", l)
	}
	if l = assemble("", remade, "\x03", true); l.restUnclear != remade {
		t.Errorf("ctrl-c takes back aliases: %+v", l)
	}
	if l = assemble("'", "", strings.Repeat("x", shellparse.MaxScript), false); l.restUnclear != tooMuch || l.rest != "" {
		t.Errorf("%d bytes are kept: %q", len(l.rest), l.restUnclear)
	}
}

// FuzzAssemble: however a text is cut, what is judged with its last piece is
// the text itself, without a beginning that was complete.
func FuzzAssemble(f *testing.F) {
	for _, seed := range []string{"rm x\n", "ls\nr\\\nm x\n", "echo 'a\nb'; rm x\n", "cat <<E | sh\nrm x\nE\n", "if true\nthen rm x\nfi\n", "a\n\nb"} {
		f.Add(seed, uint8(1), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, first, second uint8) {
		if len(text) > 4000 || len(text) < 3 {
			return
		}
		i := int(first) % len(text)
		j := i + int(second)%(len(text)-i)
		pending, unclear := "", ""
		var l line
		for _, piece := range []string{text[:i], text[i:j], text[j:]} {
			l = assemble(pending, unclear, piece, false)
			pending, unclear = l.rest, l.restUnclear
		}
		if unclear != "" {
			return
		}
		before, ok := strings.CutSuffix(text, l.text)
		if !ok || before != "" && !shellparse.Complete(before) {
			t.Errorf("%q cut at %d and %d is judged as %q", text, i, j, l.text)
		}
	})
}

// What commands may not write they may not write line by line either.
func TestTypedWrites(t *testing.T) {
	b := newBench(t, nil)
	b.kit.Writes = WritesDeny
	r := b.call(ExecCommand(), object{"cmd": "bash", "stdin": true, "yield_time_ms": 100})
	if !r.OK {
		t.Fatal(r.Text)
	}
	session := id(t, r)
	for _, c := range []struct {
		chars string
		ok    bool
	}{
		{"echo x > typed", true}, {"\n", false}, // which would have it run
		{" # handrail:allow-write\n", true}, {"echo fine\n", true}, {"rm typed\n", false},
	} {
		if r := b.call(WriteStdin(), object{"session_id": session, "chars": c.chars, "yield_time_ms": 300}); r.OK != c.ok {
			t.Errorf("%q: %v, %s", c.chars, r.OK, r.Text)
		}
	}
}
