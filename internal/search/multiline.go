package search

import (
	"bytes"
	"io"
)

const (
	// maxWhole is the largest file that is searched across lines, in bytes.
	maxWhole = 8 << 20
	// smallWhole is what a worker may hold for such a search. Only one
	// worker at a time holds more.
	smallWhole = 1 << 20
)

// whole searches a file whose matches may span lines: all of it is held.
func (s *scanner) whole(r io.Reader) error {
	var own []byte
	for !s.ended {
		switch {
		case s.have < len(s.buf):
		case len(s.buf) < smallWhole:
			s.grow(make([]byte, smallWhole))
		case len(s.buf) < maxWhole:
			// The worker's own buffer comes back when the large one goes.
			own = s.buf
			large := <-s.large
			defer func() {
				s.large <- s.buf
				s.buf = own
			}()
			if large == nil {
				large = make([]byte, maxWhole)
			}
			s.grow(large)
		default:
			s.sum.tooLarge = true
			return nil
		}
		if err := s.fill(r); err != nil {
			return err
		}
	}
	if s.sink != nil {
		s.sink.piece(s.buf[:s.have], s.from)
	}
	text := s.buf[s.from:s.have]
	s.matcher.Spans(text, func(start, end int) bool {
		if start == len(text) && (start > 0 && text[start-1] == '\n' || start == 0) {
			return false // behind the last line there is none
		}
		if s.sum.hits == 0 && s.isBinary(text) {
			s.sum.binary = true
		}
		s.sum.hits++
		if lines, ok := s.sink.(*lineSink); ok && !lines.span(s.from+start, s.from+end) {
			return false
		}
		return !s.enough()
	})
	if s.sink != nil {
		s.sink.done(s.have)
	}
	return nil
}

func (s *scanner) grow(to []byte) {
	copy(to, s.buf[:s.have])
	s.buf = to
}

// span takes a match that may span lines.
func (l *lineSink) span(start, end int) bool {
	start = bytes.LastIndexByte(l.text[:start], '\n') + 1
	l.follow(start)
	if l.hits == l.to {
		return l.after > 0
	}
	l.hits++
	if l.hits <= l.from {
		return true
	}
	l.precede(start)
	for n := 0; start < end || n == 0; n++ {
		stop := lineEnd(l.text, start)
		switch {
		case start < l.shown && n == 0 && len(l.lines) > 0:
			l.lines[len(l.lines)-1].Match = true // it shares its first line with the one before
		case n < maxMatchLines:
			l.add(start, stop, start, true)
		default:
			l.lines[len(l.lines)-1].More++
			l.shown = stop + 1
		}
		start = stop + 1
	}
	l.after = l.query.After
	return !l.over()
}
