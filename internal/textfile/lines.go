package textfile

import "strings"

// Ending is how the lines of a text end.
type Ending uint8

// The endings. NoEnding is a text of one line without an end.
const (
	NoEnding Ending = iota
	LF
	CRLF
	CR
	Mixed
)

// String names the ending for a message.
func (e Ending) String() string {
	return [...]string{"no line end", "LF", "CRLF", "CR", "mixed line ends"}[min(int(e), 4)]
}

// Mark returns the characters of the ending; for a mixed text and one
// without any, a line feed.
func (e Ending) Mark() string {
	switch e {
	case CRLF:
		return "\r\n"
	case CR:
		return "\r"
	default:
		return "\n"
	}
}

// EndingOf tells how the lines of a text end. A carriage return counts as
// an end of its own only in a text that has no line feed at all; elsewhere
// it is a character like others.
func EndingOf(text string) Ending {
	cr, lf := strings.IndexByte(text, '\r') >= 0, strings.Count(text, "\n")
	switch {
	case lf == 0 && cr:
		return CR
	case lf == 0:
		return NoEnding
	case !cr:
		return LF
	}
	switch crlf := strings.Count(text, "\r\n"); crlf {
	case 0:
		return LF
	case lf:
		return CRLF
	default:
		return Mixed
	}
}

// Common returns the ending that most lines have; LF for a text without any
// and where there are as many of each.
func Common(text string) Ending {
	e := EndingOf(text)
	switch e {
	case Mixed:
		if 2*strings.Count(text, "\r\n") > strings.Count(text, "\n") {
			return CRLF
		}
		return LF
	case NoEnding:
		return LF
	}
	return e
}

// WithEnding returns text with every line end, whatever it is, as e has it.
func WithEnding(text string, e Ending) string {
	text = Unify(text)
	if e.Mark() == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", e.Mark())
}

// Unify returns text with every CRLF, and in a text without any line feed
// every CR, as LF.
func Unify(text string) string {
	if strings.Contains(text, "\r\n") {
		return strings.ReplaceAll(text, "\r\n", "\n")
	}
	if EndingOf(text) == CR {
		return strings.ReplaceAll(text, "\r", "\n")
	}
	return text
}
