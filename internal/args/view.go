package args

import (
	"slices"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
)

// A view is a list of schemas that all apply to one value: a schema, what it
// refers to, its allOf, and the branch of a union where one is chosen.

// chooser picks the branch of a union that a value is meant for, or nil.
type chooser func(branches []*schema.Schema, n *jsondoc.Node) *schema.Schema

// static returns the view of a schema as far as no value is needed.
func static(s *schema.Schema) []*schema.Schema {
	return expand([]*schema.Schema{s}, nil, nil, nil)
}

// expand completes a list of schemas to a view of n. Each schema is in it
// once, however many ways lead to it.
func expand(list []*schema.Schema, n *jsondoc.Node, choose chooser, budget *schema.Budget) []*schema.Schema {
	var view []*schema.Schema
	seen := map[*schema.Schema]bool{}
	var add func(s *schema.Schema)
	add = func(s *schema.Schema) {
		if s == nil || seen[s] || budget != nil && !budget.Spend(1) {
			return
		}
		seen[s] = true
		view = append(view, s)
		add(s.Ref)
		for _, all := range s.AllOf {
			add(all)
		}
		if n == nil {
			return
		}
		if s.If != nil {
			if s.If.Accepts(n, budget) {
				add(s.Then)
			} else {
				add(s.Else)
			}
		}
		for _, d := range s.DependentSchemas {
			if n.Find(d.Name) != nil {
				add(d.Schema)
			}
		}
		for _, union := range [][]*schema.Schema{s.AnyOf, s.OneOf} {
			if union != nil && choose != nil {
				add(choose(union, n))
			}
		}
	}
	for _, s := range list {
		add(s)
	}
	return view
}

// propertyNames returns the names that a view knows, in the order of the
// schemas.
func propertyNames(view []*schema.Schema) []string {
	var names []string
	seen := map[string]bool{}
	for _, s := range view {
		for _, p := range s.Properties {
			if !seen[p.Name] {
				seen[p.Name] = true
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// propertySchemas returns the schemas of one property. named tells whether
// the view knows it by name or pattern.
func propertySchemas(view []*schema.Schema, key string) (list []*schema.Schema, named bool) {
	var rest []*schema.Schema
	for _, s := range view {
		before := len(list)
		if sub := s.Property(key); sub != nil {
			list = append(list, sub)
		}
		for _, p := range s.PatternProperties {
			if p.Pattern.Match(key) {
				list = append(list, p.Schema)
			}
		}
		if len(list) > before {
			named = true
		} else if more := s.AdditionalProperties; more != nil && !more.Never {
			rest = append(rest, more)
		}
	}
	if list = append(list, rest...); len(list) > 0 {
		return list, named
	}
	for _, s := range view {
		if more := s.UnevaluatedProperties; more != nil && !more.Never {
			list = append(list, more)
		}
	}
	return list, false
}

// itemSchemas returns the schemas of the item at i.
func itemSchemas(view []*schema.Schema, i int) []*schema.Schema {
	var list []*schema.Schema
	for _, s := range view {
		if i < len(s.PrefixItems) {
			list = append(list, s.PrefixItems[i])
		} else if s.Items != nil {
			list = append(list, s.Items)
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, s := range view {
		if s.UnevaluatedItems != nil {
			list = append(list, s.UnevaluatedItems)
		}
	}
	return list
}

// kindsOf returns the kinds that all of the schemas allow.
func kindsOf(list []*schema.Schema) jsondoc.Kinds {
	kinds := jsondoc.Any
	for _, s := range list {
		kinds &= s.Kinds()
	}
	return kinds
}

// requires reports whether a schema of the view requires the property.
func requires(view []*schema.Schema, key string) bool {
	return slices.ContainsFunc(view, func(s *schema.Schema) bool { return s.Requires(key) })
}
