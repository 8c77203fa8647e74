package jsondoc

import (
	"slices"
	"strings"
)

// Kinds is a set of kinds of JSON values; a [Node] has exactly one. A number
// is an [Integer] or a [Fraction] by its value, so 3.0 is an Integer.
type Kinds uint8

// The kinds of JSON values.
const (
	Null Kinds = 1 << iota
	Bool
	Integer
	Fraction
	String
	Array
	Object

	// Number is any number.
	Number = Integer | Fraction
	// Any is every kind.
	Any = Null | Bool | Number | String | Array | Object
)

// Has reports whether k and other have a kind in common.
func (k Kinds) Has(other Kinds) bool { return k&other != 0 }

// Names returns the names that JSON Schema gives to the kinds in k.
func (k Kinds) Names() []string {
	var names []string
	for _, one := range [...]struct {
		kind Kinds
		name string
	}{
		{String, "string"}, {Integer, "integer"}, {Fraction, "number"}, {Bool, "boolean"},
		{Array, "array"}, {Object, "object"}, {Null, "null"},
	} {
		if k.Has(one.kind) && (one.kind != Integer || !k.Has(Fraction)) {
			names = append(names, one.name)
		}
	}
	return names
}

// String joins the names: "string or null".
func (k Kinds) String() string { return strings.Join(k.Names(), " or ") }

// Node is one JSON value. The zero Node is no value.
type Node struct {
	// Kind is the one kind of the value.
	Kind Kinds
	// escaped says that a string's text differs from what stands between its
	// quotes; decimal says that a number is written with a point or exponent.
	escaped, decimal bool
	// Raw is a scalar as it was written, quotes included; it is "" for an
	// array or object.
	Raw string
	// Elems are the members of an object or the items of an array, in order.
	Elems []Elem
}

// Elem is a member of an object, or an item of an array, whose Key is "".
type Elem struct {
	Key string
	Node
}

// add appends one element. The first one makes room for a few, which is what
// most objects have.
func (n *Node) add(e Elem) {
	if n.Elems == nil {
		n.Elems = make([]Elem, 0, 4)
	}
	n.Elems = append(n.Elems, e)
}

// NewString returns a string value.
func NewString(text string) Node {
	raw := string(appendQuoted(nil, text))
	return Node{Kind: String, Raw: raw, escaped: len(raw) != len(text)+2}
}

// AppendString appends text as a JSON string, as [NewString] writes it.
func AppendString(dst []byte, text string) []byte { return appendQuoted(dst, text) }

// Text returns a string's text, and "" for any other kind.
func (n *Node) Text() string {
	if n.Kind != String {
		return ""
	}
	inner := n.Raw[1 : len(n.Raw)-1]
	if !n.escaped {
		return inner
	}
	return unescape(inner)
}

// True reports whether the value is true.
func (n *Node) True() bool { return n.Kind == Bool && n.Raw == "true" }

// Find returns the member of that key, or nil.
func (n *Node) Find(key string) *Node {
	if i := n.Index(key); i >= 0 {
		return &n.Elems[i].Node
	}
	return nil
}

// Index returns the place of the member of that key, or -1.
func (n *Node) Index(key string) int {
	if n.Kind != Object {
		return -1
	}
	for i := range n.Elems {
		if n.Elems[i].Key == key {
			return i
		}
	}
	return -1
}

// Clone returns a copy that shares nothing that can be changed.
func (n *Node) Clone() Node {
	c := *n
	c.Elems = slices.Clone(n.Elems)
	for i := range c.Elems {
		c.Elems[i].Node = c.Elems[i].Node.Clone()
	}
	return c
}

// JSON returns the value as compact JSON.
func (n *Node) JSON() []byte { return n.Append(nil) }

// Append appends the value as compact JSON to dst.
func (n *Node) Append(dst []byte) []byte {
	switch n.Kind {
	case Array:
		dst = append(dst, '[')
		for i := range n.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = n.Elems[i].Node.Append(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i := range n.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, n.Elems[i].Key), ':')
			dst = n.Elems[i].Node.Append(dst)
		}
		return append(dst, '}')
	default:
		return append(dst, n.Raw...)
	}
}

// Canonical returns a text that two values share exactly when JSON Schema
// holds them equal: numbers by value, objects whatever the order of keys.
func (n *Node) Canonical() string { return string(n.appendCanonical(nil)) }

func (n *Node) appendCanonical(dst []byte) []byte {
	switch n.Kind {
	case Integer, Fraction:
		return append(dst, canonicalNumber(n.Raw)...)
	case String:
		return appendQuoted(dst, n.Text())
	case Array:
		dst = append(dst, '[')
		for i := range n.Elems {
			dst = append(n.Elems[i].Node.appendCanonical(dst), ',')
		}
		return append(dst, ']')
	case Object:
		order := make([]int, len(n.Elems))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(n.Elems[a].Key, n.Elems[b].Key) })
		dst = append(dst, '{')
		for _, i := range order {
			dst = append(appendQuoted(dst, n.Elems[i].Key), ':')
			dst = append(n.Elems[i].Node.appendCanonical(dst), ',')
		}
		return append(dst, '}')
	default:
		return append(dst, n.Raw...)
	}
}
