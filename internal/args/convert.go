package args

import (
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
)

// convert turns a value of a kind that is not allowed into the one value of
// an allowed kind that it can mean.
func (r *repairer) convert(n *jsondoc.Node, list []*schema.Schema, kinds jsondoc.Kinds, at *place) {
	if kinds.Has(n.Kind) || kinds == 0 {
		return
	}
	if made, ok := fromText(n, kinds); ok {
		r.notes.add(at, "the text %s was read as %s", show(n), describeKind(&made))
		*n = made
		return
	}
	if kinds&^jsondoc.Null == jsondoc.Array && n.Kind != jsondoc.Null && !r.wrapping && !looksLikeJSON(n) {
		r.wrap(n, list, at)
	}
}

// fromText reads the text of a string as a value of one of the kinds.
func fromText(n *jsondoc.Node, kinds jsondoc.Kinds) (jsondoc.Node, bool) {
	if n.Kind != jsondoc.String {
		return jsondoc.Node{}, false
	}
	text := n.Text()
	switch {
	case looksLikeJSON(n):
		made, err := jsondoc.Parse(text)
		return made, err == nil && kinds.Has(made.Kind)
	case text == "null":
		return jsondoc.Node{Kind: jsondoc.Null, Raw: "null"}, kinds.Has(jsondoc.Null)
	case strings.EqualFold(text, "true"), strings.EqualFold(text, "false"):
		return jsondoc.Node{Kind: jsondoc.Bool, Raw: strings.ToLower(text)}, kinds.Has(jsondoc.Bool)
	}
	made, ok := jsondoc.ParseNumber(text)
	return made, ok && kinds.Has(made.Kind)
}

// looksLikeJSON reports whether a value is a text that begins as a JSON array
// or object does.
func looksLikeJSON(n *jsondoc.Node) bool {
	if n.Kind != jsondoc.String {
		return false
	}
	text := strings.TrimLeft(n.Text(), " \t\r\n")
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")
}

// spellInteger writes a number such as 3.0 with digits only where just an
// integer is allowed. JSON Schema takes it as it is, decoders do not.
func (r *repairer) spellInteger(n *jsondoc.Node, kinds jsondoc.Kinds, at *place) {
	if n.Kind != jsondoc.Integer || n.PlainInteger() || kinds.Has(jsondoc.Fraction) {
		return
	}
	if plain, ok := n.Integer(); ok {
		r.notes.add(at, "%s was written as %s", show(n), show(&plain))
		*n = plain
	}
}

// wrap puts a list around a value if the list is then valid.
func (r *repairer) wrap(n *jsondoc.Node, list []*schema.Schema, at *place) {
	attempt := jsondoc.Node{Kind: jsondoc.Array, Elems: []jsondoc.Elem{{Node: n.Clone()}}}
	inner := r.fork()
	inner.wrapping = true
	inner.value(&attempt, list, at)
	for _, s := range list {
		if !s.Accepts(&attempt, r.budget) {
			return
		}
	}
	r.notes.add(at, "the single value was put in a list")
	r.notes.take(inner.notes)
	r.conflicts = append(r.conflicts, inner.conflicts...)
	*n = attempt
}
