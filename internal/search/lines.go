package search

import (
	"bytes"
	"io"
	"unicode/utf8"
)

const (
	// MaxLine is how many characters of a line are returned. One line of a
	// minified file once ate the whole budget of an answer (octos).
	MaxLine = 500
	// maxMatchLines is how many lines of one match are returned.
	maxMatchLines = 50
)

// Line is a line of a file.
type Line struct {
	// Number is the line's number, from 1.
	Number int
	// Text is the line without its end, at most [MaxLine] runes of it. A
	// longer line is cut around the match. Bytes that are not UTF-8 are left
	// in.
	Text string
	// Skipped is how many runes stand before Text, and Runes how many the
	// line has, where it was cut; else both are 0.
	Skipped, Runes int
	// Match says that the line matches; others surround those.
	Match bool
	// Hit is the number of the hit, from 0 in the file, that the line is or
	// surrounds.
	Hit int
	// More is how many further lines the match has that are not returned.
	More int
}

// extract reads the lines of the hits From up to To of a file.
func (s *scanner) extract(r io.Reader, f *FileHits) {
	lines := &lineSink{query: s.query, from: f.From, to: f.To, room: len(s.buf) / 2}
	s.sink = lines
	_ = s.file(r) // what could be read is shown
	f.Lines = lines.lines
	for _, l := range f.Lines {
		f.Invalid = f.Invalid || !utf8.ValidString(l.Text)
	}
}

// lineSink keeps the lines of some hits and what surrounds them.
type lineSink struct {
	query    *Query
	from, to int // the hits that are wanted
	hits     int // seen
	lines    []Line

	room    int // how much may be kept from one piece to the next
	text    []byte
	number  int // of the line that begins at counted; 0 stands for 1
	counted int
	shown   int    // up to where lines were returned
	held    []Line // lines before text that a match may still need, where one was too long to be kept
	after   int    // how many lines are still to return after a match
}

func (l *lineSink) piece(text []byte, begin int) {
	l.text = text
	if l.number == 0 {
		l.number, l.counted, l.shown = 1, begin, begin
	}
}

func (l *lineSink) skip(text []byte) {
	l.piece(text, len(text))
	l.holdFrom(max(linesBack(text, len(text), l.query.Before), l.shown), len(text))
	l.numberAt(len(text))
	l.counted, l.shown = 0, max(0, l.shown-len(text))
}

// holdFrom holds the lines between two places.
func (l *lineSink) holdFrom(at, end int) {
	for at < end {
		stop := lineEnd(l.text[:end], at)
		l.hold(l.line(at, stop, at))
		at = stop + 1
	}
}

// hold keeps a line for a match that may follow.
func (l *lineSink) hold(line Line) {
	l.held = append(l.held, line)
	l.held = l.held[max(0, len(l.held)-l.query.Before):]
}

// release returns the lines that were held, for the hit that is being added.
func (l *lineSink) release() {
	for i := range l.held {
		l.held[i].Hit = l.hits - 1
	}
	l.lines = append(l.lines, l.held...)
	l.held = nil
}

func (l *lineSink) over() bool { return l.hits >= l.to && l.after == 0 }

func (l *lineSink) match(start, end, within int) bool {
	l.follow(start)
	if l.hits == l.to {
		// One more is seen only for what follows the last.
		return l.after > 0
	}
	l.hits++
	if l.hits <= l.from {
		return true
	}
	l.precede(start)
	l.add(start, end, within, true)
	l.after = l.query.After
	return !l.over()
}

// follow returns lines after a match, up to limit.
func (l *lineSink) follow(limit int) {
	for l.after > 0 && l.shown < limit {
		end := lineEnd(l.text, l.shown)
		l.add(l.shown, end, l.shown, false)
		l.after--
	}
}

// precede returns the lines before the line that begins at start.
func (l *lineSink) precede(start int) {
	begin := linesBack(l.text, start, l.query.Before)
	if begin == 0 && l.shown == 0 {
		missing := l.query.Before - bytes.Count(l.text[:start], []byte("\n"))
		l.held = l.held[max(0, len(l.held)-missing):]
		l.release()
	}
	l.held = nil
	for begin = max(begin, l.shown); begin < start; {
		end := lineEnd(l.text, begin)
		l.add(begin, end, begin, false)
		begin = end + 1
	}
}

// linesBack returns where the line begins that is n lines before the one
// that begins at start, or the first.
func linesBack(text []byte, start, n int) int {
	for ; n > 0 && start > 0; n-- {
		start = bytes.LastIndexByte(text[:start-1], '\n') + 1
	}
	return start
}

func lineEnd(text []byte, start int) int {
	if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
		return start + n
	}
	return len(text)
}

// add returns a line.
func (l *lineSink) add(start, end, within int, matches bool) {
	line := l.line(start, end, within)
	line.Match = matches
	l.lines = append(l.lines, line)
	l.shown = end + 1
}

func (l *lineSink) line(start, end, within int) Line {
	line := Line{Number: l.numberAt(start), Hit: max(0, l.hits-1)}
	text := bytes.TrimSuffix(l.text[start:end], []byte("\r"))
	var part []byte
	part, line.Skipped, line.Runes = clip(text, min(within-start, len(text)))
	line.Text = string(part)
	return line
}

// numberAt returns the number of the line that begins at start.
func (l *lineSink) numberAt(start int) int {
	l.number += bytes.Count(l.text[l.counted:start], []byte("\n"))
	l.counted = start
	return l.number
}

func (l *lineSink) done(end int) (keep int) {
	l.follow(end)
	keep = min(max(linesBack(l.text, end, l.query.Before), l.shown), end)
	if keep > 0 {
		l.held = nil
	}
	if end-keep > l.room {
		l.holdFrom(keep, end)
		keep = end
	}
	l.numberAt(keep)
	l.counted -= keep
	l.shown = max(0, l.shown-keep)
	return keep
}

func (l *lineSink) long(p passed) bool {
	number := max(l.number, 1)
	l.number, l.counted, l.shown = number+1, 0, 0
	show := p.matches && l.hits >= l.from && l.hits < l.to
	if p.matches {
		l.hits++
	}
	text := bytes.TrimSuffix(p.part, []byte("\r"))
	text, skipped, _ := clip(text, min(p.within, len(text)))
	line := Line{Number: number, Text: string(text), Skipped: p.skipped + skipped, Runes: p.runes, Match: show, Hit: max(0, l.hits-1)}
	switch {
	case show:
		l.release()
		l.lines = append(l.lines, line)
		l.after = l.query.After
	case l.after > 0:
		l.lines = append(l.lines, line)
		l.after--
	default:
		l.hold(line)
	}
	return !l.over()
}

// clip returns at most [MaxLine] runes of text, those around the place
// within. Where it cuts, it tells how many runes it skipped and how many
// there are.
func clip(text []byte, within int) (part []byte, skipped, runes int) {
	if len(text) <= MaxLine {
		return text, 0, 0
	}
	if runes = utf8.RuneCount(text); runes <= MaxLine {
		return text, 0, 0
	}
	begin := back(text, within, MaxLine/2)
	end := forth(text, begin, MaxLine)
	if end == len(text) {
		begin = back(text, end, MaxLine)
	}
	return text[begin:end], utf8.RuneCount(text[:begin]), runes
}

// back returns the place n runes before at.
func back(text []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, width := utf8.DecodeLastRune(text[:at])
		at -= width
	}
	return at
}

// forth returns the place n runes after at.
func forth(text []byte, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		_, width := utf8.DecodeRune(text[at:])
		at += width
	}
	return at
}
