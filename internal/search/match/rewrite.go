package match

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

// hasNewline reports whether a match of the pattern could need a newline. A
// class that allows others beside it does not.
func hasNewline(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		return slices.Contains(re.Rune, '\n')
	}
	return slices.ContainsFunc(re.Sub, hasNewline)
}

// endBeforeCR lets every "$" also match before a "\r" at the end of a line.
func endBeforeCR(re *syntax.Regexp) {
	for _, sub := range re.Sub {
		endBeforeCR(sub)
	}
	if re.Op != syntax.OpEndLine {
		return
	}
	flags := re.Flags
	*re = syntax.Regexp{Op: syntax.OpConcat, Flags: flags, Sub: []*syntax.Regexp{
		{Op: syntax.OpQuest, Flags: flags, Sub: []*syntax.Regexp{
			{Op: syntax.OpLiteral, Flags: flags &^ syntax.FoldCase, Rune: []rune{'\r'}},
		}},
		{Op: syntax.OpEndLine, Flags: flags},
	}}
}

// wholeWord surrounds the pattern with what may stand beside a word: the end
// of the line, or a character that is no letter, mark, digit or underscore
// in any script. ripgrep's --word-regexp means the same.
//
// The neighbour becomes part of the match. For lines that is no matter; who
// needs the place of the match takes the group around the pattern, which is
// the first of all groups.
func wholeWord(re *syntax.Regexp) *syntax.Regexp {
	flags := re.Flags &^ syntax.FoldCase
	group := func(op syntax.Op, sub ...*syntax.Regexp) *syntax.Regexp {
		return &syntax.Regexp{Op: op, Flags: flags, Sub: sub}
	}
	start := group(syntax.OpAlternate, group(syntax.OpBeginLine), nonWord(flags))
	end := group(syntax.OpAlternate, group(syntax.OpEndLine), nonWord(flags))
	inner := group(syntax.OpCapture, re)
	inner.Cap = re.MaxCap() + 1
	return group(syntax.OpConcat, start, inner, end)
}

// nonWord is the class of what does not belong to a word.
func nonWord(flags syntax.Flags) *syntax.Regexp {
	var word []rune // pairs of first and last
	tables := []*unicode.RangeTable{unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc}
	for _, t := range tables {
		for _, r := range t.R16 {
			word = appendRange(word, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			word = appendRange(word, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return &syntax.Regexp{Op: syntax.OpCharClass, Flags: flags, Rune: complement(word)}
}

func appendRange(pairs []rune, lo, hi, stride rune) []rune {
	if stride == 1 {
		return append(pairs, lo, hi)
	}
	for r := lo; r <= hi; r += stride {
		pairs = append(pairs, r, r)
	}
	return pairs
}

// complement returns the ranges that the given ones leave free, in order.
func complement(pairs []rune) []rune {
	type span struct{ lo, hi rune }
	spans := make([]span, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		spans = append(spans, span{pairs[i], pairs[i+1]})
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	var free []rune
	next := rune(0)
	for _, s := range spans {
		if s.lo > next {
			free = append(free, next, s.lo-1)
		}
		next = max(next, s.hi+1)
	}
	return append(free, next, unicode.MaxRune)
}
