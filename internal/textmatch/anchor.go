package textmatch

import (
	"slices"
	"strings"
)

// anchorThreshold is how similar the middle of a block must be, from 0 to 1.
const anchorThreshold = 0.65

// compareBudget bounds the comparison of similar lines, in cells of the
// edit-distance table: about a tenth of a second. A quotation that needs
// more is not found, which is the safe answer.
const compareBudget = 40_000_000

// blockAnchor pairs each line that equals the first quoted one with every
// later line that equals the last, and keeps the most similar block for
// each opening, the nearest on a tie.
func (s *search) blockAnchor() []Match {
	n := len(s.quoted)
	if n < 3 {
		return nil
	}
	first, last := strings.TrimSpace(s.quoted[0]), strings.TrimSpace(s.quoted[n-1])
	if first == "" || last == "" {
		return nil
	}
	middle := s.quoted[1 : n-1]
	longest := int(float64(len(middle)) / anchorThreshold)
	if len(middle)*longest > maxCommon {
		return nil
	}
	openings, closings := s.anchors(first, last)
	c := comparer{budget: compareBudget}
	var found []Match
	for _, from := range openings {
		best, bestTo := 0.0, -1
		after, _ := slices.BinarySearch(closings, from+1)
		for _, to := range closings[after:] {
			if to-from-1 > longest {
				break
			}
			if score := s.blockScore(&c, from+1, to, middle); score >= anchorThreshold && score > best {
				best, bestTo = score, to
			}
		}
		if bestTo >= 0 && len(found) < maxMatches {
			m := Match{Stage: BlockAnchor, Similarity: best, pairs: s.pairLines(&c, from, bestTo+1)}
			m.Start, m.End = s.span(from, bestTo+1, s.withEnd)
			found = append(found, m)
		}
		if c.budget < 0 {
			return nil
		}
	}
	return found
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

// blockScore compares lines from to to with the quoted middle, one by one.
// A line without a partner scores 0, so that text which nobody described
// counts against the block.
func (s *search) blockScore(c *comparer, from, to int, middle []string) float64 {
	most := max(to-from, len(middle))
	if most == 0 {
		return 1
	}
	paired := min(to-from, len(middle))
	c.budget -= paired + 1
	sum := 0.0
	for i := range paired {
		sum += c.similarity(strings.TrimSpace(s.line(from+i)), strings.TrimSpace(middle[i]))
		if c.budget < 0 || sum+float64(paired-i-1) < anchorThreshold*float64(most) {
			return 0
		}
	}
	return sum / float64(most)
}

// pairThreshold is how similar two lines must be to stand for each other.
const pairThreshold = 0.5

// pairLines says which quoted line stands for which line of a block, in the
// way that makes the lines most similar in all. The first and the last line
// are known to belong together.
func (s *search) pairLines(c *comparer, from, to int) []pair {
	quoted, block := s.quoted[1:len(s.quoted)-1], to-from-2
	width := block + 1
	alike := make([]float64, len(quoted)*block)
	best := make([]float64, (len(quoted)+1)*width)
	for i := len(quoted) - 1; i >= 0; i-- {
		for j := block - 1; j >= 0; j-- {
			score := c.similarity(strings.TrimSpace(quoted[i]), strings.TrimSpace(s.line(from+1+j)))
			alike[i*block+j] = score
			best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			if score >= pairThreshold {
				best[i*width+j] = max(best[i*width+j], score+best[(i+1)*width+j+1])
			}
		}
	}
	pairs := []pair{{0, 0}}
	for i, j := 0, 0; i < len(quoted) && j < block; {
		score := alike[i*block+j]
		switch here := best[i*width+j]; {
		case score >= pairThreshold && here == score+best[(i+1)*width+j+1]:
			pairs = append(pairs, pair{i + 1, j + 1})
			i++
			j++
		case here == best[(i+1)*width+j]:
			i++
		default:
			j++
		}
	}
	return append(pairs, pair{len(s.quoted) - 1, to - from - 1})
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
// characters. It is 0 once the budget is spent.
func (c *comparer) similarity(a, b string) float64 {
	if a == b {
		return 1
	}
	c.one, c.two = append(c.one[:0], []rune(a)...), append(c.two[:0], []rune(b)...)
	longest := max(len(c.one), len(c.two))
	if len(c.one) == 0 || len(c.two) == 0 {
		return 0
	}
	c.budget -= len(c.one) * len(c.two)
	if c.budget < 0 {
		return 0
	}
	return 1 - float64(c.distance())/float64(longest)
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
