package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// InferSchema returns the JSON Schema of In, which is a struct (or a map
// with string keys). A field's name comes from its json tag. A field is
// required unless that tag says omitempty or omitzero, or it has a default.
// Further tags, each on its own:
//
//	jsonschema:"…"   the description for the model
//	enum:"a|b"       the values that are allowed
//	min:"1" max:"9"  the range of a number, the length of a string, or the
//	                 number of items
//	pattern:"^x"     a regular expression that a string must match
//	default:"10"     the value that an absent argument takes; JSON, or plain
//	                 text for a string; only at the top level, since a
//	                 nested struct that is absent has no fields to fill
//
// Unknown properties are refused, and no property accepts null.
func InferSchema[In any]() (json.RawMessage, error) {
	t := reflect.TypeFor[In]()
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{})
	if err != nil {
		return nil, fmt.Errorf("inferring the schema of %s: %w", t, err)
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("inferring the schema of %s: arguments are a struct or a map, not %s", t, s.Type)
	}
	if err := refine(s, t, true); err != nil {
		return nil, fmt.Errorf("inferring the schema of %s: %w", t, err)
	}
	return json.Marshal(s)
}

// refine lays the tags that jsonschema-go does not know over s, for t and
// all that is inside it.
func refine(s *jsonschema.Schema, t reflect.Type, top bool) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	dropNull(s)
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		for _, inner := range []*jsonschema.Schema{s.Items, s.AdditionalProperties} {
			if inner != nil && inner.Not == nil {
				if err := refine(inner, t.Elem(), false); err != nil {
					return err
				}
			}
		}
	case reflect.Struct:
		return refineStruct(s, t, top)
	}
	return nil
}

func refineStruct(s *jsonschema.Schema, t reflect.Type, top bool) error {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		p := s.Properties[name]
		if p == nil || f.Anonymous {
			continue
		}
		if err := refine(p, f.Type, false); err != nil {
			return err
		}
		if err := applyTags(p, f.Tag); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if p.Default != nil {
			if !top {
				return fmt.Errorf("field %s: a default inside a nested struct is not applied; state it at the top level", f.Name)
			}
			s.Required = remove(s.Required, name)
		}
	}
	return nil
}

// dropNull removes null from a list of types: several model families fill
// in null for everything that allows it.
func dropNull(s *jsonschema.Schema) {
	if kept := remove(s.Types, "null"); len(s.Types) > 0 && len(kept) == 1 {
		s.Type, s.Types = kept[0], nil
	} else {
		s.Types = kept
	}
}

func remove(list []string, drop string) []string {
	var kept []string
	for _, s := range list {
		if s != drop {
			kept = append(kept, s)
		}
	}
	return kept
}

func applyTags(s *jsonschema.Schema, tag reflect.StructTag) error {
	if v, ok := tag.Lookup("enum"); ok {
		for word := range strings.SplitSeq(v, "|") {
			value, err := tagValue(s.Type, word)
			if err != nil {
				return fmt.Errorf("enum: %w", err)
			}
			s.Enum = append(s.Enum, value)
		}
	}
	if v, ok := tag.Lookup("pattern"); ok {
		s.Pattern = v
	}
	if v, ok := tag.Lookup("default"); ok {
		value, err := tagValue(s.Type, v)
		if err != nil {
			return fmt.Errorf("default: %w", err)
		}
		if s.Default, err = json.Marshal(value); err != nil {
			return fmt.Errorf("default: %w", err)
		}
	}
	if err := applyBound(s, tag, "min", &s.Minimum, &s.MinLength, &s.MinItems); err != nil {
		return err
	}
	return applyBound(s, tag, "max", &s.Maximum, &s.MaxLength, &s.MaxItems)
}

// applyBound puts a min or max tag where it belongs for the schema's type.
func applyBound(s *jsonschema.Schema, tag reflect.StructTag, key string, number **float64, length, items **int) error {
	v, ok := tag.Lookup(key)
	if !ok {
		return nil
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	whole := int(n)
	switch s.Type {
	case "number", "integer":
		*number = &n
	case "string":
		*length = &whole
	case "array":
		*items = &whole
	default:
		return fmt.Errorf("%s does not apply to a schema of type %q", key, s.Type)
	}
	return nil
}

// tagValue reads a value of a tag as the schema's type.
func tagValue(typ, text string) (any, error) {
	if typ == "string" {
		return text, nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("%q is not a JSON value of type %s", text, typ)
	}
	return v, nil
}

// schemaDefaults returns an object of the defaults that the schema's own
// properties state, or nil where there is none.
func schemaDefaults(schema json.RawMessage) (json.RawMessage, error) {
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	defaults := map[string]json.RawMessage{}
	for name, raw := range root.Properties {
		var p struct {
			Default json.RawMessage `json:"default"`
		}
		if json.Unmarshal(raw, &p) == nil && p.Default != nil { // a boolean schema has none
			defaults[name] = p.Default
		}
	}
	if len(defaults) == 0 {
		return nil, nil
	}
	return json.Marshal(defaults)
}
