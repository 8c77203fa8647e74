package workspace

import (
	"cmp"
	"slices"
	"strings"
)

// An innerZone is a zone whose folder lies in that of another.
type innerZone struct {
	zone *zone
	rest string // its folder as seen from the outer one
}

// nest notes which zones lie in which, and where they lie beneath the top.
func (w *Workspace) nest() {
	for _, outer := range w.zones {
		for _, z := range w.zones {
			if rest, ok := cutFolder(slashed(z.dir), slashed(outer.dir)); ok && strings.Trim(rest, "/") != "" {
				outer.inner = append(outer.inner, innerZone{z, strings.Trim(rest, "/")})
			}
		}
		slices.SortFunc(outer.inner, func(a, b innerZone) int { return cmp.Compare(len(b.rest), len(a.rest)) })
		if rest, ok := cutFolder(slashed(outer.dir), w.top); ok && w.top != "" {
			outer.belowTop = cmp.Or(strings.Trim(rest, "/"), ".")
		}
	}
}

// settle moves a place to the innermost zone that holds it. The path must
// have no "..", and every symbolic link that was followed must be resolved:
// then the path says where the place lies, whichever way led there.
func settle(at place) place {
	for _, in := range at.zone.inner {
		if rest, ok := cutFolder(at.path, in.rest); ok {
			at.zone, at.path = in.zone, cmp.Or(rest, ".")
			return at // the longest comes first, so none lies further in
		}
	}
	return at
}

// fromTop is a path in a zone that lies beneath the top, seen from there.
func (z *zone) fromTop(rel string) string {
	switch {
	case z.belowTop == ".":
		return rel
	case rel == ".":
		return z.belowTop
	default:
		return z.belowTop + "/" + rel
	}
}

// matched returns the first rule that covers a place, or "". A rule holds
// for the path as the top of the workspace sees it, and in a further folder
// for the path in that folder as well: opening a part of the workspace a
// second time must not lift what holds for the whole.
func (rs *rules) matched(at place) string {
	if at.zone.belowTop != "" {
		if rule := rs.match(at.zone.fromTop(at.path)); rule != "" || at.zone.kind == ZoneRoot {
			return rule
		}
	}
	return rs.match(at.path)
}
