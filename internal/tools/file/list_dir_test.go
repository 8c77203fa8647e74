package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
	"golang.org/x/sys/unix"
)

// listed returns the lines of an answer without its first.
func listed(r *tool.Result) string {
	_, rest, _ := strings.Cut(r.Text, "\n")
	return rest
}

func treeBench(t *testing.T) *bench {
	b := newBench(t, map[string]string{
		"b.txt": "hello", "a/x.go": "", "a/deep/y.go": "", ".env.example": "", ".gitignore": "out/\n", "out/big.o": "",
		".git/HEAD": "", ".ssh/id_rsa": "", "odd\nname": "",
	})
	for name, target := range map[string]string{"link": "b.txt", "away": "/etc"} {
		if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(b.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.write(".handrail-tmp-0123456789abcdef", "")
	return b
}

func TestListDir(t *testing.T) {
	b := treeBench(t)
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"flat", nil, ".git/\na/\nout/\n.env.example  0 bytes\n.gitignore  5 bytes\naway -> /etc\nb.txt  5 bytes\nlink -> b.txt\n" +
			`odd\nname` + "  0 bytes\npipe  (a pipe, socket or device)\n[1 entry closed by the workspace's rules]"},
		{"deep", map[string]any{"depth": 3, "hidden": false}, "a/\na/deep/\na/deep/y.go  0 bytes\na/x.go  0 bytes\nout/  (not opened)\naway -> /etc\nb.txt  5 bytes\nlink -> b.txt\n" +
			`odd\nname` + "  0 bytes\npipe  (a pipe, socket or device)\n[4 entries whose names begin with a dot left out; hidden lists them; 1 ignored folder not opened; list one by its path to see into it]"},
		{"below", map[string]any{"path": "a/"}, "a/deep/\na/x.go  0 bytes"},
		{"an ignored folder by its path", map[string]any{"path": "out"}, "out/big.o  0 bytes"},
		{"page", map[string]any{"limit": 2, "offset": 1}, "a/\nout/\n[7 more; call again with offset 3; 1 entry closed by the workspace's rules]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.args == nil {
				c.args = map[string]any{}
			}
			if got := listed(b.call(ListDir(), c.args)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestF047_ListDirRulesFromAbove: what the root's ignore file says holds for
// a listing that begins further down.
func TestF047_ListDirRulesFromAbove(t *testing.T) {
	b := newBench(t, map[string]string{".gitignore": "/lib/gen/\n", "lib/gen/a": "", "lib/x/b": "", "lib/x/.gitignore": "y/\n", "lib/x/y/c": ""})
	got := listed(b.call(ListDir(), map[string]any{"path": "lib", "depth": 3, "hidden": false}))
	want := "lib/gen/  (not opened)\nlib/x/\nlib/x/y/  (not opened)\nlib/x/b  0 bytes\n[1 entry whose names begin with a dot left out; hidden lists them; 2 ignored folders not opened; list one by its path to see into it]"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestListDirFailures(t *testing.T) {
	b := treeBench(t)
	for path, want := range map[string]string{
		"b.txt": "read_file reads it", "nowhere": "nowhere", "..": "outside", "away": "outside", "pipe": "not a folder", ".ssh": "may not be read",
	} {
		r := b.call(ListDir(), map[string]any{"path": path})
		if r.OK || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %v %q, want %q", path, r.OK, r.Text, want)
		}
	}
	if r := b.call(ListDir(), map[string]any{"offset": 99}); !r.OK || !strings.Contains(r.Text, "beyond the last") {
		t.Errorf("beyond the last: %q", r.Text)
	}
}

// TestG17_ManyEntriesAreCounted: a cut list says how many there are.
func TestG17_ManyEntriesAreCounted(t *testing.T) {
	files := map[string]string{}
	for i := range listLimit + 7 {
		files[fmt.Sprintf("d/%04d", i)] = ""
	}
	b := newBench(t, files)
	r := b.call(ListDir(), map[string]any{"path": "d"})
	if !strings.HasPrefix(r.Text, "d: entries 1–500 of 507\nd/0000") || !strings.HasSuffix(r.Text, "[7 more; call again with offset 500]") {
		t.Errorf("%.60q … %q", r.Text, r.Text[len(r.Text)-60:])
	}
}

func TestListDirSuite(t *testing.T) {
	b := newBench(t, map[string]string{"a/b.txt": "x"})
	tooltest.Run(t, ListDir(), tooltest.Options{
		Dir:     b.dir,
		Context: func(ctx context.Context) context.Context { return b.around(ctx) },
		Examples: []tooltest.Example{
			{Args: `{}`}, {Args: `{"path":"a","depth":2}`}, {Args: `{"path":"none"}`, Code: tool.CodeFailed},
		},
	})
}

// TestG17_AHugeFolderIsBounded: beyond what is looked at in all, the list
// says that there is more, and what to do.
func TestG17_AHugeFolderIsBounded(t *testing.T) {
	b := newBench(t, map[string]string{"d/origin": ""})
	for i := range listReach + 50 {
		if err := os.Link(filepath.Join(b.dir, "d/origin"), filepath.Join(b.dir, fmt.Sprintf("d/%05d", i))); err != nil {
			t.Fatal(err)
		}
	}
	r := b.call(ListDir(), map[string]any{"path": "d", "limit": 3})
	if !strings.HasPrefix(r.Text, "d: entries 1–3 of 50000\n") || !strings.Contains(r.Text, "there is more than the 50000 entries that are looked at; list a folder further down") {
		t.Errorf("%s", r.Text)
	}
}
