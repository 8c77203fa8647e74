package file

import (
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxPatchNotes bounds the remarks on one file, maxShownFiles the files
	// whose changed lines are shown, and maxPatchShown their text in bytes.
	maxPatchNotes = 8
	maxShownFiles = 10
	maxPatchShown = 12 << 10
)

// record tells the views what the session now knows, and returns the paths
// that were changed.
func (p *patching) record(changes []workspace.Change) []string {
	after := make(map[string]workspace.Version, len(changes))
	for _, c := range changes {
		after[c.Rel] = c.After
	}
	var changed []string
	for _, f := range p.files {
		if f.at != f.origin && f.origin != "" {
			changed = append(changed, f.origin)
		}
		if f.at == "" || f.at == f.origin && !f.written {
			continue
		}
		changed = append(changed, f.at)
		switch {
		case !f.written: // the workspace carries over what was seen
		case f.whole:
			p.w.Views().Wrote(f.at, after[f.at], workspace.SumOf(f.data), f.text.Content)
		default:
			p.recordEdits(f, after[f.at])
		}
	}
	return changed
}

// recordEdits carries what was seen of a file over to what it is.
func (p *patching) recordEdits(f *patched, version workspace.Version) {
	before := f.old
	if f.at != f.origin {
		before.Version = version // the view has moved along with the file
	}
	p.w.Views().Edited(f.at, before, workspace.View{
		Version: version, Sum: workspace.SumOf(f.data), Total: int64(len(f.text.Content)), Lossy: f.text.Invalid > 0,
	}, f.edits, f.text.Content)
}

// report lists what was done and shows the changed lines.
func (p *patching) report(changes []workspace.Change) string {
	var b strings.Builder
	other := make(map[string]int)
	for _, c := range changes {
		if c.Op == workspace.OpWrite && !c.Created {
			other[c.Rel] = c.OtherNames
		}
	}
	var files []*patched
	for _, f := range p.files {
		if f.at != "" || f.origin != "" {
			files = append(files, f)
		}
	}
	fmt.Fprintf(&b, "Applied the patch to %s:\n", plural(len(files), "file"))
	for _, f := range files {
		b.WriteString(f.line())
		if n := other[f.origin]; n > 0 && f.written {
			fmt.Fprintf(&b, "  %s of this file, as hard links, keep the old content\n", plural(n, "other name"))
		}
	}
	shown := 0
	for _, f := range files {
		text := f.snippets()
		if text == "" {
			continue
		}
		if shown++; shown > maxShownFiles || b.Len()+len(text) > maxPatchShown {
			b.WriteString("… the changed lines of further files are not shown\n")
			break
		}
		fmt.Fprintf(&b, "%s:\n%s", tool.Clip(f.at), text)
	}
	return b.String()
}

// line is the entry of a file in the list.
func (f *patched) line() string {
	var b strings.Builder
	switch {
	case f.at == "":
		fmt.Fprintf(&b, "D %s", tool.Clip(f.origin))
	case f.origin == "":
		fmt.Fprintf(&b, "A %s", tool.Clip(f.at))
	case f.at != f.origin:
		fmt.Fprintf(&b, "R %s -> %s", tool.Clip(f.origin), tool.Clip(f.at))
	default:
		fmt.Fprintf(&b, "M %s", tool.Clip(f.at))
	}
	switch {
	case f.link:
		b.WriteString(" (the link; what it leads to stays)")
	case f.added > 0 || f.removed > 0:
		fmt.Fprintf(&b, " (+%d -%d)", f.added, f.removed)
	case f.at == f.origin:
		b.WriteString(" (nothing to change)")
	case f.origin == "":
		b.WriteString(" (empty)")
	}
	b.WriteByte('\n')
	for i, note := range f.notes {
		if i == maxPatchNotes {
			fmt.Fprintf(&b, "  and %d more remarks\n", len(f.notes)-i)
			break
		}
		fmt.Fprintf(&b, "  %s\n", note)
	}
	return b.String()
}

// snippets shows the changed lines of a file as they are after the patch. A
// file that was given as a whole is known to whoever gave it.
func (f *patched) snippets() string {
	if f.at == "" || len(f.regions) == 0 {
		return ""
	}
	s := editing{text: f.text}
	content, at, gone := f.text.Content, 0, 0
	offset := func(o int) int {
		gone += strings.Count(content[at:o], "\r\n")
		at = o
		return o - gone
	}
	for _, r := range f.regions {
		s.regions = append(s.regions, region{offset(r.start), offset(r.end)})
	}
	return s.snippets()
}
