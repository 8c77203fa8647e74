package registry

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/tool"
)

// Options say how a tool is registered.
type Options struct {
	// Source names where the tool comes from, for example "mcp:github".
	// Empty means that it is built in. Removing a source removes its tools.
	Source string
	// Hidden keeps the tool from every view: only code that asks the
	// registry itself can reach it.
	Hidden bool
	// Background marks a tool that is meant for long work: its calls are
	// checked by the tool's Preflight before they are permitted, while the
	// model can still mend them. A child session has no such marks, since it
	// is the background itself.
	Background bool
}

// Entry is one registered tool. It never changes; a tool that is registered
// anew gets a new entry. All that is known of a tool hangs on its entry, so
// nothing of it can outlive it.
type Entry struct {
	Options
	// Tool is the tool itself.
	Tool tool.Tool
	// Spec is what the tool declared when it was registered. It must not be
	// changed.
	Spec *tool.Spec
	// Args decodes the arguments of a call by the tool's own schema.
	Args *args.Schema
	// Output is the compiled schema of structured results, or nil where the
	// tool declares none.
	Output *schema.Schema

	// The optional halves of the tool, or nil where it lacks one.
	Assesser    tool.Assesser
	Preflighter tool.Preflighter
	Resumer     tool.Resumer
	Keyer       tool.Keyer
}

// newEntry checks a tool's declaration and makes its entry.
func newEntry(t tool.Tool, opts Options) (*Entry, error) {
	if t == nil {
		return nil, fmt.Errorf("registering a tool: it is nil")
	}
	if c, ok := t.(tool.Checker); ok {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("registering a tool: %w", err)
		}
	}
	declared := t.Spec()
	spec := cloneSpec(declared)
	if err := checkSpec(spec); err != nil {
		return nil, fmt.Errorf("registering the tool %q: %w", tool.Clip(spec.Name), err)
	}
	in, err := args.Compile(spec.Name, spec.Input, spec.ArgAliases)
	if err != nil {
		return nil, fmt.Errorf("registering the tool %q: %w", spec.Name, err)
	}
	var out *schema.Schema
	if spec.Output != nil {
		if out, err = schema.Compile(spec.Output); err != nil {
			return nil, fmt.Errorf("registering the tool %q: its output schema: %w", spec.Name, err)
		}
	}
	e := &Entry{Options: opts, Tool: t, Spec: spec, Args: in, Output: out}
	e.Assesser, _ = t.(tool.Assesser)
	e.Preflighter, _ = t.(tool.Preflighter)
	e.Resumer, _ = t.(tool.Resumer)
	e.Keyer, _ = t.(tool.Keyer)
	return e, nil
}

// cloneSpec copies a declaration, so that its tool cannot change it later.
func cloneSpec(s tool.Spec) *tool.Spec {
	s.Input = bytes.Clone(s.Input)
	s.Output = bytes.Clone(s.Output)
	s.Aliases = slices.Clone(s.Aliases)
	s.Tags = slices.Clone(s.Tags)
	s.Contexts = slices.Clone(s.Contexts)
	s.ArgAliases = maps.Clone(s.ArgAliases)
	for name, aliases := range s.ArgAliases {
		s.ArgAliases[name] = slices.Clone(aliases)
	}
	return &s
}

// names yields the canonical name and the aliases.
func (e *Entry) names(yield func(string) bool) {
	if !yield(e.Spec.Name) {
		return
	}
	for _, alias := range e.Spec.Aliases {
		if !yield(alias) {
			return
		}
	}
}
