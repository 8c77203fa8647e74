package history

import (
	"errors"
	"strings"

	"github.com/handrail-tools/handrail/internal/textfile"
)

// mergeBack takes a change out of a file that was changed since.
func (p *plan) mergeBack(v *reversal, now *node) {
	merged, ok := p.merged(v.name, now, v.r, v.e.After, v.r, v.e.Before)
	if !ok {
		return
	}
	n := *now
	n.data, n.size, n.fresh = merged, int64(len(merged)), true
	p.nodes[v.name] = &n
	p.say(v.name, UndoMerged, "it was changed since; only this change was taken out of it")
}

// merged makes, in the file as it is, the changes that lead from one state to
// another. It notes a conflict where that is not possible.
func (p *plan) merged(name string, now *node, baseIn *record, base *kept, wantIn *record, want *kept) ([]byte, bool) {
	if base == nil || want == nil || !base.Mode.IsRegular() || !want.Mode.IsRegular() || !now.mode.IsRegular() {
		p.conflict(name, "it became something else since")
		return nil, false
	}
	from, err1 := p.t.trail.content(baseIn, base)
	to, err2 := p.t.trail.content(wantIn, want)
	switch {
	case errors.Join(err1, err2) != nil || now.lost:
		p.conflict(name, "it was changed since, and it is too large to have been kept")
		return nil, false
	case !isText(from) || !isText(to) || !isText(now.data):
		p.conflict(name, "it was changed since, and it is no text that could be merged")
		return nil, false
	}
	merged, conflicts := merge(from, now.data, to)
	if len(conflicts) > 0 {
		p.conflict(name, "%s changed since", places(conflicts))
		return nil, false
	}
	return merged, true
}

func places(conflicts []Conflict) string {
	var words []string
	for _, c := range conflicts {
		words = append(words, c.String())
	}
	return strings.Join(words, ", ")
}

// isText reports whether lines of a content can be told apart by their
// bytes.
func isText(data []byte) bool {
	t, err := textfile.Decode(data)
	return err == nil && t.Encoding != textfile.UTF16LE && t.Encoding != textfile.UTF16BE
}

// where names the lines in which a file differs from what a change left.
func (p *plan) where(v *reversal, now *node) string {
	base, err := p.t.trail.content(v.r, v.e.After)
	if err != nil || !isText(base) || !isText(now.data) || now.lost {
		return ""
	}
	// A merge with a text in which every line is another one conflicts
	// wherever something was changed.
	_, conflicts := merge(base, now.data, nil)
	return " (" + places(conflicts) + ")"
}
