package pdftext

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/ascii85"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A file is a document in the making.
type file struct{ objects []string }

func (f *file) add(object string) int {
	f.objects = append(f.objects, object)
	return len(f.objects)
}

func (f *file) stream(described, data string) int {
	return f.add(fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", described, len(data), data))
}

func (f *file) bytes(trailer string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for i, o := range f.objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	fmt.Fprintf(&b, "trailer << %s >>\n%%%%EOF\n", trailer)
	return b.Bytes()
}

// paper returns a document with one page for each program.
func paper(font string, programs ...string) []byte {
	f := &file{}
	f.add("<< /Type /Catalog /Pages 2 0 R >>")
	kids := ""
	for i := range programs {
		kids += fmt.Sprintf("%d 0 R ", 4+2*i)
	}
	f.add("<< /Type /Pages /Count 1 /Kids [" + kids + "] /Resources << /Font << /F1 3 0 R >> >> >>")
	f.add(font)
	for i, p := range programs {
		f.add(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Contents %d 0 R >>", 5+2*i))
		f.stream("", p)
	}
	return f.bytes("/Root 1 0 R")
}

const winAnsi = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"

func deflate(data string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(data))
	_ = w.Close()
	return b.String()
}

// textOf reads all pages.
func textOf(t *testing.T, data []byte) string {
	t.Helper()
	d, err := Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for i := range d.Pages() {
		p, err := d.Page(t.Context(), i+1)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, p.Text)
	}
	return strings.Join(pages, "\f")
}

func TestText(t *testing.T) {
	differences := strings.Replace(winAnsi, "/WinAnsiEncoding", "<< /Differences [65 /eacute /uni20AC /f_i] >>", 1)
	mapped := `<< /Subtype /Type0 /Encoding /Identity-H /ToUnicode << /Length 0 >> >>`
	for _, tt := range []struct{ name, font, program, want string }{
		{"one string", winAnsi, "BT /F1 12 Tf 72 700 Td (Hello, world) Tj ET", "Hello, world"},
		{"a new line", winAnsi, "BT /F1 12 Tf 14 TL 72 700 Td (one) Tj T* (two) Tj (three) ' ET", "one\ntwo\nthree"},
		{"a paragraph", winAnsi, "BT /F1 12 Tf 72 700 Td (one) Tj 0 -40 Td (two) Tj ET", "one\n\ntwo"},
		{"kerning is no blank", winAnsi, "BT /F1 12 Tf [(W) 80 (orld)] TJ ET", "World"},
		{"a gap is one", winAnsi, "BT /F1 12 Tf [(two) -400 (words)] TJ ET", "two words"},
		{"escapes", winAnsi, `BT /F1 12 Tf (a\(b\)\\ \101\
B) Tj ET`, `a(b)\ AB`},
		{"hexadecimal", winAnsi, "BT /F1 12 Tf <48 65 6C6c 6F> Tj ET", "Hello"},
		{"Windows letters", winAnsi, "BT /F1 12 Tf (\x93caf\xe9\x94 \x80) Tj ET", "“café” €"},
		{"named letters", differences, "BT /F1 12 Tf (ABC) Tj ET", "é€fi"},
		{"rotated", winAnsi, "BT /F1 12 Tf 0 1 -1 0 100 100 Tm (up) Tj ET", "up"},
		{"a picture in the program", winAnsi, "BI /W 1 /H 1 ID \x00(Tj EI\nBT /F1 12 Tf (after) Tj ET", "after"},
		{"no font", winAnsi, "BT (nothing) Tj ET", ""},
		{"no map", mapped, "BT /F1 12 Tf <00410042> Tj ET", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := textOf(t, paper(tt.font, tt.program)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFontMap: a font with a map to Unicode is read by it.
func TestFontMap(t *testing.T) {
	f := &file{}
	f.add("<< /Type /Catalog /Pages 2 0 R >>")
	f.add("<< /Kids [3 0 R] >>")
	f.add("<< /Type /Page /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>")
	f.stream("", "BT /F1 12 Tf <0001000200100011> Tj ET")
	f.add("<< /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<< /W [1 [600 600] 16 17 600] >>] >>")
	f.stream("/Filter /FlateDecode", deflate("1 begincodespacerange <0000> <FFFF> endcodespacerange\n"+
		"2 beginbfchar <0001> <65E5> <0002> <D83DDE00> endbfchar 1 beginbfrange <0010> <0020> <0041> endbfrange"))
	if got := textOf(t, f.bytes("/Root 1 0 R")); got != "日😀AB" {
		t.Errorf("got %q", got)
	}
}

// TestPacking: each packing that text comes in is taken off, and objects
// inside of others are found.
func TestPacking(t *testing.T) {
	const program = "BT /F1 12 Tf (packed) Tj ET"
	var armoured bytes.Buffer
	w := ascii85.NewEncoder(&armoured)
	_, _ = w.Write([]byte(program))
	_ = w.Close()
	for filter, data := range map[string]string{
		"/FlateDecode":                  deflate(program),
		"/ASCII85Decode":                armoured.String() + "~>",
		"/ASCIIHexDecode":               fmt.Sprintf("%x>", program),
		"/RunLengthDecode":              string(rune(len(program)-1)) + program + "\x80",
		"[/ASCIIHexDecode/FlateDecode]": fmt.Sprintf("%x>", deflate(program)),
	} {
		f := &file{}
		f.stream("/Filter "+filter, data)
		inner := []string{"<< /Type /Catalog /Pages 11 0 R >>", "<< /Kids [12 0 R] >>",
			"<< /Contents 1 0 R /Resources << /Font << /F1 13 0 R >> >> >>", winAnsi}
		head, body := "", ""
		for i, o := range inner {
			head += fmt.Sprintf("%d %d ", 10+i, len(body))
			body += o + " "
		}
		f.stream(fmt.Sprintf("/Type /ObjStm /N %d /First %d /Filter /FlateDecode", len(inner), len(head)), deflate(head+body))
		f.stream("/Type /XRef /Root 10 0 R", "")
		if got := textOf(t, f.bytes("/Size 1")); got != "packed" {
			t.Errorf("%s: got %q", filter, got)
		}
	}
}

// TestNoText: what cannot be read is said and never guessed.
func TestNoText(t *testing.T) {
	page := paper(winAnsi, "BT /F1 12 Tf (x) Tj ET")
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"encrypted":   {bytes.Replace(page, []byte("/Root 1 0 R"), []byte("/Root 1 0 R /Encrypt 9 0 R"), 1), ErrEncrypted},
		"only a head": {[]byte("%PDF-1.7\n"), ErrDamaged},
		"rubbish":     {append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("\x93\x00("), 1000)...), ErrDamaged},
		"too large":   {make([]byte, MaxFile+1), ErrTooMuch},
	} {
		if _, err := Open(t.Context(), tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	d, err := Open(t.Context(), paper(strings.Replace(winAnsi, "/Type1", "/Type0", 1), "BT /F1 12 Tf (abcd) Tj ET /P Do"))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := d.Page(t.Context(), 1); err != nil || p.Text != "" || p.Unknown != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := d.Page(t.Context(), 2); err == nil {
		t.Error("there is no page 2")
	}
}

// TestDamagedTable: a file without a usable table of its objects is read.
func TestDamagedTable(t *testing.T) {
	page := paper(winAnsi, "BT /F1 12 Tf (old) Tj ET")
	page = append(page, "5 0 obj << /Length 999999 >> stream\nBT /F1 12 Tf (new) Tj ET\nendstream endobj startxref 7777777 %%EOF"...)
	page = bytes.Replace(page, []byte("trailer"), []byte("tr??ler"), 1)
	if got := textOf(t, page); got != "new" {
		t.Errorf("got %q", got)
	}
}

// TestHostile: each of these would keep a careless reader busy for ever, or
// take its memory or its stack.
func TestHostile(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	loops := &file{}
	loops.add("<< /Type /Catalog /Pages 2 0 R >>")
	loops.add("<< /Kids [2 0 R 3 0 R 3 0 R] /Resources 4 0 R >>")
	loops.add("<< /Contents 6 0 R >>")
	loops.add("<< /XObject << /X 5 0 R >> /Font << /F1 7 0 R >> >>")
	loops.stream("/Subtype /Form /Resources 4 0 R", "/X Do /X Do /X Do")
	loops.stream("", "/X Do BT /F1 1 Tf (x) Tj ET")
	loops.add("7 0 R")
	tree := &file{}
	tree.add("<< /Type /Catalog /Pages 2 0 R >>")
	for i := range 30 { // 2^30 leaves
		tree.add(fmt.Sprintf("<< /Kids [%d 0 R %d 0 R] >>", i+3, i+3))
	}
	tree.add("<< /Type /Page >>")
	bomb := func(unpacked string) []byte {
		f := &file{}
		f.add("<< /Type /Catalog /Pages 2 0 R >>")
		f.add("<< /Kids [3 0 R] >>")
		f.add("<< /Contents [4 0 R 4 0 R 4 0 R] /Resources << /Font << /F1 << /Subtype /Type1 >> >> >> >>")
		f.stream("/Filter [/FlateDecode /FlateDecode]", deflate(deflate(unpacked)))
		return f.bytes("/Root 1 0 R")
	}
	members := &file{}
	members.stream("/Type /ObjStm /N 100000 /First 8 /Filter /FlateDecode", deflate("10 0 11 4 "+strings.Repeat("<<>>stream ", 400<<10)))
	for name, data := range map[string][]byte{
		"nested arrays":   paper(winAnsi, deep),
		"nested in place": []byte("%PDF-1.7\n1 0 obj " + deep),
		"nested dicts":    paper(winAnsi, strings.Repeat("<</a", 200<<10)),
		"loops":           loops.bytes("/Root 1 0 R"),
		"a wide tree":     tree.bytes("/Root 1 0 R"),
		"zeros":           bomb(strings.Repeat("\x00", 9<<20)),
		"strings":         bomb("/F1 1 Tf " + strings.Repeat("(aaaa)Tj ", 1<<20)),
		"one string":      bomb("/F1 1 Tf (" + strings.Repeat("a", 9<<20)),
		"numbers":         bomb("[" + strings.Repeat("1 ", 4<<20)),
		"fonts":           bomb(strings.Repeat("/F1 1 Tf ", 1<<20)),
		"inner streams":   members.bytes("/Root 10 0 R"),
		"many marks":      append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("1 0 obj<<>>stream "), 100<<10)...),
		"open arrays":     append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("1 0 obj[stream "), 100<<10)...),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			// An eighth of the budget shows the same in an eighth of the time.
			d, err := open(t.Context(), data, maxUnpacked/8, maxTokens/8)
			for i := 0; err == nil && i < d.Pages(); i++ {
				var p Page
				if p, err = d.Page(t.Context(), i+1); len(p.Text) > maxText+64 {
					t.Errorf("a page of %d bytes", len(p.Text))
				}
			}
			runtime.ReadMemStats(&after)
			took, taken := time.Since(start), (after.TotalAlloc-before.TotalAlloc)>>20
			t.Logf("%v, %d MB allocated in all, %v", took.Round(time.Millisecond), taken, err)
			if took > time.Minute || taken > 150 {
				t.Errorf("it took %v and %d MB", took, taken)
			}
		})
	}
}

// TestCancelled: a document is given up at once when nobody waits for it.
func TestCancelled(t *testing.T) {
	data := paper(winAnsi, "BT /F1 12 Tf "+strings.Repeat("(abcdefgh) Tj ", 200_000)+" ET")
	d, err := Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := d.Page(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(paper(winAnsi, "BT /F1 12 Tf 72 700 Td [(Hel) -200 (lo)] TJ T* (x) ' ET q 1 0 0 1 0 0 cm Q BI ID EI", "BT ET"))
	packed := &file{}
	packed.stream("/Type /ObjStm /N 1 /First 5 /Filter /FlateDecode", deflate("10 0 << /Type /Catalog /Pages 10 0 R /Kids [10 0 R 11 0 R] >>"))
	packed.stream("/Filter [/A85 /LZW /RL]", "<~87cURD]~>")
	f.Add(packed.bytes("/Root 10 0 R"))
	mapped := &file{}
	mapped.add("<< /Pages 2 0 R >>")
	mapped.add("<< /Contents 3 0 R /Resources << /Font << /F1 << /Subtype /Type0 /ToUnicode 4 0 R /DescendantFonts [<< /W [1 [2] 3 4 5] >>] >> >> >> >>")
	mapped.stream("", "/F1 1 Tf <000100020003> Tj")
	mapped.stream("", "1 begincodespacerange <00> <FFFF> endcodespacerange <0001> <0041> endbfchar <02> <04> [<0041>] endbfrange <02> <04> <00> endbfrange")
	f.Add(mapped.bytes("/Root 1 0 R"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Open(t.Context(), data)
		if err != nil {
			return
		}
		for i := range min(d.Pages(), 20) {
			p, err := d.Page(t.Context(), i+1)
			if err == nil && len(p.Text) > maxText+1<<10 {
				t.Fatalf("a page of %d bytes", len(p.Text))
			}
		}
	})
}

func BenchmarkPage(b *testing.B) {
	data := paper(winAnsi, "BT /F1 12 Tf 14 TL 72 700 Td "+strings.Repeat("(A line of text as it stands on a page of a book.) Tj T* ", 60)+"ET")
	b.ReportAllocs()
	for b.Loop() {
		d, err := Open(b.Context(), data)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Page(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
	}
}
