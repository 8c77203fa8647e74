package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxDepth is how deep settings may be nested.
const maxDepth = 100

// member is one member of an object, by where it is in the text.
type member struct {
	key        string
	keyAt      int
	start, end int // of the value
}

// object is an object of the text.
type object struct {
	open, close int // of its braces
	members     []member
	comma       bool // one stands after the last member
}

// setMember returns the text with the value at the path of keys. Comments
// and commas after the last member, which some clients allow, stay.
func setMember(text []byte, path []string, value []byte) ([]byte, error) {
	s := &scanner{text: text}
	s.skip()
	if s.at == len(text) {
		text = []byte("{}\n")
		s = &scanner{text: text}
	}
	root, err := s.object(0)
	if err == nil {
		s.skip()
		if s.at != len(text) {
			err = s.wrong("there is something after the end")
		}
	}
	if err != nil {
		return nil, err
	}
	for i, key := range path {
		found := -1
		for j, m := range root.members {
			if m.key != key {
				continue
			}
			if found >= 0 {
				return nil, fmt.Errorf("%q is there twice", key)
			}
			found = j
		}
		if found < 0 {
			return insert(text, root, path[i], nest(path[i+1:], value)), nil
		}
		m := root.members[found]
		if i == len(path)-1 {
			return splice(text, m.start, m.end, layOut(value, indentAt(text, m.keyAt))), nil
		}
		inner := &scanner{text: text, at: m.start}
		if root, err = inner.object(0); err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
	}
	return nil, errors.New("no path")
}

// nest wraps the value in an object for each key.
func nest(keys []string, value []byte) []byte {
	for i := len(keys) - 1; i >= 0; i-- {
		name, _ := json.Marshal(keys[i]) // strings can be marshalled
		value = fmt.Appendf(nil, "{%s:%s}", name, value)
	}
	return value
}

// insert adds a member at the end of an object, indented as its neighbours.
func insert(text []byte, o object, key string, value []byte) []byte {
	name, _ := json.Marshal(key) // strings can be marshalled
	outer := indentAt(text, o.open)
	inner := outer + "  "
	if len(o.members) > 0 {
		if first := o.members[0].keyAt; bytes.ContainsRune(text[o.open:first], '\n') {
			inner = indentAt(text, first)
		}
		return insertAfter(text, o, "\n"+inner+string(name)+": "+layOut(value, inner), outer)
	}
	at := o.close - trailingSpace(text[o.open+1:o.close])
	return splice(text, at, o.close, "\n"+inner+string(name)+": "+layOut(value, inner)+"\n"+outer)
}

// insertAfter adds a member behind the last one and the comments that follow
// it.
func insertAfter(text []byte, o object, added, outer string) []byte {
	last := o.members[len(o.members)-1].end
	at := o.close - trailingSpace(text[:o.close])
	if !bytes.ContainsRune(text[o.open:o.close], '\n') {
		added += "\n" + outer
		text = splice(text, at, o.close, "")
	}
	if o.comma { // one is there, so one stays at the end
		return splice(text, at, at, strings.TrimRight(added, " \t\n")+","+added[len(strings.TrimRight(added, " \t\n")):])
	}
	return splice(splice(text, at, at, added), last, last, ",")
}

func trailingSpace(text []byte) int { return len(text) - len(bytes.TrimRight(text, " \t\r\n")) }

func splice(text []byte, from, to int, in string) []byte {
	out := append(bytes.Clone(text[:from]), in...)
	return append(out, text[to:]...)
}

// layOut writes a value over several lines, as people keep settings.
func layOut(value []byte, indent string) string {
	var b bytes.Buffer
	_ = json.Indent(&b, value, indent, "  ") // it was marshalled
	return b.String()
}

// indentAt is the white space that begins the line of a place.
func indentAt(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// scanner walks over JSON with comments.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) wrong(format string, args ...any) error {
	line := 1 + bytes.Count(s.text[:min(s.at, len(s.text))], []byte("\n"))
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

// skip goes over white space and comments, and a mark of the byte order at
// the very beginning.
func (s *scanner) skip() {
	if s.at == 0 {
		s.at += len(s.text) - len(bytes.TrimPrefix(s.text, []byte("\ufeff")))
	}
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.at++
		case bytes.HasPrefix(rest, []byte("//")):
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			s.at += end
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return // the slash is an error for whoever looks next
			}
			s.at += end + 4
		default:
			return
		}
	}
}

func (s *scanner) peek() byte {
	s.skip()
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// object reads an object.
func (s *scanner) object(depth int) (object, error) {
	if s.peek() != '{' {
		return object{}, s.wrong("an object must begin here")
	}
	o := object{open: s.at}
	s.at++
	for {
		if s.peek() == '}' {
			o.close = s.at
			s.at++
			return o, nil
		}
		if len(o.members) > 0 && !o.comma {
			return o, s.wrong("a comma is missing")
		}
		m := member{keyAt: s.at}
		if err := s.quoted(); err != nil {
			return o, err
		}
		if err := json.Unmarshal(s.text[m.keyAt:s.at], &m.key); err != nil {
			return o, s.wrong("this is no name: %v", err)
		}
		if s.peek() != ':' {
			return o, s.wrong("a colon is missing")
		}
		s.at++
		s.skip()
		m.start = s.at
		if err := s.value(depth + 1); err != nil {
			return o, err
		}
		m.end = s.at
		o.members = append(o.members, m)
		if o.comma = s.peek() == ','; o.comma {
			s.at++
		}
	}
}

// value goes over one value.
func (s *scanner) value(depth int) error {
	if depth > maxDepth {
		return s.wrong("too deep")
	}
	switch s.peek() {
	case '{':
		_, err := s.object(depth)
		return err
	case '[':
		return s.array(depth)
	case '"':
		return s.quoted()
	}
	start := s.at
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n,]}/", s.text[s.at]) < 0 {
		s.at++
	}
	if !json.Valid(s.text[start:s.at]) {
		return s.wrong("this is no value")
	}
	return nil
}

func (s *scanner) array(depth int) error {
	s.at++
	for more := true; ; {
		if s.peek() == ']' {
			s.at++
			return nil
		}
		if !more {
			return s.wrong("a comma is missing")
		}
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if more = s.peek() == ','; more {
			s.at++
		}
	}
}

// quoted goes over one string.
func (s *scanner) quoted() error {
	start := s.at
	if s.at == len(s.text) || s.text[s.at] != '"' {
		return s.wrong("a name in quotes must be here")
	}
	for s.at++; s.at < len(s.text) && s.text[s.at] != '"' && s.text[s.at] != '\n'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	if s.at >= len(s.text) || s.text[s.at] != '"' {
		s.at = min(s.at, len(s.text))
		return s.wrong("a string does not end")
	}
	s.at++
	if !json.Valid(s.text[start:s.at]) {
		return s.wrong("this is no string")
	}
	return nil
}
