package textmatch

import "strings"

// nearBudget bounds the search for a similar place, in cells; see
// compareBudget. It only serves a message, so it is smaller.
const nearBudget = 8_000_000

// A Near is the place of a text that is most like a quotation.
type Near struct {
	// Line is the line, from 0, where the quotation would begin; Lines is
	// how many lines of the text it would cover.
	Line, Lines int
	// Differs is the first quoted line, from 0, that is not in the text as
	// quoted, or -1. Found is the line of the text in its place.
	Differs int
	Quoted  string
	Found   string
}

// Nearest finds the place most like a quotation that Find could not find:
// the one where most quoted lines are, or else the one line most similar to
// the longest quoted one. It reports false where nothing is alike.
func Nearest(text, quote string) (Near, bool) {
	if strings.TrimSpace(quote) == "" || strings.TrimSpace(text) == "" {
		return Near{}, false
	}
	s := newSearch(text, quote)
	from, ok := s.vote()
	if !ok {
		if from, ok = s.alike(); !ok {
			return Near{}, false
		}
	}
	from = max(from, 0)
	near := Near{Line: from, Lines: min(len(s.quoted), s.lines()-from), Differs: -1}
	for i := range near.Lines {
		if s.line(from+i) != s.quoted[i] {
			near.Differs, near.Quoted, near.Found = i, s.quoted[i], s.line(from+i)
			break
		}
	}
	return near, true
}

// vote lets each quoted line that stands in the text speak for the place
// where the quotation would begin then.
func (s *search) vote() (int, bool) {
	// A line that the quotation has over and over says little about the place,
	// and in a text that is made of it would be counted without end.
	const mostQuoted, mostAlike = 200, 8
	want := make(map[string][]int)
	for i, q := range s.quoted[:min(len(s.quoted), mostQuoted)] {
		// A line of punctuation alone stands everywhere and says nothing.
		if q = strings.TrimSpace(q); len(strings.Trim(q, "{}()[];,/*#-= ")) > 2 && len(want[q]) < mostAlike {
			want[q] = append(want[q], i)
		}
	}
	votes := make(map[int]int)
	best, most := 0, 0
	for line := range s.lines() {
		for _, i := range want[strings.TrimSpace(s.line(line))] {
			at := line - i
			votes[at]++
			if votes[at] > most {
				best, most = at, votes[at]
			}
		}
	}
	return best, most > 0
}

// alike finds the line most similar to the longest quoted one.
func (s *search) alike() (int, bool) {
	const threshold = 0.6
	longest := 0
	for i, q := range s.quoted {
		if len(strings.TrimSpace(q)) > len(strings.TrimSpace(s.quoted[longest])) {
			longest = i
		}
	}
	want := strings.TrimSpace(s.quoted[longest])
	if len(want) < 4 {
		return 0, false
	}
	c := comparer{budget: nearBudget}
	best, found := threshold, -1
	for i := range s.lines() {
		line := strings.TrimSpace(s.line(i))
		if score := c.similarity(line, want, best); score > best {
			best, found = score, i
		}
	}
	return found - longest, found >= 0
}
