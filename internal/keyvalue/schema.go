package keyvalue

import (
	"encoding/json"
	"slices"
)

// schema is the part of a JSON Schema that decides how a word is read. A nil
// schema knows nothing.
type schema struct {
	Type       types              `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	Enum       []json.RawMessage  `json:"enum"`
}

// types is a JSON Schema's type: one name or a list of them.
type types []string

// UnmarshalJSON takes both forms; anything else is no type.
func (t *types) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = types{one}
		return nil
	}
	var many []string
	if json.Unmarshal(b, &many) == nil {
		*t = many
	}
	return nil
}

// parseSchema reads what it can. A schema that says nothing readable leaves
// every value a string.
func parseSchema(raw json.RawMessage) *schema {
	var s schema
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return &s
}

func (s *schema) is(name string) bool { return s != nil && slices.Contains(s.Type, name) }

func (s *schema) property(name string) *schema {
	if s == nil {
		return nil
	}
	return s.Properties[name]
}

func (s *schema) item() *schema {
	if s == nil {
		return nil
	}
	return s.Items
}

// encode returns text as the JSON value that the schema wants, or as a
// string where it does not fit or where a string would do.
func (s *schema) encode(text string) json.RawMessage {
	if !s.is("string") && json.Valid([]byte(text)) {
		switch c := text[0]; {
		case (s.is("number") || s.is("integer")) && (c == '-' || c >= '0' && c <= '9'),
			s.is("boolean") && (text == "true" || text == "false"),
			s.is("null") && text == "null":
			return json.RawMessage(text)
		}
	}
	return quoted(text)
}
