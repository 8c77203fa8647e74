package store

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/tool"
)

// Event says what became of one call. It holds no arguments and no text of a
// result, only what tells them apart: the log is kept longer than they are.
type Event struct {
	Time    time.Time `json:"time"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"`
	// Tool is the canonical name, or "" where there is no such tool; Asked
	// is the name that the caller used.
	Tool   string      `json:"tool,omitempty"`
	Asked  string      `json:"asked,omitempty"`
	Origin tool.Origin `json:"origin,omitzero"`
	OK     bool        `json:"ok"`
	Code   tool.Code   `json:"code,omitempty"`
	// Reason is why it was refused or failed, and Rule what decided.
	Reason string `json:"reason,omitempty"`
	Rule   string `json:"rule,omitempty"`
	// ArgsSum is the SHA-256 of the arguments, in hexadecimal.
	ArgsSum string `json:"args_sum,omitempty"`
	// Result is the id under which the ledger keeps the result.
	Result string `json:"result,omitempty"`
	// Changed are the files that the call changed.
	Changed []string `json:"changed,omitempty"`
	// Omitted is how many bytes of the text were not shown.
	Omitted int `json:"omitted,omitempty"`
	// Repairs says what was mended in the arguments.
	Repairs []string `json:"repairs,omitempty"`
	// Redacted is how many secrets were replaced in the text.
	Redacted int           `json:"redacted,omitempty"`
	Duration time.Duration `json:"duration_ns,omitempty"`
	// Clipped says that a field was too long and is not whole.
	Clipped bool `json:"clipped,omitempty"`
}

const (
	// maxField bounds one text of an event and maxList the number of files
	// and repairs, so that a line stays under maxLine.
	maxField = 1024
	maxList  = 64

	// maxLine bounds a line of the log in bytes. Each is written with one
	// write; a longer one would still be whole, but slow to pass over.
	maxLine = 64 << 10
)

// appendEvent appends e as a line of JSON. It is written by hand because an
// event is recorded for every call, and this takes a quarter of the time that
// reflection does and no memory.
func appendEvent(b []byte, e *Event) []byte {
	start := len(b)
	w := eventWriter{b: append(b, `{"time":"`...), clipped: e.Clipped}
	w.b = e.Time.UTC().AppendFormat(w.b, time.RFC3339Nano)
	w.b = append(w.b, '"')
	w.text("session", e.Session)
	w.text("call", e.Call)
	w.text("tool", e.Tool)
	w.text("asked", e.Asked)
	w.origin(e.Origin)
	w.b = strconv.AppendBool(append(w.b, `,"ok":`...), e.OK)
	w.text("code", string(e.Code))
	w.text("reason", e.Reason)
	w.text("rule", e.Rule)
	w.text("args_sum", e.ArgsSum)
	w.text("result", e.Result)
	// The fields before are bounded; the lists share what is left.
	room := (maxLine - (len(w.b) - start) - 256) / 2
	w.list("changed", e.Changed, room)
	w.number("omitted", int64(e.Omitted))
	w.list("repairs", e.Repairs, room)
	w.number("redacted", int64(e.Redacted))
	w.number("duration_ns", int64(e.Duration))
	if w.clipped {
		w.b = append(w.b, `,"clipped":true`...)
	}
	return append(w.b, "}\n"...)
}

type eventWriter struct {
	b       []byte
	clipped bool
}

func (w *eventWriter) key(name string) {
	w.b = append(w.b, ',', '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

func (w *eventWriter) text(name, value string) {
	if value != "" {
		w.key(name)
		w.quote(value)
	}
}

func (w *eventWriter) number(name string, n int64) {
	if n != 0 {
		w.key(name)
		w.b = strconv.AppendInt(w.b, n, 10)
	}
}

func (w *eventWriter) origin(o tool.Origin) {
	if o == (tool.Origin{}) {
		return
	}
	w.b = append(w.b, `,"origin":{`...)
	start := len(w.b)
	w.text("kind", string(o.Kind))
	w.text("name", o.Name)
	w.number("depth", int64(o.Depth))
	w.b = append(w.b[:start], w.b[start+1:]...) // the first comma
	w.b = append(w.b, '}')
}

// list writes as many of the texts as fit into the room.
func (w *eventWriter) list(name string, texts []string, room int) {
	if len(texts) == 0 {
		return
	}
	w.key(name)
	w.b = append(w.b, '[')
	start := len(w.b)
	for i, s := range texts {
		before := len(w.b)
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.quote(s)
		if i == maxList || len(w.b)-start > room {
			w.b = w.b[:before]
			w.clipped = true
			break
		}
	}
	w.b = append(w.b, ']')
}

// quote writes s as a JSON string, up to [maxField] bytes of it.
func (w *eventWriter) quote(s string) {
	if len(s) > maxField {
		s = tool.ClipText(s, maxField)
		w.clipped = true
	}
	const hex = "0123456789abcdef"
	w.b = append(w.b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			w.b = append(w.b, '\\', c)
		case c < 0x20:
			w.b = append(w.b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			w.b = append(w.b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			w.b = utf8.AppendRune(w.b, r)
			i += size
			continue
		}
		i++
	}
	w.b = append(w.b, '"')
}
