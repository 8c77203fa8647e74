package dispatch

import (
	"context"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// bound makes the result fit for the model: the whole goes to the ledger,
// control characters and secrets are taken out, the text is cut to the
// tool's budget, and what was left out is said with the call that brings it.
func (t *trip) bound(ctx context.Context) *tool.Error {
	if t.refusal != nil {
		t.result = tool.FromError(t.refusal)
	} else {
		t.shape(ctx)
	}
	if found := t.d.Guard.After(t.name(), t.raw, t.result); found != nil && t.finding == nil {
		t.finding = found
		t.notes = append(t.notes, "[loop guard] "+found.Text)
	}
	if f := t.finding; f != nil {
		if t.result.Metadata == nil {
			t.result.Metadata = map[string]any{}
		}
		t.result.Metadata["loop"] = f.Kind
		if f.Stop {
			t.result.Metadata["stop_turn"] = f.Kind
		}
	}
	t.append(t.notes)
	return nil
}

// append adds lines after the text.
func (t *trip) append(lines []string) {
	if len(lines) == 0 {
		return
	}
	text := strings.Join(lines, "\n")
	if t.result.Text != "" {
		text = strings.TrimRight(t.result.Text, "\n") + "\n\n" + text
	}
	t.result.Text = text
}

// afterHooks lets hooks look at the result and add feedback.
func (t *trip) afterHooks(ctx context.Context) *tool.Error {
	if len(t.d.Hooks.After) == 0 {
		return nil
	}
	feedback, errs := t.d.Hooks.RunAfter(context.WithoutCancel(ctx), t.hookCall(), t.result)
	for _, err := range errs {
		t.d.Logger.Warn("after-hook failed", "tool", t.name(), "error", err)
	}
	for i, text := range feedback {
		feedback[i] = "[hook] " + text
	}
	t.append(feedback)
	return nil
}
