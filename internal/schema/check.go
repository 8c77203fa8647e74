package schema

import (
	"slices"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// Budget is the work that several checks may take together. A step is one
// schema looked at for one value.
type Budget struct{ steps int }

// NewBudget returns as much work as any honest call takes, many times over.
func NewBudget() *Budget { return &Budget{maxSteps} }

// Spend takes steps from the budget and reports whether there were any left.
func (b *Budget) Spend(steps int) bool {
	b.steps -= steps
	return b.steps >= 0
}

// Check holds a value against the schema and reports everything that is
// wrong with it. It takes its work from the budget; once that is used up, the
// value counts as not valid.
func (s *Schema) Check(n *jsondoc.Node, budget *Budget) Verdict {
	c := check{left: budget.steps}
	ok := c.value(s, n, nil)
	budget.steps = c.left
	v := Verdict{Problems: c.problems, More: c.more, Respelled: c.respelled, Stray: c.stray}
	if c.exhausted || !ok && len(v.Problems) == 0 {
		v.Problems, v.More = []Problem{{Value: n, Schema: s, Keyword: Exhausted}}, 0
	}
	return v
}

// Accepts is [Schema.Check] that only says yes or no, and stops at the first
// problem.
func (s *Schema) Accepts(n *jsondoc.Node, budget *Budget) bool {
	c := check{quiet: 1, left: budget.steps}
	ok := c.value(s, n, nil) && !c.exhausted
	budget.steps = c.left
	return ok
}

// check is the state of one check.
type check struct {
	path     []jsondoc.Step
	scope    []*resource // the resources on the way here, outermost first
	problems []Problem
	more     int
	// quiet counts the unions and negations around: inside them only yes or
	// no matters, and the first no is enough.
	quiet            int
	left, nesting    int // the steps that are left, and the depth of the work
	exhausted        bool
	respelled, stray bool
}

// marks notes which properties or items of one value have been judged, for
// the unevaluated keywords. nil means that nobody asks.
type marks struct{ seen []bool }

func (m *marks) set(n *jsondoc.Node, i int) {
	if m == nil {
		return
	}
	if m.seen == nil {
		m.seen = make([]bool, len(n.Elems))
	}
	m.seen[i] = true
}

func (m *marks) has(i int) bool { return i < len(m.seen) && m.seen[i] }

// fresh returns marks for a branch that may turn out not to count.
func (m *marks) fresh() *marks {
	if m == nil {
		return nil
	}
	return &marks{}
}

// add takes over the marks of a branch that counts.
func (m *marks) add(other *marks) {
	if m == nil || other.seen == nil {
		return
	}
	if m.seen == nil {
		m.seen = slices.Clone(other.seen)
		return
	}
	for i, seen := range other.seen {
		m.seen[i] = m.seen[i] || seen
	}
}

// value judges n by s. What it judges of n's properties and items is noted
// in m.
func (c *check) value(s *Schema, n *jsondoc.Node, m *marks) bool {
	c.left--
	if c.exhausted = c.exhausted || c.left < 0 || c.nesting >= maxNesting; c.exhausted {
		return false
	}
	c.nesting++
	scope := c.scope
	if s.scoped && (len(scope) == 0 || scope[len(scope)-1] != s.resource) {
		c.scope = append(scope, s.resource)
	}
	ok := c.judge(s, n, m)
	c.scope = scope
	c.nesting--
	return ok
}

func (c *check) judge(s *Schema, n *jsondoc.Node, m *marks) bool {
	if s.Never {
		return c.fail(Problem{Value: n, Schema: s, Keyword: "false"})
	}
	if !c.literal(s, n) {
		return false // what is of another type need not be judged further
	}
	own := m
	if n.Kind == jsondoc.Object && s.UnevaluatedProperties != nil || n.Kind == jsondoc.Array && s.UnevaluatedItems != nil {
		own = &marks{} // the keyword looks at what its own schema judged
	}
	ok := c.kind(s, n, own)
	ok = c.going(ok) && c.references(s, n, own) && ok
	ok = c.going(ok) && c.combined(s, n, own) && ok
	if own != m {
		ok = c.going(ok) && c.unevaluated(s, n, own, ok) && ok
		m.add(own)
	}
	return ok
}

// going reports whether there is a point in looking further: always where
// all problems are wanted, and only while all is well where they are not.
func (c *check) going(ok bool) bool { return ok || c.quiet == 0 }

func (c *check) fail(p Problem) bool {
	switch {
	case c.quiet > 0:
	case len(c.problems) == maxProblems:
		c.more++
	default:
		p.Path = slices.Clone(c.path)
		c.problems = append(c.problems, p)
	}
	return false
}

// child judges the element at i of n.
func (c *check) child(s *Schema, n *jsondoc.Node, i int) bool {
	step := jsondoc.Step{Key: n.Elems[i].Key}
	if n.Kind == jsondoc.Array {
		step = jsondoc.Step{Index: i, Item: true}
	}
	c.path = append(c.path, step)
	ok := c.value(s, &n.Elems[i].Node, nil)
	c.path = c.path[:len(c.path)-1]
	return ok
}

// asks judges n by s for a yes or no.
func (c *check) asks(s *Schema, n *jsondoc.Node, m *marks) bool {
	c.quiet++
	ok := c.value(s, n, m)
	c.quiet--
	return ok
}

func (c *check) kind(s *Schema, n *jsondoc.Node, m *marks) bool {
	switch n.Kind {
	case jsondoc.Object:
		return c.object(s, n, m)
	case jsondoc.Array:
		return c.array(s, n, m)
	case jsondoc.String:
		return c.text(s, n)
	case jsondoc.Integer, jsondoc.Fraction:
		return c.number(s, n)
	}
	return true
}

func (c *check) references(s *Schema, n *jsondoc.Node, m *marks) bool {
	ok := s.Ref == nil || c.value(s.Ref, n, m)
	if s.dynamic != nil && c.going(ok) {
		ok = c.value(c.target(s.dynamic), n, m) && ok
	}
	return ok
}

// target returns what a $dynamicRef means here.
func (c *check) target(d *dynamicRef) *Schema {
	if d.anchor != "" {
		for _, r := range c.scope {
			if s := r.dynamic[d.anchor]; s != nil {
				return s
			}
		}
	}
	return d.target
}

// combined judges by the keywords that combine schemas.
func (c *check) combined(s *Schema, n *jsondoc.Node, m *marks) bool {
	ok := true
	for _, all := range s.AllOf {
		if !c.going(ok) {
			return false
		}
		ok = c.value(all, n, m) && ok
	}
	if s.AnyOf != nil && c.going(ok) {
		ok = c.anyOf(s, n, m) && ok
	}
	if s.OneOf != nil && c.going(ok) {
		ok = c.oneOf(s, n, m) && ok
	}
	if s.Not != nil && c.going(ok) && c.asks(s.Not, n, nil) {
		ok = c.fail(Problem{Value: n, Schema: s, Keyword: "not"})
	}
	if s.If != nil && c.going(ok) {
		ok = c.conditional(s, n, m) && ok
	}
	return ok
}

func (c *check) anyOf(s *Schema, n *jsondoc.Node, m *marks) bool {
	fits := false
	for _, branch := range s.AnyOf {
		tried := m.fresh()
		if c.asks(branch, n, tried) {
			fits = true
			m.add(tried)
			if m == nil {
				break // nobody asks what the other branches would judge
			}
		}
	}
	return fits || c.fail(Problem{Value: n, Schema: s, Keyword: "anyOf", Other: -1})
}

func (c *check) oneOf(s *Schema, n *jsondoc.Node, m *marks) bool {
	fits := -1
	for i, branch := range s.OneOf {
		tried := m.fresh()
		if !c.asks(branch, n, tried) {
			continue
		}
		if fits >= 0 {
			return c.fail(Problem{Value: n, Schema: s, Keyword: "oneOf", Index: fits, Other: i})
		}
		fits = i
		m.add(tried)
	}
	return fits >= 0 || c.fail(Problem{Value: n, Schema: s, Keyword: "oneOf", Other: -1})
}

func (c *check) conditional(s *Schema, n *jsondoc.Node, m *marks) bool {
	tried := m.fresh()
	branch := s.Else
	if c.asks(s.If, n, tried) {
		m.add(tried)
		branch = s.Then
	}
	return branch == nil || c.value(branch, n, m)
}

// unevaluated judges what nothing else has judged. Where something else has
// failed, a property that it names may only look unjudged, and is passed over
// so that no two problems contradict each other.
func (c *check) unevaluated(s *Schema, n *jsondoc.Node, m *marks, sofar bool) bool {
	rest := s.UnevaluatedItems
	if n.Kind == jsondoc.Object {
		rest = s.UnevaluatedProperties
	}
	ok := true
	for i := range n.Elems {
		switch {
		case m.has(i) || !c.going(ok):
			continue
		case n.Kind == jsondoc.Array || !rest.Never:
			ok = c.child(rest, n, i) && ok
		case sofar || !s.Mentions(n.Elems[i].Key):
			ok = c.unknown(s, n, i)
		}
		m.set(n, i)
	}
	return ok
}
