package terminal

import "fmt"

// moveTo puts the cursor at a place, from 0, within the screen.
func (s *Screen) moveTo(x, y int) {
	p := s.page()
	p.x, p.y = clamp(x, 0, s.cols-1), clamp(y, 0, len(p.rows)-1)
	p.atEdge = false
}

// sequence does what a control sequence asks for. What is not known changes
// nothing.
func (s *Screen) sequence(final byte, params []byte) {
	if len(params) > 0 && (params[0] == '?' || params[0] == '>' || params[0] == '=' || params[0] == '<') {
		s.private(final, params[0], params[1:])
		return
	}
	if len(params) > 0 && params[len(params)-1] < '0' {
		return // an intermediate character: a kind that is not used here
	}
	n := max(number(params, 0), 1)
	if s.move(final, n, params) {
		return
	}
	p := s.page()
	switch final {
	case 'J':
		s.eraseScreen(number(params, 0))
	case 'K':
		s.eraseLine(number(params, 0))
	case 'L':
		if p.y >= p.top && p.y <= p.bottom {
			s.scrollDown(p.y, n)
		}
	case 'M':
		s.deleteLines(n)
	case 'S':
		s.scrollUp(n)
	case 'T':
		s.scrollDown(p.top, n)
	case 'P', '@', 'X':
		s.editLine(final, n)
	case 'b':
		for range min(n, s.cols) {
			if s.last != 0 {
				s.put(s.last)
			}
		}
	case 'r':
		s.region(number(params, 0), number(params, 1))
	case 'n':
		switch number(params, 0) {
		case 5:
			s.reply("\x1b[0n")
		case 6:
			s.reply(fmt.Sprintf("\x1b[%d;%dR", p.y+1, p.x+1))
		}
	case 'c':
		s.reply("\x1b[?62;22c")
	}
}

// move does what moves the cursor, and reports whether it was that.
func (s *Screen) move(final byte, n int, params []byte) bool {
	p := s.page()
	switch final {
	case 'A':
		s.moveTo(p.x, max(p.y-n, s.ceiling(p)))
	case 'B', 'e':
		s.moveTo(p.x, min(p.y+n, s.floor(p)))
	case 'C', 'a':
		s.moveTo(p.x+n, p.y)
	case 'D':
		s.moveTo(p.x-n, p.y)
	case 'E':
		s.moveTo(0, min(p.y+n, s.floor(p)))
	case 'F':
		s.moveTo(0, max(p.y-n, s.ceiling(p)))
	case 'G', '`':
		s.moveTo(n-1, p.y)
	case 'd':
		s.moveTo(p.x, n-1)
	case 'H', 'f':
		s.moveTo(max(number(params, 1), 1)-1, n-1)
	case 's':
		p.saved.x, p.saved.y = p.x, p.y
	case 'u':
		s.moveTo(p.saved.x, p.saved.y)
	default:
		return false
	}
	return true
}

// ceiling and floor are how far the cursor moves up and down: to the edge of
// the region that it is in.
func (s *Screen) ceiling(p *page) int {
	if p.y >= p.top {
		return p.top
	}
	return 0
}

func (s *Screen) floor(p *page) int {
	if p.y <= p.bottom {
		return p.bottom
	}
	return len(p.rows) - 1
}

func (s *Screen) region(top, bottom int) {
	p := s.page()
	if bottom == 0 || bottom > len(p.rows) {
		bottom = len(p.rows)
	}
	top = max(top, 1)
	if top >= bottom {
		return
	}
	p.top, p.bottom = top-1, bottom-1
	s.moveTo(0, 0)
}

// eraseScreen empties the screen: from the cursor on, up to it, or all.
func (s *Screen) eraseScreen(what int) {
	p := s.page()
	from, to := 0, len(p.rows)
	switch what {
	case 0:
		s.eraseLine(0)
		from = p.y + 1
	case 1:
		s.eraseLine(1)
		to = p.y
	case 2:
	default:
		return
	}
	for i := from; i < to; i++ {
		p.rows[i].wipe()
	}
	s.changed = true
	if !s.onAlt && s.gone+from < s.mark && from < to {
		s.jumped = true
	}
}

// eraseLine empties the line of the cursor: from it on, up to it, or all.
func (s *Screen) eraseLine(what int) {
	p := s.page()
	s.touch(p)
	line := &p.rows[p.y]
	switch what {
	case 0:
		clear(line.cells[p.x:])
		line.wrapped = false
	case 1:
		clear(line.cells[:p.x+1])
	case 2:
		clear(line.cells)
		line.wrapped = false
	}
	line.mend()
}

// editLine deletes, inserts or empties n places of the line at the cursor.
func (s *Screen) editLine(final byte, n int) {
	p := s.page()
	s.touch(p)
	line := &p.rows[p.y]
	rest := line.cells[p.x:]
	n = min(n, len(rest))
	switch final {
	case 'P':
		copy(rest, rest[n:])
		clear(rest[len(rest)-n:])
	case '@':
		copy(rest[n:], rest)
		line.used = len(line.cells)
		clear(rest[:n])
	case 'X':
		clear(rest[:n])
	}
	line.mend()
}

// mend empties the halves of wide characters that lost the other half.
func (r *row) mend() {
	for i := range r.cells {
		if r.cells[i].second && (i == 0 || r.cells[i-1].r == 0 || columns(r.cells[i-1].r) != 2) {
			r.cells[i] = cell{}
		}
	}
}

func (s *Screen) deleteLines(n int) {
	p := s.page()
	if p.y < p.top || p.y > p.bottom {
		return
	}
	rotate(p.rows[p.y:p.bottom+1], min(n, p.bottom-p.y+1))
	s.touch(p)
}

// private does what a sequence with a mark of its own asks for: the modes,
// and the questions.
func (s *Screen) private(final, mark byte, params []byte) {
	switch {
	case mark == '>' && final == 'c':
		s.reply("\x1b[>1;10;0c")
		return
	case mark != '?' || final != 'h' && final != 'l':
		return
	}
	on := final == 'h'
	for i := range 8 {
		switch number(params, i) {
		case 1:
			s.application = on
		case 25:
			s.hidden = !on
		case 47, 1047, 1049:
			s.switchPage(on)
		}
	}
}

// switchPage changes between the two pages. A full-screen program begins on
// an empty one.
func (s *Screen) switchPage(alt bool) {
	if alt == s.onAlt {
		return
	}
	s.changed = true
	if alt {
		s.alt.empty()
		s.alt.x, s.alt.y = s.main.x, s.main.y
	}
	s.onAlt = alt
}
