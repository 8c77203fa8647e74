package terminal

import (
	"strings"
)

// The bounds of a screen.
const (
	// MaxRows and MaxColumns bound a screen; they bound its memory at 12 MB.
	MaxRows    = 500
	MaxColumns = maxColumns
	maxColumns = 1000

	// maxScrolled bounds the lines that went off the top and were not taken
	// yet, in bytes; the oldest go first.
	maxScrolled = 256 << 10
	// maxJoined bounds what joins one character, in bytes: an emoji of a
	// family takes 25.
	maxJoined = 32
)

// A cell is one place of a screen.
type cell struct {
	r      rune   // 0 for a place that was never written
	joined string // what joins r in its place
	second bool   // the right half of a wide character
}

// A row is one line of a screen.
type row struct {
	cells []cell
	// used is how many cells may hold something: a program can have a large
	// screen emptied with a few bytes, and what is empty costs nothing.
	used int
	// wrapped says that the line goes on in the next row.
	wrapped bool
}

// wipe empties the row.
func (r *row) wipe() {
	clear(r.cells[:r.used])
	r.used, r.wrapped = 0, false
}

// rotate moves rows up by n, or down by -n, and empties those that come in.
func rotate(rows []row, n int) {
	if n < 0 {
		n += len(rows)
		for i := n; i < len(rows); i++ {
			rows[i].wipe()
		}
	} else {
		for i := range n {
			rows[i].wipe()
		}
	}
	out := append([]row(nil), rows[:n]...)
	copy(rows[copy(rows, rows[n:]):], out)
}

// A page is one of the two pictures of a screen: the normal one, and the one
// that full-screen programs draw on.
type page struct {
	rows   []row
	x, y   int
	saved  struct{ x, y int }
	top    int // of the scrolling region
	bottom int // its last row
	atEdge bool
}

// Screen is the picture that a program draws by writing to a terminal of the
// kind xterm. It knows what vim, less, top, readline and their like use;
// colours are left out.
type Screen struct {
	parser
	cols   int
	main   page
	alt    page
	onAlt  bool
	hidden bool // the cursor is
	g0Line bool // the line-drawing characters are in use
	g1Line bool
	shift  bool // the second character set is in use
	last   rune
	answer []byte

	scrolled []string // lines that went off the top of the main page
	size     int      // of scrolled, in bytes
	lost     int      // lines that were dropped from scrolled
	gone     int      // lines that ever went off the top

	mark    int  // the line, counted from the first ever, that was shown last
	jumped  bool // something was drawn above mark
	changed bool
	// application says that the program wants the other codes of the arrow
	// keys.
	application bool
}

// NewScreen returns an empty screen. What is out of bounds is brought into
// them.
func NewScreen(rows, cols int) *Screen {
	s := &Screen{cols: clamp(cols, 2, MaxColumns)}
	rows = clamp(rows, 2, MaxRows)
	s.main, s.alt = newPage(rows, s.cols), newPage(rows, s.cols)
	s.parser.to = s
	return s
}

func newPage(rows, cols int) page {
	p := page{rows: make([]row, rows), bottom: rows - 1}
	for i := range p.rows {
		p.rows[i].cells = make([]cell, cols)
	}
	return p
}

// empty makes the page like a new one.
func (p *page) empty() {
	for i := range p.rows {
		p.rows[i].wipe()
	}
	*p = page{rows: p.rows, bottom: len(p.rows) - 1}
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }

// Size returns the number of rows and columns.
func (s *Screen) Size() (rows, cols int) { return len(s.main.rows), s.cols }

// FullScreen reports whether a program draws on the whole screen, as an
// editor does.
func (s *Screen) FullScreen() bool { return s.onAlt }

// ApplicationKeys reports whether the program asked for the other codes of
// the arrow keys.
func (s *Screen) ApplicationKeys() bool { return s.application }

// Answers returns what the terminal has to tell the program, and forgets it:
// programs ask it what it is, and where the cursor stands.
func (s *Screen) Answers() []byte {
	a := s.answer
	s.answer = nil
	return a
}

// reply adds to the answers. A program that never reads them gets no more.
func (s *Screen) reply(text string) {
	if len(s.answer) < 1<<10 {
		s.answer = append(s.answer, text...)
	}
}

func (s *Screen) page() *page {
	if s.onAlt {
		return &s.alt
	}
	return &s.main
}

// Resize changes the size. Lines are cut and not wrapped anew; programs draw
// again when they hear of it.
func (s *Screen) Resize(rows, cols int) {
	rows, cols = clamp(rows, 2, MaxRows), clamp(cols, 2, MaxColumns)
	s.cols = cols
	s.main.resize(rows, cols, s.scrolledOff)
	s.alt.resize(rows, cols, func(row) {})
	s.changed = true
}

func (p *page) resize(rows, cols int, off func(row)) {
	for i := range p.rows {
		r := &p.rows[i]
		for len(r.cells) < cols {
			r.cells = append(r.cells, cell{})
		}
		r.cells = r.cells[:cols:cols]
		r.used = min(r.used, cols)
	}
	for len(p.rows) > rows && p.y < len(p.rows)-1 {
		p.rows = p.rows[:len(p.rows)-1] // below the cursor
	}
	for len(p.rows) > rows {
		off(p.rows[0])
		p.rows = append(p.rows[:0:0], p.rows[1:]...)
		p.y--
	}
	for len(p.rows) < rows {
		p.rows = append(p.rows, row{cells: make([]cell, cols)})
	}
	p.top, p.bottom, p.atEdge = 0, rows-1, false
	p.x, p.y = clamp(p.x, 0, cols-1), clamp(p.y, 0, rows-1)
}

// put writes a character at the cursor.
func (s *Screen) put(r rune) {
	p := s.page()
	n := columns(r)
	if n == 0 || s.joins(p) {
		s.join(p, r)
		return
	}
	if p.atEdge || n == 2 && p.x == s.cols-1 {
		p.rows[p.y].wrapped = true
		p.x, p.atEdge = 0, false
		s.lineFeed()
	}
	s.touch(p)
	p.rows[p.y].used = max(p.rows[p.y].used, p.x+n)
	line := p.rows[p.y].cells
	line[p.x] = cell{r: r}
	if n == 2 {
		line[p.x+1] = cell{second: true}
	}
	s.last = r
	if p.x += n; p.x >= s.cols {
		p.x, p.atEdge = s.cols-1, true
	}
}

// joins reports whether the next character belongs to the one before.
func (s *Screen) joins(p *page) bool {
	c := s.before(p)
	return c != nil && strings.HasSuffix(c.joined, string(rune(zeroWidthJoiner)))
}

// before returns the cell that was written before the cursor, or nil.
func (s *Screen) before(p *page) *cell {
	x := p.x - 1
	if p.atEdge {
		x = p.x
	}
	line := p.rows[p.y].cells
	if x > 0 && line[x].second {
		x--
	}
	if x < 0 || line[x].r == 0 {
		return nil
	}
	return &line[x]
}

func (s *Screen) join(p *page, r rune) {
	if c := s.before(p); c != nil && len(c.joined) < maxJoined {
		s.touch(p)
		c.joined += string(r)
	}
}

// touch notes that the row of the cursor changes.
func (s *Screen) touch(p *page) {
	s.changed = true
	if !s.onAlt && s.gone+p.y < s.mark {
		s.jumped = true
	}
}

// lineFeed moves the cursor down, and the region up where it is at its end.
func (s *Screen) lineFeed() {
	p := s.page()
	s.changed = true
	if p.y == p.bottom {
		s.scrollUp(1)
		return
	}
	if p.y < len(p.rows)-1 {
		p.y++
	}
}

// scrollUp moves the lines of the region up by n. What leaves the main page
// at the top is kept to be read.
func (s *Screen) scrollUp(n int) {
	p := s.page()
	n = min(n, p.bottom-p.top+1)
	if p.top == 0 && !s.onAlt {
		for i := range n {
			s.scrolledOff(p.rows[i])
		}
	}
	rotate(p.rows[p.top:p.bottom+1], n)
	s.changed = true
}

// scrollDown moves the lines from row at to the region's end down by n.
func (s *Screen) scrollDown(at, n int) {
	p := s.page()
	rotate(p.rows[at:p.bottom+1], -min(n, p.bottom-at+1))
	s.touch(p)
}

// scrolledOff keeps a line that leaves the screen.
func (s *Screen) scrolledOff(r row) {
	text := r.text()
	if !r.wrapped {
		text += "\n"
	}
	s.gone++
	s.scrolled = append(s.scrolled, text)
	s.size += len(text)
	for s.size > maxScrolled && len(s.scrolled) > 1 {
		s.size -= len(s.scrolled[0])
		s.scrolled = s.scrolled[1:]
		s.lost++
	}
}

// text returns the row without the blanks at its end.
func (r *row) text() string {
	end := r.used
	for end > 0 && (r.cells[end-1].r == 0 && !r.cells[end-1].second) {
		end--
	}
	var b strings.Builder
	for _, c := range r.cells[:end] {
		switch {
		case c.second:
		case c.r == 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(c.r)
			b.WriteString(c.joined)
		}
	}
	if r.wrapped {
		return b.String()
	}
	return strings.TrimRight(b.String(), " ")
}
