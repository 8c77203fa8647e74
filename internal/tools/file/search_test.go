package file

import (
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/search"
	"github.com/handrail-tools/handrail/tool"
)

// TestGrepChoices: what each further argument does.
func TestGrepChoices(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.txt": "Café one\nTwo\nthree\nFOUR\nfive\nsix\ntwofold\n", "latin.txt": "caf\xe9 one\n", "x.min.js": "two\n", "sub dir/-odd name.go": "two\n",
	})
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"smart case, small", map[string]any{"pattern": "two", "smart_case": true, "path": "a.txt"}, "2 matches in 1 file:\na.txt\n2│Two\n7│twofold"},
		{"smart case, capital", map[string]any{"pattern": "Two", "smart_case": true, "path": "a.txt"}, "1 match in 1 file:\na.txt\n2│Two"},
		{"word", map[string]any{"pattern": "two", "word": true, "ignore_case": true, "path": "a.txt"}, "1 match in 1 file:\na.txt\n2│Two"},
		{"before and after, merged", map[string]any{"pattern": "^(Two|FOUR)", "before": 1, "after": 2, "path": "a.txt"}, "2 matches in 1 file:\na.txt\n1┆Café one\n2│Two\n3┆three\n4│FOUR\n5┆five\n6┆six"},
		{"without numbers", map[string]any{"pattern": "Two", "line_numbers": false, "path": "a.txt"}, "1 match in 1 file:\na.txt\nTwo"},
		{"another encoding is said although something was found", map[string]any{"pattern": "(?i)café"}, "1 match in 1 file:\na.txt\n1│Café one\n[1 file in an encoding other than UTF-8, in which the pattern would be spelled differently (latin.txt)]"},
		{"names with blanks and dashes", map[string]any{"pattern": "two", "glob": []string{"*.go"}, "output_mode": "files"}, "1 file:\nsub dir/-odd name.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := b.call(Grep(), c.args); r.Text != c.want {
				t.Errorf("got\n%s\nwant\n%s", r.Text, c.want)
			}
		})
	}
}

// TestG8_PathsLeadBack: every path that a search names is one that read_file
// takes, from wherever the search began.
func TestG8_PathsLeadBack(t *testing.T) {
	b := newBench(t, map[string]string{
		"top.go": "needle\n", "a/b/deep.go": "needle\n", "a/with blank/-x.go": "needle\n", "a/é/ü.go": "needle\n", "a/.hid/h.go": "needle\n", "a/[x]{y}.go": "needle\n", "a/q\"q'.go": "needle\n",
	})
	for _, start := range []string{".", "a", "a/", "./a", "a/b", b.dir, b.dir + "/a", "a/../a"} {
		for tl, args := range map[tool.Tool]map[string]any{
			Grep(): {"pattern": "needle", "path": start, "output_mode": "files", "hidden": true},
			Glob(): {"pattern": "**/*.go", "path": start, "hidden": true},
		} {
			r := b.call(tl, args)
			lines := strings.Split(r.Text, "\n")
			if !r.OK || len(lines) < 2 {
				t.Fatalf("%s: %s", start, r.Text)
			}
			for _, path := range lines[1:] {
				if got := b.read(object{"path": path}); !got.OK || !strings.Contains(got.Text, "needle") {
					t.Errorf("from %s, %s names %q: %s", start, tl.Spec().Name, path, got.Text)
				}
			}
		}
		r := b.call(ListDir(), map[string]any{"path": start, "depth": 5})
		found := 0
		for line := range strings.Lines(listed(r)) {
			if path, _, isFile := strings.Cut(line, "  7 bytes"); isFile {
				found++
				if got := b.read(object{"path": path}); !got.OK || !strings.Contains(got.Text, "needle") {
					t.Errorf("from %s, list_dir names %q: %s", start, path, got.Text)
				}
			}
		}
		if found == 0 {
			t.Errorf("list_dir of %s shows no file: %s", start, r.Text)
		}
	}
}

// TestF030_NothingBecauseOfIgnoreFiles: "nothing" where the match lies in
// what was not looked at names it, and how to look there.
func TestF030_NothingBecauseOfIgnoreFiles(t *testing.T) {
	b := newBench(t, map[string]string{".gitignore": "scripts/*\n", "scripts/w.py": "needle\n", "scripts/v.py": "x\n", "a.py": "x\n"})
	r := b.call(Grep(), map[string]any{"pattern": "needle"})
	if !strings.Contains(r.Text, "2 entries left out by ignore files (scripts/v.py, scripts/w.py; no_ignore searches them)") {
		t.Errorf("from the top: %s", r.Text)
	}
	for _, args := range []map[string]any{{"pattern": "needle", "path": "scripts/w.py"}, {"pattern": "needle", "path": "scripts", "no_ignore": true}} {
		if r := b.call(Grep(), args); !strings.Contains(r.Text, "1│needle") {
			t.Errorf("%v: %s", args, r.Text)
		}
	}
}

// TestF039_TimeIsOverIsSaid: a search that was stopped calls its results a
// part, and says what to do; so does glob.
func TestF039_TimeIsOverIsSaid(t *testing.T) {
	hits := &search.Result{TimeOut: true, Hits: 1, HitFiles: 1, Shown: 1, Searched: 9, Files: []search.FileHits{{Path: "a", Hits: 1, To: 1, Lines: []search.Line{{Number: 1, Text: "x", Match: true}}}}}
	none := &search.Result{TimeOut: true, Searched: 9}
	for name, text := range map[string]string{
		"grep":         grepText(grepArgs{Pattern: "x", Path: ".", Output: "content", Limit: 9}, hits, false),
		"grep, none":   grepText(grepArgs{Pattern: "x", Path: ".", Output: "content", Limit: 9}, none, false),
		"glob":         globText(globArgs{Pattern: "*", Path: ".", Limit: 9}, &search.Found{TimeOut: true, Total: 1, Files: []search.FoundFile{{Path: "a"}}}, false),
		"glob, no hit": globText(globArgs{Pattern: "*", Path: ".", Limit: 9}, &search.Found{TimeOut: true}, false),
	} {
		if !strings.Contains(text, "the search was stopped after") || !strings.Contains(text, "search a smaller folder") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
