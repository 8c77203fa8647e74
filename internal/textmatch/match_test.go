package textmatch

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// apply finds a quotation and replaces it, and says how it went.
func apply(text, quote, replacement string) (string, string) {
	found := Find(text, quote)
	switch {
	case len(found) == 0:
		return "", "none"
	case len(found) > 1:
		return "", "ambiguous " + found[0].Stage.String()
	case Disproportionate(text, found[0], quote):
		return "", "disproportionate"
	}
	m := found[0]
	out, ok := Rewrite(text, m, quote, replacement)
	if !ok {
		return "", "conflict"
	}
	return text[:m.Start] + out + text[m.End:], m.Stage.String()
}

func TestCascade(t *testing.T) {
	tests := []struct {
		name, text, quote, replacement, stage, want string
	}{
		{"exact", "a b c", "b", "x", "exact", "a x c"},
		{"exact twice", "a b a", "a", "x", "ambiguous exact", ""},
		{"exact overlapping", "aaa", "aa", "b", "ambiguous exact", ""},
		{"empty quotation", "abc", "", "x", "none", ""},
		{"blank quotation beyond exact", "a\n\t\nb\n", "   ", "x", "none", ""},
		{"F015 nothing in the replacement is a pattern", "p.$('a')", "p.$('a')", "p.$$('a') // $& $1 $'", "exact", "p.$$('a') // $& $1 $'"},
		{"F009 spaces for a tab", "func f() {\n\treturn\n}\n", "    return", "    return nil", "line_trimmed", "func f() {\n\treturn nil\n}\n"},
		{
			"indentation left out", "class A:\n    def f(self):\n        return 1\n",
			"def f(self):\n    return 1", "def f(self):\n    if x:\n        return 2\n    return 1",
			"line_trimmed", "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
		},
		{
			"two blanks for four", "a:\n    b:\n        c\n", "a:\n  b:\n    c", "a:\n  b:\n    c\n    d\n  e:\n    f",
			"line_trimmed", "a:\n    b:\n        c\n        d\n    e:\n        f\n",
		},
		{
			"tabs for blanks", "def f():\n  if x:\n    g()\n", "\tif x:\n\t\tg()", "\tif x:\n\t\tg()\n\t\th()",
			"line_trimmed", "def f():\n  if x:\n    g()\n    h()\n",
		},
		{"untouched lines keep their blanks", "a  \nb\nc\t\n", " a\n b\n c", " a\n B\n c", "line_trimmed", "a  \nB\nc\t\n"},
		{"blanks inside", "x  =  1;\n", "x = 1;", "x = 2;", "whitespace_normalized", "x = 2;\n"},
		{"blanks inside, context kept", "x  =  1;\ny  =  2;\n", "x = 1;\ny = 2;", "x = 1;\ny = 3;", "whitespace_normalized", "x  =  1;\ny = 3;\n"},
		{"blank lines around", "f(\n  a,\n  b)\n", "\n\nf(\n  a,\n  b)\n\n", "\n\nf(\n  a,\n  c)\n\n", "indentation_flexible", "f(\n  a,\n  c)\n"},
		{"escapes", "print(\"a\tb\")\n", `print(\"a\tb\")`, `print(\"c\td\")`, "escape_normalized", "print(\"c\td\")\n"},
		{"L49 escapes on both sides", "a\nb\n", `a\nb`, `a\nc\nd`, "escape_normalized", "a\nc\nd\n"},
		{"F193 the escapes of a read", "x\u202ey\n", `x\u{202e}y`, `xy`, "escape_normalized", "xy\n"},
		{"typographic", "say “hi” – now\n", `say "hi" - now`, `say "hi" - later`, "typographic", "say “hi” – later\n"},
		{"typographic lines", "  say  “hi”\n  x\n", "say \"hi\"\nx", "say \"hi\"\ny", "typographic", "  say  “hi”\n  y\n"},
		{"F007 straight to typographic", "msg = '%s'", "'%s'", "‘%s’", "exact", "msg = ‘%s’"},
		{
			"anchor", "func f() {\n\ta := one()\n\tb := two(a, nil)\n\treturn b\n}\n",
			"func f() {\n\ta := one()\n\tb := two(a)\n\treturn b\n}", "func f() {\n\ta := uno()\n\tb := two(a)\n\treturn b\n}",
			"block_anchor", "func f() {\n\ta := uno()\n\tb := two(a, nil)\n\treturn b\n}\n",
		},
		{
			"anchor keeps a line that was left out", "begin\n one\n // note\n two\n three\nend\n",
			"begin\n one\n two\n three\nend", "begin\n one\n two\n THREE\nend",
			"block_anchor", "begin\n one\n // note\n two\n THREE\nend\n",
		},
		{
			"anchor keeps a late line that was left out", "begin\n one\n two\n three\n // note\nend\n",
			"begin\n one\n two\n three\nend", "begin\n one\n TWO\n three\nend",
			"block_anchor", "begin\n one\n TWO\n three\n // note\nend\n",
		},
		{
			"L49 nearest closing anchor is not enough", "if a {\n\tif b {\n\t\tx()\n\t}\n\ty()\n\tz()\n}\n",
			"if a {\n\tif b {\n\t\tx(1)\n\t}\n\ty()\n\tz()\n}", "if a {\n\ty()\n\tz()\n}",
			"block_anchor", "if a {\n\ty()\n\tz()\n}\n",
		},
		{"anchor below the threshold", "begin\nabc\ndef\nend\n", "begin\nxyz\nuvw\nend", "begin\nend", "none", ""},
		{
			"anchor twice", "f {\n  a1\n  b\n}\nf {\n  a2\n  b\n}\n", "f {\n  a3\n  b\n}", "f {\n}",
			"ambiguous block_anchor", "",
		},
		{
			"anchor, several openings of one place", "}\n}\n}\n\nfunc f() {\n\ta()\n\tb()\n\tc()\n}\nend\n",
			"}\n\nfunc f() {\n\ta(1)\n\tb()\n\tc()\n}\nend", "}\n\nfunc f() {\n\ta(1)\n\tb()\n\td()\n}\nend",
			"block_anchor", "}\n}\n}\n\nfunc f() {\n\ta()\n\tb()\n\td()\n}\nend\n",
		},
		{"F010 look-alikes", "def a():\n    flush()\n    return None\ndef b():\n        flush()\n        return None\n", "flush()\nreturn None", "return None", "ambiguous line_trimmed", ""},
		{"quotation ends with a line end, text does not", "a\n  b", "b\n", "c\n", "line_trimmed", "a\n  c"},
		{"deletion of lines", "a\n  b\nc\n", "b \n", "", "line_trimmed", "a\nc\n"},
		{"F019 entities are text", "a &amp;&amp; b", "a &amp;&amp; b", "a &amp;&amp; c", "exact", "a &amp;&amp; c"},
		{"a stricter stage decides", "x = 1\n  x  =  1\n", "x = 1\n", "y\n", "exact", "y\n  x  =  1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, stage := apply(tt.text, tt.quote, tt.replacement)
			if stage != tt.stage || got != tt.want {
				t.Errorf("%s: %q\nwant %s: %q", stage, got, tt.stage, tt.want)
			}
		})
	}
}

func TestL49_GuardLimitsAreInclusive(t *testing.T) {
	quote := "a\nb\nc"
	at := func(lines, bytes int) bool {
		text := strings.Repeat("\n", lines-1)
		text += strings.Repeat("x", bytes-len(text))
		return Disproportionate(text, Match{End: len(text), Stage: BlockAnchor}, quote)
	}
	if at(6, 20) {
		t.Error("six lines for three are refused; the limit is max(n+3, 2n)")
	}
	if !at(7, 20) {
		t.Error("seven lines for three pass")
	}
	if at(3, 20) {
		t.Error("four times the bytes are refused")
	}
	if !at(3, 21) {
		t.Error("more than four times the bytes pass")
	}
}

func TestNearest(t *testing.T) {
	text := "package a\n\nfunc one() int {\n\treturn 1\n}\n\nfunc two() int {\n\treturn 2\n}\n"
	near, ok := Nearest(text, "func two() int {\n\treturn 3\n}")
	if !ok || near.Line != 6 || near.Differs != 1 || near.Found != "\treturn 2" {
		t.Errorf("near %+v, %v", near, ok)
	}
	if near, ok = Nearest(text, "fnc two() int {"); !ok || near.Line != 6 {
		t.Errorf("near %+v, %v", near, ok)
	}
	if near, ok = Nearest(text, "zzzzzzzzzzzz"); ok {
		t.Errorf("near %+v for nothing alike", near)
	}
}

// TestBudget makes sure that hostile quotations end soon.
func TestBudget(t *testing.T) {
	text := strings.Repeat("}\n"+strings.Repeat("x", 60)+"\n", 50_000)
	quote := "}\n" + strings.Repeat(strings.Repeat("y", 60)+"\n", 400) + "}"
	if found := Find(text, quote); len(found) != 0 {
		t.Errorf("%d matches", len(found))
	}
	Nearest(text, quote)
}

// TestLargeQuotation: a quotation as large as a call may hold, with every
// line a little off, is fitted in reasonable time.
func TestLargeQuotation(t *testing.T) {
	var text, quote, replacement strings.Builder
	for i := range 20_000 {
		indent := strings.Repeat("\t", 1+i%5)
		fmt.Fprintf(&text, "%sline  %d\n", indent, i)
		fmt.Fprintf(&quote, "%sline %d\n", indent, i)
		fmt.Fprintf(&replacement, "%schanged %d\n", indent, i)
	}
	start := time.Now()
	got, stage := apply(text.String(), quote.String(), replacement.String())
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if stage != "whitespace_normalized" || got != replacement.String() {
		t.Errorf("%s: %.100q", stage, got)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("func f() {\n\treturn\n}\n", "    return", "    return nil")
	f.Add("say “hi”\n  x\n", "say \"hi\"\nx\n", "say \"ho\"\ny\n")
	f.Add("f {\n  a1\n  b\n}\n", "f {\n  a3\n  b\n}", "f {\n}")
	f.Add("a\\nb", `a\nb\u{202e}`, "")
	f.Add("\r\n\xff\n", "\n\n", "\t")
	f.Fuzz(func(t *testing.T, text, quote, replacement string) {
		last := -1
		for _, m := range Find(text, quote) {
			if m.Start < 0 || m.End < m.Start || m.End > len(text) {
				t.Fatalf("match %+v in a text of %d bytes", m, len(text))
			}
			if m.Start < last {
				t.Fatalf("match at %d after one at %d", m.Start, last)
			}
			last = m.Start
			if m.Stage == Exact && text[m.Start:m.End] != quote {
				t.Fatalf("exact match %q of %q", text[m.Start:m.End], quote)
			}
			Rewrite(text, m, quote, replacement)
			if same, ok := Rewrite(text, m, quote, quote); ok && m.pairs != nil && same != text[m.Start:m.End] {
				t.Fatalf("replacing %q by itself gave %q for %q", quote, same, text[m.Start:m.End])
			}
		}
		Nearest(text, quote)
	})
}

func BenchmarkFindExact(b *testing.B) {
	text := strings.Repeat("\tsome := line(of, code) // with a comment\n", 25_000) + "\tneedle := here()\n"
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(Find(text, "needle := here()")) != 1 {
			b.Fatal("not found")
		}
	}
}

func BenchmarkFindLoose(b *testing.B) {
	text := strings.Repeat("\tsome := line(of, code) // with a comment\n", 25_000) + "\tneedle  := here()\n"
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(Find(text, "needle := here()\n")) != 1 {
			b.Fatal("not found")
		}
	}
}
