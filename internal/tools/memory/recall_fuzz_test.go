package memory

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/store"
)

// viewOf returns a view of a text that was never stored, read in blocks of a
// few bytes so that every edge is met.
func viewOf(text string, verbatim bool, block int64) *view {
	lines := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		lines++
	}
	return &view{
		ctx:      context.Background(),
		record:   &store.Record{ID: "r_aaaaaaaaaaaa", Verbatim: verbatim, Size: int64(len(text)), Lines: lines},
		content:  &store.Content{ReaderAt: strings.NewReader(text), Size: int64(len(text))},
		redactor: &output.Redactor{},
		block:    block,
	}
}

// FuzzRecall checks that every way of reading stays within its room, shows
// whole characters, and shows the lines that preparing the whole text gives.
func FuzzRecall(f *testing.F) {
	f.Add("one\ntwo\n\nfour", 2, 2, int64(3), int64(4), uint8(3), "o")
	f.Add("日本語\n"+strings.Repeat("x", 90)+"\n", 1, 0, int64(1), int64(1), uint8(7), "^x")
	f.Add("a\x1b[31m\nb\r\n\xff\u202e\n", 1, 9, int64(0), int64(0), uint8(1), ".")
	f.Add("password=hunter22x\n-----BEGIN PRIVATE KEY-----\nabc\n", 2, 1, int64(9), int64(9), uint8(20), "hunter")
	f.Fuzz(func(t *testing.T, text string, start, count int, offset, limit int64, block uint8, pattern string) {
		if text == "" || len(text) > 1000 || start < 1 || count < 0 || offset < 0 || limit < 0 {
			return
		}
		for _, verbatim := range []bool{false, true} {
			for name, show := range map[string]func(v *view) error{
				"lines": func(v *view) error { return v.lines(recallIn{StartLine: start, Limit: count}) },
				"tail":  func(v *view) error { return v.tail(max(1, count)) },
				"bytes": func(v *view) error { return v.bytes(recallIn{ByteOffset: &offset, ByteLimit: limit}) },
				"grep": func(v *view) error {
					re, err := regexp.Compile(pattern)
					if err != nil {
						return err
					}
					return v.grep(recallIn{StartLine: start, Limit: count, Context: int(block) % 4}, re)
				},
			} {
				v := viewOf(text, verbatim, int64(block)+1)
				if err := show(v); err == nil && (v.out.Len() > recallRoom || !utf8.ValidString(v.out.String())) {
					t.Errorf("%s of %q: %d bytes, or broken characters: %q", name, text, v.out.Len(), v.out.String())
				}
			}
			checkLines(t, text, verbatim, int64(block)+1)
		}
	})
}

// checkLines checks the lines against those of the whole text.
func checkLines(t *testing.T, text string, verbatim bool, block int64) {
	v := viewOf(text, verbatim, block)
	whole := output.Prepare(text, verbatim, v.redactor)
	want, raw := strings.Split(whole.Text, "\n"), strings.Split(text, "\n")
	if strings.HasSuffix(text, "\n") {
		raw = raw[:len(raw)-1]
	}
	want = want[:len(raw)]
	n, offset := 0, int64(0)
	for l, err := range v.from(0, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if n >= len(want) {
			t.Fatalf("%q has a line %d", text, l.number)
		}
		if l.number != n+1 || l.offset != offset || l.size != int64(len(raw[n])) {
			t.Errorf("line %d of %q: number %d, offset %d, size %d", n+1, text, l.number, l.offset, l.size)
		}
		// A secret that reaches over blocks has a placeholder in each.
		if l.read == l.size && whole.Redacted == nil && l.text != want[n] {
			t.Errorf("line %d of %q is %q, want %q", n+1, text, l.text, want[n])
		}
		offset += int64(len(raw[n])) + 1
		n++
	}
	if n != len(want) {
		t.Errorf("%q has %d lines, shown are %d", text, len(want), n)
	}
}

func TestPagesOfEverySize(t *testing.T) {
	var sb strings.Builder
	for i := range 40 {
		fmt.Fprintf(&sb, "%d%s\r\n", i, strings.Repeat("日x", i%9))
	}
	for block := int64(1); block < 80; block++ {
		checkLines(t, sb.String(), false, block)
		checkLines(t, sb.String(), true, block)
	}
}
