package surface

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/tool"
)

// buildObject makes the mapping of an object from its schema.
func buildObject(schema *jsondoc.Node, args map[string]wireArg, set map[string]json.RawMessage) (object, error) {
	o := object{props: map[string]property{}, identity: len(set) == 0}
	if !isType(schema, "object") || !isClosed(schema) {
		return o, errors.New(`the schema of an object that is mapped says "type": "object" and "additionalProperties": false`)
	}
	var problems []error
	properties := schema.Find("properties")
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if properties == nil || properties.Find(name) == nil {
			problems = append(problems, fmt.Errorf("args: %q is no property of the schema", tool.Clip(name)))
		}
	}
	from := map[string]string{} // the tool's argument -> the property that becomes it
	if properties != nil {
		for i := range properties.Elems {
			name, schema := properties.Elems[i].Key, &properties.Elems[i].Node
			if err := o.addProperty(name, schema, args[name], from); err != nil {
				problems = append(problems, fmt.Errorf("property %q: %w", tool.Clip(name), err))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if other, taken := from[name]; taken {
			problems = append(problems, fmt.Errorf("set: %q is what the property %q becomes", tool.Clip(name), tool.Clip(other)))
		}
		value, err := jsondoc.Parse(string(set[name]))
		if err != nil {
			problems = append(problems, fmt.Errorf("set: %q: %w", tool.Clip(name), err))
		}
		o.set = append(o.set, jsondoc.Elem{Key: name, Node: value})
	}
	return o, errors.Join(problems...)
}

// addProperty adds the mapping of one property. from has the properties that
// the tool's arguments come from so far.
func (o *object) addProperty(name string, schema *jsondoc.Node, arg wireArg, from map[string]string) error {
	p := property{to: arg.To, wrap: arg.Wrap}
	if p.to == "" {
		p.to = name
	}
	if other, taken := from[p.to]; taken {
		return fmt.Errorf("it becomes %q, as %q does", p.to, other)
	}
	from[p.to] = name
	if err := p.build(schema, arg); err != nil {
		return err
	}
	o.props[name] = p
	o.identity = o.identity && p.to == name && !p.wrap && p.values == nil && p.items == nil
	if d := schema.Find("default"); d != nil {
		value := d.Clone()
		if err := p.apply(&value); err != nil {
			return fmt.Errorf("its default: %w", err)
		}
		o.defaults = append(o.defaults, jsondoc.Elem{Key: name, Node: value})
		o.identity = false
	}
	return nil
}

func (p *property) build(schema *jsondoc.Node, arg wireArg) error {
	if arg.Values != nil {
		if arg.Items != nil {
			return errors.New("values and items do not go together")
		}
		return p.buildValues(schema.Find("enum"), arg.Values)
	}
	if arg.Items == nil {
		return nil
	}
	if arg.Wrap {
		return errors.New("wrap and items do not go together")
	}
	items := schema.Find("items")
	if !isType(schema, "array") || items == nil {
		return errors.New("items needs the schema of a list that says what its items are")
	}
	inner, err := buildObject(items, arg.Items, nil)
	if err != nil {
		return fmt.Errorf("items: %w", err)
	}
	if len(inner.defaults) > 0 {
		return errors.New("items: a default takes effect in a top-level property only; leave it out")
	}
	p.items = &inner
	return nil
}

// buildValues makes sure that a value map speaks of exactly the values that
// the schema admits.
func (p *property) buildValues(enum *jsondoc.Node, values map[string]json.RawMessage) error {
	if enum == nil || enum.Kind != jsondoc.Array {
		return errors.New("values needs a schema with an enum")
	}
	p.values = make(map[string]jsondoc.Node, len(values))
	var problems []error
	for i := range enum.Elems {
		word := valueWord(&enum.Elems[i].Node)
		if _, twice := p.values[word]; twice {
			problems = append(problems, fmt.Errorf("the enum has two values that are spelt %q", tool.Clip(word)))
		}
		raw, ok := values[word]
		if !ok {
			problems = append(problems, fmt.Errorf("values says nothing about %q", tool.Clip(word)))
			continue
		}
		value, err := jsondoc.Parse(string(raw))
		if err != nil {
			problems = append(problems, fmt.Errorf("values: %q: %w", tool.Clip(word), err))
		}
		p.values[word] = value
	}
	for _, word := range slices.Sorted(maps.Keys(values)) {
		if _, ok := p.values[word]; !ok {
			problems = append(problems, fmt.Errorf("values speaks of %q, which the enum does not have", tool.Clip(word)))
		}
	}
	return errors.Join(problems...)
}

func isType(schema *jsondoc.Node, name string) bool {
	t := schema.Find("type")
	return t != nil && t.Text() == name
}

// isClosed reports whether an object schema names every property that may
// occur.
func isClosed(schema *jsondoc.Node) bool {
	more := schema.Find("additionalProperties")
	return more != nil && more.Kind == jsondoc.Bool && !more.True()
}
