package match

import (
	"bytes"
	"sync/atomic"
)

// Line is a line that matches: text[Start:End], without its newline. At is a
// place in or at the end of the match.
type Line struct{ Start, End, At int }

// Matcher searches texts for one pattern. It serves one goroutine.
type Matcher struct {
	pattern *Pattern
	finder  finder // nil where no word is certain
	auto    *automaton
	stop    *atomic.Bool

	text []byte
	at   int // start of the first line that was not looked at

	// Without a finder, lines are found a stretch of text at a time.
	hits    []int
	hit     int // the next of hits
	scanned int
	stretch int
}

// Matcher returns a new matcher. Once stop is set, it finds no more; nil
// means that it is never stopped.
func (p *Pattern) Matcher(stop *atomic.Bool) *Matcher {
	m := &Matcher{pattern: p, stop: stop}
	if len(p.words.words) > 0 {
		m.finder = newFinder(p.words)
	}
	return m
}

// automaton returns the matcher's automaton, made when it is first needed.
func (m *Matcher) automaton() *automaton {
	if m.auto == nil {
		m.auto = newAutomaton(m.pattern, m.stop)
	}
	return m.auto
}

// firstStretch is how much is scanned at first where every line is read:
// often the first match is all that is wanted.
const firstStretch = 32 << 10

// Reset begins a text. It is whole lines, of which the last may lack its
// newline; it must not change while lines are taken from it.
func (m *Matcher) Reset(text []byte) {
	m.text, m.at = text, 0
	m.hits, m.hit, m.scanned, m.stretch = m.hits[:0], 0, 0, firstStretch
	if m.finder != nil {
		m.finder.reset()
	}
}

// Next returns the next line that matches.
func (m *Matcher) Next() (Line, bool) {
	if m.finder == nil {
		return m.nextScanned()
	}
	for m.at < len(m.text) {
		at := m.finder.next(m.text, m.at)
		if at < 0 {
			break
		}
		line := m.lineAround(at)
		m.at = line.End + 1
		if m.pattern.whole {
			return line, true
		}
		if at := m.automaton().first(m.text[line.Start:line.End]); at >= 0 {
			line.At = line.Start + at
			return line, true
		}
		if m.auto.stopped() {
			break
		}
	}
	m.at = len(m.text)
	return Line{}, false
}

// lineAround returns the line with the place at, which is in a line that was
// not looked at.
func (m *Matcher) lineAround(at int) Line {
	line := Line{Start: m.at, End: len(m.text), At: at}
	if n := bytes.LastIndexByte(m.text[m.at:at], '\n'); n >= 0 {
		line.Start = m.at + n + 1
	}
	if n := bytes.IndexByte(m.text[at:], '\n'); n >= 0 {
		line.End = at + n
	}
	return line
}

func (m *Matcher) nextScanned() (Line, bool) {
	for m.hit == len(m.hits) {
		if m.scanned >= len(m.text) {
			return Line{}, false
		}
		from, to := m.scanned, len(m.text)
		if to-from > m.stretch {
			to = lineStartAfter(m.text, from+m.stretch)
		}
		m.hits, m.hit = m.automaton().scan(m.text[from:to], m.hits[:0]), 0
		for i := range m.hits {
			m.hits[i] += from
		}
		m.scanned = to
		m.stretch *= 4
	}
	line := m.lineAround(m.hits[m.hit])
	m.hit++
	m.at = line.End + 1
	return line, true
}

// LongLine matches one line that is too long to be held at once.
type LongLine struct {
	auto *automaton
	row  int32
	done bool
}

// LongLine begins a line. The matcher must not be used for other texts until
// the line has ended.
func (m *Matcher) LongLine() *LongLine {
	a := m.automaton()
	return &LongLine{auto: a, row: a.start}
}

// Feed hands over the next piece, which has no newline and does not end
// within a rune. It returns the place in the piece before which a match ends
// for the first time, or -1. After a match, feeding on is of no use.
func (l *LongLine) Feed(piece []byte) int {
	c := cursor{row: l.row, end: len(piece)}
	if l.auto.find(piece, &c) {
		l.done = true
		return c.at
	}
	l.row = c.row
	return -1
}

// End reports whether a match ends at the end of the line, or did before.
func (l *LongLine) End() bool {
	return l.done || l.auto.matchesAtEnd(l.row)
}
