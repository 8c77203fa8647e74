package patch

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

// checkAny holds a patch of any text against a content of any text: what is
// refused is refused with a bounded message, and what is applied changes
// nothing but lines that the patch names.
func checkAny(t *testing.T, text, content string, opts Options) {
	p, err := Parse(text, opts)
	if err != nil {
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || len(err.Error()) > tool.MaxErrorText || p != nil {
			t.Fatalf("%v %v", p, err)
		}
		return
	}
	if len(p.Files) == 0 {
		t.Fatal("a patch of no file")
	}
	for i := range p.Files {
		f := &p.Files[i]
		if f.Path == "" || opts.Path != "" && f.Path != opts.Path {
			t.Fatalf("path %q", f.Path)
		}
		if f.Action == Add || len(f.Hunks) == 0 {
			continue
		}
		o, err := f.Apply(context.Background(), "f", content)
		if err != nil {
			var mismatch *MismatchError
			if !errors.As(err, &mismatch) || err.Error() == "" {
				t.Fatal(err)
			}
			continue
		}
		checkSplices(t, f, content, o)
	}
}

// checkSplices makes sure that every line that goes is one of the patch, and
// every line that comes.
func checkSplices(t *testing.T, f *File, content string, o *Outcome) {
	goes, comes := map[string]bool{}, map[string]bool{"": true}
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			for part := range strings.FieldsFuncSeq(l.Text, func(r rune) bool { return r == '\r' }) {
				part = Typographic.fold(part)
				goes[part] = goes[part] || l.Kind == '-'
				comes[part] = comes[part] || l.Kind == '+'
			}
		}
	}
	at := 0
	for _, s := range o.Splices {
		if s.Start < at || s.End < s.Start || s.End > len(content) {
			t.Fatalf("splice %+v after %d of %d", s, at, len(content))
		}
		at = s.End
		for _, line := range strings.FieldsFunc(content[s.Start:s.End], isEnd) {
			if line = Typographic.fold(line); line != "" && !goes[line] {
				t.Fatalf("%q goes, which no hunk removes", line)
			}
		}
		for _, line := range strings.FieldsFunc(s.New, isEnd) {
			if line = Typographic.fold(line); !comes[line] {
				t.Fatalf("%q comes, which no hunk adds", line)
			}
		}
	}
	if len(o.Placed) != len(f.Hunks) {
		t.Fatalf("%d places of %d hunks", len(o.Placed), len(f.Hunks))
	}
}

func isEnd(r rune) bool { return r == '\n' || r == '\r' }

func FuzzPatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: f\n@@ b\n-c\n+d\n*** End of File\n*** Delete File: x\n*** End Patch", "a\nb\nc\n")
	f.Add("<<'E'\n*** Begin Patch\n*** Add File: f\n+c\n*** Update File: f\n*** Move to: g\n@@ x\n@@ y\n \n+d\n*** End Patch\nE", "a\r\nb\rc\n")
	f.Add("*** Begin Patch\n*** Update File: f\n x\n-y\n+“z”\n\n@@ -1 +1 @@ h\n+q\n*** End Patch", "x\n y\n\n")
	f.Fuzz(func(t *testing.T, text, content string) {
		checkAny(t, text, content, Options{})
		checkAny(t, beginPatch+"\n*** Update File: f\n"+text+"\n"+endPatch, content, Options{})
	})
}

func FuzzDiff(f *testing.F) {
	f.Add("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ x\n a\n-b\n+c\n", "a\nb\n")
	f.Add("diff --git a/f b/g\nsimilarity index 1%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "a")
	f.Add("diff --git \"a/\\303\\274\" \"b/\\303\\274\"\nnew file mode 100644\n@@ ... @@\n+a\n\n", "\n\n")
	f.Add("@@ -3,9 +3 @@\n-a\n+b\n@@ -1 +1 @@\n x\n+c\n", "x\ny\na\n")
	f.Fuzz(func(t *testing.T, text, content string) {
		checkAny(t, text, content, Options{})
		checkAny(t, text, content, Options{Path: "f"})
	})
}
