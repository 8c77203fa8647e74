package schema

import (
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// keywords reads the keywords of one schema object.
type keywords struct {
	c     *compiler
	s     *Schema
	n     *jsondoc.Node
	where string
}

func (k *keywords) read() {
	s := k.s
	s.Ref = k.ref("$ref")
	s.Title, s.Description = k.text("title"), k.text("description")
	s.Default = k.n.Find("default")
	if examples := k.n.Find("examples"); examples != nil && examples.Kind == jsondoc.Array {
		for i := range examples.Elems {
			s.Examples = append(s.Examples, examples.Elems[i].Node)
		}
	}
	if s.draft7 && s.Ref != nil {
		return // draft-07 ignores what stands beside a reference
	}
	k.dynamicRef()
	s.Not, s.If = k.schema("not"), k.schema("if")
	if s.If != nil {
		s.Then, s.Else = k.schema("then"), k.schema("else")
	}
	s.AllOf, s.AnyOf, s.OneOf = k.list("allOf"), k.list("anyOf"), k.list("oneOf")
	k.values()
	k.object()
	k.array()
	s.MinLength, s.MaxLength = k.count("minLength"), k.count("maxLength")
	s.Pattern = k.pattern("pattern")
	k.numbers()
}

func (k *keywords) values() {
	s := k.s
	s.Types = k.types()
	s.Const = k.n.Find("const")
	enum := k.find("enum", jsondoc.Array)
	if enum == nil {
		return
	}
	s.HasEnum = true
	s.enumTexts, s.enumOthers = map[string]struct{}{}, map[string]struct{}{}
	for i := range enum.Elems {
		v := enum.Elems[i].Node
		s.Enum = append(s.Enum, v)
		if v.Kind == jsondoc.String {
			s.enumTexts[v.Text()] = struct{}{}
		} else {
			s.enumOthers[v.Canonical()] = struct{}{}
		}
	}
}

func (k *keywords) object() {
	s := k.s
	s.Properties = k.named("properties")
	s.propIndex = make(map[string]int, len(s.Properties))
	for i, p := range s.Properties {
		s.propIndex[p.Name] = i
	}
	for _, p := range k.named("patternProperties") {
		if pattern, err := compilePattern(p.Name); err != nil {
			k.errorf("patternProperties: %w", err)
		} else {
			s.PatternProperties = append(s.PatternProperties, PatternProperty{pattern, p.Schema})
		}
	}
	s.AdditionalProperties, s.PropertyNames = k.schema("additionalProperties"), k.schema("propertyNames")
	s.MinProperties, s.MaxProperties = k.count("minProperties"), k.count("maxProperties")
	s.Required = k.strings("required")
	k.dependencies()
	if !s.draft7 {
		s.UnevaluatedProperties = k.schema("unevaluatedProperties")
	}
}

// dependencies reads both the keyword of draft-07, which later dialects
// still take, and the two that replace it.
func (k *keywords) dependencies() {
	split := []string{"dependentRequired", "dependentSchemas", "dependencies"}
	if k.s.draft7 {
		split = split[2:]
	}
	for _, word := range split {
		m := k.find(word, jsondoc.Object)
		if m == nil {
			continue
		}
		for i := range m.Elems {
			e := &m.Elems[i]
			where := k.where + "/" + word + "/" + escapeToken(e.Key)
			asList := word == "dependentRequired" || word == "dependencies" && e.Kind == jsondoc.Array
			if asList {
				list := k.stringList(&e.Node, word+"/"+escapeToken(e.Key))
				k.s.DependentRequired = append(k.s.DependentRequired, Dependency{e.Key, list})
			} else {
				sub := k.c.compile(&e.Node, k.s.resource, where)
				k.s.DependentSchemas = append(k.s.DependentSchemas, Property{e.Key, sub})
			}
		}
	}
}

func (k *keywords) array() {
	s := k.s
	items := k.n.Find("items")
	switch {
	case items != nil && items.Kind == jsondoc.Array && !s.draft7:
		k.errorf(`items is a schema in draft 2020-12; a list of schemas is "prefixItems"`)
	case items != nil && items.Kind == jsondoc.Array:
		s.PrefixItems = k.list("items")
		s.Items = k.schema("additionalItems")
	default:
		s.Items = k.schema("items")
	}
	s.Contains, s.UniqueItems = k.schema("contains"), k.flag("uniqueItems")
	s.MinItems, s.MaxItems = k.count("minItems"), k.count("maxItems")
	if s.draft7 {
		return
	}
	s.PrefixItems = k.list("prefixItems")
	s.UnevaluatedItems = k.schema("unevaluatedItems")
	if s.Contains != nil {
		s.MinContains, s.MaxContains = k.count("minContains"), k.count("maxContains")
	}
}

func (k *keywords) numbers() {
	s := k.s
	s.Minimum, s.Maximum = k.number("minimum"), k.number("maximum")
	s.ExclusiveMinimum, s.ExclusiveMaximum = k.number("exclusiveMinimum"), k.number("exclusiveMaximum")
	s.MultipleOf = k.number("multipleOf")
	if m := s.MultipleOf; m != nil && m.rat.Sign() <= 0 {
		k.errorf("multipleOf must be above 0, not %s", m.Text)
	}
}

// typeKinds are the words that "type" takes.
var typeKinds = map[string]jsondoc.Kinds{
	"null": jsondoc.Null, "boolean": jsondoc.Bool, "integer": jsondoc.Integer, "number": jsondoc.Number,
	"string": jsondoc.String, "array": jsondoc.Array, "object": jsondoc.Object,
}

func (k *keywords) types() jsondoc.Kinds {
	n := k.n.Find("type")
	if n == nil {
		return 0
	}
	words := []string{n.Text()}
	if n.Kind == jsondoc.Array {
		words = k.stringList(n, "type")
	}
	var kinds jsondoc.Kinds
	for _, word := range words {
		kinds |= typeKinds[word]
		if typeKinds[word] == 0 {
			known := []string{"array", "boolean", "integer", "null", "number", "object", "string"}
			k.errorf("type %s is none of %s", clip(n.JSON()), strings.Join(known, ", "))
		}
	}
	if kinds == 0 && len(words) == 0 {
		k.errorf("type lists no type")
	}
	return kinds
}

// clip shortens a piece of the schema for a message.
func clip(b []byte) string {
	const limit = 60
	if len(b) <= limit {
		return string(b)
	}
	return strings.ToValidUTF8(string(b[:limit]), "") + "…"
}

func (k *keywords) errorf(format string, args ...any) { k.c.errorf(k.where, format, args...) }

// find returns the keyword's value where it is of that kind; another kind is
// an error.
func (k *keywords) find(word string, kind jsondoc.Kinds) *jsondoc.Node {
	n := k.n.Find(word)
	if n != nil && !n.Kind.Has(kind) {
		k.errorf("%s must be %s, not %s", word, kind, clip(n.JSON()))
		return nil
	}
	return n
}

func (k *keywords) text(word string) string {
	if n := k.n.Find(word); n != nil {
		return n.Text() // an annotation of another kind says nothing
	}
	return ""
}

func (k *keywords) flag(word string) bool {
	n := k.find(word, jsondoc.Bool)
	return n != nil && n.True()
}

func (k *keywords) schema(word string) *Schema {
	if n := k.n.Find(word); n != nil {
		return k.c.compile(n, k.s.resource, k.where+"/"+word)
	}
	return nil
}

func (k *keywords) list(word string) []*Schema {
	n := k.find(word, jsondoc.Array)
	if n == nil {
		return nil
	}
	if len(n.Elems) == 0 && word != "items" {
		k.errorf("%s lists no schema", word)
	}
	var list []*Schema
	for i := range n.Elems {
		list = append(list, k.c.compile(&n.Elems[i].Node, k.s.resource, fmt.Sprintf("%s/%s/%d", k.where, word, i)))
	}
	return list
}

func (k *keywords) named(word string) []Property {
	n := k.find(word, jsondoc.Object)
	if n == nil {
		return nil
	}
	var list []Property
	for i := range n.Elems {
		e := &n.Elems[i]
		list = append(list, Property{e.Key, k.c.compile(&e.Node, k.s.resource, k.where+"/"+word+"/"+escapeToken(e.Key))})
	}
	return list
}

func (k *keywords) strings(word string) []string {
	if n := k.find(word, jsondoc.Array); n != nil {
		return k.stringList(n, word)
	}
	return nil
}

func (k *keywords) stringList(n *jsondoc.Node, word string) []string {
	list := []string{}
	for i := range n.Elems {
		if n.Elems[i].Kind != jsondoc.String {
			k.errorf("%s must list strings, not %s", word, clip(n.Elems[i].JSON()))
			continue
		}
		list = append(list, n.Elems[i].Text())
	}
	return list
}

func (k *keywords) count(word string) *int {
	n := k.find(word, jsondoc.Number)
	if n == nil {
		return nil
	}
	count := newNumber(n)
	if !count.fits || count.whole < 0 {
		k.errorf("%s must be a whole number from 0 up, not %s", word, n.Raw)
		return nil
	}
	whole := int(min(count.whole, int64(1)<<31-1))
	return &whole
}

func (k *keywords) number(word string) *Number {
	if n := k.find(word, jsondoc.Number); n != nil {
		return newNumber(n)
	}
	return nil
}

func (k *keywords) pattern(word string) *Pattern {
	n := k.find(word, jsondoc.String)
	if n == nil {
		return nil
	}
	p, err := compilePattern(n.Text())
	if err != nil {
		k.errorf("%w", err)
	}
	return p
}
