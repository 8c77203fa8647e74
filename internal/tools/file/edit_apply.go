package file

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/textmatch"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// An editing is one call of edit_file on one file.
type editing struct {
	views *workspace.Views
	name  string
	old   workspace.File
	text  textfile.Text // after the edits so far
	// before is the text before all edits.
	before string
	// regions are the parts of the text, with LF ends, that were written,
	// in order.
	regions []region
	steps   [][]workspace.Edit
	made    int // replacements
	stages  []textmatch.Stage
	data    []byte // the new file
	changed string // what happened to the file since it was seen
}

// A region is a half-open range of a text.
type region struct{ start, end int }

// run applies all edits to the file, or none.
func (s *editing) run(edits []oneEdit, encoding string) ([]byte, error) {
	text, err := decodeForEdit(s.name, s.old.Data, encoding)
	if err != nil {
		return nil, err
	}
	s.text, s.before, s.changed = text, text.Content, changedNote(s.views, s.old, text.Content)
	var wrong []string
	for i, e := range edits {
		err := s.apply(e)
		var lost *notFoundError
		switch {
		case err == nil:
		case len(edits) == 1:
			return nil, err
		case errors.As(err, &lost):
			wrong = append(wrong, which(i, len(edits))+lost.local())
		default:
			wrong = append(wrong, which(i, len(edits))+err.Error())
		}
	}
	if len(wrong) > 0 {
		// What follows a failed edit was tried without it, to say all that
		// is wrong at once.
		return nil, tool.Failf("%s\nNothing was changed: the edits of a call are applied together or not at all.", strings.Join(wrong, "\n"))
	}
	return s.data, nil
}

// apply finds and replaces one old_string.
func (s *editing) apply(e oneEdit) error {
	if s.text.Encoding == textfile.Unknown && !isASCII(e.OldString+e.NewString) {
		return s.unsure()
	}
	if done, err := s.applyLineEnds(e); done || err != nil {
		return err
	}
	u := textfile.NewUnified(s.text.Content)
	quote, replacement := textfile.Unify(strings.TrimPrefix(e.OldString, "\ufeff")), textfile.Unify(e.NewString)
	if quote == replacement {
		return tool.Invalidf("old_string and new_string differ only in their line ends, and the file has no such lines; edits keep the line ends of the file. Nothing was changed")
	}
	if strings.HasSuffix(quote, "\r") && strings.HasSuffix(replacement, "\r") && !strings.Contains(u.Text, quote) {
		// Both were cut in the middle of a CRLF.
		quote, replacement = quote[:len(quote)-1], replacement[:len(replacement)-1]
	}
	found, err := s.find(u.Text, e, quote, replacement)
	if err != nil {
		return err
	}
	return s.splice(u, found, quote, replacement)
}

// applyLineEnds serves an edit that changes nothing but line ends: it is
// taken at its word (field report F001).
func (s *editing) applyLineEnds(e oneEdit) (bool, error) {
	if textfile.Unify(e.OldString) != textfile.Unify(e.NewString) {
		return false, nil
	}
	content := s.text.Content
	n := strings.Count(content, e.OldString)
	if n == 0 {
		return false, nil
	}
	if n > 1 && !e.ReplaceAll {
		return true, tool.Failf("old_string is in the file %d times; replace_all changes every line end. Nothing was changed", n)
	}
	var splices []textfile.Splice
	for at := 0; ; {
		i := strings.Index(content[at:], e.OldString)
		if i < 0 {
			break
		}
		splices = append(splices, textfile.Splice{Start: at + i, End: at + i + len(e.OldString), New: e.NewString})
		at += i + len(e.OldString)
	}
	s.regions = nil // the numbering of the text's characters is another one
	s.stages = append(s.stages, textmatch.Exact)
	return true, s.put(splices)
}

// find returns the places to replace: one, or all of them if asked for.
func (s *editing) find(text string, e oneEdit, quote, replacement string) ([]textmatch.Match, error) {
	look := textmatch.Find
	if e.ReplaceAll || e.NearLine > 0 {
		look = textmatch.FindAll
	}
	found := look(text, quote)
	if len(found) == 0 {
		return nil, s.notFound(text, quote, replacement)
	}
	if err := copiedListing(text, quote, replacement); err != nil {
		return nil, err
	}
	if e.ReplaceAll {
		if found[0].Stage == textmatch.BlockAnchor && len(found) > 1 {
			return nil, tool.Failf("old_string is not in %s as it was quoted, and %d places are similar; replace_all takes only places that agree. Nothing was changed", tool.Clip(s.name), len(found))
		}
		return found, nil
	}
	if len(found) > 1 && e.NearLine > 0 {
		found = nearest(text, found, e.NearLine)
	}
	if len(found) > 1 {
		return nil, ambiguous(s.name, text, found)
	}
	if textmatch.Disproportionate(text, found[0], quote) {
		return nil, s.disproportionate(text, found[0], quote)
	}
	if at, ok := already(text, found[0], quote, replacement); ok {
		return nil, tool.Failf("already applied: new_string is at line %d of %s, where old_string would be replaced. Nothing was changed; to apply it once more, quote more of the lines around", at, tool.Clip(s.name))
	}
	return found, nil
}

// nearest keeps the matches whose first line is nearest to a line: one, or
// those at the same distance.
func nearest(text string, found []textmatch.Match, line int) []textmatch.Match {
	var kept []textmatch.Match
	least := -1
	for _, m := range found {
		at := lineAt(text, m.Start)
		d := max(at-line, line-at)
		switch {
		case least < 0 || d < least:
			kept, least = append(kept[:0], m), d
		case d == least:
			kept = append(kept, m)
		}
	}
	return kept
}

// already reports whether a unique place is one where the replacement
// stands already, as after an edit that adds lines and is sent twice (field
// report F022): the quotation is part of the replacement, and the text
// around the place is the rest of it. Inside a line that may be meant.
func already(text string, m textmatch.Match, quote, replacement string) (int, bool) {
	if m.Stage != textmatch.Exact || strings.Count(replacement, "\n") <= strings.Count(quote, "\n") {
		return 0, false
	}
	for from := 0; ; {
		i := strings.Index(replacement[from:], quote)
		if i < 0 {
			return 0, false
		}
		start := m.Start - from - i
		if start >= 0 && strings.HasPrefix(text[start:], replacement) && lineEdges(text, start, start+len(replacement)) {
			return lineAt(text, start), true
		}
		from += i + 1
	}
}

// lineEdges reports whether a range begins and ends where lines do.
func lineEdges(text string, start, end int) bool {
	return (start == 0 || text[start-1] == '\n') && (end == len(text) || text[end] == '\n' || text[end-1] == '\n')
}

// splice replaces the places that were found.
func (s *editing) splice(u textfile.Unified, found []textmatch.Match, quote, replacement string) error {
	splices := make([]textfile.Splice, 0, len(found))
	var written []region
	delta := 0
	for _, m := range found {
		fitted, ok := textmatch.Rewrite(u.Text, m, quote, replacement)
		if !ok {
			return s.notFound(u.Text, quote, replacement)
		}
		if one := u.Splice(m.Start, m.End, fitted); one.Start < one.End || one.New != "" {
			splices = append(splices, one)
		}
		written = append(written, region{m.Start + delta, m.Start + delta + len(fitted)})
		s.shift(m.Start+delta, m.End+delta, len(fitted))
		delta += len(fitted) - (m.End - m.Start)
	}
	if len(splices) == 0 {
		return tool.Failf("already applied: line %d of %s has the new text already. Nothing was changed", lineAt(u.Text, found[0].Start), tool.Clip(s.name))
	}
	s.regions = append(s.regions, written...)
	slices.SortFunc(s.regions, func(a, b region) int { return a.start - b.start })
	s.stages = append(s.stages, found[0].Stage)
	return s.put(splices)
}

// shift moves the regions of earlier edits for a replacement.
func (s *editing) shift(start, end, length int) {
	delta := length - (end - start)
	kept := s.regions[:0]
	for _, r := range s.regions {
		switch {
		case r.end <= start:
		case r.start >= end:
			r.start, r.end = r.start+delta, r.end+delta
		default: // both touch the same text: the new one speaks for both
			continue
		}
		kept = append(kept, r)
	}
	s.regions = kept
}

// put makes the splices of one edit part of the text.
func (s *editing) put(splices []textfile.Splice) error {
	data, err := s.text.Splice(splices)
	var char *textfile.CharError
	switch {
	case errors.As(err, &char):
		return tool.Failf("new_string cannot be written: %w. Nothing was changed", err)
	case errors.Is(err, textfile.ErrNotASCII):
		return s.unsure()
	case err != nil:
		return tool.Failf("editing %s: %w. Nothing was changed", tool.Clip(s.name), err)
	}
	var step []workspace.Edit
	for _, one := range splices {
		step = append(step, workspace.Edit{From: workspace.Span{From: int64(one.Start), To: int64(one.End)}, Len: int64(len(one.New))})
	}
	next, err := s.text.With(data)
	if err != nil {
		return tool.Failf("editing %s: %w", tool.Clip(s.name), err)
	}
	s.text, s.data = next, data
	s.steps = append(s.steps, step)
	s.made += len(splices)
	return nil
}

// unsure refuses a change that would be encoded by a guess.
func (s *editing) unsure() error {
	guess, _ := textfile.Decode(s.old.Data)
	return tool.Failf("%s is not UTF-8, and which encoding it has can only be guessed (%s, confidence %d of 100). Only plain ASCII can be replaced by plain ASCII in it, unless you name the encoding in encoding. Nothing was changed",
		tool.Clip(s.name), guess.Encoding, guess.Confidence)
}

// record tells the views what the session now knows of the file.
func (s *editing) record(c workspace.Change) {
	after := workspace.View{
		Version: c.After, Sum: workspace.SumOf(s.data), Total: int64(len(s.text.Content)), Lossy: s.text.Invalid > 0,
	}
	s.views.Edited(c.Rel, s.old, after, s.steps, s.text.Content)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lineAt returns the number of the line that holds a byte, from 1.
func lineAt(text string, offset int) int { return strings.Count(text[:offset], "\n") + 1 }

// disproportionate refuses a loose match that is much larger than what was
// quoted.
func (s *editing) disproportionate(text string, m textmatch.Match, quote string) error {
	found := text[m.Start:m.End]
	return tool.Failf("old_string has %s (%d bytes), but the place that it resembles, from line %d of %s, has %s (%d bytes): replacing it would remove text that was not quoted. Quote the lines as they stand in the file. Nothing was changed",
		plural(countLines(quote), "line"), len(quote), lineAt(text, m.Start), tool.Clip(s.name), plural(countLines(found), "line"), len(found))
}

// copiedListing refuses new text that holds what a read adds to its answer.
func copiedListing(text, quote, replacement string) error {
	if notice := cutNotice(replacement); notice != "" && cutNotice(quote) == "" && cutNotice(text) == "" {
		return tool.Invalidf("new_string holds the line %q, which read_file adds to its answer. Nothing was changed; leave it out", tool.Clip(notice))
	}
	if _, ours, ok := stripNumbers(replacement); ok && ours && !strings.Contains(text, bar) {
		return tool.Invalidf("every line of new_string begins with a line number and %q, as read_file shows lines. Nothing was changed; give the text after the %q alone", bar, bar)
	}
	return nil
}

// stageNote says how loosely old_string was matched, or "".
func stageNote(stages []textmatch.Stage) string {
	var loose []string
	for _, stage := range stages {
		if name := stage.String(); stage != textmatch.Exact && !slices.Contains(loose, name) {
			loose = append(loose, name)
		}
	}
	if len(loose) == 0 {
		return ""
	}
	return fmt.Sprintf(" old_string was not in the file exactly; the place was found by %s, and what was not to change was left as it stands there.", strings.Join(loose, " and "))
}
