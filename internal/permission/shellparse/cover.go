package shellparse

import (
	"path"
	"strings"
)

// A Cover says how far the rules that permit reach over a script.
type Cover struct {
	// Rules has the index of the pattern that covers each command, or one of
	// the Cover constants.
	Rules []int
	// Missing are the indexes of the commands that nothing covers.
	Missing []int
	// Writes are the files that redirects write, and options of commands that
	// are known for reading; Reads are those that redirects read. A rule about
	// commands does not cover them, a rule about files may.
	Writes, Reads []Path
	// Hosts are the hosts that redirects reach.
	Hosts []string
	// Problems are those of the program. No rule covers a script with one.
	Problems []string
}

// What covers a command in place of a pattern.
const (
	// CoverNone: nothing does.
	CoverNone = -1
	// CoverReadOnly: it is read-only, and the caller said that is enough.
	CoverReadOnly = -2
	// CoverNeutral: it adds nothing of its own; what it runs is judged.
	CoverNeutral = -3
)

// All reports whether every command is covered and no redirect is left for
// the caller to judge, other than files that are read.
func (c *Cover) All() bool {
	return c.Commands() && len(c.Writes) == 0 && len(c.Hosts) == 0
}

// Commands reports whether every command is covered. Where redirects go is
// for the caller to judge.
func (c *Cover) Commands() bool { return len(c.Missing) == 0 && len(c.Problems) == 0 }

// Cover returns which patterns cover the commands of a script. For rules that
// allow: they allow a script only where every part is covered. With readOnly,
// commands of the class [ReadOnly] need no pattern.
//
// A part is covered as it is written. Nothing covers a program whose name is
// computed or which stands outside the folders of the system, unless the
// pattern names the path; a command whose variables may change what it does;
// and whatever is [Command.Opaque]. Wrappers that add nothing, such as timeout
// and nice, need no pattern of their own.
func (s *Set) Cover(p *Program, readOnly bool) *Cover {
	c := &Cover{Rules: make([]int, len(p.Commands)), Problems: p.Problems}
	for i := range p.Commands {
		cmd := &p.Commands[i]
		c.Rules[i] = s.covers(cmd, readOnly)
		if c.Rules[i] == CoverNone {
			c.Missing = append(c.Missing, i)
		}
		c.Writes = append(c.Writes, cmd.optionWrites...)
		for _, r := range cmd.Redirects {
			switch {
			case r.Host != "":
				c.Hosts = append(c.Hosts, r.Host)
			case r.Write:
				c.Writes = append(c.Writes, r.Path)
			default:
				c.Reads = append(c.Reads, r.Path)
			}
		}
	}
	return c
}

func (s *Set) covers(c *Command, readOnly bool) int {
	facts := table()
	var text strings.Builder
	for _, a := range c.Assigns {
		if facts.isHarmless(a.Name) || !a.Exported && !facts.hasMeaning(a.Name) {
			continue
		}
		if len(c.Words) == 0 || c.passes {
			return CoverNone
		}
		text.WriteString(a.Name + "=" + strings.ReplaceAll(a.Value.shape, " ", string(inner)) + " ")
	}
	assigns := text.Len() > 0
	switch {
	case c.Opaque != "" || c.hidden:
		return CoverNone
	case c.passes && !assigns && c.ownClass == ReadOnly:
		return CoverNeutral
	case len(c.Words) == 0 || !c.Words[0].Known || c.Words[0].Computed:
		return CoverNone
	}
	text.WriteString(joinShapes(c.Words, false))
	list := s.candidates(c, assigns)
	if i := s.first(list, text.String()); i != CoverNone {
		return i
	}
	if !assigns && path.Base(c.Words[0].Text) != c.Words[0].Text && systemFolder(path.Dir(c.Words[0].Text)) {
		bare := append([]Word{{Text: c.Name, Known: true, shape: c.Name}}, c.Words[1:]...)
		if i := s.first(list, joinShapes(bare, false)); i != CoverNone {
			return i
		}
	}
	if readOnly && !assigns && readsOnly(c) {
		return CoverReadOnly
	}
	return CoverNone
}

// readsOnly reports whether a command is read-only but for its redirects,
// which the caller of Cover judges.
func readsOnly(c *Command) bool {
	return c.Class == ReadOnly || c.Class == Changes && len(c.Redirects) > 0 && c.ownClass == ReadOnly
}

// candidates are the patterns that may cover a command.
func (s *Set) candidates(c *Command, assigns bool) []int {
	if assigns {
		all := make([]int, len(s.patterns))
		for i := range all {
			all[i] = i
		}
		return all
	}
	named := s.byName[foldName(c.Name)]
	if len(s.anyName) == 0 {
		return named
	}
	return append(named[:len(named):len(named)], s.anyName...)
}

func (s *Set) first(list []int, text string) int {
	for _, i := range list {
		if s.patterns[i].anyMatch(s.patterns[i].globs, text, false) {
			return i
		}
	}
	return CoverNone
}
