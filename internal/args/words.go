package args

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/tool"
)

// maxShown is how much of a value a message shows, in bytes.
const maxShown = 60

// show writes a value as JSON, shortened, on one line, made
// printable.
func show(n *jsondoc.Node) string {
	var b strings.Builder
	size := preview(&b, n)
	text := b.String()
	if size > maxShown {
		text = tool.ClipText(text, maxShown)
		if n.Kind == jsondoc.String {
			text += fmt.Sprintf(`" (%d bytes)`, size)
		}
	}
	return printable(text)
}

// printable puts a question mark for everything that could break a line or
// hide in it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

// preview writes the beginning of a value and returns a size that is over
// [maxShown] where that is not all of it.
func preview(b *strings.Builder, n *jsondoc.Node) (size int) {
	if n.Kind != jsondoc.Array && n.Kind != jsondoc.Object {
		raw := n.Raw
		if len(raw) > 2*maxShown {
			b.WriteString(raw[:2*maxShown])
		} else {
			b.WriteString(raw)
		}
		return len(raw)
	}
	brackets := "[]"
	if n.Kind == jsondoc.Object {
		brackets = "{}"
	}
	start := b.Len()
	b.WriteString(brackets[:1])
	for i := range n.Elems {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len()-start > maxShown {
			return b.Len() - start
		}
		if n.Kind == jsondoc.Object {
			key := jsondoc.NewString(tool.Clip(n.Elems[i].Key))
			b.WriteString(key.Raw + ": ")
		}
		preview(b, &n.Elems[i].Node)
	}
	b.WriteString(brackets[1:])
	return b.Len() - start
}

// describe names the kind of a value and shows it: string "3px".
func describe(n *jsondoc.Node) string {
	if n.Kind == jsondoc.Null {
		return "null"
	}
	return n.Kind.String() + " " + show(n)
}

// describeKind is describe for what a text turned out to be, where the text
// itself was shown already.
func describeKind(n *jsondoc.Node) string {
	switch n.Kind {
	case jsondoc.Array:
		return "an array"
	case jsondoc.Object:
		return "an object"
	case jsondoc.Null:
		return "null"
	}
	return n.Kind.String() + " " + show(n)
}

// maxListed is how many values or names a message lists.
const maxListed = 30

// listValues lists the values of an enum.
func listValues(values []jsondoc.Node) string {
	var list []string
	for i := range values {
		if i == maxListed {
			list = append(list, fmt.Sprintf("… and %d more", len(values)-i))
			break
		}
		list = append(list, show(&values[i]))
	}
	return strings.Join(list, ", ")
}

// typeName says what a schema wants, in few words: "array of strings",
// `one of "a", "b"`.
func typeName(s *schema.Schema) string {
	if values, listed := s.Literals(); listed && len(values) > 0 {
		if len(values) == 1 {
			return show(&values[0])
		}
		return "one of " + listValues(values)
	}
	kinds := s.Kinds()
	switch {
	case kinds == jsondoc.Any:
		return "any value"
	case kinds == 0:
		return "no value"
	case kinds&^jsondoc.Null != jsondoc.Array:
		return kinds.String()
	}
	words := "array"
	for _, v := range static(s) {
		if v.Items != nil && v.Items.Kinds() != jsondoc.Any && v.Items.Kinds() != 0 {
			words = "array of " + strings.Join(plurals(v.Items.Kinds()), " or ")
			break
		}
	}
	if kinds.Has(jsondoc.Null) {
		words += " or null"
	}
	return words
}

func plurals(kinds jsondoc.Kinds) []string {
	var words []string
	for _, word := range kinds.Names() {
		if word != "null" {
			word += "s"
		}
		words = append(words, word)
	}
	return words
}

// maxDescription is how much of a description a message repeats, in bytes.
const maxDescription = 120

// wanted says what a missing property would be: its type and what it is for.
func wanted(s *schema.Schema) string {
	if s == nil {
		return "any value"
	}
	words := typeName(s)
	for _, v := range static(s) {
		if v.Description != "" {
			line, _, _ := strings.Cut(strings.TrimSpace(v.Description), "\n")
			return words + ": " + printable(tool.ClipText(line, maxDescription))
		}
	}
	return words
}

// nameList lists the properties of a view with their types.
func nameList(view []*schema.Schema) string {
	var list []string
	names := propertyNames(view)
	for i, n := range names {
		if i == maxListed {
			list = append(list, fmt.Sprintf("… and %d more", len(names)-i))
			break
		}
		words := "any value"
		if subs, _ := propertySchemas(view, n); len(subs) > 0 {
			words = typeName(subs[0])
		}
		if requires(view, n) {
			words += ", required"
		}
		if !plainName(n) {
			n = name(n)
		}
		list = append(list, n+" ("+tool.ClipText(words, maxDescription)+")")
	}
	return strings.Join(list, ", ")
}

// validNames lists the arguments of the tool.
func (s *Schema) validNames() string {
	if list := nameList(static(s.root)); list != "" {
		return "Valid arguments: " + list
	}
	return ""
}
