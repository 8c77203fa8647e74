package terminal

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

const (
	// maxLine is how long a line may grow, in bytes, before its start is
	// given away: from then on a carriage return goes back no further.
	maxLine = 64 << 10
	// maxString bounds a control string such as a title, in bytes. What is
	// longer is no control string, so its text is shown.
	maxString = 4 << 10
)

// A Filter turns what was written for a terminal into plain lines: colours
// and titles are dropped, a carriage return, a backspace and the movements
// within a line let what follows take the place of what was there. What is
// wrong stays visible: bytes that are not UTF-8 are passed on as they are.
//
// At most 64 KiB of a line and 4 KiB of a sequence are held back.
type Filter struct {
	out func([]byte)

	line   []byte // the current line, as far as it is not given away
	cursor int    // where in line the next character goes, in bytes; len(line) is its end
	// returned says that a carriage return came last: before a newline it
	// is a part of the line's end.
	returned bool
	rewrote  bool // something of the line was written over or erased

	state byte   // of the sequence that is being read, see the in... constants
	seq   []byte // of it, what came so far
	buf   []byte // finished text of one Write
}

const (
	inText   = iota
	inEscape // after ESC
	inCSI    // after ESC [
	inString // after ESC ], P, X, ^ or _
	inStringEscape
	inCharset // after ESC ( and its like: one more byte
)

// NewFilter returns a filter that gives finished text to out, which must not
// keep it.
func NewFilter(out func([]byte)) *Filter { return &Filter{out: out} }

// Write takes the next piece. It never fails.
func (f *Filter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if f.state == inText && len(f.line) == 0 && !f.returned {
			if lines := plainLines(p); lines > 0 {
				f.give()
				f.out(p[:lines:lines])
				p = p[lines:]
				continue
			}
		}
		if f.state == inText {
			if run := plainRun(p); run > 0 {
				f.plain(p[:run])
				p = p[run:]
				continue
			}
		}
		f.byte(p[0])
		p = p[1:]
	}
	f.give()
	return n, nil
}

// Close gives away what was held back. The filter can be used again.
func (f *Filter) Close() error {
	if f.state != inText {
		f.abandon()
	}
	f.returned = false
	f.endLine()
	f.give()
	return nil
}

// TakePartial gives away the current line, which is not finished: a prompt
// has no end. What comes next follows it; a carriage return goes back no
// further.
func (f *Filter) TakePartial() []byte {
	line := f.line
	f.line, f.cursor, f.returned = nil, 0, false
	return line
}

func (f *Filter) give() {
	if len(f.buf) > 0 {
		f.out(f.buf)
		f.buf = f.buf[:0]
	}
}

// plainLines returns how many bytes at the start of p are whole lines of text
// and nothing else: most output is, and need not be copied.
func plainLines(p []byte) int {
	end := 0
	for i, c := range p {
		switch {
		case c == '\n':
			end = i + 1
		case c < 0x20 && c != '\t' || c == 0x7f:
			return end
		}
	}
	return end
}

// plainRun returns how many bytes at the start of p are text and nothing
// else.
func plainRun(p []byte) int {
	for i, c := range p {
		if c < 0x20 && c != '\t' || c == 0x7f {
			return i
		}
	}
	return len(p)
}

// plain adds text, over what is there if the cursor went back.
func (f *Filter) plain(p []byte) {
	f.carry()
	if f.cursor == len(f.line) {
		f.line = append(f.line, p...)
		f.cursor = len(f.line)
		f.shorten()
		return
	}
	f.rewrote = true
	// All at once: character by character, the rest of the line would be moved
	// for each that takes another room than the one before.
	put, had := 0, f.cursor
	for put < len(p) && had < len(f.line) {
		_, n := utf8.DecodeRune(p[put:])
		_, m := utf8.DecodeRune(f.line[had:])
		put, had = put+n, had+m
	}
	f.line = slices.Replace(f.line, f.cursor, had, p[:put]...)
	f.cursor += put
	if put < len(p) {
		f.plain(p[put:])
		return
	}
	f.shorten()
}

// shorten gives away the start of a line that has grown too long.
func (f *Filter) shorten() {
	if len(f.line) <= maxLine {
		return
	}
	f.buf = append(f.buf, f.line...)
	f.line, f.cursor = f.line[:0], 0
	f.give()
}

// carry does what a carriage return says that ended no line.
func (f *Filter) carry() {
	if f.returned {
		f.returned, f.cursor = false, 0
	}
}

// byte takes one byte that is no text, or part of a sequence.
func (f *Filter) byte(c byte) {
	switch f.state {
	case inText:
		f.control(c)
	case inEscape:
		f.escape(c)
	case inCSI:
		f.csi(c)
	case inCharset:
		f.drop()
		if c < 0x20 {
			f.control(c)
		}
	default:
		f.string(c)
	}
}

func (f *Filter) control(c byte) {
	switch c {
	case '\n':
		f.returned = false
		f.endLine()
		f.buf = append(f.buf, '\n')
		if len(f.buf) > maxLine {
			f.give()
		}
	case '\r':
		f.returned = true
	case '\b':
		f.carry()
		_, n := utf8.DecodeLastRune(f.line[:f.cursor])
		f.cursor -= n
	case 0x1b:
		f.state, f.seq = inEscape, f.seq[:0]
	}
}

// endLine finishes the current line.
func (f *Filter) endLine() {
	line := f.line
	if f.rewrote {
		line = bytes.TrimRight(line, " ") // what erased the rest of a longer line
	}
	f.buf = append(f.buf, line...)
	f.line, f.cursor, f.rewrote = f.line[:0], 0, false
}

func (f *Filter) escape(c byte) {
	switch c {
	case '[':
		f.state = inCSI
	case ']', 'P', 'X', '^', '_':
		f.state, f.seq = inString, append(f.seq, c)
	case '(', ')', '*', '+', '#', '%', ' ':
		f.state = inCharset
	default:
		f.drop()
		if c == '\n' || c == '\r' || c == 0x1b {
			f.control(c) // not a sequence, and it must not swallow a line's end
		}
	}
}

// drop ends a sequence of which nothing is shown.
func (f *Filter) drop() { f.state, f.seq = inText, f.seq[:0] }

func (f *Filter) csi(c byte) {
	switch {
	case c >= 0x40 && c <= 0x7e:
		f.erase(c, number(f.seq, 0))
		f.drop()
	case c < 0x20 || c > 0x7e || len(f.seq) >= 64:
		f.drop()
		f.byteOrText(c)
	default:
		f.seq = append(f.seq, c)
	}
}

// byteOrText takes a byte that ended a broken sequence.
func (f *Filter) byteOrText(c byte) {
	if plainRun([]byte{c}) == 1 {
		f.plain([]byte{c})
		return
	}
	f.control(c)
}

// erase does what a control sequence asks for within the line. Movements to
// other lines are left out.
func (f *Filter) erase(final byte, n int) {
	switch final {
	case 'K', 'J':
		f.carry()
		switch n {
		case 0:
			f.rewrote = f.rewrote || f.cursor < len(f.line)
			f.line = f.line[:f.cursor]
		case 2:
			f.line, f.cursor, f.rewrote = f.line[:0], 0, false
		}
	case 'G':
		f.returned, f.cursor = false, 0
		f.right(max(n, 1) - 1)
	case 'C':
		f.carry()
		f.right(max(n, 1))
	case 'D':
		f.carry()
		for range min(max(n, 1), len(f.line)) {
			_, size := utf8.DecodeLastRune(f.line[:f.cursor])
			f.cursor -= size
		}
	case 'P':
		f.carry()
		end := f.cursor
		for range min(max(n, 1), len(f.line)-f.cursor) {
			_, size := utf8.DecodeRune(f.line[end:])
			end += size
		}
		f.line = slices.Delete(f.line, f.cursor, end)
	}
}

// right moves the cursor, and the end of the line with it where that is near.
func (f *Filter) right(n int) {
	for range min(n, maxColumns) {
		if f.cursor == len(f.line) {
			f.line = append(f.line, ' ')
			f.cursor++
			continue
		}
		_, size := utf8.DecodeRune(f.line[f.cursor:])
		f.cursor += size
	}
	f.shorten()
}

// string takes a byte of a control string. One that does not end on its own
// line, or is too long, is shown.
func (f *Filter) string(c byte) {
	switch {
	case c == 0x07, f.state == inStringEscape && c == '\\':
		f.drop()
	case c == '\n' || len(f.seq) >= maxString:
		f.abandon()
		f.byteOrText(c)
	case c == 0x1b:
		f.state = inStringEscape
	default:
		f.state = inString
		f.seq = append(f.seq, c)
	}
}

// abandon shows the text of a sequence that was none.
func (f *Filter) abandon() {
	was, text := f.state, f.seq
	f.state = inText
	if was == inString || was == inStringEscape {
		for _, c := range text[min(1, len(text)):] {
			if plainRun([]byte{c}) == 1 {
				f.plain([]byte{c})
			}
		}
	}
	f.seq = f.seq[:0]
}

// number reads the parameter with that index of a control sequence, 0 where
// there is none.
func number(params []byte, index int) int {
	n := 0
	for _, c := range params {
		switch {
		case c == ';':
			if index == 0 {
				return n
			}
			index--
			n = 0
		case c >= '0' && c <= '9':
			n = min(n*10+int(c-'0'), 1<<16)
		}
	}
	if index > 0 {
		return 0
	}
	return n
}
