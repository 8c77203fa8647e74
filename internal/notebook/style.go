package notebook

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// A style is how a file writes JSON.
type style struct {
	newline string // "" where all stands on one line
	indent  string // of one level
	colon   string // with the blank after it
	comma   string // between values on one line
	ascii   bool   // other characters are escaped
}

// styleOf tells the style of a file from how its first members stand. What
// one line cannot tell is as Jupyter writes it.
func styleOf(data []byte) style {
	s := style{colon: ": ", comma: ", "}
	list := members(data, 0)
	if len(list) == 0 {
		return s
	}
	open := bytes.IndexByte(data, '{')
	gap := string(data[open+1 : list[0].from])
	if i := strings.LastIndexByte(gap, '\n'); i >= 0 {
		s.newline, s.indent = "\n", gap[i+1:]
		if strings.HasSuffix(gap[:i+1], "\r\n") {
			s.newline = "\r\n"
		}
	} else if gap == "" && len(list) > 1 && list[1].from == list[0].value.to+1 {
		s.comma = ","
	}
	if end := list[0].from + len(list[0].key) + 2; end < list[0].value.from && data[end-1] == '"' {
		s.colon = string(data[end:list[0].value.from])
	}
	high := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
	s.ascii = !high && escapesLetters(data)
	return s
}

// escapesLetters reports whether a file holds an escaped character that need
// not be.
func escapesLetters(data []byte) bool {
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte(`\u`))
		if i < 0 {
			return false
		}
		at += i + 2
		if len(data) >= at+4 && !bytes.HasPrefix(data[at:], []byte("00")) {
			return true
		}
		if len(data) >= at+4 && data[at+2] >= '8' {
			return true
		}
	}
}

// line begins a line at a level, or does nothing in a file of one line.
func (s style) line(level int) string {
	if s.newline == "" {
		return ""
	}
	return s.newline + strings.Repeat(s.indent, level)
}

// next is what stands between two values at a level.
func (s style) next(level int) string {
	if s.newline == "" {
		return s.comma
	}
	return "," + s.line(level)
}

// quoted writes a string.
func (s style) quoted(text string) string {
	n := jsondoc.NewString(strings.ToValidUTF8(text, "\ufffd"))
	if !s.ascii {
		return n.Raw
	}
	var b strings.Builder
	for _, r := range n.Raw {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// source writes the text of a cell as a value at a level: a list of lines,
// as Jupyter does, or one string where the file has that.
func (s style) source(text string, asList bool, level int) string {
	if !asList {
		return s.quoted(text)
	}
	if text == "" {
		return "[]"
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, s.quoted(line))
	}
	return "[" + s.line(level+1) + strings.Join(lines, s.next(level+1)) + s.line(level) + "]"
}

// object writes members, which are written values, at a level.
func (s style) object(list [][2]string, level int) string {
	parts := make([]string, len(list))
	for i, m := range list {
		parts[i] = s.quoted(m[0]) + s.colon + m[1]
	}
	return "{" + s.line(level+1) + strings.Join(parts, s.next(level+1)) + s.line(level) + "}"
}
