package file

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

func grepBench(t *testing.T) *bench {
	return newBench(t, map[string]string{
		"a.go": "package a\n\nfunc One() {}\n\nfunc Two() {}\n", "b/c.go": "// one\nfunc Three() {}\n", "b/d.py": "def one(): pass\n",
		"bin.dat": "one\x00two\n", "out/x.go": "func Out() {}\n", ".gitignore": "out/\n", ".hid/y.go": "func Hid() {}\n",
		".ssh/id_rsa": "func Secret\n", "long.js": strings.Repeat("x", 900) + "needle" + strings.Repeat("y", 900) + "\n",
		"odd.txt": "bell\x07 right\u202eleft\n", "u16.txt": "\xff\xfeo\x00n\x00e\x00\n\x00",
	})
}

func TestGrep(t *testing.T) {
	b := grepBench(t)
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"content", map[string]any{"pattern": `^func \w+`}, "3 matches in 2 files:\na.go\n3│func One() {}\n5│func Two() {}\n\nb/c.go\n2│func Three() {}"},
		{"context is merged", map[string]any{"pattern": "^func", "path": "a.go", "context": 1}, "2 matches in 1 file:\na.go\n2┆\n3│func One() {}\n4┆\n5│func Two() {}"},
		{"context apart", map[string]any{"pattern": "^(package|func Two)", "path": "a.go", "after": 1}, "2 matches in 1 file:\na.go\n1│package a\n2┆\n--\n5│func Two() {}"},
		{"files", map[string]any{"pattern": "func", "output_mode": "files"}, "2 files:\na.go\nb/c.go"},
		{"count", map[string]any{"pattern": "func", "output_mode": "count"}, "2 files:\na.go: 2\nb/c.go: 1"},
		{"glob and exclusion", map[string]any{"pattern": "one", "glob": []string{"*.go", "*.py", "!b/c.go"}, "ignore_case": true}, "2 matches in 2 files:\na.go\n3│func One() {}\n\nb/d.py\n1│def one(): pass"},
		{"type", map[string]any{"pattern": "one", "type": []string{"py"}}, "1 match in 1 file:\nb/d.py\n1│def one(): pass"},
		{"G8 paths of the workspace", map[string]any{"pattern": "Three", "path": "b"}, "1 match in 1 file:\nb/c.go\n2│func Three() {}"},
		{"literal", map[string]any{"pattern": "One()", "literal": true}, "1 match in 1 file:\na.go\n3│func One() {}"},
		{"word", map[string]any{"pattern": "On", "word": true, "path": "a.go"}, "Nothing in a.go matches On.\n[1 file searched]"},
		{"multiline", map[string]any{"pattern": "One.*?func", "multiline": true}, "1 match in 1 file:\na.go\n3│func One() {}\n4│\n5│func Two() {}"},
		{"hidden", map[string]any{"pattern": "Hid|Secret", "hidden": true}, "1 match in 1 file:\n.hid/y.go\n1│func Hid() {}\n[1 folder closed by the workspace's rules]"},
		{"ignored", map[string]any{"pattern": "Out", "no_ignore": true}, "1 match in 1 file:\nout/x.go\n1│func Out() {}"},
		{"an ignored folder by its path", map[string]any{"pattern": "Out", "path": "out"}, "1 match in 1 file:\nout/x.go\n1│func Out() {}\n[ignore files leave this folder out, so they were not asked]"},
		{"page", map[string]any{"pattern": "^func", "limit": 1}, "1–1 of 3 matches in 2 files:\na.go\n3│func One() {}\n[call again with offset 1 for more; further matches are in a.go, b/c.go]"},
		{"nothing, and why", map[string]any{"pattern": "Out|Hid"}, "Nothing in the workspace matches Out|Hid.\n[7 files searched; 1 entry left out by ignore files (out; no_ignore searches them); 3 entries left out as hidden (hidden searches them)]"},
		{"F193 control characters are shown escaped", map[string]any{"pattern": "bell"}, "1 match in 1 file:\nodd.txt\n1│bell\\u{7} right\\u{202e}left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := b.call(Grep(), c.args); r.Text != c.want {
				t.Errorf("got\n%s\nwant\n%s", r.Text, c.want)
			}
		})
	}
}

func TestGrepSaysWhatItDoesNotShow(t *testing.T) {
	b := grepBench(t)
	r := b.call(Grep(), map[string]any{"pattern": "one"})
	if !strings.Contains(r.Text, "1 binary file with a match, whose lines are not shown (bin.dat)") {
		t.Errorf("binary: %q", r.Text)
	}
	if !strings.Contains(r.Text, "u16.txt\n1│one") {
		t.Errorf("UTF-16 is not searched: %q", r.Text)
	}
}

func TestL57_LongLineIsCutAroundTheMatch(t *testing.T) {
	r := grepBench(t).call(Grep(), map[string]any{"pattern": "needle"})
	if !strings.Contains(r.Text, "needle") || !strings.Contains(r.Text, "[part of a line of 1806 characters]") || len(r.Text) > 1000 {
		t.Errorf("%q", r.Text)
	}
}

func TestL52_InvalidChoicesFailLoudly(t *testing.T) {
	b := grepBench(t)
	for _, args := range []map[string]any{
		{"pattern": "("}, {"pattern": "x", "glob": []string{"[a"}}, {"pattern": "x", "type": []string{"cobol77"}},
		{"pattern": "x", "glob": []string{"../*"}}, {"pattern": "x", "ignore_case": true, "smart_case": true},
		{"pattern": "x", "path": "a.go", "glob": []string{"*.go"}},
	} {
		if r := b.call(Grep(), args); r.Code != tool.CodeInvalidInput {
			t.Errorf("%v: %q %s", args, r.Code, r.Text)
		}
	}
}

func TestF192_CutSaysWhereTheRestIs(t *testing.T) {
	files := map[string]string{}
	for i := range 19 {
		files[fmt.Sprintf("f%02d.txt", i)] = "hit\n"
	}
	r := newBench(t, files).call(Grep(), map[string]any{"pattern": "hit", "limit": 10})
	if !strings.HasPrefix(r.Text, "1–10 of 19 matches in 19 files:") || !strings.Contains(r.Text, "f18.txt") {
		t.Errorf("%q", r.Text)
	}
}

// A page ends where the budget does, between two results, and the offset it
// names brings exactly what follows.
func TestGrepPagesFitTheBudget(t *testing.T) {
	files := map[string]string{}
	for i := range 9 {
		var text strings.Builder
		for k := range 100 {
			fmt.Fprintf(&text, "before %d\nhit %d-%d %s\n", k, i, k, strings.Repeat("é", 90))
		}
		files[fmt.Sprintf("d/f%d.txt", i)] = text.String()
	}
	b := newBench(t, files)
	seen, offset, pages := 0, 0, 0
	for more := true; more; pages++ {
		r := b.call(Grep(), map[string]any{"pattern": "hit", "before": 1, "limit": 1000, "offset": offset})
		if len(r.Text) > grepBytes {
			t.Fatalf("page %d has %d bytes", pages, len(r.Text))
		}
		for line := range strings.Lines(r.Text) {
			if _, text, ok := strings.Cut(line, "│"); ok {
				if want := fmt.Sprintf("hit %d-%d ", seen/100, seen%100); !strings.HasPrefix(text, want) {
					t.Fatalf("result %d is %q", seen, line)
				}
				seen++
			}
		}
		_, rest, found := strings.Cut(r.Text, "call again with offset ")
		if more = found; found {
			if _, err := fmt.Sscan(rest, &offset); err != nil || offset != seen {
				t.Fatalf("page %d ends at %d and names %.40q", pages, seen, rest)
			}
			if !strings.Contains(rest, "no more fits") || !strings.Contains(rest, "further matches are in d/f") {
				t.Errorf("page %d: %.200q", pages, rest)
			}
		}
	}
	if seen != 900 || pages < 5 {
		t.Errorf("%d results on %d pages", seen, pages)
	}
}

func TestF192_ManyFurtherFilesAreNamedByFolder(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("lib/p%d/a.txt", i)] = "hit\nhit\n"
		files[fmt.Sprintf("src/%d.txt", i)] = "hit\n"
	}
	b := newBench(t, files)
	r := b.call(Grep(), map[string]any{"pattern": "hit", "limit": 1})
	if !strings.Contains(r.Text, "further matches are in lib/ (79), src/ (40)]") {
		t.Errorf("%q", r.Text)
	}
	r = b.call(Grep(), map[string]any{"pattern": "hit", "limit": 1, "path": "src", "output_mode": "files"})
	if !strings.Contains(r.Text, "further matches are in src/ (39)]") {
		t.Errorf("%q", r.Text)
	}
}

// TestF041_NothingFoundThreeWays: no match, no such file, no such folder.
func TestF041_NothingFoundThreeWays(t *testing.T) {
	b := grepBench(t)
	for want, args := range map[string]map[string]any{
		"Nothing in the workspace matches zzz.\n[2 files searched":                        {"pattern": "zzz", "glob": []string{"*.go"}},
		"No file in the workspace is of the glob or type that was asked for.\n[0 files s": {"pattern": "zzz", "glob": []string{"*.rs"}},
		"there is no": {"pattern": "zzz", "path": "nowhere"},
		`\| is a bar`: {"pattern": `One\|Two`},
	} {
		if r := b.call(Grep(), args); !strings.Contains(r.Text, want) {
			t.Errorf("%v: %q", args, r.Text)
		}
	}
}

// TestL55_AdviceNamesUnusedLeversOnly: what was used is not advised again.
func TestL55_AdviceNamesUnusedLeversOnly(t *testing.T) {
	all := resumeGrep(grepArgs{Path: ".", Output: "content", Before: 1, Limit: 100}, tool.Cut{})
	for _, want := range []string{"path", "glob", "count", "around", "offset"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %q", want, all)
		}
	}
	if got := resumeGrep(grepArgs{Path: "src", Glob: []string{"*.go"}, Output: "files", Limit: 1}, tool.Cut{}); got != "" {
		t.Errorf("there is no lever left, and %q is advised", got)
	}
}

func TestGrepEscapes(t *testing.T) {
	b := grepBench(t)
	for _, path := range []string{"..", "../..", "/etc", "b/../../x", "\x00"} {
		if r := b.call(Grep(), map[string]any{"pattern": "root", "path": path}); r.OK {
			t.Errorf("%q: %s", path, r.Text)
		}
	}
}

func TestGrepSuite(t *testing.T) {
	b := newBench(t, map[string]string{"a/b.txt": "x"})
	tooltest.Run(t, Grep(), tooltest.Options{
		Dir:     b.dir,
		Context: func(ctx context.Context) context.Context { return b.around(ctx) },
		Examples: []tooltest.Example{
			{Args: `{"pattern":"x"}`}, {Args: `{"pattern":"x","path":"a/b.txt"}`},
			{Args: `{"pattern":"x","path":"none"}`, Code: tool.CodeFailed}, {Args: `{"pattern":"("}`, Code: tool.CodeInvalidInput},
		},
	})
}
