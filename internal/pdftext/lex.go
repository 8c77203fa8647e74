package pdftext

import (
	"bytes"
	"strconv"
)

// An object is a value of a PDF: nil, bool, float64, name, text, array, dict,
// ref or stream; in a content program also an operator.
type object any

type (
	name     string
	text     string // a string, as bytes
	array    []object
	dict     map[name]object
	ref      int // the number of an object
	operator string
)

// A stream is packed data with what describes it.
type stream struct {
	dict dict
	data []byte
}

// end is what a lexer returns behind the last token, and closing where an
// array or dictionary ends.
type (
	end     struct{}
	closing string
)

// A lexer reads values. It never fails: what it does not understand it takes
// for an operator or leaves out, as readers of PDF must.
type lexer struct {
	d    *Document
	data []byte
	pos  int
	// refs says that "1 0 R" is a reference; a content program has none.
	refs bool
}

func blank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

// skip passes blanks and comments.
func (l *lexer) skip() {
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case blank(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// next reads one value.
func (l *lexer) next(depth int) object {
	l.skip()
	if l.d.tokens--; l.pos >= len(l.data) || l.d.tokens <= 0 || l.d.tokens%1024 == 0 && l.d.ctx.Err() != nil {
		return end{}
	}
	c := l.data[l.pos]
	switch {
	case c == '/':
		l.pos++
		return l.name()
	case c == '(':
		return l.literal()
	case c == '<' && l.at(1) == '<':
		l.pos += 2
		return l.dict(depth)
	case c == '<':
		return l.hex()
	case c == '[':
		l.pos++
		return l.array(depth)
	case c == ']':
		l.pos++
		return closing("]")
	case c == '>' && l.at(1) == '>':
		l.pos += 2
		return closing(">>")
	case delimiter(c):
		l.pos++
		return operator(c)
	}
	return l.word()
}

func (l *lexer) at(i int) byte {
	if l.pos+i < len(l.data) {
		return l.data[l.pos+i]
	}
	return 0
}

// run returns the characters up to a blank or delimiter.
func (l *lexer) run() string {
	start := l.pos
	for l.pos < len(l.data) && !blank(l.data[l.pos]) && !delimiter(l.data[l.pos]) {
		l.pos++
	}
	return string(l.data[start:l.pos])
}

// word reads a number, a reference or an operator.
func (l *lexer) word() object {
	w := l.run()
	switch w {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	n, err := strconv.ParseFloat(w, 64)
	if err != nil || n != n || n > 1e15 || n < -1e15 {
		return operator(w)
	}
	if l.refs && n >= 0 && n == float64(int(n)) {
		if number, ok := l.reference(int(n)); ok {
			return number
		}
	}
	return n
}

// reference reads the rest of "12 0 R".
func (l *lexer) reference(number int) (ref, bool) {
	start := l.pos
	l.skip()
	generation := l.run()
	l.skip()
	if _, err := strconv.ParseUint(generation, 10, 16); err == nil && l.run() == "R" {
		return ref(number), true
	}
	l.pos = start
	return 0, false
}

func (l *lexer) name() name {
	raw := l.run()
	if bytes.IndexByte([]byte(raw), '#') < 0 {
		return name(raw)
	}
	var out []byte
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) {
			if n, err := strconv.ParseUint(raw[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, raw[i])
	}
	return name(out)
}

// literal reads a string in parentheses.
func (l *lexer) literal() text {
	l.pos++
	var out []byte
	for open := 1; l.pos < len(l.data); {
		c := l.data[l.pos]
		l.pos++
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return text(out)
			}
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, c)
	}
	return text(out)
}

// escape reads what follows a backslash in a string.
func (l *lexer) escape(out []byte) []byte {
	c := l.at(0)
	l.pos++
	switch c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case '\n':
		return out
	case '\r':
		if l.at(0) == '\n' {
			l.pos++
		}
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	n := int(c - '0')
	for i := 0; i < 2 && l.at(0) >= '0' && l.at(0) <= '7'; i++ {
		n = n<<3 | int(l.at(0)-'0')
		l.pos++
	}
	return append(out, byte(n))
}

// hex reads a string in angle brackets.
func (l *lexer) hex() text {
	l.pos++
	stop := bytes.IndexByte(l.data[l.pos:], '>')
	if stop < 0 {
		stop = len(l.data) - l.pos
	}
	out := unhex(l.data[l.pos : l.pos+stop])
	l.pos = min(l.pos+stop+1, len(l.data))
	return text(out)
}

// unhex decodes hexadecimal digits and passes over everything else.
func unhex(digits []byte) []byte {
	out := make([]byte, 0, len(digits)/2+1)
	half, n := byte(0), 0
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			continue
		}
		if n++; n%2 == 0 {
			out = append(out, half<<4|c)
		}
		half = c
	}
	if n%2 == 1 {
		out = append(out, half<<4)
	}
	return out
}

func (l *lexer) array(depth int) object {
	var out array
	for depth <= maxDepth { // what is nested deeper is read flat
		v := l.next(depth + 1)
		switch v.(type) {
		case end, closing:
			return out
		}
		if len(out) < maxItems {
			out = append(out, v)
		}
	}
	return out
}

func (l *lexer) dict(depth int) object {
	out := dict{}
	for depth <= maxDepth {
		key, ok := l.next(depth + 1).(name)
		if !ok {
			return out
		}
		v := l.next(depth + 1)
		switch v.(type) {
		case end, closing:
			return out
		}
		out[key] = v
	}
	return out
}
