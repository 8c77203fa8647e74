package match

import (
	"io"
	"regexp"
	"unicode/utf8"
)

// spanner finds where matches begin and end, which the automaton cannot
// tell. It is slow and is asked only for texts that are known to match.
type spanner struct {
	first *regexp.Regexp // group 1 is the match
	// further is first behind one rune more, which it sees as what stands
	// before the match.
	further *regexp.Regexp
}

func newSpanner(p *Pattern) (*spanner, error) {
	expr := p.re.String()
	// In a pattern for whole words group 1 is there already.
	if !p.inner {
		expr = "(" + expr + ")"
	}
	first, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	further, err := regexp.Compile(`\A(?s:.)(?s:.*?)` + expr)
	if err != nil {
		return nil, err
	}
	return &spanner{first, further}, nil
}

// Spans calls found with the start and end of each match in text, from left
// to right and without overlap, until found returns false. The pattern must
// have been compiled with [Options.Multiline].
func (m *Matcher) Spans(text []byte, found func(start, end int) bool) {
	if m.finder != nil {
		m.finder.reset()
		if m.finder.next(text, 0) < 0 {
			return
		}
	}
	if m.automaton().first(text) < 0 {
		return
	}
	re, at, last := m.pattern.spans.first, 0, -1
	for {
		loc := re.FindReaderSubmatchIndex(&runes{text: text[at:], matcher: m})
		if loc == nil || m.stop != nil && m.stop.Load() {
			return
		}
		start, end := at+loc[2], at+loc[3]
		// An empty match right behind another one is none.
		if (end > start || start != last) && !found(start, end) {
			return
		}
		last = end
		if end == start {
			_, width := utf8.DecodeRune(text[end:])
			end += width
		}
		if end >= len(text) || end == 0 {
			return
		}
		_, width := utf8.DecodeLastRune(text[:end])
		re, at = m.pattern.spans.further, end-width
	}
}

// runes reads a text rune by rune and ends early when the matcher is
// stopped, which a search over bytes could not.
type runes struct {
	text    []byte
	at      int
	matcher *Matcher
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.at&1023 < utf8.UTFMax && r.matcher.stop != nil && r.matcher.stop.Load() {
		return 0, 0, io.EOF
	}
	if r.at >= len(r.text) {
		return 0, 0, io.EOF
	}
	if c := r.text[r.at]; c < utf8.RuneSelf {
		r.at++
		return rune(c), 1, nil
	}
	c, width := utf8.DecodeRune(r.text[r.at:])
	r.at += width
	return c, width, nil
}
