package patch

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/handrail-tools/handrail/tool"
)

// brief writes what a patch does in one line a file.
func brief(p *Patch) string {
	var b strings.Builder
	for _, f := range p.Files {
		fmt.Fprintf(&b, "%s %s", [...]string{"", "add", "update", "delete"}[f.Action], f.Path)
		if f.To != "" {
			fmt.Fprintf(&b, " -> %s", f.To)
		}
		if f.Action == Add {
			fmt.Fprintf(&b, " %q", f.Content)
		} else if len(f.Hunks) > 0 {
			fmt.Fprintf(&b, " %d", len(f.Hunks))
		}
		if f.Mode != 0 {
			fmt.Fprintf(&b, " %o", f.Mode)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const small = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"

// TestForms: what is wrapped around a patch, and how its parts may be
// written.
func TestForms(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain", small, "add a \"x\\n\"\n"},
		{"CRLF and blank lines", "\r\n\n" + strings.ReplaceAll(small, "\n", "\r\n") + "\r\n\r\n", "add a \"x\\n\"\n"},
		{"CR alone", strings.ReplaceAll(small, "\n", "\r"), "add a \"x\\n\"\n"},
		{"byte order mark", "\ufeff" + small, "add a \"x\\n\"\n"},
		{"<<EOF", "<<EOF\n" + small + "\nEOF\n", "add a \"x\\n\"\n"},
		{"<<'EOF'", "<<'EOF'\n" + small + "\nEOF", "add a \"x\\n\"\n"},
		{"<<\"EOF\"", "<<\"EOF\"\n" + small + "\nEOF", "add a \"x\\n\"\n"},
		{"another word", "<< 'END_OF_PATCH'\n" + small + "\nEND_OF_PATCH", "add a \"x\\n\"\n"},
		{"with the command", "apply_patch <<'EOF'\n" + small + "\nEOF", "add a \"x\\n\"\n"},
		{"fence", "```patch\n" + small + "\n```", "add a \"x\\n\"\n"},
		{"here-document in a fence", "```\napply_patch <<'EOF'\n" + small + "\nEOF\n```\n", "add a \"x\\n\"\n"},
		{"an empty line lost its +", "*** Begin Patch\n*** Add File: a\n+x\n\n+y\n\n*** End Patch", "add a \"x\\n\\ny\\n\"\n"},
		{"no line end", "*** Begin Patch\n*** Add File: a\n+x\n\\ No newline at end of file\n*** End Patch", "add a \"x\"\n"},
		{"F021 an added file that holds control lines", "*** Begin Patch\n*** Add File: a\n+*** End Patch\n+@@ x\n+*** Delete File: b\n*** End Patch", "add a \"*** End Patch\\n@@ x\\n*** Delete File: b\\n\"\n"},
		{"pure rename", "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch", "update a -> b\n"},
		{"padded headers", "*** Begin Patch\n  *** Update File:  a \n  *** Move to: b\n@@\n-x\n+y\n*** Delete File: c\n  *** Delete File: d\n*** End Patch", "update a -> b 1\ndelete c\ndelete d\n"},
		{"a sentence before a diff", "Here it is:\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "update f 1\n"},
		{"mail", "From 123 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n---\n f | 2 +-\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n-- \n2.39.2\n\n", "update f 1\n"},
		{"git: empty files", "diff --git a/e b/e\nnew file mode 100755\nindex 0000000..e69de29\ndiff --git a/g h b/g h\ndeleted file mode 100644\nindex e69de29..0000000\n", "add e \"\" 755\ndelete g h\n"},
		{"git: rename alone", "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "update x -> y\n"},
		{"git: quoted names", "diff --git \"a/gr\\303\\274n\\t.txt\" \"b/gr\\303\\274n\\t.txt\"\nindex 1..2 100644\n--- \"a/gr\\303\\274n\\t.txt\"\n+++ \"b/gr\\303\\274n\\t.txt\"\n@@ -1 +1 @@\n-a\n+b\n", "update grün\t.txt 1\n"},
		{"git: mode and hunks", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "update f 1 755\n"},
		{"git: no prefixes", "diff --git f f\nindex 1..2 100644\n--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", "update f 1\n"},
		{"git: other prefixes", "diff --git i/f w/f\n--- i/f\n+++ w/f\n@@ -1 +1 @@\n-a\n+b\n", "update f 1\n"},
		{"a copy that is compared with", "--- f.orig\t2024-01-01 00:00:00\n+++ f\t2024-01-01 00:00:00\n@@ -1 +1 @@\n-a\n+b\n", "update f 1\n"},
		{"new and gone", "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "add n \"a\\nb\"\ndelete o 1\n"},
		{"svn", "Index: f\n===================================================================\n--- f\t(revision 1)\n+++ f\t(working copy)\n@@ -1 +1 @@\n-a\n+b\n", "update f 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := brief(parse(t, tt.text, Options{})); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestSyntaxErrors: a mistake is named with its line and what would be right;
// several are named together.
func TestSyntaxErrors(t *testing.T) {
	const begin, end = "*** Begin Patch\n", "*** End Patch\n"
	for _, tt := range []struct {
		name, text string
		says       []string
	}{
		{"nothing", " \n\n", []string{"the patch is empty"}},
		{"prose", "please change it", []string{"line 1", "*** Begin Patch", "+++ b/PATH"}},
		{"no begin", "*** Add File: a\n+x\n*** End Patch", []string{"line 1", `whose first line is "*** Begin Patch"`}},
		{"begin too late", "Here:\n" + small, []string{"line 2", "must be the first line"}},
		{"no end", begin + "*** Add File: a\n+x\n", []string{"line 3", `the last line must be "*** End Patch"`, "cut off"}},
		{"something after the end", small + "\n*** Delete File: b\n", []string{"line 5", "nothing may follow"}},
		{"an open here-document", "<<EOF\n" + small + "\n", []string{"line 1", "the last line is not \"EOF\""}},
		{"cd", "cd src && apply_patch <<'EOF'\n" + small + "\nEOF\n", []string{"line 1", "is not run here", "relative to the workspace"}},
		{"unknown header", begin + "*** Frob File: a\n" + end, []string{"line 2", "*** Add File: PATH", "*** Delete File: PATH", "*** Update File: PATH"}},
		{"environment", begin + "*** Environment ID: x\n*** Delete File: a\n" + end, []string{"line 2", "cannot stand here"}},
		{"no path", begin + "*** Delete File: \n" + end, []string{"line 2", "the path is missing"}},
		{"no + in an added file", begin + "*** Add File: a\nx\n" + end, []string{"line 3", `"x": every line of an added file begins with +`}},
		{"empty update", begin + "*** Update File: a\n" + end, []string{"line 2", `the update of "a" has no hunk`}},
		{"empty hunk", begin + "*** Update File: a\n@@ x\n" + end, []string{"line 3", "has no lines"}},
		{"a line without sign", begin + "*** Update File: a\n@@\n-x\ny\n" + end, []string{"line 5", "begins with a blank (context), - (removed) or + (added)"}},
		{"move too late", begin + "*** Update File: a\n@@\n-x\n*** Move to: b\n" + end, []string{"line 5", "directly after"}},
		{"lines after the end of the file", begin + "*** Update File: a\n@@\n-x\n*** End of File\n-y\n" + end, []string{"line 6", "a further hunk begins with @@"}},
		{"end of a file without hunk", begin + "*** Update File: a\n*** End of File\n-x\n" + end, []string{"line 3", "belongs after the lines of a hunk"}},
		{"a line after a deletion", begin + "*** Delete File: a\n-x\n" + end, []string{"line 3", "cannot stand here"}},
		{"several", begin + "*** Add File: a\nx\n*** Update File: b\n*** Delete File:\n*** Frob\n" + end, []string{"4 mistakes", "line 3:", "line 4:", "line 5:", "line 6:"}},
		{"path with an envelope", "P:" + small, []string{"leave path out"}},
		{"a hunk of no file", "@@ -1 +1 @@\n-a\n+b\n", []string{"line 1", "belongs to no file"}},
		{"half a header", "--- a/f\n@@ -1 +1 @@\n-a\n+b\n", []string{"belongs to no file"}},
		{"two names", "--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", []string{"two files", "rename from"}},
		{"context that lost its sign", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-a\n+b\nfoo()\n-c\n", []string{"line 6", `"foo()" cannot stand here`}},
		{"no hunk", "--- a/f\n+++ b/f\n", []string{"changes nothing"}},
		{"a new file with context", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n b\n", []string{"every line of it begins with +"}},
		{"git: binary", "diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n", []string{"line 3", `"i.png" is changed as a binary file`}},
		{"git: link", "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n", []string{"line 2", "symbolic link"}},
		{"git: submodule", "diff --git a/l b/l\nindex 1..2 160000\nnew mode 160000\n", []string{"submodule"}},
		{"git: copy", "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", []string{"copies are not made"}},
		{"git: merge", "diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,1 @@@\n", []string{"diff of a merge"}},
		{"context diff", "*** f\t2024\n--- f\t2024\n***************\n*** 1 ****\n! a\n", []string{"context diffs are not read"}},
		{"one line", `*** Begin Patch\n*** Delete File: a\n*** End Patch`, []string{`one line with \n in it`}},
		{"another file than path", "P:--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", []string{`about "g", and path is "f"`}},
		{"two files and path", "P:--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/x/f\n+++ b/x/f\n@@ -1 +1 @@\n-a\n+b\n", []string{"line 6", "a second file begins here"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, withPath := strings.CutPrefix(tt.text, "P:")
			var opts Options
			if withPath {
				opts.Path = "f"
			}
			p, err := Parse(text, opts)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("%v %v", p, err)
			}
			for _, says := range tt.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%q is not in: %v", says, err)
				}
			}
		})
	}
}

// TestL1_AllMistakesWithinBounds: very many mistakes and very long lines make
// no long message.
func TestL1_AllMistakesWithinBounds(t *testing.T) {
	_, err := Parse("*** Begin Patch\n*** Update File: a\n@@\n"+strings.Repeat(strings.Repeat("x", 5000)+"\n", 500)+"*** End Patch", Options{})
	if err == nil || len(err.Error()) > tool.MaxErrorText || !strings.Contains(err.Error(), "500 mistakes") || !strings.Contains(err.Error(), "and 488 more") {
		t.Errorf("%d bytes: %.300v", len(err.Error()), err)
	}
}

// TestWordsMatchTheParser makes a patch of every control line that the model
// is told of, alone and together (codex.md 11.1.8).
func TestWordsMatchTheParser(t *testing.T) {
	bodies := map[string]string{
		"*** Add File: ": "+x\n|", "*** Delete File: ": "|", "*** Update File: ": "@@\n-x\n+y\n|-x\n+y\n",
		"*** Move to: ": "|@@\n-x\n", "@@": "-x\n| x\n+y\n", "@@ ": "-x\n|+x\n", endOfFile: "@@\n-y\n|",
	}
	whole, n := beginPatch+"\n", 0
	for _, d := range directives {
		if !strings.Contains(Grammar(), d.marker+d.arg+" – "+d.says) {
			t.Errorf("the words leave out %q", d.marker)
		}
		if d.marker == beginPatch || d.marker == endPatch {
			continue
		}
		n++
		for body := range strings.SplitSeq(bodies[d.marker], "|") {
			before := ""
			switch {
			case d.marker == endOfFile:
				before = "*** Update File: f\n@@\n-x\n"
			case d.action == 0:
				before = "*** Update File: f\n"
			}
			part := before + d.marker + d.arg + "\n" + body
			if d.marker == endOfFile && body == "" {
				part = before + d.marker + "\n"
			}
			parse(t, beginPatch+"\n"+part+endPatch+"\n", Options{})
			whole += part
		}
	}
	if p := parse(t, whole+endPatch, Options{}); len(p.Files) != 2*n || n != 7 {
		t.Errorf("%d files of %d directives", len(p.Files), n)
	}
	// And nothing else is one.
	for _, line := range []string{"*** Environment ID: x", "*** Rename File: x", "*** Begin Patch"} {
		if _, err := Parse(beginPatch+"\n"+line+"\n"+endPatch, Options{}); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
}

// TestNestedContexts: several @@ lines in a row are one hunk.
func TestNestedContexts(t *testing.T) {
	p := parse(t, inEnvelope("@@ class A:\n@@   def f(self):\n-x\n@@\n@@ z\n-y\n"), Options{})
	want := []Hunk{
		{Line: 3, Context: []string{"class A:", "  def f(self):"}, Lines: []Line{{Kind: '-', Text: "x"}}},
		{Line: 6, Context: []string{"z"}, Lines: []Line{{Kind: '-', Text: "y"}}},
	}
	if diff := cmp.Diff(want, p.Files[0].Hunks, cmpopts.IgnoreUnexported(Line{})); diff != "" {
		t.Error(diff)
	}
}
