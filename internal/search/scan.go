package search

import (
	"bytes"
	"io"
	"sync/atomic"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/search/match"
)

const (
	// bufferSize is how much of a file is held at a time. Nine of ten source
	// files fit, and with sixteen workers it is 2 MiB.
	bufferSize = 128 << 10
	// longTail is how much of a line that does not fit is kept from one
	// piece to the next, for the text around a match.
	longTail = 4 * MaxLine
)

// scanner reads files and finds lines in them. A worker has one.
//
// A file is read in pieces of whole lines. Of the piece before, the lines
// that the context of a match may need stay in front of the buffer. A line
// that does not fit is matched as it passes by.
type scanner struct {
	query   *Query
	matcher *match.Matcher
	stop    *atomic.Bool
	large   chan []byte // the one large buffer, where matches span lines
	utf16   utf16Reader

	buf   []byte
	from  int // where what was not searched begins
	have  int // where what was read ends
	ended bool

	sink sink // nil where hits are only counted
	sum  summary
}

// summary is what is known of a file.
type summary struct {
	hits     int
	binary   bool // it has a NUL byte, as far as it was read
	tooLarge bool
	notUTF8  bool
}

// sink takes the lines of a file in order.
type sink interface {
	// piece tells that text is the next piece, in which the following lines
	// lie. Its first begin bytes belong to the piece before.
	piece(text []byte, begin int)
	// match tells of a line that matches, and reports whether further lines
	// are wanted. within is a place in the match.
	match(start, end, within int) bool
	// long tells of a line that was not held.
	long(p passed) bool
	// done tells that the piece ends, and returns from where on it must be
	// kept.
	done(end int) (keep int)
	// skip tells that text, which was kept, is now dropped.
	skip(text []byte)
	// over reports whether no further lines are wanted.
	over() bool
}

// passed is a line that was matched as it passed by.
type passed struct {
	// part is some of its text, around a match or from the start, and within
	// is a place in the match.
	part   []byte
	within int
	// skipped is how many runes stand before part, runes how many there are.
	skipped, runes int
	matches        bool
}

func newScanner(q *Query, stop *atomic.Bool, large chan []byte) *scanner {
	return &scanner{query: q, matcher: q.Pattern.Matcher(stop), stop: stop, large: large, buf: make([]byte, bufferSize)}
}

// count counts the matches of a file. In the mode Files, one is enough.
func (s *scanner) count(r io.Reader) (summary, error) {
	s.sink = nil
	err := s.file(r)
	return s.sum, err
}

// file reads a file from its start and hands its lines to the sink.
func (s *scanner) file(r io.Reader) error {
	s.from, s.have, s.ended, s.sum = 0, 0, false, summary{}
	if err := s.fill(r); err != nil {
		return err
	}
	r, err := s.decode(r)
	if err != nil {
		return err
	}
	if s.query.Multiline {
		return s.whole(r)
	}
	for {
		end := s.have
		if !s.ended {
			end = s.from + bytes.LastIndexByte(s.buf[s.from:s.have], '\n') + 1
		}
		switch {
		case end > s.from || s.ended:
			if !s.piece(end) {
				return nil
			}
			s.keep(end)
		case s.from > 0:
			if s.sink != nil {
				s.sink.skip(s.buf[:s.from])
			}
			s.drop(s.from)
		default:
			goOn, err := s.longLine(r)
			if err != nil || !goOn {
				return err
			}
		}
		if s.ended && s.from == s.have || s.stop.Load() || s.sink != nil && s.sink.over() {
			return nil
		}
		if err := s.fill(r); err != nil {
			return err
		}
	}
}

// fill reads until the buffer is full or the file ends.
func (s *scanner) fill(r io.Reader) error {
	for !s.ended && s.have < len(s.buf) {
		n, err := r.Read(s.buf[s.have:])
		s.have += n
		if err == io.EOF {
			s.ended = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// decode treats the mark that a file may begin with: that of UTF-8 is
// skipped, and after one of UTF-16 the file is read as UTF-8.
func (s *scanner) decode(r io.Reader) (io.Reader, error) {
	text := s.buf[:s.have]
	if bytes.HasPrefix(text, utf8Mark) {
		s.drop(len(utf8Mark))
		s.from = 0
		return r, s.fill(r)
	}
	if !s.utf16.begin(text, r, s.ended) {
		return r, nil
	}
	s.have, s.ended = 0, false
	return &s.utf16, s.fill(&s.utf16)
}

// keep makes room after a piece that ended at end.
func (s *scanner) keep(end int) {
	keep := end
	if s.sink != nil {
		keep = s.sink.done(end)
	}
	s.from = end
	s.drop(keep)
}

// drop forgets the first n bytes of the buffer.
func (s *scanner) drop(n int) {
	copy(s.buf, s.buf[n:s.have])
	s.from -= n
	s.have -= n
}

// piece searches whole lines, up to end. It reports whether to go on with
// the file.
func (s *scanner) piece(end int) bool {
	text := s.buf[s.from:end]
	whole := s.ended && s.from == 0
	// A file that is here in one piece needs the look only if it has a
	// match.
	if !whole && s.isBinary(text) {
		s.sum.binary = true
	}
	if s.sink != nil {
		s.sink.piece(s.buf[:end], s.from)
	}
	s.matcher.Reset(text)
	for {
		line, ok := s.matcher.Next()
		if !ok {
			break
		}
		if s.sum.hits == 0 && whole && s.isBinary(text) {
			s.sum.binary = true
		}
		s.sum.hits++
		if s.sink != nil && !s.sink.match(s.from+line.Start, s.from+line.End, s.from+line.At) {
			return false
		}
		if s.enough() {
			return false
		}
	}
	if s.sum.hits == 0 && s.query.Pattern.NonASCII() && !utf8.Valid(text) {
		s.sum.notUTF8 = true
	}
	return true
}

// enough reports whether the file needs no further reading. A binary file
// is one match.
func (s *scanner) enough() bool {
	return s.sum.hits > 0 && (s.sum.binary || s.query.Mode == Files)
}

func (s *scanner) isBinary(text []byte) bool { return bytes.IndexByte(text, 0) >= 0 }

// longLine matches a line that fills the whole buffer and goes on. When it
// returns, the buffer begins with what follows the line.
func (s *scanner) longLine(r io.Reader) (goOn bool, err error) {
	var p passed
	line := s.matcher.LongLine()
	for over := false; !over; {
		end := s.have
		if newline := bytes.IndexByte(s.buf[s.from:s.have], '\n'); newline >= 0 {
			end, over = s.from+newline, true
		} else if s.ended {
			over = true
		} else {
			end -= incomplete(s.buf[s.from:s.have])
		}
		piece := s.buf[s.from:end]
		s.sum.binary = s.sum.binary || s.isBinary(piece)
		p.runes += utf8.RuneCount(piece)
		if !p.matches {
			if at := line.Feed(piece); at >= 0 {
				p.found(s.buf[:end], s.from+at)
			}
		}
		if p.part == nil && s.sink != nil {
			p.part = bytes.Clone(piece[:min(len(piece), longTail)])
		}
		s.from = end
		if over {
			break
		}
		s.drop(max(0, s.from-min(longTail, len(s.buf)/4)))
		if err := s.fill(r); err != nil || s.stop.Load() {
			return false, err
		}
	}
	if !p.matches && line.End() {
		p.found(s.buf[:s.from], s.from)
	}
	s.drop(min(s.from+1, s.have))
	s.from = 0
	if p.matches {
		s.sum.hits++
	}
	return (s.sink == nil || s.sink.long(p)) && !s.enough(), nil
}

// found notes a match that ends at a place of the text, which ends where
// runes was counted to.
func (p *passed) found(text []byte, at int) {
	begin, end := max(0, at-longTail), min(len(text), at+longTail)
	p.part, p.within, p.matches = bytes.Clone(text[begin:end]), at-begin, true
	p.skipped = p.runes - utf8.RuneCount(text[begin:])
}

// incomplete returns how many bytes at the end of text may be the beginning
// of a rune.
func incomplete(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
