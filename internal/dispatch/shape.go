package dispatch

import (
	"context"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/tool"
)

// recallTool is the canonical name of the tool that brings back a whole
// result.
const recallTool = "recall"

// shape puts the whole result into the ledger and makes what the model sees
// of it.
func (t *trip) shape(ctx context.Context) {
	r := t.result
	p := output.Prepare(r.Text, t.spec.Verbatim, t.d.Redactor)
	b := output.Budget{Bytes: t.spec.OutputLimit(), Note: p.Note}
	t.keep(ctx, !b.Fits(p.Text))
	if r.ID != "" {
		if recall, err := t.d.View.Resolve(recallTool); err == nil {
			b.RecallTool, b.ResultID = recall.Shown, r.ID
		}
	}
	if resumer := t.resolved.Entry.Resumer; resumer != nil {
		b.Resume = func(cut tool.Cut) string {
			advice, err := isolated(func() (string, error) { return resumer.Resume(&t.call, cut), nil })
			if err != nil {
				t.d.Logger.Warn("asking a tool how to go on", "tool", t.spec.Name, "error", err)
			}
			return advice
		}
	}
	out := b.Apply(p.Text)
	r.Text, r.Omitted = out.Text, out.Omitted
	t.boundStructured()
	if len(r.Media) > 0 {
		t.boundMedia(ctx)
	}
}

// keep puts the whole result into the ledger. A result that is cut is
// promised to the model, so it must survive a crash.
func (t *trip) keep(ctx context.Context, cut bool) {
	if t.d.Ledger == nil || t.spec.Name == recallTool {
		return // what was recalled is in the ledger already
	}
	root := ""
	if t.d.Workspace != nil {
		root = t.d.Workspace.Root()
	}
	// The call may have been cancelled; what it brought is kept all the same.
	id, err := t.d.Ledger.Put(context.WithoutCancel(ctx), store.Entry{
		Session: t.d.Session, Workspace: root, Tool: t.spec.Name, Call: t.asked.ID,
		Text: t.result.Text, Media: t.result.Media, Verbatim: t.spec.Verbatim, Durable: cut,
	})
	if err != nil {
		t.d.Logger.Error("keeping a result", "tool", t.spec.Name, "error", err)
		return
	}
	t.result.ID = id
}

// boundMedia makes images small enough to be shown; what cannot be shown is
// said in the text.
func (t *trip) boundMedia(ctx context.Context) {
	fitted, notes := output.FitMedia(ctx, t.result.Media)
	t.result.Media = fitted
	t.notes = append(t.notes, notes...)
}
