package schema

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// rootURI is the base of a document that names none of its own.
const rootURI = "schema:///root"

// resource is a schema with a URI of its own, and what is embedded in it.
type resource struct {
	uri            string
	root           *jsondoc.Node
	where          string
	draft7         bool
	anchors        map[string]*jsondoc.Node
	dynamicAnchors map[string]bool
	dynamic        map[string]*Schema
}

// dynamicRef is a reference whose target depends on the way to it: the
// outermost resource that has the anchor decides. With no anchor it is
// always the target.
type dynamicRef struct {
	target *Schema
	anchor string
}

// subschemas says where a dialect keeps schemas: under a keyword itself, in
// a list, or by name.
var subschemas = [...]struct {
	word              string
	one, list, byName bool
}{
	{word: "properties", byName: true}, {word: "patternProperties", byName: true},
	{word: "$defs", byName: true}, {word: "definitions", byName: true},
	{word: "dependentSchemas", byName: true}, {word: "dependencies", byName: true},
	{word: "items", one: true, list: true}, {word: "prefixItems", list: true},
	{word: "allOf", list: true}, {word: "anyOf", list: true}, {word: "oneOf", list: true},
	{word: "additionalProperties", one: true}, {word: "unevaluatedProperties", one: true},
	{word: "propertyNames", one: true}, {word: "additionalItems", one: true},
	{word: "unevaluatedItems", one: true}, {word: "contains", one: true},
	{word: "not", one: true}, {word: "if", one: true}, {word: "then", one: true}, {word: "else", one: true},
}

// index walks all schemas of the document and notes the resources and
// anchors, so that a reference may lead forward.
func (c *compiler) index(n *jsondoc.Node, within *resource, where string) {
	if n.Kind != jsondoc.Object {
		if within == nil {
			within = c.addResource(n, nil, rootURI, where)
		}
		c.owners[n] = within
		return
	}
	within = c.enter(n, within, where)
	c.owners[n] = within
	if within.draft7 && n.Find("$ref") == nil || !within.draft7 {
		c.anchor(n, within, where)
	}
	for _, place := range subschemas {
		v := n.Find(place.word)
		switch {
		case v == nil:
		case v.Kind == jsondoc.Array && place.list:
			for i := range v.Elems {
				c.index(&v.Elems[i].Node, within, where+"/"+place.word+"/"+strconv.Itoa(i))
			}
		case v.Kind == jsondoc.Object && place.byName:
			for i := range v.Elems {
				if e := &v.Elems[i]; e.Kind != jsondoc.Array { // a list of draft-07's "dependencies"
					c.index(&e.Node, within, where+"/"+place.word+"/"+escapeToken(e.Key))
				}
			}
		case place.one:
			c.index(v, within, where+"/"+place.word)
		}
	}
}

// enter returns the resource that n belongs to: its own where it has an id.
func (c *compiler) enter(n *jsondoc.Node, within *resource, where string) *resource {
	base := rootURI
	draft7 := false
	if within != nil {
		base, draft7 = within.uri, within.draft7
	}
	id := n.Find("$id")
	if within != nil && (id == nil || id.Kind != jsondoc.String || strings.HasPrefix(id.Text(), "#")) {
		return within
	}
	if dialect := n.Find("$schema"); dialect != nil {
		draft7 = c.dialect(dialect, where)
	}
	if draft7 && n.Find("$ref") != nil { // the reference hides the id
		id = nil
		if within != nil {
			return within
		}
	}
	if id != nil && id.Kind == jsondoc.String {
		joined, fragment, err := join(base, id.Text())
		if err != nil || fragment != "" && !draft7 {
			c.errorf(where, "$id %q is not a URI without a fragment", id.Text())
		} else if joined != "" {
			base = joined
		}
	}
	made := c.addResource(n, within, base, where)
	made.draft7 = draft7
	return made
}

// dialect reads "$schema" and reports whether it is draft-07 or draft-06.
func (c *compiler) dialect(n *jsondoc.Node, where string) (draft7 bool) {
	switch strings.TrimSuffix(n.Text(), "#") {
	case "https://json-schema.org/draft/2020-12/schema":
	case "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema",
		"http://json-schema.org/draft-06/schema", "https://json-schema.org/draft-06/schema":
		return true
	default:
		c.errorf(where, "$schema %s is not supported; supported are draft 2020-12, draft-07 and draft-06", clip(n.JSON()))
	}
	return false
}

func (c *compiler) addResource(n *jsondoc.Node, within *resource, uri, where string) *resource {
	if old := c.resources[uri]; old != nil && old.root != n {
		c.errorf(where, "$id %q is also that of %s", uri, old.where)
	}
	r := &resource{uri: uri, root: n, where: where, anchors: map[string]*jsondoc.Node{}, dynamicAnchors: map[string]bool{}}
	if within == nil {
		// The document is also known by the base that it was read from.
		c.resources[rootURI] = r
	}
	c.resources[uri] = r
	return r
}

// anchor notes the plain names that n has within its resource.
func (c *compiler) anchor(n *jsondoc.Node, r *resource, where string) {
	if r.draft7 {
		if id := n.Find("$id"); id != nil {
			if _, name, ok := strings.Cut(id.Text(), "#"); ok && name != "" {
				c.addAnchor(name, n, r, where)
			}
		}
		return
	}
	for _, word := range []string{"$anchor", "$dynamicAnchor"} {
		name := n.Find(word)
		if name == nil {
			continue
		}
		if name.Text() == "" || strings.ContainsAny(name.Text(), "/#") {
			c.errorf(where, "%s must be a name, not %s", word, clip(name.JSON()))
			continue
		}
		c.addAnchor(name.Text(), n, r, where)
		if word == "$dynamicAnchor" {
			r.dynamicAnchors[name.Text()] = true
		}
	}
}

func (c *compiler) addAnchor(name string, n *jsondoc.Node, r *resource, where string) {
	if old := r.anchors[name]; old != nil && old != n {
		c.errorf(where, "the anchor %q is already taken", name)
	}
	r.anchors[name] = n
}

// ref compiles the target of a reference keyword; nil where there is none.
func (k *keywords) ref(word string) *Schema {
	n := k.find(word, jsondoc.String)
	if n == nil {
		return nil
	}
	target, _ := k.resolve(word, n.Text())
	return target
}

func (k *keywords) dynamicRef() {
	if k.s.draft7 {
		return
	}
	n := k.find("$dynamicRef", jsondoc.String)
	if n == nil {
		return
	}
	target, anchor := k.resolve("$dynamicRef", n.Text())
	if target != nil {
		k.s.dynamic = &dynamicRef{target: target, anchor: anchor}
		k.c.scoped = true
	}
}

// resolve finds and compiles what a reference names. anchor is the name by
// which it was found if that is a dynamic one.
func (k *keywords) resolve(word, ref string) (target *Schema, anchor string) {
	uri, fragment, err := join(k.s.resource.uri, ref)
	if err != nil {
		k.errorf("%s %q is not a URI: %w", word, ref, err)
		return nil, ""
	}
	r := k.c.resources[uri]
	if r == nil {
		k.errorf("%s %q leads out of the schema; nothing is fetched", word, clip([]byte(ref)))
		return nil, ""
	}
	if fragment == "" || fragment[0] == '/' {
		n, owner := k.c.pointer(r, fragment)
		if n == nil {
			k.errorf("%s %q names nothing in the schema", word, clip([]byte(ref)))
			return nil, ""
		}
		return k.c.compile(n, owner, r.where+fragment), ""
	}
	n := r.anchors[fragment]
	if n == nil {
		k.errorf("%s %q names no anchor of the schema", word, clip([]byte(ref)))
		return nil, ""
	}
	if r.dynamicAnchors[fragment] {
		anchor = fragment
	}
	return k.c.compile(n, r, r.where+"#"+fragment), anchor
}

// pointer follows a JSON pointer from the root of r, and says which resource
// the place belongs to.
func (c *compiler) pointer(r *resource, pointer string) (*jsondoc.Node, *resource) {
	n := r.root
	if pointer == "" {
		return n, r
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch n.Kind {
		case jsondoc.Object:
			n = n.Find(token)
		case jsondoc.Array:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(n.Elems) {
				return nil, nil
			}
			n = &n.Elems[i].Node
		default:
			return nil, nil
		}
		if n == nil {
			return nil, nil
		}
		if own := c.owners[n]; own != nil {
			r = own
		}
	}
	return n, r
}

// join resolves a reference against a base and splits off the fragment,
// decoded.
func join(base, ref string) (uri, fragment string, err error) {
	plain, fragment, _ := strings.Cut(ref, "#")
	if fragment, err = url.PathUnescape(fragment); err != nil {
		return "", "", err
	}
	if plain == "" {
		return base, fragment, nil
	}
	r, err := url.Parse(plain)
	if err != nil {
		return "", "", err
	}
	b, err := url.Parse(base)
	if err != nil {
		return "", "", err
	}
	if !r.IsAbs() && b.Opaque != "" {
		return "", "", fmt.Errorf("a relative reference has no meaning below %q", base)
	}
	return b.ResolveReference(r).String(), fragment, nil
}

func escapeToken(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}
