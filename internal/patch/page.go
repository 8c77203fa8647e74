package patch

import (
	"slices"
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
	known   [levels]*numbering
}

// A numbering is the lines as numbers, at one level.
type numbering struct {
	index map[string]int32
	seq   []int32 // the number of each line
	// at are the lines in the order of their numbers; those of number n are
	// at[first[n]:first[n+1]].
	first, at []int32
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
func (p *page) numbers(l Level) *numbering {
	if p.known[l] != nil {
		return p.known[l]
	}
	k := &numbering{index: make(map[string]int32, len(p.lines)), seq: make([]int32, len(p.lines))}
	for i := range p.lines {
		key := l.fold(p.text(i))
		n, ok := k.index[key]
		if !ok {
			n = int32(len(k.index))
			k.index[key] = n
		}
		k.seq[i] = n
	}
	k.first, k.at = make([]int32, len(k.index)+2), make([]int32, len(k.seq))
	for _, n := range k.seq {
		k.first[n+2]++
	}
	for n := 2; n < len(k.first); n++ {
		k.first[n] += k.first[n-1]
	}
	for i, n := range k.seq { // first[n+1] runs up to where n+1 begins
		k.at[k.first[n+1]] = int32(i)
		k.first[n+1]++
	}
	p.known[l] = k
	return k
}

// of returns the lines that have a number.
func (k *numbering) of(n int32) []int32 { return k.at[k.first[n]:k.first[n+1]] }

// maxPlaces bounds how many places of one hunk are remembered.
const maxPlaces = 1 << 16

// search returns where lines stand at a level, from line from on, in order;
// eof asks for the one place at the end of the file. lines is not empty.
func (p *page) search(l Level, lines []string, from int, eof bool) []int {
	if len(lines) > len(p.lines)-from {
		return nil
	}
	k := p.numbers(l)
	want := make([]int32, len(lines))
	rare := 0
	for i, line := range lines {
		n, ok := k.index[l.fold(line)]
		if !ok {
			return nil
		}
		want[i] = n
		if len(k.of(n)) < len(k.of(want[rare])) {
			rare = i
		}
	}
	if eof {
		from = len(k.seq) - len(want)
	}
	if found := k.of(want[rare]); len(found)*len(want) <= len(k.seq)-from {
		return k.around(found, want, rare, from)
	}
	return k.scan(want, from)
}

// around looks at the lines that one of those that are wanted can be.
func (k *numbering) around(lines, want []int32, rare, from int) []int {
	var found []int
	for _, line := range lines {
		at := int(line) - rare
		if at >= from && at+len(want) <= len(k.seq) && slices.Equal(k.seq[at:at+len(want)], want) {
			if found = append(found, at); len(found) == maxPlaces {
				break
			}
		}
	}
	return found
}

// scan looks at every line once (Knuth, Morris, Pratt).
func (k *numbering) scan(want []int32, from int) []int {
	// back[i] is how many of the first i+1 numbers are also their own
	// beginning.
	back := make([]int, len(want))
	for i, n := 1, 0; i < len(want); i++ {
		for n > 0 && want[i] != want[n] {
			n = back[n-1]
		}
		if want[i] == want[n] {
			n++
		}
		back[i] = n
	}
	var found []int
	for i, n := from, 0; i < len(k.seq); i++ {
		for n > 0 && k.seq[i] != want[n] {
			n = back[n-1]
		}
		if k.seq[i] == want[n] {
			n++
		}
		if n == len(want) {
			if found = append(found, i+1-n); len(found) == maxPlaces {
				break
			}
			n = back[n-1]
		}
	}
	return found
}
