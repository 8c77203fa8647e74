package notebook

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// cellLevel is how deep a cell is nested in the file.
const cellLevel = 2

// Replace returns the file with another source in a cell. kind, unless "",
// makes it a cell of that type. What a run left behind in a code cell goes,
// because it is not from this source.
func (nb *Notebook) Replace(cell int, source, kind string) []byte {
	c := &nb.Cells[cell]
	if kind == "" {
		kind = c.Type
	}
	var cuts []cut
	list := members(nb.raw, c.from)
	have := map[string]bool{}
	kept := false // a member before
	for i, m := range list {
		have[m.key] = true
		put := func(text string) { cuts = append(cuts, cut{m.value, text}) }
		if kind != "code" && (m.key == "outputs" || m.key == "execution_count") || kind == "code" && m.key == "attachments" {
			cuts = append(cuts, cut{without(list, i, kept), ""})
			continue
		}
		kept = true
		switch m.key {
		case "source":
			put(nb.style.source(source, nb.raw[m.value.from] == '[', cellLevel+1))
		case "cell_type":
			if kind != c.Type {
				put(nb.style.quoted(kind))
			}
		case "outputs":
			if len(c.Outputs) > 0 {
				put("[]")
			}
		case "execution_count":
			if c.Count != "" {
				put("null")
			}
		}
	}
	if kind == "code" {
		for _, m := range [][2]string{{"execution_count", "null"}, {"outputs", "[]"}} {
			if !have[m[0]] {
				text := nb.style.next(cellLevel+1) + nb.style.quoted(m[0]) + nb.style.colon + m[1]
				end := list[len(list)-1].value.to
				cuts = append(cuts, cut{span{end, end}, text})
			}
		}
	}
	return apply(nb.raw, cuts)
}

// without is the span whose removal takes a member out of an object, with the
// comma that parts it from what is kept of the members before, or else from
// the one after it; a cell has further ones.
func without(list []member, i int, kept bool) span {
	if kept {
		return span{list[i-1].value.to, list[i].value.to}
	}
	return span{list[i].from, list[i+1].from}
}

// Insert returns the file with a new cell before the one of that index, or
// behind the last one where it is the number of cells, and the new cell's id,
// which is "" in a format that has none.
func (nb *Notebook) Insert(at int, source, kind string) (data []byte, id string) {
	var list [][2]string
	add := func(key, value string) { list = append(list, [2]string{key, value}) }
	add("cell_type", nb.style.quoted(kind))
	if kind == "code" {
		add("execution_count", "null")
	}
	if nb.minor >= 5 {
		id = nb.newID()
		add("id", nb.style.quoted(id))
	}
	add("metadata", "{}")
	if kind == "code" {
		add("outputs", "[]")
	}
	add("source", nb.style.source(source, nb.listed(), cellLevel+1))
	text := nb.style.object(list, cellLevel)
	switch {
	case len(nb.Cells) == 0:
		whole := "[" + nb.style.line(cellLevel) + text + nb.style.line(cellLevel-1) + "]"
		return apply(nb.raw, []cut{{nb.cells, whole}}), id
	case at < len(nb.Cells):
		from := nb.Cells[at].from
		return apply(nb.raw, []cut{{span{from, from}, text + nb.style.next(cellLevel)}}), id
	default:
		end := nb.Cells[len(nb.Cells)-1].to
		return apply(nb.raw, []cut{{span{end, end}, nb.style.next(cellLevel) + text}}), id
	}
}

// listed reports whether the file writes sources as lists of lines.
func (nb *Notebook) listed() bool {
	for i := range nb.Cells {
		if s := nb.Cells[i].node.Find("source"); s != nil {
			return s.Kind == jsondoc.Array
		}
	}
	return true
}

// Delete returns the file without a cell.
func (nb *Notebook) Delete(cell int) []byte {
	c := nb.Cells[cell].span
	switch {
	case len(nb.Cells) == 1:
		c = nb.cells
		return apply(nb.raw, []cut{{c, "[]"}})
	case cell > 0:
		c.from = nb.Cells[cell-1].to
	default:
		c.to = nb.Cells[1].from
	}
	return apply(nb.raw, []cut{{c, ""}})
}

// newID returns an id that no cell has. It is short and the same for the same
// file: chance would make a call that is repeated give another answer.
func (nb *Notebook) newID() string {
	for n := len(nb.Cells) + 1; ; n++ {
		id := fmt.Sprintf("cell-%d", n)
		if !slices.ContainsFunc(nb.Cells, func(c Cell) bool { return strings.EqualFold(c.ID, id) }) {
			return id
		}
	}
}

// A cut replaces a part of the file.
type cut struct {
	span
	text string
}

// apply makes cuts that do not overlap.
func apply(raw []byte, cuts []cut) []byte {
	slices.SortStableFunc(cuts, func(a, b cut) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, c := range cuts {
		out.Write(raw[at:max(at, c.from)])
		out.WriteString(c.text)
		at = max(at, c.to)
	}
	out.Write(raw[at:])
	return out.Bytes()
}
