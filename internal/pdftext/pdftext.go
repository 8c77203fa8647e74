// Package pdftext takes the text out of a PDF document.
//
// The document is foreign and may be hostile, so the reader is made to be
// bounded in every way: nothing is followed twice, nesting has a depth, and
// one budget of bytes and tokens covers all that is unpacked and parsed. It
// stops when its context does. It starts no goroutine and no program, and
// decodes no picture and no font.
//
// The order of the text is the order in which the document draws it, with
// line breaks and blanks where the places of the pieces ask for them.
package pdftext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

const (
	// MaxFile is the largest document that is taken, in bytes: the limit of
	// Claude Code.
	MaxFile = 20 << 20
	// MaxPages is how many pages of a document are counted.
	MaxPages = 10_000

	// maxUnpacked is how many bytes all streams of a document may have
	// together once they are unpacked. A page of text has some 10 KB.
	maxUnpacked = 32 << 20
	// maxTokens is how many tokens are read of a document. A dense page has
	// some 5,000; a million of them take about a tenth of a second.
	maxTokens = 4 << 20
	// maxItems is how many items of one array are kept.
	maxItems = 1 << 18
	// maxText is the most text of one page, in bytes.
	maxText = 1 << 20
	// maxDepth is how deep values, page trees and forms may be nested.
	maxDepth = 48
)

// The errors of this package. [ErrEncrypted] and [ErrDamaged] say that there
// is no text to be had, [ErrTooMuch] that reading it would cost too much.
var (
	ErrEncrypted = errors.New("the document is encrypted")
	ErrDamaged   = errors.New("the document is damaged")
	ErrTooMuch   = errors.New("the document unpacks to more than is read")
)

// A Document is an open PDF. It is not safe for concurrent use.
type Document struct {
	objects map[int]place
	parsed  map[int]object
	busy    map[int]bool
	pages   []page
	fonts   map[int]*font

	unpacked int // bytes left
	tokens   int // tokens left
	ctx      context.Context
}

// A page is what the tree of pages says of one.
type page struct {
	dict      dict
	resources dict
}

// A Page is the text of one page.
type Page struct {
	// Text has no form feeds and ends without a newline.
	Text string
	// Unknown counts characters whose font does not say what they are; they
	// are left out.
	Unknown int
	// Pictures counts the pictures that the page draws.
	Pictures int
	// Cut says that the page has more text than is read of one.
	Cut bool
	// Missing counts parts that are packed in a way that is not known, or
	// damaged.
	Missing int
}

// IsPDF reports whether data begins as a PDF does.
func IsPDF(data []byte) bool { return bytes.HasPrefix(data, []byte("%PDF-")) }

// Open finds the pages of a document. data must not change while the
// document is used.
func Open(ctx context.Context, data []byte) (*Document, error) {
	return open(ctx, data, maxUnpacked, maxTokens)
}

// open is [Open] with a budget of bytes and tokens.
func open(ctx context.Context, data []byte, unpacked, tokens int) (*Document, error) {
	if len(data) > MaxFile {
		return nil, ErrTooMuch
	}
	d := &Document{
		parsed: map[int]object{}, busy: map[int]bool{}, fonts: map[int]*font{},
		unpacked: unpacked, tokens: tokens, ctx: ctx,
	}
	trailer, err := d.scan(data)
	if err != nil {
		return nil, err
	}
	if trailer["Encrypt"] != nil {
		return nil, ErrEncrypted
	}
	root := d.dict(trailer["Root"])
	if d.dict(root["Pages"]) == nil {
		root = d.catalog()
	}
	w := treeWalk{d: d, seen: map[int]bool{}}
	w.walk(root["Pages"], nil, 0)
	if err := d.spent(); err != nil {
		return nil, err
	}
	if len(d.pages) == 0 {
		return nil, fmt.Errorf("%w: no page was found in it", ErrDamaged)
	}
	return d, nil
}

// Pages returns how many pages there are, at most [MaxPages].
func (d *Document) Pages() int { return len(d.pages) }

// spent says why reading cannot go on, or nil.
func (d *Document) spent() error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if d.tokens <= 0 || d.unpacked <= 0 {
		return ErrTooMuch
	}
	return nil
}

// catalog looks for the catalog where no trailer names it.
func (d *Document) catalog() dict {
	for number := range d.objects {
		if c, ok := d.load(number).(dict); ok && c["Type"] == name("Catalog") {
			return c
		}
		if d.spent() != nil {
			break
		}
	}
	return nil
}

// A treeWalk collects the pages of a tree, each node once.
type treeWalk struct {
	d    *Document
	seen map[int]bool
}

func (w *treeWalk) walk(node object, resources dict, depth int) {
	if r, ok := node.(ref); ok {
		if w.seen[int(r)] {
			return
		}
		w.seen[int(r)] = true
	}
	n := w.d.dict(node)
	if n == nil || depth > maxDepth || len(w.d.pages) >= MaxPages || w.d.spent() != nil {
		return
	}
	if own := w.d.dict(n["Resources"]); own != nil {
		resources = own
	}
	kids, isTree := w.d.value(n["Kids"]).(array)
	if !isTree {
		w.d.pages = append(w.d.pages, page{n, resources})
		return
	}
	for _, kid := range kids {
		w.walk(kid, resources, depth+1)
	}
}

// Page returns the text of a page; the first one is 1.
func (d *Document) Page(ctx context.Context, number int) (Page, error) {
	if number < 1 || number > len(d.pages) {
		return Page{}, fmt.Errorf("there is no page %d", number)
	}
	d.ctx = ctx
	p := d.pages[number-1]
	in := &interpreter{d: d}
	var content []byte
	switch c := d.value(p.dict["Contents"]).(type) {
	case stream:
		content = in.unpack(c)
	case array:
		// One program, though it may be cut anywhere between two tokens.
		for _, part := range c {
			if s, ok := d.value(part).(stream); ok {
				content = append(append(content, in.unpack(s)...), '\n')
			}
		}
	}
	in.run(content, p.resources, 0)
	if err := d.spent(); err != nil {
		return Page{}, err
	}
	out := in.page
	out.Text, out.Cut = in.out.finish()
	return out, nil
}
