package dispatch

import (
	"context"
	"maps"
	"strings"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/tool"
)

// bound makes the result fit for the model: the whole goes to the ledger,
// control characters and secrets are taken out, the text is cut to the
// tool's budget, and what was left out is said with the call that brings it.
func (t *trip) bound(ctx context.Context) *tool.Error {
	switch {
	case t.refusal != nil:
		t.result = t.refused()
	case t.instead == nil:
		t.shape(ctx)
	}
	if t.instead != nil {
		return t.whole()
	}
	if found := t.d.Guard.After(t.name(), t.asked.Args, t.result); found != nil && t.finding == nil {
		t.finding = found
		t.notes = append(t.notes, "[loop guard] "+found.Text)
	}
	if f := t.finding; f != nil {
		// The map may be the tool's own.
		metadata := maps.Clone(t.result.Metadata)
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata["loop"] = f.Kind
		if f.Stop {
			metadata["stop_turn"] = f.Kind
		}
		t.result.Metadata = metadata
	}
	t.append(t.notes)
	return nil
}

// refused is the result of a call that ended early. Its text may be foreign:
// a tool's own error, or a name that the caller chose.
func (t *trip) refused() *tool.Result {
	r := tool.FromError(t.refusal)
	p := output.Prepare(r.Text, t.spec != nil && t.spec.Verbatim, t.d.Redactor)
	r.Text = tool.ClipText(p.Text, tool.MaxErrorText)
	if p.Note != "" {
		t.notes = append(t.notes, "["+p.Note+"]")
	}
	return r
}

// append adds lines after the text.
func (t *trip) append(lines []string) {
	if len(lines) == 0 {
		return
	}
	if t.instead != nil {
		t.aside(lines)
		return
	}
	text := strings.Join(lines, "\n")
	if t.result.Text != "" {
		text = strings.TrimRight(t.result.Text, "\n") + "\n\n" + text
	}
	t.result.Text = text
}
