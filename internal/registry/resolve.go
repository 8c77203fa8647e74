package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/tool"
)

// Resolved is what a name means to a view. It must not be changed.
type Resolved struct {
	// Entry is the tool.
	Entry *Entry
	// Name is the tool's canonical name, which rules, metrics and the audit
	// trail use.
	Name string
	// Shown is the name under which this form of the tool is listed.
	Shown string
	// Args decodes the arguments as the caller writes them: by the
	// surface's schema, or by the tool's own where Form is nil.
	Args *args.Schema
	// Form is the surface's form of the tool, or nil when the tool was
	// asked for in its own.
	Form *surface.Tool
}

// Decode turns the arguments of a call, as the caller wrote them, into valid
// arguments of the tool. Its error is a [*tool.Error].
func (r *Resolved) Decode(raw json.RawMessage) (args.Decoded, error) {
	shown, err := r.Args.Decode(raw)
	if err != nil || r.Form == nil {
		return shown, err
	}
	mapped, err := r.Form.Map(shown.Args)
	if err != nil {
		return args.Decoded{}, err
	}
	own, err := r.Entry.Args.Decode(mapped)
	if err != nil {
		return args.Decoded{}, err
	}
	own.Repairs = append(shown.Repairs, own.Repairs...)
	return own, nil
}

// Resolve returns what a name means: a canonical name, an alias, or a name
// that the surface shows. The error is [tool.CodeDenied] with a
// [*DeniedError] as its cause where a policy denies the tool, and
// [tool.CodeUnknownTool] where there is none to be seen.
func (v *View) Resolve(asked string) (*Resolved, *tool.Error) {
	s := v.look()
	if r, ok := s.byName[asked]; ok {
		return r, nil
	}
	if e, ok := s.entry(asked); ok {
		if verdict := s.judge(e); verdict.denied {
			return nil, deniedError(asked, &DeniedError{Spec: e.Spec, Decision: verdict.decision})
		}
	}
	return nil, s.unknownError(asked)
}

// entry returns the tool that a name would mean if everything were seen.
func (s *sight) entry(asked string) (*Entry, bool) {
	if sh, ok := s.state.shown[asked]; ok {
		asked = sh.target
	}
	e, ok := s.state.byName[asked]
	return e, ok
}

func deniedError(asked string, cause *DeniedError) *tool.Error {
	name := fmt.Sprintf("%q", tool.Clip(asked))
	if asked != cause.Spec.Name {
		name += fmt.Sprintf(" (the tool %q)", cause.Spec.Name)
	}
	e := tool.Errorf(tool.CodeDenied, "%s may not be used here: %s. Calling it again gives the same answer.", name, cause.Decision)
	e.Err = cause
	return e
}

const (
	// nearNames is how many near names an unknown one earns.
	nearNames = 3
	// listedNames is up to how many names are listed when none is near.
	listedNames = 40
)

func (s *sight) unknownError(asked string) *tool.Error {
	var b strings.Builder
	fmt.Fprintf(&b, "There is no tool %q.", tool.Clip(asked))
	shown := s.shownNames()
	switch near := s.near(asked); {
	case len(shown) == 0:
		b.WriteString(" No tool can be used here.")
	case len(near) > 0:
		fmt.Fprintf(&b, " Did you mean %s?", strings.Join(near, " or "))
	case len(shown) > listedNames:
		fmt.Fprintf(&b, " There are %d tools, none with a name like it.", len(shown))
	}
	if len(shown) > 0 && len(shown) <= listedNames {
		fmt.Fprintf(&b, " The tools are %s.", strings.Join(shown, ", "))
	}
	return tool.Errorf(tool.CodeUnknownTool, "%s", b.String())
}

// near returns the shown names of tools with a name like the one asked for.
func (s *sight) near(asked string) []string {
	names := make([]string, 0, len(s.byName))
	for name := range s.byName {
		names = append(names, name)
	}
	var near []string
	for _, name := range suggest.NearestN(asked, names, nearNames) {
		if shown := s.forms[s.byName[name].Entry][0].Shown; !slices.Contains(near, shown) {
			near = append(near, shown)
		}
	}
	return near
}

// shownNames returns every name that is shown or could be, sorted.
func (s *sight) shownNames() []string {
	var names []string
	for _, forms := range s.forms {
		for _, r := range forms {
			names = append(names, r.Shown)
		}
	}
	slices.Sort(names)
	return names
}

// schema returns the decoder for a surface's form of a tool, which takes the
// tool's own spellings of the arguments as well: the tool's advice and
// errors use those. The caller holds mu.
func (v *View) schema(f form) *args.Schema {
	if f.shown.Schema == nil {
		return f.entry.Args
	}
	if s, ok := v.schemas[f]; ok {
		return s
	}
	s, err := args.Compile(f.shown.Name, f.shown.Schema, f.aliases())
	if err != nil {
		// The schema alone was compiled when the view was made, so the
		// spellings clash; without them it decodes as strictly.
		s, err = args.Compile(f.shown.Name, f.shown.Schema, nil)
	}
	if err != nil {
		panic("a surface's schema that compiled does not compile again: " + err.Error())
	}
	return s
}

// aliases returns further spellings for the properties of the surface's
// schema: the tool's own name of each and its aliases, except what is
// another property's name.
func (f form) aliases() map[string][]string {
	renames := f.shown.Renames()
	aliases := map[string][]string{}
	taken := map[string]bool{}
	for property := range renames {
		taken[suggest.Fold(property)] = true
	}
	for _, property := range slices.Sorted(maps.Keys(renames)) {
		own := renames[property]
		if strings.Contains(property, "[]") {
			continue // inside a list, where there are no aliases
		}
		for _, spelling := range append([]string{own}, f.entry.Spec.ArgAliases[own]...) {
			if folded := suggest.Fold(spelling); !taken[folded] {
				taken[folded] = true
				aliases[property] = append(aliases[property], spelling)
			}
		}
	}
	return aliases
}
