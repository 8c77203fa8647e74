package surface

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/tool"
)

// MaxFile is the largest data file, in bytes.
const MaxFile = 1 << 20

var namePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`^[a-zA-Z0-9_-]{1,%d}$`, tool.MaxName))
})

// The wire forms of a data file.
type (
	wireSurface struct {
		Name        string     `json:"name"`
		Description string     `json:"description"`
		Tools       []wireTool `json:"tools"`
	}
	wireTool struct {
		Name        string                     `json:"name"`
		Tool        string                     `json:"tool"`
		Description string                     `json:"description"`
		Schema      json.RawMessage            `json:"schema"`
		Args        map[string]wireArg         `json:"args"`
		Set         map[string]json.RawMessage `json:"set"`
	}
	wireArg struct {
		To     string
		Wrap   bool
		Values map[string]json.RawMessage
		Items  map[string]wireArg
	}
)

// UnmarshalJSON reads a name or an object.
func (a *wireArg) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &a.To)
	}
	var full struct {
		To     string                     `json:"to"`
		Wrap   bool                       `json:"wrap"`
		Values map[string]json.RawMessage `json:"values"`
		Items  map[string]wireArg         `json:"items"`
	}
	if err := decodeStrict(b, &full); err != nil {
		return err
	}
	*a = wireArg{full.To, full.Wrap, full.Values, full.Items}
	return nil
}

// Parse reads a surface from its data file and reports all that is wrong
// with it at once.
func Parse(text []byte) (*Surface, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("the surface file has %d bytes; at most %d are read", len(text), MaxFile)
	}
	var w wireSurface
	if err := decodeStrict(text, &w); err != nil {
		return nil, fmt.Errorf("reading the surface: %w", err)
	}
	s := &Surface{
		Name:        w.Name,
		Description: w.Description,
		byName:      make(map[string]*Tool, len(w.Tools)),
		byTarget:    make(map[string][]*Tool, len(w.Tools)),
	}
	var problems []error
	if !namePattern().MatchString(w.Name) {
		problems = append(problems, fmt.Errorf("name %q is not 1 to %d of a-z A-Z 0-9 _ -", tool.Clip(w.Name), tool.MaxName))
	}
	for i, wt := range w.Tools {
		t, err := wt.build()
		if err != nil {
			problems = append(problems, fmt.Errorf("tool %d, %q: %w", i+1, tool.Clip(wt.Name), err))
			continue
		}
		if s.byName[t.Name] != nil {
			problems = append(problems, fmt.Errorf("tool %d: the name %q is shown twice", i+1, t.Name))
		}
		s.byName[t.Name] = t
		s.tools = append(s.tools, t)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("the surface %q is not valid:\n%w", tool.Clip(w.Name), err)
	}
	slices.SortFunc(s.tools, func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) })
	for _, t := range s.tools {
		s.byTarget[t.Target] = append(s.byTarget[t.Target], t)
	}
	return s, nil
}

func (w wireTool) build() (*Tool, error) {
	t := &Tool{Name: w.Name, Target: w.Tool, Description: w.Description, Schema: w.Schema}
	var problems []error
	for _, name := range []string{w.Name, w.Tool} {
		if !namePattern().MatchString(name) {
			problems = append(problems, fmt.Errorf("%q is no tool name: 1 to %d of a-z A-Z 0-9 _ -", tool.Clip(name), tool.MaxName))
		}
	}
	if w.Schema == nil {
		if len(w.Args) > 0 || len(w.Set) > 0 {
			problems = append(problems, errors.New("args and set need a schema"))
		}
		return t, errors.Join(problems...)
	}
	schema, err := jsondoc.Parse(string(w.Schema))
	if err != nil {
		return nil, errors.Join(append(problems, fmt.Errorf("the schema: %w", err))...)
	}
	t.object, err = buildObject(&schema, w.Args, w.Set)
	return t, errors.Join(append(problems, err)...)
}

// decodeStrict reads one JSON value. Unknown keys and keys that stand twice
// are errors.
func decodeStrict(text []byte, into any) error {
	if _, err := jsondoc.Parse(string(text)); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
