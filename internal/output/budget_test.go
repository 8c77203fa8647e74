package output

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/tool"
)

// seq returns the lines 1 to n.
func seq(n int) string {
	var sb strings.Builder
	for i := range n {
		fmt.Fprintln(&sb, i+1)
	}
	return sb.String()
}

func TestBudgetShowsWholeWhatFits(t *testing.T) {
	for _, text := range []string{"", "one line", "one line\n", seq(100), strings.Repeat("x", tool.DefaultOutput)} {
		got := Budget{ResultID: "r_1", RecallTool: "recall", Resume: func(tool.Cut) string { return "More." }}.Apply(text)
		want := Bounded{Text: text, Total: len(text), Lines: countLines(text)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a text of %d bytes was changed:\n%s", len(text), diff)
		}
	}
}

func TestBudgetMarker(t *testing.T) {
	long := strings.Repeat("abcdefghi ", 300)
	for _, c := range []struct{ name, text, marker string }{
		{"line boundaries", seq(5000), "[Showing lines 1–173 and 4951–5000 of 5000; 23059 bytes omitted.]"},
		{"one line", long, "[Showing the first 590 and the last 254 bytes of one line; 2156 bytes omitted.]"},
		{"a giant first line", long + "\nend\n", "[Showing lines 1 and 1–2 of 2, with line 1 in part; 2161 bytes omitted.]"},
		{"a giant line between", "start\n" + long + "\nend\n", "[Showing lines 1–2 and 2–3 of 3, with line 2 in part; 2167 bytes omitted.]"},
		{"two giant lines", long + "\n" + long, "[Showing lines 1 and 2 of 2, with lines 1 and 2 in part; 5157 bytes omitted.]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Budget{Bytes: 1000}.Apply(c.text)
			if !strings.Contains(got.Text, "\n\n"+c.marker+"\n\n") {
				t.Errorf("the marker %q does not stand in a paragraph of its own in:\n%s", c.marker, got.Text)
			}
			checkBounded(t, c.text, 1000, got)
		})
	}
}

// numbers of the sentence in a cut, by the wording.
var (
	markerLines = regexp.MustCompile(`\[Showing lines (\d+)(?:–(\d+))? and (\d+)(?:–(\d+))? of (\d+)[^;]*; (\d+) bytes omitted\.\]\n\n`)
	markerBytes = regexp.MustCompile(`\[Showing the first (\d+) and the last (\d+) bytes of one line; (\d+) bytes omitted\.\]\n\n`)
)

// checkBounded checks what must hold of every cut: the bound, whole runes,
// and that what is shown and what is said to be omitted are the given text.
func checkBounded(t *testing.T, text string, limit int, got Bounded) {
	t.Helper()
	if len(got.Text) > limit {
		t.Fatalf("%d bytes exceed the budget of %d", len(got.Text), limit)
	}
	if utf8.ValidString(text) && !utf8.ValidString(got.Text) {
		t.Fatalf("a rune was cut in %q", got.Text)
	}
	if got.Total != len(text) || got.Lines != countLines(text) {
		t.Fatalf("Total %d and Lines %d of a text of %d bytes and %d lines", got.Total, got.Lines, len(text), countLines(text))
	}
	if got.Omitted == 0 {
		if !strings.HasPrefix(got.Text, text) {
			t.Fatalf("nothing is said to be omitted, but the text is not whole: %q", got.Text)
		}
		return
	}
	re := markerLines
	if got.Lines == 1 {
		re = markerBytes
	}
	at := re.FindStringSubmatchIndex(got.Text)
	if at == nil {
		if limit > 1000 {
			t.Fatalf("no marker in %q", got.Text)
		}
		if shown := strings.TrimSuffix(got.Text, "…"); utf8.ValidString(text) && (!strings.HasPrefix(text, shown) || len(shown)+got.Omitted != len(text)) {
			t.Fatalf("%q with %d bytes omitted is not the start of the text", got.Text, got.Omitted)
		}
		return
	}
	number := func(i int) int { n, _ := strconv.Atoi(got.Text[at[2*i]:at[2*i+1]]); return n }
	if n := number(re.NumSubexp()); n != got.Omitted {
		t.Fatalf("the marker says %d bytes, the result %d", n, got.Omitted)
	}
	// The blank line before the marker may begin with the head's own newline.
	if !adds(text, got, at, number, at[0]-1) && !adds(text, got, at, number, at[0]-2) {
		t.Fatalf("what is shown and what is said do not add up for a budget of %d in %q", limit, got.Text)
	}
}

// adds reports whether the cut, with a head of that many bytes, shows the
// given text but for what it says is omitted.
func adds(text string, got Bounded, at []int, number func(int) int, head int) bool {
	if !strings.HasPrefix(text, got.Text[:head]) || !strings.HasPrefix(got.Text[at[1]:], text[head+got.Omitted:]) {
		return false
	}
	if got.Lines == 1 {
		return number(1) == head && number(2) == len(text)-head-got.Omitted
	}
	last, to := 1, number(3)
	if at[4] >= 0 {
		last = number(2)
	}
	if at[8] >= 0 {
		to = number(4)
	}
	return last == countLines(text[:head]) && number(3) == strings.Count(text[:head+got.Omitted], "\n")+1 &&
		to == got.Lines && number(5) == got.Lines
}

func TestL55_AdviceNamesTheSameNumberAsTheMarker(t *testing.T) {
	var asked tool.Cut
	b := Budget{Bytes: 2000, ResultID: "r_abc", RecallTool: "recall", Resume: func(c tool.Cut) string {
		asked = c
		return fmt.Sprintf("Call read_file with start_line 200 for the %d bytes.", c.Omitted)
	}}
	got := b.Apply(seq(5000))
	checkBounded(t, seq(5000), 2000, got)
	if asked.Omitted != got.Omitted || asked.Total != len(seq(5000)) || asked.Lines != 5000 {
		t.Errorf("the tool was told %+v, the result says %d omitted", asked, got.Omitted)
	}
	want := fmt.Sprintf("\n[Call read_file with start_line 200 for the %d bytes. The whole result is kept: call recall with "+
		`{"id":"r_abc","start_line":261} to go on where it breaks off, or with "pattern" to search it.]`, got.Omitted)
	if !strings.HasSuffix(got.Text, want) {
		t.Errorf("the result ends with %q\nwant %q", got.Text[len(got.Text)-len(want):], want)
	}
	if !strings.Contains(got.Text, "lines 1–260 and") {
		t.Errorf("recall is told to go on at 261, but the marker says otherwise:\n%s", got.Text)
	}
}

func TestBudgetAdvice(t *testing.T) {
	text := seq(5000)
	t.Run("recall is not named where it is not visible", func(t *testing.T) {
		got := Budget{Bytes: 2000, ResultID: "r_abc"}.Apply(text)
		if strings.Contains(got.Text, "recall") || strings.Contains(got.Text, "r_abc") {
			t.Errorf("a tool that the session does not see is advised: %s", got.Text)
		}
	})
	t.Run("recall has the name that the session sees", func(t *testing.T) {
		got := Budget{Bytes: 2000, ResultID: "r_abc", RecallTool: "Recall"}.Apply(text)
		if !strings.Contains(got.Text, `call Recall with {"id":"r_abc","start_line":`) {
			t.Errorf("no such advice in: %s", got.Text)
		}
	})
	t.Run("inside of a line recall goes on by bytes", func(t *testing.T) {
		got := Budget{Bytes: 2000, ResultID: "r_abc", RecallTool: "recall"}.Apply(strings.Repeat("x", 9000))
		m := markerBytes.FindStringSubmatch(got.Text)
		if m == nil || !strings.Contains(got.Text, `"byte_offset":`+m[1]+"}") {
			t.Errorf("no byte_offset where the head ends: %s", got.Text)
		}
	})
	t.Run("L3 advice that is too long is left out whole", func(t *testing.T) {
		got := Budget{Bytes: 2000, ResultID: "r_abc", RecallTool: "recall", Resume: func(tool.Cut) string { return strings.Repeat("long ", 1000) }}.Apply(text)
		if strings.Contains(got.Text, "long") || !strings.Contains(got.Text, `"r_abc"`) {
			t.Errorf("want the recall advice alone: %s", got.Text)
		}
		checkBounded(t, text, 2000, got)
	})
	t.Run("a note closes the result, cut or not", func(t *testing.T) {
		for _, text := range []string{"short", text} {
			got := Budget{Bytes: 2000, Note: "In this text: 1 control character removed."}.Apply(text)
			if !strings.HasSuffix(got.Text, "\n[In this text: 1 control character removed.]") {
				t.Errorf("the note is not at the end of %q", got.Text)
			}
		}
	})
}

func TestF185_TheTailIsAlwaysKept(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 5000)+"\n", 29) + strings.Repeat("y", 5000) + " error: build failed\n"
	got := Budget{Bytes: 30_000}.Apply(text)
	checkBounded(t, text, 30_000, got)
	if !strings.HasSuffix(got.Text, "error: build failed\n") {
		t.Errorf("the result ends with %q", got.Text[len(got.Text)-40:])
	}
}

func TestF186_APlainSentenceAndNoneWithoutACut(t *testing.T) {
	text := seq(5000)
	got := Budget{Bytes: 5000, ResultID: "r_abc", RecallTool: "recall"}.Apply(text)
	if !strings.Contains(got.Text, "[Showing lines 1–") || !strings.Contains(got.Text, " of 5000; ") || !strings.Contains(got.Text, "call recall with") {
		t.Errorf("the cut is not said in a plain sentence: %s", got.Text)
	}
	if got := (Budget{}).Apply(text); got.Text != text || got.Omitted != 0 {
		t.Errorf("a text that was not cut has a note: %q", got.Text[len(text):])
	}
}

func TestF188_AFailureAtTheEndIsInThePreview(t *testing.T) {
	text := strings.Repeat("progress: still working on it\n", 70_000) + "FAILED: 3 of 90\n"
	got := Budget{Bytes: 2000}.Apply(text)
	if !strings.HasSuffix(got.Text, "FAILED: 3 of 90\n") || !strings.HasPrefix(got.Text, "progress:") {
		t.Error("head or tail is missing")
	}
	checkBounded(t, text, 2000, got)
}

func TestF189_AGiantTextIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"lines":    strings.Repeat("sixteen byte row\n", 100_000),
		"one line": strings.Repeat("x", 1_700_000),
	} {
		t.Run(name, func(t *testing.T) {
			got := Budget{ResultID: "r_abc", RecallTool: "recall"}.Apply(text)
			checkBounded(t, text, tool.DefaultOutput, got)
			if !strings.Contains(got.Text, `{"id":"r_abc","`) {
				t.Error("no call that goes on")
			}
		})
	}
}

func TestL56_AToolMayDeclareALargerBudget(t *testing.T) {
	search := &tool.Spec{Name: "search", OutputBytes: 200_000}
	if text := strings.Repeat("x", 150_000); !(Budget{Bytes: search.OutputLimit()}).Fits(text) {
		t.Error("a result within the tool's own budget was cut")
	}
	other := &tool.Spec{Name: "other"}
	if text := strings.Repeat("x", tool.DefaultOutput+1); (Budget{Bytes: other.OutputLimit()}).Fits(text) {
		t.Error("a tool without a budget of its own has more than the default")
	}
}

func TestG13_AnAliasHasTheToolsBudget(t *testing.T) {
	// A budget is asked of the spec, and an alias has no spec of its own.
	shell := &tool.Spec{Name: "shell", Aliases: []string{"bash", "exec_command"}, OutputBytes: 30_000}
	if got := (Budget{Bytes: shell.OutputLimit()}).Apply(seq(50_000)); len(got.Text) > 30_000 || len(got.Text) < 25_000 {
		t.Errorf("the result has %d bytes", len(got.Text))
	}
}

func TestG14_WhatEndsALongOutputStays(t *testing.T) {
	text := seq(50_000) + "exit code: 101\n"
	if got := (Budget{Bytes: 30_000}).Apply(text); !strings.HasSuffix(got.Text, "exit code: 101\n") {
		t.Error("the exit code was cut away")
	}
}

func TestBudgetOfAnySize(t *testing.T) {
	text := strings.Repeat("ein längerer Satz über 日本語\n", 200)
	for limit := 1; limit < 1500; limit++ {
		got := Budget{Bytes: limit, ResultID: "r_abc", RecallTool: "recall", Note: "A note."}.Apply(text)
		checkBounded(t, text, limit, got)
		if got.Omitted == 0 {
			t.Fatalf("a budget of %d bytes cut nothing", limit)
		}
	}
}

// FuzzBudget checks the bound, the runes, and that the shown and the omitted
// bytes are the given text, for every text and budget.
func FuzzBudget(f *testing.F) {
	f.Add("short", 100, "", "")
	f.Add(seq(500), 700, "Go on with page 2.", "A note.")
	f.Add(strings.Repeat("日本語", 300), 500, "", "")
	f.Add("a\n\n\nb\n"+strings.Repeat("\n", 900), 600, "x", "")
	f.Add(strings.Repeat("\x80", 3000), 900, "", "y")
	f.Fuzz(func(t *testing.T, text string, limit int, advice, note string) {
		if limit <= 0 || limit > 1<<20 || strings.ContainsAny(advice+note, "[]") || !utf8.ValidString(advice) || !utf8.ValidString(note) {
			return
		}
		if len(text) < 4096 {
			text = strings.Repeat(text, 1+limit%7)
		}
		if strings.Contains(text, "[Showing") {
			return
		}
		b := Budget{Bytes: limit, ResultID: "r_abc", RecallTool: "recall", Note: note, Resume: func(tool.Cut) string { return advice }}
		checkBounded(t, text, limit, b.Apply(text))
	})
}
