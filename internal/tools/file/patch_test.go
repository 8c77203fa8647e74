package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/handrail-tools/handrail/internal/patch"
	"github.com/handrail-tools/handrail/tool"
)

func (b *bench) patch(text string) *tool.Result {
	b.t.Helper()
	return b.call(ApplyPatch(), object{"patch": text})
}

// tree lists every file beneath a folder with its content, and every folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			out[rel+"/"] = ""
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			out[rel] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(path)
			out[rel] = string(data)
			return err
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	delete(out, "./")
	return out
}

// shared returns the folder of cases that is kept beside the repository.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HANDRAIL_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "cases", "apply-patch")); err != nil {
		t.Skipf("the shared cases are not here (HANDRAIL_SHARED names their folder): %v", err)
	}
	return filepath.Join(dir, "cases", "apply-patch")
}

// TestSharedScenarios runs the scenarios of Codex: the trees must be equal
// byte for byte. One differs on purpose: 015 leaves half of a patch applied
// there, and here nothing.
func TestSharedScenarios(t *testing.T) {
	dir := shared(t)
	cases, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range cases {
		if !c.IsDir() {
			continue
		}
		ran++
		t.Run(c.Name(), func(t *testing.T) {
			input := tree(t, filepath.Join(dir, c.Name(), "input"))
			want := tree(t, filepath.Join(dir, c.Name(), "expected"))
			if strings.HasPrefix(c.Name(), "015_") {
				want = input
			}
			files := make(map[string]string)
			for name, content := range input {
				if !strings.HasSuffix(name, "/") {
					files[name] = content
				}
			}
			b := newBench(t, files)
			text, err := os.ReadFile(filepath.Join(dir, c.Name(), "patch.txt"))
			if err != nil {
				t.Fatal(err)
			}
			r := b.patch(string(text))
			got := tree(t, b.dir)
			// git keeps no empty folders, so the expected trees have none.
			for name := range got {
				if strings.HasSuffix(name, "/") {
					if _, ok := want[name]; !ok {
						delete(got, name)
					}
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s\ngot %q\nwant %q", r.Text, got, want)
			}
			if failed := strings.Contains(c.Name(), "_rejects_") || strings.Contains(c.Name(), "_fails") || strings.Contains(c.Name(), "_requires_") || strings.HasPrefix(c.Name(), "015_"); failed == r.OK {
				t.Errorf("ok is %v: %s", r.OK, r.Text)
			}
		})
	}
	if ran != 25 {
		t.Errorf("%d scenarios; there are 25", ran)
	}
}

// TestPatchTrees: what a patch makes of a tree. The rows named S are what
// the scenarios of Codex teach, with contents of our own.
func TestPatchTrees(t *testing.T) {
	none := map[string]string{}
	for _, tt := range []struct {
		name  string
		files map[string]string
		patch string // between the begin and the end marker, unless it has its own
		want  map[string]string
		says  string
	}{
		{"S001 add", none, "*** Add File: note.txt\n+hello\n", map[string]string{"note.txt": "hello\n"}, "A note.txt (+1 -0)"},
		{"S002 several at once", map[string]string{"m": "1\n2\n", "d": "x\n"}, "*** Add File: in/n\n+new\n*** Delete File: d\n*** Update File: m\n@@\n-2\n+two\n",
			map[string]string{"in/": "", "in/n": "new\n", "m": "1\ntwo\n"}, "D d (+0 -1)"},
		{"S003 two hunks", map[string]string{"f": "a\nb\nc\nd\n"}, "*** Update File: f\n@@\n-b\n+B\n@@\n-d\n+D\n", map[string]string{"f": "a\nB\nc\nD\n"}, "M f (+2 -2)"},
		{"S004 move into a new folder", map[string]string{"o/n": "old\n", "o/x": "-\n"}, "*** Update File: o/n\n*** Move to: a/b/n\n@@\n-old\n+new\n",
			map[string]string{"o/": "", "o/x": "-\n", "a/": "", "a/b/": "", "a/b/n": "new\n"}, "R o/n -> a/b/n (+1 -1)"},
		{"S010 move over a file", map[string]string{"a": "from\n", "b": "there\n"}, "*** Update File: a\n*** Move to: b\n@@\n-from\n+to\n", map[string]string{"b": "to\n"}, "replaces the file that was there"},
		{"S011 add over a small file", map[string]string{"f": "old\n"}, "*** Add File: f\n+new\n", map[string]string{"f": "new\n"}, "M f (+1 -1)"},
		{"S014 a last line without end", map[string]string{"f": "no end"}, "*** Update File: f\n@@\n-no end\n+one\n+two\n", map[string]string{"f": "one\ntwo\n"}, ""},
		{"S016 lines at the end", map[string]string{"f": "1\n2\n"}, "*** Update File: f\n@@\n+3\n", map[string]string{"f": "1\n2\n3\n"}, ""},
		{"S017 padded header", map[string]string{"f": "old\n"}, "  *** Update File: f\n@@\n-old\n+new\n", map[string]string{"f": "new\n"}, ""},
		{"S018 padded markers", map[string]string{"f": "1\n"}, " *** Begin Patch\n*** Update File: f\n@@\n-1\n+2\n*** End Patch ", map[string]string{"f": "2\n"}, ""},
		{"S019 other letters", map[string]string{"f": "grün\n"}, "*** Update File: f\n@@\n-grün\n+grün ✓\n", map[string]string{"f": "grün ✓\n"}, ""},
		{"S020 delete", map[string]string{"f": "x\n", "g": "y\n"}, "*** Delete File: f\n", map[string]string{"g": "y\n"}, "D f (+0 -1)"},
		{"S020 padded end", map[string]string{"f": "1\n"}, "*** Begin Patch \n*** Update File: f\n@@\n-1\n+2\n *** End Patch", map[string]string{"f": "2\n"}, ""},
		{"S021 lines that go", map[string]string{"f": "1\n2\n3\n"}, "*** Update File: f\n@@\n 1\n-2\n 3\n", map[string]string{"f": "1\n3\n"}, "M f (+0 -1)"},
		{"S022 end of file", map[string]string{"f": "x\nx\n"}, "*** Update File: f\n@@\n-x\n+y\n*** End of File\n", map[string]string{"f": "x\ny\n"}, ""},
		{"S023 CRLF", map[string]string{"f": "1\r\n2\r\n"}, "*** Update File: f\n@@\n-1\n+one\n+more\n 2\n", map[string]string{"f": "one\r\nmore\r\n2\r\n"}, ""},
		{"S024 mixed ends", map[string]string{"f": "1\r\n2\r3\n4\r\n"}, "*** Update File: f\n@@\n 2\n-3\n+three\n 4\n", map[string]string{"f": "1\r\n2\rthree\r\n4\r\n"}, ""},

		{"pure rename", map[string]string{"a": "x\n"}, "*** Update File: a\n*** Move to: b\n", map[string]string{"b": "x\n"}, "R a -> b"},
		{"11.1.6 move onto itself", map[string]string{"a": "x\n"}, "*** Update File: a\n*** Move to: ./a\n@@\n-x\n+y\n", map[string]string{"a": "y\n"}, "moved onto itself"},
		{"moves that make room for each other", map[string]string{"a": "1\n", "b": "2\n"}, "*** Update File: b\n*** Move to: c\n*** Update File: a\n*** Move to: b\n@@\n-1\n+one\n", map[string]string{"b": "one\n", "c": "2\n"}, ""},
		{"update after update", map[string]string{"a": "1\n2\n"}, "*** Update File: a\n@@\n-1\n+one\n*** Update File: ./a\n@@\n one\n-2\n+two\n", map[string]string{"a": "one\ntwo\n"}, "Applied the patch to 1 file:\nM a (+2 -2)"},
		{"update after add", none, "*** Add File: a\n+1\n*** Update File: a\n@@\n-1\n+one\n", map[string]string{"a": "one\n"}, "A a"},
		{"add after delete", map[string]string{"a": "1\n"}, "*** Delete File: a\n*** Add File: a\n+2\n", map[string]string{"a": "2\n"}, "M a"},
		{"add and move", none, "*** Add File: a\n+1\n*** Update File: a\n*** Move to: b\n", map[string]string{"b": "1\n"}, "A b"},
		{"move, update, delete", map[string]string{"a": "1\n", "k": "k\n"}, "*** Update File: a\n*** Move to: b\n*** Update File: b\n@@\n-1\n+2\n*** Delete File: b\n", map[string]string{"k": "k\n"}, "D a"},
		{"move and move on", map[string]string{"a": "1\n"}, "*** Update File: a\n*** Move to: b\n*** Update File: b\n*** Move to: c\n@@\n-1\n+2\n", map[string]string{"c": "2\n"}, "R a -> c"},
		{"empty file", none, "*** Add File: a\n", map[string]string{"a": ""}, "A a (empty)"},
		{"F005 F006 bytes of another encoding", map[string]string{"f": "v = 1\n\xd6\xd0\xce\xc4\n"}, "*** Update File: f\n@@\n-v = 1\n+v = 2\n", map[string]string{"f": "v = 2\n\xd6\xd0\xce\xc4\n"}, ""},
		{"F002 mark and CRLF", map[string]string{"f": "\xef\xbb\xbfint a;\r\nint b;\r\n"}, "*** Update File: f\n@@\n-int a;\n+int c;\n int b;\n", map[string]string{"f": "\xef\xbb\xbfint c;\r\nint b;\r\n"}, ""},
		{"UTF-16", map[string]string{"f": "\xff\xfea\x00\n\x00b\x00\n\x00"}, "*** Update File: f\n@@\n a\n-b\n+é\n", map[string]string{"f": "\xff\xfea\x00\n\x00\xe9\x00\n\x00"}, ""},

		{"git: new, changed, renamed, deleted", map[string]string{"m": "1\n2\n", "d": "x\n", "o": "same\nline\n"},
			"diff --git a/n b/n\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n" +
				"diff --git a/m b/m\nindex 1111111..2222222 100644\n--- a/m\n+++ b/m\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n" +
				"diff --git a/o b/p q\nsimilarity index 50%\nrename from o\nrename to p q\n--- a/o\n+++ b/p q\n@@ -1,2 +1,2 @@\n same\n-line\n+text\n" +
				"diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
			map[string]string{"m": "1\ntwo\n", "n": "new\n", "p q": "same\ntext\n"}, "R o -> p q (+1 -1)"},
		{"unified: two files", map[string]string{"a": "1\n", "b": "2\n"}, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-2\n+two\n", map[string]string{"a": "one\n", "b": "two\n"}, ""},
		{"here-document", none, "apply_patch <<'PATCH'\n*** Begin Patch\n*** Add File: a\n+1\n*** End Patch\nPATCH\n", map[string]string{"a": "1\n"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.files)
			r := b.patch(enveloped(tt.patch))
			if got := tree(t, b.dir); !r.OK || !maps.Equal(got, withoutEmpty(got, tt.want)) || !strings.Contains(r.Text, tt.says) {
				t.Errorf("%s %s\ngot %q\nwant %q", r.Code, r.Text, got, tt.want)
			}
			for _, name := range r.Changed {
				if strings.HasPrefix(name, "./") {
					t.Errorf("changed %q", r.Changed)
				}
			}
		})
	}
}

// enveloped puts the sections of an envelope between its markers.
func enveloped(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "*** ") && !strings.Contains(text, "*** Begin Patch") {
		return "*** Begin Patch\n" + text + "*** End Patch\n"
	}
	return text
}

// withoutEmpty returns want with the folders of got in which nothing is left.
func withoutEmpty(got, want map[string]string) map[string]string {
	want = maps.Clone(want)
	for name := range got {
		if !strings.HasSuffix(name, "/") {
			continue
		}
		holds := false
		for other := range got {
			holds = holds || other != name && strings.HasPrefix(other, name)
		}
		if !holds {
			want[name] = ""
		}
	}
	return want
}

// TestPatchRefusals: nothing is changed, and the answer says file, hunk and
// place.
func TestPatchRefusals(t *testing.T) {
	files := map[string]string{"f": "alpha\nbeta\ngamma\n", "g": "one\n", "dir/x": "x\n", "bin": "\x00\x01\x02\x03"}
	for _, tt := range []struct {
		name, patch string
		code        tool.Code
		says        []string
	}{
		{"S005 nothing in it", "*** Begin Patch\n*** End Patch\n", tool.CodeInvalidInput, []string{"no file is changed", "*** Add File: PATH"}},
		{"S006 a line that is not there", "*** Update File: f\n@@\n-bete\n+x\n", tool.CodeFailed, []string{"f: the hunk (line 3 of the patch)", "nearest place is line 2", `the file has "beta", the patch "bete"`}},
		{"S007 delete what is not there", "*** Delete File: nowhere\n", tool.CodeFailed, []string{"no file nowhere"}},
		{"S008 update without hunk", "*** Update File: f\n", tool.CodeInvalidInput, []string{"line 2 of the patch", "has no hunk"}},
		{"S009 update what is not there", "*** Update File: nowhere\n@@\n-a\n+b\n", tool.CodeFailed, []string{"no file nowhere"}},
		{"S012 delete a folder", "*** Delete File: dir\n", tool.CodeFailed, []string{"dir is a folder"}},
		{"S013 unknown header", "*** Begin Patch\n*** Frobnicate File: f\n*** End Patch\n", tool.CodeInvalidInput, []string{"line 2 of the patch", "*** Delete File: PATH"}},
		{"S015 L50 the first part fits and the second does not", "*** Add File: new\n+x\n*** Update File: nowhere\n@@\n-a\n+b\n", tool.CodeFailed, []string{"no file nowhere", "Nothing was changed"}},
		{"all problems at once", "*** Update File: f\n@@\n-bete\n+x\n*** Update File: g\n@@\n-two\n+x\n*** Delete File: nowhere\n", tool.CodeFailed, []string{"f: the hunk", "g: the hunk", "nowhere"}},
		{"F010 two places", "*** Update File: f\n@@\n+x\n*** Update File: f\n@@ a\n+y\n", tool.CodeFailed, []string{`"a" after @@ is not in the file`}},
		{"delete and then update", "*** Delete File: f\n*** Update File: f\n@@\n-alpha\n+x\n", tool.CodeFailed, []string{"an earlier part of the patch deletes or moves this file"}},
		{"in a circle", "*** Update File: f\n*** Move to: c\n*** Update File: g\n*** Move to: f\n*** Update File: c\n*** Move to: g\n", tool.CodeFailed, []string{"in a circle"}},
		{"a binary file", "*** Update File: bin\n@@\n-a\n+b\n", tool.CodeFailed, []string{"bin"}},
		{"outside", "*** Add File: ../out\n+x\n", tool.CodeDenied, []string{"outside the workspace"}},
		{"protected", "*** Add File: .git/hooks/post-commit\n+x\n", tool.CodeDenied, []string{".git"}},
		{"moved outside", "*** Update File: f\n*** Move to: ../f\n", tool.CodeDenied, []string{"outside the workspace"}},
		{"cd", "cd dir && apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: x\n*** End Patch\nEOF\n", tool.CodeInvalidInput, []string{"is not run here", "relative to the workspace"}},
		{"git: exists", "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", tool.CodeFailed, []string{"exists already"}},
		{"git: deletes more than it shows", "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-alpha\n", tool.CodeFailed, []string{"would be lost"}},
		{"git: binary", "diff --git a/bin b/bin\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKc${NkU\n", tool.CodeInvalidInput, []string{`"bin" is changed as a binary file`}},
		{"git: only a mode", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", tool.CodeFailed, []string{"permissions"}},
		{"F001 only line ends", "--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-alpha\r\n+alpha\n", tool.CodeFailed, []string{"changes nothing", "line ends"}},
		{"F022 twice", "*** Update File: f\n@@\n-the line before\n+gamma\n*** Update File: f\n@@\n-xx\n+yy\n", tool.CodeFailed, []string{"f: the hunk"}},
		{"F024 numbers of a listing", "*** Update File: f\n@@\n-alpha\n+1│alpha\n+2│beta\n", tool.CodeInvalidInput, []string{"as read_file shows lines"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, files)
			before := tree(t, b.dir)
			r := b.patch(enveloped(tt.patch))
			if r.OK || r.Code != tt.code {
				t.Errorf("%s, want %s: %s", r.Code, tt.code, r.Text)
			}
			for _, says := range append(tt.says, "Nothing was changed") {
				if !strings.Contains(r.Text, says) {
					t.Errorf("%q is not in: %s", says, r.Text)
				}
			}
			if got := tree(t, b.dir); !maps.Equal(got, before) {
				t.Errorf("changed to %q", got)
			}
		})
	}
}

// TestL40_PatchOverwriteGuard: what a patch replaces as a whole must be
// known, as for write_file.
func TestL40_PatchOverwriteGuard(t *testing.T) {
	for name, text := range map[string]string{
		"add over":  "*** Add File: f\n+x\n",
		"move over": "*** Update File: g\n*** Move to: f\n",
	} {
		b := newBench(t, map[string]string{"f": numbers(9000), "g": "x\n"})
		r := b.patch(enveloped(text))
		if r.Code != tool.CodeDenied || r.Metadata["guard"] != "partial_view" || b.content("f") != numbers(9000) || b.content("g") != "x\n" {
			t.Errorf("%s: %s %v %s", name, r.Code, r.Metadata, r.Text)
		}
		b = newBench(t, map[string]string{"f": numbers(200), "g": "x\n"})
		b.read(object{"path": "f"})
		if r := b.patch(enveloped(text)); !r.OK || b.content("f") != "x\n" {
			t.Errorf("%s, read before: %s", name, r.Text)
		}
	}
	// What a patch writes is known; what it changes stays as known as it was.
	b := newBench(t, map[string]string{"f": numbers(200), "h": numbers(200)})
	b.read(object{"path": "f"})
	if r := b.patch(enveloped("*** Add File: big\n+" + strings.Repeat("y", 60_000) + "\n*** Update File: f\n*** Move to: g\n@@\n-line 7\n+seven\n*** Update File: h\n@@\n-line 7\n+seven\n")); !r.OK {
		t.Fatal(r.Text)
	}
	for name, known := range map[string]bool{"big": true, "g": true, "h": false} {
		if r := b.rewrite(object{"path": name, "content": "x"}); r.OK != known {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
}

// TestF008_F017_PatchKeepsModeAndLinks: permissions stay, a change goes
// through a link, a deletion takes the link.
func TestF008_F017_PatchKeepsModeAndLinks(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "a\n", "real": "1\n", "out": "x\n"})
	if err := os.Chmod(filepath.Join(b.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "real", "gone": "real", "dangling": "nowhere", "away": "/etc/hostname"} {
		if err := os.Symlink(target, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	r := b.patch(enveloped("*** Update File: run.sh\n*** Move to: go.sh\n@@\n-a\n+b\n*** Update File: link\n@@\n-1\n+2\n*** Delete File: gone\n*** Delete File: dangling\n*** Delete File: away\n"))
	if !r.OK {
		t.Fatal(r.Text)
	}
	info, err := os.Stat(filepath.Join(b.dir, "go.sh"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", info, err)
	}
	want := map[string]string{"go.sh": "b\n", "link": "-> real", "real": "2\n", "out": "x\n"}
	if got := tree(t, b.dir); !maps.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if want := []string{"run.sh", "go.sh", "real", "gone", "dangling", "away"}; !slices.Equal(r.Changed, want) {
		t.Errorf("changed %q", r.Changed)
	}
	r = b.patch(enveloped("*** Delete File: link\n*** Add File: link\n+own\n"))
	want["link"] = "own\n"
	if got := tree(t, b.dir); !r.OK || !maps.Equal(got, want) {
		t.Errorf("a file in place of a link: %s %q", r.Text, got)
	}
	if err := os.Symlink("real", filepath.Join(b.dir, "other")); err != nil {
		t.Fatal(err)
	}
	if r := b.patch(enveloped("*** Delete File: other\n*** Update File: other\n@@\n-2\n+3\n")); r.OK || b.content("real") != "2\n" {
		t.Errorf("an update of a link that is gone: %s", r.Text)
	}
	for _, text := range []string{"*** Update File: other\n*** Move to: x\n", "*** Update File: out\n*** Move to: other\n"} {
		if r := b.patch(enveloped(text)); r.OK || !strings.Contains(r.Text, "symbolic link") {
			t.Errorf("%s: %s", text, r.Text)
		}
	}
	r = b.patch("diff --git a/x.sh b/x.sh\nnew file mode 100755\n--- /dev/null\n+++ b/x.sh\n@@ -0,0 +1 @@\n+echo\n")
	if info, err := os.Stat(filepath.Join(b.dir, "x.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%s %v %v", r.Text, info, err)
	}
}

// TestPatchWords: what the description shows is what the parser reads
// (codex.md 11.1.8).
func TestPatchWords(t *testing.T) {
	text := ApplyPatch().Spec().Description
	if !strings.Contains(text, patch.Grammar()) {
		t.Error("the grammar is not in the description")
	}
	_, example, ok := strings.Cut(text, "\n\n*** Begin Patch\n")
	example, _, end := strings.Cut(example, "\n\n")
	b := newBench(t, map[string]string{"src/app.py": "class App:\n    def run(self):\n        self.start()\n        return 1\n", "old.txt": "x\n"})
	r := b.patch("*** Begin Patch\n" + example)
	want := map[string]string{"docs/": "", "docs/new.txt": "first line\n", "src/": "", "src/main.py": "class App:\n    def run(self):\n        self.start()\n        return 0\n"}
	if got := tree(t, b.dir); !ok || !end || !r.OK || !maps.Equal(got, want) {
		t.Errorf("%s %q", r.Text, got)
	}
	text = DiffEdit().Spec().Description
	at := strings.Index(text, "--- a/")
	diff, _, _ := strings.Cut(text[at:], "\n\n")
	b = newBench(t, map[string]string{"src/app.py": "context\nold line\ncontext\n"})
	for _, args := range []object{{"diff": diff}, {"path": "src/app.py", "diff": strings.SplitN(diff, "\n", 3)[2]}} {
		b.write("src/app.py", "context\nold line\ncontext\n")
		if r := b.call(DiffEdit(), args); !r.OK || b.content("src/app.py") != "context\nnew line\ncontext\n" {
			t.Errorf("%v: %s", args, r.Text)
		}
	}
}

// TestPatchesAtOnce: of patches that change one file at the same time each is
// kept, as with edits.
func TestPatchesAtOnce(t *testing.T) {
	b := newBench(t, map[string]string{"f": numbers(20)})
	results := make([]*tool.Result, 20)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			text := fmt.Sprintf("*** Update File: f\n@@\n-line %d\n+LINE %d\n*** Add File: n%d\n+x\n", i+1, i+1, i)
			results[i] = b.patch(enveloped(text))
		})
	}
	all.Wait()
	for _, r := range results {
		if !r.OK {
			t.Error(r.Text)
		}
	}
	if got := b.content("f"); got != strings.ToUpper(numbers(20)) || len(tree(t, b.dir)) != 21 {
		t.Errorf("%s", got)
	}
}

// TestPatchPaths sends each form of traversal through each path of a patch:
// nothing outside is read, made, changed or removed.
func TestPatchPaths(t *testing.T) {
	b := newBench(t, map[string]string{"a/in.txt": "inside\n", "f": "x\n"})
	out := filepath.Join(filepath.Dir(b.dir), "outside.txt")
	if err := os.WriteFile(out, []byte("inside\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"dir": "..", "leaf": "../outside.txt"} {
		if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, b.dir)
	for _, name := range []string{
		"../outside.txt", "a/../../outside.txt", "missing/../../outside.txt", "./../outside.txt", "a/../..", out, b.dir + "/../outside.txt", "dir/outside.txt",
		"leaf", "a//..//../outside.txt", "/../" + out, "//etc/passwd", "/proc/self/root/etc/passwd", "a\x00/../../outside.txt", "..\\outside.txt/../../outside.txt",
	} {
		for what, text := range map[string]string{
			"add":      "*** Add File: " + name + "\n+x\n",
			"update":   "*** Update File: " + name + "\n@@\n-inside\n+x\n",
			"delete":   "*** Delete File: " + name + "\n",
			"move":     "*** Update File: " + name + "\n*** Move to: stolen\n",
			"move to":  "*** Update File: f\n*** Move to: " + name + "\n",
			"diff":     "--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-inside\n+x\n",
			"new":      "--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n",
			"git":      "diff --git a/f b/f\nrename from f\nrename to " + name + "\n",
			"git gone": "diff --git a/f b/f\ndeleted file mode 100644\n--- a/" + name + "\n+++ /dev/null\n@@ -1 +0,0 @@\n-inside\n",
		} {
			if name == "leaf" && (what == "delete" || what == "git gone") {
				continue // the link itself lies inside
			}
			if r := b.patch(enveloped(text)); r.OK {
				t.Errorf("%s %q: %s", what, name, r.Text)
			}
		}
	}
	if data, err := os.ReadFile(out); err != nil || string(data) != "inside\n" {
		t.Errorf("the file outside is %q, %v", data, err)
	}
	if got := tree(t, b.dir); !maps.Equal(got, before) {
		t.Errorf("got %q", got)
	}
}

// TestAssessPatch: a patch names every path that it reads and writes; one
// that cannot be read names none and is refused.
func TestAssessPatch(t *testing.T) {
	assess := func(tl tool.Tool, args object) (tool.Act, error) {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return tl.(tool.Assesser).Assess(t.Context(), &tool.Call{Args: raw})
	}
	act, err := assess(ApplyPatch(), object{"patch": enveloped("*** Add File: n\n*** Update File: u\n*** Move to: m/t\n@@\n-a\n*** Delete File: d\n")})
	if err != nil || !slices.Equal(act.Reads, []string{"u"}) || !slices.Equal(act.Writes, []string{"n", "u"}) ||
		!slices.Equal(act.Entries, []string{"u", "m/t", "d"}) {
		t.Errorf("%+v, %v", act, err)
	}
	act, err = assess(DiffEdit(), object{"path": "p", "diff": "@@\n-a\n+b\n"})
	if err != nil || !slices.Equal(act.Reads, []string{"p"}) || !slices.Equal(act.Writes, []string{"p"}) {
		t.Errorf("%+v, %v", act, err)
	}
	var e *tool.Error
	if act, err := assess(ApplyPatch(), object{"patch": "x"}); !errors.As(err, &e) || e.Code != tool.CodeInvalidInput || len(act.Writes) > 0 {
		t.Errorf("%+v, %v", act, err)
	}
}

// TestPatchLargeFiles: a file that is too large to be edited can be moved and
// deleted, and is not replaced unseen.
func TestPatchLargeFiles(t *testing.T) {
	b := newBench(t, map[string]string{"big": "x\n", "gone": "x\n", "f": "x\n"})
	for _, name := range []string{"big", "gone"} {
		if err := os.Truncate(filepath.Join(b.dir, name), 40<<20); err != nil {
			t.Fatal(err)
		}
	}
	for text, says := range map[string]string{
		"*** Update File: big\n@@\n-x\n+y\n":          "is not edited",
		"*** Update File: f\n*** Move to: big\n":      "never read",
		"*** Add File: big\n+x\n":                     "never read",
		"*** Delete File: f\n*** Delete File: nope\n": "no file nope",
	} {
		if r := b.patch(enveloped(text)); r.OK || !strings.Contains(r.Text, says) {
			t.Errorf("%s: %s", text, r.Text)
		}
	}
	r := b.patch(enveloped("*** Update File: big\n*** Move to: a/big\n*** Delete File: gone\n"))
	if info, err := os.Stat(filepath.Join(b.dir, "a/big")); !r.OK || err != nil || info.Size() != 40<<20 {
		t.Errorf("%s %v", r.Text, err)
	}
}

// TestF028_PatchOfASisterFile: lines that another file holds, which was seen,
// may be meant for that one.
func TestF028_PatchOfASisterFile(t *testing.T) {
	b := newBench(t, map[string]string{"run_unix.go": "package run\n\nfunc kill() {}\n", "run_windows.go": "package run\n\nfunc terminateProcess() {}\n"})
	b.read(object{"path": "run_windows.go"})
	r := b.patch(enveloped("*** Update File: run_unix.go\n@@\n-func terminateProcess() {}\n+func stop() {}\n"))
	if r.OK || !strings.Contains(r.Text, "run_windows.go, which you have seen, holds this text") {
		t.Error(r.Text)
	}
}

// TestF013_PatchOfAChangedFile: a mismatch says that the file is no longer
// the one that was seen.
func TestF013_PatchOfAChangedFile(t *testing.T) {
	b := newBench(t, map[string]string{"f": numbers(20)})
	b.read(object{"path": "f"})
	b.write("f", strings.Replace(numbers(20), "line 7\n", "seven now\n", 1))
	r := b.patch(enveloped("*** Update File: f\n@@\n line 6\n-line 7\n+SEVEN\n"))
	if r.OK || !strings.Contains(r.Text, "changed on disk since you saw it: line 7 is different") {
		t.Error(r.Text)
	}
	if r := b.patch(enveloped("*** Update File: f\n@@\n line 11\n-line 12\n+twelve\n")); !r.OK {
		t.Errorf("another region: %s", r.Text)
	}
}
