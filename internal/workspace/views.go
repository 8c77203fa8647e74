package workspace

import (
	"crypto/sha256"
	"slices"
	"sync"
)

// maxViews bounds the record, in files. Beyond it the oldest entry goes.
const maxViews = 4096

// Views records what a session has seen of which file, so that a file which
// was seen only in part is not overwritten as if it were known (octos
// #1638). It belongs to one workspace handle, and so to one session. Its
// methods may be called from several goroutines at once.
type Views struct {
	mu      sync.Mutex
	views   map[string]*View
	order   []string // oldest first
	evicted bool
}

func newViews() *Views { return &Views{views: make(map[string]*View)} }

// A Sum is the SHA-256 of a file's bytes.
type Sum = [sha256.Size]byte

// SumOf returns the sum of data.
func SumOf(data []byte) Sum { return sha256.Sum256(data) }

// A Span is a half-open range of bytes.
type Span struct{ From, To int64 }

// A View is what is known of one file.
type View struct {
	// Version and Sum are of the content that was seen. Sum is zero where
	// the file was too large to be read whole.
	Version Version
	Sum     Sum
	// Total is the length of the text in bytes, as it was shown; -1 if it
	// was not counted.
	Total int64
	// Spans are the parts that were seen, in order and without overlap.
	Spans []Span
	// Lossy says that what was shown cannot be written back as it is:
	// bytes that belong to no character, for example.
	Lossy bool
}

// Complete reports whether every byte was seen.
func (v *View) Complete() bool {
	return v.Total == 0 || v.Total > 0 && len(v.Spans) == 1 && v.Spans[0] == Span{0, v.Total}
}

// Seen returns how many bytes were seen.
func (v *View) Seen() int64 {
	var n int64
	for _, s := range v.Spans {
		n += s.To - s.From
	}
	return n
}

// Same reports whether a file in that state is the one that was seen: the
// same version, or another version with the same bytes.
func (v *View) Same(version Version, sum Sum) bool {
	return v.Version == version || v.Sum != Sum{} && v.Sum == sum
}

// Saw adds what a read has shown. A view of the same content grows; any
// other is replaced. sight's Spans are added in any order.
func (v *Views) Saw(rel string, sight View) {
	v.mu.Lock()
	defer v.mu.Unlock()
	old := v.views[rel]
	if old == nil || !old.Same(sight.Version, sight.Sum) {
		fresh := sight
		fresh.Spans = mergeSpans(slices.Clone(sight.Spans))
		v.put(rel, &fresh)
		return
	}
	old.Version = sight.Version
	if old.Total < 0 {
		old.Total = sight.Total
	}
	if old.Sum == (Sum{}) {
		old.Sum = sight.Sum
	}
	old.Lossy = old.Lossy || sight.Lossy
	old.Spans = mergeSpans(append(old.Spans, sight.Spans...))
}

// Wrote records that the session itself has written the whole file.
func (v *Views) Wrote(rel string, version Version, sum Sum, total int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	whole := &View{Version: version, Sum: sum, Total: total}
	if total > 0 {
		whole.Spans = []Span{{0, total}}
	}
	v.put(rel, whole)
}

// put sets an entry and makes it the newest. v.mu is held.
func (v *Views) put(rel string, view *View) {
	if _, ok := v.views[rel]; ok {
		v.order = slices.DeleteFunc(v.order, func(s string) bool { return s == rel })
	}
	v.views[rel] = view
	v.order = append(v.order, rel)
	if len(v.order) > maxViews {
		delete(v.views, v.order[0])
		v.order = v.order[1:]
		v.evicted = true
	}
}

// Of returns what is known of a file. Where nothing is known, unsure says
// that something may have been known and was forgotten for lack of room.
func (v *Views) Of(rel string) (view View, known, unsure bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if found := v.views[rel]; found != nil {
		view = *found
		view.Spans = slices.Clone(found.Spans)
		return view, true, false
	}
	return View{}, false, v.evicted
}

// mergeSpans sorts spans and joins those that touch. It may reorder its
// argument.
func mergeSpans(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int {
		switch {
		case a.From < b.From:
			return -1
		case a.From > b.From:
			return 1
		default:
			return 0
		}
	})
	out := spans[:0]
	for _, s := range spans {
		switch n := len(out); {
		case s.From >= s.To:
		case n > 0 && s.From <= out[n-1].To:
			out[n-1].To = max(out[n-1].To, s.To)
		default:
			out = append(out, s)
		}
	}
	return out
}
