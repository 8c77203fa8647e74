package patch

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAnchors bounds how many occurrences of a context line are looked at: a
// line that occurs more often says nothing about a place.
const maxAnchors = 1000

// An anchor is a line that an @@ line names, and where what it heads ends.
type anchor struct{ line, end int }

// anchors finds the lines that the contexts of a hunk name: each of the
// second lies in what the first heads if there is such a one, else behind
// it, and so on. lost is the context that is nowhere.
func (p *page) anchors(contexts []string) (found []anchor, lost string) {
	for i, c := range contexts {
		lines := p.named(c)
		if len(lines) == 0 || len(lines) > maxAnchors {
			return nil, c
		}
		var inside, behind []anchor
		for _, line := range lines {
			a := anchor{line, p.scopeEnd(line)}
			switch {
			case i == 0 || within(found, line):
				inside = append(inside, a)
			case line > found[0].line:
				behind = append(behind, a)
			}
		}
		if len(inside) > 0 {
			found = inside
		} else {
			found = behind
		}
		if len(found) == 0 {
			return nil, c
		}
	}
	return found, ""
}

func within(anchors []anchor, line int) bool {
	for _, a := range anchors {
		if a.line < line && line < a.end {
			return true
		}
	}
	return false
}

// named returns the lines that a context means: those that are equal to it
// at the strictest level that has any, or begin with it.
func (p *page) named(context string) []int {
	spellings := []string{context}
	if cut, ok := strings.CutSuffix(strings.TrimSpace(context), " @@"); ok {
		spellings = append(spellings, cut)
	}
	for _, c := range spellings {
		for l := range levels {
			if found := p.search(l, []string{c}, 0, false); len(found) > 0 {
				return found
			}
		}
	}
	for _, c := range spellings {
		if c = strings.TrimSpace(c); len(c) < 4 {
			continue
		}
		var found []int
		for i := range p.lines {
			if strings.HasPrefix(strings.TrimSpace(p.text(i)), c) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// scopeEnd returns where what a line heads ends, by indentation: at the next
// line that is not deeper, lines that close a bracket aside. A line that has
// nothing deeper beneath it, such as the heading of a text or of a section of
// settings, heads what follows up to the next line that begins with the same
// sign.
func (p *page) scopeEnd(at int) int {
	head := p.text(at)
	indent, sign := indentOf(head), signOf(head)
	deep, first := false, true
	for i := at + 1; i < len(p.lines); i++ {
		line := p.text(i)
		if strings.TrimSpace(line) == "" {
			continue
		}
		in := indentOf(line)
		if first {
			deep, first = in > indent || bracket(line), false
		}
		switch {
		case in > indent:
		case deep && (in < indent || !bracket(line)):
			return i
		case !deep && sign != 0 && signOf(line) == sign:
			return i
		}
	}
	return len(p.lines)
}

// indentOf measures an indentation; a tab counts as four blanks.
func indentOf(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// bracket reports whether a line begins with a bracket, as those do that go
// on with what the line above began.
func bracket(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && strings.IndexByte("{}()]", line[0]) >= 0
}

// signOf returns the character that a line begins with if it is no letter
// and no digit.
func signOf(line string) rune {
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(line))
	if unicode.IsLetter(r) || unicode.IsDigit(r) || r == utf8.RuneError {
		return 0
	}
	return r
}

// inside keeps the places in what an anchor heads. A place may begin with
// the anchor's own line.
func inside(places []int, anchors []anchor) []int {
	var kept []int
	for _, at := range places {
		for _, a := range anchors {
			if a.line <= at && at < a.end {
				kept = append(kept, at)
				break
			}
		}
	}
	return kept
}

// behind keeps the places from the first anchor on; all if there is none.
func behind(places []int, anchors []anchor) []int {
	if len(anchors) == 0 {
		return places
	}
	for len(places) > 0 && places[0] < anchors[0].line {
		places = places[1:]
	}
	return places
}
