package args

import (
	"fmt"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/schema"
)

// bound words the problems that are about a limit or a combination.
func bound(p schema.Problem) string {
	s, n := p.Schema, p.Value
	switch p.Keyword {
	case "minimum":
		return fmt.Sprintf("%s is too small (at least %s)", show(n), s.Minimum.Text)
	case "maximum":
		return fmt.Sprintf("%s is too large (at most %s)", show(n), s.Maximum.Text)
	case "exclusiveMinimum":
		return fmt.Sprintf("%s is too small (more than %s)", show(n), s.ExclusiveMinimum.Text)
	case "exclusiveMaximum":
		return fmt.Sprintf("%s is too large (less than %s)", show(n), s.ExclusiveMaximum.Text)
	case "multipleOf":
		return fmt.Sprintf("%s is no multiple of %s", show(n), s.MultipleOf.Text)
	case "minLength":
		return fmt.Sprintf("the text %s has %d characters (at least %d)", show(n), utf8.RuneCountInString(n.Text()), *s.MinLength)
	case "maxLength":
		return fmt.Sprintf("the text %s has %d characters (at most %d)", show(n), utf8.RuneCountInString(n.Text()), *s.MaxLength)
	case "pattern":
		return fmt.Sprintf("the text %s does not match (pattern %s)", show(n), name(s.Pattern.Text))
	case "minItems":
		return fmt.Sprintf("the list has %d items (at least %d)", len(n.Elems), *s.MinItems)
	case "maxItems":
		return fmt.Sprintf("the list has %d items (at most %d)", len(n.Elems), *s.MaxItems)
	case "minProperties":
		return fmt.Sprintf("the object has %d keys (at least %d)", len(n.Elems), *s.MinProperties)
	case "maxProperties":
		return fmt.Sprintf("the object has %d keys (at most %d)", len(n.Elems), *s.MaxProperties)
	case "uniqueItems":
		return fmt.Sprintf("the items %d and %d are equal (each may occur once)", p.Index, p.Other)
	case "propertyNames":
		return fmt.Sprintf("the name %s is not allowed (%s)", name(p.Key), nameRule(s.PropertyNames))
	}
	return combination(p)
}

func nameRule(s *schema.Schema) string {
	if s.Pattern != nil {
		return "names match the pattern " + name(s.Pattern.Text)
	}
	if values, listed := s.Literals(); listed {
		return "names are " + listValues(values)
	}
	return "the schema limits the names"
}

func combination(p schema.Problem) string {
	switch p.Keyword {
	case "contains":
		return fmt.Sprintf("too few items are %s", wanted(p.Schema.Contains))
	case "maxContains":
		return fmt.Sprintf("too many items are %s (at most %d)", wanted(p.Schema.Contains), *p.Schema.MaxContains)
	case "not":
		return "this combination is not allowed (" + show(p.Value) + ")"
	case "false":
		return "nothing is allowed here (leave it out)"
	case schema.Exhausted:
		return "it is nested too deep or too large to be judged by the schema (send less at once)"
	}
	return "it is not valid (" + p.Keyword + ")"
}
