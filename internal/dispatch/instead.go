package dispatch

import (
	"context"
	"maps"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/tool"
)

// Action is what runs in the place of a tool. The call is as every step
// before has left it, so it is all that an action may go by.
type Action func(ctx context.Context, call *tool.Call) (*tool.Result, error)

// NotesKey is where the result of [Dispatcher.RunInstead] carries, as a
// []string in its metadata, what would be said below the text of any other:
// such a text is somebody's content, and nothing may be added to it.
const NotesKey = "notes"

// RunInstead takes one call the way of every call, and where the tool would
// run, act runs. A face uses it to have, as it is, what the tool would show to
// a model: policy, rules, hooks, questions and the record are those of the
// call, since it is that call. act may do no more than the tool has said that
// the call does. No field of a [Call] leads here, so neither a model nor a
// client can ask for it by what it sends.
//
// The result is not cut, not cleaned and not kept: act bounds its size. What
// is secret in its text is replaced; media that hold a registered secret are
// refused. The tool must be Handrail's own. The loop guard does not count the
// call. An error is a [*tool.Error] whose text is for the model and whose
// chain says why.
func (d *Dispatcher) RunInstead(ctx context.Context, c Call, act Action) (*tool.Result, error) {
	return d.StartInstead(ctx, c, act)()
}

// StartInstead takes the call in, so that it has its place in the queue when
// it returns, and gives the function that returns what [Dispatcher.RunInstead]
// does. That function must be called, once.
func (d *Dispatcher) StartInstead(ctx context.Context, c Call, act Action) (wait func() (*tool.Result, error)) {
	if c.ID == "" {
		c.ID = d.serial.next("resource")
	}
	b := &batch{ctx: ctx}
	t := d.newTrip(c, b, 0)
	t.instead = act
	b.trips = []*trip{t}
	b.intake()
	return func() (*tool.Result, error) {
		r := t.finish()
		if r.OK {
			return r, nil
		}
		e := &tool.Error{Code: r.Code, Text: r.Text, Metadata: r.Metadata}
		if t.refusal != nil {
			e.Err = t.refusal
		}
		return nil, e
	}
}

// own refuses an action in the place of a stranger's tool: nobody knows what
// that would have shown.
func (t *trip) own() *tool.Error {
	if t.resolved.Entry.Source == "" {
		return nil
	}
	return tool.Errorf(tool.CodeDenied, "the tool %s of this session is not Handrail's own, so only its calls show what it reads", t.spec.Name)
}

// whole is the bound of a result that is shown as it is.
func (t *trip) whole() *tool.Error {
	r := t.result
	if t.refusal != nil {
		t.append(t.notes)
		return nil
	}
	if t.spec.Verbatim {
		text, hidden := t.d.Redactor.RedactKnown(r.Text)
		if r.Text = text; hidden != nil {
			t.notes = append(t.notes, output.NoteReplaced)
		}
	} else {
		p := output.Prepare(r.Text, false, t.d.Redactor)
		if r.Text = p.Text; p.Note != "" {
			t.notes = append(t.notes, p.Note)
		}
	}
	for _, m := range r.Media {
		if t.d.Redactor.Knows(m.Data) {
			t.refusal, t.refusedAt = errHolds, "bound"
			t.result = t.refused()
			return nil
		}
	}
	t.append(t.notes)
	return nil
}

// errHolds refuses media that a placeholder cannot be written into.
var errHolds = &tool.Error{Code: tool.CodeDenied, Text: "this content is not text and holds a value that is kept secret here, so it is not shown"}

// aside keeps lines beside the content.
func (t *trip) aside(lines []string) {
	metadata := maps.Clone(t.result.Metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	before, _ := metadata[NotesKey].([]string)
	metadata[NotesKey] = append(before[:len(before):len(before)], lines...)
	t.result.Metadata = metadata
}
