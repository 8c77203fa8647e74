package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/config"
	"github.com/handrail-tools/handrail/internal/permission/foreign"
)

// importer reads the rules of other systems for a workspace, as settings that
// name their files want them.
func importer(workspace, home string) config.Importer {
	return func(name string, data []byte) (s config.Settings, notes, problems config.Problems) {
		r, err := foreign.Read(foreign.Source{
			Name: slashed(name), Data: data, Workspace: slashed(workspace), Home: slashed(home),
			WorkspaceLink: named(workspace), HomeLink: named(home),
		})
		var all foreign.Problems
		if errors.As(err, &all) {
			return s, nil, located(all)
		}
		if err != nil {
			return s, nil, config.Problems{{Text: err.Error()}}
		}
		p := r.Permission
		s.Permission = config.Permission{Mode: string(p.Mode), Approval: string(p.Approval), Allow: p.Allow, Ask: p.Ask, Deny: p.Deny}
		for _, dir := range r.Granted {
			s.Workspace.Granted = append(s.Workspace.Granted, filepath.FromSlash(dir))
		}
		return s, located(r.Notes), nil
	}
}

func located(notes []foreign.Note) config.Problems {
	out := make(config.Problems, len(notes))
	for i, n := range notes {
		out[i] = config.Problem{Line: n.Line, Text: n.Text}
		if n.Line > 0 {
			out[i].Column = 1
		}
	}
	return out
}

// slashed is a path as rules see it: absolute, with links followed where it
// exists, and with slashes.
func slashed(name string) string {
	if name == "" {
		return ""
	}
	abs := named(name)
	if real, err := filepath.EvalSymlinks(filepath.FromSlash(abs)); err == nil {
		abs = filepath.ToSlash(real)
	}
	return abs
}

// named is a path as somebody gave it: absolute and with slashes.
func named(name string) string {
	abs, err := filepath.Abs(name)
	if name == "" || err != nil {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(abs)
}

// withoutCommands leaves out imported rules about commands where there is no
// tool that could run one: a file of another system is not written for that.
func withoutCommands(p *handrail.Permission, l *config.Loaded) {
	for name, list := range map[string]*[]string{"allow": &p.Allow, "ask": &p.Ask, "deny": &p.Deny} {
		*list = slices.DeleteFunc(slices.Clone(*list), func(rule string) bool {
			tool, _, _ := strings.Cut(rule, "(")
			return (tool == "shell" || tool == "write_stdin") && l.Imported(name, rule)
		})
	}
}
