package shellparse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Complete reports whether a text that is typed line by line has come to an
// end at which a shell runs it and begins anew: nothing in it is left open, be
// it a quote, a bracket, a here-document or a line that a backslash continues.
func Complete(text string) bool {
	if len(text) > MaxScript || open(text) > maxOpen {
		return false
	}
	line := strings.TrimSuffix(text, "\n")
	if (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1 {
		return false
	}
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	return err == nil
}

// IsShell reports whether a script is nothing but a shell that runs what it
// reads from its standard input, on this machine, with at most a change of
// folder in front of it.
func (p *Program) IsShell() bool {
	if len(p.Problems) > 0 {
		return false
	}
	found := 0
	for i := range p.Commands {
		c := &p.Commands[i]
		switch e := table().lookup(c.Name); {
		case found == 0 && (c.passes || c.Name == "cd") && c.Class == ReadOnly:
		case e != nil && e.kind == "shell" && c.Opaque != "" && !c.Remote && len(c.Redirects) == 0:
			found++
		default:
			return false
		}
	}
	return found == 1
}

// Remakes reports whether a script changes what later text means that is
// typed into the same shell: by aliases, or by what keys do.
func (p *Program) Remakes() bool {
	for i := range p.Commands {
		switch p.Commands[i].Name {
		case "alias", "bind", "enable", "hash", "complete":
			return true
		}
	}
	return false
}

// Quote returns a word as a shell reads it back, for the text of a command
// that stands for arguments. ok is false for what no shell can be given.
func Quote(word string) (quoted string, ok bool) {
	quoted, err := syntax.Quote(word, syntax.LangBash)
	return quoted, err == nil
}
