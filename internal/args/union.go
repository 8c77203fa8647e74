package args

import (
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/internal/suggest"
)

// candidates returns the branches of a union that the value can be meant
// for: those that take its kind and, of an object, those whose tags agree. A
// tag is a property that allows only listed values.
func candidates(branches []*schema.Schema, n *jsondoc.Node, budget *schema.Budget) []*schema.Schema {
	var fit []*schema.Schema
	for _, b := range branches {
		if b.Kinds().Has(n.Kind) && tagsAgree(b, n, budget) {
			fit = append(fit, b)
		}
	}
	return fit
}

// meant narrows the candidates down to those of the value's own shape, if
// there are any.
func meant(branches []*schema.Schema, n *jsondoc.Node, budget *schema.Budget) []*schema.Schema {
	fit := candidates(branches, n, budget)
	if len(fit) > 1 {
		if like := shaped(fit, n, budget); len(like) > 0 {
			return like
		}
	}
	return fit
}

// tagsAgree reports whether no tag of the branch speaks against the value.
func tagsAgree(branch *schema.Schema, n *jsondoc.Node, budget *schema.Budget) bool {
	if n.Kind != jsondoc.Object {
		return true
	}
	for _, s := range static(branch) {
		if !budget.Spend(1 + len(s.Properties)) {
			return false
		}
		for _, p := range s.Properties {
			values, listed := p.Schema.Literals()
			if !listed {
				continue
			}
			if given := findFolded(n, p.Name); given != nil && !meansOne(values, given) {
				return false
			}
		}
	}
	return true
}

// shaped returns the branches whose properties are those of an object, in
// whatever spelling: none is missing that is required, none is there that the
// branch refuses.
func shaped(branches []*schema.Schema, n *jsondoc.Node, budget *schema.Budget) []*schema.Schema {
	if n.Kind != jsondoc.Object {
		return branches
	}
	given := make(map[string]bool, len(n.Elems))
	for i := range n.Elems {
		given[suggest.Fold(n.Elems[i].Key)] = true
	}
	var fit []*schema.Schema
	for _, b := range branches {
		if hasShape(b, given, budget) {
			fit = append(fit, b)
		}
	}
	return fit
}

func hasShape(branch *schema.Schema, given map[string]bool, budget *schema.Budget) bool {
	view := static(branch)
	known := map[string]bool{}
	open := true
	for _, s := range view {
		if !budget.Spend(1 + len(s.Properties) + len(given)) {
			return false
		}
		for _, name := range s.Required {
			if !given[suggest.Fold(name)] {
				return false
			}
		}
		for _, p := range s.Properties {
			known[suggest.Fold(p.Name)] = true
		}
		open = open && !s.Closed() || len(s.PatternProperties) > 0
	}
	if open {
		return true
	}
	for key := range given {
		if !known[key] {
			return false
		}
	}
	return true
}

// findFolded returns the member of that name, in whatever spelling.
func findFolded(n *jsondoc.Node, name string) *jsondoc.Node {
	if m := n.Find(name); m != nil {
		return m
	}
	folded := suggest.Fold(name)
	for i := range n.Elems {
		if len(n.Elems[i].Key) <= 2*len(name) && suggest.Fold(n.Elems[i].Key) == folded {
			return &n.Elems[i].Node
		}
	}
	return nil
}

// meansOne reports whether the value is one of the listed ones, in whatever
// letter case.
func meansOne(values []jsondoc.Node, given *jsondoc.Node) bool {
	for i := range values {
		v := &values[i]
		if v.Kind != given.Kind {
			continue
		}
		if v.Kind == jsondoc.String && strings.EqualFold(v.Text(), given.Text()) || v.Canonical() == given.Canonical() {
			return true
		}
	}
	return false
}

// badTag returns the property by which no branch can be chosen and the
// values that the branches have for it, where there is one that every branch
// lists. missing tells that the object lacks it.
func badTag(branches []*schema.Schema, n *jsondoc.Node) (name string, values []jsondoc.Node, missing bool) {
	if n.Kind != jsondoc.Object {
		return "", nil, false
	}
	for _, s := range static(branches[0]) {
		for _, p := range s.Properties {
			values, ok := tagValues(branches, p.Name)
			if !ok {
				continue
			}
			given := n.Find(p.Name)
			if given == nil {
				return p.Name, values, true
			}
			if !meansOne(values, given) {
				return p.Name, values, false
			}
		}
	}
	return "", nil, false
}

// tagValues gathers the values that the branches list for a property; false
// where one of them lists none.
func tagValues(branches []*schema.Schema, name string) ([]jsondoc.Node, bool) {
	var all []jsondoc.Node
	for _, b := range branches {
		found := false
		for _, s := range static(b) {
			if p := s.Property(name); p != nil {
				values, listed := p.Literals()
				all = append(all, values...)
				found = found || listed
			}
		}
		if !found {
			return nil, false
		}
	}
	return all, true
}
