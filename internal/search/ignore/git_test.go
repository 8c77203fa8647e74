package ignore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tree is a folder with ignore files, and the paths to judge in it.
type tree struct {
	name  string
	rules map[string]string // folder -> content of its .gitignore
	paths []string
}

func rules(s string) map[string]string { return map[string]string{"": s} }

// nasty are the cases in which ignore matchers are known to differ from git.
var nasty = []tree{
	{"base name", rules("foo\n"), []string{"foo", "a/foo/x", "foobar", "a/b/foo", "q/foo"}},
	{"anchored", rules("/foo\na/b\n"), []string{"foo", "a/foo", "a/b", "x/a/b", "a/b2"}},
	{"folder only", rules("build/\n"), []string{"build/x", "a/build/y", "a/build2", "b/build"}},
	{"folder only, file of that name", rules("build/\n"), []string{"build", "a/build/q"}},
	{"extension", rules("*.log\n"), []string{"x.log", "a/x.log", "x.log.txt", ".log", "a/.log"}},
	{"star stops at a slash", rules("a/*.c\n"), []string{"a/x.c", "a/b/x.c", "x.c"}},
	{"leading **/", rules("**/foo/bar\n"), []string{"foo/bar", "a/foo/bar", "a/b/foo/bar", "foo/x/bar"}},
	{"trailing /**", rules("abc/**\n"), []string{"abc/x", "abc/d/y", "x/abc/z", "abcd/x"}},
	{"middle /**/", rules("a/**/b\n"), []string{"a/b", "a/x/b", "a/x/y/b", "a/xb", "q/a/b"}},
	{"** within a name", rules("foo**bar\n"), []string{"foobar", "fooxbar", "foo/bar", "fooxx/bar"}},
	{"a/**b", rules("a/**b\n"), []string{"a/b", "a/xb", "a/x/b", "a/x/yb"}},
	{"prefix before **/", rules("foo**/bar\n"), []string{"foobar", "foo/bar", "foo/x/bar", "foox/bar", "foox/y/bar", "xfoo/bar"}},
	{"negation", rules("*.log\n!keep.log\n"), []string{"a.log", "keep.log", "d/keep.log"}},
	{"negation beneath a dropped folder", rules("logs/\n!logs/keep\n"), []string{"logs/keep", "logs/x"}},
	{"negation beneath folder/*", rules("logs/*\n!logs/keep\n"), []string{"logs/keep", "logs/x", "logs/sub/keep"}},
	{"dropped again", rules("*.a\n!lib.a\nlib.a\n"), []string{"lib.a", "x.a"}},
	{"order", rules("!x\nx\n"), []string{"x"}},
	{"escaped !", rules("\\!imp\n"), []string{"!imp", "imp"}},
	{"escaped #", rules("\\#a\n#b\n"), []string{"#a", "#b"}},
	{"trailing spaces", rules("foo   \nbar\\ \n"), []string{"foo", "foo   ", "bar ", "bar"}},
	{"trailing escaped space and more", rules("foo\\  \nbar \\ \n"), []string{"foo ", "foo", "foo  ", "bar  ", "bar"}},
	{"trailing tab", rules("foo\t\n"), []string{"foo", "foo\t"}},
	{"inner space", rules("a b\n"), []string{"a b", "a"}},
	{"leading space", rules(" foo\n"), []string{" foo", "foo"}},
	{"carriage return", rules("foo\r\n*.x\r\n"), []string{"foo", "a.x", "foo\r"}},
	{"carriage return in the middle", rules("foo\rbar\n"), []string{"foo", "foo\rbar"}},
	{"carriage return without newline", rules("a\nfoo\r"), []string{"a", "foo", "foo\r"}},
	{"byte order mark", rules("\ufefffoo\n"), []string{"foo", "bar"}},
	{"NUL in a line", rules("foo\x00bar\nbaz\n"), []string{"foo", "foobar", "baz"}},
	{"question mark", rules("f?o\n"), []string{"fao", "f/o", "fo", "faao"}},
	{"class", rules("[ab].txt\n[!ab].md\n[a-c]x\n"), []string{"a.txt", "c.txt", "a.md", "z.md", "bx", "dx"}},
	{"class with ]", rules("[]a]x\n"), []string{"]x", "ax", "bx"}},
	{"class with -", rules("[a-]x\n[-z]y\n"), []string{"-x", "ax", "bx", "-y", "zy"}},
	{"class with two ranges in a row", rules("[a-c-e]x\n"), []string{"bx", "dx", "-x", "ex"}},
	{"class with escapes", rules("[\\]a]x\n[a-\\c]y\n"), []string{"]x", "ax", "\\x", "by", "dy"}},
	{"named class", rules("[[:digit:]]*\n"), []string{"1a", "a1", "d/9"}},
	{"named class in a class", rules("[x[:upper:]-z]q\n"), []string{"xq", "Aq", "-q", "zq", "yq", "aq"}},
	{"unknown named class", rules("[[:nope:]]x\n[[:]x\n"), []string{"nx", ":x", "[x", "x"}},
	{"every named class", rules("a[[:alpha:]]\nb[[:alnum:]]\nc[[:space:]]x\nd[[:blank:]]x\ne[[:punct:]]\nf[[:xdigit:]]\ng[[:cntrl:]]x\nh[[:print:]]\ni[[:graph:]]\nj[[:lower:]]\n"),
		[]string{"aa", "a1", "b1", "b_", "c x", "cxx", "d\tx", "e.", "ea", "ff", "fg", "g\x01x", "gax", "h ~", "h~", "i~", "i\x7f", "ja", "jA"}},
	{"slash in a class", rules("a[/]b\na[^x]c\nq[/z]r\n"), []string{"a/b", "a/c", "azc", "qzr", "q/r"}},
	{"caret negation", rules("[^a]q\n"), []string{"aq", "bq", "^q"}},
	{"unclosed class", rules("[abc\n"), []string{"[abc", "a"}},
	{"escaped star", rules("a\\*b\n"), []string{"a*b", "axb"}},
	{"trailing backslash", rules("foo\\\n"), []string{"foo", "foo\\"}},
	{"escaped letter", rules("\\f\\oo\n"), []string{"foo", "f"}},
	{"escaped slash", rules("a\\/b\n**\\/c\n"), []string{"a/b", "b", "c", "x/c", "x/y/c"}},
	{"slash only", rules("/\n"), []string{"a", "b/c"}},
	{"all but", rules("*\n!*.go\n!*/\n"), []string{"a.go", "b.txt", "d/a.go", "d/b"}},
	{"slash star", rules("/*\n!/keep\n"), []string{"a", "keep/x", "keep/y", "b/c"}},
	{"slash inside and at the end", rules("a/b/\n"), []string{"a/b/x", "c/a/b/x"}},
	{"**", rules("**\n!**/\n!x\n"), []string{"x", "d/x", "d/y"}},
	{"**/ alone", rules("**/\n"), []string{"x", "d/x", "d/e/y"}},
	{"**/x/", rules("**/x/\n"), []string{"x/a", "d/x/a", "x2/a"}},
	{"/**/foo", rules("/**/foo\n"), []string{"foo", "a/foo", "a/b/foo"}},
	{"a/**/", rules("a/**/\n"), []string{"a/x", "a/d/x"}},
	{"three stars", rules("a/***/b\n***c\n"), []string{"a/b", "a/x/y/b", "c", "xc", "x/yc"}},
	{"** twice", rules("a/**/b/**/c\n"), []string{"a/b/c", "a/x/b/y/z/c", "a/b/x/b/c", "a/c", "b/c"}},
	{"** after a star", rules("*/x/**/y*z\n"), []string{"q/x/yz", "q/x/a/b/y1z", "q/x/a/y1/z", "q/r/x/yz"}},
	{"nested", map[string]string{"": "*.t\n", "sub": "!keep.t\n/only\n"}, []string{"a.t", "sub/keep.t", "sub/x.t", "sub/only", "only", "sub/d/only", "sub/d/keep.t"}},
	{"nested and anchored", map[string]string{"a": "/b/c\nd/e\n"}, []string{"a/b/c", "a/x/b/c", "a/d/e", "b/c", "a/z/d/e"}},
	{"nested beats parent", map[string]string{"": "!x\n", "s": "x\n"}, []string{"x", "s/x"}},
	{"ignore file that drops itself", rules(".gitignore\nfoo\n"), []string{"foo", "bar"}},
	{"ignore file in a dropped folder", map[string]string{"": "d/\n", "d": "!x\n"}, []string{"d/x", "x"}},
	{"case", rules("README\n"), []string{"readme", "README"}},
	{"hidden", rules(".*\n!.keep\n"), []string{".a", ".keep", "d/.b", ".dir/x"}},
	{"double slash", rules("a//b\nfoo//\n"), []string{"a/b", "foo/x"}},
	{"./ prefix", rules("./foo\n"), []string{"foo"}},
	{"../ prefix", map[string]string{"d": "../foo\n"}, []string{"foo", "d/foo"}},
	{"empty negation", rules("!\nfoo\n"), []string{"foo", "!"}},
	{"double negation", rules("foo\n!!foo\n"), []string{"foo", "!foo"}},
	{"comment after a space", rules(" #x\n"), []string{" #x", "#x"}},
	{"many stars", rules("*a*a*a*a*a*a*b\n"), []string{strings.Repeat("a", 60) + "c", "aaaaaaab"}},
	{"many deep stars", rules("a/**/a/**/a/**/a/**/b\n"), []string{strings.Repeat("a/", 40) + "c", "a/a/a/a/b"}},
	{"two dots in an extension", rules("*.tar.gz\n*.min.js\n"), []string{"a.tar.gz", "a.gz", "x.min.js", "min.js", "a.b.min.js"}},
	{"wide rune and ?", rules("?.txt\n"), []string{"é.txt", "a.txt"}},
	{"wide rune in a class", rules("[é]x\n"), []string{"éx", "ex"}},
	{"folder kept, then its file", rules("a/*\n!a/b/\na/b/*\n!a/b/c\n"), []string{"a/x", "a/b/c", "a/b/d"}},
	{"no final newline", rules("foo"), []string{"foo"}},
	{"name.*", rules("name.*\n"), []string{"name.x", "name", "name.", "d/name.y/z"}},
	{"folder rule and name rule", rules("x/\n!x\n"), []string{"x", "d/x/y"}},
	{"newline in a name", rules("a?b\n"), []string{"a\nb", "ab"}},
}

// repo is a git repository in which trees are laid out side by side, each in
// a folder of its own, so that one git process judges many.
type repo struct{ dir string }

func newRepo(tb testing.TB) *repo {
	tb.Helper()
	r := &repo{dir: tb.TempDir()}
	r.git(tb, nil, "init", "-q")
	return r
}

// git runs git without any configuration of the machine. The tests mean
// nothing without git, so a missing one fails.
func (r *repo) git(tb testing.TB, stdin []byte, args ...string) []byte {
	tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	// check-ignore reports "nothing is ignored" by its exit code.
	if err != nil && !(args[0] == "check-ignore" && cmd.ProcessState.ExitCode() == 1) {
		tb.Fatalf("git %s: %v (these tests need git)", strings.Join(args, " "), err)
	}
	return out
}

func (r *repo) lay(tb testing.TB, at string, c tree) {
	tb.Helper()
	write := func(name, content string) {
		path := filepath.Join(r.dir, at, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	for _, p := range c.paths {
		write(p, "")
	}
	for dir, content := range c.rules {
		write(filepath.Join(dir, ".gitignore"), content)
	}
}

// kept returns the paths of the tree at a folder that git does not ignore,
// by listing the folder and by asking for each path.
func (r *repo) kept(tb testing.TB, at string, c tree) (listed, asked []string) {
	tb.Helper()
	for p := range strings.SplitSeq(string(r.git(tb, nil, "ls-files", "-o", "-z", "--exclude-standard", "--", at)), "\x00") {
		if p != "" && filepath.Base(p) != ".gitignore" {
			listed = append(listed, strings.TrimPrefix(p, at+"/"))
		}
	}
	var ask bytes.Buffer
	for _, p := range c.paths {
		fmt.Fprintf(&ask, "%s/%s\x00", at, p)
	}
	ignored := map[string]bool{}
	for p := range strings.SplitSeq(string(r.git(tb, ask.Bytes(), "check-ignore", "--no-index", "-z", "--stdin")), "\x00") {
		ignored[p] = true
	}
	for _, p := range c.paths {
		if !ignored[at+"/"+p] {
			asked = append(asked, p)
		}
	}
	slices.Sort(listed)
	slices.Sort(asked)
	return listed, asked
}

// keptHere is kept as this package judges, walking down as a walk does.
func keptHere(c tree) []string {
	var kept []string
	for _, p := range c.paths {
		if !dropped(c, p) {
			kept = append(kept, p)
		}
	}
	slices.Sort(kept)
	return kept
}

func dropped(c tree, path string) bool {
	var level *Level
	enter := func(dir string) {
		var f Files
		f.Rules[Git] = Parse([]byte(c.rules[dir]))
		level = level.Enter(dir, f)
	}
	enter("")
	for i := range path {
		if path[i] == '/' {
			if level.Match([]byte(path[:i]), true) == Drop {
				return true
			}
			enter(path[:i])
		}
	}
	return level.Match([]byte(path), false) == Drop
}

func TestAgreesWithGitOnNastyCases(t *testing.T) {
	r := newRepo(t)
	for i, c := range nasty {
		t.Run(c.name, func(t *testing.T) {
			at := fmt.Sprintf("case%02d", i)
			r.lay(t, at, c)
			listed, asked := r.kept(t, at, c)
			if diff := cmp.Diff(listed, asked); diff != "" {
				t.Fatalf("git disagrees with itself, the case is no good (-ls-files +check-ignore):\n%s", diff)
			}
			if diff := cmp.Diff(listed, keptHere(c)); diff != "" {
				t.Errorf("rules %q: kept paths (-git +here):\n%s", c.rules, diff)
			}
		})
	}
}

// TestAgreesWithGitOnGeneratedTrees draws rules and paths from a small
// alphabet, so that they meet often.
func TestAgreesWithGitOnGeneratedTrees(t *testing.T) {
	r := newRepo(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		c := drawTree(rt)
		n++
		at := fmt.Sprintf("gen%04d", n)
		r.lay(t, at, c)
		defer os.RemoveAll(filepath.Join(r.dir, at))
		listed, _ := r.kept(t, at, c)
		if diff := cmp.Diff(listed, keptHere(c)); diff != "" {
			rt.Errorf("rules %q, paths %q: kept (-git +here):\n%s", c.rules, c.paths, diff)
		}
	})
}

func drawTree(rt *rapid.T) tree {
	name := rapid.SampledFrom([]string{"a", "b", "ab", "ba", "aab", "a.c", "b.c", "]", "-", "[a]", "a b", ".a", "é"})
	folder := rapid.SampledFrom([]string{"x", "y", "xy", "a", "b.d"})
	c := tree{rules: map[string]string{}}
	taken := map[string]bool{}
	for range rapid.IntRange(1, 10).Draw(rt, "paths") {
		parts := rapid.SliceOfN(folder, 0, 3).Draw(rt, "folders")
		path := strings.Join(append(parts, name.Draw(rt, "name")), "/")
		if clashes(path, taken) {
			continue
		}
		taken[path] = true
		c.paths = append(c.paths, path)
	}
	c.rules[""] = drawRules(rt)
	if dir := folder.Draw(rt, "nested in"); !clashes(dir+"/.gitignore", taken) && rapid.Bool().Draw(rt, "nested") {
		c.rules[dir] = drawRules(rt)
	}
	return c
}

// clashes reports whether path is taken, or is or needs a folder where there
// is a file.
func clashes(path string, taken map[string]bool) bool {
	for other := range taken {
		if other == path || strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") {
			return true
		}
	}
	return false
}

func drawRules(rt *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"a", "b", "x", "y", "ab", "xy", ".c", ".d", "*", "*", "**", "?", "/", "/", "/**/", "**/", "/**",
		"[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[a-]", "[[:alpha:]]", "[", "\\*", "\\a", "\\", " ", "\\ ", "é", "***",
	})
	var b strings.Builder
	for range rapid.IntRange(1, 5).Draw(rt, "rules") {
		b.WriteString(rapid.SampledFrom([]string{"", "", "", "!", "/", "!/", "#"}).Draw(rt, "start"))
		for range rapid.IntRange(1, 5).Draw(rt, "pieces") {
			b.WriteString(piece.Draw(rt, "piece"))
		}
		b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "/\n", "\r\n", " \n"}).Draw(rt, "end"))
	}
	return b.String()
}
