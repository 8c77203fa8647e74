package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// wordSet is a set of byte strings. With fold, ASCII letters match in either
// case and the words are in lower case.
type wordSet struct {
	words []string
	fold  bool
}

const (
	// maxWords bounds a set: beyond it, the automaton is faster.
	maxWords = 32
	// maxWordLen bounds a word; a longer one is no rarer.
	maxWordLen = 64
	// maxClass is the largest character class that is spelled out.
	maxClass = 10
)

// facts are what is known of the texts that a piece of pattern matches.
type facts struct {
	// all, where it is known, holds every text that the piece matches; the
	// empty text may be one of them.
	all *wordSet
	// loose says that not every occurrence of a text of all is a match: an
	// assertion or a case must be checked.
	loose bool
	// some, where it is known, holds texts of which one is in every match.
	some *wordSet
}

// required returns words of which one is in every match of the pattern, and
// whether each occurrence of one is a match. The set is empty where nothing
// useful is known. With lines, a match stays within a line.
func required(re *syntax.Regexp, lines bool) (words wordSet, whole bool) {
	f := learn(re)
	s := f.needed()
	if s == nil {
		return wordSet{}, false
	}
	if lines {
		// The class \s has a newline, for example. No line has one.
		s = &wordSet{fold: s.fold, words: slices.DeleteFunc(slices.Clone(s.words), func(w string) bool {
			return strings.Contains(w, "\n")
		})}
		if len(s.words) == 0 {
			return wordSet{}, false
		}
	}
	whole = f.all != nil && !f.loose
	if !whole && s.rarity() < minRarity {
		return wordSet{}, false
	}
	return s.minimal(), whole
}

// minimal returns the set without words that contain another one of it.
func (s *wordSet) minimal() wordSet {
	out := wordSet{fold: s.fold}
	for i, w := range s.words {
		needless := false
		for k, other := range s.words {
			needless = needless || strings.Contains(w, other) && (w != other || k < i)
		}
		if !needless {
			out.words = append(out.words, w)
		}
	}
	return out
}

// needed returns the words of which one is in every match, or nil.
func (f facts) needed() *wordSet {
	s := f.some
	if f.all != nil {
		s = f.all
	}
	if s == nil || len(s.words) == 0 || slices.Contains(s.words, "") {
		return nil
	}
	return s
}

func learn(re *syntax.Regexp) facts {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return facts{all: &wordSet{words: []string{""}}}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return facts{all: &wordSet{words: []string{""}}, loose: true}
	case syntax.OpLiteral:
		return learnLiteral(re)
	case syntax.OpCharClass:
		return learnClass(re)
	case syntax.OpCapture:
		return learn(re.Sub[0])
	case syntax.OpPlus:
		return facts{some: learn(re.Sub[0]).needed()}
	case syntax.OpQuest:
		f := learn(re.Sub[0])
		if f.all == nil {
			return facts{}
		}
		words := append(slices.Clone(f.all.words), "")
		return facts{all: &wordSet{words: words, fold: f.all.fold}, loose: f.loose}
	case syntax.OpAlternate:
		return learnAlternate(re)
	case syntax.OpConcat:
		return learnConcat(re)
	}
	return facts{}
}

// learnLiteral treats a text whose case is ignored. Some ASCII letters fold
// to runes outside ASCII (k to the Kelvin sign, s to the long s) and other
// runes fold freely; only the longest piece without such is certain.
func learnLiteral(re *syntax.Regexp) facts {
	if slices.ContainsFunc(re.Rune, misspelt) {
		return facts{}
	}
	text := string(re.Rune)
	if re.Flags&syntax.FoldCase == 0 {
		return facts{all: &wordSet{words: []string{text}}}
	}
	text = strings.ToLower(text)
	odd := func(r rune) bool { return r >= 0x80 || r == 'k' || r == 's' }
	if !strings.ContainsFunc(text, odd) {
		return facts{all: &wordSet{words: []string{text}, fold: true}}
	}
	longest := ""
	for piece := range strings.FieldsFuncSeq(text, odd) {
		if len(piece) > len(longest) {
			longest = piece
		}
	}
	if longest == "" {
		return facts{}
	}
	return facts{some: &wordSet{words: []string{longest}, fold: true}}
}

// misspelt reports whether text can hold the rune without its bytes: an
// invalid byte counts as U+FFFD, and half a surrogate pair has no bytes.
func misspelt(r rune) bool { return r == utf8.RuneError || !utf8.ValidRune(r) }

func learnClass(re *syntax.Regexp) facts {
	s := &wordSet{}
	for i := 0; i < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(s.words) == maxClass || misspelt(r) {
				return facts{}
			}
			s.words = append(s.words, string(r))
		}
	}
	return facts{all: s}
}

func learnAlternate(re *syntax.Regexp) facts {
	all, some := &wordSet{}, &wordSet{}
	loose := false
	for _, sub := range re.Sub {
		f := learn(sub)
		loose = loose || f.loose
		if all != nil {
			var mixed bool
			all, mixed = union(all, f.all)
			loose = loose || mixed
		}
		if some != nil {
			some, _ = union(some, f.needed())
		}
	}
	if all != nil {
		return facts{all: all, loose: loose}
	}
	return facts{some: some}
}

// learnConcat strings together the texts of neighbours as long as they are
// all known, and keeps the rarest set it saw.
func learnConcat(re *syntax.Regexp) facts {
	var best *wordSet
	consider := func(s *wordSet) {
		if s != nil && (best == nil || s.rarity() > best.rarity()) {
			best = s
		}
	}
	empty := &wordSet{words: []string{""}}
	run, loose, broken := empty, false, false
	for _, sub := range re.Sub {
		f := learn(sub)
		joined, mixed := product(run, f.all)
		if joined != nil {
			run = joined
			loose = loose || f.loose || mixed
			continue
		}
		broken = true
		consider(facts{all: run}.needed())
		consider(f.needed())
		run = empty
		if f.all != nil {
			run = f.all
		}
	}
	if !broken {
		return facts{all: run, loose: loose}
	}
	consider(facts{all: run}.needed())
	return facts{some: best}
}

// union returns both sets as one, nil where it would be too large or either
// is unknown. mixed says that the result matches more than the two did.
func union(a, b *wordSet) (both *wordSet, mixed bool) {
	if a == nil || b == nil || len(a.words)+len(b.words) > maxWords {
		return nil, false
	}
	a, b, mixed = sameCase(a, b)
	return &wordSet{words: append(slices.Clone(a.words), b.words...), fold: a.fold}, mixed
}

// product returns every word of a followed by every word of b, nil where
// there are too many or b is unknown.
func product(a, b *wordSet) (both *wordSet, mixed bool) {
	if b == nil || len(a.words)*len(b.words) > maxWords {
		return nil, false
	}
	a, b, mixed = sameCase(a, b)
	both = &wordSet{fold: a.fold}
	for _, x := range a.words {
		for _, y := range b.words {
			if len(x)+len(y) > maxWordLen {
				return nil, false
			}
			both.words = append(both.words, x+y)
		}
	}
	return both, mixed
}

// sameCase brings two sets to the same treatment of case. mixed says that
// one of them now matches more than before.
func sameCase(a, b *wordSet) (x, y *wordSet, mixed bool) {
	if a.fold == b.fold {
		return a, b, false
	}
	if a.fold {
		y, x, mixed = sameCase(b, a)
		return x, y, mixed
	}
	folded := &wordSet{fold: true}
	for _, w := range a.words {
		low := lowerASCII(w)
		mixed = mixed || strings.ContainsFunc(w, isLetter)
		folded.words = append(folded.words, low)
	}
	return folded, b, mixed
}

func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}
