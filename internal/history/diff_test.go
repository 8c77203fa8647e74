package history

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiffFile(t *testing.T) {
	text := func(s string) side { return side{there: true, mode: 0o644, size: int64(len(s)), data: []byte(s)} }
	for name, c := range map[string]struct {
		from          string
		before, after side
		want          string
	}{
		"changed": {"", text("a\nb\nc\n"), text("a\nB\nc\n"),
			"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		"no newline at the end": {"", text("a"), text("a\n"),
			"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		"created": {"", side{}, text("a\n"), "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"},
		"deleted": {"", text("a\n"), side{}, "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		"empty":   {"", side{}, text(""), "diff --git a/f b/f\nnew file mode 100644\n"},
		"mode": {"", text("a\n"), side{there: true, mode: 0o755, size: 2, data: []byte("a\n")},
			"diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"},
		"renamed": {"e", text("a\n"), text("a\n"), "diff --git a/e b/f\nrename from e\nrename to f\n"},
		"binary":  {"", text("\x00\x01"), text("\x00\x02"), "diff --git a/f b/f\nBinary files a/f and b/f differ (2 bytes, then 2)\n"},
		"lost":    {"", text("a"), side{there: true, mode: 0o644, size: 9, lost: true}, "diff --git a/f b/f\nThe content is not kept (1 bytes, then 9)\n"},
		"same":    {"", text("a"), text("a"), ""},
		"nothing": {"", side{}, side{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, diffFile(c.from, "f", c.before, c.after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := quoteName("a\"b\nc"); got != `"a\"b\012c"` {
		t.Errorf("quoted: %s", got)
	}
}

// What a diff says, git can apply.
func TestGitAppliesTheDiff(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("git is needed to compare with: %v", err)
	}
	for name, do := range kinds {
		if name == "binary" || name == "a folder is moved" || name == "a folder is made" || name == "many at once" {
			continue // a unified diff of text cannot say these
		}
		t.Run(name, func(t *testing.T) {
			b, copied := newKindBench(t), t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(b.dir)); err != nil {
				t.Fatal(err)
			}
			do(b)
			d, err := b.line.Diff(context.Background(), b.w, Range{ID: b.newest().ID}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var patch strings.Builder
			for line := range strings.Lines(d.Text) {
				if !strings.HasPrefix(line, "Folder ") {
					patch.WriteString(line)
				}
			}
			cmd := exec.Command("git", "apply", "--unidiff-zero", "-")
			cmd.Dir, cmd.Stdin = copied, strings.NewReader(patch.String())
			cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(copied, "none"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, patch.String())
			}
			other := &bench{t: t, dir: copied}
			want, got := b.tree(), other.tree()
			for _, tree := range []map[string]string{want, got} {
				for p, s := range tree {
					if strings.HasPrefix(s, "d") {
						delete(tree, p) // git knows no folders
					} else if !strings.HasPrefix(s, "->") {
						tree[p] = s[3:4] + s[strings.Index(s, " "):] // nor all of a mode
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRanges(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "0\n", "b": "0\n"})
	for _, s := range []string{"1", "2", "3"} {
		b.write("a", s+"\n")
	}
	all := b.list()
	b.put("a", "hand\n")
	b.put("b", "hand\n") // which no tool has touched
	for name, c := range map[string]struct {
		r           Range
		minus, plus string
	}{
		"one":          {Range{ID: all[1].ID}, "-1", "+2"},
		"from to":      {Range{From: all[2].ID, To: all[0].ID}, "-1", "+3"},
		"from to now":  {Range{From: all[1].ID}, "-2", "+hand"},
		"the session":  {Range{}, "-0", "+hand"},
		"nothing else": {Range{Path: "b"}, "", ""},
	} {
		d, err := b.line.Diff(context.Background(), b.w, c.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(d.Text, c.minus+"\n") && c.minus != "" || !strings.Contains(d.Text, c.plus+"\n") && c.plus != "" || c.plus == "" && d.Text != "" {
			t.Errorf("%s: %s", name, d.Text)
		}
	}
	if _, err := b.line.Diff(context.Background(), b.w, Range{From: all[0].ID, To: all[1].ID}, nil); err == nil || !strings.Contains(err.Error(), "exchange from and to") {
		t.Errorf("the wrong way round: %v", err)
	}
	if _, err := b.line.Content(context.Background(), all[0].ID, "b", true); err == nil {
		t.Error("a content of what was not changed")
	}
	if got, err := b.line.Content(context.Background(), all[0].ID, "a", true); err != nil || string(got) != "2\n" {
		t.Errorf("the content is %q, %v", got, err)
	}
}

func TestMerge(t *testing.T) {
	base := lines("1", "2", "3", "4", "5", "6", "7", "8")
	sub := func(old, now string) string { return strings.Replace(base, old, now, 1) }
	for name, c := range map[string]struct{ ours, theirs, want, conflict string }{
		"apart":                          {sub("2\n", "two\n"), sub("7\n", "seven\n"), strings.Replace(sub("2\n", "two\n"), "7\n", "seven\n", 1), ""},
		"the same change":                {sub("2\n", "two\n"), sub("2\n", "two\n"), sub("2\n", "two\n"), ""},
		"the same line":                  {sub("2\n", "two\n"), sub("2\n", "zwei\n"), "", "line 2"},
		"next to it":                     {sub("2\n", "two\n"), sub("3\n", "three\n"), "", "line 2"},
		"inserted together":              {sub("2\n", "2\nx\n"), sub("2\n", "2\ny\n"), "", "line 3"},
		"removed and changed":            {sub("2\n3\n", ""), sub("3\n", "three\n"), "", "where lines were removed before line 2"},
		"later, after lines that came":   {sub("1\n", "a\nb\nc\n"), sub("8\n", "eight\n"), strings.Replace(sub("1\n", "a\nb\nc\n"), "8\n", "eight\n", 1), ""},
		"conflict after lines that came": {strings.Replace(sub("1\n", "a\nb\nc\n"), "8\n", "acht\n", 1), sub("8\n", "eight\n"), "", "line 10"},
		"nothing of theirs":              {sub("2\n", "two\n"), base, sub("2\n", "two\n"), ""},
		"the end loses its newline":      {sub("1\n", "one\n"), strings.TrimSuffix(base, "\n"), strings.TrimSuffix(sub("1\n", "one\n"), "\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, conflicts := merge([]byte(base), []byte(c.ours), []byte(c.theirs))
			if string(got) != c.want || places(conflicts) != c.conflict {
				t.Errorf("got %q with conflicts %q, want %q with %q", got, places(conflicts), c.want, c.conflict)
			}
		})
	}
}

// FuzzMerge: a change that is made and taken out again leaves the text, and
// what merges without conflict merges the same the other way round.
func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n", "a\nb\nc\nd")
	f.Add("", "x", "\n")
	f.Add("1\n2\n3\n4\n5\n", "1\n3\n4\n5\n", "1\n2\n3\n4\n5\n6\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		one, conflicts := merge([]byte(base), []byte(ours), []byte(theirs))
		other, back := merge([]byte(base), []byte(theirs), []byte(ours))
		if (len(conflicts) == 0) != (len(back) == 0) || string(one) != string(other) {
			t.Fatalf("%q (%d conflicts) one way, %q (%d) the other", one, len(conflicts), other, len(back))
		}
		for _, c := range conflicts {
			if n := strings.Count(ours, "\n") + 2; c.From < 1 || c.From > n || c.To < c.From-1 || c.To > n {
				t.Fatalf("a conflict at %v of %d lines", c, n)
			}
		}
		if got, c := merge([]byte(base), []byte(ours), []byte(base)); len(c) > 0 || string(got) != ours {
			t.Fatalf("no change becomes %q", got)
		}
		if got, c := merge([]byte(base), []byte(base), []byte(theirs)); len(c) > 0 || string(got) != theirs {
			t.Fatalf("the only change becomes %q", got)
		}
	})
}
