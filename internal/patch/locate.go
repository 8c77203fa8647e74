package patch

import (
	"context"
	"strings"
)

// maxFuzz is how many context lines at either end of a diff's hunk may be
// missing from the file, as for the program patch.
const maxFuzz = 2

// A cut is a hunk without some of its context at the ends.
type cut struct{ lead, trail, fuzz int }

// A sought is a hunk while its place is looked for.
type sought struct {
	*Hunk
	lines  []Line // those that count: context at the ends may be cut off
	old    []string
	level  Level
	fuzz   int
	places []int // where it may be, in order
	at     int   // where it is
	// byNumber says that the line number of the diff chose among several.
	byNumber bool
}

// A finder looks for the hunks of one file.
type finder struct {
	*page
	f     *File
	hunks []sought
	wrong problems
}

// find determines the place of every hunk or lists what is wrong.
func (p *page) find(ctx context.Context, f *File, name string) (*finder, error) {
	s := &finder{page: p, f: f, hunks: make([]sought, len(f.Hunks)), wrong: problems{name: name, hunks: f.Hunks}}
	from := 0
	for i := range f.Hunks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := &s.hunks[i]
		h.Hunk = &f.Hunks[i]
		if s.candidates(i, from); len(h.places) > 0 {
			from = h.places[0] + len(h.old)
		}
	}
	s.narrow()
	from = 0
	offset := 0
	for i := range s.hunks {
		h := &s.hunks[i]
		if len(h.places) == 0 {
			continue
		}
		if !s.settle(i, from, offset) {
			continue
		}
		from = h.at + len(h.old)
		if h.Start > 0 && !h.After {
			offset = h.at - (h.Start - 1)
		}
	}
	return s, s.wrong.err()
}

// candidates lists the places of the strictest step that has any, from line
// from on.
func (s *finder) candidates(i, from int) {
	h := &s.hunks[i]
	h.lines, h.old = h.Lines, side(h.Lines, '-')
	if sure := side(h.withoutLayout(), '-'); len(sure) == 0 {
		s.insertion(i, from)
		return
	}
	var anchors []anchor
	if len(h.Context) > 0 && !h.Soft {
		var lost string
		if anchors, lost = s.anchors(h.Context); anchors == nil {
			s.wrong.context(s, i, lost)
			return
		}
	}
	// A place inside what the context heads is better than any outside,
	// however exactly that one fits.
	if anchors != nil && s.look(h, from, func(places []int) []int { return inside(places, anchors) }) {
		return
	}
	// The same patch sent twice must not find the next place that is alike.
	if anchors != nil {
		if at := inside(s.added(h), anchors); len(at) > 0 {
			s.wrong.there(i, at[0])
			return
		}
		if len(side(h.withoutLayout(), '+')) == 0 {
			s.wrong.missing(s, i, from)
			return
		}
	}
	if !s.look(h, from, func(places []int) []int { return behind(places, anchors) }) {
		s.wrong.missing(s, i, from)
		return
	}
	if h.level >= SurroundingBlanks || h.fuzz > 0 {
		if at, ok := s.present(i); ok {
			h.places = nil
			s.wrong.there(i, at)
		}
	}
}

// look takes the places of the strictest step of which keep leaves any.
func (s *finder) look(h *sought, from int, keep func([]int) []int) bool {
	full := h.lines
	for _, c := range h.cuts(s.f.Form) {
		lines := full[c.lead : len(full)-c.trail]
		old := side(lines, '-')
		if len(old) == 0 || c.fuzz > 0 && !telling(old) {
			continue
		}
		for l := range levels {
			if places := keep(s.search(l, old, from, h.EOF)); len(places) > 0 {
				h.lines, h.old, h.level, h.fuzz, h.places = lines, old, l, c.fuzz, places
				return true
			}
		}
	}
	return false
}

// telling reports whether lines are more than brackets and blanks, so that
// finding them says something.
func telling(lines []string) bool {
	n := 0
	for _, l := range lines {
		n += len(strings.Join(strings.Fields(l), ""))
	}
	return n >= 8
}

// cuts lists what may be left out of a hunk, in the order in which it is
// tried: nothing; empty lines at the end that may be layout; for a diff some
// context.
func (h *Hunk) cuts(form Form) []cut {
	out := make([]cut, 1, 2+maxFuzz)
	n := len(h.Lines)
	bare := n - len(h.withoutLayout())
	if bare > 0 {
		out = append(out, cut{trail: bare})
	}
	if form == Envelope {
		return out
	}
	lead, trail := 0, bare
	for lead < n && h.Lines[lead].Kind == ' ' {
		lead++
	}
	for trail < n && h.Lines[n-1-trail].Kind == ' ' {
		trail++
	}
	if lead == n {
		return out // nothing but context
	}
	for fuzz := 1; fuzz <= maxFuzz; fuzz++ {
		c := cut{min(lead, fuzz), min(trail, bare+fuzz), fuzz}
		if h.EOF {
			c.trail = 0
		}
		out = append(out, c)
	}
	return out
}

// withoutLayout returns the lines without empty ones at the end, which may be
// layout of the patch.
func (h *Hunk) withoutLayout() []Line {
	lines := h.Lines
	for n := len(lines); n > 0 && lines[n-1].bare; n-- {
		lines = lines[:n-1]
	}
	return lines
}

// insertion finds the place of a hunk that has no old lines: right behind
// the line that @@ names, or at the end of the file.
func (s *finder) insertion(i, from int) {
	h := &s.hunks[i]
	bare := len(h.old)
	h.lines, h.old = h.withoutLayout(), nil
	end := len(s.page.lines)
	number := h.Start > 0 || h.After
	switch {
	case end > 0 && (number || s.f.Form != Envelope && len(h.Context) == 0) && (!h.After || h.Start != end || bare > 0):
		s.wrong.add(i, "it has no line of the file that shows where the new ones belong, and a number alone could be wrong. Give at least one context line (an empty one as a line of one blank)")
	case len(h.Context) == 0 || h.Soft || h.EOF:
		h.places = []int{end}
	default:
		anchors, lost := s.anchors(h.Context)
		for _, a := range anchors {
			if a.line+1 >= from {
				h.places = append(h.places, a.line+1)
			}
		}
		if len(h.places) == 0 {
			if lost == "" {
				lost = h.Context[len(h.Context)-1]
			}
			s.wrong.context(s, i, lost)
		}
	}
}

// narrow drops the places that would leave no room for the hunks behind.
func (s *finder) narrow() {
	limit := len(s.page.lines)
	for i := len(s.hunks) - 1; i >= 0; i-- {
		h := &s.hunks[i]
		n := len(h.places)
		if n == 0 {
			continue
		}
		for n > 1 && h.places[n-1]+len(h.old) > limit {
			n--
		}
		h.places = h.places[:n]
		limit = h.places[n-1]
	}
}

// settle decides between the places of a hunk. offset is how far from its
// stated line the hunk before was.
func (s *finder) settle(i, from, offset int) bool {
	h := &s.hunks[i]
	for len(h.places) > 0 && h.places[0] < from {
		h.places = h.places[1:]
	}
	if len(h.places) == 0 {
		s.wrong.missing(s, i, from)
		return false
	}
	if len(h.places) > 1 && h.Start > 0 {
		if at, ok := nearest(h.places, h.Start-1+offset+h.leadCut()); ok {
			h.places, h.byNumber = []int{at}, true
		}
	}
	if len(h.places) > 1 && h.Soft && len(h.Context) > 0 {
		if anchors, _ := s.anchors(h.Context); anchors != nil {
			if kept := inside(h.places, anchors); len(kept) == 1 {
				h.places = kept
			}
		}
	}
	if len(h.places) > 1 {
		s.wrong.ambiguous(s, i)
		return false
	}
	h.at = h.places[0]
	return true
}

// leadCut is how many context lines were cut off at the start.
func (h *sought) leadCut() int {
	if h.fuzz == 0 {
		return 0
	}
	n := 0
	for n < h.fuzz && n < len(h.Lines) && h.Lines[n].Kind == ' ' {
		n++
	}
	return n
}

// nearest returns the place nearest to a line if it is there, or less than
// half as far away as every other. Numbers that models write are rough: of
// two places that are about as far, neither is meant more than the other.
func nearest(places []int, line int) (int, bool) {
	best, least, second := 0, -1, -1
	for _, at := range places {
		d := max(at-line, line-at)
		switch {
		case least < 0 || d < least:
			best, least, second = at, d, least
		case second < 0 || d < second:
			second = d
		}
	}
	return best, 2*least < second
}
