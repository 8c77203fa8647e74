package workspace

import (
	"crypto/sha256"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
)

const (
	// maxViews bounds the record, in files. Beyond it the oldest goes.
	maxViews = 4096
	// maxLineHashes bounds the hashes of one file, and maxAllHashes those
	// of all: 8 MB. A file beyond it is still recorded, without them.
	maxLineHashes = 10_000
	maxAllHashes  = 1_000_000
)

// Views records what a session has seen of which file, so that a file which
// was seen only in part is not overwritten as if it were known (octos
// #1638). It belongs to one workspace handle, and so to one session. Its
// methods may be called from several goroutines at once.
type Views struct {
	mu      sync.Mutex
	views   map[string]*View
	order   []string // oldest first
	hashes  int      // in all views
	evicted bool
	seed    maphash.Seed
}

func newViews() *Views { return &Views{views: make(map[string]*View), seed: maphash.MakeSeed()} }

// A Sum is the SHA-256 of a file's bytes.
type Sum = [sha256.Size]byte

// SumOf returns the sum of data.
func SumOf(data []byte) Sum { return sha256.Sum256(data) }

// A Span is a half-open range of bytes.
type Span struct{ From, To int64 }

// A View is what is known of one file.
type View struct {
	// Version and Sum are of the content that was seen. Sum is zero where
	// it was not taken.
	Version Version
	Sum     Sum
	// Total is the length of the text in bytes, as UTF-8.
	Total int64
	// Spans are the parts that were seen, in order and without overlap.
	Spans []Span
	// Lossy says that what was shown cannot be written back as it is:
	// bytes that belong to no character, for example.
	Lossy bool
	// Transformed says that the file was shown in another form, as the text
	// of a document or the cells of a notebook. Such a sight covers no span.
	Transformed bool

	// lines are the hashes of the lines of the whole text, to tell later
	// which of them changed; nil for a long text.
	lines []uint64
	seed  maphash.Seed
}

// Complete reports whether every byte was seen.
func (v *View) Complete() bool {
	return v.Total == 0 || len(v.Spans) == 1 && v.Spans[0] == Span{0, v.Total}
}

// Seen returns how many bytes were seen.
func (v *View) Seen() int64 {
	var n int64
	for _, s := range v.Spans {
		n += s.To - s.From
	}
	return n
}

// Same reports whether a file is the one that was seen: the same version, or
// another version with the same bytes.
func (v *View) Same(now File) bool {
	return v.Version == now.Version || v.Version.Size == now.Version.Size && v.Sum != Sum{} && v.Sum == SumOf(now.Data)
}

// ChangedLines compares a text with the one that was seen and returns the
// lines of it that are different or new, from 1; to is from-1 where lines
// were only removed before from. It reports false where that is not known or
// nothing changed.
func (v *View) ChangedLines(text string) (from, to int, ok bool) {
	if v.lines == nil {
		return 0, 0, false
	}
	now := hashLines(text, v.seed)
	if now == nil && text != "" {
		return 0, 0, false
	}
	head := 0
	for head < len(now) && head < len(v.lines) && now[head] == v.lines[head] {
		head++
	}
	tail := 0
	for tail < len(now)-head && tail < len(v.lines)-head && now[len(now)-1-tail] == v.lines[len(v.lines)-1-tail] {
		tail++
	}
	if head == len(now) && head == len(v.lines) {
		return 0, 0, false
	}
	return head + 1, len(now) - tail, true
}

// hashLines returns a hash for each line, or nil for a text with too many.
func hashLines(text string, seed maphash.Seed) []uint64 {
	n := strings.Count(text, "\n") + 1
	if n > maxLineHashes {
		return nil
	}
	out := make([]uint64, 0, n)
	for line := range strings.Lines(text) {
		out = append(out, maphash.String(seed, line))
	}
	return out
}

// Saw adds what a read has shown of a text. A view of the same content
// grows; any other is replaced.
func (v *Views) Saw(rel string, sight View, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	old := v.views[rel]
	if old == nil || old.Version != sight.Version && (old.Sum != sight.Sum || old.Sum == Sum{}) {
		sight.Spans = mergeSpans(slices.Clone(sight.Spans))
		v.put(rel, &sight, text)
		return
	}
	old.Version = sight.Version
	old.Lossy = old.Lossy || sight.Lossy
	old.Transformed = old.Transformed || sight.Transformed
	old.Spans = mergeSpans(append(old.Spans, sight.Spans...))
}

// Wrote records that the session itself has given a file this text.
func (v *Views) Wrote(rel string, version Version, sum Sum, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	whole := &View{Version: version, Sum: sum, Total: int64(len(text))}
	whole.Spans = mergeSpans([]Span{{0, whole.Total}})
	v.put(rel, whole, text)
}

// An Edit says that an edit replaced the bytes of From by Len new ones.
type Edit struct {
	From Span
	Len  int64
}

// Edited carries a view over to the text after edits. Each step is a list of
// edits in order, in terms of the text before that step. What was seen stays
// seen, and what was written counts as seen. A view of another content than
// before says nothing about the rest of the new one.
func (v *Views) Edited(rel string, before File, after View, steps [][]Edit, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var spans []Span
	if old := v.views[rel]; old != nil && old.Same(before) {
		spans = old.Spans
		after.Lossy = after.Lossy || old.Lossy
	}
	for _, edits := range steps {
		spans = mergeSpans(shiftSpans(spans, edits))
	}
	after.Spans = spans
	v.put(rel, &after, text)
}

// shiftSpans moves spans of a text, in order and apart, to where their bytes
// are after edits, and adds what the edits wrote.
func shiftSpans(spans []Span, edits []Edit) []Span {
	var out []Span
	delta, at := int64(0), int64(0)
	keep := func(upTo int64) {
		for len(spans) > 0 {
			from, to := max(spans[0].From, at), min(spans[0].To, upTo)
			if from < to {
				out = append(out, Span{from + delta, to + delta})
			}
			if spans[0].To > upTo {
				return // the rest of it lies behind the edit
			}
			spans = spans[1:]
		}
	}
	for _, e := range edits {
		keep(e.From.From)
		out = append(out, Span{e.From.From + delta, e.From.From + delta + e.Len})
		delta += e.Len - (e.From.To - e.From.From)
		at = e.From.To
	}
	keep(math.MaxInt64 / 2)
	return out
}

// put sets an entry and makes it the newest. v.mu is held.
func (v *Views) put(rel string, view *View, text string) {
	if old, ok := v.views[rel]; ok {
		v.hashes -= len(old.lines)
		v.order = slices.DeleteFunc(v.order, func(s string) bool { return s == rel })
	}
	view.lines, view.seed = nil, v.seed
	if v.hashes < maxAllHashes {
		view.lines = hashLines(text, v.seed)
		v.hashes += len(view.lines)
	}
	v.views[rel] = view
	v.order = append(v.order, rel)
	if len(v.order) > maxViews {
		v.hashes -= len(v.views[v.order[0]].lines)
		delete(v.views, v.order[0])
		v.order = v.order[1:]
		v.evicted = true
	}
}

// forget drops what is known of a file that was removed, and of everything
// beneath a folder.
func (v *Views) forget(rel string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dropBeneath(rel)
}

// dropBeneath forgets a path and everything beneath it. v.mu is held.
func (v *Views) dropBeneath(rel string) {
	for _, known := range slices.Clone(v.order) {
		if _, ok := cutFolder(known, rel); ok {
			v.drop(known)
		}
	}
}

// drop forgets one entry. v.mu is held.
func (v *Views) drop(rel string) {
	v.hashes -= len(v.views[rel].lines)
	delete(v.views, rel)
	v.order = slices.DeleteFunc(v.order, func(s string) bool { return s == rel })
}

// moved carries over what is known of a file, or of everything beneath a
// folder, to its new path. A move gives a file another time of change, so a
// view of the version before becomes one of that after.
func (v *Views) moved(from, to string, before, after Version) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dropBeneath(to)
	for i, known := range v.order {
		rest, ok := cutFolder(known, from)
		if !ok {
			continue
		}
		view, now := v.views[known], to
		if rest != "" {
			now = strings.TrimSuffix(to, "/") + "/" + rest
		} else if view.Version == before {
			view.Version = after
		}
		delete(v.views, known)
		v.views[now], v.order[i] = view, now
	}
}

// Recent returns the files that were seen last, the last one first, at most
// n of them.
func (v *Views) Recent(n int) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	last := slices.Clone(v.order[max(0, len(v.order)-n):])
	slices.Reverse(last)
	return last
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
