package jsondoc

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError says why a text is not JSON.
type SyntaxError struct {
	// Offset is the byte of the text at which the problem was noticed.
	Offset int
	// CutOff says that the text ends before the value does and that nothing
	// in it is wrong so far.
	CutOff bool
	// Path names the keys and indexes of the value in which it happened,
	// outermost first.
	Path []Step
	// Msg says what is wrong and what would be right.
	Msg string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Msg, e.Offset) }

// Step is one key of an object or, where Key is "", one index of an array.
type Step struct {
	Key   string
	Index int
	// Item says that this is an index.
	Item bool
}

func (p *parser) fail(format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: p.pos, Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) cutOff() *SyntaxError {
	return &SyntaxError{Offset: len(p.text), CutOff: true, Msg: "the text ends before the value does"}
}

// near quotes the beginning of what comes next.
func (p *parser) near() string {
	if p.pos >= len(p.text) {
		return "the end of the text"
	}
	return strconv.Quote(clip(p.text[p.pos:]))
}

// clip shortens a piece of the text for a message.
func clip(s string) string {
	const limit = 20
	if len(s) <= limit {
		return s
	}
	end := limit
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// hint says how JSON writes what somebody probably meant.
func hint(rest string) string {
	word := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		word = rest[:i]
	}
	switch strings.ToLower(word) {
	case "true", "false":
		return "write true or false in lower case"
	case "none", "nil", "undefined", "null":
		return "write null, or leave the key out"
	case "nan", "infinity", "inf":
		return "JSON has no such number"
	}
	switch {
	case strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, "`"):
		return "a string stands in double quotes"
	case strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "#"):
		return "JSON has no comments"
	case strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, "."):
		return "a number begins with a digit or a minus"
	case strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "}"):
		return "a value is missing before it"
	}
	return "a text stands in double quotes"
}
