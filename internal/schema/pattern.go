package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// compilePattern compiles a regular expression of ECMA-262, the dialect of
// JSON Schema, as far as the linear-time engine of Go goes. Lookaround and
// back references are an error: what cannot be judged is not taken.
func compilePattern(text string) (*Pattern, error) {
	re, err := regexp.Compile(translate(text))
	if err != nil {
		for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
			if strings.Contains(text, look) {
				return nil, fmt.Errorf("the pattern %q looks around with %q, which is not supported", text, look)
			}
		}
		return nil, fmt.Errorf("the pattern %q: %w", text, err)
	}
	return &Pattern{Text: text, re: re}, nil
}

// translate rewrites the escapes and classes that ECMA-262 and Go write
// differently.
func translate(text string) string {
	if !strings.Contains(text, `\u`) && !strings.Contains(text, `\c`) && !strings.Contains(text, "[^]") && !strings.Contains(text, "[]") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "[^]"):
			b.WriteString(`[\x{0}-\x{10FFFF}]`)
			i += 3
		case strings.HasPrefix(rest, "[]"):
			b.WriteString(`[^\x{0}-\x{10FFFF}]`)
			i += 2
		case strings.HasPrefix(rest, `\u`):
			out, size := translateUnicode(rest)
			b.WriteString(out)
			i += size
		case strings.HasPrefix(rest, `\c`) && len(rest) > 2:
			fmt.Fprintf(&b, `\x%02x`, rest[2]%32)
			i += 3
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			i += 2
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
	return b.String()
}

// translateUnicode rewrites the \uXXXX, pair of them, or \u{X} that s begins
// with. What is none of them is left for the engine to refuse.
func translateUnicode(s string) (out string, size int) {
	if strings.HasPrefix(s, `\u{`) {
		return `\x{`, 3
	}
	one, ok := unicodeEscape(s)
	if !ok {
		return s[:2], 2
	}
	if two, ok := unicodeEscape(s[6:]); ok {
		if r := utf16.DecodeRune(one, two); r != '\ufffd' {
			return fmt.Sprintf(`\x{%x}`, r), 12
		}
	}
	return fmt.Sprintf(`\x{%x}`, one), 6
}

func unicodeEscape(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	r, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(r), err == nil
}
