package registry

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Match is one tool that a search found.
type Match struct {
	Listed
	// Score orders matches; it means nothing by itself.
	Score float64
	// Words are the words of the query that the tool answers to, in the
	// order of the query.
	Words []string
	// Away says that the tool is put away: it can be called all the same.
	Away bool
}

// Weights of where a word is found. A whole name beats any sum of words.
const (
	weightWholeName   = 1000
	weightName        = 12
	weightNamePrefix  = 8
	weightTag         = 8
	weightNameInside  = 5
	weightDescription = 3
	weightDescPrefix  = 1.5
)

// maxQueryWords bounds how many different words of a query are looked up.
const maxQueryWords = 64

// Search returns the tools that are seen and answer to a query, the best
// first, ties by name, and how many there are in all. It ranks over names,
// aliases, tags and descriptions; a word that few tools answer to counts for
// more. A query without words returns every tool in the order of the list.
// The result is at most limit long.
func (v *View) Search(query string, limit int) (matches []Match, total int) {
	s := v.look()
	docs := s.index().docs
	words := queryWords(query)
	away, _ := v.exposure.away(s)
	all := make([]Match, 0, len(docs))
	weights := make([][]float64, len(words))
	for i, w := range words {
		weights[i] = weigh(w, docs)
	}
	whole := strings.ToLower(strings.TrimSpace(query))
	for d, doc := range docs {
		m := Match{Listed: doc.listed, Away: away[doc.listed.Entry]}
		for i, w := range words {
			if weights[i][d] > 0 {
				m.Score += weights[i][d]
				m.Words = append(m.Words, w)
			}
		}
		if len(words) > 0 { // who answers to more of the words comes first
			m.Score *= 0.5 + float64(len(m.Words))/float64(len(words))
		}
		if slices.Contains(doc.wholeNames, whole) {
			m.Score += weightWholeName
		}
		if m.Score > 0 || len(words) == 0 {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	return all[:max(0, min(limit, len(all)))], len(all)
}

// Find returns the definitions of tools by any of their names, and the names
// that mean nothing here.
func (v *View) Find(names []string) (found []Match, unknown []string) {
	s := v.look()
	away, _ := v.exposure.away(s)
	for _, name := range names {
		r, ok := s.byName[name]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		found = append(found, Match{Listed: r.listed(), Away: away[r.Entry]})
	}
	return found, unknown
}

// weigh returns how much each tool answers to a word.
func weigh(word string, docs []doc) []float64 {
	weights := make([]float64, len(docs))
	hits := 0
	for i := range docs {
		if weights[i] = docs[i].weight(word); weights[i] > 0 {
			hits++
		}
	}
	if hits == 0 {
		return weights
	}
	rarity := math.Log(1 + float64(len(docs))/float64(hits))
	for i := range weights {
		weights[i] *= rarity
	}
	return weights
}

// index is the searchable text of every tool that is seen.
type index struct{ docs []doc }

type doc struct {
	listed      Listed
	wholeNames  []string // lower case
	names       []string // words of the name and the aliases
	tags        []string
	description []string // each word once, sorted
}

func newIndex(s *sight) *index {
	var x index
	for _, e := range s.seen {
		for _, r := range s.forms[e] {
			d := doc{listed: r.listed()}
			for name := range e.names {
				d.wholeNames = append(d.wholeNames, strings.ToLower(name))
				d.names = slices.AppendSeq(d.names, words(name))
			}
			d.wholeNames = append(d.wholeNames, strings.ToLower(r.Shown))
			d.names = slices.AppendSeq(d.names, words(r.Shown))
			for _, tag := range e.Spec.Tags {
				d.tags = slices.AppendSeq(d.tags, words(tag))
			}
			d.description = slices.Compact(slices.Sorted(words(d.listed.Description)))
			x.docs = append(x.docs, d)
		}
	}
	slices.SortFunc(x.docs, func(a, b doc) int { return cmp.Compare(a.listed.Name, b.listed.Name) })
	return &x
}

// weight adds up what a word weighs in the name, the tags and the
// description.
func (d *doc) weight(word string) float64 {
	sum := d.nameWeight(word)
	if slices.Contains(d.tags, word) {
		sum += weightTag
	}
	at, found := slices.BinarySearch(d.description, word)
	switch {
	case found:
		sum += weightDescription
	case isPart(word) && at < len(d.description) && strings.HasPrefix(d.description[at], word):
		sum += weightDescPrefix
	}
	return sum
}

func (d *doc) nameWeight(word string) (best float64) {
	for _, w := range d.names {
		switch {
		case w == word:
			return weightName
		case isPart(word) && strings.HasPrefix(w, word):
			best = max(best, weightNamePrefix)
		case isPart(word) && strings.Contains(w, word), isStem(w) && strings.HasPrefix(word, w):
			best = max(best, weightNameInside)
		}
	}
	return best
}

// isStem reports whether a word is long enough to stand for longer forms of
// itself: read for reading.
func isStem(word string) bool { return len(word) >= 4 }

// isPart reports whether a word is long enough to count as a part of others.
func isPart(word string) bool { return len(word) >= 3 }

// queryWords returns the different words of a query in their order.
func queryWords(query string) []string {
	var unique []string
	for w := range words(query) {
		if len(unique) == maxQueryWords {
			break
		}
		if !slices.Contains(unique, w) {
			unique = append(unique, w)
		}
	}
	return unique
}

// words takes text apart into lower-case words; camelCase counts as two.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, upper := -1, false // where the word began, and whether its last letter is upper case
		for i, r := range text {
			inWord := unicode.IsLetter(r) || unicode.IsDigit(r)
			if start >= 0 && (!inWord || unicode.IsUpper(r) && !upper) {
				if !yield(strings.ToLower(text[start:i])) {
					return
				}
				start = -1
			}
			if inWord {
				if start < 0 {
					start = i
				}
				upper = unicode.IsUpper(r)
			}
		}
		if start >= 0 {
			yield(strings.ToLower(text[start:]))
		}
	}
}
