package textmatch

import (
	"sort"
	"strings"
)

// Stage is how loosely a quotation was matched.
type Stage uint8

// The stages, in the order in which they are tried.
const (
	// Exact: the quotation is a substring.
	Exact Stage = iota
	// LineTrimmed: whole lines, equal without blanks at either end.
	LineTrimmed
	// WhitespaceNormalized: whole lines, equal when every run of blanks
	// counts as one.
	WhitespaceNormalized
	// IndentationFlexible: whole lines, equal when both sides are moved to
	// the left margin; blank lines around the quotation do not count.
	IndentationFlexible
	// EscapeNormalized: a substring once \n, \t, \" and the like in the
	// quotation are read as what they stand for.
	EscapeNormalized
	// Typographic: a substring, or whole lines as in WhitespaceNormalized,
	// once typographic quotation marks, dashes and blanks on both sides are
	// read as their ASCII cousins.
	Typographic
	// BlockAnchor: three lines or more of which the first and the last are
	// equal without blanks at either end, and those between are similar.
	BlockAnchor
	stages
)

var stageNames = [stages]string{
	"exact", "line_trimmed", "whitespace_normalized", "indentation_flexible", "escape_normalized", "typographic", "block_anchor",
}

// String returns the name of the stage.
func (s Stage) String() string { return stageNames[min(s, stages-1)] }

// MaxMatches bounds how many places [Find] counts: enough to say that there
// are many.
const MaxMatches = 1000

// A Match is a place that a quotation may mean.
type Match struct {
	// Start and End are byte offsets in the text.
	Start, End int
	Stage      Stage
	// Similarity is from 0 to 1; it is below 1 for BlockAnchor only.
	Similarity float64

	// pairs says which line of the quotation stands for which line of the
	// text, both counted from the start of the match. nil where the match
	// is not of whole lines.
	pairs []pair
	// withEnd says that the match includes the end of its last line, if
	// that has one.
	withEnd bool
}

type pair struct{ quoted, found int }

// Find returns the places of the strictest stage that has any, in order, at
// most [MaxMatches]. Places of the exact stage may overlap. An empty quotation, and
// one of blanks alone beyond the exact stage, is nowhere.
func Find(text, quote string) []Match { return find(text, quote, MaxMatches, 1) }

// FindAll returns all places of the strictest stage that has any, in order,
// without those that overlap an earlier one.
func FindAll(text, quote string) []Match {
	return apart(find(text, quote, len(text)+1, len(quote)))
}

// find is Find with a limit; step is how far behind the start of an exact
// match the next one may begin.
func find(text, quote string, limit, step int) []Match {
	if quote == "" {
		return nil
	}
	if found := findExact(text, quote, Exact, limit, step); len(found) > 0 {
		return found
	}
	if strings.TrimSpace(quote) == "" {
		return nil
	}
	s := newSearch(text, quote)
	s.limit, s.step = limit, step
	for _, stage := range []func() []Match{
		s.lineTrimmed, s.whitespaceNormalized, s.indentationFlexible, s.escapeNormalized, s.typographic, s.blockAnchor,
	} {
		if found := stage(); len(found) > 0 {
			return found
		}
	}
	return nil
}

func findExact(text, quote string, stage Stage, limit, step int) []Match {
	var found []Match
	for from := 0; from < len(text) && len(found) < limit; {
		i := strings.Index(text[from:], quote)
		if i < 0 {
			break
		}
		at := from + i
		found = append(found, Match{Start: at, End: at + len(quote), Stage: stage, Similarity: 1})
		from = at + step
	}
	return found
}

// apart drops matches that overlap an earlier one.
func apart(found []Match) []Match {
	var out []Match
	end := 0
	for _, m := range found {
		if m.Start >= end {
			out = append(out, m)
			end = m.End
		}
	}
	return out
}

// Disproportionate reports whether a match is so much larger than what was
// quoted that replacing it would remove text which nobody described: more
// than twice the lines and three more, or four times the bytes. A quotation
// that was matched by what its escapes stand for is measured by that.
func Disproportionate(text string, m Match, quote string) bool {
	if m.Stage == EscapeNormalized {
		quote = Unescape(quote)
	}
	lines := strings.Count(strings.TrimSuffix(quote, "\n"), "\n") + 1
	found := text[m.Start:m.End]
	foundLines := strings.Count(strings.TrimSuffix(found, "\n"), "\n") + 1
	return foundLines > max(lines+3, 2*lines) || len(found) > 4*len(quote) && textOf(found) > 4*len(quote)
}

// textOf is how many bytes of a text are neither indentation nor at the end
// of a line: in deeply nested code a short line may be mostly blanks, which
// nobody need quote.
func textOf(s string) int {
	n := strings.Count(s, "\n")
	for line := range strings.Lines(s) {
		n += len(strings.TrimSpace(line))
	}
	return n
}

// A page is a text with its lines.
type page struct {
	text  string
	start []int // of each line
}

func newPage(text string) *page {
	p := &page{text: text, start: make([]int, 1, strings.Count(text, "\n")+1)}
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		p.start = append(p.start, at)
	}
	if n := len(p.start); n > 1 && p.start[n-1] == len(text) {
		p.start = p.start[:n-1] // the end of the last line begins no other
	}
	return p
}

func (p *page) lines() int { return len(p.start) }

// line returns line i without its end.
func (p *page) line(i int) string {
	return strings.TrimSuffix(p.text[p.start[i]:p.next(i)], "\n")
}

// next returns where the line after i begins.
func (p *page) next(i int) int {
	if i+1 < len(p.start) {
		return p.start[i+1]
	}
	return len(p.text)
}

// at returns the line that holds a byte.
func (p *page) at(offset int) int {
	return sort.Search(len(p.start), func(i int) bool { return p.start[i] > offset }) - 1
}

// span returns the bytes of lines from to to, the last without its end
// unless withEnd says so.
func (p *page) span(from, to int, withEnd bool) (start, end int) {
	start, end = p.start[from], p.next(to-1)
	if !withEnd && end > start && p.text[end-1] == '\n' {
		end--
	}
	return start, end
}

// A search is one quotation in one text.
type search struct {
	*page
	quote   string
	quoted  []string // its lines
	withEnd bool     // the quotation ends with a line end
	key     int      // the first quoted line that is not blank
	// limit is how many matches are wanted, step is that of find.
	limit, step int
}

func newSearch(text, quote string) *search {
	s := &search{page: newPage(text), quote: quote}
	s.quoted, s.withEnd = splitLines(quote)
	for s.key < len(s.quoted)-1 && strings.TrimSpace(s.quoted[s.key]) == "" {
		s.key++
	}
	return s
}

// splitLines divides a text into lines without their ends.
func splitLines(text string) (lines []string, withEnd bool) {
	text, withEnd = strings.CutSuffix(text, "\n")
	return strings.Split(text, "\n"), withEnd
}
