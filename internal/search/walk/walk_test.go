package walk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ways are the two ways to open a tree; every test of this package's promise
// runs on both.
var ways = map[string]func(*os.File) (*Tree, error){"native": Open, "portable": OpenPortable}

func eachWay(t *testing.T, test func(t *testing.T, open func(*os.File) (*Tree, error))) {
	for name, open := range ways {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// layTree makes files: "a/b" with content, "a/" a folder, and where the
// content begins with "->" a link.
func layTree(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		var err error
		target, isLink := strings.CutPrefix(content, "->")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case isLink:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func openTree(tb testing.TB, dir string, open func(*os.File) (*Tree, error)) *Tree {
	tb.Helper()
	f, err := os.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	tree, err := open(f)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := tree.Close(); err != nil {
			tb.Error(err)
		}
	})
	return tree
}

// collect walks and returns the visited paths in order.
func collect(tb testing.TB, tree *Tree, c Config) ([]string, Left) {
	tb.Helper()
	var mu sync.Mutex
	paths := []string{}
	left, err := Walk(context.Background(), tree, c, func(_ int, e *Entry) {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, string(e.Path()))
	})
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(paths)
	return paths, left
}

func TestWalk(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		at    string // where the walk begins
		c     Config
		want  []string
		left  Left
	}{
		{
			name:  "files of all folders",
			files: map[string]string{"a": "", "b/c": "", "b/d/e": "", "empty/": ""},
			want:  []string{"a", "b/c", "b/d/e"},
		},
		{
			name:  "hidden",
			files: map[string]string{".a": "", ".b/c": "", "d": "", "e/.f": ""},
			want:  []string{"d"},
			left:  Left{HiddenFiles: 2, HiddenFolders: 1},
		},
		{
			name:  "hidden on request, .git never",
			files: map[string]string{".a": "", ".b/c": "", ".git/config": "", "sub/.git": "gitdir: x"},
			c:     Config{Hidden: true, NoIgnore: true},
			want:  []string{".a", ".b/c"},
		},
		{
			name:  "hidden but taken back in by a rule",
			files: map[string]string{".gitignore": "!.a\n", ".a": "", ".b": ""},
			want:  []string{".a"},
			left:  Left{HiddenFiles: 2},
		},
		{
			name:  "hidden but asked for by name",
			files: map[string]string{".a/x": "", ".b/x": ""},
			c:     Config{Dot: func(path []byte, dir bool) bool { return string(path) == ".a" && dir }},
			want:  []string{".a/x"},
			left:  Left{HiddenFolders: 1},
		},
		{
			name:  "F030 ignored files are counted",
			files: map[string]string{".gitignore": "*.log\nout/\n", "a.log": "", "out/x": "", "b": ""},
			want:  []string{"b"},
			left:  Left{IgnoredFiles: 1, IgnoredFolders: 1, HiddenFiles: 1, IgnoredNames: []string{"a.log", "out"}},
		},
		{
			name:  "ignored on request",
			files: map[string]string{".gitignore": "*.log\nout/\n", "a.log": "", "out/x": "", "b": ""},
			c:     Config{NoIgnore: true},
			want:  []string{"a.log", "b", "out/x"},
			left:  Left{HiddenFiles: 1},
		},
		{
			name:  "F030 a folder that is ignored itself is searched when it is named",
			files: map[string]string{".gitignore": "/out/\n*.tmp\n", "out/.gitignore": "b\n", "out/a": "", "out/b": "", "out/c.tmp": ""},
			at:    "out",
			want:  []string{"out/a", "out/c.tmp"},
			left:  Left{IgnoredFiles: 1, HiddenFiles: 1, IgnoredNames: []string{"out/b"}},
		},
		{
			name:  "F047 rules from above hold wherever the walk begins",
			files: map[string]string{".gitignore": "/lib/gen/\n", "lib/gen/a": "", "lib/b": ""},
			at:    "lib",
			want:  []string{"lib/b"},
			left:  Left{IgnoredFolders: 1, IgnoredNames: []string{"lib/gen"}},
		},
		{
			name:  "links are not followed",
			files: map[string]string{"a/x": "", "loop": "->.", "b": "->a/x", "up": "->..", "gone": "->nothing", "abs": "->/etc"},
			want:  []string{"a/x"},
			left:  Left{Links: 5, LinkNames: []string{"abs", "b", "gone"}},
		},
		{
			name:  "an ignore file that is a link or a folder has no rules",
			files: map[string]string{"rules": "x\n", ".gitignore": "->rules", "d/.ignore/y": "", "x": "", "d/x": ""},
			want:  []string{"d/x", "rules", "x"},
			left:  Left{HiddenFolders: 1, HiddenFiles: 1},
		},
		{
			name:  "an ignore file that is too large",
			files: map[string]string{".ignore": "x\n" + strings.Repeat("# no rule\n", 1<<17), "x": ""},
			want:  []string{"x"},
			left:  Left{HiddenFiles: 1, BadRules: 1},
		},
		{
			name:  "what is not wanted is not counted",
			files: map[string]string{"a.go": "", "b.c": "", "c/d.go": "", "e/f.go": "", ".gitignore": "e\nb.c\n"},
			c: Config{Want: func(path []byte, dir bool) bool {
				return dir && string(path) == "c" || !dir && strings.HasSuffix(string(path), ".go")
			}},
			want: []string{"a.go", "c/d.go"},
		},
		{
			name:  "a closed folder",
			files: map[string]string{".ssh/id": "", "a": ""},
			c:     Config{Hidden: true, Closed: func(path []byte) bool { return string(path) == ".ssh" }},
			want:  []string{"a"},
			left:  Left{Closed: 1},
		},
		{
			name:  "beyond",
			files: map[string]string{"a": "", "b/x": "", "c/y": "", "d": ""},
			c:     Config{Beyond: func(path []byte) bool { return string(path) > "b/z" }},
			want:  []string{"a", "b/x"},
		},
		{
			name:  "names with any bytes",
			files: map[string]string{"a\nb": "", "\x01\x7f": "", "\xff\xfe": "", "d ir/ x": "", "-rf": ""},
			want:  []string{"\x01\x7f", "-rf", "a\nb", "d ir/ x", "\xff\xfe"},
		},
	}
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				dir := t.TempDir()
				layTree(t, dir, tt.files)
				top := openTree(t, dir, open)
				c := tt.c
				c.Prefix = tt.at
				c.Rules, _ = top.Rules(tt.at)
				start, err := top.Sub(tt.at)
				if err != nil {
					t.Fatal(err)
				}
				defer start.Close()
				got, left := collect(t, start, c)
				slices.Sort(tt.want)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("visited (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.left, left); diff != "" {
					t.Errorf("left out (-want +got):\n%s", diff)
				}
			})
		}
	})
}

func TestEntry(t *testing.T) {
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		dir := t.TempDir()
		layTree(t, dir, map[string]string{"d/file": "hello"})
		visits := 0
		_, err := Walk(context.Background(), openTree(t, dir, open), Config{Prefix: "at"}, func(_ int, e *Entry) {
			visits++
			if got := string(e.Path()); got != "at/d/file" {
				t.Errorf("Path = %q", got)
			}
			if got := string(e.Name()); got != "file" {
				t.Errorf("Name = %q", got)
			}
			info, err := e.Stat()
			if err != nil || info.Size != 5 || info.Kind != File || info.ModTime.IsZero() {
				t.Errorf("Stat = %+v, %v", info, err)
			}
			f, err := e.Open()
			if err != nil {
				t.Fatal(err)
			}
			if data, err := io.ReadAll(f); string(data) != "hello" || err != nil {
				t.Errorf("read %q, %v", data, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if f.Close() == nil {
				t.Error("closed twice without an error")
			}
		})
		if err != nil || visits != 1 {
			t.Errorf("%d visits, %v", visits, err)
		}
	})
}

func TestTree(t *testing.T) {
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		dir := t.TempDir()
		layTree(t, dir, map[string]string{"d/file": "hello", "link": "->d", "x": ""})
		tree := openTree(t, dir, open)
		items, more, err := tree.Items(10)
		slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
		if diff := cmp.Diff([]Item{{"d", Dir}, {"link", Link}, {"x", File}}, items); diff != "" || more || err != nil {
			t.Errorf("Items: more %v, %v (-want +got):\n%s", more, err, diff)
		}
		// Reading does not move a position that the next reading starts from.
		if items, more, err = tree.Items(2); len(items) != 2 || !more || err != nil {
			t.Errorf("Items(2) = %v, %v, %v", items, more, err)
		}
		if to, err := tree.Readlink("link"); to != "d" || err != nil {
			t.Errorf("Readlink = %q, %v", to, err)
		}
		if info, err := tree.Stat("link"); info.Kind != Link || err != nil {
			t.Errorf("Stat = %+v, %v", info, err)
		}
		for _, path := range []string{"link", "link/x", "x", "none", "..", "d/../..", "d/..", "/etc"} {
			if sub, err := tree.Sub(path); err == nil {
				t.Errorf("Sub(%q) opened", path)
				sub.Close()
			}
		}
	})
}

func TestRulesAcrossLinks(t *testing.T) {
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		dir := t.TempDir()
		layTree(t, dir, map[string]string{".gitignore": "x\n", "real/x": "", "link": "->real"})
		if level, dropped := openTree(t, dir, open).Rules("link"); level != nil || dropped {
			t.Errorf("Rules(link) = %v, %v; rules do not reach across a link", level, dropped)
		}
	})
}

func TestCancel(t *testing.T) {
	eachWay(t, func(t *testing.T, open func(*os.File) (*Tree, error)) {
		dir := t.TempDir()
		files := map[string]string{}
		for i := range 300 {
			files[fmt.Sprintf("d%d/f%d", i%20, i)] = ""
		}
		layTree(t, dir, files)
		ctx, cancel := context.WithCancel(context.Background())
		var visits atomic.Int32
		var once sync.Once
		var began time.Time
		_, err := Walk(ctx, openTree(t, dir, open), Config{}, func(int, *Entry) {
			once.Do(func() {
				began = time.Now()
				cancel()
			})
			visits.Add(1)
			time.Sleep(10 * time.Millisecond)
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Walk = %v", err)
		}
		// Whoever was visiting may finish.
		if took := time.Since(began); took > 50*time.Millisecond {
			t.Errorf("ended %v after the cancellation", took)
		}
		if n := int(visits.Load()); n > 3*Workers() {
			t.Errorf("%d visits after the cancellation", n)
		}
	})
}
