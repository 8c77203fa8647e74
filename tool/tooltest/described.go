package tooltest

import (
	"testing"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/tool"
)

// described walks a schema of arguments and tries that a model can tell what
// every property is and that no misspelt one goes unnoticed.
type described struct {
	tb   testing.TB
	seen map[*schema.Schema]bool
}

// walk tries s and all below it. closed tells that a schema around it, for
// the same value, refuses further properties.
func (d *described) walk(s *schema.Schema, closed bool, what string) {
	d.tb.Helper()
	if s == nil || d.seen[s] {
		return
	}
	d.seen[s] = true
	closed = closed || s.Closed() || s.AdditionalProperties != nil
	if len(s.Properties) > 0 && !closed {
		d.tb.Errorf(`%s take any further key, so a misspelt one goes unnoticed; say "additionalProperties": false at %s`, what, s.Where)
	}
	for _, p := range s.Properties {
		d.property(p)
	}
	for _, p := range s.PatternProperties {
		d.walk(p.Schema, false, "the values of "+p.Pattern.Text)
	}
	d.walk(s.AdditionalProperties, false, "the values of "+what)
	for _, item := range s.PrefixItems {
		d.walk(item, false, "the items of "+what)
	}
	d.walk(s.Items, false, "the items of "+what)
	for _, list := range [][]*schema.Schema{{s.Ref, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf} {
		for _, same := range list {
			d.walk(same, closed, what)
		}
	}
}

func (d *described) property(p schema.Property) {
	d.tb.Helper()
	what := "the argument " + tool.Clip(p.Name)
	prose(d.tb, "the description of "+what, description(p.Schema))
	if p.Schema.Default != nil && !p.Schema.Accepts(p.Schema.Default, schema.NewBudget()) {
		d.tb.Errorf("the default of %s is %s, which its own schema refuses", what, p.Schema.Default.JSON())
	}
	for i := range p.Schema.Examples {
		if example := p.Schema.Examples[i]; !p.Schema.Accepts(&example, schema.NewBudget()) {
			d.tb.Errorf("an example of %s is %s, which its own schema refuses", what, example.JSON())
		}
	}
	if p.Schema.Kinds() == 0 {
		d.tb.Errorf("%s takes no value at all", what)
	}
	d.walk(p.Schema, false, what)
}

// description returns what a schema, or what it stands for, says it is.
func description(s *schema.Schema) string {
	for ; s != nil; s = s.Ref {
		if s.Description != "" {
			return s.Description
		}
		for _, all := range s.AllOf {
			if all.Description != "" {
				return all.Description
			}
		}
	}
	return ""
}

// properties returns the names of the arguments.
func properties(s *schema.Schema) []string {
	var names []string
	for _, p := range s.Properties {
		names = append(names, p.Name)
	}
	return names
}

// refuses reports whether a text is not valid for the schema.
func refuses(s *schema.Schema, text string) bool {
	n, err := jsondoc.Parse(text)
	return err != nil || !s.Accepts(&n, schema.NewBudget())
}
