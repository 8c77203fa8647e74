// Package keyvalue turns the words that a person types on a command line,
// key=value, into the JSON object that a tool takes.
//
//	path=go.mod              a value of the type that the schema gives the key
//	paths=a paths=b          a list, one item for each word
//	range.start=3            a key inside an object
//	edits.0.old=x            a key inside an item of a list
//	range:={"start":3}       a value that is JSON as it stands
//
// It guesses nothing: a value that does not fit its type, and a key that the
// schema does not know, go on as strings, so that the journey of the call
// reports them together with everything else that is wrong.
package keyvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/tool"
)

// maxDepth is how many parts a key may have. No schema of a tool nests
// deeper by hand.
const maxDepth = 16

// Parse returns the JSON object that words describe, typed by schema, with
// the keys in the order in which they first appear. All words that cannot be
// read are reported at once.
func Parse(schema json.RawMessage, words []string) (json.RawMessage, error) {
	root := &value{schema: parseSchema(schema), kind: object}
	var problems []error
	for _, word := range words {
		if err := root.add(word); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	var b bytes.Buffer
	root.write(&b)
	return b.Bytes(), nil
}

type kind int

const (
	unset kind = iota
	scalar
	object
	list
)

// value is a JSON value that is being put together.
type value struct {
	schema *schema
	kind   kind
	raw    json.RawMessage
	keys   []string
	fields map[string]*value
	items  []*value
}

func (v *value) add(word string) error {
	if !utf8.ValidString(word) {
		return fmt.Errorf("%q is not UTF-8, and JSON can carry nothing else", tool.Clip(word))
	}
	key, text, found := strings.Cut(word, "=")
	if !found || key == "" || key == ":" {
		return fmt.Errorf("%q is not key=value; a whole object goes into one JSON argument, or - reads it from standard input", tool.Clip(word))
	}
	key, isJSON := strings.CutSuffix(key, ":")
	at, err := v.find(key)
	if err != nil {
		return err
	}
	if isJSON {
		if !json.Valid([]byte(text)) {
			return fmt.Errorf("%s:= needs JSON, and %q is none", tool.Clip(key), tool.Clip(text))
		}
		return at.set(key, json.RawMessage(text))
	}
	if at.schema.is("array") {
		return at.appendText(key, text)
	}
	if at.schema.is("object") && !at.schema.is("string") {
		return fmt.Errorf("%s is an object; write %s.KEY=VALUE or %s:=JSON", key, key, key)
	}
	return at.set(key, at.schema.encode(text))
}

// find returns the value that a dotted key names. A property whose own name
// has a dot wins over the dotted reading.
func (v *value) find(key string) (*value, error) {
	if v.schema.property(key) != nil {
		return v.child(key)
	}
	parts := strings.Split(key, ".")
	if len(parts) > maxDepth {
		return nil, fmt.Errorf("the key %q has more than %d parts", tool.Clip(key), maxDepth)
	}
	at := v
	for _, part := range parts {
		if part == "" {
			return nil, fmt.Errorf("the key %q has an empty part", tool.Clip(key))
		}
		next, err := at.child(part)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tool.Clip(key), err)
		}
		at = next
	}
	return at, nil
}

// child returns the part of v of that name, making it where it is missing.
func (v *value) child(part string) (*value, error) {
	if v.schema.is("array") || v.kind == list {
		return v.item(part)
	}
	if v.kind == scalar {
		return nil, fmt.Errorf("%q is inside something that has a value already", part)
	}
	v.kind = object
	if at, ok := v.fields[part]; ok {
		return at, nil
	}
	at := &value{schema: v.schema.property(part)}
	if v.fields == nil {
		v.fields = map[string]*value{}
	}
	v.fields[part] = at
	v.keys = append(v.keys, part)
	return at, nil
}

func (v *value) item(part string) (*value, error) {
	i, err := strconv.Atoi(part)
	if err != nil || i < 0 || i > len(v.items) {
		return nil, fmt.Errorf("%q is not the number of an item; the next one is %d", part, len(v.items))
	}
	if v.kind == scalar {
		return nil, fmt.Errorf("item %q is inside something that has a value already", part)
	}
	v.kind = list
	if i == len(v.items) {
		v.items = append(v.items, &value{schema: v.schema.item()})
	}
	return v.items[i], nil
}

func (v *value) appendText(key, text string) error {
	if v.kind == scalar {
		return fmt.Errorf("%s has a value already", key)
	}
	v.kind = list
	v.items = append(v.items, &value{schema: v.schema.item(), kind: scalar, raw: v.schema.item().encode(text)})
	return nil
}

func (v *value) set(key string, raw json.RawMessage) error {
	if v.kind != unset {
		return fmt.Errorf("%s is given twice, and it is not a list", tool.Clip(key))
	}
	v.kind, v.raw = scalar, raw
	return nil
}

func (v *value) write(b *bytes.Buffer) {
	switch v.kind {
	case object:
		b.WriteByte('{')
		for i, key := range v.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quoted(key))
			b.WriteByte(':')
			v.fields[key].write(b)
		}
		b.WriteByte('}')
	case list:
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	default:
		b.Write(v.raw)
	}
}

func quoted(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// A string always encodes.
	_ = enc.Encode(s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
