package patch

import (
	"context"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/textmatch"
	"github.com/handrail-tools/handrail/tool"
)

// A Placed says where a hunk went.
type Placed struct {
	// Line is the first line of its place in the old content, from 1.
	Line int
	// Stated is the line that the diff states, or 0.
	Stated int
	// Level and Fuzz say how loosely it was matched: Fuzz is how many
	// context lines at either end were not there.
	Level Level
	Fuzz  int
	// ByNumber says that several places fitted and the stated line chose.
	ByNumber bool
}

// An Outcome is what the hunks of a file do to a content.
type Outcome struct {
	// Splices change the content, in order and apart.
	Splices []textfile.Splice
	// Placed has an entry for each hunk.
	Placed []Placed
}

// Apply finds the place of every hunk in the content of a file. name is for
// messages. It fails with a [*MismatchError], or the error of ctx. If nothing
// would change, there are no splices.
func (f *File) Apply(ctx context.Context, name, content string) (*Outcome, error) {
	o, err := f.apply(ctx, name, newPage(content, false))
	if err == nil || !strings.Contains(content, "\r") || !strings.Contains(content, "\n") {
		return o, err
	}
	// A carriage return alone is a character in most files and a line end in
	// some; what the hunks fit decides.
	if other, otherErr := f.apply(ctx, name, newPage(content, true)); otherErr == nil {
		return other, nil
	}
	return nil, err
}

func (f *File) apply(ctx context.Context, name string, p *page) (*Outcome, error) {
	s, err := p.find(ctx, f, name)
	if err != nil {
		return nil, err
	}
	b := builder{page: p, f: f}
	for i := range s.hunks {
		h := &s.hunks[i]
		if at, ok := s.repeated(h); ok {
			return nil, &MismatchError{Applied: true, text: fmt.Sprintf("already applied: the new lines of hunk %d are in %s at line %d; to add them once more give the lines around them", i+1, tool.Clip(name), at+1)}
		}
		b.hunk(h)
		b.out.Placed = append(b.out.Placed, Placed{
			Line: h.at + 1, Stated: h.Start, Level: h.level, Fuzz: h.fuzz, ByNumber: h.byNumber,
		})
	}
	return &b.out, nil
}

// repeated reports whether a hunk that only adds, and has context on one side
// alone, is there already: the same patch sent twice would add its lines
// twice (field report F022).
func (s *finder) repeated(h *sought) (int, bool) {
	if h.level != Exact || len(h.old) == 0 || h.EOF {
		return 0, false
	}
	comes := 0
	for _, l := range h.lines {
		if l.Kind == '-' {
			return 0, false
		}
		if l.Kind == '+' {
			comes++
		}
	}
	added := side(h.lines, '+')
	at := h.at
	switch first, last := h.lines[0].Kind, h.lines[len(h.lines)-1].Kind; {
	case comes == 0 || first == '+' && last == '+':
		return 0, false
	case first == '+':
		at -= comes
	case last != '+':
		return 0, false
	}
	if at < 0 || at+len(added) > s.len() {
		return 0, false
	}
	var fresh []string
	for i, line := range added {
		if s.page.text(at+i) != line {
			return 0, false
		}
	}
	for _, l := range h.lines {
		if l.Kind == '+' {
			fresh = append(fresh, l.Text)
		}
	}
	return at, telling(fresh)
}

// A builder makes the splices of a file.
type builder struct {
	*page
	f   *File
	out Outcome
}

// hunk makes the splices of one hunk: one for each run of changed lines.
func (b *builder) hunk(h *sought) {
	texts := b.fitted(h)
	at, from := h.at, h.at
	var comes []string
	for i, l := range h.lines {
		switch l.Kind {
		case '-':
			at++
		case '+':
			comes = append(comes, texts[i])
		default:
			b.run(h, from, at, comes)
			at++
			from, comes = at, nil
		}
	}
	b.run(h, from, at, comes)
}

// run replaces lines from to to by others.
func (b *builder) run(h *sought, from, to int, comes []string) {
	if from == to && len(comes) == 0 {
		return
	}
	n := len(b.lines)
	var s textfile.Splice
	var out strings.Builder
	switch {
	case from < n:
		s.Start = b.lines[from].start
	default:
		s.Start = len(b.content)
		if len(comes) > 0 && !b.tailEnds() {
			out.WriteString(b.ending(from, to, 0)) // the last line gets the end that it lacks
		}
	}
	s.End = s.Start
	if to > from {
		s.End = b.lines[to-1].next
	}
	for i, line := range comes {
		out.WriteString(line)
		if i == len(comes)-1 && to == n && !b.lastEnds(h, n) {
			break
		}
		out.WriteString(b.ending(from, to, i))
	}
	if s.New = out.String(); s.New != b.content[s.Start:s.End] {
		b.out.Splices = append(b.out.Splices, s)
	}
}

// tailEnds reports whether what is before the end of the content, as far as
// it is built, ends with a line end or is nothing.
func (b *builder) tailEnds() bool {
	if n := len(b.out.Splices); n > 0 && b.out.Splices[n-1].End == len(b.content) {
		last := b.out.Splices[n-1].New
		return last == "" || strings.HasSuffix(last, "\n") || strings.HasSuffix(last, "\r")
	}
	return len(b.lines) == 0 || b.eol(len(b.lines)-1) != ""
}

// lastEnds decides whether a line that becomes the last of the file has a
// line end. An envelope always gives it one. A diff says whether there is
// one; where it says nothing and the file has none, its author was not aware
// of it, and it stays so.
func (b *builder) lastEnds(h *sought, n int) bool {
	switch {
	case h.NewNoEnd:
		return false
	case b.f.Form == Envelope || h.OldNoEnd || n == 0:
		return true
	}
	return b.eol(n-1) != ""
}

// ending returns how the i-th new line in place of lines from to to ends. A
// diff is made from lines as they are, so there a line ends as the one that
// it replaces, or the last of these. Else a line ends as the one behind it,
// or before it.
func (b *builder) ending(from, to, i int) string {
	if b.f.Form != Envelope {
		for at := min(from+i, to-1); at >= from; at-- {
			if e := b.eol(at); e != "" {
				return e
			}
		}
	}
	if to < len(b.lines) && b.eol(to) != "" {
		return b.eol(to)
	}
	for at := to - 1; at >= 0; at-- {
		if e := b.eol(at); e != "" {
			return e
		}
	}
	return "\n"
}

// fitted returns the text of each line of a hunk, in which new lines have
// the indentation of the place where the old ones were found with another.
func (b *builder) fitted(h *sought) []string {
	texts := make([]string, len(h.lines))
	for i, l := range h.lines {
		texts[i] = l.Text
	}
	if h.level < SurroundingBlanks || len(h.old) == 0 {
		return texts
	}
	block := make([]string, len(h.old))
	for i := range block {
		block[i] = b.page.text(h.at + i)
	}
	found, quoted := strings.Join(block, "\n"), strings.Join(h.old, "\n")
	for _, m := range textmatch.Find(found, quoted) {
		if m.Start != 0 || m.End != len(found) {
			continue
		}
		fitted, ok := textmatch.Rewrite(found, m, quoted, strings.Join(side(h.lines, '+'), "\n"))
		if lines := strings.Split(fitted, "\n"); ok && agrees(h.lines, lines, block) {
			return aligned(h.lines, lines, texts)
		}
	}
	return texts
}

// agrees reports whether rewritten lines are the context of the place and
// the new lines of the hunk, blanks at their start aside.
func agrees(lines []Line, fitted, block []string) bool {
	i, at := 0, 0
	for _, l := range lines {
		switch {
		case l.Kind == '-':
			at++
			continue
		case i == len(fitted),
			l.Kind == ' ' && fitted[i] != block[at],
			l.Kind == '+' && strings.TrimLeft(fitted[i], " \t") != strings.TrimLeft(l.Text, " \t"):
			return false
		case l.Kind == ' ':
			at++
		}
		i++
	}
	return i == len(fitted)
}

// aligned puts rewritten lines where they belong in the hunk.
func aligned(lines []Line, fitted, texts []string) []string {
	i := 0
	for at, l := range lines {
		if l.Kind == '-' {
			continue
		}
		texts[at] = fitted[i]
		i++
	}
	return texts
}
