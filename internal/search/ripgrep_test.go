package search

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/handrail-tools/handrail/internal/search/glob"
	"github.com/handrail-tools/handrail/internal/search/match"
	"github.com/handrail-tools/handrail/internal/search/walk"
)

var rgPatterns = flag.Int("rg.patterns", 200, "how many random patterns, and globs, to compare with ripgrep")

// ripgrep returns the path of ripgrep's binary: that which HANDRAIL_RG
// names, or the one that an npm package carries.
func ripgrep(t *testing.T) string {
	t.Helper()
	if rg := os.Getenv("HANDRAIL_RG"); rg != "" {
		return rg
	}
	const dir = "testdata/ripgrep"
	found, err := filepath.Glob(dir + "/node_modules/@vscode/ripgrep-*/bin/rg*")
	if err != nil || len(found) != 1 {
		t.Fatalf("ripgrep is not set up (%v, %q)\nset it up with: npm ci --ignore-scripts --prefix internal/search/%s", err, found, dir)
	}
	rg, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return rg
}

// runRG returns ripgrep's lines, sorted, without the separators of contexts.
func runRG(t tb, rg, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(rg, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1 && stderr.Len() == 0) {
		t.Fatalf("rg %q: %v\n%s", args, err, stderr.Bytes())
	}
	return sortedLines(out)
}

func sortedLines(out []byte) []string {
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" || l == "--" })
	for i, l := range lines {
		// Of a long line only the path and the number are compared.
		if m := numbered.FindString(l[:min(len(l), 300)]); len(l) > 1000 && m != "" {
			lines[i] = m
		}
	}
	slices.Sort(lines)
	return lines
}

var numbered = regexp.MustCompile(`^.*?[:-]\d+[:-]`)

// sources returns the Go source tree (a part of it under the race detector),
// and which of its files the two programs read differently on purpose: those
// with NUL bytes, with carriage returns, or not in UTF-8.
func sources(t testing.TB) (dir string, odd map[string]bool) {
	t.Helper()
	dir = filepath.Join(goRoot(t), "src")
	if slowdown > 1 {
		dir = filepath.Join(dir, "net")
	}
	odd = map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(data) || bytes.ContainsAny(data, "\x00\r") {
			odd[path+":"], odd[path+"-"] = true, true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, odd
}

func goRoot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// comparable drops the lines of odd files.
func comparable(lines []string, odd map[string]bool) []string {
	return slices.DeleteFunc(lines, func(l string) bool {
		for i := range l {
			if (l[i] == ':' || l[i] == '-') && odd[l[:i+1]] {
				return true
			}
			if l[i] == ' ' || l[i] == '\t' {
				return false // no path of the sources has a blank
			}
		}
		return false
	})
}

type rgCase struct {
	expr    string
	o       match.Options
	context int
}

func (c rgCase) args(dir string) []string {
	args := []string{"--no-heading", "--with-filename", "-n", "--no-require-git", "--no-config", fmt.Sprintf("-C%d", c.context)}
	for flag, on := range map[string]bool{"-i": c.o.IgnoreCase, "-S": c.o.SmartCase, "-w": c.o.Word, "-F": c.o.Literal, "-U": c.o.Multiline, "--multiline-dotall": c.o.Multiline} {
		if on {
			args = append(args, flag)
		}
	}
	expr := c.expr
	if !c.o.Literal {
		// Here the classes and boundaries of Perl are ASCII.
		expr = regexp.MustCompile(`\\[wdsb]`).ReplaceAllStringFunc(expr, func(s string) string { return "(?-u:" + s + ")" })
	}
	return append(args, "-e", expr, dir)
}

func compareWithRipgrep(t *testing.T, rg, dir string, odd map[string]bool, c rgCase) {
	t.Helper()
	var out bytes.Buffer
	if c.o.Multiline {
		grepLines(t, dir, c, &out)
	} else {
		grepAll(t, dir, c.expr, c.o, c.context, false, walk.Config{}, &out)
	}
	ours := comparable(sortedLines(out.Bytes()), odd)
	theirs := comparable(runRG(t, rg, dir, c.args(dir)...), odd)
	if slices.Equal(theirs, ours) {
		return
	}
	t.Errorf("%q %+v: %d lines, ripgrep %d\nonly ripgrep: %.2000q\nonly here: %.2000q",
		c.expr, c.o, len(ours), len(theirs), without(theirs, ours), without(ours, theirs))
}

// grepLines writes what Grep returns.
func grepLines(t *testing.T, dir string, c rgCase, out *bytes.Buffer) {
	got, err := Grep(t.Context(), placeAt(t, dir, "", walk.Open), Query{
		Pattern: compile(t, c.expr, c.o), Multiline: c.o.Multiline, Before: c.context, After: c.context, Limit: MaxReach,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Files {
		for _, l := range f.Lines {
			sep := "-"
			if l.Match {
				sep = ":"
			}
			fmt.Fprintf(out, "%s/%s%s%d%s%s\n", dir, f.Path, sep, l.Number, sep, l.Text)
		}
	}
}

// without returns what is in a and not in b.
func without(a, b []string) []string {
	in := map[string]bool{}
	for _, l := range b {
		in[l] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(l string) bool { return in[l] })
}

func TestAgreesWithRipgrepOnTheGoSources(t *testing.T) {
	rg := ripgrep(t)
	dir, odd := sources(t)
	fixed := []rgCase{
		{expr: "ErrBodyNotAllowed"},
		{expr: "ErrBodyNotAllowed", context: 2},
		{expr: "mutex", o: match.Options{IgnoreCase: true}},
		{expr: "classes", o: match.Options{IgnoreCase: true}},
		{expr: "ErrClosed|ErrNoDeadline|ErrUnexpectedEOF|ErrShortBuffer"},
		{expr: `\w+\.Unlock\(\)`, context: 2},
		{expr: "[A-Z]{5,}[0-9]{2,}"},
		{expr: "Reader", o: match.Options{Word: true}},
		{expr: "a.b(", o: match.Options{Literal: true}},
		{expr: "gopher", o: match.Options{SmartCase: true}},
		{expr: "Gopher", o: match.Options{SmartCase: true}},
		{expr: `^func .*error \{$`},
		{expr: `^\s*//.*TODO`, context: 1},
		{expr: "世|界"},
		{expr: "[^\x01-\x7f]{3}"},
		{expr: `\bgo\b.*\bgo\b`},
		{expr: `^.{200,}$`},
		{expr: `if err != nil \{\n\t\treturn nil, err`, o: match.Options{Multiline: true}},
	}
	for _, c := range fixed {
		t.Run(c.expr, func(t *testing.T) { compareWithRipgrep(t, rg, dir, odd, c) })
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := sourceWords(t)
	for i := range *rgPatterns {
		c := randomCase(random, words)
		t.Run(fmt.Sprint(i, " ", c.expr), func(t *testing.T) { compareWithRipgrep(t, rg, dir, odd, c) })
	}
}

// sourceWords returns words that occur in the sources.
func sourceWords(t *testing.T) []string {
	data, err := os.ReadFile(filepath.Join(goRoot(t), "src/net/http/server.go"))
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`[A-Za-z]{4,12}`).FindAllString(string(data), -1)
}

// randomCase makes a pattern that is likely to match somewhere.
func randomCase(r *rand.Rand, words []string) rgCase {
	word := func() string { return words[r.IntN(len(words))] }
	part := func() string {
		w := word()
		switch r.IntN(10) {
		case 0:
			return w + `\w*`
		case 1:
			return "[" + w + "]{2,}"
		case 2:
			return "(?:" + w + "|" + word() + ")"
		case 3:
			return `\b` + w
		case 4:
			return w[:len(w)/2] + "." + w[len(w)/2:]
		case 5:
			return "(?i:" + w + ")"
		case 6:
			return w + `\s*[(.]`
		case 7:
			return w + "?"
		}
		return w
	}
	c := rgCase{expr: part(), context: max(0, r.IntN(6)-3)}
	for range r.IntN(3) {
		c.expr += []string{".*", `\s+`, "|", "", "[^a-z]"}[r.IntN(5)] + part()
	}
	switch r.IntN(8) {
	case 0:
		c.expr = "^" + c.expr
	case 1:
		c.expr += "$"
	case 2:
		c.expr = "^(?:" + c.expr + ")"
	}
	c.o = match.Options{IgnoreCase: r.IntN(4) == 0, Word: r.IntN(6) == 0, SmartCase: r.IntN(6) == 0}
	if c.o.IgnoreCase {
		c.o.SmartCase = false
	}
	return c
}

// TestGlobsAgreeWithRipgrepOnTheGoSources finds files by random globs, with
// both programs. To ripgrep a glob is a rule of an ignore file turned round,
// which means the same where it begins with a slash and names no folder.
func TestGlobsAgreeWithRipgrepOnTheGoSources(t *testing.T) {
	rg := ripgrep(t)
	dir, _ := sources(t)
	paths := runRG(t, rg, dir, "--files", "--no-config", "--hidden", "--no-ignore")
	place := placeAt(t, dir, "", walk.Open)
	random := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range *rgPatterns {
		pattern := randomGlob(random, paths[random.IntN(len(paths))])
		g, err := glob.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Find(t.Context(), place, FindQuery{Glob: g, Limit: MaxReach, Hidden: true, NoIgnore: true})
		if err != nil {
			t.Fatal(err)
		}
		ours := []string{}
		for _, f := range got.Files {
			ours = append(ours, f.Path)
		}
		theirs := runRG(t, rg, dir, "--files", "--no-config", "--hidden", "--no-ignore", "-g", "/"+pattern)
		if got.Total != len(theirs) {
			t.Errorf("%q: %d files, ripgrep %d", pattern, got.Total, len(theirs))
		}
		found += len(ours)
		slices.Sort(ours)
		if len(theirs) <= MaxReach && !slices.Equal(ours, theirs) {
			t.Errorf("%q: only ripgrep: %.1000q\nonly here: %.1000q", pattern, without(theirs, ours), without(ours, theirs))
		}
	}
	if found < 10**rgPatterns {
		t.Errorf("%d globs found only %d files, which compares little", *rgPatterns, found)
	}
}

// randomGlob makes a glob that matches a path, and likely others.
func randomGlob(r *rand.Rand, path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		at := r.IntN(len(p))
		switch r.IntN(9) {
		case 0:
			parts[i] = "*"
		case 1:
			parts[i] = p[:at] + "*"
		case 2:
			parts[i] = "*" + p[at:]
		case 3:
			parts[i] = p[:at] + "?" + p[at+1:]
		case 4:
			parts[i] = "[a-z]" + p[1:]
		case 5:
			parts[i] = "{" + p + ",x*}"
		case 6:
			if i < len(parts)-1 {
				parts[i] = "**"
			}
		}
	}
	if ext := filepath.Ext(path); r.IntN(3) == 0 && len(ext) > 1 {
		parts[len(parts)-1] = []string{"*" + ext, "*.{go,s,txt}", "*_test" + ext, "[!_]*" + ext}[r.IntN(4)]
	}
	if r.IntN(3) == 0 {
		parts = append([]string{"**"}, parts[r.IntN(len(parts)):]...)
	}
	return strings.Join(parts, "/")
}

// TestAgreesWithRipgrepOnWhichFiles compares the walk on generated trees
// with ignore files of all kinds. The rules are such as ripgrep reads as git
// does; the odd ones are compared with git itself, in package ignore.
func TestAgreesWithRipgrepOnWhichFiles(t *testing.T) {
	rg := ripgrep(t)
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "tree")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		folder := rapid.SampledFrom([]string{"x", "y", ".h", "sub", "x/y", "x/sub", "sub/x"})
		name := rapid.SampledFrom([]string{"a", "b", "a.c", "b.c", ".d", "x", "keep"})
		rule := rapid.SampledFrom([]string{"a", "*.c", "/x", "x/", "!a", "!*.c", "sub/*", "!keep", "x/y", "**/y", "y/**", ".d", "!.d", "!.h", "*", "!x/", "# c", "b "})
		write := func(path, content string) {
			path = filepath.Join(dir, path)
			if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
				_ = os.WriteFile(path, []byte(content), 0o644) // it may be a folder already
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "files") {
			write(folder.Draw(rt, "folder")+"/"+name.Draw(rt, "name"), "")
			write(name.Draw(rt, "name at the top"), "")
		}
		for range rapid.IntRange(1, 4).Draw(rt, "ignore files") {
			at := rapid.SampledFrom([]string{"", "x/", "sub/", "x/y/", ".h/"}).Draw(rt, "at")
			file := rapid.SampledFrom([]string{".gitignore", ".ignore", ".rgignore", ".git/info/exclude"}).Draw(rt, "kind")
			write(at+file, strings.Join(rapid.SliceOfN(rule, 1, 4).Draw(rt, "rules"), "\n")+"\n")
		}
		hidden, noIgnore := rapid.Bool().Draw(rt, "hidden"), rapid.Bool().Draw(rt, "no ignore")
		// Only where git is required does ripgrep see where a repository begins.
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
			rt.Fatal(err)
		}
		args := []string{"--files", "--no-config", "--no-ignore-global", "-g", "!.git"}
		if hidden {
			args = append(args, "--hidden")
		}
		if noIgnore {
			args = append(args, "--no-ignore")
		}
		want := runRG(rt, rg, dir, args...)
		got := []string{}
		var mu sync.Mutex
		place := placeAt(t, dir, "", walk.Open)
		_, err = walk.Walk(t.Context(), place.Tree, walk.Config{Rules: place.Rules, Hidden: hidden, NoIgnore: noIgnore}, func(_ int, e *walk.Entry) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, string(e.Path()))
		})
		if err != nil {
			rt.Fatal(err)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got, cmpEmpty); diff != "" {
			rt.Errorf("hidden %v, no ignore %v (-ripgrep +here):\n%s", hidden, noIgnore, diff)
		}
	})
}
