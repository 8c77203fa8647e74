// Package notebook reads Jupyter notebooks and changes single cells of them,
// so that every byte that a change does not mean stays as it was: the order
// of keys, the indentation, the spelling of numbers and of characters.
package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// MaxCells is how many cells a notebook may have.
const MaxCells = 10_000

// ErrFormat is wrapped by every error that says why a file is not read as a
// notebook.
var ErrFormat = errors.New("not a notebook of format 4")

// A Notebook is a file as it was read. It is not changed by its methods.
type Notebook struct {
	// Language is that of the kernel, or "".
	Language string
	// Cells are in the order of the file.
	Cells []Cell

	raw   []byte
	cells span // of the array
	minor int
	style style
}

// A Cell is one cell.
type Cell struct {
	// ID is the cell's own name, or "": files older than format 4.5 have
	// none.
	ID string
	// Type is "code", "markdown" or "raw".
	Type string
	// Source is the text of the cell.
	Source string
	// Count is the number that the kernel gave its run, or "".
	Count string
	// Outputs are what the run left behind.
	Outputs []Output

	span
	node jsondoc.Node
}

// An Output is one thing that a run left behind.
type Output struct {
	// Type is "stream", "display_data", "execute_result" or "error".
	Type string
	// Text is what can be read of it: a stream's text, an error's trace, or
	// the plain form of a value. Colour codes are in it as they are.
	Text string
	// Images are pictures, as base64 text by media type, in the file's order.
	Images []Image
	// Other are the media types that are neither.
	Other []string
}

// An Image is a picture of an output.
type Image struct{ MIME, Base64 string }

// A span is a part of the file.
type span struct{ from, to int }

// Parse reads a notebook.
func Parse(data []byte) (*Notebook, error) {
	doc, err := jsondoc.Parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	format := doc.Find("nbformat")
	if format == nil || format.Raw != "4" {
		return nil, fmt.Errorf("%w: nbformat is not 4", ErrFormat)
	}
	list := doc.Find("cells")
	if list == nil || list.Kind != jsondoc.Array {
		return nil, fmt.Errorf("%w: it has no list of cells", ErrFormat)
	}
	if len(list.Elems) > MaxCells {
		return nil, fmt.Errorf("%w: it has %d cells, and at most %d are read", ErrFormat, len(list.Elems), MaxCells)
	}
	nb := &Notebook{raw: data, Language: language(&doc), style: styleOf(data)}
	if minor := doc.Find("nbformat_minor"); minor != nil {
		nb.minor, _ = strconv.Atoi(minor.Raw)
	}
	spans := nb.find()
	if len(spans) != len(list.Elems) {
		return nil, fmt.Errorf("%w: its cells cannot be told apart", ErrFormat)
	}
	for i, e := range list.Elems {
		cell, err := newCell(e.Node)
		if err != nil {
			return nil, fmt.Errorf("%w: cell %d %w", ErrFormat, i, err)
		}
		cell.span = spans[i]
		nb.Cells = append(nb.Cells, cell)
	}
	return nb, nil
}

// language reads the metadata of a notebook.
func language(doc *jsondoc.Node) string {
	metadata := doc.Find("metadata")
	if metadata == nil {
		return ""
	}
	for _, path := range [][2]string{{"language_info", "name"}, {"kernelspec", "language"}} {
		if info := metadata.Find(path[0]); info != nil {
			if n := info.Find(path[1]); n != nil && n.Text() != "" {
				return n.Text()
			}
		}
	}
	return ""
}

// find returns where the cells stand, and notes where their list does.
func (nb *Notebook) find() []span {
	for _, m := range members(nb.raw, 0) {
		if m.key == "cells" {
			nb.cells = m.value
			return items(nb.raw, m.value)
		}
	}
	return nil
}

func newCell(n jsondoc.Node) (Cell, error) {
	c := Cell{node: n}
	if n.Kind != jsondoc.Object {
		return c, errors.New("is no object")
	}
	kind := n.Find("cell_type")
	if kind == nil || kind.Text() == "" {
		return c, errors.New("has no cell_type")
	}
	c.Type = kind.Text()
	source := n.Find("source")
	if source == nil {
		return c, errors.New("has no source")
	}
	c.Source = joined(source)
	if id := n.Find("id"); id != nil {
		c.ID = id.Text()
	}
	if count := n.Find("execution_count"); count != nil && count.Kind.Has(jsondoc.Number) {
		c.Count = count.Raw
	}
	if outputs := n.Find("outputs"); outputs != nil {
		for i := range outputs.Elems {
			c.Outputs = append(c.Outputs, newOutput(&outputs.Elems[i].Node))
		}
	}
	return c, nil
}

// joined is a text that may be written as a list of lines.
func joined(n *jsondoc.Node) string {
	if n.Kind != jsondoc.Array {
		return n.Text()
	}
	var b strings.Builder
	for i := range n.Elems {
		b.WriteString(n.Elems[i].Text())
	}
	return b.String()
}

func newOutput(n *jsondoc.Node) Output {
	var o Output
	text := func(key string) string {
		if v := n.Find(key); v != nil {
			return joined(v)
		}
		return ""
	}
	o.Type = text("output_type")
	switch o.Type {
	case "stream":
		o.Text = text("text")
	case "error":
		o.Text = text("ename") + ": " + text("evalue")
		if trace := n.Find("traceback"); trace != nil && len(trace.Elems) > 0 {
			lines := make([]string, len(trace.Elems))
			for i := range trace.Elems {
				lines[i] = trace.Elems[i].Text()
			}
			o.Text = strings.Join(lines, "\n")
		}
	default:
		if data := n.Find("data"); data != nil {
			o.take(data)
		}
	}
	return o
}

// take sorts the forms of a value.
func (o *Output) take(data *jsondoc.Node) {
	for i := range data.Elems {
		e := &data.Elems[i]
		switch mime := e.Key; {
		case mime == "text/plain":
			o.Text = joined(&e.Node)
		case strings.HasPrefix(mime, "image/") && mime != "image/svg+xml":
			o.Images = append(o.Images, Image{mime, joined(&e.Node)})
		default:
			o.Other = append(o.Other, mime)
		}
	}
}

// Index finds a cell by its id or, as a number from 0, by its place. The
// error names the cells that there are.
func (nb *Notebook) Index(cell string) (int, error) {
	for i := range nb.Cells {
		if nb.Cells[i].ID == cell && cell != "" {
			return i, nil
		}
	}
	if n, err := strconv.Atoi(cell); err == nil && n >= 0 && n < len(nb.Cells) {
		return n, nil
	}
	return 0, fmt.Errorf("there is no cell %q; %s", clip(cell), nb.names())
}

// names lists the cells for somebody who asked for one that is not there.
func (nb *Notebook) names() string {
	if len(nb.Cells) == 0 {
		return "the notebook has no cells"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the cells are 0 to %d", len(nb.Cells)-1)
	var ids []string
	for i := range nb.Cells {
		if id := nb.Cells[i].ID; id != "" && len(ids) < 20 {
			ids = append(ids, fmt.Sprintf("%d=%s", i, clip(id)))
		}
	}
	if len(ids) > 0 {
		b.WriteString(", by id " + strings.Join(ids, " "))
		if len(ids) < len(nb.Cells) {
			b.WriteString(" …")
		}
	}
	return b.String()
}

func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// A member is one key of an object with where it and its value stand.
type member struct {
	key   string
	from  int // of the key's quote
	value span
}

// members returns the members of the object that begins at or after from.
// data was parsed already, so it has one.
func members(data []byte, from int) []member {
	d := json.NewDecoder(bytes.NewReader(data[from:]))
	if _, err := d.Token(); err != nil {
		return nil
	}
	var out []member
	for d.More() {
		before := from + int(d.InputOffset())
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil
		}
		at := before + bytes.IndexByte(data[before:], '"')
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil
		}
		to := from + int(d.InputOffset())
		out = append(out, member{key, at, span{to - len(raw), to}})
	}
	return out
}

// items returns where the items of an array stand.
func items(data []byte, array span) []span {
	d := json.NewDecoder(bytes.NewReader(data[array.from:array.to]))
	if _, err := d.Token(); err != nil {
		return nil
	}
	out := []span{}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil
		}
		to := array.from + int(d.InputOffset())
		out = append(out, span{to - len(raw), to})
	}
	return out
}
