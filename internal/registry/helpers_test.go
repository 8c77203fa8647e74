package registry_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

// fake is a tool that is nothing but its declaration.
type fake struct{ spec tool.Spec }

func (f fake) Spec() tool.Spec { return f.spec }

func (f fake) Run(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text("ok"), nil }

// named returns a tool of that name, changed by the edits.
func named(name string, edits ...func(*tool.Spec)) tool.Tool {
	s := tool.Spec{Name: name, Description: "Does " + name + ".", Input: json.RawMessage(`{"type":"object"}`)}
	for _, edit := range edits {
		edit(&s)
	}
	return fake{s}
}

func aliases(names ...string) func(*tool.Spec) {
	return func(s *tool.Spec) { s.Aliases = names }
}

func tags(tags ...string) func(*tool.Spec) {
	return func(s *tool.Spec) { s.Tags = tags }
}

func effects(e tool.Effects) func(*tool.Spec) {
	return func(s *tool.Spec) { s.Effects = e }
}

func contexts(names ...string) func(*tool.Spec) {
	return func(s *tool.Spec) { s.Contexts = append([]string{}, names...) }
}

func described(text string) func(*tool.Spec) {
	return func(s *tool.Spec) { s.Description = text }
}

func input(schema string) func(*tool.Spec) {
	return func(s *tool.Spec) { s.Input = json.RawMessage(schema) }
}

// with returns a registry of those tools.
func with(t testing.TB, tools ...tool.Tool) *registry.Registry {
	t.Helper()
	r := registry.New()
	if err := r.AddAll(tools, registry.Options{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func view(t testing.TB, r *registry.Registry, c registry.ViewConfig) *registry.View {
	t.Helper()
	v, err := registry.NewView(r, c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func compile(t testing.TB, r *registry.Registry, c policy.Config) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(c, nil, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shown returns the names that a view lists.
func shown(v *registry.View) []string {
	names := []string{}
	for _, l := range v.Specs() {
		names = append(names, l.Name)
	}
	return names
}
