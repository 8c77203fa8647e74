package file

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/notebook"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// outputLines and outputBytes are what is shown of one output; a whole
	// one is in the raw file. octos and Claude Code show a few KB.
	outputLines = 40
	outputBytes = 4 << 10
	// maxPictures is how many pictures of outputs come with one answer.
	maxPictures = 8
)

// readNotebook shows the cells of a notebook. A file that is none, whatever
// its name, is shown as text.
func readNotebook(ctx context.Context, f workspace.File, in readArgs, want window) (sight, error) {
	if in.Pages != "" {
		return sight{}, in.noForm(f.Rel)
	}
	nb, err := notebook.Parse(f.Data)
	if err != nil {
		if in.Cell != "" {
			return sight{}, tool.Failf("%s has no cells to show: %w; without cell it is shown as text", tool.Clip(f.Rel), err)
		}
		return readText(ctx, f, in, want)
	}
	first, last, err := cellRange(nb, in.Cell)
	if err != nil {
		return sight{}, err
	}
	l := cellLister{room: want.room, nb: nb}
	next := first
	for ; next <= last; next++ {
		if !l.add(next) {
			break
		}
	}
	s := sight{rel: f.Rel, sum: sawForm(ctx, f), media: l.media}
	s.text = l.out.String() + footer(l.notes(in.Path, next, last))
	return s, nil
}

// cellRange finds the cells that a call names.
func cellRange(nb *notebook.Notebook, cell string) (first, last int, err error) {
	if cell == "" {
		return 0, len(nb.Cells) - 1, nil
	}
	i, err := nb.Index(cell)
	if err == nil {
		return i, i, nil
	}
	if strings.Contains(cell, "-") && len(nb.Cells) > 0 {
		if first, last, rangeErr := numberRange("cell", cell, 0, len(nb.Cells)-1); rangeErr == nil {
			return first, last, nil
		}
	}
	return 0, 0, tool.Invalidf("%w", err)
}

// A cellLister writes cells until the answer is full.
type cellLister struct {
	room  int
	nb    *notebook.Notebook
	out   strings.Builder
	media []tool.Media
	// cut says that a cell is shown in part, omitted counts pictures that
	// are not shown.
	cut     bool
	omitted int
}

// add writes a cell, and reports false where it does not fit beside others.
func (l *cellLister) add(i int) bool {
	room := l.room - l.out.Len()
	text, media, cut := l.cell(i)
	if len(text) > room {
		if l.out.Len() > 0 {
			return false
		}
		text, _, _ = showPart(text, room, room)
		cut = true
	}
	l.cut = l.cut || cut
	l.out.WriteString(text)
	for _, m := range media {
		if len(l.media) < maxPictures {
			l.media = append(l.media, m)
		} else {
			l.omitted++
		}
	}
	return true
}

// cell writes one cell: its head, its source with line numbers of its own,
// and what its run left behind. It reports whether the source is cut.
func (l *cellLister) cell(i int) (text string, media []tool.Media, cut bool) {
	c := &l.nb.Cells[i]
	var b strings.Builder
	fmt.Fprintf(&b, "--- cell %d of %d", i, len(l.nb.Cells))
	if c.ID != "" {
		b.WriteString(", id " + tool.Clip(c.ID))
	}
	b.WriteString(", " + tool.Clip(c.Type))
	if c.Type == "code" && l.nb.Language != "" {
		b.WriteString(" (" + tool.Clip(l.nb.Language) + ")")
	}
	if c.Count != "" {
		b.WriteString(", run " + tool.Clip(c.Count))
	}
	b.WriteString(" ---\n")
	if c.Source == "" {
		b.WriteString("(empty)\n")
	} else if s, err := showLines(c.Source, window{first: 1, room: max(l.room-b.Len(), 64)}); err == nil {
		b.WriteString(s.text)
		if s.to < len(c.Source) {
			cut = true
			fmt.Fprintf(&b, "(%d more bytes of this cell)\n", len(c.Source)-s.to)
		}
	}
	for n := range c.Outputs {
		media = append(media, outputText(&b, &c.Outputs[n])...)
	}
	return b.String(), media, cut
}

// outputText writes one output, at most as much as is shown of one, and
// returns its pictures.
func outputText(b *strings.Builder, o *notebook.Output) []tool.Media {
	fmt.Fprintf(b, "[output: %s]\n", tool.Clip(o.Type))
	text, _ := output.Clean(o.Text) // colour codes say nothing
	if part := clipLines(text); part != "" {
		b.WriteString(part + "\n")
		if rest := len(strings.TrimRight(text, "\n")) - len(part); rest > 0 {
			fmt.Fprintf(b, "(%d more bytes of this output)\n", rest)
		}
	}
	var media []tool.Media
	for _, image := range o.Images {
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(image.Base64), ""))
		if err == nil {
			_, err = output.InspectWhole(data)
		}
		if err != nil {
			fmt.Fprintf(b, "(a picture, %s, that cannot be shown)\n", tool.Clip(image.MIME))
			continue
		}
		fmt.Fprintf(b, "(a picture, %s, %s)\n", tool.Clip(image.MIME), sizeOf(int64(len(data))))
		media = append(media, tool.Media{MIME: image.MIME, Data: data})
	}
	if len(o.Other) > 0 {
		b.WriteString("(also as " + tool.Clip(strings.Join(o.Other, ", ")) + ")\n")
	}
	return media
}

// clipLines returns the start of a text within what is shown of an output.
func clipLines(text string) string {
	text = strings.TrimRight(text, "\n")
	lines := 0
	for i, c := range text {
		if c == '\n' {
			lines++
		}
		if lines == outputLines || i >= outputBytes {
			return text[:i]
		}
	}
	return text
}

// notes says what was shown and which call shows the rest.
func (l *cellLister) notes(name string, next, last int) []string {
	var notes []string
	call := callFor(name)
	if next <= last {
		notes = append(notes, fmt.Sprintf(`continue with %s"cell": "%d-%d"}`, call, next, last))
	}
	if l.cut {
		notes = append(notes, fmt.Sprintf(`a cell is too long to be shown whole; %s"raw": true} reads the file's own lines`, call))
	}
	if l.omitted > 0 {
		notes = append(notes, plural(l.omitted, "picture")+" not shown; name the cell to see them")
	}
	if len(l.nb.Cells) == 0 {
		notes = append(notes, "the notebook has no cells")
	}
	return append(notes, fmt.Sprintf(`the cells of a notebook; notebook_edit changes them, %s"raw": true} shows the file itself`, call))
}
