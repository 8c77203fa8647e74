package match

import (
	"bytes"
	"unicode/utf8"
)

// cursors is how many parts of a text are read in step. Reading one is a
// chain of table look-ups that each wait for the one before; four chains
// keep the processor busy.
const cursors = 4

// minScan is the shortest text that is worth dividing.
const minScan = 1 << 10

// scan finds the lines of text that match and appends to hits, in order, a
// place in or at the end of each. Text is whole lines; the last one may lack
// its newline.
func (a *automaton) scan(text []byte, hits []int) []int {
	if len(text) < minScan {
		c := cursor{row: a.start, end: len(text)}
		c.hits = hits
		a.finish(text, &c)
		return c.hits
	}
	return a.divided(text, hits)
}

// divided is scan with all cursors, whatever the length.
func (a *automaton) divided(text []byte, hits []int) []int {
	cs := &a.cursors
	at := 0
	for k := range cs {
		end := len(text)
		if k < cursors-1 {
			end = lineStartAfter(text, at+(len(text)-at)/(cursors-k))
		}
		cs[k] = cursor{row: a.start, begin: at, at: at, end: end, hits: cs[k].hits[:0]}
		at = end
	}
	a.inStep(text, cs)
	for k := range cs {
		a.finish(text, &cs[k])
		hits = append(hits, cs[k].hits...)
	}
	return hits
}

func lineStartAfter(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

// cursor reads the part of a text from begin to end and is at at.
type cursor struct {
	row            int32
	begin, at, end int
	hits           []int
}

// inStep reads with all cursors until one is near its end.
func (a *automaton) inStep(text []byte, cs *[cursors]cursor) {
	for {
		n := len(text)
		for k := range cs {
			n = min(n, cs[k].end-cs[k].at)
		}
		if n < 16 {
			return
		}
		var rows [cursors]int32
		var parts [cursors][]byte
		for k := range cs {
			rows[k] = cs[k].row
			parts[k] = text[cs[k].at : cs[k].at+n]
		}
		read := run(a.table, &a.column, &parts, &rows)
		for k := range cs {
			cs[k].at += read
			cs[k].row = rows[k]
			if rows[k] < 0 {
				cs[k].at--
				cs[k].row = rows[k] & entryRow
			}
		}
		for k := range cs {
			if rows[k] < 0 {
				a.slow(text, cs, k)
			}
		}
	}
}

// run reads the parts, which are equally long, in step. It ends after the
// first byte at which one of the rows became negative and returns how many
// bytes it read of each.
//
// It is on its own, and not inlined, so that all it needs stays in
// registers.
//
//go:noinline
func run(table []int32, column *[256]int32, parts *[cursors][]byte, rows *[cursors]int32) int {
	p0 := parts[0]
	p1, p2, p3 := parts[1][:len(p0)], parts[2][:len(p0)], parts[3][:len(p0)]
	r0, r1, r2, r3 := rows[0], rows[1], rows[2], rows[3]
	i := 0
	for i < len(p0) {
		r0 = table[r0+column[p0[i]]]
		r1 = table[r1+column[p1[i]]]
		r2 = table[r2+column[p2[i]]]
		r3 = table[r3+column[p3[i]]]
		i++
		if r0|r1|r2|r3 < 0 {
			break
		}
	}
	rows[0], rows[1], rows[2], rows[3] = r0, r1, r2, r3
	return i
}

// slow lets one cursor take a step that the table does not have, and keeps
// the rows of the others valid.
func (a *automaton) slow(text []byte, cs *[cursors]cursor, k int) {
	var others [cursors]int32
	for i := range cs {
		others[i] = cs[i].row
	}
	a.takeOrHit(text, &cs[k], others[:])
	for i := range cs {
		if i != k {
			cs[i].row = others[i]
		}
	}
}

// takeOrHit is take for a cursor that looks for every matching line: it
// notes the place where a match ends and goes on with the next line.
func (a *automaton) takeOrHit(text []byte, c *cursor, others []int32) {
	if !a.take(text, c, others) {
		return
	}
	c.hits = append(c.hits, c.at)
	c.at = min(lineStartAfter(text, c.at), c.end)
	c.row = a.start
}

// take reads the next rune of a cursor, and all runes outside ASCII that
// follow it. It reports whether a match ends where the cursor then is.
func (a *automaton) take(text []byte, c *cursor, others []int32) bool {
	for c.at < c.end {
		r, width := rune(text[c.at]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRune(text[c.at:c.end])
		}
		from, cleared := c.row, a.clears
		entry := a.advance(c.row, r, others)
		if entry < 0 {
			return true
		}
		if r >= utf8.RuneSelf && a.clears == cleared {
			a.shortcut(from, entry)
		}
		c.row = entry
		c.at += width
		if a.stopped() {
			c.at = c.end
			return false
		}
		if c.at < c.end && text[c.at] < utf8.RuneSelf {
			return false
		}
	}
	return false
}

// finish reads the rest of a cursor's part.
func (a *automaton) finish(text []byte, c *cursor) {
	for c.at < c.end {
		a.fast(text, c)
		if c.at < c.end {
			a.takeOrHit(text, c, nil)
		}
	}
	if c.end > c.begin && text[c.end-1] != '\n' && !endsInHit(text, c) && a.matchesAtEnd(c.row) {
		c.hits = append(c.hits, c.end)
	}
}

// endsInHit reports whether the last hit is in the last line.
func endsInHit(text []byte, c *cursor) bool {
	return len(c.hits) > 0 && bytes.IndexByte(text[c.hits[len(c.hits)-1]:c.end], '\n') < 0
}

// fast reads as long as the table knows the way.
func (a *automaton) fast(text []byte, c *cursor) {
	table, column, row := a.table, &a.column, c.row
	part := text[c.at:c.end]
	for i, b := range part {
		next := table[row+column[b]]
		if next < 0 {
			c.at += i
			c.row = row
			return
		}
		row = next
	}
	c.at, c.row = c.end, row
}

// first returns the place where the first match ends, at the earliest, or
// -1. The text need not be whole lines.
func (a *automaton) first(text []byte) int {
	c := cursor{row: a.start, end: len(text)}
	if a.find(text, &c) || a.matchesAtEnd(c.row) {
		return c.at
	}
	return -1
}

// find moves the cursor to the first place where a match ends, or to its
// end.
func (a *automaton) find(text []byte, c *cursor) bool {
	for c.at < c.end {
		a.fast(text, c)
		if c.at < c.end && a.take(text, c, nil) {
			return true
		}
	}
	return false
}
