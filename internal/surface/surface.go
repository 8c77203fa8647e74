package surface

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// Default is the surface that shows every tool as it declares itself.
const Default = "handrail"

//go:embed data/*.json
var data embed.FS

// Surface is a set of names and schemas. It never changes once it is
// loaded, so it may be shared. The nil surface is [Default].
type Surface struct {
	// Name is the name that the surface is loaded by.
	Name string
	// Description is one line for a person.
	Description string

	tools    []*Tool // sorted by name
	byName   map[string]*Tool
	byTarget map[string][]*Tool
}

// Tool is one tool as a surface shows it.
type Tool struct {
	// Name is the name that is shown.
	Name string
	// Target is the canonical name of the tool behind it.
	Target string
	// Description is the text for the model. Empty means the tool's own.
	Description string
	// Schema is the JSON Schema of the arguments as shown. nil means the
	// tool's own; then [Tool.Map] changes nothing.
	Schema json.RawMessage

	object object
}

// Names returns the names of the surfaces that are built in, sorted.
func Names() []string {
	files, err := fs.Glob(data, "data/*.json")
	if err != nil {
		panic("the pattern for surface files is malformed: " + err.Error())
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, "data/"), ".json"))
	}
	slices.Sort(names)
	return names
}

// Load returns the built-in surface of that name; "" means [Default].
func Load(name string) (*Surface, error) {
	if name == "" {
		name = Default
	}
	names := Names()
	if !slices.Contains(names, name) {
		msg := fmt.Sprintf("there is no surface %q; the surfaces are %s", tool.Clip(name), strings.Join(names, ", "))
		if near, ok := suggest.Nearest(name, names); ok {
			msg += fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, fmt.Errorf("%s", msg)
	}
	text, err := data.ReadFile("data/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("reading the surface %s: %w", name, err)
	}
	s, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if s.Name != name {
		return nil, fmt.Errorf("the surface file %s.json calls itself %q", name, s.Name)
	}
	return s, nil
}

// Tools returns what the surface shows in another form, sorted by name.
func (s *Surface) Tools() []*Tool {
	if s == nil {
		return nil
	}
	return slices.Clone(s.tools)
}

// ByName returns the tool that is shown under a name.
func (s *Surface) ByName(shown string) (*Tool, bool) {
	if s == nil {
		return nil, false
	}
	t, ok := s.byName[shown]
	return t, ok
}

// ByTarget returns the forms in which the tool of a canonical name is shown,
// sorted by name. There are none when it is shown as it declares itself.
// The slice must not be changed.
func (s *Surface) ByTarget(canonical string) []*Tool {
	if s == nil {
		return nil
	}
	return s.byTarget[canonical]
}
