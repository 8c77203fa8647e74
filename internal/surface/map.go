package surface

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/tool"
)

// object says how the properties of one closed object become the tool's.
type object struct {
	props map[string]property
	// defaults are added where their property is absent, by property.
	defaults []jsondoc.Elem
	// set is added always, sorted by the tool's argument.
	set []jsondoc.Elem
	// identity says that nothing changes.
	identity bool
}

type property struct {
	to     string
	wrap   bool                    // the value becomes the one item of a list
	values map[string]jsondoc.Node // by valueWord; nil: values stay
	items  *object                 // nil: items stay
}

// Map turns arguments that are valid against the surface's schema into those
// of the tool. Values, their order and the digits of their numbers stay as
// they are. It returns raw itself where nothing differs. An argument that it
// cannot place is an error, never dropped. Errors are [*tool.Error].
func (t *Tool) Map(raw json.RawMessage) (json.RawMessage, error) {
	if t.Schema == nil || t.object.identity {
		return raw, nil
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	doc, err := jsondoc.Parse(string(raw))
	if err == nil {
		err = t.object.apply(&doc)
	}
	if err != nil {
		return nil, tool.Invalidf("the arguments of %s do not fit: %w", t.Name, err)
	}
	return doc.JSON(), nil
}

// Renames returns the tool's argument that each property of the schema
// becomes. Those inside a list are written as list[].property.
func (t *Tool) Renames() map[string]string {
	all := map[string]string{}
	t.object.renames("", "", all)
	return all
}

func (o *object) renames(from, to string, all map[string]string) {
	for name, p := range o.props {
		all[from+name] = to + p.to
		if p.items != nil {
			p.items.renames(from+name+"[].", to+p.to+"[].", all)
		}
	}
}

// Wraps reports whether the value of a top-level property becomes the one
// item of a list.
func (t *Tool) Wraps(property string) bool { return t.object.props[property].wrap }

// Sets returns the arguments of the tool that always have one value.
func (t *Tool) Sets() []string {
	var names []string
	for _, e := range t.object.set {
		names = append(names, e.Key)
	}
	return names
}

// apply changes an object into the tool's in place.
func (o *object) apply(doc *jsondoc.Node) error {
	if doc.Kind != jsondoc.Object {
		return fmt.Errorf("an object is expected, not %s", doc.Kind)
	}
	var absent []jsondoc.Elem
	for _, d := range o.defaults {
		if doc.Find(d.Key) == nil {
			absent = append(absent, jsondoc.Elem{Key: o.props[d.Key].to, Node: d.Node.Clone()})
		}
	}
	for i := range doc.Elems {
		e := &doc.Elems[i]
		p, ok := o.props[e.Key]
		if !ok {
			return fmt.Errorf("there is no argument %q", tool.Clip(e.Key))
		}
		if err := p.apply(&e.Node); err != nil {
			return fmt.Errorf("%s: %w", e.Key, err)
		}
		e.Key = p.to
	}
	doc.Elems = append(doc.Elems, absent...)
	for i := range o.set {
		doc.Elems = append(doc.Elems, jsondoc.Elem{Key: o.set[i].Key, Node: o.set[i].Clone()})
	}
	return nil
}

func (p *property) apply(value *jsondoc.Node) error {
	if err := p.convert(value); err != nil {
		return err
	}
	if p.wrap {
		*value = jsondoc.Node{Kind: jsondoc.Array, Elems: []jsondoc.Elem{{Node: *value}}}
	}
	return nil
}

// convert changes a value by its word or item by item.
func (p *property) convert(value *jsondoc.Node) error {
	if p.values != nil {
		mapped, ok := p.values[valueWord(value)]
		if !ok {
			return fmt.Errorf("%s is not one of the values", tool.Clip(string(value.JSON())))
		}
		*value = mapped.Clone()
		return nil
	}
	if p.items == nil || p.items.identity {
		return nil
	}
	if value.Kind != jsondoc.Array {
		return fmt.Errorf("a list is expected, not %s", value.Kind)
	}
	for i := range value.Elems {
		if err := p.items.apply(&value.Elems[i].Node); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

// valueWord is how a value map spells a value: a string without its quotes,
// anything else in the one form that equal values share.
func valueWord(value *jsondoc.Node) string {
	if value.Kind == jsondoc.String {
		return value.Text()
	}
	return value.Canonical()
}
