package textfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// samples are texts in the encodings that they are found in.
var samples = []struct {
	text string
	in   []Encoding
}{
	{"plain\nASCII\n", []Encoding{UTF8, UTF16LE, UTF16BE, UTF32LE, UTF32BE}},
	{"Die Größe der Straße überrascht: für Äpfel und Übergänge müssen wir außerdem zahlen. Größere Häuser stehen schön.\n", []Encoding{UTF8, Latin1, UTF16LE}},
	{"これは文字コードの判定を試すための日本語の文章です。カタカナと漢字も含まれています。\n", []Encoding{UTF8, ShiftJIS, EUCJP, UTF16LE, UTF16BE}},
	{"package main\n\n// これは関数です\nfunc main() { println(\"x\") } // 終わり\n", []Encoding{ShiftJIS, EUCJP}},
	{"这是一个用于检测文件编码的简体中文文本。配置文件读取失败，请检查路径是否正确。\n", []Encoding{UTF8, GBK}},
	{"// 这是主函数\nfunc main() {} // 结束\n", []Encoding{GBK}},
	{"這是一個用於檢測檔案編碼的繁體中文文字。設定檔讀取失敗，請檢查路徑是否正確。\n", []Encoding{UTF8, Big5}},
	{"이것은 파일 인코딩을 감지하기 위한 한국어 텍스트입니다. 설정 파일을 읽을 수 없습니다.\n", []Encoding{UTF8, EUCKR}},
	{"emoji 👩‍💻 and 𝄞\r\n", []Encoding{UTF8, UTF16LE, UTF16BE, UTF32LE}},
}

func encoded(t *testing.T, text string, e Encoding, bom bool) []byte {
	t.Helper()
	data, err := e.encode(text)
	if err != nil {
		t.Fatal(err)
	}
	if bom {
		data = append(e.bom(), data...)
	}
	return data
}

func TestDetect(t *testing.T) {
	for _, s := range samples {
		for _, e := range s.in {
			for _, bom := range []bool{false, true} {
				if bom && e.bom() == nil || !bom && (e == UTF32LE || e == UTF32BE) || !bom && e.wide() && !strings.Contains(s.text, "plain") {
					continue
				}
				data := encoded(t, s.text, e, bom)
				got, err := Decode(data)
				if err != nil || got.Encoding != e || got.BOM != bom || got.Content != s.text || !got.Confident || !got.Exact || got.Invalid != 0 {
					t.Errorf("%q in %s (mark %v): %s %v %d %q, %v", s.text[:12], e, bom, got.Encoding, got.Confident, got.Confidence, got.Content, err)
				}
			}
		}
	}
}

// TestUnsure: what cannot be known is not claimed to be known.
func TestUnsure(t *testing.T) {
	for name, data := range map[string]string{
		"F004 Latin-1":           "if (a<b) {}\n// caf\xe9 \xfc\xdf\n",
		"F005 two GBK letters":   "v = 1\n\xd6\xd0\xce\xc4\n",
		"F006 windows-1252":      "// \xa9 Example Ltd\r\nint main(){return 0;}\r\n",
		"Polish in windows-1250": "Za\xbf\xf3\xb3\xe6 g\xea\x9cl\xb9 ja\x9f\xf1. \xa3\xf3d\x9f, \x9cwi\xeato, \xe6ma i \x9fd\x9fb\xb3o.",
	} {
		got, err := Decode([]byte(data))
		if err != nil || got.Confident {
			t.Errorf("%s: sure of %s with %d, %v", name, got.Encoding, got.Confidence, err)
		}
		if _, err := got.Splice([]Splice{{0, 1, "x"}}); !errors.Is(err, ErrNotASCII) {
			t.Errorf("%s: changed by a guess: %v", name, err)
		}
		if _, err := got.Encode("x"); !errors.Is(err, ErrNotASCII) {
			t.Errorf("%s: written by a guess: %v", name, err)
		}
		plain, ok := got.Transparent()
		if !ok || plain.Content != data {
			t.Fatalf("%s: no transparent text", name)
		}
		out, err := plain.Splice([]Splice{{0, 1, "xyz"}})
		if err != nil || string(out) != "xyz"+data[1:] {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	// An ASCII letter after a byte beyond ASCII may be half a character.
	half := Text{Encoding: Unknown, Content: "\x83a b", Exact: true, data: []byte("\x83a b")}
	if _, err := half.Splice([]Splice{{1, 2, "x"}}); !errors.Is(err, ErrNotASCII) {
		t.Errorf("half a character was replaced: %v", err)
	}
	if out, err := half.Splice([]Splice{{3, 4, "x"}}); err != nil || string(out) != "\x83a x" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestInvalidUTF8IsKept(t *testing.T) {
	data := []byte("日本語の文章です\nbad \xff byte\nend\n")
	got, err := Decode(data)
	if err != nil || got.Encoding != UTF8 || got.Invalid != 1 || !got.Exact {
		t.Fatalf("%+v, %v", got, err)
	}
	at := strings.Index(got.Content, "end")
	out, err := got.Splice([]Splice{{at, at + 3, "END"}})
	if err != nil || string(out) != "日本語の文章です\nbad \xff byte\nEND\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestSpliceIsExact changes a file in every encoding and compares the bytes
// around the change.
func TestSpliceIsExact(t *testing.T) {
	for _, s := range samples {
		for _, e := range s.in {
			for _, bom := range []bool{false, e.bom() != nil} {
				body := "first\r\n" + strings.Repeat(s.text, 3)
				head, tail := encoded(t, "first\r\n", e, bom), encoded(t, strings.Repeat(s.text, 3), e, false)
				text, err := decodeAs(append(bytes.Clone(head), tail...), e, len(e.bom())*btoi(bom), 100, true)
				if err != nil || text.Content != body {
					t.Fatalf("%s: %q, %v", e, text.Content, err)
				}
				at := strings.Index(body, s.text)
				out, err := text.Splice([]Splice{{0, 5, "FIRST!"}, {at, at, "new"}})
				want := append(encoded(t, "FIRST!\r\nnew", e, bom), tail...)
				if err != nil || !bytes.Equal(out, want) {
					t.Errorf("%s: %q\nwant %q, %v", e, out, want, err)
				}
			}
		}
	}
	text, err := Decode([]byte("Größe, Straße, Häuser, Äpfel, Übergänge, schön, für, müssen, können, Größere"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]Splice{{{3, 2, ""}}, {{0, 1000, ""}}, {{5, 6, ""}, {4, 5, ""}}} {
		if _, err := text.Splice(bad); err == nil {
			t.Errorf("splices %v passed", bad)
		}
	}
	latin, err := DecodeAs([]byte("caf\xe9"), Latin1)
	if err != nil {
		t.Fatal(err)
	}
	var char *CharError
	if _, err := latin.Splice([]Splice{{0, 1, "→"}}); !errors.As(err, &char) || char.Char != '→' {
		t.Errorf("an arrow in Latin-1: %v", err)
	}
	if _, err := DecodeAs([]byte("caf\xe9"), ShiftJIS); err == nil {
		t.Error("half a character passes as Shift_JIS")
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestSniff(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	for _, tt := range []struct {
		name, data    string
		binary, image bool
	}{
		{"F043 text under the name of a picture", "hello\n", false, false},
		{"F043 nothing", "", false, false},
		{"F043 a picture's head and rubbish", png + "\x93\xa0\x17", true, true},
		{"F043 a page under the name of a picture", "<html><body>", false, false},
		{"F044 PDF", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", true, false},
		{"F044 ELF", "\x7fELF\x02\x01\x01\x00\x00", true, false},
		{"F044 SQLite", "SQLite format 3\x00\x10\x00", true, false},
		{"F044 UTF-16 is text", "h\x00i\x00\n\x00 \x00", false, false},
		{"F045 braces", "{}", false, false},
		{"F045 a zero byte in a text", "text with a \x00 in it, and then more of it", false, false},
		{"zero bytes", "\x00\x01\x02\x03\x04", true, false},
		{"colours", "\x1b[31mred\x1b[0m\n", false, false},
		{"Latin-1", "caf\xe9 ol\xe9\n", false, false},
		{"gzip", "\x1f\x8b\x08\x00\x00", true, false},
		{"webp", "RIFF\x00\x00\x00\x00WEBPVP8 ", true, true},
		{"random bytes", "\x9c\x01\xe7\x02\x88\x03\xfa\x04\x05\xee\x06", true, false},
		{"a document that begins like GIF", "GIF is a format", false, false},
	} {
		if got := Sniff([]byte(tt.data), true); got.Binary != tt.binary || got.Image != tt.image {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	long := strings.Repeat("日本語", 5000)
	if got := Sniff([]byte(long), true); got.Binary {
		t.Error("a text that the sample cuts within a character is taken for data")
	}
}

func TestEndings(t *testing.T) {
	for text, want := range map[string]Ending{
		"": NoEnding, "a": NoEnding, "a\n": LF, "a\nb": LF, "a\r\nb\r\n": CRLF, "a\rb\r": CR, "a\r\nb\n": Mixed, "a\rb\n": LF,
	} {
		if got := EndingOf(text); got != want {
			t.Errorf("%q ends with %s, want %s", text, got, want)
		}
	}
	if got := WithEnding("a\nb\r\nc", CRLF); got != "a\r\nb\r\nc" {
		t.Errorf("%q", got)
	}
}

func TestUnifiedSplice(t *testing.T) {
	for _, tt := range []struct{ name, text, old, replacement, want string }{
		{"LF", "a\nb\nc\n", "b", "x\ny", "a\nx\ny\nc\n"},
		{"CRLF", "a\r\nb\r\nc\r\n", "b\n", "x\ny\n", "a\r\nx\r\ny\r\nc\r\n"},
		{"CR", "a\rb\rc\r", "b\n", "x\ny\n", "a\rx\ry\rc\r"},
		{"mixed keeps each line's own", "a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nb\nC\nd", "a\r\nb\nC\r\nd\n"},
		{"mixed, one by one", "a\r\nb\nc\r\nd\n", "a\nb\nc", "A\nB\nC", "A\r\nB\nC\r\nd\n"},
		{"mixed, new line as its neighbour", "a\r\nb\nc\r\n", "c", "x\nc", "a\r\nb\nx\r\nc\r\n"},
		{"F001 a line end alone", "one\r\ntwo\r\n", "one\ntwo", "one two", "one two\r\n"},
		{"deleting a line", "a\r\nb\r\nc\r\n", "b\n", "", "a\r\nc\r\n"},
		{"no final line end", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		{"half of a character is not shared", "é", "é", "è", "è"},
	} {
		u := NewUnified(tt.text)
		at := strings.Index(u.Text, tt.old)
		s := u.Splice(at, at+len(tt.old), tt.replacement)
		if got := tt.text[:s.Start] + s.New + tt.text[s.End:]; got != tt.want || !utf8.ValidString(s.New) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestShow(t *testing.T) {
	for line, want := range map[string]string{
		"plain\ttext":               "plain\ttext",
		"a\x1b[31mb":                `a\u{1b}[31mb`,
		"pay\u202e txt":             `pay\u{202e} txt`,
		"a\u200bb\ufeff":            `a\u{200b}b\u{feff}`,
		"bad \xff byte":             `bad \x{ff} byte`,
		"👩\u200d💻 نمی\u200cخواهم":   "👩\u200d💻 نمی\u200cخواهم",
		"x\u200dy":                  `x\u{200d}y`,
		"tag\U000e0041":             `tag\u{e0041}`,
		"sel\U000e0101":             `sel\u{e0101}`,
		"del\x7f c1\u0085":          `del\u{7f} c1\u{85}`,
		"naïve – “quoted” 日本\u3000": "naïve – “quoted” 日本\u3000",
	} {
		got, n := Show(line)
		if got != want || (n > 0) != (got != line) {
			t.Errorf("%q is shown as %q with %d", line, got, n)
		}
		if back, _ := Unshow(got); back != line {
			t.Errorf("%q comes back as %q", got, back)
		}
	}
	for given, want := range map[string]string{
		`\x1b[0m`: "\x1b[0m", `\u202e`: "\u202e", `\u0041`: `\u0041`, `\\u{202e}`: `\\u{202e}`, `\u{110000}`: `\u{110000}`,
		`\u{`: `\u{`, `\x`: `\x`, `C:\users\x41`: `C:\users\x41`, `\x{c3}`: "\xc3", `\x{41}`: `\x{41}`,
	} {
		if got, _ := Unshow(given); got != want {
			t.Errorf("Unshow(%q) = %q", given, got)
		}
	}
}

func TestParse(t *testing.T) {
	for e := range Unknown {
		if got, err := Parse(e.String()); err != nil || got != e {
			t.Errorf("Parse(%q) = %s, %v", e, got, err)
		}
		if e != UTF8 && e.codec() == nil {
			t.Errorf("%s has no codec", e)
		}
	}
	for name, want := range map[string]Encoding{"latin-1": Latin1, "utf8": UTF8, "Shift-JIS": ShiftJIS, "CP1252": Windows1252, "utf-16": UTF16LE, "gb2312": GBK} {
		if got, err := Parse(name); err != nil || got != want {
			t.Errorf("Parse(%q) = %s, %v", name, got, err)
		}
	}
	if _, err := Parse("klingon"); err == nil {
		t.Error("klingon is an encoding")
	}
}

func TestReader(t *testing.T) {
	for _, s := range samples {
		for _, e := range s.in {
			bom := e.wide()
			data := encoded(t, strings.Repeat(s.text, 2000), e, bom)
			cut := 40_000 + len(data)%7
			if cut > len(data) {
				cut = len(data)
			}
			r, got, err := NewReader(data[:cut], iotest.HalfReader(bytes.NewReader(data[cut:])))
			if err != nil || got != e {
				t.Errorf("%s: %s, %v", e, got, err)
				continue
			}
			if all, err := io.ReadAll(r); err != nil || string(all) != strings.Repeat(s.text, 2000) {
				t.Errorf("%s: %d bytes, %v", e, len(all), err)
			}
		}
	}
	if _, _, err := NewReader([]byte("\x7fELF\x00"), bytes.NewReader(nil)); !errors.Is(err, ErrBinary) {
		t.Errorf("a program: %v", err)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range samples {
		for _, e := range s.in {
			if data, err := e.encode(s.text); err == nil {
				f.Add(data, 3, 5, "new\n")
			}
		}
	}
	f.Add([]byte("a\r\nb\nc\r"), 1, 4, "x\ny")
	f.Add([]byte("\xff\xfeh\x00"), 0, 1, "")
	f.Add([]byte("\x83a\x83\x5c"), 1, 2, "x")
	f.Fuzz(func(t *testing.T, data []byte, start, end int, replacement string) {
		text, err := Decode(data)
		if err != nil {
			return
		}
		if plain, ok := text.Transparent(); !text.Confident && ok {
			text = plain
		}
		u := NewUnified(text.Content)
		if start < 0 || end < start || end > len(u.Text) {
			return
		}
		s := u.Splice(start, end, Unify(replacement))
		out, err := text.Splice([]Splice{s})
		if err != nil {
			return
		}
		if text.Encoding == UTF8 || text.Encoding == Unknown {
			bom := 0
			if text.BOM {
				bom = 3
			}
			if want := string(data[:bom]) + text.Content[:s.Start] + s.New + text.Content[s.End:]; string(out) != want {
				t.Fatalf("%q became %q, want %q", data, out, want)
			}
		}
		again, err := text.With(out)
		if err != nil {
			t.Fatalf("%q cannot be read again: %v", out, err)
		}
		if utf8.ValidString(s.New) && again.Content != text.Content[:s.Start]+s.New+text.Content[s.End:] {
			t.Fatalf("%q with %+v reads %q", text.Content, s, again.Content)
		}
	})
}

func FuzzShow(f *testing.F) {
	f.Add("a\x1b\u202e\xff")
	f.Add(`\u{202e}`)
	f.Fuzz(func(t *testing.T, line string) {
		shown, n := Show(line)
		if !utf8.ValidString(shown) {
			t.Fatalf("%q is shown as %q", line, shown)
		}
		if again, more := Show(shown); more != 0 || again != shown {
			t.Fatalf("%q, shown again, is %q", shown, again)
		}
		if back, _ := Unshow(shown); n > 0 && !strings.Contains(line, `\`) && back != line {
			t.Fatalf("%q is shown as %q and comes back as %q", line, shown, back)
		}
	})
}

func BenchmarkDecode1MiB(b *testing.B) {
	data := bytes.Repeat([]byte("a line of text\n"), 1<<20/15)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
