package terminal

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func filter(pieces ...string) string {
	var b strings.Builder
	f := NewFilter(func(p []byte) { b.Write(p) })
	for _, p := range pieces {
		_, _ = f.Write([]byte(p))
	}
	_ = f.Close()
	return b.String()
}

func TestFilter(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "one\ntwo\n", "one\ntwo\n"},
		{"no end", "one", "one"},
		{"CRLF", "one\r\ntwo\r\n", "one\ntwo\n"},
		{"progress", "10%\r50%\r100%\ndone\n", "100%\ndone\n"},
		{"a shorter line over a longer", "downloading\rdone\n", "doneloading\n"},
		{"erased first", "downloading\r\x1b[Kdone\n", "done\n"},
		{"blanked first", "downloading\r           \rdone\n", "done\n"},
		{"erased from the middle", "abc\x1b[2D\x1b[K\n", "a\n"},
		{"erased line", "abc\x1b[2Kx\n", "x\n"},
		{"backspaces", "pasx\b\bss\n", "pass\n"},
		{"man page bold", "b\bbo\bol\bld\n", "bold\n"},
		{"colours", "\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m\n", "red and blue\n"},
		{"title", "\x1b]0;title\x07text\n", "text\n"},
		{"title ended by ST", "\x1b]0;title\x1b\\text\n", "text\n"},
		{"a link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\\n", "text\n"},
		{"a string without an end hides nothing", "\x1b]0;title\nnext\n", "0;title\nnext\n"},
		{"an escape before a line's end", "a\x1b\nb\n", "a\nb\n"},
		{"a broken sequence", "a\x1b[3\nb\n", "a\nb\n"},
		{"charset", "\x1b(Btext\n", "text\n"},
		{"controls", "a\x00b\x07c\x7fd\n", "abcd\n"},
		{"tabs stay", "a\tb\n", "a\tb\n"},
		{"UTF-8 over UTF-8", "größe\rGR\n", "GRöße\n"},
		{"a wide character over a narrow one", "abc\r日\n", "日bc\n"},
		{"not UTF-8", "a\xff\xfeb\n", "a\xff\xfeb\n"},
		{"columns", "abc\x1b[5Gx\n", "abc x\n"},
		{"returns that end a line", "a\r\r\nb\n", "a\nb\n"},
		{"empty lines", "\n\n\r\n", "\n\n\n"},
		{"cursor up is left out", "a\nb\x1b[1A\rc\n", "a\nc\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := filter(c.in); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got := filter(strings.Split(c.in, "")...); utf8.ValidString(c.in) && got != c.want {
				t.Errorf("piece by piece: %q, want %q", got, c.want)
			}
		})
	}
}

func TestFilterIsBounded(t *testing.T) {
	f := NewFilter(func([]byte) {})
	most := 0
	for _, piece := range []string{"x", "\x1b[", "\x1b]0;", "\x08", "\x1b[99999C", "é", ";", "日\r"} {
		for range 2000 {
			_, _ = f.Write([]byte(strings.Repeat(piece, 100)))
			most = max(most, cap(f.line)+cap(f.seq)+cap(f.buf))
		}
	}
	if most > 2<<20 {
		t.Errorf("%d bytes were held", most)
	}
}

// draw writes to a screen of 24 by 80.
func draw(text string) *Screen {
	s := NewScreen(24, 80)
	_, _ = s.Write([]byte(text))
	return s
}

func TestScreen(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"lines", "one\r\ntwo\r\n", "one\ntwo"},
		{"a newline alone goes straight down", "one\ntwo", "one\n   two"},
		{"over what was there", "a\rb", "b"},
		{"colours", "\x1b[31mred\x1b[0m", "red"},
		{"cursor", "xyz\x1b[2D_", "x_z"},
		{"placed", "\x1b[3;5Hx\x1b[1;1Hy", "y\n\n    x"},
		{"up and erased", "a\r\nb\x1b[2K\x1b[1A\x1b[1Dc", "c"},
		{"screen erased", "abc\r\ndef\x1b[2J\x1b[Hx", "x"},
		{"from the cursor on erased", "abc\r\ndef\x1b[1;2H\x1b[J", "a"},
		{"up to the cursor erased", "abc\r\ndef\x1b[2;2H\x1b[1J", "\n  f"},
		{"deleted", "abcdef\x1b[1;2H\x1b[2P", "adef"},
		{"inserted", "abc\x1b[1;2H\x1b[2@", "a  bc"},
		{"emptied", "abcdef\x1b[1;2H\x1b[2X", "a  def"},
		{"lines inserted", "a\r\nb\r\nc\x1b[2;1H\x1b[L", "a\n\nb\nc"},
		{"lines deleted", "a\r\nb\r\nc\x1b[1;1H\x1b[M", "b\nc"},
		{"wide", "日本語", "日本語"},
		{"wide at the edge", strings.Repeat("x", 79) + "日", strings.Repeat("x", 79) + "\n日"},
		{"half of a wide one overwritten", "日x\x1b[1;1Hab", "abx"},
		{"joined", "e\u0301 👩‍👩‍👧 👍🏽", "e\u0301 👩‍👩‍👧 👍🏽"},
		{"line drawing", "\x1b(0lqk\x1b(B x", "┌─┐ x"},
		{"tabs", "a\tb", "a       b"},
		{"repeated", "ab\x1b[3b", "abbbb"},
		{"other page and back", "main\x1b[?1049h\x1b[Halt\x1b[?1049l", "main"},
		{"region", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\n5", "1\n3\n5\n4"},
		{"reverse index", "a\r\nb\x1b[1;1H\x1bMc", "c\na\nb"},
		{"saved", "ab\x1b7cd\x1b8x", "abxd"},
		{"reset", "abc\x1bcx", "x"},
		{"title", "\x1b]0;t\x07x", "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := draw(c.in).String(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestTake(t *testing.T) {
	s := draw("$ ls\r\na b\r\n$ ")
	if v := s.Take(); v.Text != "$ ls\na b\n$ " || v.Picture {
		t.Errorf("%+v", v)
	}
	if v := s.Take(); v.Text != "" {
		t.Errorf("nothing came: %+v", v)
	}
	_, _ = s.Write([]byte("pwd\r\n/x\r\n$ "))
	if v := s.Take(); v.Text != "$ pwd\n/x\n$ " {
		t.Errorf("what was typed stands behind its prompt: %+v", v)
	}
	for i := range 100 {
		_, _ = fmt.Fprintf(s, "line %d\r\n", i)
	}
	if v := s.Take(); !strings.HasPrefix(v.Text, "$ line 0\nline 1\n") || !strings.HasSuffix(v.Text, "\nline 99\n") || v.Lost != 0 {
		t.Errorf("%+v", v)
	}
	for i := range 100_000 {
		_, _ = fmt.Fprintf(s, "line %d\r\n", i)
	}
	if v := s.Take(); v.Lost == 0 || len(v.Text) > maxScrolled+4096 || !strings.HasSuffix(v.Text, "\nline 99999\n") {
		t.Errorf("lost %d, %d bytes", v.Lost, len(v.Text))
	}
	long := strings.Repeat("abcdefghij", 30)
	_, _ = s.Write([]byte(long + "\r\n"))
	if v := s.Take(); !strings.Contains(v.Text, long) {
		t.Errorf("a line that was wrapped is in pieces: %q", v.Text)
	}
	_, _ = s.Write([]byte("\x1b[?1049h\x1b[2J\x1b[HEditor"))
	if v := s.Take(); !v.Picture || v.Text != "Editor" || v.Row != 1 || v.Column != 7 {
		t.Errorf("%+v", v)
	}
	_, _ = s.Write([]byte("\x1b[?1049l"))
	if v := s.Take(); v.Picture {
		t.Errorf("%+v", v)
	}
	_, _ = s.Write([]byte("\x1b[Hdrawn above"))
	if v := s.Take(); !v.Picture || !strings.HasPrefix(v.Text, "drawn above") {
		t.Errorf("what is drawn above the last line is a picture: %+v", v)
	}
}

func TestAnswers(t *testing.T) {
	s := draw("ab\x1b[6n\x1b[c\x1b[5n")
	if got := string(s.Answers()); got != "\x1b[1;3R\x1b[?62;22c\x1b[0n" {
		t.Errorf("%q", got)
	}
	_, _ = s.Write([]byte(strings.Repeat("\x1b[6n", 10_000)))
	if n := len(s.Answers()); n > 2<<10 {
		t.Errorf("%d bytes of answers", n)
	}
}

func TestResize(t *testing.T) {
	s := draw("")
	for i := range 24 {
		_, _ = fmt.Fprintf(s, "\r\nline %d", i)
	}
	s.Resize(10, 40)
	if got := s.String(); !strings.HasSuffix(got, "line 23") || strings.Count(got, "\n") != 9 {
		t.Errorf("%q", got)
	}
	if v := s.Take(); !strings.Contains(v.Text, "line 0\n") || !strings.HasSuffix(v.Text, "line 23") {
		t.Errorf("%q", v.Text)
	}
	s.Resize(1<<20, 1<<20)
	if rows, cols := s.Size(); rows != MaxRows || cols != MaxColumns {
		t.Errorf("%d by %d", rows, cols)
	}
	s.Resize(0, -1)
	_, _ = s.Write([]byte("日本\x1b[10;10Hx"))
}

// FuzzFilter: pieces of any size give the same text, and no control character
// but newline and tab is left.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"a\rb\x1b[K\n", "\x1b]0;t\x07x\b\b", "日\r\x1b[3Cx", "\x1b[1P\x1b[2G\xff"} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		whole := filter(text)
		at = max(0, min(at, len(text)))
		if got := filter(text[:at], text[at:]); got != whole && utf8.ValidString(text[:at]) {
			t.Fatalf("%q in two pieces: %q, whole: %q", text, got, whole)
		}
		for _, c := range []byte(whole) {
			if c < 0x20 && c != '\n' && c != '\t' {
				t.Fatalf("%q leaves %q", text, whole)
			}
		}
		if strings.Count(whole, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q has other lines than %q", whole, text)
		}
	})
}

// FuzzScreen: whatever is written and however the size changes, the picture
// stays within its bounds.
func FuzzScreen(f *testing.F) {
	for _, seed := range []string{"a\r\nb", "\x1b[2;3r\x1b[5S\x1b[5T\x1b[9L\x1b[9M", "日\x1b[1@\x1b[1P", "\x1b[?1049h\x1b[2J\x1b[?1049l", "\x1b[999;999Hx\x1b[99b", "e\u0301\u200d👩"} {
		f.Add([]byte(seed), 5, 10)
	}
	f.Fuzz(func(t *testing.T, text []byte, rows, cols int) {
		s := NewScreen(24, 80)
		for i := 0; i < len(text); i += 16 {
			_, _ = s.Write(text[i:min(i+16, len(text))])
			if i%64 == 0 {
				s.Resize(rows, cols)
				rows, cols = cols, rows
			}
		}
		h, w := s.Size()
		for _, p := range []*page{&s.main, &s.alt} {
			if len(p.rows) != h || p.x < 0 || p.x >= w || p.y < 0 || p.y >= h || p.top > p.bottom || p.bottom >= h {
				t.Fatalf("cursor %d,%d, region %d-%d, %d rows of %d by %d", p.x, p.y, p.top, p.bottom, len(p.rows), h, w)
			}
			for i := range p.rows {
				if len(p.rows[i].cells) != w {
					t.Fatalf("a row of %d in %d", len(p.rows[i].cells), w)
				}
			}
		}
		v := s.Take()
		for _, c := range []byte(v.Text) {
			if c < 0x20 && c != '\n' {
				t.Fatalf("%q", v.Text)
			}
		}
		if s.Take().Text != "" {
			t.Fatal("the same was given twice")
		}
	})
}

func BenchmarkFilter(b *testing.B) {
	for name, text := range map[string]string{
		"plain":    strings.Repeat("a line of ordinary text of a build\n", 2000),
		"coloured": strings.Repeat("\x1b[32m ok\x1b[0m a line of ordinary text\n", 2000),
		"progress": strings.Repeat("\r 50% [=====>     ]", 4000),
	} {
		b.Run(name, func(b *testing.B) {
			text := []byte(text)
			f := NewFilter(func([]byte) {})
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = f.Write(text)
			}
		})
	}
}

func BenchmarkScreen(b *testing.B) {
	text := []byte(strings.Repeat("\x1b[32m ok\x1b[0m a line of ordinary text\r\n", 2000))
	s := NewScreen(24, 80)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Write(text)
	}
}
