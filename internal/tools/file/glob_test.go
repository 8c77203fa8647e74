package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

func TestGlob(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.go": "", "b/c.go": "", "b/d.txt": "", "out/e.go": "", ".gitignore": "out/\n", ".github/ci.yml": "", "b/..f": "",
		"b/.gitignore": "*.txt\n", ".ssh/x.go": "",
	})
	if err := os.Chtimes(filepath.Join(b.dir, "a.go"), time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"newest first", map[string]any{"pattern": "**/*.go"}, "2 files, latest change first:\nb/c.go\na.go\n[1 ignored entry was left out]"},
		{"by path", map[string]any{"pattern": "**/*.go", "sort": "path"}, "2 files, by path:\na.go\nb/c.go\n[1 ignored entry was left out]"},
		{"below a folder, paths of the workspace", map[string]any{"pattern": "*.go", "path": "b"}, "1 file, latest change first:\nb/c.go"},
		{"rules of the folder above hold", map[string]any{"pattern": "*.txt", "path": "b"}, "No file matches *.txt in b.\n[1 entry left out by ignore files (b/d.txt; no_ignore finds them)]"},
		{"an ignored folder by its path", map[string]any{"pattern": "*.go", "path": "out"}, "1 file, latest change first:\nout/e.go\n[ignore files leave this folder out, so they were not asked]"},
		{"no_ignore", map[string]any{"pattern": "**/{d.txt,e.go}", "no_ignore": true, "sort": "path"}, "2 files, by path:\nb/d.txt\nout/e.go"},
		{"F030 an ignored folder that the pattern names", map[string]any{"pattern": "out/*.go"}, "1 file, latest change first:\nout/e.go\n[ignore files leave this folder out, so they were not asked]"},
		{"F042 a link that the pattern names", map[string]any{"pattern": "link/**/*.go"}, "1 file, latest change first:\nb/c.go"},
		{"F042 a link that it does not name", map[string]any{"pattern": "*/zzz"}, "No file matches */zzz in the workspace.\n[1 entry left out by ignore files (out; no_ignore finds them); 2 entries left out as hidden (hidden finds them); 1 symbolic link not followed (link)]"},
		{"a folder that does not exist", map[string]any{"pattern": "none/**/*.go"}, "No file matches none/**/*.go in the workspace."},
		{"dot named", map[string]any{"pattern": ".github/*"}, "1 file, latest change first:\n.github/ci.yml"},
		{"dots inside a name", map[string]any{"pattern": "b/..f"}, "1 file, latest change first:\nb/..f"},
		{"page", map[string]any{"pattern": "**/*.go", "sort": "path", "limit": 1, "offset": 1}, "Files 2–2 of 2, by path:\nb/c.go\n[1 ignored entry was left out]"},
		{"beyond", map[string]any{"pattern": "**/*.go", "offset": 5}, "There are only 2 files; offset 5 is beyond the last.\n[1 ignored entry was left out]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := b.call(Glob(), c.args)
			if r.Text != c.want {
				t.Errorf("got\n%s\nwant\n%s", r.Text, c.want)
			}
		})
	}
	for pattern, want := range map[string]string{"../*": "..", "/etc/*": "relative", "[a": "pattern", "": "pattern", "a/../../b": ".."} {
		if r := b.call(Glob(), map[string]any{"pattern": pattern}); r.Code != tool.CodeInvalidInput || !strings.Contains(r.Text, want) {
			t.Errorf("%q: %s %q", pattern, r.Code, r.Text)
		}
	}
}

// TestG17_GlobTellsTheTotal: a cut list says how many there are and how to
// go on.
func TestG17_GlobTellsTheTotal(t *testing.T) {
	files := map[string]string{}
	for i := range globLimit + 5 {
		files[fmt.Sprintf("%03d.x", i)] = ""
	}
	r := newBench(t, files).call(Glob(), map[string]any{"pattern": "*.x", "sort": "path"})
	if !strings.HasPrefix(r.Text, "Files 1–100 of 105, by path:\n000.x\n") || !strings.HasSuffix(r.Text, "099.x\n[5 more; call again with offset 100]") {
		t.Errorf("%q", r.Text)
	}
}

func TestGlobSuite(t *testing.T) {
	b := newBench(t, map[string]string{"a/b.txt": "x"})
	tooltest.Run(t, Glob(), tooltest.Options{
		Dir:     b.dir,
		Context: func(ctx context.Context) context.Context { return b.around(ctx) },
		Examples: []tooltest.Example{
			{Args: `{"pattern":"**/*.txt"}`}, {Args: `{"pattern":"*","path":"none"}`, Code: tool.CodeFailed},
			{Args: `{"pattern":"../x"}`, Code: tool.CodeInvalidInput},
		},
	})
}
