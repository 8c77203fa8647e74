package file

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail/internal/pdftext"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// readPDF shows the text of a document, page by page.
func readPDF(ctx context.Context, f workspace.File, in readArgs, want window) (sight, error) {
	if in.StartLine != nil || in.EndLine != nil || in.Limit != nil {
		return sight{}, tool.Invalidf(`%s is a PDF document, which has pages and no lines; name them as pages, for example "1-3"`, tool.Clip(f.Rel))
	}
	if in.Cell != "" {
		return sight{}, in.noForm(f.Rel)
	}
	d, err := pdftext.Open(ctx, f.Data)
	if err != nil {
		return sight{}, pdfError(f.Rel, err)
	}
	first, last, err := numberRange("pages", in.Pages, 1, d.Pages())
	if err != nil {
		return sight{}, err
	}
	p := pdfPages{d: d, want: want, name: in.Path, first: first, last: last}
	if err := p.show(ctx); err != nil {
		return sight{}, pdfError(f.Rel, err)
	}
	return sight{rel: f.Rel, sum: sawForm(ctx, f), text: p.out.String() + footer(p.notes())}, nil
}

// numberRange reads "3" or "3-7", which lies within least and most; "" means
// all.
func numberRange(what, text string, least, most int) (first, last int, err error) {
	if text == "" {
		return least, most, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	first, err = strconv.Atoi(strings.TrimSpace(from))
	last = first
	if err == nil && ranged {
		if to = strings.TrimSpace(to); to == "" {
			last = most
		} else {
			last, err = strconv.Atoi(to)
		}
	}
	switch {
	case err != nil:
		return 0, 0, tool.Invalidf(`%s is %q; write one number, as "3", or two, as "3-7"`, what, tool.Clip(text))
	case first > last:
		return 0, 0, tool.Invalidf("%s %q ends before it begins", what, tool.Clip(text))
	case first < least || first > most:
		return 0, 0, tool.Invalidf("%s %q is outside of what there is: %d to %d", what, tool.Clip(text), least, most)
	}
	return first, min(last, most), nil
}

// pdfPages shows pages of a document until the answer is full.
type pdfPages struct {
	d           *pdftext.Document
	want        window
	name        string
	first, last int

	out     strings.Builder
	shown   int // the last page of which something was shown
	rest    int // where the shown part of that page ends, 0 if it is whole
	letters int // characters shown
	unknown int
	images  int
	missing int
	cut     bool
	// full says that the document unpacks to more than is read.
	full bool
}

func (p *pdfPages) show(ctx context.Context) error {
	for n := p.first; n <= p.last; n++ {
		page, err := p.d.Page(ctx, n)
		if errors.Is(err, pdftext.ErrTooMuch) && n > p.first {
			p.full = true
			return nil
		}
		if err != nil {
			return err
		}
		if !p.add(n, page) {
			return nil
		}
	}
	return nil
}

// add shows one page, and reports false where the answer is full.
func (p *pdfPages) add(n int, page pdftext.Page) bool {
	text, from := page.Text, 0
	if n == p.first {
		// A byte range counts in the text of the first page that was asked
		// for, so that a page too long for one answer can be read on.
		from = int(min(p.want.offset, int64(len(text))))
	}
	head := fmt.Sprintf("--- page %d of %d ---\n", n, p.d.Pages())
	room := p.want.room - p.out.Len() - len(head) - 1
	if n == p.first {
		room = max(min(room, int(p.want.limit)), 1)
	}
	if room < 1 {
		return false
	}
	visible, used, _ := showPart(text[from:], room, room)
	if from+used < len(text) && n > p.first {
		return false // a page is shown whole, unless it is too long by itself
	}
	p.out.WriteString(head)
	switch {
	case strings.TrimSpace(visible) != "":
		p.out.WriteString(strings.TrimSuffix(visible, "\n") + "\n")
	case page.Pictures > 0:
		p.out.WriteString("(no text; " + plural(page.Pictures, "picture") + ")\n")
	default:
		p.out.WriteString("(no text)\n")
	}
	p.shown, p.letters = n, p.letters+used
	p.unknown += page.Unknown
	p.images += page.Pictures
	p.missing += page.Missing
	p.cut = p.cut || page.Cut
	if from+used < len(text) {
		p.rest = from + used
		return false
	}
	return true
}

// notes says what was shown and which call reads on.
func (p *pdfPages) notes() []string {
	var notes []string
	call := callFor(p.name)
	switch {
	case p.rest > 0:
		notes = append(notes, fmt.Sprintf(`page %d goes on with %s"pages": "%d", "byte_offset": %d}`, p.shown, call, p.shown, p.rest))
		if p.shown < p.d.Pages() {
			notes = append(notes, fmt.Sprintf(`the next page is %s"pages": "%d"}`, call, p.shown+1))
		}
	case p.shown < p.d.Pages():
		notes = append(notes, fmt.Sprintf(`pages %d–%d of %d; continue with %s"pages": "%d-"}`, p.first, p.shown, p.d.Pages(), call, p.shown+1))
	}
	if p.letters == 0 {
		notes = append(notes, "there is no text on these pages; they may be scanned, or their fonts may not say what their letters are")
	}
	if p.images > 0 && p.letters > 0 {
		notes = append(notes, plural(p.images, "picture")+" not shown")
	}
	if p.unknown > 0 {
		notes = append(notes, plural(p.unknown, "character")+" left out, whose font does not say what they are")
	}
	if p.missing > 0 {
		notes = append(notes, plural(p.missing, "part")+" of the pages could not be unpacked")
	}
	if p.cut {
		notes = append(notes, "a page has more text than is read of one")
	}
	if p.full {
		notes = append(notes, "the document unpacks to more than is read at once; name the further pages")
	}
	return append(notes, "text taken out of a PDF: order and spacing are a guess")
}
