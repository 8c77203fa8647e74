package permission

import "strings"

// kind is what one token of a pattern takes.
type kind uint8

const (
	letter   kind = iota // one certain byte
	one                  // any byte but a slash
	some                 // any number of bytes but slashes
	anything             // any number of any bytes
	folders              // what "**/" is: nothing, or anything up to a slash
	visible              // in front of some, at the start of a name: no dot
)

type token struct {
	kind kind
	byte byte
}

// ofRule reads a gitignore-style pattern. Braces and classes are taken for
// more than they are.
func ofRule(pattern string) (out []token) {
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/") && (i == 0 || pattern[i-1] == '/'):
			out = append(out, token{kind: folders})
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			out = append(out, token{kind: anything})
			i++
		case c == '*':
			out = append(out, token{kind: some})
		case c == '?':
			out = append(out, token{kind: one})
		case c == '[':
			out = append(out, token{kind: one})
			i = max(i, i+strings.IndexByte(pattern[i:], ']'))
		case c == '{':
			out = append(out, token{kind: anything})
			i = max(i, i+strings.LastIndexByte(pattern[i:], '}'))
		case c == '\\' && i+1 < len(pattern):
			i++
			out = append(out, token{byte: pattern[i]})
		default:
			out = append(out, token{byte: c})
		}
	}
	return out
}

// ofShell reads the shape of a name in a command: NULs stand for any text and,
// with glob, the wildcards of the shell mean what they mean there. hidden says
// that they match names that begin with a dot as well.
func ofShell(shape string, glob, hidden bool) (out []token) {
	for i := 0; i < len(shape); i++ {
		begins := i == 0 || shape[i-1] == '/'
		switch c := shape[i]; {
		case c == 0:
			out = append(out, token{kind: anything})
		case glob && c == '(':
			out = append(out, token{kind: anything})
			i = max(i, strings.LastIndexByte(shape, ')'))
		case glob && strings.IndexByte("*?[+@!", c) >= 0:
			if begins && !hidden {
				out = append(out, token{kind: visible})
			}
			out = append(out, token{kind: some})
			if c == '[' {
				i = max(i, i+strings.IndexByte(shape[i:], ']'))
			}
		default:
			out = append(out, token{byte: c})
		}
	}
	return out
}

// maxOverlap bounds the work of one comparison; what is longer overlaps.
const maxOverlap = 1 << 20

// overlap reports whether there is a text that both patterns match.
func overlap(p, q []token) bool {
	if (len(p)+1)*(len(q)+1) > maxOverlap {
		return true
	}
	seen := make([]bool, (len(p)+1)*(len(q)+1))
	stack := [][2]int{{0, 0}}
	push := func(i, j int) {
		if at := i*(len(q)+1) + j; !seen[at] {
			seen[at] = true
			stack = append(stack, [2]int{i, j})
		}
	}
	for len(stack) > 0 {
		i, j := stack[len(stack)-1][0], stack[len(stack)-1][1]
		stack = stack[:len(stack)-1]
		if i == len(p) && j == len(q) {
			return true
		}
		for _, next := range skips(p, i) {
			push(next, j)
		}
		for _, next := range skips(q, j) {
			push(i, next)
		}
		if i == len(p) || j == len(q) {
			continue
		}
		for _, a := range moves(p, i) {
			for _, b := range moves(q, j) {
				if meet(a, b) {
					push(a.next, b.next)
				}
			}
		}
	}
	return false
}

// skips are the places that are reached without taking a byte.
func skips(p []token, at int) []int {
	if at == len(p) {
		return nil
	}
	switch p[at].kind {
	case some, anything, folders:
		return []int{at + 1}
	case visible:
		return []int{at + 2}
	}
	return nil
}

// A move takes one byte: a certain one, or any that is not among the two.
type move struct {
	certain       bool
	byte          byte
	noSlash, noPt bool
	next          int
}

func moves(p []token, at int) []move {
	switch t := p[at]; t.kind {
	case letter:
		return []move{{certain: true, byte: t.byte, next: at + 1}}
	case one:
		return []move{{noSlash: true, next: at + 1}}
	case some:
		return []move{{noSlash: true, next: at}}
	case visible:
		return []move{{noSlash: true, noPt: true, next: at + 1}}
	case folders:
		return []move{{next: at}, {certain: true, byte: '/', next: at + 1}}
	default:
		return []move{{next: at}}
	}
}

func meet(a, b move) bool {
	switch {
	case a.certain && b.certain:
		return a.byte == b.byte
	case a.certain:
		return !(b.noSlash && a.byte == '/' || b.noPt && a.byte == '.')
	case b.certain:
		return meet(b, a)
	}
	return true
}
