package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// MaxFile is the largest settings file that is read, in bytes. A person
// writes it by hand; a larger one is a mistake.
const MaxFile = 1 << 20

// maxDepth is how deep a settings file may nest. The deepest key that has a
// meaning is profiles.NAME.policy.by_provider.NAME.allow[0].
const maxDepth = 16

// node is a JSON value together with where it stands in its file. The
// standard decoder forgets that, and an error without a line is half an
// error.
type node struct {
	kind    byte // '{', '[', 's', 'n', 'b' or '0' for null
	at      int  // byte offset of the first character
	text    string
	members []member
	items   []*node
}

type member struct {
	key   string
	at    int
	value *node
}

// what names the kind of n for a message.
func (n *node) what() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 's':
		return "a string"
	case 'n':
		return "a number"
	case 'b':
		return "a boolean"
	default:
		return "null"
	}
}

// syntaxError is a file that is not JSON at all.
type syntaxError struct {
	at  int
	msg string
}

func (e *syntaxError) Error() string { return e.msg }

// parseTree reads data as one JSON value.
func parseTree(data []byte) (*node, error) {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return nil, &syntaxError{0, "the file starts with a byte order mark; save it as plain UTF-8"}
	}
	if !utf8.Valid(data) {
		return nil, &syntaxError{firstInvalid(data), "this is not UTF-8"}
	}
	if err := checkSyntax(data); err != nil {
		return nil, err
	}
	p := &treeParser{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// checkSyntax reports the first place where data is not JSON, in words that
// say what JSON would have there. A key that stands twice is JSON; the
// decoder reports those, all of them.
func checkSyntax(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	_, err := jsondoc.Parse(string(data))
	var syn *jsondoc.SyntaxError
	if errors.As(err, &syn) {
		return &syntaxError{syn.Offset, "this is not JSON: " + syn.Msg}
	}
	return &syntaxError{0, "this is not JSON"}
}

func firstInvalid(data []byte) int {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

type treeParser struct {
	data []byte
	dec  *json.Decoder
}

// next returns the offset of the next token, past white space and the
// separators that the decoder swallows.
func (p *treeParser) next() int {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && bytes.IndexByte([]byte(" \t\r\n,:"), p.data[at]) >= 0 {
		at++
	}
	return at
}

func (p *treeParser) token() (json.Token, int, error) {
	at := p.next()
	tok, err := p.dec.Token()
	if err != nil {
		return nil, at, &syntaxError{at, "this is not JSON: " + err.Error()}
	}
	return tok, at, nil
}

func (p *treeParser) value(depth int) (*node, error) {
	tok, at, err := p.token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, &syntaxError{at, fmt.Sprintf("this nests deeper than %d levels", maxDepth)}
	}
	n := &node{at: at}
	switch tok := tok.(type) {
	case json.Delim:
		n.kind = byte(tok)
		return n, p.fill(n, depth)
	case string:
		n.kind, n.text = 's', tok
	case json.Number:
		n.kind, n.text = 'n', tok.String()
	case bool:
		n.kind, n.text = 'b', fmt.Sprint(tok)
	default:
		n.kind = '0'
	}
	return n, nil
}

// fill reads the members or items of n up to its closing bracket.
func (p *treeParser) fill(n *node, depth int) error {
	for p.dec.More() {
		if n.kind == '[' {
			item, err := p.value(depth + 1)
			if err != nil {
				return err
			}
			n.items = append(n.items, item)
			continue
		}
		tok, at, err := p.token()
		if err != nil {
			return err
		}
		key, _ := tok.(string) // the syntax was checked: a key is a string
		value, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{key, at, value})
	}
	_, _, err := p.token()
	return err
}

// position returns the line and column of a byte offset, both from 1. The
// column counts characters, as an editor does.
func position(data []byte, at int) (line, column int) {
	before := data[:min(at, len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}
