package schema

import (
	"errors"
	"fmt"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// maxErrors is how many mistakes of one schema are reported.
const maxErrors = 20

// Compile reads a JSON Schema. The error joins all that is wrong with it.
func Compile(text []byte) (*Schema, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the schema has %d bytes; the limit is %d", len(text), MaxBytes)
	}
	root, err := jsondoc.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	c := &compiler{
		resources: map[string]*resource{},
		owners:    map[*jsondoc.Node]*resource{},
		compiled:  map[*jsondoc.Node]*Schema{},
	}
	c.index(&root, nil, "#")
	var made *Schema
	if len(c.errs) == 0 {
		made = c.compile(&root, c.owners[&root], "#")
		c.compileAnchors()
	}
	if len(c.errs) == 0 {
		c.refuseCycles()
	}
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	for _, s := range c.all {
		s.scoped = c.scoped
		s.learn()
	}
	return made, nil
}

type compiler struct {
	resources map[string]*resource        // by absolute URI without fragment
	owners    map[*jsondoc.Node]*resource // of each schema in the document
	compiled  map[*jsondoc.Node]*Schema
	all       []*Schema
	scoped    bool // there is a $dynamicRef
	errs      []error
}

func (c *compiler) errorf(where, format string, args ...any) {
	if len(c.errs) < maxErrors {
		c.errs = append(c.errs, fmt.Errorf("at %s: "+format, append([]any{where}, args...)...))
	}
}

// compile makes the schema of n, once. where is used for messages only.
func (c *compiler) compile(n *jsondoc.Node, within *resource, where string) *Schema {
	if s, ok := c.compiled[n]; ok {
		return s
	}
	if own, ok := c.owners[n]; ok {
		within = own
	}
	s := &Schema{Where: where, resource: within, draft7: within.draft7}
	c.compiled[n] = s
	c.all = append(c.all, s)
	switch n.Kind {
	case jsondoc.Bool:
		s.Never = !n.True()
	case jsondoc.Object:
		k := &keywords{c: c, s: s, n: n, where: where}
		k.read()
	default:
		c.errorf(where, "a schema is an object, true or false, not %s", n.Kind)
	}
	return s
}

// compileAnchors compiles what a $dynamicRef may reach.
func (c *compiler) compileAnchors() {
	if !c.scoped {
		return
	}
	for _, r := range c.resources {
		r.dynamic = map[string]*Schema{}
		for name := range r.dynamicAnchors {
			r.dynamic[name] = c.compile(r.anchors[name], r, "#"+name)
		}
	}
}

// refuseCycles reports schemas that judge a value by judging the same value
// again, without end.
func (c *compiler) refuseCycles() {
	const entered, left = 1, 2
	state := map[*Schema]int{}
	var walk func(s *Schema)
	walk = func(s *Schema) {
		if state[s] == entered {
			c.errorf(s.Where, "the schema refers to itself without end")
			return
		}
		if state[s] == left {
			return
		}
		state[s] = entered
		s.inPlace(walk)
		state[s] = left
	}
	for _, s := range c.all {
		walk(s)
	}
}
