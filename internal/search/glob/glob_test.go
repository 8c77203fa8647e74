package glob

import (
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern  string
		dot      bool
		yes, not []string
	}{
		{"*.go", false, []string{"a.go"}, []string{"a/b.go", ".go", "a.gox"}},
		{"*.go", true, []string{".go", ".x.go"}, []string{".a/b.go"}},
		{"**/*.go", false, []string{"a.go", "a/b.go", "a/b/c.go"}, []string{"a/.b/c.go", ".a.go"}},
		{"**/*.go", true, []string{"a/.b/c.go", ".a.go"}, nil},
		{"**", false, []string{"a", "a/b"}, []string{".a", "a/.b/c"}},
		{"a/**", false, []string{"a/b", "a/b/c"}, []string{"a", "ab/c"}},
		{"a/", false, []string{"a/b", "a/b/c"}, []string{"a"}},
		{"a/**/b", false, []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"a/xb", "x/a/b"}},
		{"a/**/**/b", false, []string{"a/b", "a/x/b"}, nil},
		{"a/{*,}", false, []string{"a/b", "a"}, []string{"a/b/c"}},
		{"./a//b", false, []string{"a/b"}, nil},
		{"{a,b}/*.{ts,tsx}", false, []string{"a/x.ts", "b/y.tsx"}, []string{"c/x.ts", "a/x.js"}},
		{"{a,b{c,d}}", false, []string{"a", "bc", "bd"}, []string{"b", "b{c"}},
		{"a{,b}", false, []string{"a", "ab"}, nil},
		{"[a-c]?", false, []string{"ax", "cé"}, []string{"d1", "a", "axx"}},
		{"[!a-c]x", false, []string{"dx"}, []string{"ax"}},
		{"[^a]x", false, []string{"dx"}, []string{"ax"}},
		{"[]]x", false, []string{"]x"}, nil},
		{"[a-]x", false, []string{"-x", "ax"}, []string{"bx"}},
		{`\*x`, false, []string{"*x"}, []string{"ax"}},
		{`\[a\]`, false, []string{"[a]"}, []string{"a"}},
		{`[\]]`, false, []string{"]"}, nil},
		{`\{a,b\}`, false, []string{"{a,b}"}, nil},
		{"[{,}]", false, []string{"{", "}", ","}, nil},
		{"*a*b*", false, []string{"ab", "xaxbx"}, []string{"ba"}},
		{"?.txt", false, []string{"é.txt", "\xff.txt"}, []string{".txt", "ab.txt"}},
		{"a..b", false, []string{"a..b"}, nil},
		{".github/*", false, []string{".github/x"}, []string{".github/.x"}},
		{"**/.env*", false, []string{".env", "a/.env.local"}, []string{"a/.x/.env"}},
		{"**/.github/**/*.yml", false, []string{".github/workflows/ci.yml", "a/.github/x.yml"}, nil},
	}
	for _, tt := range tests {
		g, err := Compile(tt.pattern)
		if err != nil {
			t.Errorf("Compile(%q): %v", tt.pattern, err)
			continue
		}
		for _, p := range tt.yes {
			if !g.Match([]byte(p), tt.dot) {
				t.Errorf("%q does not match %q (dot %v)", tt.pattern, p, tt.dot)
			}
		}
		for _, p := range tt.not {
			if g.Match([]byte(p), tt.dot) {
				t.Errorf("%q matches %q (dot %v)", tt.pattern, p, tt.dot)
			}
		}
	}
}

func TestL52_MalformedGlobsFailLoudly(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                          "empty",
		"  ":                        "empty",
		"[a":                        "not closed",
		"a/[b-":                     "not closed",
		"[z-a]":                     "backwards",
		"{a,b":                      "not closed",
		"a}":                        `no "{"`,
		`a\`:                        "escapes nothing",
		"/a":                        "relative",
		"../a":                      `".."`,
		"a/../b":                    `".."`,
		"{a,..}/b":                  `".."`,
		"./":                        "",
		strings.Repeat("a", 5000):   "at most",
		strings.Repeat("{a,b}", 12): "more than",
	} {
		_, err := Compile(pattern)
		if pattern == "./" { // everything
			if err != nil {
				t.Errorf("Compile(%q): %v", pattern, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%.20q) = %v, want an error that says %q", pattern, err, want)
		}
	}
}

func TestF038_BaseAndEnter(t *testing.T) {
	tests := []struct {
		pattern, base string
		enter, not    []string
	}{
		{"apps/web/**/tsconfig.json", "apps/web", []string{"apps", "apps/web", "apps/web/x/y"}, []string{"lib", "apps/api", "apps/web/.x"}},
		{"*.go", "", nil, []string{"a"}},
		{"a/b.go", "a", []string{"a"}, []string{"a/c", "b"}},
		{"{a/b,a/c}/*", "a", []string{"a", "a/b", "a/c"}, []string{"a/d", "a/b/x"}},
		{"{a,b}/x", "", []string{"a", "b"}, []string{"c", "a/x"}},
		{"**/x", "", []string{"a", "a/b"}, []string{".a", "a/.b"}},
		{"**/.x/*", "", []string{"a", ".x", "a/.x"}, []string{".y", "a/.x/z/.q"}},
		{"a?/*", "", []string{"ab"}, []string{"b", "abc"}},
	}
	for _, tt := range tests {
		g, err := Compile(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if g.Base() != tt.base {
			t.Errorf("base of %q is %q, want %q", tt.pattern, g.Base(), tt.base)
		}
		for _, p := range tt.enter {
			if !g.Enter([]byte(p), false) {
				t.Errorf("%q does not enter %q", tt.pattern, p)
			}
		}
		for _, p := range tt.not {
			if g.Enter([]byte(p), false) {
				t.Errorf("%q enters %q", tt.pattern, p)
			}
		}
	}
}

func drawPattern(rt *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "b", "ab", ".", "é", "*", "?", "[ab]", "[a-b]", `\*`, "{a,b}", "{a,b/a}", "{?,ab}"})
	var elements []string
	for range rapid.IntRange(1, 4).Draw(rt, "elements") {
		if rapid.IntRange(0, 3).Draw(rt, "deep") == 0 {
			elements = append(elements, "**")
			continue
		}
		elements = append(elements, strings.Join(rapid.SliceOfN(piece, 1, 3).Draw(rt, "pieces"), ""))
	}
	return strings.Join(elements, "/")
}

func drawPath(rt *rapid.T) string {
	name := rapid.SampledFrom([]string{"a", "b", "ab", "ba", "aab", "a.b", ".a", "é", "*", "aé"})
	return strings.Join(rapid.SliceOfN(name, 1, 5).Draw(rt, "path"), "/")
}

// The library that most Go programs use is the judge, but for "a/**", which
// there matches a itself, and for "[!a]", which there matches a slash.
func TestAgreesWithDoublestar(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pattern, path := drawPattern(rt), drawPath(rt)
		g, err := Compile(pattern)
		if err != nil {
			rt.Skip(err) // "." and ".." by chance
		}
		want, err := doublestar.Match(pattern, path)
		if err != nil {
			rt.Skip(err)
		}
		for _, p := range []string{pattern, strings.ReplaceAll(pattern, "**/**", "**")} {
			if rest, ok := strings.CutSuffix(p, "/**"); ok && want {
				if self, _ := doublestar.Match(rest, path); self {
					rt.Skip("a/** and a")
				}
			}
		}
		if strings.Contains("/"+pattern+"/", "/./") {
			rt.Skip("an element that is a dot")
		}
		if got := g.Match([]byte(path), true); got != want {
			rt.Errorf("%q and %q: %v, doublestar says %v", pattern, path, got, want)
		}
	})
}

// Whatever matches, lies beneath folders that are entered, and below the
// base.
func TestMatchingPathsAreReached(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pattern, path, dot := drawPattern(rt), drawPath(rt), rapid.Bool().Draw(rt, "dot")
		g, err := Compile(pattern)
		if err != nil || !g.Match([]byte(path), dot) {
			return
		}
		for i := range path {
			if path[i] == '/' && !g.Enter([]byte(path[:i]), dot) {
				rt.Errorf("%q matches %q (dot %v) but does not enter %q", pattern, path, dot, path[:i])
			}
		}
		if g.Base() != "" {
			rest, ok := strings.CutPrefix(path, g.Base()+"/")
			if !ok || !g.Below().Match([]byte(rest), dot) {
				rt.Errorf("%q matches %q, which is not below %q", pattern, path, g.Base())
			}
		}
		if !dot && !g.Match([]byte(path), true) {
			rt.Errorf("%q matches %q only without dot", pattern, path)
		}
	})
}

func TestNoBlowUp(t *testing.T) {
	g, err := Compile(strings.Repeat("**/a*a*a*/", 20) + "b")
	if err != nil {
		t.Fatal(err)
	}
	path := []byte(strings.Repeat(strings.Repeat("a", 50)+"/", 200) + "c")
	start := time.Now()
	if g.Match(path, true) || !g.Enter(path, true) {
		t.Error("wrong answer")
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("**/*.{go,c}", "a/b.go", true)
	f.Add(`[!\]-a]{,b}?`, "\xffb/", false)
	f.Add("{{{a,}},[b}", "a", false)
	f.Fuzz(func(t *testing.T, pattern, path string, dot bool) {
		g, err := Compile(pattern)
		if err != nil {
			if len(err.Error()) > MaxPattern*5 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			return
		}
		if strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") || strings.Contains(path, "//") {
			return
		}
		matched := g.Match([]byte(path), dot)
		for i := range path {
			if matched && path[i] == '/' && !g.Enter([]byte(path[:i]), dot) {
				t.Errorf("%q matches %q but does not enter %q", pattern, path, path[:i])
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, pattern := range []string{"**/*.go", "internal/**/*_test.go", "**/*.{ts,tsx,js}"} {
		g, err := Compile(pattern)
		if err != nil {
			b.Fatal(err)
		}
		path := []byte("internal/search/glob/glob.go")
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g.Match(path, false)
			}
		})
	}
	b.Run("doublestar/**", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if ok, err := doublestar.Match("**/*.go", "internal/search/glob/glob.go"); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
}

func TestExpand(t *testing.T) {
	got, err := expand("x{a,b}{c,d}")
	if diff := cmp.Diff([]string{"xac", "xad", "xbc", "xbd"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
