package pdftext

import (
	"math"
	"strings"
	"unicode/utf8"
)

// A spot is a place on the page.
type spot struct{ x, y float64 }

// A layout makes lines of pieces of text that stand at places.
type layout struct {
	out  strings.Builder
	end  spot // behind the last piece
	size float64
	some bool // a piece was added
	cut  bool
	// blank says that the text ends with a blank or a line end.
	blank bool
}

// add adds a piece that reaches from one spot to another. m is how text
// stands there, and size the size of the font before m.
func (l *layout) add(piece string, from, to spot, m matrix, size float64) {
	if piece == "" {
		return
	}
	if l.out.Len() > maxText {
		l.cut = true
		return
	}
	along := spot{m.a, m.b}
	if n := math.Hypot(along.x, along.y); n > 0 {
		along.x, along.y = along.x/n, along.y/n
	} else {
		along = spot{1, 0}
	}
	if h := math.Hypot(m.c, m.d); h > 0 {
		size *= h
	}
	if l.some {
		l.gap(spot{from.x - l.end.x, from.y - l.end.y}, along, max(size, 0.01))
	}
	if piece != " " || !l.blank {
		l.out.WriteString(piece)
		r, _ := utf8.DecodeLastRuneInString(piece)
		l.blank = r == ' ' || r == '\n'
	}
	l.end, l.size, l.some = to, size, true
}

// gap writes what stands between two pieces. A new line is where the text
// leaves its base line by half its size or goes back; a superscript stays.
func (l *layout) gap(d, along spot, size float64) {
	forth := d.x*along.x + d.y*along.y
	across := math.Abs(d.y*along.x - d.x*along.y)
	larger := max(size, l.size)
	switch {
	case across > 2.2*larger:
		l.write("\n\n")
	case across > 0.5*larger, forth < -larger:
		l.write("\n")
	case forth > 0.15*size && !l.blank:
		l.write(" ")
	}
}

func (l *layout) write(s string) {
	l.out.WriteString(s)
	l.blank = true
}

// finish returns the text with its lines trimmed.
func (l *layout) finish() (string, bool) {
	lines := strings.Split(l.out.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.Trim(line, " \t\r\f\v")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n"), l.cut
}
