package file

import (
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
)

// FuzzEdit applies one edit to a file in memory. Where the quotation stands
// in the text exactly once, the result is what a plain replacement gives;
// in any case the text before and after the place stays.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("func f() {\r\n\treturn\r\n}\r\n"), "    return", "    return nil", false)
	f.Add([]byte("a\nb\na\n"), "a", "c", true)
	f.Add([]byte("\xff\xfea\x00\n\x00"), "a", "é", false)
	f.Add([]byte("v = 1\n\xd6\xd0\xce\xc4\n"), "v = 1", "v = 2", false)
	f.Add([]byte("1│a\n"), "1│a", "2│b", false)
	f.Add([]byte("x “y” z\n"), `x "y" z`, `x "q" z`, false)
	f.Add([]byte("a\rb\r"), "a\nb", "c\n\nd", false)
	w, err := workspace.Open(f.TempDir(), workspace.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	f.Fuzz(func(t *testing.T, data []byte, quote, replacement string, all bool) {
		s := editing{views: w.Views(), name: "f", old: workspace.File{Rel: "f", Data: data}}
		e := oneEdit{OldString: quote, NewString: replacement, ReplaceAll: all}
		if quote == "" || len(e.problems()) > 0 {
			return
		}
		before, err := decodeForEdit("f", data, "")
		if err != nil {
			return
		}
		out, err := s.run([]oneEdit{e}, "")
		if err != nil {
			return
		}
		_ = s.report(workspace.Change{Rel: "f"}, []oneEdit{e})
		plain := !strings.Contains(before.Content+quote+replacement, "\r") && !strings.HasPrefix(quote, "\ufeff")
		if plain && strings.Count(before.Content, quote) > 0 {
			want := strings.Replace(before.Content, quote, replacement, 1)
			if all {
				want = strings.ReplaceAll(before.Content, quote, replacement)
			}
			if s.text.Content != want {
				t.Fatalf("%q with %q for %q is %q, want %q", before.Content, replacement, quote, s.text.Content, want)
			}
		}
		checkAround(t, before, out, &s)
	})
}

// checkAround makes sure that an edit only touched what it says.
func checkAround(t *testing.T, before textfile.Text, out []byte, s *editing) {
	t.Helper()
	if len(s.steps) != 1 {
		t.Fatalf("%d steps for one edit", len(s.steps))
	}
	after, err := before.With(out)
	if err != nil {
		t.Fatal(err)
	}
	at, now := int64(0), int64(0)
	for _, e := range s.steps[0] {
		keep := e.From.From - at
		if before.Content[at:at+keep] != after.Content[now:now+keep] {
			t.Fatalf("%q became %q: what stands before %+v changed", before.Content, after.Content, e)
		}
		at, now = e.From.To, now+keep+e.Len
	}
	if before.Content[at:] != after.Content[now:] {
		t.Fatalf("%q became %q: what stands after %+v changed", before.Content, after.Content, s.steps[0])
	}
}

// FuzzForms shows foreign bytes as a document, a notebook and a picture: the
// answer is bounded, and what was seen allows no overwriting.
func FuzzForms(f *testing.F) {
	f.Add([]byte(document("first", "second")), "1-2", int64(3))
	f.Add([]byte(sampleNotebook(2)), "1-", int64(0))
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"code","source":["x"],"outputs":[{"output_type":"error","traceback":["a"]},{"data":{"image/png":"AA==","a/b":1}}]}]}`), "0", int64(0))
	f.Add([]byte(`{"nbformat":4,"cells":[]}`), "", int64(0))
	w, err := workspace.Open(f.TempDir(), workspace.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	f.Fuzz(func(t *testing.T, data []byte, part string, offset int64) {
		ctx := output.WithRedactor(workspace.With(t.Context(), w), &output.Redactor{})
		for i, show := range []form{readPDF, readNotebook, readPicture} {
			in := readArgs{Path: "f.ipynb"}
			want := window{first: 1, limit: maxReadBytes, room: maxReadBytes, whole: true}
			switch i {
			case 0:
				in.Pages, want.offset = part, max(offset, 0)
			case 1:
				in.Cell = part
			}
			s, err := show(ctx, workspace.File{Rel: "f.ipynb", Data: data, Version: workspace.Version{Size: int64(len(data))}}, in, want)
			if err != nil {
				continue
			}
			if len(s.text) > maxReadBytes+footerRoom || len(s.media) > maxPictures {
				t.Fatalf("%d bytes and %d pictures", len(s.text), len(s.media))
			}
		}
	})
}
