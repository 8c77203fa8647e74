package patch

import (
	"slices"
	"strings"
)

// finish turns the current section into a file of the patch.
func (d *diff) finish() {
	c := d.current
	d.current = nil
	if c == nil {
		return
	}
	f := File{Action: Update, Hunks: c.hunks, Mode: c.mode, Form: Unified, Line: c.line}
	if c.git {
		f.Form = Git
	}
	before := len(d.wrong.Problems)
	if !d.nameFile(c, &f) {
		return
	}
	switch {
	case f.Action == Add:
		d.addedFile(&f)
	case f.Action == Update && len(f.Hunks) == 0 && f.To == "" && f.Mode == 0 && len(d.wrong.Problems) == before:
		d.wrong.add(c.line, "the diff of %s changes nothing: it has no hunk", quote(f.Path))
	}
	// Hunks lie apart, so their numbers give their order, if all have one.
	if !slices.ContainsFunc(f.Hunks, func(h Hunk) bool { return h.Start == 0 }) {
		slices.SortStableFunc(f.Hunks, func(a, b Hunk) int { return a.Start - b.Start })
	}
	d.patch.Files = append(d.patch.Files, f)
}

// nameFile finds out which file a section is about and what is done to it.
func (d *diff) nameFile(c *section, f *File) bool {
	old, new := stripPrefixes(c.old, c.new)
	if c.from != "" && c.to != "" {
		old, new = c.from, c.to
	}
	switch {
	case (c.from == "") != (c.to == ""):
		d.wrong.add(c.line, `a rename has two lines, "rename from PATH" and "rename to PATH"`)
		return false
	case old == devNull && new == devNull:
		d.wrong.add(c.line, "both names are %s; one of them names the file", devNull)
		return false
	case c.added || old == devNull:
		f.Action, f.Path = Add, new
	case c.deleted || new == devNull:
		f.Action, f.Path = Delete, old
	case c.from != "":
		f.Path, f.To = old, new
	case old != new && !backup(old, new):
		d.wrong.add(c.line, `the diff names two files, %s and %s; for a rename add the lines "rename from" and "rename to" of git`, quote(old), quote(new))
		return false
	default:
		f.Path = new
	}
	return d.agree(c, f)
}

// agree brings the name of a diff together with the path that the caller
// gave.
func (d *diff) agree(c *section, f *File) bool {
	switch {
	case d.path == "" && f.Path == "":
		d.wrong.add(c.line, `the name of the file cannot be told; put "--- a/PATH" and "+++ b/PATH" before its hunks`)
		return false
	case d.path == "":
		return true
	case f.To != "":
		d.wrong.add(c.line, "the diff renames a file, and path names one; leave path out")
		return false
	case f.Path != "" && !samePath(f.Path, d.path):
		d.wrong.add(c.line, "the diff is about %s, and path is %s; one of them is wrong", quote(f.Path), quote(d.path))
		return false
	}
	f.Path = d.path
	return true
}

// addedFile makes the content of a new file from its hunks.
func (d *diff) addedFile(f *File) {
	var b strings.Builder
	noEnd := false
	for _, h := range f.Hunks {
		for i, l := range h.withoutLayout() {
			if l.Kind != '+' && !l.bare {
				d.wrong.add(h.Line+i+1, "%s is a new file, so every line of it begins with +", quote(f.Path))
				break
			}
			b.WriteString(l.Text)
			b.WriteByte('\n')
		}
		noEnd = noEnd || h.NewNoEnd
	}
	f.Content, f.Hunks = b.String(), nil
	if noEnd {
		f.Content = strings.TrimSuffix(f.Content, "\n")
	}
}
