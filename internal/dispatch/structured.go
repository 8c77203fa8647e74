package dispatch

import (
	"encoding/json"
	"fmt"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
)

// boundStructured holds the structured part of a result to what holds for
// its text: secrets are replaced and its size is bounded. It must be what the
// tool has declared; what is not is left out, since a client would refuse the
// whole answer for it.
func (t *trip) boundStructured() {
	r := t.result
	if r.Structured == nil {
		return
	}
	kept, why := t.fitStructured(r.Structured)
	if why != "" {
		t.notes = append(t.notes, "[the structured result was left out: "+why+"]")
	}
	r.Structured = kept
}

func (t *trip) fitStructured(raw json.RawMessage) (kept json.RawMessage, why string) {
	declared := t.resolved.Entry.Output
	if declared == nil {
		return nil, t.spec.Name + " declares none"
	}
	if limit := t.spec.OutputLimit(); len(raw) > limit {
		return nil, fmt.Sprintf("it has %d bytes, and at most %d are taken", len(raw), limit)
	}
	text, _ := t.d.Redactor.Redact(string(raw))
	node, err := jsondoc.Parse(text)
	switch {
	case err != nil:
		return nil, "it is not valid JSON"
	case !declared.Accepts(&node, schema.NewBudget()):
		return nil, "it is not what " + t.spec.Name + " declares"
	}
	return json.RawMessage(text), ""
}
