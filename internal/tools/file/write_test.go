package file

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

func TestWriteFile(t *testing.T) {
	b := newBench(t, map[string]string{"old": "a\nb\n"})
	for _, tt := range []struct {
		name    string
		args    object
		text    string
		file    string
		content string
	}{
		{"new", object{"path": "new", "content": "x\ny\n"}, "Created new: 2 lines, 4 bytes.", "new", "x\ny\n"},
		{"folders", object{"path": "a/b/c", "content": "x"}, "Created a/b/c: 1 line, 1 byte. Made the folder a/b.", "a/b/c", "x"},
		{"over", object{"path": "old", "content": "c\n"}, "Overwrote old: 1 line, 2 bytes (before: 2 lines, 4 bytes).", "old", "c\n"},
		{"the same", object{"path": "old", "content": "c\n"}, "old has exactly this content already; nothing was written.", "old", "c\n"},
		{"F029 empty", object{"path": "old", "content": ""}, "Overwrote old: 0 lines, 0 bytes (before: 1 line, 2 bytes).", "old", ""},
		{"empty and new", object{"path": "./e", "content": ""}, "Created e: 0 lines, 0 bytes.", "e", ""},
		{"create only", object{"path": "n", "content": "x", "create_only": true}, "Created n: 1 line, 1 byte.", "n", "x"},
		{"F018 entities are text", object{"path": "h", "content": "<p>it&apos;s 1 &lt; 2 &amp;amp;</p>"}, "Created h: 1 line, 35 bytes.", "h", "<p>it&apos;s 1 &lt; 2 &amp;amp;</p>"},
		{"F021 markers are text", object{"path": "m", "content": "=====\n<<<<<<<\n*** End Patch\n@@ -1 +1 @@\n"}, "Created m: 4 lines, 40 bytes.", "m", "=====\n<<<<<<<\n*** End Patch\n@@ -1 +1 @@\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := b.rewrite(tt.args)
			if !r.OK || r.Text != tt.text || b.content(tt.file) != tt.content {
				t.Errorf("%s: %q", r.Text, b.content(tt.file))
			}
			if want := !strings.Contains(tt.text, "nothing"); want != slices.Equal(r.Changed, []string{tt.file}) {
				t.Errorf("changed %v", r.Changed)
			}
		})
	}
	if r := b.rewrite(object{"path": "n", "content": "y", "create_only": true}); r.OK || r.Code != tool.CodeFailed || b.content("n") != "x" {
		t.Errorf("creating again: %s %s", r.Code, r.Text)
	}
	if r := b.rewrite(object{"path": "a/b", "content": "y"}); r.OK || !strings.Contains(r.Text, "is a folder") {
		t.Errorf("over a folder: %s", r.Text)
	}
	if r := b.rewrite(object{"path": "n/x", "content": "y"}); r.OK || !strings.Contains(r.Text, "is a file, not a folder") {
		t.Errorf("beneath a file: %s", r.Text)
	}
}

// TestL40_OverwriteGuard: octos 7.2 and 7.4, field report F025.
func TestL40_OverwriteGuard(t *testing.T) {
	big := numbers(9_000)
	for _, tt := range []struct {
		name  string
		file  string
		doing func(b *bench)
		size  int // of the new content
		guard string
	}{
		{"small and never read", numbers(20), nil, 10, ""},
		{"F025 never read and much smaller", numbers(200), nil, 100, "partial_view"},
		{"never read and of the same size", numbers(200), nil, 1500, ""},
		{"large and never read", big, nil, len(big), "partial_view"},
		{"read whole", numbers(200), func(b *bench) { b.read(object{"path": "f"}) }, 10, ""},
		{"read in part", numbers(200), func(b *bench) { b.read(object{"path": "f", "limit": 199}) }, 2000, "partial_view"},
		{"read in two parts", numbers(200), func(b *bench) {
			b.read(object{"path": "f", "start_line": 100})
			b.read(object{"path": "f", "end_line": 100})
		}, 10, ""},
		{"read in two parts with a gap", numbers(200), func(b *bench) {
			b.read(object{"path": "f", "start_line": 101})
			b.read(object{"path": "f", "end_line": 99})
		}, 10, "partial_view"},
		{"changed since", numbers(200), func(b *bench) {
			b.read(object{"path": "f"})
			b.write("f", numbers(201))
		}, 10, "changed"},
		{"F012 touched since", numbers(200), func(b *bench) {
			b.read(object{"path": "f"})
			b.write("f", numbers(200))
		}, 10, ""},
		{"changed between two parts", numbers(200), func(b *bench) {
			b.read(object{"path": "f", "end_line": 150})
			b.write("f", strings.Replace(numbers(200), "line 7\n", "LINE 7\n", 1))
			b.read(object{"path": "f", "start_line": 100})
		}, 10, "partial_view"},
		{"written by the session", "", func(b *bench) { b.rewrite(object{"path": "f", "content": big}) }, 10, ""},
		{"edited after reading", numbers(200), func(b *bench) {
			b.read(object{"path": "f"})
			b.edit(object{"path": "f", "old_string": "line 7\n", "new_string": "seven\nand more\n"})
		}, 10, ""},
		{"edited after reading in part", numbers(200), func(b *bench) {
			b.read(object{"path": "f", "limit": 100})
			b.edit(object{"path": "f", "old_string": "line 7\n", "new_string": "seven\n"})
		}, 10, "partial_view"},
		{"edited and then read on", numbers(200), func(b *bench) {
			b.read(object{"path": "f", "end_line": 100})
			b.edit(object{"path": "f", "edits": []object{
				{"old_string": "line 7\n", "new_string": "seven\nand more\n"}, {"old_string": "line 150\n", "new_string": ""}, {"old_string": "line 3\n", "new_string": "3\n"},
			}})
			b.read(object{"path": "f", "start_line": 102})
		}, 10, ""},
		{"L42 bytes that are no characters", "日本語の文章です\nbad \xff byte\n" + numbers(200), func(b *bench) { b.read(object{"path": "f"}) }, 1000, "lossy_view"},
		{"read under another name", numbers(200), func(b *bench) { b.read(object{"path": b.dir + "/./f"}) }, 10, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": tt.file})
			if tt.doing != nil {
				tt.doing(b)
			}
			before := b.content("f")
			r := b.rewrite(object{"path": "f", "content": strings.Repeat("x", tt.size)})
			if tt.guard == "" {
				if !r.OK {
					t.Errorf("refused: %s", r.Text)
				}
				return
			}
			if r.Code != tool.CodeDenied || r.Metadata["guard"] != tt.guard || !strings.Contains(r.Text, "Nothing was written") || b.content("f") != before {
				t.Errorf("%s %v: %s", r.Code, r.Metadata, r.Text)
			}
		})
	}
}

func TestWriteKeepsTheForm(t *testing.T) {
	for _, tt := range []struct{ name, before, content, after, note string }{
		{"CRLF", "a\r\nb\r\n", "c\nd\n", "c\r\nd\r\n", "CRLF line ends were kept"},
		{"CRLF given", "a\r\nb\r\n", "c\r\nd\n", "c\r\nd\n", ""},
		{"mixed", "a\r\nb\n", "c\nd\n", "c\nd\n", ""},
		{"mark", "\xef\xbb\xbfa\n", "b\n", "\xef\xbb\xbfb\n", "byte order mark was kept"},
		{"mark given too", "\xef\xbb\xbfa\n", "\ufeffb\n", "\xef\xbb\xbfb\n", "byte order mark was kept"},
		{"UTF-16", "\xff\xfea\x00\r\x00\n\x00", "é\n", "\xff\xfe\xe9\x00\r\x00\n\x00", "UTF-16LE with its byte order mark was kept"},
		{"guessed", "caf\xe9\n", "thé\n", "thé\n", "it is UTF-8 now"},
		{"empty before", "", "a\n", "a\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": tt.before})
			if r := b.rewrite(object{"path": "f", "content": tt.content}); !r.OK || b.content("f") != tt.after || !strings.Contains(r.Text, tt.note) {
				t.Errorf("%s: %q", r.Text, b.content("f"))
			}
		})
	}
	sjis := "\x82\xb1\x82\xea\x82\xcd\x95\xb6\x8e\x9a\x83\x52\x81\x5b\x83\x68\x82\xcc\x94\xbb\x92\xe8\x82\xf0\x8e\x8e\x82\xb7\n"
	b := newBench(t, map[string]string{"f": sjis})
	r := b.rewrite(object{"path": "f", "content": "→ 👩\n"})
	if r.Code != tool.CodeInvalidInput || !strings.Contains(r.Text, "Shift_JIS") || b.content("f") != sjis {
		t.Errorf("a character that Shift_JIS lacks: %s %s", r.Code, r.Text)
	}
	if r := b.rewrite(object{"path": "f", "content": "→ 👩\n", "encoding": "utf-8"}); !r.OK || b.content("f") != "→ 👩\n" {
		t.Errorf("%s: %q", r.Text, b.content("f"))
	}
	if r := b.rewrite(object{"path": "new", "content": "é", "encoding": "utf-16"}); !r.OK || b.content("new") != "\xff\xfe\xe9\x00" {
		t.Errorf("%s: %q", r.Text, b.content("new"))
	}
	if r := b.rewrite(object{"path": "new", "content": "é", "encoding": "latin-1"}); !r.OK || b.content("new") != "\xe9" {
		t.Errorf("%s: %q", r.Text, b.content("new"))
	}
}

// TestF024_CopiedListing: what read_file adds is not written into a file.
func TestF024_CopiedListing(t *testing.T) {
	b := newBench(t, map[string]string{"f": numbers(30), "doc": "1│a\n2│b\n"})
	shown := b.read(object{"path": "f", "limit": 20}).Text
	for name, content := range map[string]string{
		"the whole answer":  shown,
		"the notice alone":  "a\nb\n" + shown[strings.LastIndex(shown, "\n")+1:] + "\n",
		"the numbers alone": "1│a\n2│b\n",
		"padded numbers":    " 9│a\n10│b\n",
	} {
		if r := b.rewrite(object{"path": "new", "content": content}); r.Code != tool.CodeInvalidInput {
			t.Errorf("%s: %s %s", name, r.Code, r.Text)
		}
	}
	for name, content := range map[string]string{
		"a table":            "a│b\nc│d\n",
		"a list":             "1: a\n2: b\n",
		"a text about it":    "read_file shows\n1│a\n2│b\n",
		"numbers at random":  "1│a\n7│b\n",
		"a note in brackets": "[showing lines 1-20 of 60]\n",
	} {
		if r := b.rewrite(object{"path": "new", "content": content}); !r.OK {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
	if r := b.rewrite(object{"path": "doc", "content": "1│a\n2│c\n"}); !r.OK {
		t.Errorf("a file that holds a listing already: %s", r.Text)
	}
}

func TestF017_WriteThroughLinks(t *testing.T) {
	b := newBench(t, map[string]string{"real.conf": "a = 1\n"})
	for name, target := range map[string]string{"link.conf": "real.conf", "dangling": "nowhere", "loop": "loop", "out": "/etc/hostname"} {
		if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := b.edit(object{"path": "link.conf", "old_string": "a = 1", "new_string": "a = 2"})
	if !r.OK || b.content("real.conf") != "a = 2\n" || !slices.Equal(r.Changed, []string{"real.conf"}) {
		t.Errorf("%v %s", r.Changed, r.Text)
	}
	if target, err := os.Readlink(filepath.Join(b.dir, "link.conf")); err != nil || target != "real.conf" {
		t.Errorf("the link is %q, %v", target, err)
	}
	for name, want := range map[string]string{"dangling": "target does not exist", "loop": "loop", "out": "outside the workspace"} {
		if r := b.rewrite(object{"path": name, "content": "x"}); r.OK || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "nowhere")); err == nil {
		t.Error("the dangling link was written through")
	}
}

func TestHardLinksAreNamed(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x\n"})
	if err := os.Link(filepath.Join(b.dir, "a"), filepath.Join(b.dir, "b")); err != nil {
		t.Fatal(err)
	}
	r := b.edit(object{"path": "a", "old_string": "x", "new_string": "y"})
	if !r.OK || !strings.Contains(r.Text, "1 other name beside this one, as hard links: they keep the old content") || b.content("b") != "x\n" {
		t.Errorf("%s: %q", r.Text, b.content("b"))
	}
}

// TestPathsOfEveryTool sends each form of traversal through the path of each
// tool of this part.
func TestPathsOfEveryTool(t *testing.T) {
	b := newBench(t, map[string]string{"a/in.txt": "inside", ".git/config": "git"})
	out := filepath.Join(filepath.Dir(b.dir), "outside.txt")
	if err := os.WriteFile(out, []byte("inside"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"leaf": "../outside.txt", "dir": "..", "abs": out} {
		if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{
		"../outside.txt", "a/../../outside.txt", "missing/../../outside.txt", "./../outside.txt", "..", "a/../..", out, b.dir + "/../outside.txt",
		"leaf", "dir/outside.txt", "abs", "a//..//../outside.txt", "/../" + out, "//etc/passwd", "/proc/self/root/etc/passwd", "a\x00/../../outside.txt",
	}
	for _, name := range names {
		for what, r := range map[string]*tool.Result{
			"read_file":  b.read(object{"path": name}),
			"write_file": b.rewrite(object{"path": name, "content": "x"}),
			"edit_file":  b.edit(object{"path": name, "old_string": "inside", "new_string": "x"}),
		} {
			if r.OK || r.Code != tool.CodeDenied && r.Code != tool.CodeInvalidInput {
				t.Errorf("%s %q: %s %s", what, name, r.Code, r.Text)
			}
		}
	}
	for what, r := range map[string]*tool.Result{
		"write_file": b.rewrite(object{"path": ".git/config", "content": "x"}),
		"edit_file":  b.edit(object{"path": ".git/config", "old_string": "git", "new_string": "x"}),
	} {
		if r.Code != tool.CodeDenied || b.content(".git/config") != "git" {
			t.Errorf("%s: %s %s", what, r.Code, r.Text)
		}
	}
	if data, err := os.ReadFile(out); err != nil || string(data) != "inside" {
		t.Errorf("the file outside is %q, %v", data, err)
	}
}

// TestL41_AForgedTimeDoesNotHideAChange: what was seen is known by its
// content; a file of the same size with the old time stamp is another one.
func TestL41_AForgedTimeDoesNotHideAChange(t *testing.T) {
	b := newBench(t, map[string]string{"f": numbers(200)})
	path := filepath.Join(b.dir, "f")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b.read(object{"path": "f"})
	other := strings.ReplaceAll(numbers(200), "line", "LINE")
	b.write("f", other)
	if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	if r := b.rewrite(object{"path": "f", "content": "short"}); r.OK || b.content("f") != other {
		t.Errorf("it was overwritten: %s", r.Text)
	}
}
