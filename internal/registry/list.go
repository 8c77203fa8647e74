package registry

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// Listed is one tool as a view lists it.
type Listed struct {
	// Name is the name that is shown.
	Name string
	// Title is the name for a person. It is never empty.
	Title string
	// Description is the text for the model.
	Description string
	// Input is the schema of the arguments as shown; Output is that of the
	// structured result, or nil.
	Input, Output json.RawMessage
	// Entry is the tool.
	Entry *Entry
}

func (r *Resolved) listed() Listed {
	spec := r.Entry.Spec
	l := Listed{
		Name:        r.Shown,
		Title:       cmp.Or(spec.Title, r.Shown),
		Description: spec.Description,
		Input:       spec.Input,
		Output:      spec.Output,
		Entry:       r.Entry,
	}
	if r.Form != nil {
		l.Description = cmp.Or(r.Form.Description, l.Description)
		if r.Form.Schema != nil {
			l.Input = r.Form.Schema
		}
	}
	return l
}

// list is what a view listed last.
type list struct {
	sight    *sight
	exposure uint64
	listed   []Listed
	json     func() []byte
}

// Specs lists the tools that are seen and not put away, sorted by the name
// shown. The same tools give the same list, byte for byte, so that a model
// provider's prompt cache holds. The slice is shared and must not be changed.
func (v *View) Specs() []Listed { return v.current().listed }

// JSON returns the list as a JSON array of objects with the keys name,
// description and input_schema. The bytes are shared and
// must not be changed.
func (v *View) JSON() []byte { return v.current().json() }

// current returns the list of this moment, from the cache while nothing
// changed.
func (v *View) current() *list {
	s := v.look()
	if l := v.list.Load(); l != nil && l.sight == s && l.exposure == v.exposure.version() {
		return l
	}
	l := &list{sight: s}
	var away map[*Entry]bool
	away, l.exposure = v.exposure.away(s)
	for _, e := range s.seen {
		if away[e] {
			continue
		}
		for _, r := range s.forms[e] {
			l.listed = append(l.listed, r.listed())
		}
	}
	slices.SortFunc(l.listed, func(a, b Listed) int { return cmp.Compare(a.Name, b.Name) })
	l.json = sync.OnceValue(func() []byte { return listJSON(l.listed) })
	v.list.Store(l)
	return l
}

// listJSON writes schemas as the tools gave them, byte for byte.
func listJSON(listed []Listed) []byte {
	out := []byte("[")
	for i, l := range listed {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsondoc.AppendString(append(out, "\n{\"name\":"...), l.Name)
		out = jsondoc.AppendString(append(out, `,"description":`...), l.Description)
		out = append(append(out, `,"input_schema":`...), l.Input...)
		out = append(out, '}')
	}
	return append(out, "\n]\n"...)
}
