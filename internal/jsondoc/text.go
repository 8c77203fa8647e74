package jsondoc

import (
	"strings"
	"unicode/utf8"
)

// appendQuoted appends text as a JSON string, escaping only what must be.
func appendQuoted(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, text[start:]...), '"')
}

// unescape decodes what stands between the quotes of a string that the
// parser has accepted.
func unescape(inner string) string {
	var b strings.Builder
	b.Grow(len(inner))
	for {
		i := strings.IndexByte(inner, '\\')
		if i < 0 {
			b.WriteString(inner)
			return b.String()
		}
		b.WriteString(inner[:i])
		r, size := decodeEscape(inner[i:])
		b.WriteRune(r)
		inner = inner[i+size:]
	}
}

// decodeEscape reads the escape that s begins with. It returns a size of 0
// where that is not an escape that JSON has, and [utf8.RuneError] with the
// size where it is half of a surrogate pair.
func decodeEscape(s string) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch c := s[1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return decodeUnicode(s)
	}
	return 0, 0
}

func decodeUnicode(s string) (r rune, size int) {
	high, ok := hex4(s)
	switch {
	case !ok:
		return 0, 0
	case high < 0xD800 || high > 0xDFFF:
		return high, 6
	case high <= 0xDBFF && len(s) >= 8 && s[6] == '\\' && s[7] == 'u':
		if low, ok := hex4(s[6:]); ok && low >= 0xDC00 && low <= 0xDFFF {
			return 0x10000 + (high-0xD800)<<10 + (low - 0xDC00), 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads the four digits of the \u that s begins with.
func hex4(s string) (rune, bool) {
	if len(s) < 6 {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[2:6]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// escape steps over one escape inside a string.
func (p *parser) escape() *SyntaxError {
	rest := p.text[p.pos:]
	r, size := decodeEscape(rest)
	half := r == utf8.RuneError && size == 6 && !strings.EqualFold(rest[2:6], "fffd")
	switch {
	case size > 0 && !half:
		p.pos += size
		return nil
	case partialEscape(rest):
		return p.cutOff()
	case half:
		return p.fail(`%s is half of a surrogate pair and no character`, rest[:6])
	case rest[1] == 'u':
		return p.fail(`\u needs four hexadecimal digits: %s`, p.near())
	default:
		_, width := utf8.DecodeRuneInString(rest[1:])
		return p.fail(`%q is no escape that JSON has; write a backslash as \\`, rest[:1+width])
	}
}

// partialEscape reports whether s, which runs to the end of the text, is the
// beginning of an escape.
func partialEscape(s string) bool {
	if s == `\` {
		return true
	}
	if !strings.HasPrefix(s, `\u`) {
		return false
	}
	digits := s[2:min(6, len(s))]
	if strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return false
	}
	if len(s) < 6 {
		return true
	}
	// A whole escape is partial only as the first half of a pair.
	high, _ := hex4(s)
	return high >= 0xD800 && high <= 0xDBFF && (len(s) == 6 || len(s) < 12 && partialEscape(s[6:]))
}
