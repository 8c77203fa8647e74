package patch

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"pgregory.net/rapid"
)

// odd are lines that look like something else, or like each other.
var odd = []string{
	"", "", "}", "a", "b", "  x", "\ty", "end  ", "--- q", "+++ q", "-- ", "--", "++ q", "@@ -1 +1 @@", "@@", "*** End Patch", "*** Begin Patch",
	"*** Add File: z", "*** End of File", `\ No newline at end of file`, "diff --git a/x b/x", "index 123..456", " ", "+", "-", "+a", "-a", "EOF",
}

// A revision is a file before and after some edits, with the edits line by
// line.
type revision struct {
	lines []Line
	crlf  bool
	// oldEnd and newEnd say that the last line ends.
	oldEnd, newEnd bool
}

func drawRevision(t *rapid.T, ends bool) revision {
	line := rapid.OneOf(rapid.SampledFrom(odd), rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%*sline %d", rapid.IntRange(0, 4).Draw(t, "indent"), "", rapid.IntRange(0, 400).Draw(t, "n"))
	}))
	r := revision{oldEnd: true, newEnd: true, crlf: rapid.Bool().Draw(t, "crlf")}
	changed := false
	for range rapid.IntRange(2, 60).Draw(t, "lines") {
		kind := rapid.SampledFrom([]byte("          -+*")).Draw(t, "kind")
		text := line.Draw(t, "text")
		changed = changed || kind != ' '
		if kind == '*' {
			r.lines = append(r.lines, Line{Kind: '-', Text: text})
			kind, text = '+', line.Draw(t, "text")
		}
		r.lines = append(r.lines, Line{Kind: kind, Text: text})
	}
	if !changed {
		r.lines = append(r.lines, Line{Kind: '+', Text: "something new"})
	}
	if ends {
		r.oldEnd, r.newEnd = rapid.Bool().Draw(t, "old end"), rapid.Bool().Draw(t, "new end")
	}
	return r
}

// sides returns the file before and after.
func (r *revision) sides() (old, new string) {
	join := func(lines []string, end bool) string {
		text := strings.Join(lines, "\n")
		if end && len(lines) > 0 {
			text += "\n"
		}
		if r.crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return text
	}
	return join(side(r.lines, '-'), r.oldEnd), join(side(r.lines, '+'), r.newEnd)
}

// hunks divides the lines into hunks with some context.
func (r *revision) hunks(context int) [][2]int {
	var out [][2]int
	for i, l := range r.lines {
		if l.Kind == ' ' {
			continue
		}
		from, to := max(i-context, 0), min(i+1+context, len(r.lines))
		if n := len(out); n > 0 && from <= out[n-1][1] {
			out[n-1][1] = to
		} else {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

// unified writes a diff of the revision.
func (r *revision) unified(context int) string {
	var b strings.Builder
	b.WriteString("--- a/f\n+++ b/f\n")
	for _, h := range r.hunks(context) {
		before, part := r.lines[:h[0]], r.lines[h[0]:h[1]]
		oldLen, newLen := len(side(part, '-')), len(side(part, '+'))
		oldAt, newAt := len(side(before, '-'))+1, len(side(before, '+'))+1
		if oldLen == 0 {
			oldAt--
		}
		if newLen == 0 {
			newAt--
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", oldAt, oldLen, newAt, newLen)
		for _, l := range part {
			fmt.Fprintf(&b, "%c%s\n", l.Kind, l.Text)
		}
	}
	return b.String()
}

// enveloped writes an envelope of the revision.
func (r *revision) enveloped(context int) string {
	var b strings.Builder
	for _, h := range r.hunks(context) {
		b.WriteString("@@\n")
		for _, l := range r.lines[h[0]:h[1]] {
			fmt.Fprintf(&b, "%c%s\n", l.Kind, l.Text)
		}
	}
	return inEnvelope(b.String())
}

// checkExact applies a patch that must give the new file.
func checkExact(t *rapid.T, old, want, text string) {
	got, _, err := run(old, text, Options{})
	if err != nil || got != want {
		t.Fatalf("%s\nof %q\ngives %q\nwant  %q\n%v", text, old, got, want, err)
	}
}

// TestOwnDiffs: a diff of random edits gives the new file exactly.
func TestOwnDiffs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRevision(t, false)
		old, new := r.sides()
		if old == "" || old == new {
			return
		}
		checkExact(t, old, new, r.unified(rapid.IntRange(1, 4).Draw(t, "context")))
	})
}

// TestOthersDiffs: the same with diffs that another library makes, and with
// last lines that have no end.
func TestOthersDiffs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRevision(t, true)
		old, new := r.sides()
		if old == "" || new == "" || old == new || strings.Count(old, "\n") < 2 {
			return
		}
		checkExact(t, old, new, udiff.Unified("a/f", "b/f", old, new))
	})
}

// TestOwnEnvelopes: an envelope gives the new file or is refused as
// ambiguous.
func TestOwnEnvelopes(t *testing.T) {
	applied := 0
	rapid.Check(t, func(t *rapid.T) {
		r := drawRevision(t, false)
		old, new := r.sides()
		if old == "" || old == new {
			return
		}
		text := r.enveloped(rapid.IntRange(1, 4).Draw(t, "context"))
		got, _, err := run(old, text, Options{})
		if err != nil {
			if !strings.Contains(err.Error(), "fits ") {
				t.Fatalf("%s\nof %q: %v", text, old, err)
			}
			return
		}
		if got != new {
			t.Fatalf("%s\nof %q\ngives %q\nwant  %q", text, old, got, new)
		}
		applied++
	})
	if applied == 0 {
		t.Error("nothing was applied")
	}
}

var header = regexp.MustCompile(`(?m)^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$`)

// perturbations are what models get wrong in a diff.
var perturbations = map[string]func(t *rapid.T, diff string) string{
	"counts": func(t *rapid.T, diff string) string {
		return header.ReplaceAllStringFunc(diff, func(h string) string {
			m := header.FindStringSubmatch(h)
			return fmt.Sprintf("@@ -%s,%d +%s,%d @@", m[1], rapid.IntRange(0, 12).Draw(t, "old count"), m[3], rapid.IntRange(0, 12).Draw(t, "new count"))
		})
	},
	"numbers": func(t *rapid.T, diff string) string {
		return header.ReplaceAllStringFunc(diff, func(h string) string {
			m := header.FindStringSubmatch(h)
			return fmt.Sprintf("@@ -%d,%s +%d,%s @@", rapid.IntRange(1, 80).Draw(t, "old"), m[2], rapid.IntRange(1, 80).Draw(t, "new"), m[4])
		})
	},
	"no numbers": func(t *rapid.T, diff string) string {
		return header.ReplaceAllString(diff, rapid.SampledFrom([]string{"@@", "@@ ... @@", "@@ @@", "@@ -,+ @@"}).Draw(t, "form"))
	},
	"no blanks": func(_ *rapid.T, diff string) string { return strings.ReplaceAll(diff, "\n \n", "\n\n") },
	"CRLF":      func(_ *rapid.T, diff string) string { return strings.ReplaceAll(diff, "\n", "\r\n") },
	"names": func(_ *rapid.T, diff string) string {
		return strings.Replace(diff, "--- a/f\n+++ b/f\n", "--- f\t2024-01-01 10:00:00\n+++ f\n", 1)
	},
	"fence": func(_ *rapid.T, diff string) string { return "```diff\n" + diff + "```\n" },
}

// TestPerturbedDiffs: a diff with mistakes gives the new file or is refused,
// and never another file. Only where the same lines stand at several places
// and the stated number is wrong so that it is near to another of them can a
// reader not know: there the place that is nearest by far is right by the
// diff's own word.
func TestPerturbedDiffs(t *testing.T) {
	applied, refused, elsewhere := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := drawRevision(t, false)
		old, new := r.sides()
		if old == "" || old == new {
			return
		}
		text := r.unified(3)
		numbers := false
		for _, name := range slices.Sorted(maps.Keys(perturbations)) {
			if rapid.Bool().Draw(t, name) {
				text = perturbations[name](t, text)
				numbers = numbers || name == "numbers"
			}
		}
		got, o, err := run(old, text, Options{})
		switch {
		case err != nil:
			var mismatch *MismatchError
			var syntax *SyntaxError
			if !errors.As(err, &mismatch) && !errors.As(err, &syntax) {
				t.Fatal(err)
			}
			refused++
		case got == new:
			applied++
		default:
			for _, at := range o.Placed {
				if at.ByNumber && numbers {
					elsewhere++
					return
				}
			}
			t.Fatalf("%s\nof %q\ngives %q\nwant  %q", text, old, got, new)
		}
	})
	t.Logf("%d applied, %d refused, %d where their wrong number said", applied, refused, elsewhere)
	if applied < refused {
		t.Error("most are refused")
	}
}

// git runs git, which must be there: it is the oracle.
func git(t *testing.T, dir string, stdin string, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("git is needed to compare with: %v", err)
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	return string(out), err
}

// TestGitDiffs takes the diffs that git makes of random edits, and checks our
// result against that of git apply.
func TestGitDiffs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	line := func() string {
		if random.IntN(3) == 0 {
			return odd[random.IntN(len(odd))]
		}
		return fmt.Sprint("line ", random.IntN(300))
	}
	for round := range 60 {
		var r revision
		r.oldEnd, r.newEnd, r.crlf = random.IntN(4) > 0, random.IntN(4) > 0, random.IntN(4) == 0
		for range 2 + random.IntN(80) {
			r.lines = append(r.lines, Line{Kind: "      -+"[random.IntN(8)], Text: line()})
		}
		old, new := r.sides()
		if old == "" || new == "" || old == new || strings.Count(old, "\n") < 2 {
			continue
		}
		dir := t.TempDir()
		for name, content := range map[string]string{"a/f": old, "b/f": new} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		diff, _ := git(t, dir, "", "diff", "--no-index", "--no-prefix", fmt.Sprintf("-U%d", 1+random.IntN(4)), "a/f", "b/f")
		if diff == "" {
			t.Fatalf("round %d: git found no difference", round)
		}
		got, _, err := run(old, diff, Options{})
		if err != nil || got != new {
			t.Fatalf("round %d: %s\nof %q\ngives %q\nwant  %q\n%v", round, diff, old, got, new, err)
		}
		if err := os.Rename(filepath.Join(dir, "a/f"), filepath.Join(dir, "f")); err != nil {
			t.Fatal(err)
		}
		if _, err := git(t, dir, diff, "apply", "--unidiff-zero", "--whitespace=nowarn", "-"); err != nil {
			t.Fatalf("round %d: git apply: %v\n%s", round, err, diff)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(data) != got {
			t.Fatalf("round %d: git apply gives %q, we %q (%v)", round, data, got, err)
		}
	}
}
