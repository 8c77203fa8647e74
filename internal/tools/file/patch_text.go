package file

import (
	"errors"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/patch"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// edit applies the hunks of a part to a file.
func (p *patching) edit(file *patched, f *patch.File) error {
	text, err := file.decoded(f.Path)
	if err != nil {
		return err
	}
	out, err := f.Apply(p.ctx, f.Path, text.Content)
	if err != nil {
		return p.mismatch(file, f, err)
	}
	if err := p.copied(f, file); err != nil {
		return err
	}
	added, removed := f.Changes()
	file.added, file.removed = file.added+added, file.removed+removed
	for i, at := range out.Placed {
		file.placed(i, len(out.Placed), at)
	}
	if len(out.Splices) == 0 {
		return nil
	}
	return file.splice(f.Path, text, out.Splices)
}

// decoded returns the text of a file as it is after the parts so far.
func (f *patched) decoded(name string) (textfile.Text, error) {
	switch {
	case f.large:
		return textfile.Text{}, tool.Failf("%s has %s; a file of more than %s is not edited", tool.Clip(name), sizeOf(f.old.Version.Size), sizeOf(workspace.MaxEdit))
	case f.edits != nil:
		return f.text, nil
	}
	return decodeForEdit(name, f.data, "")
}

// splice makes splices part of the file.
func (f *patched) splice(name string, text textfile.Text, splices []textfile.Splice) error {
	data, err := text.Splice(splices)
	var char *textfile.CharError
	switch {
	case errors.As(err, &char):
		return tool.Failf("%s: a new line cannot be written: %w", tool.Clip(name), err)
	case errors.Is(err, textfile.ErrNotASCII):
		return tool.Failf("%s is not UTF-8, and which encoding it has can only be guessed; only plain ASCII can be replaced by plain ASCII in it. edit_file can be told its encoding", tool.Clip(name))
	case err != nil:
		return tool.Failf("%s: %w", tool.Clip(name), err)
	}
	var step []workspace.Edit
	for _, s := range splices {
		step = append(step, workspace.Edit{From: workspace.Span{From: int64(s.Start), To: int64(s.End)}, Len: int64(len(s.New))})
	}
	if f.text, err = text.With(data); err != nil {
		return tool.Failf("%s: %w", tool.Clip(name), err)
	}
	f.regions = shiftRegions(f.regions, splices)
	f.edits = append(f.edits, step)
	f.data, f.written = data, true
	return nil
}

// replace gives a file a new content as a whole.
func (f *patched) replace(p *patching, content string) error {
	w := plan{w: p.w, in: writeArgs{Path: f.name, Content: content}, content: content}
	if f.origin != "" {
		w.exists, w.old = true, f.old
		if text, err := textfile.Decode(f.old.Data); err == nil {
			w.text, w.isText = text, true
			f.removed += countLines(text.Content)
		}
	}
	data, err := w.encode()
	if err != nil {
		return err
	}
	f.notes = append(f.notes, w.notes...)
	text, err := textfile.Decode(data)
	if err != nil && len(data) > 0 {
		return tool.Invalidf("the content of %s is no text: %w", tool.Clip(f.name), err)
	}
	f.text, f.data, f.edits, f.regions = text, data, nil, nil
	f.added += countLines(w.content)
	f.whole = true
	f.written = f.origin == "" || string(data) != string(f.old.Data)
	return nil
}

// shiftRegions moves the regions of earlier parts to where they are after
// splices, and adds what these write. A region that is written to again is
// covered by the new one.
func shiftRegions(regions []region, splices []textfile.Splice) []region {
	var out []region
	delta := 0
	for _, s := range splices {
		for len(regions) > 0 && regions[0].end <= s.Start {
			out = append(out, region{regions[0].start + delta, regions[0].end + delta})
			regions = regions[1:]
		}
		for len(regions) > 0 && regions[0].start < s.End {
			regions = regions[1:]
		}
		out = append(out, region{s.Start + delta, s.Start + delta + len(s.New)})
		delta += len(s.New) - (s.End - s.Start)
	}
	for _, r := range regions {
		out = append(out, region{r.start + delta, r.end + delta})
	}
	return out
}

// mismatch says why hunks do not fit, and what else may be the reason.
func (p *patching) mismatch(file *patched, f *patch.File, err error) error {
	var m *patch.MismatchError
	if !errors.As(err, &m) {
		return err
	}
	if m.Applied {
		return tool.Failf("%w.", err)
	}
	text := err.Error()
	if file.origin != "" {
		if seen, decodeErr := textfile.Decode(file.old.Data); decodeErr == nil {
			text += changedNote(p.w.Views(), file.old, seen.Content)
		}
	}
	return (&notFoundError{name: f.Path, quote: m.Lost, text: text}).explain(p.ctx, p.w)
}

// copied refuses new lines that are the listing of a read.
func (p *patching) copied(f *patch.File, old *patched) error {
	before := ""
	if old != nil {
		before = string(old.data)
	}
	added := f.Added()
	if notice := cutNotice(added); notice != "" && cutNotice(before) == "" {
		return tool.Invalidf("%s: the new lines hold %q, which read_file adds to its answer; leave it out", tool.Clip(f.Path), tool.Clip(notice))
	}
	if _, ours, ok := stripNumbers(added); ok && ours && !strings.Contains(before, bar) {
		return tool.Invalidf("%s: the new lines begin with a line number and %q, as read_file shows lines; give the text after the %q alone", tool.Clip(f.Path), bar, bar)
	}
	return nil
}

// placed notes what was loose about the place of a hunk.
func (f *patched) placed(i, of int, at patch.Placed) {
	var how []string
	if at.Level != patch.Exact {
		how = append(how, at.Level.String())
	}
	if at.Fuzz > 0 {
		how = append(how, fmt.Sprintf("without %s of context at its ends", plural(at.Fuzz, "line")))
	}
	if at.ByNumber {
		how = append(how, "by its line number, among several that fit")
	}
	if len(how) == 0 && (at.Stated == 0 || at.Stated == at.Line) {
		return
	}
	which := "its hunk"
	if of > 1 {
		which = fmt.Sprintf("hunk %d", i+1)
	}
	text := fmt.Sprintf("%s was found at line %d", which, at.Line)
	if at.Stated > 0 && at.Stated != at.Line {
		text += fmt.Sprintf(" (stated: %d)", at.Stated)
	}
	if len(how) > 0 {
		text += " " + strings.Join(how, ", ")
	}
	f.note(text)
}
