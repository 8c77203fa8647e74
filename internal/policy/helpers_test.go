package policy_test

import (
	"encoding/json"
	"iter"
	"slices"
	"testing"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/tool"
)

// catalog is a list of tools.
type catalog []*tool.Spec

func (c catalog) All() iter.Seq[*tool.Spec] { return slices.Values(c) }

func (c catalog) Resolve(name string) (*tool.Spec, bool) {
	for _, s := range c {
		if s.Name == name || slices.Contains(s.Aliases, name) {
			return s, true
		}
	}
	return nil, false
}

func (c catalog) get(t testing.TB, name string) *tool.Spec {
	t.Helper()
	s, ok := c.Resolve(name)
	if !ok {
		t.Fatalf("the test's catalog has no %q", name)
	}
	return s
}

// house is a roster with every kind of tool that policies tell apart.
var house = catalog{
	{Name: "read_file", Aliases: []string{"cat"}, Effects: tool.Read, Tags: []string{"fs", "code"}},
	{Name: "write_file", Effects: tool.Write, Tags: []string{"fs", "code"}},
	{Name: "shell", Aliases: []string{"bash", "exec_command"}, Effects: tool.AllEffects, Tags: []string{"runtime", "code"}},
	{Name: "web_fetch", Effects: tool.Network | tool.Read, Tags: []string{"web"}},
	{Name: "update_plan", Effects: tool.Pure},
	{Name: "mystery"}, // declares nothing
	{Name: "mcp__github__list_issues", Effects: tool.Network, Tags: []string{"mcp", "untrusted"}},
	{Name: "look", Effects: tool.Read, Tags: []string{"robot", "tier:observe"}},
	{Name: "crawl", Effects: tool.Exec, Tags: []string{"robot", "tier:safe_motion"}},
	{Name: "run", Effects: tool.Exec, Tags: []string{"robot", "tier:full_actuation"}},
	{Name: "jump", Effects: tool.Exec, Tags: []string{"robot", "tier:emergency_override"}},
	{Name: "both", Effects: tool.Exec, Tags: []string{"tier:observe", "tier:full_actuation"}},
	{Name: "odd", Effects: tool.Exec, Tags: []string{"tier:unheard_of"}},
}

func mustCompile(t testing.TB, c policy.Config) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(c, nil, house)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// allowed returns the names of the tools that a policy allows.
func allowed(p *policy.Policy, tools catalog) []string {
	names := []string{}
	for _, s := range tools {
		if p.Decide(s).Allowed {
			names = append(names, s.Name)
		}
	}
	return names
}

// except returns the names of the house without those.
func except(names ...string) []string {
	kept := []string{}
	for _, s := range house {
		if !slices.Contains(names, s.Name) {
			kept = append(kept, s.Name)
		}
	}
	return kept
}

func mustMarshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
