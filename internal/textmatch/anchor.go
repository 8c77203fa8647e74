package textmatch

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// anchorThreshold is how similar the middle of a block must be, from 0 to 1.
const anchorThreshold = 0.65

// compareBudget bounds the comparison of similar lines, in cells of the
// edit-distance table: about a tenth of a second. A quotation that needs
// more is not found, which is the safe answer.
const compareBudget = 40_000_000

// maxOverlap bounds how many neighbours of a block are compared with it.
const maxOverlap = 50

// blockAnchor pairs each line that equals the first quoted one with every
// later line that equals the last, and keeps the most similar block for
// each opening, the nearest on a tie. octos compares the lines between by
// their position; here they are aligned first, so that one line which was
// left out does not shift all that follow.
func (s *search) blockAnchor() []Match {
	n := len(s.quoted)
	if n < 3 {
		return nil
	}
	first, last := strings.TrimSpace(s.quoted[0]), strings.TrimSpace(s.quoted[n-1])
	if first == "" || last == "" {
		return nil
	}
	middle := trimmed(s.quoted[1 : n-1])
	shortest, longest := int(float64(len(middle))*anchorThreshold), int(float64(len(middle))/anchorThreshold)
	if len(middle)*longest > maxCommon {
		return nil
	}
	openings, closings := s.anchors(first, last)
	c := comparer{budget: compareBudget}
	var found []Match
	for _, from := range openings {
		best, bestTo := alignment{}, -1
		after, _ := slices.BinarySearch(closings, from+1+shortest)
		for _, to := range closings[after:] {
			if to-from-1 > longest {
				break
			}
			if a := c.align(middle, s.trimmedLines(from+1, to)); a.score >= anchorThreshold && a.score > best.score {
				best, bestTo = a, to
			}
		}
		if c.budget < 0 {
			return nil
		}
		if bestTo >= 0 && len(found) < s.limit {
			m := Match{Stage: BlockAnchor, Similarity: best.score, pairs: best.pairs(n, bestTo-from+1), withEnd: s.withEnd}
			m.Start, m.End = s.span(from, bestTo+1, s.withEnd)
			found = append(found, m)
		}
	}
	return bestOfOverlapping(found)
}

// bestOfOverlapping drops a block that overlaps a more similar one: both are
// readings of one place, begun at different lines that look like the first.
func bestOfOverlapping(found []Match) []Match {
	var out []Match
	for i, m := range found {
		better := func(o Match) bool { return o.Similarity > m.Similarity && o.Start < m.End && m.Start < o.End }
		// The blocks are in order of their start, so those that overlap
		// this one are near it on both sides.
		near := found[max(0, i-maxOverlap):min(len(found), i+maxOverlap+1)]
		if !slices.ContainsFunc(near, better) {
			out = append(out, m)
		}
	}
	return out
}

func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSpace(l)
	}
	return out
}

func (s *search) trimmedLines(from, to int) []string {
	out := make([]string, to-from)
	for i := range out {
		out[i] = strings.TrimSpace(s.line(from + i))
	}
	return out
}

// anchors returns the lines that equal the first and the last quoted one.
func (s *search) anchors(first, last string) (openings, closings []int) {
	for i := range s.lines() {
		line := strings.TrimSpace(s.line(i))
		if line == first {
			openings = append(openings, i)
		}
		if line == last {
			closings = append(closings, i)
		}
	}
	return openings, closings
}

// pairThreshold is how similar two lines must be to stand for each other.
const pairThreshold = 0.5

// An alignment says how the quoted lines between the anchors and those of a
// block stand for each other, in the way that makes them most similar.
type alignment struct {
	quoted, block int // how many lines each side has
	// alike is the similarity of each quoted line to each of the block, and
	// best the sum that the lines from there on can reach.
	alike, best []float64
	// score is that sum for all of them, over the length of the longer
	// side: a line without a partner scores 0 (octos #1771), so text which
	// nobody described counts against the block.
	score float64
}

func (c *comparer) align(quoted, block []string) alignment {
	a := alignment{quoted: len(quoted), block: len(block)}
	a.alike = make([]float64, len(quoted)*len(block))
	width := len(block) + 1
	a.best = make([]float64, (len(quoted)+1)*width)
	c.budget -= len(a.best)
	for i := len(quoted) - 1; i >= 0 && c.budget >= 0; i-- {
		for j := len(block) - 1; j >= 0; j-- {
			score := c.similarity(quoted[i], block[j], pairThreshold)
			a.alike[i*len(block)+j] = score
			a.best[i*width+j] = max(a.best[(i+1)*width+j], a.best[i*width+j+1])
			if score >= pairThreshold {
				a.best[i*width+j] = max(a.best[i*width+j], score+a.best[(i+1)*width+j+1])
			}
		}
	}
	if most := max(len(quoted), len(block)); c.budget >= 0 && most > 0 {
		a.score = a.best[0] / float64(most)
	}
	return a
}

// pairs returns the pairs of the whole block of which a is the middle. The
// first and the last line belong together. So do lines that are not alike
// where as many are left on both sides between two pairs.
func (a alignment) pairs(quoted, block int) []pair {
	width := a.block + 1
	pairs := []pair{{0, 0}}
	for i, j := 0, 0; i < a.quoted && j < a.block; {
		score := a.alike[i*a.block+j]
		switch here := a.best[i*width+j]; {
		case score >= pairThreshold && here == score+a.best[(i+1)*width+j+1]:
			pairs = fillGap(pairs, pair{i + 1, j + 1})
			i++
			j++
		case here == a.best[(i+1)*width+j]:
			i++
		default:
			j++
		}
	}
	return fillGap(pairs, pair{quoted - 1, block - 1})
}

// fillGap appends a pair, and before it those of the lines in between if
// there are as many on both sides.
func fillGap(pairs []pair, next pair) []pair {
	last := pairs[len(pairs)-1]
	if next.quoted-last.quoted == next.found-last.found {
		for last.quoted+1 < next.quoted {
			last = pair{last.quoted + 1, last.found + 1}
			pairs = append(pairs, last)
		}
	}
	return append(pairs, next)
}

// maxCommon bounds the table of common, in cells.
const maxCommon = 4_000_000

// common returns a longest common subsequence of a and b as pairs of
// indices. For very long lists it is the common start and end.
func common(a, b []string) []pair {
	var pairs, tail []pair
	lo := 0
	for lo < len(a) && lo < len(b) && a[lo] == b[lo] {
		pairs = append(pairs, pair{lo, lo})
		lo++
	}
	ha, hb := len(a), len(b)
	for ha > lo && hb > lo && a[ha-1] == b[hb-1] {
		ha--
		hb--
		tail = append(tail, pair{ha, hb})
	}
	for _, p := range longestCommon(a[lo:ha], b[lo:hb]) {
		pairs = append(pairs, pair{p.quoted + lo, p.found + lo})
	}
	for i := len(tail) - 1; i >= 0; i-- {
		pairs = append(pairs, tail[i])
	}
	return pairs
}

func longestCommon(a, b []string) []pair {
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > maxCommon {
		return nil
	}
	width := len(b) + 1
	best := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	var pairs []pair
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, pair{i, j})
			i++
			j++
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// A comparer measures how similar lines are within a budget.
type comparer struct {
	budget   int
	row      []int
	one, two []rune
}

// similarity is 1 − edit distance ÷ length of the longer line, in
// characters. It may answer 0 for what is below least, and does once the
// budget is spent.
func (c *comparer) similarity(a, b string, least float64) float64 {
	if a == b {
		return 1
	}
	one, two := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	shorter, longer := min(one, two), max(one, two)
	if shorter == 0 || float64(shorter) < least*float64(longer) {
		return 0
	}
	if c.budget -= one * two; c.budget < 0 {
		return 0
	}
	c.one, c.two = append(c.one[:0], []rune(a)...), append(c.two[:0], []rune(b)...)
	return 1 - float64(c.distance())/float64(longer)
}

// distance is the Levenshtein distance of one and two.
func (c *comparer) distance() int {
	if cap(c.row) <= len(c.two) {
		c.row = make([]int, len(c.two)+1)
	}
	row := c.row[:len(c.two)+1]
	for j := range row {
		row[j] = j
	}
	for i, r := range c.one {
		diagonal := row[0]
		row[0] = i + 1
		for j, q := range c.two {
			above := row[j+1]
			cost := diagonal
			if r != q {
				cost = min(diagonal, above, row[j]) + 1
			}
			row[j+1], diagonal = cost, above
		}
	}
	return row[len(c.two)]
}
