package terminal

import "unicode/utf8"

// A parser reads what is written to a screen.
type parser struct {
	to    *Screen
	state byte
	seq   []byte
	size  int // of a control string
	half  []byte
	which byte // which character set is being chosen
}

// Write draws the next piece. It never fails.
func (p *parser) Write(b []byte) (int, error) {
	n := len(b)
	if len(p.half) > 0 {
		b = append(p.half, b...)
		p.half = nil
	}
	for len(b) > 0 {
		c := b[0]
		if p.state != inText || c < 0x20 || c == 0x7f {
			p.byte(c)
			b = b[1:]
			continue
		}
		if c < utf8.RuneSelf {
			p.to.put(p.to.drawn(rune(c)))
			b = b[1:]
			continue
		}
		if !utf8.FullRune(b) {
			p.half = append([]byte(nil), b...) // at most three bytes
			return n, nil
		}
		r, size := utf8.DecodeRune(b)
		p.to.put(r)
		b = b[size:]
	}
	return n, nil
}

func (p *parser) byte(c byte) {
	// These work within a sequence too.
	if c < 0x20 && c != 0x1b && p.state != inString && p.state != inStringEscape {
		if c == 0x18 || c == 0x1a {
			p.state = inText
			return
		}
		p.to.control(c)
		return
	}
	switch p.state {
	case inText:
		if c == 0x1b {
			p.state, p.seq = inEscape, p.seq[:0]
		}
	case inEscape:
		p.escape(c)
	case inCSI:
		p.csi(c)
	case inCharset:
		p.to.charset(p.which, c)
		p.state = inText
	default:
		p.string(c)
	}
}

func (p *parser) escape(c byte) {
	p.state = inText
	switch c {
	case 0x1b:
		p.state = inEscape
	case '[':
		p.state = inCSI
	case ']', 'P', 'X', '^', '_':
		p.state, p.size = inString, 0
	case '(', ')', '*', '+', '#', '%', ' ':
		p.state, p.which = inCharset, c
	default:
		p.to.escape(c)
	}
}

func (p *parser) csi(c byte) {
	switch {
	case c == 0x1b:
		p.state, p.seq = inEscape, p.seq[:0]
	case c >= 0x40 && c <= 0x7e:
		p.to.sequence(c, p.seq)
		p.state = inText
	case len(p.seq) >= 64:
		p.state = inText
	default:
		p.seq = append(p.seq, c)
	}
}

// string passes over a control string. One that is too long is none.
func (p *parser) string(c byte) {
	p.size++
	switch {
	case c == 0x07, p.state == inStringEscape && c == '\\', p.size > maxString:
		p.state = inText
	case c == 0x1b:
		p.state = inStringEscape
	default:
		p.state = inString
	}
}

// control does what a control character asks for.
func (s *Screen) control(c byte) {
	p := s.page()
	switch c {
	case '\n', '\v', '\f':
		if !p.atEdge {
			p.rows[p.y].wrapped = false
		}
		p.atEdge = false
		s.lineFeed()
	case '\r':
		p.x, p.atEdge = 0, false
	case '\b':
		p.x, p.atEdge = max(p.x-1, 0), false
	case '\t':
		p.x, p.atEdge = min(p.x/8*8+8, s.cols-1), false
	case 0x0e:
		s.shift = true
	case 0x0f:
		s.shift = false
	}
}

// charset chooses what the first or the second character set is.
func (s *Screen) charset(which, c byte) {
	switch which {
	case '(':
		s.g0Line = c == '0'
	case ')':
		s.g1Line = c == '0'
	}
}

// lineDrawing are the characters from ` to ~ in the line-drawing set.
var lineDrawing = [...]rune{
	'◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// drawn returns the character that an ASCII code stands for.
func (s *Screen) drawn(r rune) rune {
	line := s.g0Line
	if s.shift {
		line = s.g1Line
	}
	if line && r >= '`' && r <= '~' {
		return lineDrawing[r-'`']
	}
	return r
}

// escape does what a sequence of two characters asks for.
func (s *Screen) escape(c byte) {
	p := s.page()
	switch c {
	case '7':
		p.saved.x, p.saved.y = p.x, p.y
	case '8':
		s.moveTo(p.saved.x, p.saved.y)
	case 'D':
		s.lineFeed()
	case 'E':
		p.x, p.atEdge = 0, false
		s.lineFeed()
	case 'M':
		if p.y == p.top {
			s.scrollDown(p.top, 1)
		} else {
			s.moveTo(p.x, p.y-1)
		}
	case 'c':
		s.main.empty()
		s.alt.empty()
		s.onAlt, s.g0Line, s.g1Line, s.shift, s.application = false, false, false, false, false
		s.changed, s.jumped = true, true
	}
}
