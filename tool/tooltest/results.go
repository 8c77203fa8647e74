package tooltest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/tool"
)

// judge tries what holds of every outcome, and returns its result: that of
// the error where there is one, nil where there is nothing to go on with.
func (s *subject) judge(tb testing.TB, what string, o outcome) *tool.Result {
	tb.Helper()
	switch {
	case o.late:
		tb.Errorf("%s: the call had not returned after %v", what, s.opts.Patience)
		return nil
	case o.panicked != nil:
		tb.Errorf("%s: the call panicked: %v", what, o.panicked)
		return nil
	case o.result == nil && o.err == nil:
		tb.Errorf("%s: the call returned neither a result nor an error", what)
		return nil
	case o.result != nil && o.err != nil:
		tb.Errorf("%s: the call returned both a result and the error %v", what, o.err)
		return nil
	}
	r := o.result
	if o.err != nil {
		r = tool.FromError(o.err)
		var e *tool.Error
		if errors.As(o.err, &e) && len(e.Text) > tool.MaxErrorText {
			tb.Errorf("%s: the error has %d bytes; the limit is %d", what, len(e.Text), tool.MaxErrorText)
		}
	}
	s.outcomeRule(tb, what, r)
	s.content(tb, what, r)
	if r.OK {
		s.structured(tb, what, r)
	}
	return r
}

// outcomeRule tries that success and failure are told apart in one way.
func (s *subject) outcomeRule(tb testing.TB, what string, r *tool.Result) {
	tb.Helper()
	switch {
	case r.OK && r.Code != "":
		tb.Errorf("%s: the result is OK and has the code %q", what, r.Code)
	case !r.OK && r.Code == "":
		tb.Errorf("%s: the result is not OK and has no code", what)
	case !r.OK && !slices.Contains(tool.Codes(), r.Code):
		tb.Errorf("%s: the code %q is none of the contract", what, r.Code)
	case !r.OK && strings.TrimSpace(r.Text) == "":
		tb.Errorf("%s: the call failed with %s and says nothing", what, r.Code)
	}
	if r.ID != "" || r.Omitted != 0 || r.Repairs != nil || r.Duration != 0 {
		tb.Errorf("%s: the result sets a field that is the journey's: ID, Omitted, Repairs or Duration", what)
	}
}

func (s *subject) content(tb testing.TB, what string, r *tool.Result) {
	tb.Helper()
	if !utf8.ValidString(r.Text) {
		tb.Errorf("%s: the text is not valid UTF-8", what)
	}
	for i, m := range r.Media {
		if !strings.Contains(m.MIME, "/") || len(m.Data) == 0 {
			tb.Errorf("%s: media %d has the type %q and %d bytes", what, i, m.MIME, len(m.Data))
		}
	}
	if len(r.Changed) > 0 && s.spec.Effects.Declared()&(tool.Write|tool.Exec|tool.Delegate) == 0 {
		tb.Errorf("%s: the result says that %q changed; the declared effects are %s", what, r.Changed, s.spec.Effects)
	}
	if _, err := json.Marshal(r.Metadata); err != nil {
		tb.Errorf("%s: the metadata cannot be written as JSON: %v", what, err)
	}
}

// structured tries that a result is what the output schema says.
func (s *subject) structured(tb testing.TB, what string, r *tool.Result) {
	tb.Helper()
	switch {
	case s.spec.Output == nil && r.Structured != nil:
		tb.Errorf("%s: the result is structured and no output schema is declared", what)
		return
	case s.spec.Output == nil:
		return
	case r.Structured == nil:
		tb.Errorf("%s: an output schema is declared and the result is not structured", what)
		return
	}
	output, err := schema.Compile(s.spec.Output)
	if err != nil {
		return // tried where the declaration is
	}
	n, err := jsondoc.Parse(string(r.Structured))
	if err != nil {
		tb.Errorf("%s: the structured result is not JSON: %v", what, err)
		return
	}
	verdict := output.Check(&n, schema.NewBudget())
	for _, p := range verdict.Problems {
		tb.Errorf("%s: the structured result does not conform to the output schema: %s of %s (%s)", what, p.Keyword, p.Schema.Where, tool.Clip(string(r.Structured)))
	}
}
