package file

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

func picture(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestViewImage(t *testing.T) {
	whole := picture(t, 7, 5)
	b := newBench(t, map[string]string{
		"a.png": whole, "lies.txt": whole, "text.png": "hello\n", "cut.png": whole[:20], "empty.png": "", "dir/b.png": whole,
	})
	for _, c := range []struct{ path, want string }{
		{"a.png", "a.png: PNG, 7 × 5 pixels"},
		{"lies.txt", "lies.txt: PNG, 7 × 5 pixels"},
		{"dir/b.png", "dir/b.png: PNG"},
		{"text.png", "read_file reads it"},
		{"cut.png", "damaged PNG"},
		{"empty.png", "no picture"},
		{"dir", "list_dir"},
		{"b.png", "b.png"},
		{"../a.png", "outside"},
	} {
		r := b.call(ViewImage(), map[string]any{"path": c.path})
		if !strings.Contains(r.Text, c.want) {
			t.Errorf("%s: %q, want %q", c.path, r.Text, c.want)
		}
		if r.OK != (len(r.Media) == 1) {
			t.Errorf("%s: OK %v with %d pictures", c.path, r.OK, len(r.Media))
		}
		if r.OK && (r.Media[0].MIME != "image/png" || string(r.Media[0].Data) != whole) {
			t.Errorf("%s: another picture than the file's", c.path)
		}
	}
}

func TestViewImageSuite(t *testing.T) {
	b := newBench(t, map[string]string{"a.png": picture(t, 3, 3), "b.txt": "x"})
	tooltest.Run(t, ViewImage(), tooltest.Options{
		Dir:     b.dir,
		Context: func(ctx context.Context) context.Context { return b.around(ctx) },
		Examples: []tooltest.Example{
			{Args: `{"path":"a.png"}`}, {Args: `{"path":"b.txt"}`, Code: tool.CodeFailed},
		},
	})
}
