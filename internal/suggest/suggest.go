// Package suggest finds the known name that somebody probably meant: a tool,
// an argument, a policy entry, a key of the configuration.
package suggest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// MaxWord is the longest word, in runes, that is compared. Nothing is near a
// longer one: no name is that long, and the comparison costs the product of
// both lengths.
const MaxWord = 128

// minAffix is how long a word must be, in runes, to count as the beginning
// or the end of another. Shorter ones are part of nearly everything.
const minAffix = 3

// Fold returns the spelling of a name without what the conventions differ
// in: letter case, "_" and "-". file_path, filePath and File-Path fold alike.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// Nearest returns the candidate that is closest to word, and false where
// none is near. See [NearestN] for what counts as near.
func Nearest(word string, candidates []string) (string, bool) {
	near := NearestN(word, candidates, 1)
	if len(near) == 0 {
		return "", false
	}
	return near[0], true
}

// NearestN returns at most n candidates that are near to word, the closest
// first and equally close ones in alphabetical order. Duplicates are
// returned once. A candidate is near when, after [Fold],
//
//   - both are the same, or
//   - both have three letters or more and one begins or ends with the other
//     (path and file_path), or
//   - few letters differ: at most a third of the longer word's or two,
//     whichever is more, and never all of them.
//
// A word or candidate over [MaxWord] is near to nothing.
func NearestN(word string, candidates []string, n int) []string {
	if n <= 0 || len(word) > MaxWord*4 { // a rune has at most four bytes
		return nil
	}
	w := []rune(Fold(word))
	if len(w) == 0 || len(w) > MaxWord {
		return nil
	}
	type match struct {
		name     string
		distance int
	}
	var near []match
	for _, c := range candidates {
		if len(c) > MaxWord*4 {
			continue
		}
		if d, ok := distance(w, []rune(Fold(c))); ok {
			near = append(near, match{c, d})
		}
	}
	slices.SortFunc(near, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	near = slices.CompactFunc(near, func(a, b match) bool { return a.name == b.name })
	var names []string
	for _, m := range near[:min(n, len(near))] {
		names = append(names, m.name)
	}
	return names
}

// distance returns how many letters differ between two folded words, and
// whether they are near.
func distance(a, b []rune) (int, bool) {
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) == 0 || len(long) > MaxWord {
		return 0, false
	}
	gap := len(long) - len(short)
	if slices.Equal(long[:len(short)], short) || slices.Equal(long[gap:], short) {
		// One word inside the other differs by exactly what it lacks.
		if gap == 0 || len(short) >= minAffix {
			return gap, true
		}
	}
	limit := max(2, len(long)/3)
	if gap > limit {
		return 0, false
	}
	d := levenshtein(short, long)
	return d, d <= limit && d < len(short)
}

// levenshtein counts the insertions, deletions and replacements that turn
// one word into the other, keeping one row of the table.
func levenshtein(a, b []rune) int {
	var row [MaxWord + 1]int
	for i := range len(a) + 1 {
		row[i] = i
	}
	for j, r := range b {
		diagonal := row[0]
		row[0] = j + 1
		for i, q := range a {
			cost := diagonal
			if q != r {
				cost = 1 + min(diagonal, row[i], row[i+1])
			}
			diagonal, row[i+1] = row[i+1], cost
		}
	}
	return row[len(a)]
}
