package match

import (
	"regexp/syntax"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// classify divides the runes into classes that the program cannot tell
// apart.
func (a *automaton) classify() {
	// A class begins at each bound.
	bounds := []rune{0, '\n', '\n' + 1, utf8.RuneSelf}
	for i := range a.prog.Inst {
		switch in := &a.prog.Inst[i]; in.Op {
		case syntax.InstRune, syntax.InstRune1:
			bounds = appendBounds(bounds, in)
		case syntax.InstEmptyWidth:
			const word = syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
			a.wordy = a.wordy || syntax.EmptyOp(in.Arg)&word != 0
		}
	}
	if a.wordy {
		bounds = append(bounds, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	slices.Sort(bounds)
	a.bounds = slices.Compact(bounds)
	a.columns = 1 + len(a.bounds) // column 0 is for bytes outside ASCII
	if last := a.class(unicode.MaxRune); last == a.class(utf8.RuneSelf) {
		a.foreign = last
	}
	for c := range utf8.RuneSelf {
		a.column[c] = a.class(rune(c))
	}
}

func appendBounds(bounds []rune, in *syntax.Inst) []rune {
	if len(in.Rune) == 1 {
		r := in.Rune[0]
		bounds = append(bounds, r, r+1)
		if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				bounds = append(bounds, f, f+1)
			}
		}
		return bounds
	}
	for i := 0; i+1 < len(in.Rune); i += 2 {
		bounds = append(bounds, in.Rune[i], in.Rune[i+1]+1)
	}
	return bounds
}

// class returns the column of a rune.
func (a *automaton) class(r rune) int32 {
	return int32(sort.Search(len(a.bounds), func(i int) bool { return a.bounds[i] > r }))
}
