package surface

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// Show is the other way of [Tool.Map]: it turns arguments of the tool into
// those that the surface would have shown for them. It fails where the
// surface has no way to say them. What it returns is given back by Map with
// the same meaning.
func (t *Tool) Show(raw json.RawMessage) (json.RawMessage, error) {
	if t.Schema == nil || t.object.identity {
		return raw, nil
	}
	doc, err := jsondoc.Parse(string(raw))
	if err == nil {
		err = t.object.show(&doc)
	}
	if err != nil {
		return nil, fmt.Errorf("showing the arguments of %s: %w", t.Name, err)
	}
	return doc.JSON(), nil
}

// show changes an object of the tool's into the surface's in place.
func (o *object) show(doc *jsondoc.Node) error {
	if doc.Kind != jsondoc.Object {
		return fmt.Errorf("an object is expected, not %s", doc.Kind)
	}
	for i := range o.set {
		at := doc.Find(o.set[i].Key)
		if at == nil || at.Canonical() != o.set[i].Canonical() {
			return fmt.Errorf("%s has another value", o.set[i].Key)
		}
	}
	doc.Elems = slices.DeleteFunc(doc.Elems, func(e jsondoc.Elem) bool {
		return slices.ContainsFunc(o.set, func(s jsondoc.Elem) bool { return s.Key == e.Key })
	})
	for i := range doc.Elems {
		e := &doc.Elems[i]
		name, p, ok := o.shows(e.Key)
		if !ok {
			return fmt.Errorf("there is no argument for %s", e.Key)
		}
		if err := p.show(&e.Node); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		e.Key = name
	}
	return nil
}

// shows returns the property that becomes an argument of the tool.
func (o *object) shows(argument string) (name string, p property, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(o.props)) {
		if p := o.props[name]; p.to == argument {
			return name, p, true
		}
	}
	return "", property{}, false
}

func (p *property) show(value *jsondoc.Node) error {
	if p.wrap {
		if value.Kind != jsondoc.Array || len(value.Elems) != 1 {
			return errors.New("one value is expected")
		}
		*value = value.Elems[0].Node
	}
	if p.values != nil {
		return p.showWord(value)
	}
	if p.items == nil || p.items.identity {
		return nil
	}
	if value.Kind != jsondoc.Array {
		return fmt.Errorf("a list is expected, not %s", value.Kind)
	}
	for i := range value.Elems {
		if err := p.items.show(&value.Elems[i].Node); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

// showWord finds the word that stands for a value. Words of an enum are
// strings here, as those of every surface are.
func (p *property) showWord(value *jsondoc.Node) error {
	for _, word := range slices.Sorted(maps.Keys(p.values)) {
		if mapped := p.values[word]; mapped.Canonical() == value.Canonical() {
			*value = jsondoc.NewString(word)
			return nil
		}
	}
	return errors.New("there is no word for it")
}
