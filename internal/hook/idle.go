package hook

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// Idle is a hook about calls that will not run with the tools that there are.
type Idle struct {
	Event Event
	// Hook names it as reports do; Source is that of the hook.
	Hook, Source string
	// Why says what its matcher does not match, and what would.
	Why string
}

// Idle returns the hooks whose matcher is about none of these tools.
func (r *Runner) Idle(specs iter.Seq[*tool.Spec]) []Idle {
	if r == nil {
		return nil
	}
	var names []string
	var idle []Idle
	for _, e := range r.entries {
		if !e.kind.tool || e.match.all() {
			continue
		}
		if names == nil {
			names = namesOf(specs)
		}
		if e.match.matches(names...) {
			continue
		}
		why := fmt.Sprintf("its matcher %q is about no tool of this session", tool.Clip(e.Matcher))
		if i := slices.IndexFunc(e.match.names, bareServer); i >= 0 {
			why += fmt.Sprintf("; all tools of that server are %q", tool.Clip(e.match.names[i])+"__.*")
		}
		idle = append(idle, Idle{e.Event, e.label, e.Source, why})
	}
	return idle
}

// bareServer reports whether a matcher names another server and none of its
// tools.
func bareServer(name string) bool {
	server, ok := strings.CutPrefix(name, "mcp__")
	return ok && !strings.Contains(server, "__")
}

// namesOf are the names by which hooks may know calls of these tools.
func namesOf(specs iter.Seq[*tool.Spec]) []string {
	sf, err := claude()
	var names []string
	for spec := range specs {
		names = append(append(names, spec.Name), spec.Aliases...)
		if err == nil {
			for _, form := range sf.ByTarget(spec.Name) {
				names = append(names, form.Name)
			}
		}
		effects := spec.Effects.Declared()
		if effects.Has(tool.Exec) {
			names = append(names, "Bash")
		}
		if effects.Has(tool.Write) {
			names = append(names, "Edit", "Write", "MultiEdit")
		}
		if effects.Has(tool.Read) {
			names = append(names, "Read")
		}
	}
	return names
}
