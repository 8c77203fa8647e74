package schema

import (
	"math/big"
	"regexp"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// MaxBytes is the largest schema, in bytes. The largest tool declarations in
// the field have about a tenth of that.
const MaxBytes = 256 << 10

// Schema is one compiled schema or subschema. Its fields are for reading
// only. A nil field is a keyword that is not there.
type Schema struct {
	// Where is the place in the document, as a JSON pointer: "#/items".
	Where string
	// Title, Description, Default and Examples are annotations.
	Title, Description string
	Default            *jsondoc.Node
	Examples           []jsondoc.Node

	// Never says that the schema is false: nothing is valid.
	Never bool
	// Types are the kinds that "type" allows; 0 means all.
	Types jsondoc.Kinds
	// Enum are the allowed values; HasEnum tells an empty list from none.
	Enum    []jsondoc.Node
	HasEnum bool
	Const   *jsondoc.Node

	Ref                 *Schema
	Not, If, Then, Else *Schema
	AllOf, AnyOf, OneOf []*Schema

	// Properties are in the order of the document.
	Properties            []Property
	PatternProperties     []PatternProperty
	AdditionalProperties  *Schema
	UnevaluatedProperties *Schema
	PropertyNames         *Schema
	Required              []string
	DependentRequired     []Dependency
	DependentSchemas      []Property

	PrefixItems      []*Schema
	Items            *Schema // of the items beyond PrefixItems
	UnevaluatedItems *Schema
	Contains         *Schema
	UniqueItems      bool

	// Limits are the inclusive bounds that are stated; nil where none is.
	MinLength, MaxLength         *int
	MinItems, MaxItems           *int
	MinProperties, MaxProperties *int
	MinContains, MaxContains     *int
	Minimum, Maximum             *Number
	ExclusiveMinimum             *Number
	ExclusiveMaximum             *Number
	MultipleOf                   *Number
	Pattern                      *Pattern

	dynamic    *dynamicRef
	resource   *resource
	draft7     bool
	propIndex  map[string]int
	enumTexts  map[string]struct{} // the texts of the strings in Enum
	enumOthers map[string]struct{} // the canonical forms of the rest
	facts      *facts
	scoped     bool // somewhere in the document is a $dynamicRef
}

// Property is a named subschema.
type Property struct {
	Name   string
	Schema *Schema
}

// PatternProperty is the subschema of the properties whose name matches.
type PatternProperty struct {
	Pattern *Pattern
	Schema  *Schema
}

// Dependency names the properties that must be there when Name is.
type Dependency struct {
	Name     string
	Required []string
}

// Pattern is a regular expression and the text it was made from.
type Pattern struct {
	Text string
	re   *regexp.Regexp
}

// Match reports whether the pattern matches somewhere in text.
func (p *Pattern) Match(text string) bool { return p.re.MatchString(text) }

// Number is a bound on numbers, and the text that the schema has for it.
type Number struct {
	Text  string
	whole int64 // the value where fits says so
	fits  bool
	rat   *big.Rat
}

// Property returns the subschema of the property of that name, or nil.
func (s *Schema) Property(name string) *Schema {
	if i, ok := s.propIndex[name]; ok {
		return s.Properties[i].Schema
	}
	return nil
}

// Closed reports whether the schema itself refuses properties that it does
// not name.
func (s *Schema) Closed() bool {
	return s.AdditionalProperties != nil && s.AdditionalProperties.Never ||
		s.UnevaluatedProperties != nil && s.UnevaluatedProperties.Never
}

// Requires reports whether the schema itself requires that property.
func (s *Schema) Requires(name string) bool {
	for _, r := range s.Required {
		if r == name {
			return true
		}
	}
	return false
}

// inPlace calls visit for each subschema that judges the same value as s.
func (s *Schema) inPlace(visit func(*Schema)) {
	for _, one := range []*Schema{s.Ref, s.Not, s.If, s.Then, s.Else} {
		if one != nil {
			visit(one)
		}
	}
	if s.dynamic != nil {
		visit(s.dynamic.target)
	}
	for _, list := range [][]*Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, one := range list {
			visit(one)
		}
	}
	for _, p := range s.DependentSchemas {
		visit(p.Schema)
	}
}
