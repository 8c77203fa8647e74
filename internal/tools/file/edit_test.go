package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// An editCase is one edit of one file: what becomes of the file, and what
// the answer says. after "" means that the file stays as it was.
type editCase struct {
	name   string
	before string
	args   object // without the path
	after  string
	code   tool.Code
	says   string
}

func one(old, new string) object { return object{"old_string": old, "new_string": new} }

func runEdits(t *testing.T, cases []editCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": tt.before})
			tt.args["path"] = "f"
			r := b.edit(tt.args)
			want := tt.after
			if tt.code != "" {
				want = tt.before
			}
			if got := b.content("f"); got != want {
				t.Errorf("the file is %q, want %q", got, want)
			}
			if r.Code != tt.code || !strings.Contains(r.Text, tt.says) {
				t.Errorf("%s: %s\nwant %s: %s", r.Code, r.Text, tt.code, tt.says)
			}
			if r.OK != (len(r.Changed) == 1) {
				t.Errorf("ok %v, changed %v", r.OK, r.Changed)
			}
		})
	}
}

// TestEditFieldReports: the reports of topic 1 that concern edit_file.
func TestEditFieldReports(t *testing.T) {
	twice := "func a() {\n  return nil\n}\nfunc b() {\n  return nil\n}\n"
	runEdits(t, []editCase{
		{"F001 only line ends, exactly quoted", "one\r\ntwo\r\n", one("one\r\ntwo", "one\ntwo"), "one\ntwo\r\n", "", "1 replacement"},
		{"F001 only line ends, not there", "one\ntwo\n", one("one\r\ntwo", "one\ntwo"), "", tool.CodeInvalidInput, "differ only in their line ends"},
		{"F001 all line ends", "one\r\ntwo\r\n", object{"old_string": "\r\n", "new_string": "\n", "replace_all": true}, "one\ntwo\n", "", "2 replacements"},
		{"F002 mark and CRLF", "\xef\xbb\xbfint a;\r\nint b;\r\n", one("int a;\r\nint b;", "int c;\r\nint d;"), "\xef\xbb\xbfint c;\r\nint d;\r\n", "", ""},
		{"F002 quoted with LF", "\xef\xbb\xbfint a;\r\nint b;\r\n", one("int a;\nint b;", "int c;\nint x;\nint d;"), "\xef\xbb\xbfint c;\r\nint x;\r\nint d;\r\n", "", ""},
		{"F003 never old and new", "struct S {\r\n  loading: bool,\r\n}\r\n", one("struct S {\n    loading: bool,\n}", "struct S {\n    busy: bool,\n}"), "struct S {\r\n  busy: bool,\r\n}\r\n", "", "line_trimmed"},
		{"F004 Latin-1 elsewhere", "if (a<b) {}\n// caf\xe9 \xfc\xdf\n", one("a<b", "a<=b"), "if (a<=b) {}\n// caf\xe9 \xfc\xdf\n", "", ""},
		{"F005 GBK elsewhere", "v = 1\n\xd6\xd0\xce\xc4\n", one("v = 1", "v = 2"), "v = 2\n\xd6\xd0\xce\xc4\n", "", ""},
		{"F006 windows-1252 elsewhere", "// \xa9 Example Ltd\r\nint main(){return 0;}\r\n", one("return 0", "return 1"), "// \xa9 Example Ltd\r\nint main(){return 1;}\r\n", "", ""},
		{"F005 new text by a guess", "v = 1\n\xd6\xd0\xce\xc4\n", one("v = 1", "v = é"), "", tool.CodeFailed, "name the encoding"},
		{"F005 new text in a named encoding", "v = 1\n\xd6\xd0\xce\xc4\n", object{"old_string": "中文", "new_string": "中国", "encoding": "gbk"}, "v = 1\n\xd6\xd0\xb9\xfa\n", "", ""},
		{"F007 typographic marks can be written", "msg = '%s'", one("'%s'", "‘%s’"), "msg = ‘%s’", "", ""},
		{"F009 blanks for a tab", "func f() {\n\treturn\n}", one("    return", "    return nil"), "func f() {\n\treturn nil\n}", "", "2│\treturn nil"},
		{"F010 the first look-alike is not taken", "def a():\n    flush()\n    return None\ndef b():\n        flush()\n        return None\n", one("flush()\nreturn None", "return None"), "", tool.CodeFailed, "line 2, after \"def a():\", before \"def b():\"\n  line 5"},
		{"F014 missing old_string", "a\nb\n", object{"new_string": "x"}, "", tool.CodeInvalidInput, "old_string is missing"},
		{"F014 empty old_string", "a\nb\n", one("", "x"), "", tool.CodeInvalidInput, "old_string is empty"},
		{"F015 nothing is a pattern", "p.$('a')", one("p.$('a')", "p.$$('a') // $& $1 $'"), "p.$$('a') // $& $1 $'", "", ""},
		{"F018 entities are text", "x\n", one("x", "it&apos;s &lt;"), "it&apos;s &lt;\n", "", ""},
		{"F019 entities in the quotation", "a &amp;&amp; b", one("a &amp;&amp; b", "a &amp;&amp; c"), "a &amp;&amp; c", "", ""},
		{"F020 several, in order, indentation kept", "def f():\n    if x:\n        a()\n        b()\n    c()\n", object{"edits": []object{
			one("def f():", "def g():"), one("        a()\n", "        a()\n        aa()\n"), one("aa()", "aaa()"),
		}}, "def g():\n    if x:\n        a()\n        aaa()\n        b()\n    c()\n", "", "3 replacements by 3 edits, 1 line more"},
		{"F020 all or none", "a\nb\nc\n", object{"edits": []object{one("a", "A"), one("xxxx", "y"), one("A", "AA"), one("yyyy", "z")}}, "", tool.CodeFailed, "edit 2 of 4: old_string is not in f"},
		{"F020 all that is wrong", "a\nb\nc\n", object{"edits": []object{one("a", "A"), one("xxxx", "y"), one("A", "AA"), one("yyyy", "z")}}, "", tool.CodeFailed, "edit 4 of 4: old_string is not in f"},
		{"F021 a heading of RST", "Title\n=======\ntext\n", one("Title\n=======", "Other\n======="), "Other\n=======\ntext\n", "", ""},
		{"F021 a patch within", "*** Begin Patch\n@@ \n*** End Patch\n", one("@@ \n*** End Patch", "@@ x\n*** End Patch"), "*** Begin Patch\n@@ x\n*** End Patch\n", "", ""},
		{"F022 twice", "func run() {\n\tstart()\n}\n", one("func old() {", "func run() {"), "", tool.CodeFailed, "already applied"},
		{"F022 added lines twice", "import a\nimport b\n", one("import a\n", "import a\nimport b\n"), "", tool.CodeFailed, "already applied: new_string is at line 1"},
		{"F022 wrapping within a line is no repetition", "foo(bar)\n", one("bar", "foo(bar)"), "foo(foo(bar))\n", "", ""},
		{"F023 six alike", strings.Repeat("x := 1\nuse(x)\n\n", 6), one("x := 1\nuse(x)", "y"), "", tool.CodeFailed, "fits 6 places in f:\n  line 1, before \"x := 1\"\n  line 4, after \"use(x)\", before \"x := 1\"\n"},
		{"F023 nothing to tell them apart", strings.Repeat("x := 1\nuse(x)\n\n", 6), one("x := 1\nuse(x)", "y"), "", tool.CodeFailed, "The lines around are alike, so name the place with near_line (for example 16)"},
		{"F023 the fourth", strings.Repeat("x := 1\nuse(x)\n\n", 6), object{"old_string": "x := 1\nuse(x)", "new_string": "y", "near_line": 10}, strings.Repeat("x := 1\nuse(x)\n\n", 3) + "y\n\n" + strings.Repeat("x := 1\nuse(x)\n\n", 2), "", ""},
		{"F024 numbers of a listing", "func f() {\n\treturn\n}\n", one("1│func f() {\n2│\treturn", "x"), "", tool.CodeFailed, "line numbers of a listing, which are not in f. Without them it is found"},
		{"F024 numbers in other forms", "a\nb\nc\n", one("     1\ta\n     2\tb", "x"), "", tool.CodeFailed, "line numbers"},
		{"F024 numbers in new_string", "a\nb\n", one("a", " 1│x\n 2│y"), "", tool.CodeInvalidInput, "begins with a line number"},
		{"F024 a notice in new_string", "a\nb\n", one("a", "x\n[read_file: lines 1–2 of 9]\n"), "", tool.CodeInvalidInput, "read_file adds"},
		{"F024 a notice in old_string", "a\nb\n", one("b\n[read_file: lines 1–2 of 9]", "x"), "", tool.CodeFailed, "which read_file adds to its answer and which is not in f"},
		{"F026 the first is not taken", twice, one("  return nil\n}", "  return err\n}"), "", tool.CodeFailed, "fits 2 places in f:\n  line 2, after \"func a() {\", before \"func b() {\"\n  line 5, after \"func b() {\"\n"},
		{"F026 all", twice, object{"old_string": "return nil", "new_string": "return err", "replace_all": true}, strings.ReplaceAll(twice, "nil", "err"), "", "2 replacements"},
		{"F026 near a line", twice, object{"old_string": "  return nil\n}", "new_string": "  return err\n}", "near_line": 6}, "func a() {\n  return nil\n}\nfunc b() {\n  return err\n}\n", "", ""},
		{"F027 one line", "a\nb\nc\na\nb\nc\n", one("a", "x"), "", tool.CodeFailed, "line 1, before \"b\"\n  line 4"},
		{"F027 many lines", "a\nb\nc\na\nb\nc\n", one("a\nb", "x"), "", tool.CodeFailed, "line 1, before \"c\"\n  line 4"},
		{"F028 the same twice", "a\n", one("a", "a"), "", tool.CodeInvalidInput, "are the same"},
		{"F029 deletion", "a()\ndebug()\nb()\n", one("debug()\n", ""), "a()\nb()\n", "", "1 line fewer"},
	})
}

func TestEditForms(t *testing.T) {
	runEdits(t, []editCase{
		{"mixed line ends stay, each its own", "a\r\nb\nc\r\nd\n", one("b\nc", "B\nc"), "a\r\nB\nc\r\nd\n", "", ""},
		{"CR", "a\rb\rc\r", one("b\n", "x\ny\n"), "a\rx\ry\rc\r", "", ""},
		{"no final line end", "a\nb", one("b", "c"), "a\nc", "", ""},
		{"no final line end, quoted with one", "a\n  b", one("b\n", "c\n"), "a\n  c", "", "line_trimmed"},
		{"UTF-16", "\xff\xfea\x00\r\x00\n\x00", one("a", "bé"), "\xff\xfeb\x00\xe9\x00\r\x00\n\x00", "", ""},
		{"the whole file", "a\n", one("a\n", ""), "", "", "1 line fewer"},
		{"near_line between two", "x\n-\nx\n", object{"old_string": "x", "new_string": "y", "near_line": 2}, "", tool.CodeFailed, "2 places"},
		{"near_line with replace_all", "x\n", object{"old_string": "x", "new_string": "y", "near_line": 2, "replace_all": true}, "", tool.CodeInvalidInput, "use one of them"},
		{"both forms", "x\n", object{"old_string": "x", "new_string": "y", "edits": []object{one("x", "z")}}, "", tool.CodeInvalidInput, "two ways"},
		{"neither form", "x\n", object{}, "", tool.CodeInvalidInput, "missing"},
		{"no new_string", "x\n", object{"old_string": "x"}, "", tool.CodeInvalidInput, `give "" to delete`},
		{"flags beside the list", "x\n", object{"replace_all": true, "edits": []object{one("x", "z")}}, "", tool.CodeInvalidInput, "belong to each of edits"},
		{"edits that undo each other", "x\n", object{"edits": []object{one("x", "y")}}, "y\n", "", ""},
		{"a byte that is no character is kept", "日本語の文章です\nbad \xff byte\nend\n", one("end", "END"), "日本語の文章です\nbad \xff byte\nEND\n", "", ""},
		{"far from what is there", "a\nb\n", one("completely different text", "x"), "", tool.CodeFailed, "Nothing in the file resembles it"},
		{"nearly what is there", "func total(items []Item) int {\n\treturn len(items)\n}\n", one("func total(items []Thing) int {\n\treturn len(items)\n", "x"), "", tool.CodeFailed, "The first difference is in line 1: the file has \"func total(items []Item) int {\""},
		{"replace_all by a looser stage", "\tx = 1\n  x = 1\n", object{"old_string": " x = 1\n", "new_string": " x = 2\n", "replace_all": true}, "\tx = 1\n  x = 2\n", "", ""},
		{"disproportionate", "begin\n" + strings.Repeat("a\n", 3) + "end\n", one("begin\na\nend", "x"), "", tool.CodeFailed, "not in f"},
		{"deeply nested, quoted without indentation", strings.Repeat(" ", 40) + "a()\n" + strings.Repeat(" ", 40) + "b()\n", one("a()\nb()", "a()\nc()"), strings.Repeat(" ", 40) + "a()\n" + strings.Repeat(" ", 40) + "c()\n", "", "line_trimmed"},
		{"L49 escapes are measured by what they stand for", "f(\n\t1,\n\t2,\n\t3,\n\t4,\n)\n", one(`f(\n\t1,\n\t2,\n\t3,\n\t4,\n)`, `g(\n\t1,\n\t4,\n)`), "g(\n\t1,\n\t4,\n)\n", "", "escape_normalized"},
		{"empty edits", "x\n", object{"edits": []object{}}, "", tool.CodeInvalidInput, "missing"},
	})
	b := newBench(t, map[string]string{"f": "x\n", "bin": "\x7fELF\x00"})
	r := b.edit(object{"path": "f", "edits": []object{one("x", "y"), one("y", "x")}})
	if !r.OK || len(r.Changed) != 0 || !strings.Contains(r.Text, "undo each other") {
		t.Errorf("%v %s", r.Changed, r.Text)
	}
	if r := b.edit(object{"path": "bin", "old_string": "E", "new_string": "e"}); r.OK || !strings.Contains(r.Text, "ELF") {
		t.Errorf("%s", r.Text)
	}
	if r := b.edit(object{"path": "g", "old_string": "E", "new_string": "e"}); r.OK || !strings.Contains(r.Text, "there is no file g") {
		t.Errorf("%s", r.Text)
	}
	// An empty old_string makes a file where there is none, and fills an
	// empty one.
	if r := b.edit(object{"path": "n/g", "old_string": "", "new_string": "e"}); !r.OK || b.content("n/g") != "e" {
		t.Errorf("%s", r.Text)
	}
	b.write("empty", "")
	if r := b.edit(object{"path": "empty", "old_string": "", "new_string": "e"}); !r.OK || b.content("empty") != "e" {
		t.Errorf("%s", r.Text)
	}
	if r := b.edit(object{"path": "n/g", "old_string": "", "new_string": "f"}); r.OK || b.content("n/g") != "e" {
		t.Errorf("%s", r.Text)
	}
}

func TestF012_F013_ChangedSince(t *testing.T) {
	b := newBench(t, map[string]string{"f": numbers(20)})
	b.read(object{"path": "f"})
	b.write("f", numbers(20)) // another time stamp, the same bytes
	if r := b.edit(object{"path": "f", "old_string": "line 3\n", "new_string": "three\n"}); !r.OK || strings.Contains(r.Text, "changed on disk") {
		t.Errorf("F012: %s", r.Text)
	}
	b.write("f", strings.Replace(b.content("f"), "line 12\nline 13\n", "LINE 12\nLINE 12a\nLINE 13\n", 1))
	r := b.edit(object{"path": "f", "old_string": "line 5\n", "new_string": "five\n"})
	if !r.OK || !strings.Contains(r.Text, "changed on disk since you saw it: lines 12–14 are different") {
		t.Errorf("F013: %s", r.Text)
	}
	if !strings.Contains(b.content("f"), "LINE 12a") || !strings.Contains(b.content("f"), "five") {
		t.Errorf("F013: %q", b.content("f"))
	}
	b.write("f", strings.Replace(b.content("f"), "line 6\n", "", 1))
	r = b.edit(object{"path": "f", "old_string": "line 6\nline 7\n", "new_string": ""})
	if r.OK || !strings.Contains(r.Text, "changed on disk") {
		t.Errorf("F013, not found: %s", r.Text)
	}
}

func TestF028_SisterFile(t *testing.T) {
	b := newBench(t, map[string]string{
		"run_unix.go":    "func run() {\n\tfork()\n\twait()\n}\n",
		"run_windows.go": "func run() {\n\tCreateProcess(cmd)\n\twait()\n}\n",
	})
	b.read(object{"path": "run_windows.go"})
	r := b.edit(object{"path": "run_unix.go", "old_string": "\tCreateProcess(cmd)", "new_string": "\tx()"})
	if r.OK || !strings.Contains(r.Text, "run_windows.go, which you have seen, holds this text") {
		t.Errorf("%s", r.Text)
	}
}

func TestF008_EditKeepsTheMode(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "#!/bin/sh\nold\n"})
	path := filepath.Join(b.dir, "run.sh")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	b.edit(object{"path": "run.sh", "old_string": "old", "new_string": "new"})
	b.read(object{"path": "run.sh"})
	b.rewrite(object{"path": "run.sh", "content": "#!/bin/sh\n"})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestF016_EditsAtOnce: 200 edits of one file, and somebody who reads all
// the time and never sees half a file.
func TestF016_EditsAtOnce(t *testing.T) {
	const edits = 200
	b := newBench(t, map[string]string{"f": numbers(edits)})
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			data, err := os.ReadFile(filepath.Join(b.dir, "f"))
			if err != nil || strings.Count(string(data), "\n") != edits || !strings.HasSuffix(string(data), "\n") {
				t.Errorf("a reader sees %d bytes, %v", len(data), err)
				return
			}
		}
	})
	for i := range edits {
		writers.Go(func() {
			r := b.edit(object{"path": "f", "old_string": fmt.Sprintf("line %d\n", i+1), "new_string": fmt.Sprintf("edited %d\n", i+1)})
			if !r.OK {
				t.Error(r.Text)
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if got, want := b.content("f"), strings.ReplaceAll(numbers(edits), "line", "edited"); got != want {
		t.Errorf("%d edits are lost", strings.Count(got, "line"))
	}
}

// TestReplaceAllIsAll: also where there are very many, exactly or loosely.
func TestReplaceAllIsAll(t *testing.T) {
	const n = 20_000
	b := newBench(t, map[string]string{"f": strings.Repeat("x  = 1\n", n), "aaa": strings.Repeat("a", 9)})
	for _, e := range []object{one("1", "2"), one("x = 2\n", "y = 2\n"), one("2\ny", "3\ny")} {
		e["path"], e["replace_all"] = "f", true
		if r := b.edit(e); !r.OK {
			t.Fatal(r.Text)
		}
	}
	if got, want := b.content("f"), strings.Repeat("y = 3\n", n-1)+"y = 2\n"; got != want {
		t.Errorf("%d of %d are replaced: %.100q", strings.Count(got, "y = 3\n"), n-1, got)
	}
	if r := b.edit(object{"path": "f", "old_string": "y = 3", "new_string": "z", "near_line": 15_000}); !r.OK || !strings.Contains(r.Text, "15000│z") {
		t.Errorf("%s", r.Text)
	}
	if b.edit(object{"path": "aaa", "old_string": "aa", "new_string": "b", "replace_all": true}); b.content("aaa") != "bbbba" {
		t.Errorf("overlapping: %q", b.content("aaa"))
	}
}

func TestAnswersAreBounded(t *testing.T) {
	b := newBench(t, map[string]string{"f": strings.Repeat("x\n", 20_000), "wide": strings.Repeat("y", 100_000) + "\nz\n"})
	for _, r := range []*tool.Result{
		b.edit(object{"path": "f", "old_string": "x", "new_string": "y", "replace_all": true}),
		b.edit(object{"path": "f", "old_string": "y", "new_string": "x"}),
		b.edit(object{"path": "f", "old_string": "y\ny", "new_string": strings.Repeat("new\n", 5000), "near_line": 5}),
		b.edit(object{"path": "wide", "old_string": "z", "new_string": "zz"}),
		b.edit(object{"path": "wide", "old_string": strings.Repeat("y", 99_000) + "q", "new_string": "zz"}),
	} {
		if len(r.Text) > 16<<10 {
			t.Errorf("an answer of %d bytes: %.200s", len(r.Text), r.Text)
		}
	}
}

// TestF017_EditKeepsLinksAndTimes: a link stays a link, and a file that is
// the same after all keeps its time and is not written anew.
func TestF017_EditKeepsLinksAndTimes(t *testing.T) {
	b := newBench(t, map[string]string{"real.conf": "a = 1\n"})
	link := filepath.Join(b.dir, "link.conf")
	if err := os.Symlink("real.conf", link); err != nil {
		t.Fatal(err)
	}
	if r := b.edit(object{"path": "link.conf", "old_string": "1", "new_string": "2"}); !r.OK || b.content("real.conf") != "a = 2\n" {
		t.Errorf("%s: %q", r.Text, b.content("real.conf"))
	}
	if target, err := os.Readlink(link); target != "real.conf" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	path, long := filepath.Join(b.dir, "real.conf"), time.Unix(1e9, 0)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	b.edit(object{"path": "real.conf", "edits": []object{one("2", "3"), one("3", "2")}})
	b.edit(object{"path": "real.conf", "old_string": "zzz", "new_string": "y"})
	if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(long) {
		t.Errorf("nothing was changed and the time is %v, %v", info.ModTime(), err)
	}
	b.edit(object{"path": "real.conf", "old_string": "2", "new_string": "4"})
	if info, err := os.Stat(path); err != nil || info.ModTime().Equal(long) {
		t.Errorf("it was changed and the time is %v, %v", info.ModTime(), err)
	}
}

// TestF036_ACutLineIsNeverWhole: a line that grep or the report of an edit
// shows in part is said to be one, with how long it is.
func TestF036_ACutLineIsNeverWhole(t *testing.T) {
	b := newBench(t, map[string]string{"f": strings.Repeat("x", 3000) + "\nshort\n"})
	if r := b.call(Grep(), object{"pattern": "x$"}); !strings.Contains(r.Text, "part of a line of 3000 characters") {
		t.Errorf("grep: %.100s … %s", r.Text, r.Text[max(0, len(r.Text)-100):])
	}
	r := b.edit(object{"path": "f", "old_string": "short", "new_string": "shorter"})
	if !r.OK || strings.Contains(r.Text, strings.Repeat("x", 2999)) && !strings.Contains(r.Text, strings.Repeat("x", 3000)) {
		t.Errorf("edit: %.300s", r.Text)
	}
	if got := b.content("f"); got != strings.Repeat("x", 3000)+"\nshorter\n" {
		t.Errorf("the long line is harmed: %d bytes", len(got))
	}
}
