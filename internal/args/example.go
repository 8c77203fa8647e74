package args

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
)

const (
	// maxExampleDepth is how deep an example goes; what a schema requires
	// beyond that has no small example.
	maxExampleDepth = 8
	// maxExampleItems is how many items an example gives a list.
	maxExampleItems = 8
	// maxExampleTries is how many branches of its unions are tried.
	maxExampleTries = 4
)

// Example returns a small call that is valid: the required arguments only,
// with values that the schema itself suggests where it does. It returns nil
// where none was found, as for a string that must match a pattern.
func (s *Schema) Example() json.RawMessage {
	budget := schema.NewBudget()
	for branch := range maxExampleTries {
		e := example{budget: budget, branch: branch}
		if n := e.value([]*schema.Schema{s.root}, "", 0); s.root.Accepts(&n, budget) {
			return n.JSON()
		}
	}
	return nil
}

// example builds a value. Of every union it takes the branch at the same
// place, or the last one.
type example struct {
	budget *schema.Budget
	branch int
}

// value builds a value for the property of that name to which all schemas of
// the list apply. It need not be valid; the caller judges.
func (e *example) value(list []*schema.Schema, name string, depth int) jsondoc.Node {
	null := jsondoc.Node{Kind: jsondoc.Null, Raw: "null"}
	view := expand(list, &null, e.choose, e.budget)
	for _, n := range suggestions(view) {
		if e.fits(list, &n) {
			return n
		}
	}
	kinds := kindsOf(view)
	if depth > maxExampleDepth || !e.budget.Spend(1) {
		return null
	}
	switch {
	case kinds.Has(jsondoc.Object) && kinds != jsondoc.Any:
		return e.object(view, depth)
	case kinds.Has(jsondoc.String):
		return e.text(list, view, name)
	case kinds.Has(jsondoc.Number):
		return e.number(list, view, kinds)
	case kinds.Has(jsondoc.Bool):
		return jsondoc.Node{Kind: jsondoc.Bool, Raw: "true"}
	case kinds.Has(jsondoc.Array):
		return e.array(view, depth)
	}
	return null
}

func (e *example) choose(branches []*schema.Schema, _ *jsondoc.Node) *schema.Schema {
	return branches[min(e.branch, len(branches)-1)]
}

func (e *example) fits(list []*schema.Schema, n *jsondoc.Node) bool {
	for _, s := range list {
		if !s.Accepts(n, e.budget) {
			return false
		}
	}
	return true
}

// suggestions returns the values that the schemas themselves give.
func suggestions(view []*schema.Schema) []jsondoc.Node {
	var list []jsondoc.Node
	for _, s := range view {
		list = append(list, s.Examples...)
		if s.Default != nil {
			list = append(list, *s.Default)
		}
		if values, listed := s.Literals(); listed && len(values) > 0 {
			list = append(list, values[0])
		}
	}
	return list
}

func (e *example) object(view []*schema.Schema, depth int) jsondoc.Node {
	n := jsondoc.Node{Kind: jsondoc.Object}
	for _, s := range view {
		for _, key := range s.Required {
			if n.Find(key) != nil {
				continue
			}
			var v jsondoc.Node
			if subs, _ := propertySchemas(view, key); subs != nil {
				v = e.value(subs, key, depth+1)
			} else {
				v = jsondoc.NewString("<" + key + ">")
			}
			n.Elems = append(n.Elems, jsondoc.Elem{Key: key, Node: v})
		}
	}
	return n
}

func (e *example) array(view []*schema.Schema, depth int) jsondoc.Node {
	n := jsondoc.Node{Kind: jsondoc.Array}
	least := 0
	for _, s := range view {
		if s.MinItems != nil {
			least = max(least, *s.MinItems)
		}
	}
	for i := range min(least, maxExampleItems) {
		var v jsondoc.Node
		if subs := itemSchemas(view, i); subs != nil {
			v = e.value(subs, "item"+strconv.Itoa(i+1), depth+1)
		} else {
			v = jsondoc.NewString("<item" + strconv.Itoa(i+1) + ">")
		}
		n.Elems = append(n.Elems, jsondoc.Elem{Node: v})
	}
	return n
}

// text finds a text that the schemas take: the name of the property as a
// placeholder, or one of a few everyday forms.
func (e *example) text(list, view []*schema.Schema, name string) jsondoc.Node {
	if name == "" {
		name = "text"
	}
	placeholder := "<" + name + ">"
	for _, s := range view {
		if s.MinLength != nil && len(placeholder) < *s.MinLength && *s.MinLength < 1000 {
			placeholder += strings.Repeat("x", *s.MinLength-len(placeholder))
		}
	}
	forms := []string{
		placeholder, "text", "a", "1", "abc", "https://example.com/", "a@example.com", "2024-01-31",
		"2024-01-31T12:00:00Z", "12:00:00", "00000000-0000-4000-8000-000000000000", "/path", "1.0.0", "",
	}
	for _, form := range forms {
		if n := jsondoc.NewString(form); e.fits(list, &n) {
			return n
		}
	}
	return jsondoc.NewString(placeholder)
}

// number finds a number that the schemas take, at or near their bounds.
func (e *example) number(list, view []*schema.Schema, kinds jsondoc.Kinds) jsondoc.Node {
	forms := []string{"1", "0"}
	for _, s := range view {
		for _, b := range []*schema.Number{s.Minimum, s.Maximum, s.MultipleOf} {
			if b != nil {
				forms = append(forms, b.Text)
			}
		}
		for _, b := range []*schema.Number{s.ExclusiveMinimum, s.ExclusiveMaximum} {
			if b == nil {
				continue
			}
			if whole, err := strconv.ParseInt(b.Text, 10, 32); err == nil {
				forms = append(forms, strconv.FormatInt(whole+1, 10), strconv.FormatInt(whole-1, 10))
			}
		}
	}
	if kinds.Has(jsondoc.Fraction) {
		forms = append(forms, "0.5")
	}
	for _, form := range forms {
		n, ok := jsondoc.ParseNumber(form)
		if plain, whole := n.Integer(); whole {
			n = plain
		}
		if ok && e.fits(list, &n) {
			return n
		}
	}
	return jsondoc.Node{Kind: jsondoc.Integer, Raw: "1"}
}
