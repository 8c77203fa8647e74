package schema

import "github.com/handrail-tools/handrail/internal/jsondoc"

// maxLiterals is how many values a schema may list and still count as a list
// of literals; nobody chooses from more.
const maxLiterals = 1000

// facts are what can be told of a schema without a value.
type facts struct {
	kinds    jsondoc.Kinds
	literals []jsondoc.Node
	listed   bool
}

// Kinds returns the kinds of which some value may be valid, as far as types,
// listed values, references and unions tell.
func (s *Schema) Kinds() jsondoc.Kinds { return s.facts.kinds }

// Literals returns the only values that are allowed, and false where the
// schema does not come down to a list of values. A union of constants does.
func (s *Schema) Literals() ([]jsondoc.Node, bool) { return s.facts.literals, s.facts.listed }

// learn fills in the facts of s and of all that judges the same value. The
// compiler has made sure that this ends.
func (s *Schema) learn() *facts {
	if s.facts == nil {
		s.facts = &facts{kinds: s.learnKinds()}
		s.facts.literals, s.facts.listed = s.learnLiterals()
	}
	return s.facts
}

func (s *Schema) learnKinds() jsondoc.Kinds {
	if s.Never {
		return 0
	}
	kinds := jsondoc.Any
	if s.Types != 0 {
		kinds &= s.Types
	}
	if s.Const != nil {
		kinds &= s.Const.Kind
	}
	if s.HasEnum {
		var listed jsondoc.Kinds
		for i := range s.Enum {
			listed |= s.Enum[i].Kind
		}
		kinds &= listed
	}
	if s.Ref != nil {
		kinds &= s.Ref.learn().kinds
	}
	for _, all := range s.AllOf {
		kinds &= all.learn().kinds
	}
	for _, union := range [][]*Schema{s.AnyOf, s.OneOf} {
		if union == nil {
			continue
		}
		var some jsondoc.Kinds
		for _, branch := range union {
			some |= branch.learn().kinds
		}
		kinds &= some
	}
	return kinds
}

func (s *Schema) learnLiterals() ([]jsondoc.Node, bool) {
	switch {
	case s.Const != nil:
		return []jsondoc.Node{*s.Const}, true
	case s.HasEnum:
		return s.Enum, len(s.Enum) <= maxLiterals
	case s.Ref != nil:
		if f := s.Ref.learn(); f.listed {
			return f.literals, true
		}
	}
	for _, all := range s.AllOf {
		if f := all.learn(); f.listed {
			return f.literals, true
		}
	}
	for _, union := range [][]*Schema{s.AnyOf, s.OneOf} {
		if list, ok := unionLiterals(union); ok {
			return list, true
		}
	}
	return nil, false
}

func unionLiterals(union []*Schema) ([]jsondoc.Node, bool) {
	var list []jsondoc.Node
	for _, branch := range union {
		f := branch.learn()
		list = append(list, f.literals...)
		if !f.listed || len(list) > maxLiterals {
			return nil, false
		}
	}
	return list, union != nil
}

// Mentions reports whether s, or anything that judges the same value, names
// that property or has a pattern for it.
func (s *Schema) Mentions(name string) bool {
	seen := map[*Schema]bool{}
	found := false
	var walk func(s *Schema)
	walk = func(s *Schema) {
		if found || seen[s] {
			return
		}
		seen[s] = true
		found = s.Property(name) != nil
		for _, p := range s.PatternProperties {
			found = found || p.Pattern.Match(name)
		}
		s.inPlace(walk)
	}
	walk(s)
	return found
}
