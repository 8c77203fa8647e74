package args

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/tool"
)

// place is where the walk stands; nil is the arguments as a whole.
type place struct {
	up   *place
	step jsondoc.Step
}

func (p *place) key(key string) *place { return &place{p, jsondoc.Step{Key: key}} }
func (p *place) item(i int) *place     { return &place{p, jsondoc.Step{Index: i, Item: true}} }

// String writes the place as a model would: tasks[0].title.
func (p *place) String() string {
	var steps []jsondoc.Step
	for ; p != nil; p = p.up {
		steps = append(steps, p.step)
	}
	for i, j := 0, len(steps)-1; i < j; i, j = i+1, j-1 {
		steps[i], steps[j] = steps[j], steps[i]
	}
	return pathString(steps)
}

// pathString writes a path, shortened to [tool.MaxEcho] bytes.
func pathString(steps []jsondoc.Step) string {
	if len(steps) == 0 {
		return "(arguments)"
	}
	var b strings.Builder
	for i, s := range steps {
		switch {
		case s.Item:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case !plainName(s.Key):
			b.WriteString("[" + name(s.Key) + "]")
		case i > 0:
			b.WriteString("." + s.Key)
		default:
			b.WriteString(s.Key)
		}
		if b.Len() > tool.MaxEcho {
			break
		}
	}
	return tool.Clip(b.String())
}

// plainName reports whether a name can stand in a path without quotes.
func plainName(s string) bool {
	odd := func(r rune) bool {
		letter := r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
		return !letter && r != '_' && r != '-' && r != '$'
	}
	return s != "" && len(s) <= tool.MaxEcho && strings.IndexFunc(s, odd) < 0
}

// name quotes a name for a message. Whatever could break the line or hide in
// it is escaped.
func name(s string) string { return strconv.Quote(tool.Clip(s)) }
