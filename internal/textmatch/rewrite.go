package textmatch

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Rewrite fits a replacement to the place that was found. Where the match
// was exact that is the replacement itself. Else the change from the
// quotation to the replacement is carried over to the text: what the two
// have in common is taken from the text and not from the quotation, lines
// that the quotation left out stay, and new lines get the indentation of the
// place. So a loose match changes nothing that was not meant.
//
// It reports false where the change concerns a line that has no counterpart
// at the place.
func Rewrite(text string, m Match, quote, replacement string) (string, bool) {
	found := text[m.Start:m.End]
	switch {
	case m.Stage == Exact:
		return replacement, true
	case m.Stage == EscapeNormalized:
		return Unescape(replacement), true
	case m.pairs == nil:
		return keepEnds(found, quote, replacement), true
	}
	var r rewriter
	var quoteEnd, blockEnd, withEnd bool
	r.old, quoteEnd = splitLines(quote)
	if m.withEnd {
		found, blockEnd = strings.CutSuffix(found, "\n")
	}
	r.block = strings.Split(found, "\n")
	if replacement != "" {
		r.lines, withEnd = splitLines(replacement)
	}
	r.pair(m.pairs)
	r.learn()
	out, ok := r.merge()
	if !ok || len(out) == 0 {
		return "", ok
	}
	// Whole lines were found. Where the quotation ended with a line end,
	// whether the last line has one is the text's own affair.
	if withEnd && (blockEnd || !quoteEnd) {
		out = append(out, "")
	}
	return strings.Join(out, "\n"), true
}

// A rewriter carries the change from old to lines over to block.
type rewriter struct {
	old   []string // the quoted lines
	lines []string // the lines of the replacement
	block []string // the lines at the place
	// partners is the line of the block that each quoted line stands for,
	// or -1.
	partners []int
	// margins are the different indentations that lines which stand for
	// each other have on the two sides.
	margins []margin
	// from and to are one step of indentation on the two sides; "" where
	// they could not be learned.
	from, to string
}

// merge returns the new lines of the block.
func (r *rewriter) merge() ([]string, bool) {
	gone := make([]bool, len(r.block))
	before := make(map[int][]string) // new lines by the line they come before
	quoted, line := 0, 0
	for _, kept := range append(common(trimRight(r.old), trimRight(r.lines)), pair{len(r.old), len(r.lines)}) {
		at := r.after(quoted)
		for q := kept.quoted - 1; q >= quoted; q-- {
			f, ok := r.partner(q)
			switch {
			case ok:
				gone[f], at = true, f
			case !blank(r.old[q]):
				return nil, false
			}
		}
		for ; line < kept.found; line++ {
			before[at] = append(before[at], r.indent(r.lines[line], quoted))
		}
		quoted, line = kept.quoted+1, kept.found+1
	}
	var out []string
	for i, l := range r.block {
		out = append(out, before[i]...)
		if !gone[i] {
			out = append(out, l)
		}
	}
	return append(out, before[len(r.block)]...), true
}

// after returns the line of the block before which something comes that
// stands before a quoted line: right after the partner of the line above.
func (r *rewriter) after(quoted int) int {
	for q := quoted - 1; q >= 0; q-- {
		if f, ok := r.partner(q); ok {
			return f + 1
		}
	}
	for q := quoted; q < len(r.old); q++ {
		if f, ok := r.partner(q); ok {
			return f
		}
	}
	return len(r.block)
}

func trimRight(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(l, " \t")
	}
	return out
}

// keepEnds is Rewrite for a substring that matched character by character:
// the characters that the quotation and the replacement share at either end
// are those of the text.
func keepEnds(found, quote, replacement string) string {
	f, q, r := []rune(found), []rune(quote), []rune(replacement)
	if len(f) != len(q) {
		return replacement
	}
	head := 0
	for head < len(q) && head < len(r) && q[head] == r[head] {
		head++
	}
	tail := 0
	for tail < len(q)-head && tail < len(r)-head && q[len(q)-1-tail] == r[len(r)-1-tail] {
		tail++
	}
	return string(f[:head]) + string(r[head:len(r)-tail]) + string(f[len(f)-tail:])
}

// A margin is an indentation in the quotation and at the place.
type margin struct{ quoted, found string }

// maxMargins bounds the different indentations that are compared. No
// program has as many.
const maxMargins = 64

// pair takes in which lines stand for each other.
func (r *rewriter) pair(pairs []pair) {
	r.partners = slices.Repeat([]int{-1}, len(r.old))
	for _, p := range pairs {
		r.partners[p.quoted] = p.found
		m := margin{indentOf(r.old[p.quoted]), indentOf(r.block[p.found])}
		if !blank(r.old[p.quoted]) && len(r.margins) < maxMargins && !slices.Contains(r.margins, m) {
			r.margins = append(r.margins, m)
		}
	}
}

// partner returns the line of the block that a quoted line stands for.
func (r *rewriter) partner(quoted int) (int, bool) {
	return r.partners[quoted], r.partners[quoted] >= 0
}

// learn compares margins to find how one step of indentation is written on
// each side.
func (r *rewriter) learn() {
	for _, p := range r.margins {
		for _, q := range r.margins {
			step, deeper := strings.CutPrefix(q.quoted, p.quoted)
			target, also := strings.CutPrefix(q.found, p.found)
			if !deeper || !also || step == "" || target == "" {
				continue
			}
			if r.from == "" || len(step) < len(r.from) {
				r.from, r.to = step, target
			}
		}
	}
	if r.from == "" {
		return
	}
	// "two steps = two steps" says the same as "one = one".
	for n := 8; n > 1; n-- {
		if a, b := unrepeat(r.from, n), unrepeat(r.to, n); a != "" && b != "" {
			r.from, r.to = a, b
			return
		}
	}
}

// unrepeat returns the string that s is n times, or "".
func unrepeat(s string, n int) string {
	if len(s)%n != 0 {
		return ""
	}
	one := s[:len(s)/n]
	if strings.Repeat(one, n) != s {
		return ""
	}
	return one
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// indent gives a new line the indentation that it has relative to the
// quoted lines, measured at the place. near is the last quoted line that the
// replacement has passed.
func (r *rewriter) indent(line string, near int) string {
	if blank(line) {
		return ""
	}
	own := indentOf(line)
	m, ok := r.base(own, near)
	if !ok {
		return line
	}
	if deeper, ok := strings.CutPrefix(own, m.quoted); ok {
		return m.found + r.convert(deeper, m.found) + line[len(own):]
	}
	// The line is shallower than every quoted one. Take away as much.
	if less, ok := strings.CutPrefix(m.quoted, own); ok {
		if up, ok := strings.CutSuffix(m.found, r.convert(less, m.found)); ok {
			return up + line[len(own):]
		}
	}
	return line
}

// maxReach is how many quoted lines above and below a new one are asked for
// their margin.
const maxReach = 200

// base chooses the margin to measure from: the deepest that the line shares
// with a quoted one, the nearest of those.
func (r *rewriter) base(own string, near int) (margin, bool) {
	var best margin
	rank := -1
	ask := func(m margin) {
		score := 0
		if strings.HasPrefix(own, m.quoted) {
			score = 1 + len(m.quoted)
		}
		if score > rank {
			best, rank = m, score
		}
	}
	for d := range maxReach {
		for _, q := range [...]int{near - d, near + d} {
			if q < 0 || q >= len(r.old) || r.partners[q] < 0 || blank(r.old[q]) {
				continue
			}
			ask(margin{indentOf(r.old[q]), indentOf(r.block[r.partners[q]])})
		}
		if rank == 1+len(own) {
			return best, true // no margin is deeper
		}
	}
	for _, m := range r.margins {
		ask(m)
	}
	return best, rank >= 0
}

// convert writes an indentation of the quotation's style in the style of
// the place.
func (r *rewriter) convert(indent, place string) string {
	if indent == "" {
		return ""
	}
	if r.from != "" && r.from != r.to {
		if n := strings.Count(indent, r.from); n > 0 && strings.Repeat(r.from, n) == indent {
			return strings.Repeat(r.to, n)
		}
	}
	tabs := strings.Contains(place, "\t") || strings.Contains(r.to, "\t")
	spaces := strings.Contains(place, " ") || strings.Contains(r.to, " ")
	switch width := utf8.RuneCountInString(indent); {
	case tabs && !spaces && strings.Trim(indent, " ") == "":
		return strings.Repeat("\t", max(1, width/r.width(width)))
	case spaces && !tabs && strings.Trim(indent, "\t") == "":
		return strings.Repeat(" ", width*r.placeWidth(place))
	}
	return indent
}

// width guesses how many blanks the quotation puts for one step.
func (r *rewriter) width(indent int) int {
	switch {
	case r.from != "" && strings.Trim(r.from, " ") == "":
		return len(r.from)
	case indent%4 == 0:
		return 4
	case indent%2 == 0:
		return 2
	default:
		return indent
	}
}

// placeWidth guesses how many blanks the text puts for one step.
func (r *rewriter) placeWidth(place string) int {
	switch {
	case r.to != "" && strings.Trim(r.to, " ") == "":
		return len(r.to)
	case len(place)%4 == 0:
		return 4
	default:
		return 2
	}
}
