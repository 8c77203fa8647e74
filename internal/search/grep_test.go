package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/handrail-tools/handrail/internal/search/glob"
	"github.com/handrail-tools/handrail/internal/search/match"
	"github.com/handrail-tools/handrail/internal/search/walk"
)

// cmpEmpty takes nil and empty for the same.
var cmpEmpty = cmpopts.EquateEmpty()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ways are the ways to open a tree: F032, both engines give the same results.
var ways = map[string]func(*os.File) (*walk.Tree, error){"native": walk.Open, "portable": walk.OpenPortable}

func eachWay(t *testing.T, test func(t *testing.T, open func(*os.File) (*walk.Tree, error))) {
	for name, open := range ways {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func lay(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			tb.Fatal(err)
		}
	}
}

// placeAt is the place of a folder beneath dir.
func placeAt(tb testing.TB, dir, at string, open func(*os.File) (*walk.Tree, error)) Place {
	tb.Helper()
	f, err := os.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	top, err := open(f)
	if err != nil {
		tb.Fatal(err)
	}
	defer top.Close()
	sub, err := top.Sub(at)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { sub.Close() })
	p := Place{Tree: sub, Prefix: at}
	p.Rules, _ = top.Rules(at)
	return p
}

// TestF032_BothEnginesFindTheSame: what is found does not depend on which way
// the system lets folders be read, hidden or not.
func TestF032_BothEnginesFindTheSame(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{".notes/plan.md": "needle\n", "a.md": "needle\n", ".gitignore": "b\n", "b/c.md": "needle\n"})
	for _, q := range []Query{{}, {Hidden: true}, {NoIgnore: true}, {Hidden: true, NoIgnore: true}} {
		q.Pattern, q.Limit = compile(t, "needle", match.Options{}), 10
		var got []*Result
		for _, open := range []func(*os.File) (*walk.Tree, error){walk.Open, walk.OpenPortable} {
			r, err := Grep(t.Context(), placeAt(t, dir, "", open), q)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("hidden %v, no ignore %v (-native +portable):\n%s", q.Hidden, q.NoIgnore, diff)
		}
		if found := slices.ContainsFunc(got[0].Files, func(f FileHits) bool { return f.Path == ".notes/plan.md" }); found != q.Hidden {
			t.Errorf("hidden %v, and the hidden file was found: %v", q.Hidden, found)
		}
	}
}

func TestGrep(t *testing.T) {
	files := map[string]string{
		".gitignore":    "ignored.txt\n",
		"ignored.txt":   "needle\n",
		".hidden":       "needle\n",
		"a.txt":         "one\nneedle 1\nneedle 2\nfour\n",
		"b/c.go":        "needle 3\n",
		"b/d.txt":       "nothing\n",
		"b/e.go":        "x\nx\nneedle 4\nneedle 5\nneedle 6\n",
		"b/.handrail~":  "needle\n",
		"bin":           "needle\x00\n",
		"secret/key.go": "needle\n",
		"secret.go":     "needle\n",
		"z.txt":         "needle 7",
	}
	filter := func(globs, types []string) *Filter {
		f, err := NewFilter("", globs, types)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	left := walk.Left{IgnoredFiles: 1, HiddenFiles: 2, IgnoredNames: []string{"ignored.txt"}, Closed: 1}
	tests := []struct {
		name string
		q    Query
		want Result
	}{
		{"all", Query{Limit: 100}, Result{
			Files: []FileHits{
				{Path: "a.txt", Hits: 2, To: 2, Lines: []Line{{Number: 2, Text: "needle 1", Match: true}, {Number: 3, Text: "needle 2", Match: true, Hit: 1}}},
				{Path: "b/c.go", Hits: 1, To: 1, Lines: []Line{{Number: 1, Text: "needle 3", Match: true}}},
				{Path: "b/e.go", Hits: 3, To: 3, Lines: []Line{{Number: 3, Text: "needle 4", Match: true}, {Number: 4, Text: "needle 5", Match: true, Hit: 1}, {Number: 5, Text: "needle 6", Match: true, Hit: 2}}},
				{Path: "z.txt", Hits: 1, To: 1, Lines: []Line{{Number: 1, Text: "needle 7", Match: true}}},
			},
			Shown: 7, Hits: 7, HitFiles: 4, Searched: 5,
			Binary: Tally{1, []string{"bin"}}, Closed: 1, Left: left,
		}},
		{"F192 a page in the middle, and what comes after", Query{Offset: 3, Limit: 2, Before: 1}, Result{
			Files: []FileHits{
				{Path: "b/e.go", Hits: 3, To: 2, Lines: []Line{{Number: 2, Text: "x"}, {Number: 3, Text: "needle 4", Match: true}, {Number: 4, Text: "needle 5", Match: true, Hit: 1}}},
			},
			Others: []FileCount{{"z.txt", 1}},
			Shown:  2, Hits: 7, HitFiles: 4, Searched: 5,
			Binary: Tally{1, []string{"bin"}}, Closed: 1, Left: left,
		}},
		{"a page that begins in a file", Query{Offset: 4, Limit: 3}, Result{
			Files: []FileHits{
				{Path: "b/e.go", Hits: 3, From: 1, To: 3, Lines: []Line{{Number: 4, Text: "needle 5", Match: true, Hit: 1}, {Number: 5, Text: "needle 6", Match: true, Hit: 2}}},
				{Path: "z.txt", Hits: 1, To: 1, Lines: []Line{{Number: 1, Text: "needle 7", Match: true}}},
			},
			Shown: 3, Hits: 7, HitFiles: 4, Searched: 5,
			Binary: Tally{1, []string{"bin"}}, Closed: 1, Left: left,
		}},
		{"beyond the last", Query{Offset: 7, Limit: 3, Filter: filter([]string{"*.txt", "*.go"}, nil)}, Result{
			Hits: 7, HitFiles: 4, Searched: 5,
			Closed: 1,
			Left:   walk.Left{IgnoredFiles: 1, IgnoredNames: []string{"ignored.txt"}, Closed: 1},
		}},
		{"files", Query{Mode: Files, Offset: 1, Limit: 2}, Result{
			Files:  []FileHits{{Path: "b/c.go", Hits: 1, To: 1}, {Path: "b/e.go", Hits: 1, To: 1}},
			Others: []FileCount{{"z.txt", 1}},
			Shown:  2, Hits: 4, HitFiles: 4, Searched: 5,
			Binary: Tally{1, []string{"bin"}}, Closed: 1, Left: left,
		}},
		{"counts, of a type", Query{Mode: Counts, Limit: 9, Filter: filter(nil, []string{"go"})}, Result{
			Files: []FileHits{{Path: "b/c.go", Hits: 1, To: 1}, {Path: "b/e.go", Hits: 3, To: 1}},
			Shown: 2, Hits: 4, HitFiles: 2, Searched: 2,
			Closed: 1, Left: walk.Left{Closed: 1},
		}},
		{"hidden and ignored", Query{Mode: Files, Limit: 99, Hidden: true, NoIgnore: true, Filter: filter([]string{"!*.go"}, nil)}, Result{
			Files: []FileHits{{Path: ".hidden", Hits: 1, To: 1}, {Path: "a.txt", Hits: 1, To: 1}, {Path: "ignored.txt", Hits: 1, To: 1}, {Path: "z.txt", Hits: 1, To: 1}},
			Shown: 4, Hits: 4, HitFiles: 4, Searched: 6,
			Binary: Tally{1, []string{"bin"}}, Left: walk.Left{Closed: 1},
		}},
	}
	eachWay(t, func(t *testing.T, open func(*os.File) (*walk.Tree, error)) {
		dir := t.TempDir()
		lay(t, dir, files)
		place := placeAt(t, dir, "", open)
		place.Closed = func(path []byte) bool { return string(path) == "secret" || string(path) == "secret.go" }
		place.Absent = func(path []byte) bool { return strings.HasSuffix(string(path), ".handrail~") }
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				q := tt.q
				q.Pattern = compile(t, "needle", match.Options{})
				got, err := Grep(t.Context(), place, q)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(&tt.want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	})
}

func TestGrepFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	lay(t, filepath.Dir(path), map[string]string{"f": "a\nneedle\nb\n"})
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := GrepFile(t.Context(), "x/f", f, Query{Pattern: compile(t, "needle", match.Options{}), Limit: 5, After: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := &Result{Shown: 1, Hits: 1, HitFiles: 1, Searched: 1, Files: []FileHits{{Path: "x/f", Hits: 1, To: 1, Lines: []Line{{Number: 2, Text: "needle", Match: true}, {Number: 3, Text: "b"}}}}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The first page is the same whatever the goroutines do, also where counting
// ends early.
func TestEarlyEndKeepsTheOrder(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d%02d/f%03d", i%20, i)] = strings.Repeat("needle\n", 500)
	}
	lay(t, dir, files)
	place := placeAt(t, dir, "", walk.Open)
	for range 20 {
		got, err := Grep(t.Context(), place, Query{Pattern: compile(t, "needle", match.Options{}), Limit: 1200})
		if err != nil {
			t.Fatal(err)
		}
		paths := []string{}
		for _, f := range got.Files {
			paths = append(paths, fmt.Sprint(f.Path, " ", len(f.Lines)))
		}
		if diff := cmp.Diff([]string{"d00/f000 500", "d00/f020 500", "d00/f040 200"}, paths); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if !got.AtLeast || got.Hits <= enough || got.Hits == 200_000 {
			t.Fatalf("at least %v, %d hits", got.AtLeast, got.Hits)
		}
	}
}

func TestFilter(t *testing.T) {
	tests := []struct {
		name         string
		globs, types []string
		yes, not     []string // with a final slash: folders
	}{
		{"nothing", nil, nil, []string{"p/a", "p/b/"}, nil},
		{"a name", []string{"*.go"}, nil, []string{"p/a.go", "p/x/b.go", "p/x/"}, []string{"p/a.c"}},
		{"braces", []string{"*.{ts,tsx}"}, nil, []string{"p/a.ts", "p/a.tsx"}, []string{"p/a.js"}},
		{"a path below the start", []string{"src/*.go"}, nil, []string{"p/src/a.go", "p/src/"}, []string{"p/a.go", "p/lib/", "p/src/x/a.go"}},
		{"the same path from the top", []string{"p/src/*.go"}, nil, []string{"p/src/a.go", "p/src/"}, []string{"p/lib/"}},
		{"at any depth", []string{"**/src/**"}, nil, []string{"p/src/a", "p/x/src/y/a", "p/x/"}, []string{"p/x/a"}},
		{"leaving out names", []string{"!*.min.js"}, nil, []string{"p/a.js", "p/x/"}, []string{"p/a.min.js"}},
		{"leaving out a folder", []string{"!vendor/"}, nil, []string{"p/a", "p/vendor", "p/x/"}, []string{"p/vendor/", "p/x/vendor/"}},
		{"leaving out all in a folder", []string{"!vendor/**"}, nil, []string{"p/a"}, []string{"p/vendor/", "p/vendor/x"}},
		{"leaving out by name, folders too", []string{"!node_modules"}, nil, []string{"p/a"}, []string{"p/node_modules/", "p/x/node_modules/"}},
		{"both", []string{"*.go", "!*_test.go"}, nil, []string{"p/a.go"}, []string{"p/a_test.go", "p/a.c"}},
		{"the last one decides", []string{"!*_test.go", "*.go"}, nil, []string{"p/a.go", "p/a_test.go"}, []string{"p/a.c"}},
		{"a type", nil, []string{"go"}, []string{"p/a.go", "p/x/"}, []string{"p/a.c", "p/go"}},
		{"types with whole names", nil, []string{"make", "docker"}, []string{"p/Makefile", "p/x.mk", "p/Dockerfile", "p/Dockerfile.dev"}, []string{"p/makefile.c"}},
		{"a type and a glob", []string{"!*_test.go"}, []string{"go"}, []string{"p/a.go"}, []string{"p/a_test.go", "p/a.c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := NewFilter("p", tt.globs, tt.types)
			if err != nil {
				t.Fatal(err)
			}
			if f == nil {
				return
			}
			for want, paths := range map[bool][]string{true: tt.yes, false: tt.not} {
				for _, p := range paths {
					path, dir := strings.CutSuffix(p, "/")
					if got := f.Want([]byte(path), dir); got != want {
						t.Errorf("Want(%q) = %v", p, got)
					}
				}
			}
		})
	}
}

func TestL52_FilterErrorsNameAll(t *testing.T) {
	_, err := NewFilter("", []string{"[a", "*.go", "{b"}, []string{"golang"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`"[a"`, `"{b"`, `"golang"`, "python"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not say %s", err, want)
		}
	}
}

func TestFileTypesCompile(t *testing.T) {
	for _, name := range TypeNames() {
		if _, err := NewFilter("", nil, []string{name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFind(t *testing.T) {
	files := map[string]string{
		".gitignore": "*.log\n", "a.go": "", "b/c.go": "", "b/d.c": "", "b/e.log": "",
		".github/workflows/ci.yml": "", ".github/x.yml": "", "e.yml": "", "secret.go": "",
		"b/.tmp~": "", "apps/web/src/tsconfig.json": "", "apps/api/tsconfig.json": "",
	}
	tests := []struct {
		name, pattern string
		q             FindQuery
		want          []string
		total         int
		left          walk.Left
	}{
		{name: "by path", pattern: "**/*.go", q: FindQuery{Limit: 9}, want: []string{"a.go", "b/c.go"}, total: 2},
		{name: "newest first", pattern: "**/*.go", q: FindQuery{Limit: 9, Newest: true}, want: []string{"b/c.go", "a.go"}, total: 2},
		{name: "a page, and the total", pattern: "**", q: FindQuery{Offset: 1, Limit: 2}, want: []string{"apps/api/tsconfig.json", "apps/web/src/tsconfig.json"}, total: 6,
			left: walk.Left{IgnoredFiles: 1, HiddenFiles: 1, HiddenFolders: 1, IgnoredNames: []string{"b/e.log"}}},
		{name: "beyond the last", pattern: "**/*.go", q: FindQuery{Offset: 9, Limit: 2}, want: []string{}, total: 2},
		{name: "F031 hidden, named", pattern: ".github/workflows/*.yml", q: FindQuery{Limit: 9}, want: []string{".github/workflows/ci.yml"}, total: 1},
		{name: "F031 hidden, not named", pattern: "**/*.yml", q: FindQuery{Limit: 9}, want: []string{"e.yml"}, total: 1, left: walk.Left{HiddenFolders: 1}},
		{name: "F031 hidden, asked for", pattern: "**/*.yml", q: FindQuery{Limit: 9, Hidden: true}, want: []string{".github/workflows/ci.yml", ".github/x.yml", "e.yml"}, total: 3},
		{name: "ignored", pattern: "**/*.log", q: FindQuery{Limit: 9}, want: []string{}, left: walk.Left{IgnoredFiles: 1, HiddenFolders: 1, IgnoredNames: []string{"b/e.log"}}},
		{name: "ignored, asked for", pattern: "**/*.log", q: FindQuery{Limit: 9, NoIgnore: true}, want: []string{"b/e.log"}, total: 1, left: walk.Left{HiddenFolders: 1}},
		{name: "a path without wildcard", pattern: "b/d.c", q: FindQuery{Limit: 9}, want: []string{"b/d.c"}, total: 1},
	}
	eachWay(t, func(t *testing.T, open func(*os.File) (*walk.Tree, error)) {
		dir := t.TempDir()
		lay(t, dir, files)
		if err := os.Chtimes(filepath.Join(dir, "a.go"), time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		place := placeAt(t, dir, "", open)
		place.Closed = func(path []byte) bool { return string(path) == "secret.go" }
		place.Absent = func(path []byte) bool { return strings.HasSuffix(string(path), "~") }
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				q := tt.q
				g, err := glob.Compile(tt.pattern)
				if err != nil {
					t.Fatal(err)
				}
				q.Glob = g
				got, err := Find(t.Context(), place, q)
				if err != nil {
					t.Fatal(err)
				}
				paths := []string{}
				for _, f := range got.Files {
					paths = append(paths, f.Path)
				}
				if diff := cmp.Diff(tt.want, paths); diff != "" || got.Total != tt.total {
					t.Errorf("total %d, want %d (-want +got):\n%s", got.Total, tt.total, diff)
				}
				if strings.HasSuffix(tt.pattern, ".go") && got.Closed.Count != 1 {
					t.Errorf("closed: %+v", got.Closed)
				}
				if tt.left.Any() || len(tt.want) == 0 && tt.total == 0 {
					if diff := cmp.Diff(tt.left, got.Left); diff != "" {
						t.Errorf("left out (-want +got):\n%s", diff)
					}
				}
			})
		}
	})
}

// slowTree is a tree whose search takes seconds.
func slowTree(t *testing.T) Place {
	dir := t.TempDir()
	big := strings.Repeat("a line without what is looked for, é世界\n", 1<<15)
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("d%d/%d", i%7, i)] = big
	}
	lay(t, dir, files)
	return placeAt(t, dir, "", walk.Open)
}

func TestCancelWithin50ms(t *testing.T) {
	place := slowTree(t)
	for _, tt := range []struct {
		name, expr string
		o          match.Options
	}{
		{"automaton with many states", "[ae].*[^xyz]{30,40}[0-9]{5}", match.Options{}},
		{"words that must be checked", "line.*[^x]{20}q", match.Options{}},
		{"across lines", `(a[^q]{3,9})+(?:x|\d)`, match.Options{Multiline: true}},
		{"standard library across lines", `(?s)a.*line.*q?$`, match.Options{Multiline: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := Query{Pattern: compile(t, tt.expr, tt.o), Multiline: tt.o.Multiline, Limit: 10}
			// On a machine that is busy with other things one try says little.
			var took time.Duration
			for range 10 {
				if took = cancelled(t, place, q); took <= slowdown*50*time.Millisecond {
					return
				}
			}
			t.Errorf("ended %v after the cancellation", took)
		})
	}
}

// cancelled cancels a search and returns how long it took to end.
func cancelled(t *testing.T, place Place, q Query) time.Duration {
	ctx, cancel := context.WithCancel(t.Context())
	var at time.Time
	timer := time.AfterFunc(50*time.Millisecond, func() {
		at = time.Now()
		cancel()
	})
	_, err := Grep(ctx, place, q)
	if timer.Stop() {
		t.Fatal("the search was over before it could be cancelled")
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	return time.Since(at)
}

// slowWalk is a place of many files whose walk takes seconds, since its owner
// takes long to say whether a path may be shown.
func slowWalk(t *testing.T) Place {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 3000 {
		files[fmt.Sprintf("d%d/e%d/%d.txt", i%7, i%40, i)] = "x"
	}
	lay(t, dir, files)
	place := placeAt(t, dir, "", walk.Open)
	place.Closed = func([]byte) bool {
		time.Sleep(2 * time.Millisecond)
		return false
	}
	return place
}

func TestFindIsCancelledWithin50ms(t *testing.T) {
	place := slowWalk(t)
	g, err := glob.Compile("**/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var took time.Duration
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		var at time.Time
		timer := time.AfterFunc(50*time.Millisecond, func() {
			at = time.Now()
			cancel()
		})
		_, err := Find(ctx, place, FindQuery{Glob: g, Limit: 10, Newest: true})
		if took = time.Since(at); timer.Stop() || !errors.Is(err, context.Canceled) {
			t.Fatalf("the search was over before it could be cancelled: %v", err)
		}
		if took <= slowdown*50*time.Millisecond {
			return
		}
	}
	t.Errorf("ended %v after the cancellation", took)
}

// TestF039_APartialAnswerInTime: where a walk takes too long, what was found
// so far comes in time, and says that it is a part.
func TestF039_APartialAnswerInTime(t *testing.T) {
	place := slowWalk(t)
	g, err := glob.Compile("**/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	const limit = 300 * time.Millisecond
	start := time.Now()
	found, err := Find(t.Context(), place, FindQuery{Glob: g, Limit: 10, Time: limit})
	if err != nil || !found.TimeOut || found.Total == 0 || found.Total == 3000 {
		t.Errorf("glob: %+v, %v", found, err)
	}
	got, err := Grep(t.Context(), place, Query{Pattern: compile(t, "x", match.Options{}), Mode: Files, Limit: 10, Time: limit})
	if err != nil || !got.TimeOut || len(got.Files) == 0 || got.HitFiles == 3000 {
		t.Errorf("grep: %+v, %v", got, err)
	}
	if took := time.Since(start); took > 2*limit+slowdown*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestFindMemoryIsBounded: what is kept depends on the page that is asked
// for, not on how much there is.
func TestFindMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("n", 200)
	for i := range 20_000 {
		if i%500 == 0 {
			if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(i/500)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i/500), fmt.Sprint(long, i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	place := placeAt(t, dir, "", walk.Open)
	g, err := glob.Compile("**")
	if err != nil {
		t.Fatal(err)
	}
	f := &finding{place: &place, query: &FindQuery{Glob: g, Limit: 10}, workers: make([]foundFiles, walk.Workers())}
	most := 0
	if _, err := walk.Walk(t.Context(), place.Tree, f.config(), func(worker int, e *walk.Entry) {
		f.visit(worker, e)
		if worker == 0 {
			most = max(most, len(f.workers[0].files))
		}
	}); err != nil {
		t.Fatal(err)
	}
	if most > 1100 {
		t.Errorf("%d paths were held for a page of 10", most)
	}
}

func TestF037_TimeIsOver(t *testing.T) {
	place := slowTree(t)
	start := time.Now()
	got, err := Grep(t.Context(), place, Query{Pattern: compile(t, "[ae].*[^xyz]{30,40}[0-9]{5}", match.Options{}), Limit: 10, Time: 10 * time.Millisecond})
	if err != nil || !got.TimeOut {
		t.Errorf("%+v, %v", got, err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %v", took)
	}
}

// TestMemoryIsBounded searches what would fill the memory if anything grew
// with the input: a line of 160 MB and a file of 160 MB that matches on every
// line.
func TestMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	write := func(name, piece string) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		block := []byte(strings.Repeat(piece, 1<<20/len(piece)))
		for range 160 / min(slowdown, 2) {
			if _, err := f.Write(block); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("long", "needle and more ")
	write("lines", "needle\n")
	place := placeAt(t, dir, "", walk.Open)
	for _, o := range []match.Options{{}, {Multiline: true}} {
		for _, mode := range []Mode{Lines, Counts} {
			peak := peakHeap(t, func() {
				q := Query{Pattern: compile(t, "n.*e", o), Multiline: o.Multiline, Mode: mode, Before: 20, After: 20, Limit: 1000}
				if _, err := Grep(t.Context(), place, q); err != nil {
					t.Error(err)
				}
			})
			if peak > 64<<20 {
				t.Errorf("%+v, mode %d: %d MB", o, mode, peak>>20)
			}
		}
	}
}

// peakHeap returns how much memory was taken from the system at most while f
// ran, beyond what was taken before.
func peakHeap(t *testing.T, f func()) uint64 {
	t.Helper()
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	var peak uint64
	for {
		select {
		case <-done:
			return peak
		case <-time.After(5 * time.Millisecond):
			runtime.ReadMemStats(&now)
			if now.HeapAlloc > before.HeapAlloc {
				peak = max(peak, now.HeapAlloc-before.HeapAlloc)
			}
		}
	}
}
