package glob

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// segment is one element of a pattern.
type segment struct {
	kind segmentKind
	text string // of a literal, or the end of a suffix
	// tokens are of a mixed segment.
	tokens []token
}

type segmentKind int8

const (
	deep    segmentKind = iota // "**"
	literal                    // no wildcard
	suffix                     // "*" and then a text: most patterns end so
	mixed                      // anything else
)

// token is one step of a mixed segment.
type token struct {
	stars  bool      // any characters
	any    bool      // one character
	negate bool      // of ranges
	ranges [][2]rune // one of these, in pairs of first and last
	char   rune      // this one, where nothing else is set
}

func (s segment) isDeep() bool { return s.kind == deep }

func compileSegment(text string) (segment, error) {
	if text == "**" {
		return segment{kind: deep}, nil
	}
	if !strings.ContainsAny(text, `*?[\`) {
		return segment{kind: literal, text: text}, nil
	}
	if rest := strings.TrimLeft(text, "*"); !strings.ContainsAny(rest, `*?[\`) {
		return segment{kind: suffix, text: rest}, nil
	}
	s := segment{kind: mixed}
	for at := 0; at < len(text); {
		t, width, err := readToken(text[at:])
		if err != nil {
			return segment{}, fmt.Errorf("the glob is malformed at %q: %w", text, err)
		}
		at += width
		if t.stars && len(s.tokens) > 0 && s.tokens[len(s.tokens)-1].stars {
			continue
		}
		s.tokens = append(s.tokens, t)
	}
	return s.plain(), nil
}

// plain turns a segment whose wildcards were all escaped into a literal.
func (s segment) plain() segment {
	var b strings.Builder
	for _, t := range s.tokens {
		if t.stars || t.any || t.ranges != nil {
			return s
		}
		b.WriteRune(t.char)
	}
	return segment{kind: literal, text: b.String()}
}

func readToken(text string) (t token, width int, err error) {
	r, n := utf8.DecodeRuneInString(text)
	switch r {
	case '*':
		return token{stars: true}, 1, nil
	case '?':
		return token{any: true}, 1, nil
	case '\\':
		r, n = utf8.DecodeRuneInString(text[1:])
		if n == 0 {
			return token{}, 0, errors.New(`a "\" at the end escapes nothing`)
		}
		return token{char: r}, 1 + n, nil
	case '[':
		return readClass(text)
	}
	return token{char: r}, n, nil
}

func readClass(text string) (t token, width int, err error) {
	unclosed := errors.New(`a "[" is not closed; write \[ for a bracket that stands for itself`)
	at := 1
	if strings.HasPrefix(text[at:], "!") || strings.HasPrefix(text[at:], "^") {
		t.negate = true
		at++
	}
	char := func() (rune, error) {
		if strings.HasPrefix(text[at:], `\`) {
			at++
		}
		r, n := utf8.DecodeRuneInString(text[at:])
		if n == 0 {
			return 0, unclosed
		}
		at += n
		return r, nil
	}
	t.ranges = [][2]rune{}
	for len(t.ranges) == 0 || !strings.HasPrefix(text[at:], "]") {
		low, err := char()
		if err != nil {
			return token{}, 0, err
		}
		high := low
		if strings.HasPrefix(text[at:], "-") && !strings.HasPrefix(text[at:], "-]") {
			at++
			if high, err = char(); err != nil {
				return token{}, 0, err
			}
		}
		if high < low {
			return token{}, 0, fmt.Errorf("the range %c-%c runs backwards", low, high)
		}
		t.ranges = append(t.ranges, [2]rune{low, high})
	}
	return t, at + 1, nil
}

// match reports whether a name matches the segment, which is no "**".
func (s *segment) match(name []byte, dot bool) bool {
	switch s.kind {
	case literal:
		return string(name) == s.text
	case suffix:
		if !dot && len(name) > 0 && name[0] == '.' {
			return false
		}
		return len(name) >= len(s.text) && string(name[len(name)-len(s.text):]) == s.text
	}
	if !dot && len(name) > 0 && name[0] == '.' && s.tokens[0].char != '.' {
		return false
	}
	return matchTokens(s.tokens, name)
}

// matchTokens needs to return to the last star only.
func matchTokens(tokens []token, name []byte) bool {
	var back []token
	var backName []byte
	for {
		switch {
		case len(tokens) == 0 && len(name) == 0:
			return true
		case len(tokens) > 0 && tokens[0].stars:
			tokens = tokens[1:]
			if len(tokens) == 0 {
				return true
			}
			back, backName = tokens, name
			continue
		case len(tokens) > 0 && len(name) > 0:
			r, width := utf8.DecodeRune(name)
			if tokens[0].matches(r) {
				tokens, name = tokens[1:], name[width:]
				continue
			}
		}
		if len(backName) == 0 {
			return false
		}
		_, width := utf8.DecodeRune(backName)
		tokens, name, backName = back, backName[width:], backName[width:]
	}
}

func (t *token) matches(r rune) bool {
	switch {
	case t.any:
		return true
	case t.ranges == nil:
		return t.char == r
	}
	for _, span := range t.ranges {
		if span[0] <= r && r <= span[1] {
			return !t.negate
		}
	}
	return t.negate
}
