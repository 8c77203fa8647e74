package jsondoc

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may be nested. No schema of a tool
// comes near it, and it keeps every recursion over a tree short.
const MaxDepth = 128

// Parse reads text as one JSON value. The error is a [*SyntaxError].
func Parse(text string) (Node, error) {
	n, _, err := parse(text, false)
	return n, err
}

// ParseTrailingCommas is [Parse] that takes one comma too many before a
// closing bracket or brace. It returns how many there were.
func ParseTrailingCommas(text string) (Node, int, error) { return parse(text, true) }

func parse(text string, commas bool) (Node, int, error) {
	whole := text
	if !utf8.ValidString(text) {
		at := invalidUTF8(text)
		if len(text)-at >= utf8.UTFMax || utf8.FullRuneInString(text[at:]) {
			return Node{}, 0, &SyntaxError{Offset: at, Msg: "the text is not valid UTF-8"}
		}
		text = text[:at] // a cut inside a character
	}
	p := parser{text: text, lenient: commas}
	n, err := p.document()
	if err == nil && len(text) != len(whole) {
		err = &SyntaxError{Offset: len(text), Msg: "the text is not valid UTF-8"}
	}
	if err != nil {
		if err.CutOff {
			err.Offset = len(whole)
		}
		slices.Reverse(err.Path) // gathered from the inside out
		return Node{}, 0, err
	}
	return n, p.dropped, nil
}

// invalidUTF8 returns where the first byte stands that is not UTF-8.
func invalidUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, width := utf8.DecodeRuneInString(text[i:]); width == 1 {
				return i
			}
		}
	}
	return len(text)
}

type parser struct {
	text    string
	pos     int
	depth   int
	lenient bool // take trailing commas
	dropped int  // how many were taken
}

func (p *parser) document() (Node, *SyntaxError) {
	if strings.HasPrefix(p.text, "\ufeff") {
		return Node{}, p.fail("the text begins with a byte order mark; leave it out")
	}
	p.space()
	n, err := p.value()
	if err != nil {
		return n, err
	}
	p.space()
	if p.pos < len(p.text) {
		return n, p.fail("there is more text after the end of the JSON value: %s", p.near())
	}
	return n, nil
}

func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) value() (Node, *SyntaxError) {
	if p.pos >= len(p.text) {
		return Node{}, p.cutOff()
	}
	switch c := p.text[p.pos]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		raw, escaped, err := p.str()
		return Node{Kind: String, Raw: raw, escaped: escaped}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	default:
		return p.literal()
	}
}

func (p *parser) literal() (Node, *SyntaxError) {
	rest := p.text[p.pos:]
	for _, lit := range [...]struct {
		word string
		kind Kinds
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if strings.HasPrefix(rest, lit.word) {
			p.pos += len(lit.word)
			return Node{Kind: lit.kind, Raw: lit.word}, nil
		}
		if strings.HasPrefix(lit.word, rest) {
			return Node{}, p.cutOff()
		}
	}
	return Node{}, p.fail("%s is no JSON value: %s", p.near(), hint(rest))
}

func (p *parser) number() (Node, *SyntaxError) {
	end, ok := scanNumber(p.text[p.pos:])
	if !ok {
		if p.pos+end >= len(p.text) {
			return Node{}, p.cutOff()
		}
		return Node{}, p.fail("%s is no JSON number", p.near())
	}
	text := p.text[p.pos : p.pos+end]
	n, ok := newNumber(text)
	if !ok {
		return n, p.fail("the number %s is out of range", p.near())
	}
	if next := p.pos + end; next < len(p.text) && strings.IndexByte(" \t\r\n,]}", p.text[next]) < 0 {
		return n, p.fail("%s is no JSON number", p.near())
	}
	p.pos += end
	return n, nil
}

// str reads a string and returns it with its quotes.
func (p *parser) str() (raw string, escaped bool, err *SyntaxError) {
	start := p.pos
	p.pos++
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return p.text[start:p.pos], escaped, nil
		case c == '\\':
			escaped = true
			if err := p.escape(); err != nil {
				return "", false, err
			}
		case c < ' ':
			return "", false, p.fail("a string holds the raw control character U+%04X; write it as %s", c, appendQuoted(nil, string(rune(c))))
		default:
			p.pos++
		}
	}
	return "", false, p.cutOff()
}

func (p *parser) array() (Node, *SyntaxError) {
	n := Node{Kind: Array}
	more, err := p.open(']')
	for more {
		var item Node
		if item, err = p.value(); err != nil {
			err.Path = append(err.Path, Step{Index: len(n.Elems), Item: true})
			return n, err
		}
		n.add(Elem{Node: item})
		more, err = p.next(']')
	}
	return n, err
}

func (p *parser) object() (Node, *SyntaxError) {
	n := Node{Kind: Object}
	var seen keys
	more, err := p.open('}')
	for more {
		at := p.pos
		var key string
		if key, err = p.key(); err != nil {
			return n, err
		}
		if seen.add(&n, key) {
			p.pos = at
			return n, p.fail("the key %s is given twice", appendQuoted(nil, clip(key)))
		}
		var value Node
		if value, err = p.value(); err != nil {
			err.Path = append(err.Path, Step{Key: key})
			return n, err
		}
		n.add(Elem{Key: key, Node: value})
		more, err = p.next('}')
	}
	return n, err
}

// key reads the key of a member and the colon after it.
func (p *parser) key() (string, *SyntaxError) {
	if p.pos >= len(p.text) {
		return "", p.cutOff()
	}
	if p.text[p.pos] != '"' {
		return "", p.fail("%s stands where a key in double quotes belongs", p.near())
	}
	raw, escaped, err := p.str()
	if err != nil {
		return "", err
	}
	n := Node{Kind: String, Raw: raw, escaped: escaped}
	p.space()
	if p.pos >= len(p.text) {
		return "", p.cutOff()
	}
	if p.text[p.pos] != ':' {
		return "", p.fail("%s stands where the colon after the key %s belongs", p.near(), clip(raw))
	}
	p.pos++
	p.space()
	return n.Text(), nil
}

// keys notices a key that an object already has.
type keys struct{ set map[string]struct{} }

// add reports whether n has that key. A handful of keys is compared one by
// one; more are kept in a set, so that a hostile text costs no square.
func (k *keys) add(n *Node, key string) (twice bool) {
	const handful = 16
	if len(n.Elems) < handful {
		return n.Index(key) >= 0
	}
	if k.set == nil {
		k.set = make(map[string]struct{}, 4*handful)
		for i := range n.Elems {
			k.set[n.Elems[i].Key] = struct{}{}
		}
	}
	_, twice = k.set[key]
	k.set[key] = struct{}{}
	return twice
}

// open steps into an array or object that end closes, and reports whether
// there is anything in it.
func (p *parser) open(end byte) (more bool, err *SyntaxError) {
	if p.depth++; p.depth > MaxDepth {
		return false, p.fail("the value is nested deeper than %d levels", MaxDepth)
	}
	p.pos++
	p.space()
	return !p.closes(end), nil
}

// next steps over what follows an item or member, and reports whether
// another one comes.
func (p *parser) next(end byte) (more bool, err *SyntaxError) {
	p.space()
	if p.closes(end) {
		return false, nil
	}
	if p.pos >= len(p.text) {
		return false, p.cutOff()
	}
	if p.text[p.pos] != ',' {
		return false, p.fail(`%s stands where "," or "%c" belongs`, p.near(), end)
	}
	comma := p.pos
	p.pos++
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == end {
		if !p.lenient {
			p.pos = comma
			return false, p.fail(`there is a comma before "%c"`, end)
		}
		p.dropped++
		p.closes(end)
		return false, nil
	}
	return true, nil
}

// closes steps over the end of an array or object if it is next.
func (p *parser) closes(end byte) bool {
	if p.pos >= len(p.text) || p.text[p.pos] != end {
		return false
	}
	p.pos++
	p.depth--
	return true
}
