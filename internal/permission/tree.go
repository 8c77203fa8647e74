package permission

import (
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/foldname"
)

// fileReader is the tool whose deny rules say which files may not be read:
// by none of Handrail's own tools, and so neither searched nor listed by
// those that filter trees.
const fileReader = "read_file"

// fileWriters are the tools whose deny and ask rules say which files may not
// be changed: by none of Handrail's own tools, whatever it does to a file.
var fileWriters = []string{"edit_file", "write_file"}

// mayReach reports whether the pattern matches a tree, or could match
// something beneath it: its leading elements without wildcards do not lead
// elsewhere.
func (r *rule) mayReach(tree string) bool {
	if tree == "." || r.matchesPath(tree) {
		return true
	}
	below := strings.Split(tree, "/")
	for i, elem := range strings.Split(r.path, "/") {
		if i == len(below) || strings.ContainsAny(elem, `*?[{\`) {
			return true
		}
		if elem != below[i] && (r.folded == "" || foldname.Text(elem) != foldname.Text(below[i])) {
			return false
		}
	}
	return true
}

// matchesTree reports whether a deny or ask rule decides about a whole tree.
// Where the tool leaves out what the rule closes, that is only so for a tree
// that lies wholly under the pattern.
func (r *rule) matchesTree(tree string, filtered bool) bool {
	if filtered {
		return r.matchesPath(tree)
	}
	return r.mayReach(tree)
}

// closes reports whether the rule says which files a tool of Handrail's own
// must not read although it is a rule of [fileReader].
func (r *rule) closes(a Act) bool { return a.Filtered && r.path != "" && r.tool == fileReader }

// guards reports whether the rule says which files a tool of Handrail's own
// must not change although it is a rule of [fileWriters].
func (r *rule) guards(a Act) bool {
	return a.Filtered && r.path != "" && len(a.Writes) > 0 && slices.Contains(fileWriters, r.tool)
}

// Closed returns what a tool that filters its trees leaves out of them: what
// deny rules for it or for read_file match, what ask rules for it match, and
// for one that changes files what such rules for edit_file or write_file do.
// An ask rule that matches one of the trees themselves closes nothing, as the
// person was asked about that. nil means that nothing is closed. The function
// takes paths as rules know them and is safe for concurrent use.
func (j *Judge) Closed(a Act) func(path string) bool {
	var closing []rule
	for _, r := range j.deny.plain {
		if r.path != "" && (r.covers(a.Spec) || r.closes(a) || r.guards(a)) {
			closing = append(closing, r)
		}
	}
	for _, r := range j.ask.plain {
		if r.path != "" && (r.covers(a.Spec) || r.guards(a)) && !slices.ContainsFunc(a.Trees, r.matchesPath) {
			closing = append(closing, r)
		}
	}
	if closing == nil {
		return nil
	}
	return func(path string) bool {
		return slices.ContainsFunc(closing, func(r rule) bool { return r.matchesPath(path) })
	}
}
