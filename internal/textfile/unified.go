package textfile

import (
	"sort"
	"strings"
)

// A Unified is a text whose lines all end with LF, for those who compare
// texts, with the way back to the text as it is.
type Unified struct {
	// Text is the text with LF ends.
	Text string

	content string
	ends    []int // where in Text the LF of each CRLF is
}

// NewUnified returns the text with LF ends. A text that has them already is
// not copied.
func NewUnified(content string) Unified {
	u := Unified{Text: Unify(content), content: content}
	if len(u.Text) == len(content) {
		return u
	}
	for at, done := 0, 0; ; {
		i := strings.Index(content[at:], "\r\n")
		if i < 0 {
			return u
		}
		at += i
		u.ends = append(u.ends, at-done)
		done++
		at += 2
	}
}

// Original returns where in the text as it is an offset of Text lies. The
// offset of a line end is that of its CR.
func (u Unified) Original(offset int) int {
	return offset + sort.SearchInts(u.ends, offset)
}

// Splice returns the change of the text as it is that replaces
// Text[start:end] by replacement, whose lines end with LF. What both have in
// common at either end is left alone. New lines end as those that they
// replace, one by one, and further ones as the last of these; where no line
// end goes, they end as the next line does, or the one before.
func (u Unified) Splice(start, end int, replacement string) Splice {
	start, end, replacement = shrink(u.Text, start, end, replacement)
	s := Splice{Start: u.Original(start), End: u.Original(end), New: replacement}
	if !strings.Contains(replacement, "\n") || len(u.ends) == 0 && u.Text == u.content {
		return s
	}
	ends := u.endsIn(s.Start, s.End)
	var b strings.Builder
	for line := range strings.Lines(replacement) {
		body, ended := strings.CutSuffix(line, "\n")
		b.WriteString(body)
		if ended {
			b.WriteString(ends[0])
		}
		if len(ends) > 1 {
			ends = ends[1:]
		}
	}
	s.New = b.String()
	return s
}

// shrink takes from a replacement what the text has already at its ends, in
// whole characters.
func shrink(text string, start, end int, replacement string) (int, int, string) {
	head := 0
	for head < len(replacement) && start+head < end && replacement[head] == text[start+head] {
		head++
	}
	for head > 0 && !boundary(replacement, head, text, start+head) {
		head--
	}
	start, replacement = start+head, replacement[head:]
	tail := 0
	for tail < len(replacement) && start < end-tail && replacement[len(replacement)-1-tail] == text[end-1-tail] {
		tail++
	}
	for tail > 0 && !boundary(replacement, len(replacement)-tail, text, end-tail) {
		tail--
	}
	return start, end - tail, replacement[:len(replacement)-tail]
}

// boundary reports whether both offsets lie between characters.
func boundary(a string, i int, b string, j int) bool { return runeStart(a, i) && runeStart(b, j) }

func runeStart(s string, i int) bool { return i >= len(s) || s[i]&0xc0 != 0x80 }

// endsIn returns the line ends between two offsets of the text as it is; if
// there are none, the one that new lines there should have. It is never
// empty.
func (u Unified) endsIn(start, end int) []string {
	if EndingOf(u.content) == CR {
		return []string{"\r"}
	}
	var ends []string
	for at := start; at < end; at++ {
		if u.content[at] == '\n' {
			ends = append(ends, endAt(u.content, at))
		}
	}
	if len(ends) > 0 {
		return ends
	}
	if i := strings.IndexByte(u.content[end:], '\n'); i >= 0 {
		return []string{endAt(u.content, end+i)}
	}
	if i := strings.LastIndexByte(u.content[:start], '\n'); i >= 0 {
		return []string{endAt(u.content, i)}
	}
	return []string{"\n"}
}

// endAt returns the line end whose LF is at an offset.
func endAt(content string, lf int) string {
	if lf > 0 && content[lf-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
