package surface

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// object says how the properties of one closed object become the tool's.
type object struct {
	props map[string]property
	// always is appended to every object: the constants, ready to write.
	always []byte
	// defaults are added for absent properties, sorted by property.
	defaults []fallback
	identity bool
}

type property struct {
	to     string
	key    []byte // to, quoted and with its colon
	values map[string]json.RawMessage
	items  *object
}

type fallback struct {
	property string
	value    json.RawMessage
}

// buildObject makes the mapping of an object from its schema.
func buildObject(node schemaNode, args map[string]wireArg, set map[string]json.RawMessage) (object, error) {
	o := object{props: make(map[string]property, len(node.Properties)), identity: len(set) == 0}
	if !node.isType("object") || !node.closed() {
		return o, errors.New(`the schema of an object that is mapped says "type": "object" and "additionalProperties": false`)
	}
	var problems []error
	for name := range args {
		if _, ok := node.Properties[name]; !ok {
			problems = append(problems, fmt.Errorf("args: %q is no property of the schema", tool.Clip(name)))
		}
	}
	from := map[string]string{} // target argument -> the property it comes from
	for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
		p, err := buildProperty(name, node.Properties[name], args[name])
		if err != nil {
			problems = append(problems, fmt.Errorf("property %q: %w", tool.Clip(name), err))
			continue
		}
		if other, taken := from[p.to]; taken {
			problems = append(problems, fmt.Errorf("properties %q and %q both become %q", other, name, p.to))
		}
		from[p.to] = name
		o.props[name] = p
		o.identity = o.identity && p.to == name && p.values == nil && p.items == nil
		if d := node.Properties[name].Default; d != nil {
			value, err := p.apply(d)
			if err != nil {
				problems = append(problems, fmt.Errorf("property %q: its default: %w", name, err))
			}
			o.defaults = append(o.defaults, fallback{name, value})
			o.identity = false
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if other, taken := from[name]; taken {
			problems = append(problems, fmt.Errorf("set: %q is what the property %q becomes", name, other))
		}
		o.always = append(append(o.always, ','), quoteKey(name)...)
		o.always = append(o.always, set[name]...)
	}
	return o, errors.Join(problems...)
}

func buildProperty(name string, node schemaNode, arg wireArg) (property, error) {
	p := property{to: arg.To, values: arg.Values}
	if p.to == "" {
		p.to = name
	}
	p.key = quoteKey(p.to)
	if arg.Values != nil {
		if err := checkValues(node.Enum, arg.Values); err != nil {
			return p, err
		}
	}
	if arg.Items != nil {
		if !node.isType("array") || node.Items == nil {
			return p, errors.New("items needs a schema of a list with items")
		}
		inner, err := buildObject(*node.Items, arg.Items, nil)
		if err != nil {
			return p, fmt.Errorf("items: %w", err)
		}
		if len(inner.defaults) > 0 {
			return p, errors.New("items: a default is applied to top-level properties only; leave it out")
		}
		p.items = &inner
	}
	return p, nil
}

// checkValues makes sure that a value map speaks of exactly the values that
// the schema admits.
func checkValues(enum []json.RawMessage, values map[string]json.RawMessage) error {
	if len(enum) == 0 {
		return errors.New("values needs a schema with an enum")
	}
	admitted := map[string]bool{}
	var problems []error
	for _, raw := range enum {
		word := valueWord(raw)
		admitted[word] = true
		if _, ok := values[word]; !ok {
			problems = append(problems, fmt.Errorf("values says nothing about %q", tool.Clip(word)))
		}
	}
	for _, word := range slices.Sorted(maps.Keys(values)) {
		if !admitted[word] {
			problems = append(problems, fmt.Errorf("values speaks of %q, which the enum does not have", tool.Clip(word)))
		}
	}
	return errors.Join(problems...)
}

// valueWord is how a value map spells a JSON value: a string without its
// quotes, anything else as JSON.
func valueWord(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return strings.TrimSpace(string(raw))
}

func quoteKey(name string) []byte {
	quoted, err := json.Marshal(name)
	if err != nil {
		panic("a string cannot be written as JSON: " + err.Error())
	}
	return append(quoted, ':')
}

// Map turns arguments that are valid against the surface's schema into those
// of the tool. Values, their order and the digits of their numbers stay as
// they are. It returns raw itself where nothing differs. An argument that it
// cannot place is an error, never dropped.
func (t *Tool) Map(raw json.RawMessage) (json.RawMessage, error) {
	if t.Schema == nil || t.object.identity {
		return raw, nil
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	mapped, err := t.object.apply(raw)
	if err != nil {
		return nil, tool.Invalidf("the arguments of %s do not fit: %w", t.Name, err)
	}
	return mapped, nil
}

// Renames yields each property of the schema with the tool's argument that
// it becomes. The properties inside a list are written as list[].property.
func (t *Tool) Renames() map[string]string {
	all := map[string]string{}
	t.object.renames("", "", all)
	return all
}

func (o object) renames(from, to string, all map[string]string) {
	for name, p := range o.props {
		all[from+name] = to + p.to
		if p.items != nil {
			p.items.renames(from+name+"[].", to+p.to+"[].", all)
		}
	}
}

func (o object) apply(raw json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if start, err := dec.Token(); err != nil {
		return nil, err
	} else if start != json.Delim('{') {
		return nil, errors.New("an object is expected")
	}
	out := make([]byte, 0, len(raw)+64)
	seen := make(map[string]bool, len(o.props))
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string) // a decoder yields nothing else between { and :
		p, ok := o.props[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("there is no argument %q", tool.Clip(name))
		case seen[name]:
			return nil, fmt.Errorf("the argument %q stands twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if value, err = p.apply(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(append(append(out, ','), p.key...), value...)
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("there is text after the object")
	}
	for _, d := range o.defaults {
		if !seen[d.property] {
			out = append(append(append(out, ','), o.props[d.property].key...), d.value...)
		}
	}
	return wrap(append(out, o.always...), '{', '}'), nil
}

func (p property) apply(value json.RawMessage) (json.RawMessage, error) {
	if p.values != nil {
		mapped, ok := p.values[valueWord(value)]
		if !ok {
			return nil, fmt.Errorf("%s is not one of the values", tool.Clip(string(value)))
		}
		return mapped, nil
	}
	if p.items == nil || p.items.identity {
		return value, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return nil, errors.New("a list is expected")
	}
	var out []byte
	for i, item := range list {
		mapped, err := p.items.apply(item)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		out = append(append(out, ','), mapped...)
	}
	return wrap(out, '[', ']'), nil
}

// wrap puts brackets around members that each begin with a comma.
func wrap(members []byte, open, shut byte) json.RawMessage {
	if len(members) == 0 {
		return json.RawMessage{open, shut}
	}
	members[0] = open
	return append(members, shut)
}
