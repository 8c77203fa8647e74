package registry_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/tool"
)

var (
	allNames    = []string{"read_file", "write_file", "shell", "bash", "grep", "spawn", "own_a", "own_b", "own_c", "mcp__x__y"}
	allTags     = []string{"fs", "code", "web", "tier:observe", "tier:full_actuation", registry.TagExposure, registry.TagDiscovery}
	allContexts = []string{"chat", "review"}
)

// world is one random registry under test, and what the reference knows of
// it.
type world struct {
	reg   *registry.Registry
	tools map[string]modelTool // by canonical name
}

type modelTool struct {
	spec   tool.Spec
	hidden bool
}

// modelView is a view and what the reference knows of it.
type modelView struct {
	world   *world
	view    *registry.View
	config  registry.ViewConfig
	parent  *modelView
	surface map[string][]string // canonical name -> names shown
}

func subset(t *rapid.T, label string, from []string, most int) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 0, most, rapid.ID[string]).Draw(t, label)
}

func drawTool(t *rapid.T) modelTool {
	ns := rapid.SliceOfNDistinct(rapid.SampledFrom(allNames), 1, 3, rapid.ID[string]).Draw(t, "names")
	m := modelTool{
		spec: tool.Spec{
			Name: ns[0], Aliases: ns[1:], Description: "Does " + ns[0] + ".", Input: []byte(`{"type":"object"}`),
			Tags:    subset(t, "tags", allTags, 3),
			Effects: tool.Effects(rapid.Uint16Range(0, uint16(tool.AllEffects|tool.Pure)).Draw(t, "effects")),
		},
		hidden: rapid.IntRange(0, 9).Draw(t, "hidden") == 0,
	}
	if rapid.IntRange(0, 4).Draw(t, "has contexts") == 0 {
		m.spec.Contexts = append([]string{}, subset(t, "contexts", allContexts, 2)...)
	}
	return m
}

// add registers a tool if its names are free, as the reference counts them.
func (w *world) add(t *rapid.T, m modelTool) {
	err := w.reg.Add(fake{m.spec}, registry.Options{Hidden: m.hidden})
	if free := w.free(m.spec, ""); free != (err == nil) {
		t.Fatalf("adding %s: names are free: %v, error %v", m.spec.Name, free, err)
	}
	if err == nil {
		w.tools[m.spec.Name] = m
	}
}

func (w *world) free(s tool.Spec, except string) bool {
	for name, other := range w.tools {
		for _, taken := range append([]string{name}, other.spec.Aliases...) {
			if name != except && (taken == s.Name || slices.Contains(s.Aliases, taken)) {
				return false
			}
		}
	}
	return true
}

func (w *world) replace(t *rapid.T, m modelTool) {
	err := w.reg.Replace(fake{m.spec}, registry.Options{Hidden: m.hidden})
	_, there := w.tools[m.spec.Name]
	if ok := there && w.free(m.spec, m.spec.Name); ok != (err == nil) {
		t.Fatalf("replacing %s: possible: %v, error %v", m.spec.Name, ok, err)
	}
	if err == nil {
		w.tools[m.spec.Name] = m
	}
}

func drawPolicy(t *rapid.T) *policy.Policy {
	entry := rapid.SampledFrom([]string{
		"read_file", "bash", "shell", "own_a", "own_*", "mcp__*", "*", "group:fs", "group:runtime", "tag:code", "tag:web", "effect:exec",
		"effect:read", "effect:write", "tier:observe", "tier:full_actuation",
	})
	c := policy.Config{Deny: rapid.SliceOfN(entry, 0, 2).Draw(t, "deny")}
	if rapid.Bool().Draw(t, "has an allow list") {
		c.Allow = rapid.SliceOfN(entry, 0, 3).Draw(t, "allow")
	}
	for _, list := range [][]string{c.Allow, c.Deny} {
		for i, e := range list {
			if !strings.HasPrefix(e, "effect:") {
				list[i] = e + "?"
			}
		}
	}
	p, err := policy.Compile(c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func drawView(t *rapid.T, w *world, parent *modelView) *modelView {
	m := &modelView{world: w, parent: parent, surface: map[string][]string{}}
	for range rapid.IntRange(0, 2).Draw(t, "policies") {
		m.config.Policies = append(m.config.Policies, drawPolicy(t))
	}
	m.config.Context = rapid.SampledFrom(append([]string{""}, allContexts...)).Draw(t, "context")
	if rapid.IntRange(0, 6).Draw(t, "has a tag filter") == 0 {
		m.config.Tags = append([]string{}, subset(t, "tag filter", allTags, 3)...)
	}
	if rapid.Bool().Draw(t, "deferred") {
		m.config.Exposure = registry.Exposure{
			Deferred: true, Away: []string{"group:fs", "own_*?"}, MaxListed: rapid.IntRange(1, 4).Draw(t, "max"), IdleTurns: 1,
		}
	}
	if rapid.Bool().Draw(t, "has a surface") {
		text := `{"name":"s","tools":[{"name":"Read","tool":"read_file"},{"name":"Peek","tool":"read_file"},{"name":"Run","tool":"shell"}]}`
		m.config.Surface = must(surface.Parse([]byte(text)))
		m.surface = map[string][]string{"read_file": {"Peek", "Read"}, "shell": {"Run"}}
	}
	if parent != nil {
		m.config.Parent = parent.view
	}
	m.view = must(registry.NewView(w.reg, m.config))
	return m
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// sees is the reference: whether a view sees a tool, by the words of the
// documentation.
func (m *modelView) sees(name string) bool {
	there, ok := m.world.tools[name]
	if !ok || there.hidden || !m.rulesAdmit(there.spec) {
		return false
	}
	if m.parent == nil {
		return true
	}
	for up := m.parent; up != nil; up = up.parent {
		if !up.rulesAdmit(there.spec) {
			return false
		}
	}
	return m.parent.sees(name)
}

func (m *modelView) rulesAdmit(s tool.Spec) bool {
	meet := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
	}
	if !m.config.Exposure.Deferred && slices.Contains(s.Tags, registry.TagExposure) ||
		s.Contexts != nil && !slices.Contains(s.Contexts, m.config.Context) ||
		m.config.Tags != nil && !meet(s.Tags, m.config.Tags) {
		return false
	}
	for _, p := range m.config.Policies {
		if !p.Decide(&s).Allowed {
			return false
		}
	}
	return true
}

// check compares every face of a view with the reference.
func (m *modelView) check(t *rapid.T) {
	means := map[string]string{} // every name that may be used -> canonical
	var shownNames []string
	for name, there := range m.world.tools {
		if !m.sees(name) {
			continue
		}
		for _, n := range append([]string{name}, there.spec.Aliases...) {
			means[n] = name
		}
		for _, n := range m.surface[name] {
			means[n] = name
		}
		if forms := m.surface[name]; forms != nil {
			shownNames = append(shownNames, forms...)
		} else {
			shownNames = append(shownNames, name)
		}
	}
	slices.Sort(shownNames)

	for _, name := range append([]string{"Read", "Peek", "Run", "nonsense", ""}, allNames...) {
		got, err := m.view.Resolve(name)
		want, callable := means[name]
		if (err == nil) != callable {
			t.Fatalf("%q may be used: %v; resolving: %v", name, callable, err)
		}
		if err == nil && got.Name != want {
			t.Fatalf("%q means %s, want %s", name, got.Name, want)
		}
	}
	var found []string
	matches, _ := m.view.Search("", 1000)
	for _, match := range matches {
		found = append(found, match.Name)
	}
	if diff := cmp.Diff(shownNames, found); diff != "" {
		t.Fatalf("the search (-want +got):\n%s", diff)
	}
	m.checkList(t, shownNames)
}

func (m *modelView) checkList(t *rapid.T, shownNames []string) {
	listed := shown(m.view)
	away := map[string]bool{}
	for _, g := range m.view.Away() {
		for _, name := range g.Tools {
			away[name] = true
		}
	}
	var missing []string
	for _, name := range shownNames {
		if !slices.Contains(listed, name) {
			missing = append(missing, name)
		}
	}
	// Away names a tool once, the list has each of its forms.
	for _, name := range missing {
		r, err := m.view.Resolve(name)
		if err != nil || !slices.ContainsFunc(append([]string{r.Name}, m.surface[r.Name]...), func(n string) bool { return away[n] }) {
			t.Fatalf("%s is neither listed nor put away", name)
		}
	}
	if !m.config.Exposure.Deferred && len(missing) > 0 {
		t.Fatalf("not listed: %q", missing)
	}
	if len(listed)+len(missing) != len(shownNames) || !slices.IsSorted(listed) {
		t.Fatalf("listed are %q of %q", listed, shownNames)
	}
	if again := m.view.JSON(); string(again) != string(m.view.JSON()) {
		t.Fatal("the list changed by itself")
	}
	if m.config.Exposure.Deferred {
		return // its list depends on what was used
	}
	if fresh := must(registry.NewView(m.world.reg, m.config)); string(fresh.JSON()) != string(m.view.JSON()) {
		t.Fatalf("a new view of the same things lists\n%s\nand not\n%s", fresh.JSON(), m.view.JSON())
	}
}

// Seen = callable, for random tools, policies, tags, contexts, aliases,
// surfaces and exposures, in three generations of sessions, while everything
// changes.
func TestSeenIsCallable(t *testing.T) {
	manyChecks(t)
	rapid.Check(t, func(t *rapid.T) {
		root := &world{registry.New(), map[string]modelTool{}}
		for range rapid.IntRange(0, 6).Draw(t, "tools") {
			root.add(t, drawTool(t))
		}
		grandparent := drawView(t, root, nil)
		parent := drawView(t, root, grandparent)
		own := &world{must(root.reg.Child("")), maps.Clone(root.tools)}
		// The child has its own forms of some tools, and some that only it has.
		for range rapid.IntRange(0, 4).Draw(t, "tools of the child's own") {
			m := drawTool(t)
			if rapid.Bool().Draw(t, "under a name that is taken") && len(own.tools) > 0 {
				m.spec.Name = rapid.SampledFrom(slices.Sorted(maps.Keys(own.tools))).Draw(t, "name")
				m.spec.Aliases = nil
				own.replace(t, m)
			} else {
				own.add(t, m)
			}
		}
		views := []*modelView{grandparent, parent, drawView(t, own, parent)}
		worlds := []*world{root, own}

		t.Repeat(map[string]func(*rapid.T){
			"add":     func(t *rapid.T) { rapid.SampledFrom(worlds).Draw(t, "world").add(t, drawTool(t)) },
			"replace": func(t *rapid.T) { rapid.SampledFrom(worlds).Draw(t, "world").replace(t, drawTool(t)) },
			"remove": func(t *rapid.T) {
				w, name := rapid.SampledFrom(worlds).Draw(t, "world"), rapid.SampledFrom(allNames).Draw(t, "name")
				_, there := w.tools[name]
				if w.reg.Remove(name) != there {
					t.Fatalf("removing %s: it was there: %v", name, there)
				}
				delete(w.tools, name)
			},
			"restrict": func(t *rapid.T) {
				m, p := rapid.SampledFrom(views).Draw(t, "view"), drawPolicy(t)
				m.view.Restrict(p)
				m.config.Policies = append(slices.Clip(m.config.Policies), p)
			},
			"context": func(t *rapid.T) {
				m := rapid.SampledFrom(views).Draw(t, "view")
				m.config.Context = rapid.SampledFrom(allContexts).Draw(t, "context")
				m.view.SetContext(m.config.Context)
			},
			"turn": func(t *rapid.T) { rapid.SampledFrom(views).Draw(t, "view").view.Tick() },
			"touch": func(t *rapid.T) {
				rapid.SampledFrom(views).Draw(t, "view").view.Touch(rapid.SampledFrom(allNames).Draw(t, "name"))
			},
			"": func(t *rapid.T) {
				for _, m := range views {
					m.check(t)
				}
				for _, m := range views[1:] {
					for _, name := range append([]string{"Read", "Peek", "Run"}, allNames...) {
						got, err := m.view.Resolve(name)
						if err != nil {
							continue
						}
						if _, err := m.parent.view.Resolve(got.Name); err != nil {
							t.Fatalf("a child may use %s and its parent may not: %v", got.Name, err)
						}
					}
				}
			},
		})
	})
}

// manyChecks raises the number of random worlds: with the usual hundred, a
// child that ignores its parent's rules for its own form of a tool can pass.
func manyChecks(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() != checks.DefValue {
		return // somebody chose another
	}
	if err := checks.Value.Set("200"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := checks.Value.Set(checks.DefValue); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkSpecsFromCache(b *testing.B) {
	v := view(b, manyTools(b, 60), registry.ViewConfig{})
	v.Specs()
	b.ReportAllocs()
	for b.Loop() {
		if len(v.Specs()) != 60 {
			b.Fatal("tools are missing")
		}
	}
}

func BenchmarkJSONFromCache(b *testing.B) {
	v := view(b, manyTools(b, 60), registry.ViewConfig{})
	b.ReportAllocs()
	for b.Loop() {
		v.JSON()
	}
}

func BenchmarkResolve(b *testing.B) {
	r := manyTools(b, 60)
	parent := view(b, r, registry.ViewConfig{})
	v := view(b, r, registry.ViewConfig{Parent: parent, Exposure: registry.Exposure{Deferred: true}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Resolve("tool_30_alias"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRebuild(b *testing.B) {
	r := manyTools(b, 60)
	v := view(b, r, registry.ViewConfig{Policies: []*policy.Policy{compile(b, r, policy.Config{Deny: []string{"effect:admin", "tag:untrusted"}})}})
	b.ReportAllocs()
	for b.Loop() {
		v.SetContext("x") // anything that makes the view look again
		v.JSON()
	}
}

func BenchmarkSearch(b *testing.B) {
	v := view(b, manyTools(b, 200), registry.ViewConfig{})
	b.ReportAllocs()
	for b.Loop() {
		v.Search("does tool 42", 8)
	}
}

func manyTools(tb testing.TB, n int) *registry.Registry {
	r := registry.New()
	for i := range n {
		name := fmt.Sprintf("tool_%02d", i)
		if err := r.Add(named(name, aliases(name+"_alias"), effects(tool.Read), tags("code")), registry.Options{}); err != nil {
			tb.Fatal(err)
		}
	}
	return r
}
