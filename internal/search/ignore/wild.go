package ignore

import "strings"

// wild reports whether the glob matches all of text. It works on bytes, as
// git does: "?" is one byte. "*" stops at a slash; "**" crosses slashes when
// it stands alone between slashes or the ends. A base name has no slash, so
// the same function serves for both kinds of rule.
//
// Where a match fails, at most two places are worth another try: the last
// "*", and where that one is used up, the last "**". An earlier star could
// only do what a later one can do as well, so the time is at most quadratic
// in the text and no glob blows up.
func wild(glob string, text []byte) bool {
	var star, deep retry
	g, t := 0, 0
	for {
		switch step, width := token(glob, g); {
		case step == end && t == len(text):
			return true
		case step == anything:
			return true
		case step == stars:
			star = retry{glob: g + width, text: t, set: true}
			g += width
			continue
		case step == folders:
			star = retry{}
			deep = retry{glob: g + width, text: t, set: true}
			g += width
			// "**\/" is as "**/", but needs a folder.
			if glob[g-2] != '\\' || deep.nextFolder(text, &g, &t) {
				continue
			}
			return false
		case step == one && t < len(text) && byteMatches(glob[g:g+width], text[t]):
			g += width
			t++
			continue
		}
		if !star.nextByte(text, &g, &t) && !deep.nextFolder(text, &g, &t) {
			return false
		}
	}
}

// retry is a place in the glob from which matching can be tried again
// further on in the text.
type retry struct {
	glob, text int
	set        bool
}

// nextByte lets a "*" take one byte more, which may not be a slash.
func (r *retry) nextByte(text []byte, g, t *int) bool {
	if !r.set || r.text >= len(text) || text[r.text] == '/' {
		r.set = false
		return false
	}
	r.text++
	*g, *t = r.glob, r.text
	return true
}

// nextFolder lets a "**/" take one folder more.
func (r *retry) nextFolder(text []byte, g, t *int) bool {
	if !r.set {
		return false
	}
	for i := r.text; i < len(text); i++ {
		if text[i] == '/' {
			r.text = i + 1
			*g, *t = r.glob, r.text
			return true
		}
	}
	r.set = false
	return false
}

// The kinds of token in a glob.
type kind int8

const (
	end      kind = iota
	one           // exactly one byte of text
	stars         // any bytes but a slash
	folders       // "**/": any number of folders
	anything      // "**" at the end
)

// token returns the kind and the width of the token at glob[g:].
func token(glob string, g int) (kind, int) {
	if g == len(glob) {
		return end, 0
	}
	switch glob[g] {
	case '*':
		n := 1
		for g+n < len(glob) && glob[g+n] == '*' {
			n++
		}
		rest := glob[g+n:]
		if n == 1 || (g > 0 && glob[g-1] != '/') {
			return stars, n
		}
		switch {
		case rest == "":
			return anything, n
		case rest[0] == '/':
			return folders, n + 1
		case strings.HasPrefix(rest, `\/`):
			return folders, n + 2
		}
		return stars, n
	case '[':
		return one, classWidth(glob[g:])
	case '\\':
		return one, 2
	}
	return one, 1
}

// wellFormed reports whether every class is closed and known and no escape
// ends the glob. One that is not matches nothing.
func wellFormed(glob string) bool {
	for g := 0; g < len(glob); {
		width := 1
		switch glob[g] {
		case '[':
			width = classWidth(glob[g:])
		case '\\':
			width = 2
		}
		if width == 0 || g+width > len(glob) {
			return false
		}
		g += width
	}
	return true
}

// byteMatches reports whether c matches one token: a class, an escaped byte,
// "?" or a byte that stands for itself.
func byteMatches(token string, c byte) bool {
	switch token[0] {
	case '[':
		in, _ := class(token, c)
		return in && c != '/'
	case '\\':
		return token[1] == c
	case '?':
		return c != '/'
	}
	return token[0] == c
}

// classWidth returns the width of the class that p starts with, or 0 where
// it is not closed or names an unknown kind of character.
func classWidth(p string) int {
	_, width := class(p, 0)
	return width
}

// class reports whether c is in the class that p starts with, and how wide
// the class is. The width is 0 where the class is malformed.
func class(p string, c byte) (in bool, width int) {
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	// low is the start of a possible range; 0 where there is none.
	var low byte
	for first := true; first || i >= len(p) || p[i] != ']'; first = false {
		if i >= len(p) {
			return false, 0
		}
		member := p[i]
		switch {
		case member == '[' && strings.HasPrefix(p[i:], "[:"):
			name, ok := className(p[i+2:])
			if !ok {
				break
			}
			yes, known := posix(name, c)
			if !known {
				return false, 0
			}
			in = in || yes
			low = 0
			i += len("[::]") + len(name)
			continue
		case member == '-' && low != 0 && i+1 < len(p) && p[i+1] != ']':
			i++
			if p[i] == '\\' {
				i++
			}
			if i >= len(p) {
				return false, 0
			}
			in = in || (low <= c && c <= p[i])
			low = 0
			i++
			continue
		case member == '\\':
			i++
			if i >= len(p) {
				return false, 0
			}
			member = p[i]
		}
		in = in || member == c
		low = member
		i++
	}
	return in != negated, i + 1
}

// className returns the name in "name:]". The first "]" decides: where no
// colon stands before it, this is no named class.
func className(p string) (string, bool) {
	i := strings.IndexByte(p, ']')
	if i < 1 || p[i-1] != ':' {
		return "", false
	}
	return p[:i-1], true
}

func posix(name string, c byte) (in, known bool) {
	upper, lower, digit := 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9'
	graphic := 0x20 < c && c < 0x7f
	switch name {
	case "alpha":
		in = upper || lower
	case "alnum":
		in = upper || lower || digit
	case "digit":
		in = digit
	case "upper":
		in = upper
	case "lower":
		in = lower
	case "space":
		in = c == ' ' || (0x09 <= c && c <= 0x0d)
	case "blank":
		in = c == ' ' || c == '\t'
	case "punct":
		in = graphic && !upper && !lower && !digit
	case "xdigit":
		in = digit || ('a' <= c|0x20 && c|0x20 <= 'f')
	case "cntrl":
		in = c < 0x20 || c == 0x7f
	case "print":
		in = graphic || c == ' '
	case "graph":
		in = graphic
	default:
		return false, false
	}
	return in, true
}
