package config

import "slices"

// narrow returns base less what the workspace's own file takes away. What
// that file would add is a problem. Whatever the file says, the result lets
// nothing happen that base would not.
func narrow(base Settings, own *file) (Settings, Problems) {
	s, over := base.clone(), own.settings.clone()
	n := &narrower{own: own}
	s.Permission.Mode = lower(Modes(), s.Permission.Mode, over.Permission.Mode)
	s.Permission.Allow = n.within("permission.allow", orEmpty(s.Permission.Allow, over.Permission.Allow), over.Permission.Allow)
	s.Permission.Ask = union(s.Permission.Ask, over.Permission.Ask)
	s.Permission.Deny = union(s.Permission.Deny, over.Permission.Deny)
	s.Policy.Allow = n.within("policy.allow", s.Policy.Allow, over.Policy.Allow)
	s.Policy.Deny = union(s.Policy.Deny, over.Policy.Deny)
	if len(over.Policy.RequireTags) > 0 {
		// An empty list requires nothing, on either side.
		s.Policy.RequireTags = n.within("policy.require_tags", orNil(s.Policy.RequireTags), over.Policy.RequireTags)
	}
	s.Policy.ShellWrites = lower(ShellWrites(), s.Policy.ShellWrites, over.Policy.ShellWrites)
	s.Workspace.Protected = union(s.Workspace.Protected, over.Workspace.Protected)
	s.Workspace.Unreadable = union(s.Workspace.Unreadable, over.Workspace.Unreadable)
	return s, n.problems.inOrder()
}

type narrower struct {
	own      *file
	problems Problems
}

// within returns over, each entry of which must be in base. A nil base is no
// limit. The comparison is by the text of the entry: what an entry covers
// depends on the tools, and a guess here would be a hole.
func (n *narrower) within(path string, base, over []string) []string {
	if over == nil || base == nil {
		return replace(base, over)
	}
	for _, entry := range over {
		if !slices.Contains(base, entry) {
			line, column := position(n.own.data, n.own.places[entryKey(path, entry)])
			n.problems = append(n.problems, Problem{n.own.name, line, column,
				"a workspace's own file may only take away, and " + path + " of the trusted settings does not have " +
					quote(entry) + "; add it in the user's file"})
		}
	}
	return over
}

// lower returns the one of two words that stands first in order. A word that
// is not said does not count.
func lower(order []string, a, b string) string {
	if b == "" {
		return a
	}
	if a == "" || slices.Index(order, b) < slices.Index(order, a) {
		return b
	}
	return a
}

// orEmpty makes an unsaid base an empty one where there is something to
// measure against it: no rule allows what no list names.
func orEmpty(base, over []string) []string {
	if base == nil && over != nil {
		return []string{}
	}
	return base
}

func orNil(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}
