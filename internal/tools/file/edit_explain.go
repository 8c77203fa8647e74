package file

import (
	"context"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/textmatch"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxPlaces is how many places of an ambiguous quotation are described.
	maxPlaces = 10
	// maxBlankLines is how many blank lines are passed over to name the
	// neighbour of a place.
	maxBlankLines = 5
	// maxNearLines and maxLineShown bound the part of the file in a message.
	maxNearLines = 12
	maxLineShown = 200
	// maxOtherFiles and maxOtherBytes bound the search for a quotation in
	// the files that the session has seen.
	maxOtherFiles = 8
	maxOtherBytes = 256 << 10
)

// ambiguous says where a quotation was found more than once and what would
// tell the places apart.
func ambiguous(name, text string, found []textmatch.Match) error {
	var b strings.Builder
	least := ""
	if len(found) >= textmatch.MaxMatches {
		least = "at least "
	}
	fmt.Fprintf(&b, "old_string fits %s%d places in %s", least, len(found), tool.Clip(name))
	if found[0].Stage != textmatch.Exact {
		fmt.Fprintf(&b, " (none of them exactly; by %s)", found[0].Stage)
	}
	b.WriteString(":")
	seen := make(map[string]bool)
	for i, m := range found {
		if i == maxPlaces {
			fmt.Fprintf(&b, "\n  and %d more", len(found)-i)
			break
		}
		neighbours := around(text, m)
		seen[neighbours] = true
		fmt.Fprintf(&b, "\n  line %d%s", lineAt(text, m.Start), neighbours)
	}
	b.WriteString("\nNothing was changed. ")
	if len(seen) == min(len(found), maxPlaces) {
		b.WriteString("Quote the line before or after as well, so that only one place fits; or name")
	} else {
		b.WriteString("The lines around are alike, so name")
	}
	fmt.Fprintf(&b, " the place with near_line (for example %d); or set replace_all to change all of them.", lineAt(text, found[len(found)-1].Start))
	return tool.Failf("%s", b.String())
}

// around describes a place by the nearest lines before and after it that are
// not blank.
func around(text string, m textmatch.Match) string {
	var before, after string
	above := text[:strings.LastIndexByte(text[:m.Start], '\n')+1]
	for range maxBlankLines {
		above = strings.TrimSuffix(above, "\n")
		cut := strings.LastIndexByte(above, '\n') + 1
		if before = strings.TrimSpace(above[cut:]); before != "" || cut == 0 {
			break
		}
		above = above[:cut]
	}
	below := text[m.End:]
	if m.End == m.Start || text[m.End-1] != '\n' {
		_, below, _ = strings.Cut(below, "\n")
	}
	for range maxBlankLines {
		after, below, _ = strings.Cut(below, "\n")
		if after = strings.TrimSpace(after); after != "" || below == "" {
			break
		}
	}
	var b strings.Builder
	if before != "" {
		fmt.Fprintf(&b, ", after %q", tool.ClipText(before, 80))
	}
	if after != "" {
		fmt.Fprintf(&b, ", before %q", tool.ClipText(after, 80))
	}
	return b.String()
}

// notFoundError is a quotation that is nowhere in the file.
type notFoundError struct {
	name, quote string
	text        string // what is known from the file alone
}

func (e *notFoundError) Error() string { return e.local() }

// local is the message without a look at other files.
func (e *notFoundError) local() string { return e.text }

// explain adds whether a file that was seen holds the quotation: sister
// files are easily mixed up (field report F028).
func (e *notFoundError) explain(ctx context.Context, w *workspace.Workspace) error {
	text := e.text
	if len(strings.TrimSpace(e.quote)) >= 10 {
		own, _ := w.Rel(e.name)
		for _, other := range w.Views().Recent(maxOtherFiles) {
			if other == own {
				continue
			}
			f, err := w.ReadFile(ctx, other, maxOtherBytes)
			if err == nil && strings.Contains(textfile.Unify(string(f.Data)), e.quote) {
				text += "\n" + tool.Clip(other) + ", which you have seen, holds this text; perhaps that file is meant."
				break
			}
		}
	}
	return tool.Failf("%s", text)
}

// notFound says why a quotation may not have been found and what is there
// instead.
func (s *editing) notFound(text, quote, replacement string) error {
	name := tool.Clip(s.name)
	if plain, _, ok := stripNumbers(quote); ok {
		advice := ""
		if len(textmatch.Find(text, plain)) == 1 {
			advice = " Without them it is found."
		}
		return tool.Failf("old_string carries the line numbers of a listing, which are not in %s.%s Quote the text after the %q alone. Nothing was changed.", name, advice, bar)
	}
	if notice := cutNotice(quote); notice != "" {
		return tool.Failf("old_string holds the line %q, which read_file adds to its answer and which is not in %s. Leave it out. Nothing was changed.", tool.Clip(notice), name)
	}
	var b strings.Builder
	if at := strings.Index(text, replacement); at >= 0 && telling(replacement) {
		fmt.Fprintf(&b, "already applied? old_string is not in %s, and new_string is there at line %d. Nothing was changed.", name, lineAt(text, at))
		return &notFoundError{name: s.name, quote: quote, text: b.String()}
	}
	fmt.Fprintf(&b, "old_string is not in %s, neither exactly nor with other blanks, indentation, escapes or quotation marks. Nothing was changed.", name)
	near, ok := textmatch.Nearest(text, quote)
	if !ok {
		b.WriteString(" Nothing in the file resembles it; read the file to see what is there.")
		return &notFoundError{name: s.name, quote: quote, text: b.String()}
	}
	lines := min(near.Lines, maxNearLines)
	fmt.Fprintf(&b, "\nThe nearest place is line %d:\n%s", near.Line+1, listLines(text, near.Line, near.Line+lines))
	if near.Differs >= 0 {
		fmt.Fprintf(&b, "The first difference is in line %d: the file has %q, old_string has %q.",
			near.Line+near.Differs+1, tool.ClipText(near.Found, maxLineShown), tool.ClipText(near.Quoted, maxLineShown))
	}
	b.WriteString(s.changed)
	return &notFoundError{name: s.name, quote: quote, text: tool.ClipText(b.String(), tool.MaxErrorText-300)}
}

// telling reports whether a text is long enough that finding it says
// something.
func telling(s string) bool { return len(strings.Join(strings.Fields(s), "")) >= 8 }

// changedNote says which lines of the file are not what the session has
// seen, or "" (field reports F012 and F013: another time stamp on the same
// bytes is no change).
func changedNote(views *workspace.Views, now workspace.File, text string) string {
	view, known, _ := views.Of(now.Rel)
	if !known || view.Same(now) {
		return ""
	}
	from, to, ok := view.ChangedLines(text)
	switch {
	case !ok:
		return " The file has changed on disk since you saw it."
	case to < from:
		return fmt.Sprintf(" The file has changed on disk since you saw it: lines before line %d are gone.", from)
	case to == from:
		return fmt.Sprintf(" The file has changed on disk since you saw it: line %d is different.", from)
	default:
		return fmt.Sprintf(" The file has changed on disk since you saw it: lines %d–%d are different.", from, to)
	}
}

// listLines lists lines from to to, counted from 0, with their numbers.
func listLines(text string, from, to int) string {
	at := 0
	for range from {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return ""
		}
		at += i + 1
	}
	width := digits(to)
	var out []byte
	for number := from + 1; number <= to && at < len(text); number++ {
		line, next := cutLine(text[at:], "\n")
		visible, _ := textfile.Show(tool.ClipText(line, maxLineShown))
		out = append(append(appendNumber(out, number, width), visible...), '\n')
		at += next
	}
	return string(out)
}
