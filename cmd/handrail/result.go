package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// resultJSON is a result as `call --json` and `batch` print it. Scripts read
// it, so a key is never renamed; the ones up to duration_ms are always there.
type resultJSON struct {
	ID           string         `json:"id,omitempty"`
	Tool         string         `json:"tool"`
	OK           bool           `json:"ok"`
	Code         tool.Code      `json:"code"`
	Text         string         `json:"text"`
	ResultID     string         `json:"result_id"`
	ChangedFiles []string       `json:"changed_files"`
	OmittedBytes int            `json:"omitted_bytes"`
	Metadata     map[string]any `json:"metadata"`
	DurationMS   float64        `json:"duration_ms"`

	Structured json.RawMessage `json:"structured,omitempty"`
	Repairs    []string        `json:"repairs,omitempty"`
	Media      []savedMedia    `json:"media,omitempty"`
	Deliver    []string        `json:"deliver,omitempty"`
}

// newResultJSON describes r, a call to the tool of that name. Lists and maps
// are never null, so that a script can walk them unasked.
func newResultJSON(id, name string, r *tool.Result, media []savedMedia) resultJSON {
	out := resultJSON{
		ID: id, Tool: name, OK: r.OK, Code: r.Code, Text: r.Text, ResultID: r.ID,
		ChangedFiles: r.Changed, OmittedBytes: r.Omitted, Metadata: r.Metadata,
		DurationMS: math.Round(float64(r.Duration)/float64(time.Microsecond)) / 1000,
		Structured: r.Structured, Repairs: r.Repairs, Media: media, Deliver: r.Deliver,
	}
	if out.ChangedFiles == nil {
		out.ChangedFiles = []string{}
	}
	if out.Metadata == nil {
		out.Metadata = map[string]any{}
	}
	return out
}

// printJSON writes v on one line, as it is, without escapes for HTML.
func (t *terminal) printJSON(v any) error {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	return failure(enc.Encode(v))
}

// printResult writes a result for a person: what it says to standard output,
// or to standard error where the call failed, and on a terminal one faint
// line about the rest.
func (t *terminal) printResult(name string, r *tool.Result, media []savedMedia) {
	switch {
	case r.OK && showsDiff[name]:
		t.printDiff(r.Text)
	case r.OK:
		t.printText(r.Text)
	default:
		t.complain("%s: %s: %s", visible(name), r.Code, strings.TrimSuffix(visible(r.Text), "\n"))
	}
	for _, m := range media {
		fmt.Fprintln(t.out, m.String())
	}
	if !t.errTTY {
		return
	}
	notes := []string{r.Duration.Round(time.Microsecond).String()}
	if len(r.Changed) > 0 {
		notes = append([]string{"changed " + visible(oneLine(strings.Join(r.Changed, ", ")))}, notes...)
	}
	if r.ID != "" {
		notes = append(notes, "handrail recall "+r.ID)
	}
	for _, repair := range r.Repairs { // which quotes the names that the model chose
		notes = append(notes, visible(oneLine(repair)))
	}
	fmt.Fprintln(t.err, t.faint(strings.Join(notes, " · ")))
}

// names remembers the canonical name of each call's tool; a result does not
// carry it.
type names struct {
	mu sync.Mutex
	of map[string]string
}

// observe is called from many goroutines.
func (n *names) observe(e handrail.Event) {
	if e.Phase != handrail.PhaseFinished || e.Tool == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[string]string{}
	}
	n.of[e.CallID] = e.Tool
}

// name returns the canonical name for a call, or the name that was asked for
// where no tool has it.
func (n *names) name(callID, asked string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name, ok := n.of[callID]; ok {
		return name
	}
	return asked
}
