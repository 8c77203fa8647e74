package match

import "bytes"

// finder looks for the words of a set. It may keep what it learns of a text
// between calls, so it serves one goroutine.
type finder interface {
	// reset tells that the next text is another one.
	reset()
	// next returns where the first word at or after from starts, or -1.
	next(text []byte, from int) int
}

// newFinder returns the quickest finder for the set on this machine.
func newFinder(s wordSet) finder {
	if f := newPrintFinder(s); f != nil {
		return f
	}
	return newPlainFinder(s)
}

// newPlainFinder returns a finder that needs no special instructions.
func newPlainFinder(s wordSet) finder {
	if len(s.words) == 1 {
		return newWordFinder(s.words[0], s.fold)
	}
	f := &setFinder{}
	for _, w := range s.words {
		f.words = append(f.words, newWordFinder(w, s.fold))
	}
	f.at = make([]int, len(f.words))
	f.reset()
	return f
}

// occurs reports whether the word stands at text[at:].
func occurs(word string, fold bool, text []byte, at int) bool {
	if at < 0 || len(text)-at < len(word) {
		return false
	}
	here := text[at : at+len(word)]
	if !fold {
		return string(here) == word
	}
	for i, c := range here {
		if lower(c) != word[i] {
			return false
		}
	}
	return true
}

// wordFinder finds one word by its rarest byte: looking for a single byte is
// what the standard library does fastest.
type wordFinder struct {
	word  string
	fold  bool
	rare  int     // place of the rarest byte in word
	spell [2]byte // how that byte may be spelled; the same twice without fold

	// seen are the next places of both spellings, as far as they are known:
	// looking for the missing one again and again would cost the most.
	seen [2]int
}

func newWordFinder(word string, fold bool) *wordFinder {
	f := &wordFinder{word: word, fold: fold, rare: rareByte(word)}
	c := word[f.rare]
	f.spell = [2]byte{c, c}
	if fold && 'a' <= c && c <= 'z' {
		f.spell[1] = c &^ 0x20
	}
	f.reset()
	return f
}

func (f *wordFinder) reset() { f.seen = [2]int{-1, -1} }

func (f *wordFinder) next(text []byte, from int) int {
	for i := from + f.rare; i < len(text); {
		at := f.nextRare(text, i)
		if at == len(text) {
			return -1
		}
		if occurs(f.word, f.fold, text, at-f.rare) {
			return at - f.rare
		}
		i = at + 1
	}
	return -1
}

// nextRare returns the next place of the rare byte at or after i, or
// len(text).
func (f *wordFinder) nextRare(text []byte, i int) int {
	nearest := len(text)
	for k, c := range f.spell {
		if k == 1 && c == f.spell[0] {
			break
		}
		if f.seen[k] < i {
			f.seen[k] = len(text)
			if n := bytes.IndexByte(text[i:], c); n >= 0 {
				f.seen[k] = i + n
			}
		}
		nearest = min(nearest, f.seen[k])
	}
	return nearest
}

// setFinder asks one finder for each word and remembers what each said.
type setFinder struct {
	words []*wordFinder
	at    []int
}

// noMore is where a word is that does not occur again.
const noMore = int(^uint(0) >> 1)

func (f *setFinder) reset() {
	for i, w := range f.words {
		w.reset()
		f.at[i] = -1
	}
}

func (f *setFinder) next(text []byte, from int) int {
	nearest := noMore
	for i, w := range f.words {
		if f.at[i] < from {
			f.at[i] = w.next(text, from)
			if f.at[i] < 0 {
				f.at[i] = noMore
			}
		}
		nearest = min(nearest, f.at[i])
	}
	if nearest == noMore {
		return -1
	}
	return nearest
}
