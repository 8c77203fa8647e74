package patch

import (
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/textmatch"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxNamed is how many places of an ambiguous hunk are named.
	maxNamed = 8
	// maxExplained is how many hunks of a file are explained.
	maxExplained = 6
)

// A MismatchError says why the hunks of a file do not fit its content.
type MismatchError struct {
	// Applied says that what the hunks would bring is all there already and
	// what they would change is not.
	Applied bool
	// Lost are the old lines of the first hunk that is nowhere, or "".
	Lost string
	text string
}

func (e *MismatchError) Error() string { return e.text }

// problems collects what is wrong with the hunks of one file.
type problems struct {
	name    string
	hunks   []Hunk
	list    []string
	applied []int // where the new lines are of hunks whose old ones are not
	lost    string
}

// add lists what is wrong with a hunk.
func (w *problems) add(i int, format string, args ...any) {
	if len(w.list) == maxExplained {
		w.list = append(w.list, "Further hunks do not fit either.")
	}
	if len(w.list) > maxExplained {
		return
	}
	which := "the hunk"
	if len(w.hunks) > 1 {
		which = fmt.Sprintf("hunk %d of %d", i+1, len(w.hunks))
	}
	w.list = append(w.list, fmt.Sprintf("%s: %s (line %d of the patch): %s.", tool.Clip(w.name), which, w.hunks[i].Line, fmt.Sprintf(format, args...)))
}

func (w *problems) err() error {
	switch {
	case len(w.list) == 0:
		return nil
	case len(w.applied) == len(w.hunks):
		return &MismatchError{Applied: true, text: fmt.Sprintf("already applied: %s has the new lines of every hunk (at %s) and not the old ones", tool.Clip(w.name), numbers(w.applied))}
	}
	return &MismatchError{Lost: w.lost, text: strings.Join(w.list, "\n")}
}

// context explains that the line after @@ cannot be used.
func (w *problems) context(s *finder, i int, lost string) {
	found := s.named(lost)
	switch {
	case len(found) > maxAnchors:
		w.add(i, "the line %s after @@ occurs %d times and says nothing about the place", quote(lost), len(found))
	case len(found) > 0:
		w.add(i, "the line %s after @@ is line %d, which is not where this hunk can be: hunks come in the order of the file, and a further @@ line is below the one before", quote(lost), found[0]+1)
	default:
		w.add(i, "the line %s after @@ is not in the file%s", quote(lost), s.near(lost))
	}
}

// missing explains that a hunk's old lines are not there.
func (w *problems) missing(s *finder, i, from int) {
	h := s.hunks[i].Hunk
	old := side(h.Lines, '-')
	if at, ok := s.present(i); ok && len(s.elsewhere(old, 0)) == 0 {
		w.there(i, at)
		return
	}
	if len(w.list) > maxExplained {
		return // the search for what is alike would take time
	}
	if len(h.Context) > 0 && !h.Soft {
		if at := s.elsewhere(old, 0); len(at) > 0 {
			w.add(i, "its old lines are at %s, which is not in what %s heads", numbers(at), quote(h.Context[len(h.Context)-1]))
			return
		}
	}
	if h.EOF {
		if at := s.elsewhere(old, from); len(at) > 0 {
			w.add(i, "it must be at the end of the file, which has %d lines, and its old lines are at %s", len(s.page.lines), numbers(at))
			return
		}
	}
	if from > 0 {
		if at := s.elsewhere(old, 0); len(at) > 0 {
			w.add(i, "its old lines are at %s, before the hunk above it ends (line %d); hunks come in the order of the file and do not overlap", numbers(at), from)
			return
		}
	}
	if w.lost == "" {
		w.lost = strings.Join(old, "\n")
	}
	stated := ""
	if h.Start > 0 {
		stated = fmt.Sprintf(" (the diff says line %d)", h.Start)
	}
	w.add(i, "its old lines are not in the file%s%s", stated, s.near(strings.Join(old, "\n")))
}

// there explains that a hunk is applied already.
func (w *problems) there(i, at int) {
	w.applied = append(w.applied, at)
	w.add(i, "its new lines are at line %d already, and its old lines are not there", at+1)
}

// elsewhere returns where lines are, in whatever way they fit.
func (s *finder) elsewhere(lines []string, from int) []int {
	for l := range levels {
		if found := s.search(l, lines, from, false); len(found) > 0 {
			return found
		}
	}
	return nil
}

// present reports whether what a hunk brings is there, if that is more than
// brackets and blanks.
func (s *finder) present(i int) (int, bool) {
	h := &s.hunks[i]
	if found := s.added(h); len(found) > 0 && telling(side(h.withoutLayout(), '+')) {
		return found[0], true
	}
	return 0, false
}

// added returns where the lines of a hunk stand as they are after it.
func (s *finder) added(h *sought) []int {
	lines := side(h.withoutLayout(), '+')
	if len(lines) == 0 {
		return nil
	}
	for _, l := range []Level{Exact, TrailingBlanks} {
		if found := s.search(l, lines, 0, false); len(found) > 0 {
			return found
		}
	}
	return nil
}

// near names the place that is most like a quotation and what is different
// there.
func (s *finder) near(quoted string) string {
	near, ok := textmatch.Nearest(textfile.Unify(s.content), quoted)
	if !ok {
		return ", and nothing in it resembles them"
	}
	if near.Differs < 0 {
		return fmt.Sprintf("; the nearest place is line %d", near.Line+1)
	}
	return fmt.Sprintf("; the nearest place is line %d, and the first difference is in line %d: the file has %s, the patch %s",
		near.Line+1, near.Line+near.Differs+1, quote(near.Found), quote(near.Quoted))
}

// ambiguous explains that a hunk fits several places.
func (w *problems) ambiguous(s *finder, i int) {
	h := s.hunks[i]
	how := ""
	if h.level != Exact || h.fuzz > 0 {
		how = " (none of them exactly)"
	}
	advice := "Give more lines around the change, so that one place fits, or name a line above it after @@"
	if h.Start > 0 {
		advice = fmt.Sprintf("The stated line %d does not decide between them. Give more lines around the change, or the right number", h.Start)
	} else if len(h.Context) > 0 {
		advice = "Give more lines around the change, or a further @@ line nearer to it"
	}
	w.add(i, "it fits %d places%s: %s. %s", len(h.places), how, numbers(h.places), advice)
}

// numbers lists lines, counted from 0, as a reader counts them.
func numbers(lines []int) string {
	var b strings.Builder
	b.WriteString("line ")
	if len(lines) > 1 {
		b.Reset()
		b.WriteString("lines ")
	}
	for i, at := range lines {
		if i == maxNamed {
			fmt.Fprintf(&b, " and %d more", len(lines)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, at+1)
	}
	return b.String()
}
