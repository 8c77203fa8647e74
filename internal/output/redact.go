package output

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// MinSecret is the shortest value that may be registered as a secret, in
// bytes. A shorter one occurs in ordinary text, and replacing it everywhere
// would garble results and give the secret away by its absence.
const MinSecret = 8

// Redactor replaces secrets and long encoded data by placeholders that say
// what stood there and how long it was: "[redacted: GitHub token, 40
// characters]". It knows the forms of well-known tokens, and the values that
// were registered.
//
// The zero value knows the forms only. A Redactor may be used from several
// goroutines at once.
type Redactor struct {
	learned atomic.Pointer[learned]
}

// learned is what a Redactor looks for once a value was registered.
type learned struct {
	all   *matcher // for most texts
	known *matcher // for verbatim ones: the registered values only
}

// Know registers the value of a configured credential, which is replaced
// wherever it occurs, also in the encodings in which a request would carry
// it, and line by line where a verbatim text numbers its lines. The name is
// what the placeholder says. A value shorter than [MinSecret] is an error.
func (r *Redactor) Know(name, value string) error {
	if len(value) < MinSecret {
		return fmt.Errorf("registering the secret %s: its value has %d bytes, and one under %d cannot be told from ordinary text",
			name, len(value), MinSecret)
	}
	var own []rule
	for _, form := range encodings(value) {
		own = append(own, knownRule(name, form))
	}
	for {
		old := r.learned.Load()
		next := &learned{all: newMatcher(slices.Concat(r.matcher().rules, own))}
		known := own
		if old != nil {
			known = slices.Concat(old.known.rules, own)
		}
		for _, line := range secretLines(value) {
			known = append(known, knownRule(name, line))
		}
		next.known = newMatcher(known)
		next.known.formless = true
		if r.learned.CompareAndSwap(old, next) {
			return nil
		}
	}
}

func (r *Redactor) matcher() *matcher {
	if l := r.learned.Load(); l != nil {
		return l.all
	}
	return builtinMatcher()
}

// redactKnown returns text, which stands between before and after, with the
// registered values replaced and nothing else.
func (r *Redactor) redactKnown(before, text, after string) (string, map[string]int) {
	l := r.learned.Load()
	if l == nil {
		return text, nil
	}
	if before == "" && after == "" {
		return l.known.redact(text, 0, len(text))
	}
	return l.known.redact(before+text+after, len(before), len(before)+len(text))
}

// RedactKnown returns text with the values that were registered with
// [Redactor.Know] replaced and nothing else, and how many pieces of each kind
// were.
func (r *Redactor) RedactKnown(text string) (string, map[string]int) {
	return r.redactKnown("", text, "")
}

// Knows reports whether data holds a value that was registered.
func (r *Redactor) Knows(data []byte) bool {
	l := r.learned.Load()
	return l != nil && len(l.known.find(string(data))) > 0
}

// Redact returns s with what is secret replaced, and how many pieces of each
// kind were. The lines stay: a secret of several lines leaves as many
// newlines. Where there is nothing to replace, s itself is returned and the
// counts are nil.
func (r *Redactor) Redact(s string) (string, map[string]int) { return r.redact(s, 0, len(s)) }

func (r *Redactor) redact(s string, from, to int) (string, map[string]int) {
	return r.matcher().redact(s, from, to)
}

// redact returns s[from:to] with what is secret replaced, also where the
// secret lies in it only in part.
func (m *matcher) redact(s string, from, to int) (string, map[string]int) {
	var counts map[string]int
	var sb strings.Builder
	done := from
	for _, f := range m.find(s) {
		if f.end <= from || f.start >= to {
			continue
		}
		if counts == nil {
			counts = map[string]int{}
			sb.Grow(to - from)
		}
		counts[f.kind]++
		start, end := max(f.start, from), min(f.end, to)
		sb.WriteString(s[done:start])
		f.writePlaceholder(&sb)
		for range strings.Count(s[start:end], "\n") {
			sb.WriteByte('\n')
		}
		done = end
	}
	if counts == nil {
		return s[from:to], nil
	}
	sb.WriteString(s[done:to])
	return sb.String(), counts
}

// finding is one piece of a text that is replaced.
type finding struct {
	start, end int
	kind       string
	rank       rank
}

// rank orders findings by what they tell.
type rank uint8

const (
	isData  rank = iota // left out for its size, not as a secret
	isForm              // has the form of a secret
	isKnown             // is a registered value
)

func (f finding) writePlaceholder(sb *strings.Builder) {
	if f.rank == isData {
		sb.WriteString("[left out: ")
	} else {
		sb.WriteString("[redacted: ")
	}
	sb.WriteString(f.kind)
	sb.WriteString(", ")
	sb.WriteString(strconv.Itoa(f.end - f.start))
	sb.WriteString(" characters]")
}

// rule finds one kind of secret. Its anchor is a literal that every such
// secret has, so that a text without one costs a table look-up per byte.
type rule struct {
	// anchor has at least three bytes. It is matched without regard to case
	// if fold is set.
	anchor string
	fold   bool
	// known marks a registered value: it is found even inside of, or across
	// the end of, what another rule has found.
	known bool
	// match looks at the anchor that stands at s[at:], and returns what is
	// to be replaced. It looks at a bounded stretch, or fails only where no
	// later anchor can look at the same stretch again.
	match func(s string, at int) (finding, bool)
}

func (r *rule) anchoredAt(s string, at int) bool {
	if len(s)-at < len(r.anchor) {
		return false
	}
	here := s[at : at+len(r.anchor)]
	return here == r.anchor || r.fold && strings.EqualFold(here, r.anchor)
}

// matcher finds the places of all anchors in one pass. It hashes three
// bytes, five low bits of each, which is exact for letters without case.
type matcher struct {
	rules   []rule
	buckets [1 << 15]uint16 // 1 + index into chains, or 0
	chains  [][]int         // the rules whose anchors begin with these three bytes
	// formless leaves alone what only has the form of something long.
	formless bool
}

func newMatcher(rules []rule) *matcher {
	m := &matcher{rules: rules}
	for i, r := range rules {
		h := uint32(0)
		for j := range 3 {
			h = roll(h, r.anchor[j])
		}
		if m.buckets[h] == 0 {
			m.chains = append(m.chains, nil)
			m.buckets[h] = uint16(len(m.chains))
		}
		chain := &m.chains[m.buckets[h]-1]
		*chain = append(*chain, i)
	}
	return m
}

func roll(h uint32, b byte) uint32 { return (h<<5 | uint32(b&31)) & (1<<15 - 1) }

// find returns what is to be replaced in s, in order and without overlap.
func (m *matcher) find(s string) []finding {
	var found []finding
	if !m.formless {
		found = longHex(s)
	}
	h := uint32(0)
	end := 0 // of the last thing that an unregistered rule has found
	for i := range len(s) {
		h = roll(h, s[i])
		b := m.buckets[h]
		if b == 0 || i < 2 {
			continue
		}
		for _, n := range m.chains[b-1] {
			r := &m.rules[n]
			if i-2 < end && !r.known || !r.anchoredAt(s, i-2) {
				continue
			}
			f, ok := r.match(s, i-2)
			if !ok || f.start < end && !r.known {
				continue
			}
			found = append(found, f)
			if !r.known {
				end = f.end
			}
		}
	}
	return union(found)
}

// union sorts the findings and joins those that overlap. What is joined has
// the kind of the most telling part: a registered value before a form, and
// a form before mere data.
func union(found []finding) []finding {
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b finding) int { return a.start - b.start })
	joined := found[:1]
	for _, f := range found[1:] {
		last := &joined[len(joined)-1]
		if f.start >= last.end {
			joined = append(joined, f)
			continue
		}
		if f.rank > last.rank {
			last.kind, last.rank = f.kind, f.rank
		}
		last.end = max(last.end, f.end)
	}
	return joined
}
