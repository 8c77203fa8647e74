package permission

import "strings"

// kind is what one token of a pattern takes.
type kind uint8

const (
	letter   kind = iota // one certain byte
	one                  // any byte but a slash
	some                 // any number of bytes but slashes
	anything             // any number of any bytes
	folders              // what "**/" is: nothing, or inside
	inside               // anything up to a slash
	visible              // in front of some, at the start of a name: no dot
	beneath              // in front of anything, at the end: nothing, or a slash
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
			out = append(out, token{kind: folders}, token{kind: inside})
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

// orBeneath adds to a pattern whatever lies beneath what it matches.
func orBeneath(p []token) []token {
	return append(p[:len(p):len(p)], token{kind: beneath}, token{kind: anything})
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

const (
	// maxOverlap bounds the room of one comparison, maxWork the steps of all
	// that one command needs: some tenths of a second. What goes beyond
	// overlaps.
	maxOverlap = 1 << 20
	maxWork    = 1 << 22
)

// overlap reports whether there is a text that both patterns match. work
// counts the steps.
func overlap(p, q []token, work *int) bool {
	room := (len(p) + 1) * (len(q) + 1)
	if *work += room / 64; room > maxOverlap || *work > maxWork {
		return true
	}
	var few [512]bool
	seen := few[:]
	if room > len(few) {
		seen = make([]bool, room)
	}
	var places [64][2]int
	stack := append(places[:0], [2]int{0, 0})
	push := func(i, j int) {
		if at := i*(len(q)+1) + j; !seen[at] {
			seen[at] = true
			stack = append(stack, [2]int{i, j})
		}
	}
	for len(stack) > 0 {
		i, j := stack[len(stack)-1][0], stack[len(stack)-1][1]
		stack = stack[:len(stack)-1]
		if *work++; *work > maxWork {
			return true
		}
		if i == len(p) && j == len(q) {
			return true
		}
		if next := skip(p, i); next > 0 {
			push(next, j)
		}
		if next := skip(q, j); next > 0 {
			push(i, next)
		}
		if i == len(p) || j == len(q) {
			continue
		}
		ours, n := moves(p, i)
		theirs, m := moves(q, j)
		for _, a := range ours[:n] {
			for _, b := range theirs[:m] {
				if meet(a, b) {
					push(a.next, b.next)
				}
			}
		}
	}
	return false
}

// skip is the place that is reached without taking a byte, or 0.
func skip(p []token, at int) int {
	if at == len(p) {
		return 0
	}
	switch p[at].kind {
	case some, anything:
		return at + 1
	case visible, folders, beneath:
		return at + 2
	}
	return 0
}

// A move takes one byte: a certain one, or any that is not among the two.
type move struct {
	certain       bool
	byte          byte
	noSlash, noPt bool
	next          int
}

// moves are the ways on from a place, one or two.
func moves(p []token, at int) (list [2]move, n int) {
	slash := move{certain: true, byte: '/'}
	switch t := p[at]; t.kind {
	case letter:
		list[0] = move{certain: true, byte: t.byte, next: at + 1}
	case one:
		list[0] = move{noSlash: true, next: at + 1}
	case some:
		list[0] = move{noSlash: true, next: at}
	case visible:
		list[0] = move{noSlash: true, noPt: true, next: at + 1}
	case beneath:
		slash.next = at + 1
		list[0] = slash
	case folders:
		slash.next = at + 2
		list[0], list[1] = move{next: at + 1}, slash
		return list, 2
	case inside:
		slash.next = at + 1
		list[0], list[1] = move{next: at}, slash
		return list, 2
	default:
		list[0] = move{next: at}
	}
	return list, 1
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
