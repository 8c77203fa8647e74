package process

import (
	"fmt"
	"unicode/utf8"
)

// What is kept of an output where nobody says otherwise.
const (
	// DefaultHead and DefaultTail are how much of the beginning and of the end
	// of an output is kept, in bytes. Together they are ten times what a model
	// is shown of a result; Codex keeps as much.
	DefaultHead = 256 << 10
	DefaultTail = 256 << 10
)

// headTail keeps the beginning and the end of what is written to it. Its zero
// value keeps nothing. It is not safe for concurrent use.
type headTail struct {
	headMax, tailMax int

	head []byte
	tail []byte // at most twice tailMax
	cut  int64  // bytes that were dropped between the two
}

// write takes the next piece.
func (b *headTail) write(p []byte) {
	if room := b.headMax - len(b.head); room > 0 && len(b.tail) == 0 && b.cut == 0 {
		n := min(room, len(p))
		b.head = append(b.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > b.tailMax {
		drop := len(p) - b.tailMax
		b.cut += int64(len(b.tail) + drop)
		b.tail = append(b.tail[:0], p[drop:]...)
		return
	}
	b.tail = append(b.tail, p...)
	if over := len(b.tail) - b.tailMax; over > b.tailMax {
		b.trim(over)
	}
}

func (b *headTail) trim(n int) {
	b.cut += int64(n)
	b.tail = append(b.tail[:0], b.tail[n:]...)
}

// omitted returns how many bytes are not kept.
func (b *headTail) omitted() int64 {
	return b.cut + int64(max(len(b.tail)-b.tailMax, 0))
}

// len returns how many bytes there were in all.
func (b *headTail) len() int64 { return int64(len(b.head)+len(b.tail)) + b.cut }

// text returns what is kept. Where something is missing, a line of its own
// says how much; a character that the gap cuts in two is left out.
func (b *headTail) text() string {
	tail := b.tail[max(len(b.tail)-b.tailMax, 0):]
	omitted := b.omitted()
	if omitted == 0 {
		return string(b.head) + string(tail)
	}
	head := b.head
	for n := 0; n < utf8.UTFMax && len(head) > 0 && !endsWhole(head); n++ {
		head, omitted = head[:len(head)-1], omitted+1
	}
	for n := 0; n < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); n++ {
		tail, omitted = tail[1:], omitted+1
	}
	lead := ""
	if len(head) > 0 && head[len(head)-1] != '\n' {
		lead = "\n"
	}
	return string(head) + lead + fmt.Sprintf("[%d bytes of the output are not kept here]\n", omitted) + string(tail)
}

// endsWhole reports whether the last character of p is complete.
func endsWhole(p []byte) bool {
	for i := 1; i <= min(utf8.UTFMax, len(p)); i++ {
		if c := p[len(p)-i]; utf8.RuneStart(c) {
			return utf8.FullRune(p[len(p)-i:])
		}
	}
	return true
}

// take returns the text and forgets it.
func (b *headTail) take() (text string, omitted int64) {
	text, omitted = b.text(), b.omitted()
	b.head, b.tail, b.cut = b.head[:0], b.tail[:0], 0
	return text, omitted
}

// last returns the last n bytes that are kept, or all where there are fewer.
func (b *headTail) last(n int) string {
	tail := b.tail[max(len(b.tail)-n, 0):]
	if len(tail) == n || b.cut > 0 {
		return string(tail)
	}
	return string(b.head[max(len(b.head)+len(tail)-n, 0):]) + string(tail)
}
