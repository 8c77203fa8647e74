package terminal

import "strings"

// View is what there is to read of a screen.
type View struct {
	// Text is the new lines, or the whole picture where Picture is set.
	Text string
	// Picture says that the program draws on the screen instead of writing
	// line after line.
	Picture bool
	// Lost is how many lines passed that were not kept.
	Lost int
	// Row and Column are where the cursor stands, from 1.
	Row, Column int
}

// String returns the whole picture: every row without the blanks at its end,
// and without the empty rows at the bottom.
func (s *Screen) String() string {
	p := s.page()
	lines := make([]string, len(p.rows))
	for i := range p.rows {
		lines[i] = strings.TrimRight(p.rows[i].text(), " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Take returns what is to be read since the last time: the lines that were
// written, from the one on that was the last, so that what was typed stands
// behind its prompt; or the picture, if a program draws. A screen on which
// nothing has changed gives no text.
func (s *Screen) Take() View {
	p := s.page()
	v := View{Row: p.y + 1, Column: p.x + 1, Picture: s.onAlt || s.jumped, Lost: s.lost}
	switch {
	case !s.changed:
		return v
	case v.Picture:
		v.Text = s.String()
	default:
		v.Text = s.since(s.mark)
	}
	s.scrolled, s.size, s.lost = nil, 0, 0
	s.changed, s.jumped = false, false
	if !s.onAlt {
		s.mark = s.gone + s.main.y
	}
	return v
}

// since returns the text of the main page from a line on, counted from the
// first ever, down to the cursor or what is written below it.
func (s *Screen) since(line int) string {
	var b strings.Builder
	first := s.gone - len(s.scrolled)
	for i := max(line-first, 0); i < len(s.scrolled); i++ {
		b.WriteString(s.scrolled[i])
	}
	end := s.main.y
	for i := len(s.main.rows) - 1; i > end; i-- {
		if s.main.rows[i].text() != "" {
			end = i
		}
	}
	for i := max(line-s.gone, 0); i <= end; i++ {
		r := &s.main.rows[i]
		text := r.text()
		b.WriteString(text)
		if i == s.main.y && i == end && text != "" {
			b.WriteString(s.blanks(r)) // a prompt ends in a blank
		}
		if !r.wrapped && i < end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// blanks returns the blanks between the text of the cursor's row and the
// cursor.
func (s *Screen) blanks(r *row) string {
	n := 0
	for _, c := range r.cells[s.main.x:] {
		if c.r != 0 && c.r != ' ' || c.second {
			return "" // it stands within the text
		}
	}
	for x := s.main.x - 1; x >= 0 && (r.cells[x].r == 0 || r.cells[x].r == ' ') && !r.cells[x].second; x-- {
		n++
	}
	return strings.Repeat(" ", n)
}
