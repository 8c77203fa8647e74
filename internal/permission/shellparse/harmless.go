package shellparse

import "slices"

// Harmless reports whether the program only reads, whatever arguments it is
// given: none of its options and no argument makes it run, change or reach
// anything, and it is named without a folder. Interpreters and wrappers never
// are.
func (c *Command) Harmless() bool {
	if len(c.Words) == 0 || c.Words[0].Text != c.Name || c.function || c.passes || c.suffixes || c.Opaque != "" || c.Code != "" || c.Class != ReadOnly {
		return false
	}
	e := table().entries[c.Name]
	return e != nil && e.class == ReadOnly && e.kind == "" && e.wrap < 0 && e.most < 0 && !e.subs && !e.network && !e.process && !e.remote &&
		harmlessOptions(e) && !slices.ContainsFunc(e.args, func(what string) bool { return what != "text" && what != "read" })
}
