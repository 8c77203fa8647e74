package tooltest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/tool"
)

// examples tries that the examples are valid as they stand, end as they say,
// and change nothing that the tool does not declare.
func examples(tb testing.TB, s *subject) {
	decode := s.decoder(tb)
	succeeds := false
	for _, e := range s.opts.Examples {
		d, err := decode.Decode([]byte(e.Args))
		if err != nil || len(d.Repairs) > 0 {
			tb.Errorf("%s: the arguments of the example are not valid as they stand: %q %v", e.name(), d.Repairs, err)
			continue
		}
		s.setup(tb, e)
		before := s.look(tb)
		r := s.judge(tb, e.name(), s.run(tb.Context(), tb, e.Args))
		if r == nil {
			continue
		}
		succeeds = succeeds || r.OK
		if r.Code != e.Code {
			tb.Errorf("%s: the call ended with %q, want %q: %s", e.name(), r.Code, e.Code, tool.Clip(r.Text))
		}
		if s.spec.Effects.Declared()&(tool.Write|tool.Exec|tool.Delegate|tool.Admin) == 0 || r.Code == tool.CodeInvalidInput {
			before.same(tb, e.name()+": a call that changes nothing by its declaration or refusal", s.look(tb))
		}
	}
	if !succeeds {
		tb.Errorf("no example succeeds; the suite needs one to try the tool with")
	}
}

func (s *subject) setup(tb testing.TB, e Example) {
	if e.Setup != nil {
		e.Setup(tb)
	}
}

// malformed tries arguments that the schema refuses, as they could reach a
// tool that somebody calls without the journey.
func malformed(tb testing.TB, s *subject) {
	const enough = 5 // complaints of one kind tell what is wrong
	bad := 0
	for _, m := range s.malformed(tb) {
		what := "with the arguments " + tool.ClipText(m, maxShown)
		before := s.look(tb)
		switch r := s.judge(tb, what, s.run(tb.Context(), tb, m)); {
		case r == nil:
			bad++
		case r.Code == tool.CodeInvalidInput:
			before.same(tb, what+": a call that was refused", s.look(tb))
		}
		if bad == enough {
			tb.Errorf("what else is malformed was not tried")
			return
		}
		s.halves(tb, what, m)
	}
}

// maxShown is how much of the arguments a complaint shows, in bytes.
const maxShown = 80

// halves tries that the optional halves of a tool stand malformed arguments.
func (s *subject) halves(tb testing.TB, what, text string) {
	tb.Helper()
	ctx := s.context(tb.Context())
	for _, half := range []struct {
		name string
		call func()
	}{
		{"Assess", func() {
			if a, ok := s.tool.(tool.Assesser); ok {
				_, _ = a.Assess(ctx, s.call(tb, text)) // an error is an answer
			}
		}},
		{"Preflight", func() {
			if p, ok := s.tool.(tool.Preflighter); ok {
				_ = p.Preflight(ctx, s.call(tb, text)) // an error is an answer
			}
		}},
		{"Key", func() {
			if k, ok := s.tool.(tool.Keyer); ok {
				k.Key([]byte(text))
			}
		}},
		{"Resume", func() {
			if r, ok := s.tool.(tool.Resumer); ok {
				r.Resume(s.call(tb, text), tool.Cut{Omitted: 1, Total: 2, Lines: 1})
			}
		}},
	} {
		if p := guarded(half.call); p != nil {
			tb.Errorf("%s: %s panicked: %v", what, half.name, p)
		}
	}
}

// wrong are values of every kind, of which each property takes few.
var wrong = []string{
	`null`, `true`, `-1`, `3.5`, `1e300`, `9223372036854775808`, `""`, `" "`, `"\u0000"`, `"../../x"`, `[]`, `{}`, `[[null]]`, `{"":{}}`,
	`"` + strings.Repeat("x", 20_000) + `"`,
}

// malformed returns argument texts that the schema refuses: what is no object
// of arguments at all, and an example with one property made wrong.
func (s *subject) malformed(tb testing.TB) []string {
	tb.Helper()
	list := []string{
		"", "null", "[]", `"x"`, "3", "{", `{"a":`, "{} {}", "\xff", `{"":null}`,
		strings.Repeat("[", 10_000), `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
	}
	input, err := schema.Compile(s.spec.Input)
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range append(properties(input), "no_such_argument") {
		for _, value := range wrong {
			if text, ok := s.with(name, value); ok && refuses(input, text) {
				list = append(list, text)
			}
		}
	}
	return list
}

// with returns the first example that succeeds, with one argument replaced.
func (s *subject) with(name, value string) (string, bool) {
	for _, e := range s.opts.Examples {
		if e.Code != "" {
			continue
		}
		text, err := replace(e.Args, name, value)
		return text, err == nil
	}
	return fmt.Sprintf("{%q:%s}", name, value), true
}

// cancellation tries that a call which is withdrawn ends soon.
func cancellation(tb testing.TB, s *subject) {
	gone, cancel := context.WithCancel(tb.Context())
	cancel()
	for _, e := range s.opts.Examples {
		s.setup(tb, e)
		s.judge(tb, e.name()+", cancelled before its start", s.run(gone, tb, e.Args))
	}
	if s.opts.Blocking == "" {
		return
	}
	const midway = 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(tb.Context(), midway)
	defer cancel()
	what := tool.Clip(s.opts.Blocking) + ", cancelled midway"
	if r := s.judge(tb, what, s.run(ctx, tb, s.opts.Blocking)); r != nil && r.OK {
		tb.Errorf("%s: the call succeeded, so it does not block or does not say that it was stopped", what)
	}
}

// concurrency runs the examples of a safe tool beside each other. What they
// share is for the race detector to find.
func concurrency(tb testing.TB, s *subject) {
	if s.spec.Concurrency != tool.Safe {
		return
	}
	for _, e := range s.opts.Examples {
		s.setup(tb, e)
		var all sync.WaitGroup
		outcomes := make([]outcome, parallel)
		for i := range outcomes {
			all.Go(func() { outcomes[i] = s.run(tb.Context(), tb, e.Args) })
		}
		all.Wait()
		for _, o := range outcomes {
			if r := s.judge(tb, e.name()+", beside itself", o); r != nil && r.Code != e.Code {
				tb.Errorf("%s: beside itself the call ended with %q, want %q: %s", e.name(), r.Code, e.Code, tool.Clip(r.Text))
			}
		}
	}
}

// resume tries the advice after a cut.
func resume(tb testing.TB, s *subject) {
	r, ok := s.tool.(tool.Resumer)
	if !ok {
		return
	}
	for _, e := range s.opts.Examples {
		for _, cut := range []tool.Cut{{}, {Omitted: 1, Total: 2, Lines: 1}, {Omitted: 1 << 30, Total: 1<<30 + 1, Lines: 1 << 20}} {
			var advice string
			if p := guarded(func() { advice = r.Resume(s.call(tb, e.Args), cut) }); p != nil {
				tb.Errorf("%s: Resume panicked: %v", e.name(), p)
			}
			if strings.ContainsAny(advice, "\r\n") || len(advice) > tool.MaxErrorText/4 {
				tb.Errorf("%s: the advice after a cut is no sentence: %q", e.name(), advice)
			}
		}
	}
}
