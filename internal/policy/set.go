package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// Set is a compiled list of entries. It never changes, so it may be used
// from several goroutines. The nil set matches nothing.
type Set struct {
	entries []string
	// The maps and lists hold the index of the entry that each came from;
	// where several entries name one thing, the first stands.
	names    map[string]int
	tags     map[string]int
	prefixes []prefixEntry
	tiers    []tierEntry
	effects  []effectEntry
	rank     map[string]int // of each tier of the vocabulary
	allows   bool
	// within is what the effect entries of an allow list admit together.
	within tool.Effects
}

type prefixEntry struct {
	prefix string
	index  int
}

type tierEntry struct {
	rank  int
	all   bool // octos' spelling in a deny list
	index int
}

type effectEntry struct {
	effect tool.Effects
	index  int
}

// unknownTier ranks a tier that the vocabulary does not have above all that
// it has.
const unknownTier = math.MaxInt

// CompileSet compiles a list of entries that has neither allowing nor
// denying in it, such as the tools that are kept in a list. Its entries
// match as those of a deny list. what names the list in errors.
func CompileSet(what string, entries []string, vocab *Vocabulary, catalog Catalog) (*Set, error) {
	s, problems := newLookup(vocab, catalog).compile(what, entries, false)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return s, nil
}

// Match returns the first entry, as it was written, that matches a tool.
func (s *Set) Match(spec *tool.Spec) (entry string, ok bool) {
	if s == nil {
		return "", false
	}
	if i := s.match(spec); i >= 0 {
		return s.entries[i], true
	}
	return "", false
}

// compile parses and checks a list. It returns what is wrong with it, each
// problem naming its place.
func (l *lookup) compile(list string, texts []string, allows bool) (*Set, []error) {
	s := &Set{
		entries: slices.Clone(texts),
		names:   map[string]int{},
		tags:    map[string]int{},
		rank:    make(map[string]int, len(l.vocab.tiers)),
		allows:  allows,
	}
	for i, tier := range l.vocab.tiers {
		s.rank[tier] = i
	}
	var problems []error
	for i, text := range texts {
		e, err := parseEntry(text)
		if err == nil {
			err = l.check(e)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s entry %d, %q, %w", list, i+1, tool.Clip(text), err))
			continue
		}
		l.add(s, e, i)
	}
	return s, problems
}

// add puts an entry that was checked into the set.
func (l *lookup) add(s *Set, e entry, i int) {
	switch e.kind {
	case kindName:
		first(s.names, e.value, i)
		if spec, ok := l.resolve(e.value); ok {
			first(s.names, spec.Name, i)
		}
	case kindPrefix:
		s.prefixes = append(s.prefixes, prefixEntry{e.value, i})
	case kindGroup:
		for _, m := range l.vocab.flat[e.value] {
			if prefix, wild := strings.CutSuffix(m, "*"); wild {
				s.prefixes = append(s.prefixes, prefixEntry{prefix, i})
			} else {
				first(s.names, m, i)
			}
		}
	case kindTag:
		first(s.tags, e.value, i)
	case kindEffect:
		effect, err := tool.ParseEffect(e.value)
		if err != nil {
			panic("an effect that was checked is unknown: " + err.Error())
		}
		s.effects = append(s.effects, effectEntry{effect, i})
		s.within |= effect
	case kindTier, kindRobot:
		closes := e.kind == kindRobot && !s.allows
		if rank, ok := s.rank[e.value]; ok || closes {
			s.tiers = append(s.tiers, tierEntry{rank, closes, i})
		} else { // may come later: then it is this very tier
			first(s.tags, tierTag+e.value, i)
		}
	}
}

func first(m map[string]int, key string, i int) {
	if _, taken := m[key]; !taken {
		m[key] = i
	}
}

// match returns the index of the first entry that matches a tool, or -1.
func (s *Set) match(spec *tool.Spec) int {
	best := s.matchName(spec.Name, -1)
	for _, alias := range spec.Aliases {
		best = s.matchName(alias, best)
	}
	for _, tag := range spec.Tags {
		if i, ok := s.tags[tag]; ok {
			best = earlier(best, i)
		}
	}
	if len(s.tiers) > 0 {
		if rank, ok := s.tierOf(spec); ok {
			best = s.matchTier(rank, best)
		}
	}
	if len(s.effects) > 0 {
		best = s.matchEffects(spec.Effects, best)
	}
	return best
}

func (s *Set) matchName(name string, best int) int {
	if i, ok := s.names[name]; ok {
		best = earlier(best, i)
	}
	for _, p := range s.prefixes {
		if strings.HasPrefix(name, p.prefix) {
			best = earlier(best, p.index)
		}
	}
	return best
}

func (s *Set) matchTier(rank, best int) int {
	for _, t := range s.tiers {
		if t.all || s.allows && rank <= t.rank || !s.allows && rank >= t.rank {
			best = earlier(best, t.index)
		}
	}
	return best
}

// matchEffects judges effects as the package comment says: in an allow list
// all entries together are the most that a tool may do, and the first of
// them stands for all.
func (s *Set) matchEffects(effects tool.Effects, best int) int {
	if s.allows {
		if effects.Within(s.within) {
			best = earlier(best, s.effects[0].index)
		}
		return best
	}
	for _, e := range s.effects {
		if effects.Has(e.effect) {
			best = earlier(best, e.index)
		}
	}
	return best
}

// tierOf returns the rank of a tool's strongest tier, and false where it has
// none.
func (s *Set) tierOf(spec *tool.Spec) (rank int, ok bool) {
	for _, tag := range spec.Tags {
		name, isTier := strings.CutPrefix(tag, tierTag)
		if !isTier {
			continue
		}
		r, known := s.rank[name]
		if !known {
			r = unknownTier
		}
		rank, ok = max(rank, r), true
	}
	return rank, ok
}

// isTier reports whether an entry speaks of tiers.
func (s *Set) isTier(index int) bool {
	return slices.ContainsFunc(s.tiers, func(t tierEntry) bool { return t.index == index })
}

func earlier(best, i int) int {
	if best < 0 {
		return i
	}
	return min(best, i)
}
