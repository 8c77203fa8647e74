package file

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCodexEdges: what Codex' own patch program does at the edges, as it was
// measured, and what is done here. Where the two differ, differs says why.
func TestCodexEdges(t *testing.T) {
	one := map[string]string{"a": "x\n"}
	for _, tt := range []struct {
		name, codex, differs string
		files                map[string]string
		patch                string
		want                 map[string]string // nil: refused, nothing is changed
	}{
		{"text after the end marker", "refused", "", one, "*** Begin Patch\n*** Delete File: a\n*** End Patch\nmore", nil},
		{"two @@ lines in a row", "refused", "nested contexts were promised to models by the grammar", map[string]string{"a": "c A\n  f\n    x\nc B\n  f\n    x\n"},
			"*** Update File: a\n@@ c B\n@@   f\n-    x\n+    y\n", map[string]string{"a": "c A\n  f\n    x\nc B\n  f\n    y\n"}},
		{"ranges of git after @@", "taken as context and not found", "they are line numbers", one, "*** Update File: a\n@@ -1,1 +1,1 @@\n-x\n+y\n", map[string]string{"a": "y\n"}},
		{"the remark about a missing line end", "refused", "it is understood", map[string]string{"a": "x"}, "*** Update File: a\n@@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n", map[string]string{"a": "y"}},
		{"a rename without hunk", "refused", "models write it", one, "*** Update File: a\n*** Move to: b\n", map[string]string{"b": "x\n"}},
		{"only an @@ line", "refused", "", one, "*** Update File: a\n@@\n", nil},
		{"lines without + in an added file", "refused", "", nil, "*** Add File: b\nx\n", nil},
		{"an added file without lines", "empty file", "", nil, "*** Add File: b\n", map[string]string{"b": ""}},
		{"another delimiter of the here-document", "refused", "any word is one", nil, "<<'PATCH'\n*** Begin Patch\n*** Add File: b\n+x\n*** End Patch\nPATCH", map[string]string{"b": "x\n"}},
		{"an environment line", "taken", "there is one workspace, and a line that nobody obeys is refused", nil, "*** Begin Patch\n*** Environment ID: e\n*** Add File: b\n+x\n*** End Patch", nil},
		{"lines to add under a context", "added at the end of the file", "they belong right after the context", map[string]string{"a": "1\n2\n3\n"}, "*** Update File: a\n@@ 1\n+new\n", map[string]string{"a": "1\nnew\n2\n3\n"}},
		{"a later exact place and an earlier loose one", "the exact one", "", map[string]string{"a": "  x\nx\n"}, "*** Update File: a\n@@\n-x\n+y\n", map[string]string{"a": "  x\ny\n"}},
		{"two places that fit alike", "the first", "it could be either", map[string]string{"a": "x\nx\n"}, "*** Update File: a\n@@\n-x\n+y\n", nil},
		{"the end of the file, and the lines are elsewhere", "refused", "", map[string]string{"a": "x\nb\n"}, "*** Update File: a\n@@\n-x\n+y\n*** End of File\n", nil},
		{"an empty last line that is not in the file", "left out", "", map[string]string{"a": "x\nb\n"}, "*** Update File: a\n@@\n-x\n+y\n\n", map[string]string{"a": "y\nb\n"}},
		{"a pattern longer than the file", "refused (once a crash)", "", one, "*** Update File: a\n@@\n x\n b\n-c\n", nil},
		{"an untouched last line without end", "gains one", "nobody named that line", map[string]string{"a": "x\nlast"}, "*** Update File: a\n@@\n-x\n+y\n", map[string]string{"a": "y\nlast"}},
		{"a touched last line without end", "gains one", "", map[string]string{"a": "x"}, "*** Update File: a\n@@\n-x\n+y\n", map[string]string{"a": "y\n"}},
		{"move onto itself", "the file is deleted", "nothing is lost", one, "*** Update File: a\n*** Move to: a\n@@\n-x\n+y\n", map[string]string{"a": "y\n"}},
		{"move over a file", "replaced", "", map[string]string{"a": "x\n", "b": "old\n"}, "*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n", map[string]string{"b": "y\n"}},
		{"the second part fails", "the first stays", "all or nothing", one, "*** Update File: a\n@@\n-x\n+y\n*** Delete File: nowhere\n", nil},
		{"one file twice, by two spellings", "in the agent refused, in the program applied in turn", "applied in turn, listed once", one, "*** Update File: a\n@@\n-x\n+y\n*** Update File: ./a\n@@\n-y\n+z\n", map[string]string{"a": "z\n"}},
		{"bytes that are not UTF-8", "cannot be read", "bytes outside the change are kept", map[string]string{"a": "x\n\xe9t\xe9\n"}, "*** Update File: a\n@@\n-x\n+y\n", map[string]string{"a": "y\n\xe9t\xe9\n"}},
		{"a path of a protected folder", "asks or refuses", "", nil, "*** Add File: .git/x\n+x\n", nil},
		{"a path that leads out", "parsed, and refused by the fence", "", nil, "*** Add File: ../x\n+x\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.files)
			before := tree(t, b.dir)
			r := b.patch(enveloped(tt.patch))
			got := tree(t, b.dir)
			if tt.want == nil && (r.OK || !maps.Equal(got, before)) || tt.want != nil && (!r.OK || !maps.Equal(got, tt.want)) {
				t.Errorf("%s\ngot %q, want %q", r.Text, got, tt.want)
			}
			t.Logf("Codex: %s. %s", tt.codex, tt.differs)
		})
	}
}

// TestPatchHardLinks: Codex writes through a hard link and so changes a file
// that nobody named; here the other name keeps its content, and it is said.
func TestPatchHardLinks(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x\n"})
	if err := os.Link(filepath.Join(b.dir, "a"), filepath.Join(b.dir, "b")); err != nil {
		t.Fatal(err)
	}
	r := b.patch(enveloped("*** Update File: a\n@@\n-x\n+y\n"))
	if !r.OK || b.content("a") != "y\n" || b.content("b") != "x\n" || !strings.Contains(r.Text, "1 other name of this file, as hard links, keep") {
		t.Errorf("%s %q", r.Text, b.content("b"))
	}
}
