package memory

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

var update = flag.Bool("update", false, "rewrite the wanted answers in testdata")

// bench is a store with one session that recalls from it.
type bench struct {
	store    *store.Store
	redactor output.Redactor
}

func newBench(t testing.TB) *bench {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "state"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{store: s}
}

func (b *bench) put(t testing.TB, e store.Entry) string {
	t.Helper()
	e.Session = "s1"
	e.Tool = "shell"
	id, err := b.store.Put(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// recall runs the tool in the session. The arguments are JSON; ID in them
// stands for the id.
func (b *bench) recall(t testing.TB, session, id, args string) (*tool.Result, error) {
	t.Helper()
	ctx := output.WithRedactor(t.Context(), &b.redactor)
	ctx = store.WithReader(ctx, b.store.Bind(store.Scope{Session: session}))
	args = strings.ReplaceAll(args, "ID", id)
	if !json.Valid([]byte(args)) {
		t.Fatalf("%s is no JSON", args)
	}
	return recall().Run(ctx, &tool.Call{Tool: "recall", Args: json.RawMessage(args), Session: session})
}

// text runs the tool and returns what it answers, an error's text included.
func (b *bench) text(t testing.TB, id, args string) string {
	t.Helper()
	r, err := b.recall(t, "s1", id, args)
	if err != nil {
		return err.Error()
	}
	if len(r.Text) > tool.DefaultOutput || !utf8.ValidString(r.Text) {
		t.Errorf("%s: the answer has %d bytes, or broken characters", args, len(r.Text))
	}
	return r.Text
}

// TestRecall runs the archives in testdata. In each, "result" is the kept
// text, and every NAME.args is answered as NAME.want says.
func TestRecall(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives: ", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t)
			id := ""
			for i, f := range archive.Files {
				name, isArgs := strings.CutSuffix(f.Name, ".args")
				switch {
				case f.Name == "result":
					id = b.put(t, store.Entry{Text: string(f.Data)})
				case isArgs:
					got := strings.ReplaceAll(b.text(t, id, string(f.Data)), id, "ID") + "\n"
					want := &archive.Files[i+1]
					if *update {
						want.Data = []byte(got)
					}
					if diff := cmp.Diff(string(want.Data), got); diff != "" || want.Name != name+".want" {
						t.Errorf("%s:\n%s", name, diff)
					}
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestRecallReportsAllThatIsWrong(t *testing.T) {
	b := newBench(t)
	_, err := b.recall(t, "s1", "", `{"id":"tool_1","tail":3,"start_line":2,"byte_offset":0,"pattern":"(?=x)","context":0}`)
	var e *tool.Error
	if !errors.As(err, &e) || e.Code != tool.CodeInvalidInput {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{`id: "tool_1" is no id`, "tail: it already says", "tail: it does not go with pattern", "byte_offset, byte_limit:", "pattern: error parsing regexp"} {
		if !strings.Contains(e.Text, want) {
			t.Errorf("%q is not said in:\n%s", want, e.Text)
		}
	}
}

func TestRecallOfAnotherSessionLooksLikeNone(t *testing.T) {
	b := newBench(t)
	id := b.put(t, store.Entry{Text: "mine"})
	_, err := b.recall(t, "s2", id, `{"id":"ID"}`)
	_, none := b.recall(t, "s2", "r_aaaaaaaaaaaa", `{"id":"ID"}`)
	if err == nil || none == nil || strings.ReplaceAll(err.Error(), id, "X") != strings.ReplaceAll(none.Error(), "r_aaaaaaaaaaaa", "X") {
		t.Errorf("the answers differ:\n%v\n%v", err, none)
	}
	var e *tool.Error
	if !errors.As(err, &e) || e.Code != tool.CodeFailed {
		t.Errorf("%v", err)
	}
}

// cut returns a result as the journey would show it.
func (b *bench) cut(t *testing.T, text string, limit int) (id string, shown output.Bounded) {
	t.Helper()
	p := output.Prepare(text, false, &b.redactor)
	id = b.put(t, store.Entry{Text: text, Durable: true})
	return id, output.Budget{Bytes: limit, ResultID: id, RecallTool: "recall"}.Apply(p.Text)
}

// follow takes the call that the advice of a cut result names.
func follow(t *testing.T, text string) string {
	t.Helper()
	_, call, ok := strings.Cut(text, "call recall with ")
	if !ok {
		t.Fatalf("no call is advised in %q", text)
	}
	call, _, ok = strings.Cut(call, "}")
	if !ok {
		t.Fatal("the call does not end")
	}
	return call + "}"
}

func TestF195_TheAdvisedCallWorksAndAllComesBack(t *testing.T) {
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "%d: the output of a command\n", i+1)
	}
	t.Run("lines", func(t *testing.T) {
		b := newBench(t)
		id, shown := b.cut(t, lines.String(), 30_000)
		args := follow(t, shown.Text)
		var got strings.Builder
		got.WriteString(shown.Text[:strings.Index(shown.Text, "\n[Showing")])
		for range 100 {
			page := b.text(t, id, args)
			body, foot, _ := strings.Cut(page[strings.Index(page, "]\n")+2:], "\n[")
			for _, row := range strings.Split(body, "\n") {
				number, text, _ := strings.Cut(row, "│")
				if !strings.HasPrefix(text, number+": ") {
					t.Fatalf("line %s is %q", number, text)
				}
				got.WriteString(text + "\n")
			}
			next := 0
			if n, _ := fmt.Sscanf(foot[strings.Index(foot, ".")+1:], " Go on with start_line %d.]", &next); n == 0 {
				break
			}
			args = fmt.Sprintf(`{"id":"ID","start_line":%d}`, next)
		}
		if got.String() != lines.String() {
			t.Errorf("the pages together have %d bytes of %d", got.Len(), lines.Len())
		}
	})
	t.Run("one giant line", func(t *testing.T) {
		b := newBench(t)
		text := strings.Repeat("日本語0123456789", 30_000)
		id, shown := b.cut(t, text, 30_000)
		args := follow(t, shown.Text)
		got := shown.Text[:strings.Index(shown.Text, "\n\n[Showing")]
		for range 100 {
			page := b.text(t, id, args)
			body, foot, _ := strings.Cut(page[strings.Index(page, "]\n")+2:], "\n[")
			got += body
			next := 0
			if n, _ := fmt.Sscanf(foot[strings.Index(foot, ".")+1:], " Go on with byte_offset %d.]", &next); n == 0 {
				break
			}
			args = fmt.Sprintf(`{"id":"ID","byte_offset":%d}`, next)
		}
		if got != text {
			t.Errorf("the pages together have %d bytes of %d", len(got), len(text))
		}
	})
}

func TestF187_TheRealEndIsThere(t *testing.T) {
	b := newBench(t)
	text := strings.Repeat("progress of the job\n", 3<<20/20) + "END-MARKER\n"
	id, shown := b.cut(t, text, 30_000)
	if shown.Total != len(text) || shown.Lines != 3<<20/20+1 || !strings.Contains(shown.Text, "\nEND-MARKER\n\n[The whole result is kept: ") {
		t.Errorf("%d bytes and %d lines are told of %d", shown.Total, shown.Lines, len(text))
	}
	if got := b.text(t, id, `{"id":"ID","tail":1}`); !strings.Contains(got, "157287│END-MARKER\n") {
		t.Error(got)
	}
}

func TestL57_ALongLineDoesNotEatTheAnswer(t *testing.T) {
	b := newBench(t)
	id := b.put(t, store.Entry{Text: "first needle\n" + strings.Repeat("x", 100_000) + "needle" + strings.Repeat("y", 900_000) + "\nlast needle\n"})
	got := b.text(t, id, `{"id":"ID","pattern":"needle"}`)
	if len(got) > 2000 || !strings.Contains(got, "1:first needle\n") || !strings.Contains(got, "xneedley") || !strings.Contains(got, "3:last needle\n") ||
		!strings.Contains(got, "[cut: this line has 1000006 bytes; byte_offset 99888 shows this place]") {
		t.Errorf("%q", got)
	}
	got = b.text(t, id, `{"id":"ID"}`)
	if len(got) > 4000 || !strings.Contains(got, "[cut: this line has 1000006 bytes; byte_offset 2013 shows more]\n3│last needle\n") {
		t.Errorf("%q", got)
	}
	if got := b.text(t, id, `{"id":"ID","byte_offset":2013,"byte_limit":10}`); !strings.Contains(got, "]\nxxxxxxxxxx\n[Bytes 2013 to 2023 of ") {
		t.Errorf("%q", got)
	}
}

func TestL58_TheSameCallHasTheSameAnswer(t *testing.T) {
	b := newBench(t)
	id := b.put(t, store.Entry{Text: strings.Repeat("a line\n", 10_000)})
	if first, second := b.text(t, id, `{"id":"ID"}`), b.text(t, id, `{"id":"ID"}`); first != second {
		t.Error("a guard against loops would not see that nothing changes")
	}
}

func TestF192_TheNumberOfAllMatchesIsSaid(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	for i := range 19 {
		fmt.Fprintf(&text, "src/file%02d.go: hit\nother\n", i+1)
	}
	id := b.put(t, store.Entry{Text: text.String()})
	got := b.text(t, id, `{"id":"ID","pattern":"hit","limit":10}`)
	if !strings.HasSuffix(got, "19:src/file10.go: hit\n[10 of 19 matching lines. Go on with start_line 20.]") {
		t.Errorf("%q", got)
	}
	got = b.text(t, id, `{"id":"ID","pattern":"hit","limit":10,"start_line":20}`)
	if !strings.HasSuffix(got, "37:src/file19.go: hit\n[9 matching lines from line 20 on, all of them.]") {
		t.Errorf("%q", got)
	}
}

func TestL42_WhatWasRedactedStaysSo(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("Zq9", 20)+"\n", 10) + "-----END RSA PRIVATE KEY-----\n"
	raw := "one " + token + "\n" + key + "\x1b[31mred\x1b[0m known-secret-value\n"
	for _, size := range []int{0, 40_000} { // within the record, and in a blob
		b := newBench(t)
		if err := b.redactor.Know("MODEL_KEY", "known-secret-value"); err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("filler\n", size/7) + raw
		id := b.put(t, store.Entry{Text: text})
		lines := strings.Count(text, "\n")
		calls := []string{`{"id":"ID"}`, `{"id":"ID","tail":14}`, `{"id":"ID","tail":5}`, `{"id":"ID","pattern":"."}`, `{"id":"ID","pattern":"Zq9|a1B2|known"}`,
			fmt.Sprintf(`{"id":"ID","byte_offset":%d}`, len(text)-len(raw)+10), fmt.Sprintf(`{"id":"ID","byte_offset":%d,"byte_limit":20}`, len(text)-len(key))}
		for n := lines - 13; n <= lines; n++ {
			calls = append(calls, fmt.Sprintf(`{"id":"ID","start_line":%d,"limit":1}`, n))
		}
		for _, args := range calls {
			got := b.text(t, id, args)
			for _, secret := range []string{"a1B2a1B2", "Zq9Zq9", "known-secret", "\x1b"} {
				if strings.Contains(got, secret) {
					t.Errorf("%s shows %q", args, secret)
				}
			}
		}
		if got := b.text(t, id, `{"id":"ID","pattern":"a1B2|Zq9Zq9|known-sec"}`); !strings.Contains(got, "[No line matches.]") {
			t.Errorf("a pattern asks for what was redacted: %q", got)
		}
		if got := b.text(t, id, fmt.Sprintf(`{"id":"ID","start_line":%d}`, lines)); !strings.Contains(got, fmt.Sprintf("%d│red [redacted: the secret MODEL_KEY, 18 characters]", lines)) {
			t.Errorf("the lines moved: %q", got)
		}
	}
	t.Run("but a verbatim result is shown as it is", func(t *testing.T) {
		b := newBench(t)
		id := b.put(t, store.Entry{Text: raw, Verbatim: true})
		if got := b.text(t, id, `{"id":"ID"}`); !strings.Contains(got, token) || !strings.Contains(got, `\u{1b}[31mred`) || !strings.Contains(got, "Zq9Zq9") {
			t.Errorf("%q", got)
		}
	})
}

// TestRecallHidesRegisteredValuesOfAVerbatimResult reads a file's text in
// every way there is, by bytes from inside of the value too.
func TestRecallHidesRegisteredValuesOfAVerbatimResult(t *testing.T) {
	const value = "known-secret-value"
	for _, size := range []int{0, recallBlock + 1000} { // in the first block, and in a later one
		b := newBench(t)
		if err := b.redactor.Know("MODEL_KEY", value); err != nil {
			t.Fatal(err)
		}
		head := "\x1b" + strings.Repeat("filler\n", size/7) + "a ghp_" + strings.Repeat("a1B2", 9) + "\nKEY="
		id := b.put(t, store.Entry{Text: head + value + "\nlast\n", Verbatim: true})
		n := strings.Count(head, "\n") + 1
		calls := []string{fmt.Sprintf(`{"id":"ID","start_line":%d}`, n), `{"id":"ID","tail":2}`, `{"id":"ID","pattern":"KEY="}`, `{"id":"ID","pattern":"[.]|last","context":2}`}
		for i := range len(value) {
			calls = append(calls, fmt.Sprintf(`{"id":"ID","byte_offset":%d,"byte_limit":9}`, len(head)+i))
		}
		for _, args := range calls {
			got := b.text(t, id, args)
			body, _, _ := strings.Cut(got, "\n[")
			if strings.Contains(got, "secret-v") || strings.Contains(body, "value") || !strings.Contains(got, "[redacted: the secret MODEL_KEY, 18 characters]") {
				t.Errorf("%s shows %q", args, got)
			}
			if strings.Count(got, output.NoteReplaced) != 1 {
				t.Errorf("%s does not say once that a secret is replaced: %q", args, got)
			}
		}
		if got := b.text(t, id, `{"id":"ID","pattern":"known-sec"}`); !strings.Contains(got, "[No line matches.]") {
			t.Errorf("a pattern asks for the value: %q", got)
		}
		if got := b.text(t, id, `{"id":"ID","pattern":"a1B2"}`); !strings.Contains(got, "ghp_a1B2") {
			t.Errorf("what only looks secret is hidden: %q", got)
		}
	}
}

func TestRecallShowsTheImagesOfAResult(t *testing.T) {
	b := newBench(t)
	media := []tool.Media{{MIME: "image/png", Data: []byte("not really")}}
	id := b.put(t, store.Entry{Text: "look", Media: media})
	r, err := b.recall(t, "s1", id, `{"id":"ID"}`)
	if err != nil || !cmp.Equal(r.Media, media) || !strings.Contains(r.Text, ", image/png of 10 bytes]") {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := b.recall(t, "s1", id, `{"id":"ID","tail":1}`); err != nil || r.Media != nil {
		t.Errorf("a part of the text brings %v: %v", r.Media, err)
	}
}

func TestRecallStopsWhenTheCallIsWithdrawn(t *testing.T) {
	b := newBench(t)
	id := b.put(t, store.Entry{Text: strings.Repeat("a line\n", 100_000)})
	ctx, cancel := context.WithCancel(store.WithReader(output.WithRedactor(context.Background(), &b.redactor), b.store.Bind(store.Scope{Session: "s1"})))
	cancel()
	_, err := recall().Run(ctx, &tool.Call{Args: json.RawMessage(`{"id":"` + id + `","pattern":"x"}`)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestSuite(t *testing.T) {
	b := newBench(t)
	id := b.put(t, store.Entry{Text: strings.Repeat("some lines of a result\n", 5000)})
	example := func(args string, code tool.Code) tooltest.Example {
		return tooltest.Example{Args: strings.ReplaceAll(args, "ID", id), Code: code}
	}
	tooltest.Run(t, recall(), tooltest.Options{
		Context: func(ctx context.Context) context.Context {
			return store.WithReader(output.WithRedactor(ctx, &b.redactor), b.store.Bind(store.Scope{Session: "s1"}))
		},
		Examples: []tooltest.Example{
			example(`{"id":"ID"}`, ""),
			example(`{"id":"ID","start_line":4000,"limit":20}`, ""),
			example(`{"id":"ID","pattern":"some","context":2,"ignore_case":true}`, ""),
			example(`{"id":"ID","byte_offset":0,"byte_limit":100}`, ""),
			example(`{"id":"ID","start_line":9999}`, tool.CodeFailed),
			example(`{"id":"r_aaaaaaaaaaaa"}`, tool.CodeFailed),
			example(`{"id":"ID","tail":1,"pattern":"x"}`, tool.CodeInvalidInput),
		},
	})
}

func TestRecallDeclaresItself(t *testing.T) {
	tools := All()
	spec := tools[0].Spec()
	if err := tools[0].(tool.Checker).Check(); err != nil || len(tools) != 1 {
		t.Fatal(err)
	}
	if !spec.Effects.Has(tool.Pure) || !spec.Effects.Within(tool.Pure) || spec.Concurrency != tool.Safe || !spec.Verbatim {
		t.Errorf("%+v", spec)
	}
	if strings.Contains(spec.Description, "{{") || !strings.Contains(spec.Description, "after 2000 bytes") {
		t.Error(spec.Description)
	}
}

func BenchmarkRecall(b *testing.B) {
	bench := newBench(b)
	id := bench.put(b, store.Entry{Text: strings.Repeat("2026-11-30T12:00:00Z level=info msg=\"request done\" path=/api/v1/items\n", 10<<20/70), Durable: true})
	small := bench.put(b, store.Entry{Text: strings.Repeat("a line\n", 200), Durable: true})
	for _, c := range []struct{ name, id, args string }{
		{"small", small, `{"id":"ID"}`},
		{"first page of 10MB", id, `{"id":"ID"}`},
		{"last page of 10MB", id, `{"id":"ID","start_line":149000}`},
		{"tail of 10MB", id, `{"id":"ID","tail":100}`},
		{"grep 10MB", id, `{"id":"ID","pattern":"level=error"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bench.text(b, c.id, c.args)
			}
		})
	}
}
