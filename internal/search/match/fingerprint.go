package match

import (
	"math/bits"
	"slices"
)

// fingerprint is how many bytes of a word the vector search compares.
const fingerprint = 3

// prints holds, for each byte of the fingerprint, which groups of words can
// have which low and which high half of that byte. Both halves stand twice,
// once for each lane of a vector register.
type prints [fingerprint][2][32]byte

// block is what the vector search saw at 32 places: the groups, one bit
// each, that a word might belong to which stands there.
type block [32]byte

// printFinder finds words by a fingerprint of three bytes in a row: at each
// of 32 places at once, every byte is looked up by halves in a table of the
// word groups that have it there, and the three answers are joined. What is
// left is compared with the words of the group. The method is known as Teddy,
// from the Hyperscan project.
type printFinder struct {
	tables prints
	words  []string
	fold   bool
	at     []int    // where each word's fingerprint lies in it
	groups [8][]int // word numbers by group
	before int      // the most bytes before a fingerprint
	short  finder   // for the end of the text
}

// newPrintFinder returns nil where the words are too short or the machine
// cannot.
func newPrintFinder(s wordSet) *printFinder {
	if !hasVectors() {
		return nil
	}
	f := &printFinder{words: slices.Clone(s.words), fold: s.fold}
	// Words that look alike share a group, which keeps the others precise.
	slices.Sort(f.words)
	f.words = slices.Compact(f.words)
	for i, w := range f.words {
		if len(w) < fingerprint {
			return nil
		}
		at, _ := rareWindow(w, fingerprint)
		f.at = append(f.at, at)
		f.before = max(f.before, at)
		group := i * len(f.groups) / len(f.words)
		f.groups[group] = append(f.groups[group], i)
		for k := range fingerprint {
			f.tables.add(k, w[at+k], group)
			if c := w[at+k]; s.fold && 'a' <= c && c <= 'z' {
				f.tables.add(k, c&^0x20, group)
			}
		}
	}
	f.short = newPlainFinder(s)
	return f
}

func (p *prints) add(k int, c byte, group int) {
	for lane := 0; lane < 32; lane += 16 {
		p[k][0][lane+int(c&15)] |= 1 << group
		p[k][1][lane+int(c>>4)] |= 1 << group
	}
}

func (f *printFinder) reset() { f.short.reset() }

func (f *printFinder) next(text []byte, from int) int {
	var found block
	// i is where fingerprints are looked for; the word may start earlier.
	for i := from; ; {
		n := len(text) - (fingerprint - 1) - i
		if n < len(found) {
			f.short.reset()
			return f.short.next(text, max(from, i-f.before))
		}
		at, mask := scanPrints(&text[i], n, &f.tables, &found)
		if at < 0 {
			return -1
		}
		for ; mask != 0; mask &= mask - 1 {
			k := bits.TrailingZeros32(mask)
			if start := f.verify(text, from, i+at+k, found[k]); start >= 0 {
				return start
			}
		}
		i += at + len(found)
	}
}

// verify returns where a word of the groups starts whose fingerprint stands
// at text[at:], or -1.
func (f *printFinder) verify(text []byte, from, at int, groups byte) int {
	for ; groups != 0; groups &= groups - 1 {
		for _, w := range f.groups[bits.TrailingZeros8(groups)] {
			start := at - f.at[w]
			if start >= from && occurs(f.words[w], f.fold, text, start) {
				return start
			}
		}
	}
	return -1
}
