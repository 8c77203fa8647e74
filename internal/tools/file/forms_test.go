package file

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/tool"
)

// document returns a PDF with one page for each text.
func document(pages ...string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n2 0 obj << /Kids [")
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 R ", 10+2*i)
	}
	b.WriteString("] /Resources << /Font << /F << /Subtype /Type1 /Encoding /WinAnsiEncoding >> >> >> >> endobj\n")
	for i, text := range pages {
		var packed bytes.Buffer
		w := zlib.NewWriter(&packed)
		_, _ = fmt.Fprintf(w, "BT /F 10 Tf 12 TL (%s) Tj ET", strings.ReplaceAll(text, "\n", ") Tj T* ("))
		_ = w.Close()
		fmt.Fprintf(&b, "%d 0 obj << /Contents %d 0 R >> endobj\n%d 0 obj << /Filter /FlateDecode /Length %d >> stream\n%s\nendstream endobj\n",
			10+2*i, 11+2*i, 11+2*i, packed.Len(), packed.String())
	}
	b.WriteString("trailer << /Root 1 0 R >>")
	return b.String()
}

func TestReadPDF(t *testing.T) {
	long := strings.Repeat("A line of a long page.\n", 4000)
	b := newBench(t, map[string]string{
		"a.pdf": document("first\npage", "second", "third"), "long.pdf": document("start", long, "end"),
		"scan.pdf": document(""), "locked.pdf": document("x") + " /Encrypt 1 0 R trailer << /Encrypt 1 0 R >>", "t.txt": "x\n",
	})
	for _, tt := range []struct {
		args object
		want string
	}{
		{object{"path": "a.pdf"}, "--- page 1 of 3 ---\nfirst\npage\n--- page 2 of 3 ---\nsecond\n--- page 3 of 3 ---\nthird\n[read_file: text taken out of a PDF"},
		{object{"path": "a.pdf", "pages": "2"}, "--- page 2 of 3 ---\nsecond\n[read_file: pages 2–2 of 3; continue with {\"path\": \"a.pdf\", \"pages\": \"3-\"}"},
		{object{"path": "a.pdf", "pages": "2-9"}, "third"},
		{object{"path": "a.pdf", "pages": "4"}, "1 to 3"},
		{object{"path": "a.pdf", "pages": "3-1"}, "ends before it begins"},
		{object{"path": "a.pdf", "pages": "all"}, `as "3", or two, as "3-7"`},
		{object{"path": "a.pdf", "start_line": 1}, "pages and no lines"},
		{object{"path": "a.pdf", "cell": "1"}, "cell is for notebooks"},
		{object{"path": "t.txt", "pages": "1"}, "pages is for PDF documents"},
		{object{"path": "scan.pdf"}, "there is no text on these pages"},
		{object{"path": "locked.pdf"}, "encrypted; decrypt it first"},
		{object{"path": "long.pdf"}, "continue with {\"path\": \"long.pdf\", \"pages\": \"2-\"}"},
		{object{"path": "long.pdf", "pages": "2-"}, "page 2 goes on with {\"path\": \"long.pdf\", \"pages\": \"2\", \"byte_offset\": "},
	} {
		r := b.read(tt.args)
		if !strings.Contains(r.Text, tt.want) || len(r.Text) > maxReadBytes+footerRoom {
			t.Errorf("%v: %d bytes: %s", tt.args, len(r.Text), tool.Clip(r.Text))
		}
	}
}

// TestPDFPagesCanBeReadOn: a page too long for one answer is read whole by
// following what the answers say.
func TestPDFPagesCanBeReadOn(t *testing.T) {
	long := numbers(20_000)
	b := newBench(t, map[string]string{"f.pdf": document(strings.TrimSuffix(long, "\n"))})
	var got strings.Builder
	next := object{"path": "f.pdf"}
	for range 20 {
		r := b.read(next)
		_, body, _ := strings.Cut(r.Text, " ---\n")
		body, foot, _ := strings.Cut(body, noticeStart)
		got.WriteString(body)
		i := strings.Index(foot, "{")
		if !strings.Contains(foot, "goes on with") {
			break
		}
		next = object{}
		if err := json.NewDecoder(strings.NewReader(foot[i:])).Decode(&next); err != nil {
			t.Fatal(err)
		}
	}
	// An answer ends with a line end where the page does not.
	if strings.ReplaceAll(got.String(), "\n", "") != strings.ReplaceAll(long, "\n", "") {
		t.Errorf("%d bytes of %d", got.Len(), len(long))
	}
}

// TestL42_TransformedViews: what was seen in another form is no ground to
// overwrite a file, and paging is not advised where it cannot help.
func TestL42_TransformedViews(t *testing.T) {
	nb := sampleNotebook(3)
	b := newBench(t, map[string]string{"a.pdf": document("text"), "n.ipynb": nb})
	for _, name := range []string{"a.pdf", "n.ipynb"} {
		if r := b.read(object{"path": name}); !r.OK {
			t.Fatal(r.Text)
		}
		r := b.rewrite(object{"path": name, "content": b.content(name) + " "})
		if r.OK || r.Metadata["guard"] != "transformed_view" || strings.Contains(r.Text, "what is missing") {
			t.Errorf("%s: %v %v", name, r.Text, r.Metadata)
		}
	}
	if r := b.read(object{"path": "n.ipynb", "raw": true}); !r.OK {
		t.Fatal(r.Text)
	}
	if r := b.rewrite(object{"path": "n.ipynb", "content": nb + " "}); !r.OK {
		t.Errorf("the file itself was seen whole: %s", r.Text)
	}
}

// TestL38_OneDescriptor: what is looked at and what is shown is one file,
// also where it is too large to be held as text.
func TestL38_OneDescriptor(t *testing.T) {
	large := document("in a large file") + " " + strings.Repeat("%", maxWholeRead)
	b := newBench(t, map[string]string{"large.pdf": large, "huge.pdf": large + large + strings.Repeat("%", 1<<20)})
	if r := b.read(object{"path": "large.pdf"}); !r.OK || !strings.Contains(r.Text, "in a large file") {
		t.Error(tool.Clip(r.Text))
	}
	if r := b.read(object{"path": "huge.pdf"}); r.OK || !strings.Contains(r.Text, "up to 20.0 MiB") {
		t.Error(tool.Clip(r.Text))
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(b.dir, "link.pdf")); err != nil {
		t.Fatal(err)
	}
	if r := b.read(object{"path": "link.pdf"}); r.OK {
		t.Error(r.Text)
	}
}

// TestF043_PicturesByRead: a picture is told by its content, and one that
// cannot be decoded to its end is never attached.
func TestF043_PicturesByRead(t *testing.T) {
	whole := picture(t, 7, 5)
	b := newBench(t, map[string]string{
		"a.png": whole, "lies.txt": whole, "text.png": "hello\n", "empty.png": "", "page.jpeg": "<html>\n",
		"head.png": whole[:33] + "rubbish", "cut.png": whole[:len(whole)-20], "v.svg": "<svg/>\n",
	})
	for name, want := range map[string]string{
		"a.png": "a.png: PNG, 7 × 5 pixels", "lies.txt": "PNG, 7 × 5", "text.png": "1│hello", "empty.png": "(the file is empty)",
		"page.jpeg": "1│<html>", "head.png": "damaged PNG", "cut.png": "damaged PNG", "v.svg": "1│<svg/>",
	} {
		picture := strings.Contains(want, "pixels") || strings.Contains(want, "7 ×")
		for _, r := range []*tool.Result{b.read(object{"path": name}), b.call(ViewImage(), object{"path": name})} {
			if (len(r.Media) == 1) != picture || picture && (r.Media[0].MIME != "image/png" || string(r.Media[0].Data) != whole) {
				t.Errorf("%s: %d media, %s", name, len(r.Media), r.Text)
			}
		}
		if r := b.read(object{"path": name}); !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
}

func TestReadMany(t *testing.T) {
	b := newBench(t, map[string]string{
		"a": "one\n", "b": "two\n", "big": numbers(20_000), "big2": numbers(20_000), "p.png": picture(t, 3, 3), "d.pdf": document("doc"),
	})
	r := b.read(object{"paths": []string{"a", "missing", "b"}})
	if want := "=== a ===\n1│one\n=== missing ===\n[not read: there is no file missing; list_dir or glob shows what there is]\n=== b ===\n1│two"; !r.OK || r.Text != want {
		t.Errorf("got %q", r.Text)
	}
	r = b.read(object{"paths": []string{"big", "a", "big2", "p.png", "d.pdf"}})
	if !r.OK || len(r.Text) > maxReadBytes+footerRoom || len(r.Media) != 1 {
		t.Fatalf("%d bytes, %d media", len(r.Text), len(r.Media))
	}
	first, second := strings.Index(r.Text, "=== a ==="), strings.Index(r.Text, "=== big2 ===")
	third := strings.Index(r.Text, "=== p.png ===")
	if share := third - second; first < 15_000 || share < 15_000 {
		t.Errorf("shares of %d and %d bytes are not fair", first, share)
	}
	for _, want := range []string{`continue with {"path": "big", "start_line": `, "--- page 1 of 1 ---\ndoc", "1│one"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if r = b.read(object{"paths": []string{"x", "y"}}); r.OK || r.Code != tool.CodeFailed || !strings.Contains(r.Text, "none of the 2 files") {
		t.Errorf("%s", r.Text)
	}
	if r = b.read(object{"paths": []string{"a"}}); r.Text != "1│one" {
		t.Errorf("%s", r.Text)
	}
	var many []string
	for i := range maxPaths + 2 {
		name := fmt.Sprintf("many/%d", i)
		b.write(name, "x\n")
		many = append(many, name)
	}
	if r = b.read(object{"paths": many}); !strings.HasSuffix(r.Text, `2 more: {"paths":["many/20","many/21"]}]`) {
		t.Errorf("%s", r.Text)
	}
	for _, bad := range []object{{}, {"paths": []string{}}, {"paths": []string{"a", "b"}, "limit": 3}, {"paths": []string{"a", ""}}, {"path": "a", "paths": []string{"b"}, "cell": "1"}} {
		if r := b.read(bad); r.Code != tool.CodeInvalidInput {
			t.Errorf("%v: %s", bad, r.Text)
		}
	}
	act, err := ReadFile().(tool.Assesser).Assess(t.Context(), &tool.Call{Args: json.RawMessage(`{"path":"a","paths":["b","c"]}`)})
	if err != nil || strings.Join(act.Reads, " ") != "a b c" {
		t.Errorf("%+v, %v", act, err)
	}
}

// sampleNotebook has code cells with an output and a picture each.
func sampleNotebook(cells int) string {
	var b strings.Builder
	b.WriteString(`{"cells": [{"cell_type": "markdown", "id": "intro", "metadata": {}, "source": "# Title"}`)
	for i := range cells {
		fmt.Fprintf(&b, `, {"cell_type": "code", "execution_count": %d, "id": "c%d", "metadata": {}, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["\u001b[31mout\u001b[0m %d\n"]}], "source": ["x = 1\n", "\ty"]}`, i+1, i, i)
	}
	b.WriteString(`], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}`)
	return b.String()
}

func TestReadNotebook(t *testing.T) {
	img := base64.StdEncoding.EncodeToString([]byte(picture(t, 3, 3)))
	display := func(mime, data string) string {
		return `{"cells":[{"cell_type":"code","source":"plot()","outputs":[{"output_type":"display_data","data":{"` + mime + `":"` + data + `","text/plain":"<Figure>"}}]}],"nbformat":4}`
	}
	b := newBench(t, map[string]string{
		"n.ipynb": sampleNotebook(2), "big.ipynb": sampleNotebook(2000), "img.ipynb": display("image/png", img), "bad.ipynb": display("image/png", "aGVsbG8="),
		"broken.ipynb": "{oops", "loud.ipynb": strings.Replace(sampleNotebook(1), `out\u001b[0m 0\n`, strings.Repeat(`line\n`, 5000), 1),
	})
	r := b.read(object{"path": "n.ipynb"})
	want := "--- cell 0 of 3, id intro, markdown ---\n1│# Title\n--- cell 1 of 3, id c0, code (python), run 1 ---\n1│x = 1\n2│\ty\n[output: stream]\nout 0\n--- cell 2"
	if !strings.HasPrefix(r.Text, want) {
		t.Errorf("got %q", r.Text)
	}
	for _, tt := range []struct {
		args object
		want string
	}{
		{object{"path": "n.ipynb", "cell": "c1"}, "--- cell 2 of 3, id c1"},
		{object{"path": "n.ipynb", "cell": "1-2"}, "--- cell 2 of 3, id c1"},
		{object{"path": "n.ipynb", "cell": "9"}, "the cells are 0 to 2, by id 0=intro 1=c0 2=c1"},
		{object{"path": "n.ipynb", "raw": true}, `1│{"cells": [`},
		{object{"path": "n.ipynb", "byte_offset": 0, "byte_limit": 9}, `{"cells":`},
		{object{"path": "n.ipynb", "start_line": 1}, `1│{"cells": [`},
		{object{"path": "n.ipynb", "cell": "1", "raw": true}, "cell does not go with raw"},
		{object{"path": "broken.ipynb"}, "1│{oops"},
		{object{"path": "broken.ipynb", "cell": "1"}, "has no cells to show"},
		{object{"path": "img.ipynb"}, "(a picture, image/png, "},
		{object{"path": "bad.ipynb"}, "that cannot be shown"},
		{object{"path": "loud.ipynb"}, "more bytes of this output"},
		{object{"path": "big.ipynb"}, `continue with {"path": "big.ipynb", "cell": "`},
	} {
		r := b.read(tt.args)
		if !strings.Contains(r.Text, tt.want) || len(r.Text) > maxReadBytes+footerRoom {
			t.Errorf("%v: %d bytes: %s", tt.args, len(r.Text), tool.Clip(r.Text))
		}
		if media := tt.args["path"] == "img.ipynb"; media != (len(r.Media) == 1) {
			t.Errorf("%v: %d media", tt.args, len(r.Media))
		}
	}
}

func (b *bench) editCell(args object) *tool.Result { b.t.Helper(); return b.call(NotebookEdit(), args) }

func TestNotebookEdit(t *testing.T) {
	in := sampleNotebook(2)
	b := newBench(t, map[string]string{"n.ipynb": in, "t.txt": "x\n"})
	r := b.editCell(object{"path": "n.ipynb", "cell": "c0", "source": "x = 2"})
	if !r.OK || !strings.Contains(r.Text, "Replaced the source of cell 1") || !strings.Contains(r.Text, "outputs are cleared") {
		t.Fatal(r.Text)
	}
	want := strings.Replace(in, `"execution_count": 1, "id": "c0", "metadata": {}, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["\u001b[31mout\u001b[0m 0\n"]}], "source": ["x = 1\n", "\ty"]`,
		`"execution_count": null, "id": "c0", "metadata": {}, "outputs": [], "source": ["x = 2"]`, 1)
	if got := b.content("n.ipynb"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r = b.editCell(object{"path": "n.ipynb", "cell": "c0", "source": "x = 2"}); !r.OK || len(r.Changed) != 0 {
		t.Errorf("%s", r.Text)
	}
	if r = b.editCell(object{"path": "n.ipynb", "mode": "insert", "cell_type": "markdown", "source": "top"}); !r.OK || !strings.Contains(r.Text, "number 0 of 4, id cell-4") {
		t.Errorf("%s", r.Text)
	}
	if r = b.editCell(object{"path": "n.ipynb", "mode": "delete", "cell": "cell-4"}); !r.OK || b.content("n.ipynb") != want {
		t.Errorf("%s\n%s", r.Text, b.content("n.ipynb"))
	}
	for _, tt := range []struct {
		args object
		want string
	}{
		{object{"path": "n.ipynb", "cell": "nope", "source": ""}, "the cells are 0 to 2, by id 0=intro 1=c0 2=c1"},
		{object{"path": "n.ipynb", "cell": "1"}, "source is missing"},
		{object{"path": "n.ipynb", "source": "x"}, "cell is missing"},
		{object{"path": "n.ipynb", "mode": "insert", "source": "x"}, "cell_type is missing"},
		{object{"path": "n.ipynb", "mode": "delete", "cell": "1", "source": "x"}, "do not go with delete"},
		{object{"path": "t.txt", "cell": "1", "source": "x"}, "cannot be edited by cells"},
		{object{"path": "missing.ipynb", "cell": "1", "source": "x"}, "there is no file"},
		{object{"path": "../n.ipynb", "cell": "1", "source": "x"}, "outside"},
	} {
		if r := b.editCell(tt.args); r.OK || !strings.Contains(r.Text, tt.want) {
			t.Errorf("%v: %s", tt.args, r.Text)
		}
	}
	if b.content("n.ipynb") != want {
		t.Error("a refused edit changed the file")
	}
	// The names that models know it by reach it (L4).
	spec := NotebookEdit().Spec()
	schema, err := args.Compile(spec.Name, spec.Input, spec.ArgAliases)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := schema.Decode(json.RawMessage(`{"notebook_path":"n.ipynb","cell_id":"1","new_source":"x = 3","edit_mode":"replace"}`))
	if err != nil {
		t.Fatal(err)
	}
	if r := b.call(NotebookEdit(), decoded.Args); !r.OK {
		t.Error(r.Text)
	}
}

// TestSecretAtTheEdge: a window that cuts a known secret in two shows no part
// of it.
func TestSecretAtTheEdge(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	giant := strings.Repeat("x", maxReadBytes-12) + secret + strings.Repeat("y", 100)
	large := strings.Repeat("z", maxWholeRead) + "\n" + giant
	b := newBench(t, map[string]string{"f": "password: " + secret + "\n", "giant": giant, "large": large, "wide": strings.Repeat("é", maxWholeRead) + secret})
	if err := b.redactor.Know("the password", secret); err != nil {
		t.Fatal(err)
	}
	for _, args := range []object{
		{"path": "f", "byte_limit": 18}, {"path": "f", "byte_offset": 15}, {"path": "f", "byte_offset": 14, "byte_limit": 5},
		{"path": "giant"}, {"path": "large", "byte_offset": len(large) - len(giant) + maxReadBytes - 5},
		{"path": "large", "start_line": 2}, {"path": "large", "byte_offset": len(large) - len(giant), "byte_limit": maxReadBytes - 4},
		{"path": "wide", "byte_offset": 2*maxWholeRead + 5},
	} {
		r := b.read(args)
		if !r.OK || !strings.Contains(r.Text, "[redacted: the secret the password") {
			t.Errorf("%v: …%s", args, r.Text[max(0, len(r.Text)-300):])
		}
		for n := 0; n+5 <= len(secret); n++ {
			if strings.Contains(r.Text, secret[n:n+5]) {
				t.Errorf("%v shows %q", args, secret[n:n+5])
				break
			}
		}
	}
	// What was shown redacted must not be written back (L42).
	if r := b.read(object{"path": "f"}); !r.OK {
		t.Fatal(r.Text)
	}
	if r := b.rewrite(object{"path": "f", "content": "password: [redacted]\n"}); r.OK || r.Metadata["guard"] != "lossy_view" {
		t.Errorf("%s", r.Text)
	}
}

// TestL47_Handles: a name that is the handle of something else says so, and a
// refusal stays one.
func TestL47_Handles(t *testing.T) {
	b := newBench(t, map[string]string{"config.go": "x"})
	for name, want := range map[string]string{
		"file-8f3kZx92LmQp4Rt7vWn1Yb":          "handle of an upload",
		"3f2504e0-4f89-11d3-9a0c-0305e82c3301": "handle of an upload",
		"upload://abc":                         "an address and not a path",
		"https://example.com/x":                "an address and not a path",
		"confg.go":                             "near names are config.go",
		"../file-8f3kZx92LmQp4Rt7vWn1Yb":       "outside the workspace",
	} {
		if r := b.read(object{"path": name}); r.OK || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
}

// TestL45_EveryReadIsAWindow: the numbers of octos-core 7.2 hold without being asked
// for: every read is a window, whole or not.
func TestL45_EveryReadIsAWindow(t *testing.T) {
	wide := strings.Repeat(strings.Repeat("w", 999)+"\n", 200)
	b := newBench(t, map[string]string{"lines": numbers(5000), "wide": wide, "giant": strings.Repeat("é", 100_000) + "\nnext\n"})
	r := b.read(object{"path": "lines"})
	if !strings.HasSuffix(r.Text, "\n2000│line 2000\n[read_file: lines 1–2000 of 5000; continue with {\"path\": \"lines\", \"start_line\": 2001}]") {
		t.Errorf("…%s", r.Text[len(r.Text)-200:])
	}
	r = b.read(object{"path": "wide"})
	body, foot, _ := strings.Cut(r.Text, noticeStart)
	if len(body) > 49_152 || len(body) < 49_152-1100 || !strings.Contains(foot, `continue with {"path": "wide", "start_line": 49}`) {
		t.Errorf("%d bytes and %s", len(body), foot)
	}
	r = b.read(object{"path": "giant"})
	if body, foot, _ = strings.Cut(r.Text, noticeStart); len(body) > 49_152 || !strings.Contains(foot, `"byte_offset": `) || !strings.Contains(foot, `the next line with {"path": "giant", "start_line": 2}`) {
		t.Errorf("%d bytes and %s", len(body), foot)
	}
	spec := ReadFile().Spec()
	if limit := spec.OutputLimit(); limit != 49_152+footerRoom || footerRoom < 400 || limit > tool.DefaultOutput+footerRoom {
		t.Errorf("the limit is %d", limit)
	}
	for _, r := range []*tool.Result{
		b.read(object{"path": "giant", "byte_offset": 1, "byte_limit": 1}), // inside a character: at least that one
	} {
		if !strings.HasPrefix(r.Text, "é\n[read_file: bytes 0–1 of 200006; continue with {\"path\": \"giant\", \"byte_offset\": 2}]") {
			t.Errorf("%s", r.Text)
		}
	}
	if r := b.read(object{"path": "giant", "byte_offset": 200_006}); r.Code != tool.CodeInvalidInput {
		t.Errorf("%s", r.Text)
	}
}

// hugeFile makes a file of a gigabyte whose middle is not there.
func hugeFile(t testing.TB, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 30
	_, err1 := f.WriteString(numbers(100_000))
	_, err2 := f.WriteAt([]byte("\nthe end\n"), size-9)
	if err := f.Close(); err1 != nil || err2 != nil || err != nil {
		t.Fatal(err1, err2, err)
	}
}

// TestGigabyte: a window of a huge file costs what a window costs.
func TestGigabyte(t *testing.T) {
	b := newBench(t, nil)
	hugeFile(t, filepath.Join(b.dir, "huge"))
	for _, tt := range []struct {
		args object
		want string
		most time.Duration
	}{
		{object{"path": "huge"}, "   1│line 1\n", 10 * time.Second},
		{object{"path": "huge", "start_line": 90_000, "limit": 1}, "90000│line 90000\n[read_file: lines 90000–90000 of a file of 1.0 GiB", 10 * time.Second},
		{object{"path": "huge", "byte_offset": 1<<30 - 8}, "the end\n", 10 * time.Second},
		{object{"path": "huge", "start_line": 200_000}, "the file has 100002 lines", time.Minute}, // all of it must be read
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		r := b.read(tt.args)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if !strings.Contains(r.Text, tt.want) {
			t.Errorf("%v: %s", tt.args, tool.Clip(r.Text))
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 8<<20 || took > tt.most {
			t.Errorf("%v: %d bytes and %v", tt.args, taken, took)
		}
	}
}

func TestInspectWholeIsUsed(t *testing.T) {
	whole := picture(t, 30, 30)
	if _, err := output.InspectWhole([]byte(whole[:len(whole)-30])); err == nil {
		t.Error("a picture that is cut off passes")
	}
	if _, err := output.Inspect([]byte(whole[:len(whole)-30])); err != nil {
		t.Errorf("its head is good: %v", err)
	}
}
