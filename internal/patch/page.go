package patch

import (
	"strings"
	"unicode"

	"github.com/handrail-tools/handrail/internal/textmatch"
)

// Level is how loosely the lines of a hunk were matched.
type Level uint8

// The levels, in the order in which they are tried.
const (
	// Exact: the lines are the same.
	Exact Level = iota
	// TrailingBlanks: the same without blanks at their ends.
	TrailingBlanks
	// SurroundingBlanks: the same without blanks at either end.
	SurroundingBlanks
	// Typographic: the same once typographic quotation marks, dashes and
	// blanks are read as their ASCII cousins.
	Typographic
	levels
)

// String names the level for a message.
func (l Level) String() string {
	return [...]string{"exactly", "without regard to blanks at line ends", "without regard to indentation", "without regard to typographic characters"}[min(l, levels-1)]
}

// fold brings a line to what is compared at a level.
func (l Level) fold(line string) string {
	switch l {
	case Exact:
		return line
	case TrailingBlanks:
		return strings.TrimRightFunc(line, unicode.IsSpace)
	case SurroundingBlanks:
		return strings.TrimSpace(line)
	default:
		return strings.TrimSpace(textmatch.Fold(line))
	}
}

// A span is one line of a page: its text lies from start to end, the next
// line begins at next.
type span struct{ start, end, next int }

// A page is the content of a file by lines. A line is known by a number
// that equal lines share, one for each level, so that searching compares
// numbers.
type page struct {
	content string
	lines   []span
	index   [levels]map[string]int32
	seq     [levels][]int32
}

// newPage splits a content into lines, at LF and CRLF, and at CR if the text
// has no other end or if cr asks for it.
func newPage(content string, cr bool) *page {
	cr = cr || !strings.Contains(content, "\n")
	p := &page{content: content, lines: make([]span, 0, strings.Count(content, "\n")+1)}
	for at := 0; at < len(content); {
		l := span{start: at}
		var i int
		if cr {
			i = strings.IndexAny(content[at:], "\r\n")
		} else {
			i = strings.IndexByte(content[at:], '\n')
		}
		if i < 0 {
			l.end, l.next = len(content), len(content)
		} else {
			l.end, l.next = at+i, at+i+1
			switch {
			case content[l.end] == '\r' && l.next < len(content) && content[l.next] == '\n':
				l.next++
			case content[l.end] == '\n' && l.end > l.start && content[l.end-1] == '\r':
				l.end--
			}
		}
		p.lines = append(p.lines, l)
		at = l.next
	}
	return p
}

func (p *page) len() int { return len(p.lines) }

func (p *page) text(i int) string { return p.content[p.lines[i].start:p.lines[i].end] }

// eol returns how line i ends, "" for a last line without an end.
func (p *page) eol(i int) string { return p.content[p.lines[i].end:p.lines[i].next] }

// numbers returns the lines as numbers.
func (p *page) numbers(l Level) (map[string]int32, []int32) {
	if p.index[l] == nil {
		index, seq := make(map[string]int32, len(p.lines)), make([]int32, len(p.lines))
		for i := range p.lines {
			key := l.fold(p.text(i))
			n, ok := index[key]
			if !ok {
				n = int32(len(index))
				index[key] = n
			}
			seq[i] = n
		}
		p.index[l], p.seq[l] = index, seq
	}
	return p.index[l], p.seq[l]
}

// maxPlaces bounds how many places of one hunk are remembered.
const maxPlaces = 1 << 16

// search returns where lines stand at a level, from line from on, in order;
// eof asks for the one place at the end of the file. It takes time in
// proportion to the length of the file (Knuth, Morris, Pratt). lines is not
// empty.
func (p *page) search(l Level, lines []string, from int, eof bool) []int {
	if len(lines) > len(p.lines)-from {
		return nil
	}
	index, seq := p.numbers(l)
	want := make([]int32, len(lines))
	for i, line := range lines {
		n, ok := index[l.fold(line)]
		if !ok {
			return nil
		}
		want[i] = n
	}
	if eof {
		from = len(seq) - len(want)
	}
	// back[i] is how many of the first i+1 numbers are also their own
	// beginning, so that no number of the file is looked at twice.
	back := make([]int, len(want))
	for i, k := 1, 0; i < len(want); i++ {
		for k > 0 && want[i] != want[k] {
			k = back[k-1]
		}
		if want[i] == want[k] {
			k++
		}
		back[i] = k
	}
	var found []int
	for i, k := from, 0; i < len(seq); i++ {
		for k > 0 && seq[i] != want[k] {
			k = back[k-1]
		}
		if seq[i] == want[k] {
			k++
		}
		if k == len(want) {
			if found = append(found, i+1-k); len(found) == maxPlaces {
				break
			}
			k = back[k-1]
		}
	}
	return found
}
