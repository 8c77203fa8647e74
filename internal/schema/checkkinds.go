package schema

import (
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// literal judges by type, const and enum.
func (c *check) literal(s *Schema, n *jsondoc.Node) bool {
	if s.Types != 0 {
		if !s.Types.Has(n.Kind) {
			return c.fail(Problem{Value: n, Schema: s, Keyword: "type"})
		}
		if n.Kind == jsondoc.Integer && !s.Types.Has(jsondoc.Fraction) && !n.PlainInteger() {
			c.respelled = true
		}
	}
	if s.Const != nil && !equal(s.Const, n) {
		return c.fail(Problem{Value: n, Schema: s, Keyword: "const"})
	}
	if s.HasEnum && !s.lists(n) {
		return c.fail(Problem{Value: n, Schema: s, Keyword: "enum"})
	}
	return true
}

func equal(a, b *jsondoc.Node) bool {
	if a.Kind != b.Kind {
		return false
	}
	if a.Kind == jsondoc.String {
		return a.Text() == b.Text()
	}
	return a.Canonical() == b.Canonical()
}

// lists reports whether n is one of the values of the enum.
func (s *Schema) lists(n *jsondoc.Node) bool {
	if n.Kind == jsondoc.String {
		_, ok := s.enumTexts[n.Text()]
		return ok
	}
	if len(s.enumOthers) == 0 {
		return false
	}
	_, ok := s.enumOthers[n.Canonical()]
	return ok
}

func (c *check) text(s *Schema, n *jsondoc.Node) bool {
	if s.MinLength == nil && s.MaxLength == nil && s.Pattern == nil {
		return true
	}
	text := n.Text()
	ok := true
	if s.MinLength != nil || s.MaxLength != nil {
		length := utf8.RuneCountInString(text)
		if s.MinLength != nil && length < *s.MinLength {
			ok = c.fail(Problem{Value: n, Schema: s, Keyword: "minLength"})
		}
		if s.MaxLength != nil && length > *s.MaxLength {
			ok = c.fail(Problem{Value: n, Schema: s, Keyword: "maxLength"})
		}
	}
	if s.Pattern != nil && !s.Pattern.Match(text) {
		ok = c.fail(Problem{Value: n, Schema: s, Keyword: "pattern"})
	}
	return ok
}

func (c *check) number(s *Schema, n *jsondoc.Node) bool {
	if s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil && s.MultipleOf == nil {
		return true
	}
	v := newValue(n)
	ok := true
	for _, bound := range [...]struct {
		word    string
		bound   *Number
		refuses func(sign int) bool
	}{
		{"minimum", s.Minimum, func(sign int) bool { return sign < 0 }},
		{"maximum", s.Maximum, func(sign int) bool { return sign > 0 }},
		{"exclusiveMinimum", s.ExclusiveMinimum, func(sign int) bool { return sign <= 0 }},
		{"exclusiveMaximum", s.ExclusiveMaximum, func(sign int) bool { return sign >= 0 }},
	} {
		if bound.bound != nil && bound.refuses(v.compare(bound.bound)) {
			ok = c.fail(Problem{Value: n, Schema: s, Keyword: bound.word})
		}
	}
	if s.MultipleOf != nil && !v.multipleOf(s.MultipleOf) {
		ok = c.fail(Problem{Value: n, Schema: s, Keyword: "multipleOf"})
	}
	return ok
}

func (c *check) object(s *Schema, n *jsondoc.Node, m *marks) bool {
	ok := true
	if s.MinProperties != nil && len(n.Elems) < *s.MinProperties {
		ok = c.fail(Problem{Value: n, Schema: s, Keyword: "minProperties"})
	}
	if s.MaxProperties != nil && len(n.Elems) > *s.MaxProperties {
		ok = c.fail(Problem{Value: n, Schema: s, Keyword: "maxProperties"})
	}
	for _, name := range s.Required {
		if n.Index(name) < 0 {
			ok = c.fail(Problem{Value: n, Schema: s, Keyword: "required", Key: name})
		}
	}
	for i := range n.Elems {
		if !c.going(ok) {
			return false
		}
		ok = c.property(s, n, i, m) && ok
	}
	for _, d := range s.DependentRequired {
		if n.Index(d.Name) < 0 {
			continue
		}
		for _, name := range d.Required {
			if n.Index(name) < 0 {
				ok = c.fail(Problem{Value: n, Schema: s, Keyword: "dependentRequired", Key: name, Because: d.Name})
			}
		}
	}
	for _, d := range s.DependentSchemas {
		if n.Index(d.Name) >= 0 && c.going(ok) {
			ok = c.value(d.Schema, n, m) && ok
		}
	}
	return ok
}

// property judges the member at i of n.
func (c *check) property(s *Schema, n *jsondoc.Node, i int, m *marks) bool {
	ok, known := true, false
	key := n.Elems[i].Key
	if sub := s.Property(key); sub != nil {
		known = true
		ok = c.child(sub, n, i)
	}
	for _, p := range s.PatternProperties {
		c.left--
		if p.Pattern.Match(key) {
			known = true
			ok = c.child(p.Schema, n, i) && ok
		}
	}
	if !known && len(s.Properties) > 0 {
		c.stray = true
	}
	if rest := s.AdditionalProperties; !known && rest != nil {
		known = true
		if rest.Never {
			ok = c.unknown(s, n, i)
		} else {
			ok = c.child(rest, n, i) && ok
		}
	}
	if known {
		m.set(n, i)
	}
	if s.PropertyNames != nil {
		name := jsondoc.NewString(key)
		if !c.asks(s.PropertyNames, &name, nil) {
			ok = c.fail(Problem{Value: n, Schema: s, Keyword: "propertyNames", Key: key})
		}
	}
	return ok
}

// unknown reports the member at i of n as one that s does not take.
func (c *check) unknown(s *Schema, n *jsondoc.Node, i int) bool {
	return c.fail(Problem{Value: n, Schema: s, Keyword: Unknown, Key: n.Elems[i].Key})
}

func (c *check) array(s *Schema, n *jsondoc.Node, m *marks) bool {
	ok := true
	if s.MinItems != nil && len(n.Elems) < *s.MinItems {
		ok = c.fail(Problem{Value: n, Schema: s, Keyword: "minItems"})
	}
	if s.MaxItems != nil && len(n.Elems) > *s.MaxItems {
		ok = c.fail(Problem{Value: n, Schema: s, Keyword: "maxItems"})
	}
	for i := range n.Elems {
		if !c.going(ok) {
			return false
		}
		switch {
		case i < len(s.PrefixItems):
			ok = c.child(s.PrefixItems[i], n, i) && ok
		case s.Items != nil:
			ok = c.child(s.Items, n, i) && ok
		default:
			continue
		}
		m.set(n, i)
	}
	if s.UniqueItems && c.going(ok) {
		ok = c.unique(s, n) && ok
	}
	if s.Contains != nil && c.going(ok) {
		ok = c.contains(s, n, m) && ok
	}
	return ok
}

func (c *check) unique(s *Schema, n *jsondoc.Node) bool {
	first := make(map[string]int, len(n.Elems))
	c.left -= len(n.Elems)
	for i := range n.Elems {
		form := n.Elems[i].Canonical()
		if j, twice := first[form]; twice {
			return c.fail(Problem{Value: n, Schema: s, Keyword: "uniqueItems", Index: j, Other: i})
		}
		first[form] = i
	}
	return true
}

func (c *check) contains(s *Schema, n *jsondoc.Node, m *marks) bool {
	count := 0
	for i := range n.Elems {
		c.quiet++
		if c.child(s.Contains, n, i) {
			count++
			m.set(n, i)
		}
		c.quiet--
	}
	least := 1
	if s.MinContains != nil {
		least = *s.MinContains
	}
	ok := true
	if count < least {
		ok = c.fail(Problem{Value: n, Schema: s, Keyword: "contains"})
	}
	if s.MaxContains != nil && count > *s.MaxContains {
		ok = c.fail(Problem{Value: n, Schema: s, Keyword: "maxContains"})
	}
	return ok
}
