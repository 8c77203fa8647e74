package handrail_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

// ends notes at which step each call of a family of sessions ended.
type ends struct {
	sync.Mutex
	steps map[string]string
}

func (e *ends) of(id string) string {
	e.Lock()
	defer e.Unlock()
	return e.steps[id]
}

func (e *ends) note(v handrail.Event) {
	e.Lock()
	defer e.Unlock()
	e.steps[v.CallID] = v.Step
}

// builtins are Handrail's own tools with all their names, in the canonical
// spelling and in that of the surface.
func builtins(t *testing.T, surface string) map[string][]string {
	all := map[string][]string{}
	bare := open(t, handrail.Options{Workspace: t.TempDir()})
	for _, spec := range bare.Specs() {
		all[spec.Name] = append([]string{spec.Name}, spec.Aliases...)
	}
	dressed := open(t, handrail.Options{Workspace: t.TempDir(), Surface: surface})
	for _, spec := range dressed.Specs() {
		canonical := dressed.Explain(t.Context(), handrail.Call{Tool: spec.Name}).Tool
		if !slices.Contains(all[canonical], spec.Name) {
			all[canonical] = append(all[canonical], spec.Name)
		}
	}
	return all
}

var (
	ownNames = []string{"alpha", "beta", "gamma", "delta", "shell", "bash", "mcp__x__y", "Bash"}
	ownTags  = []string{"fs", "code", "web", "tier:observe", "tier:full_actuation"}
	contexts = []string{"chat", "review"}
)

func drawSome(t *rapid.T, label string, from []string, most int) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 0, most, rapid.ID[string]).Draw(t, label)
}

func drawFake(t *rapid.T) fake {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(ownNames), 1, 3, rapid.ID[string]).Draw(t, "names")
	f := fake{spec: tool.Spec{
		Name: names[0], Aliases: names[1:], Tags: drawSome(t, "tags", ownTags, 3),
		Effects: tool.Effects(rapid.Uint16Range(0, uint16(tool.AllEffects|tool.Pure)).Draw(t, "effects")),
	}}
	if rapid.IntRange(0, 3).Draw(t, "has contexts") == 0 {
		f.spec.Contexts = drawSome(t, "contexts", contexts, 2)
	}
	return f
}

func drawRules(t *rapid.T, label string) handrail.Policy {
	entry := rapid.SampledFrom([]string{
		"read_file?", "Read?", "write_file?", "recall?", "alpha?", "bash?", "shell?", "mcp__*?", "a*?", "*", "group:fs?", "group:runtime?", "group:search?",
		"tag:code?", "tag:fs?", "effect:exec", "effect:read", "effect:write", "effect:pure", "tier:observe?", "tier:full_actuation?",
	})
	p := handrail.Policy{Deny: rapid.SliceOfN(entry, 0, 3).Draw(t, label+" deny")}
	if rapid.Bool().Draw(t, label+" has an allow list") {
		p.Allow = rapid.SliceOfN(entry, 0, 4).Draw(t, label+" allow")
	}
	if rapid.IntRange(0, 5).Draw(t, label+" requires tags") == 0 {
		p.RequireTags = rapid.SliceOfNDistinct(rapid.SampledFrom(ownTags), 1, 2, rapid.ID[string]).Draw(t, label+" tags")
	}
	return p
}

// world is a session under a property, and the faces to it.
type world struct {
	t       *rapid.T
	session *handrail.Session
	client  *mcp.ClientSession
	tools   map[string][]string // every name that means a tool, by its canonical one
	ends    *ends
}

// check compares, for every name of every tool, what is listed with what
// each face does.
func (w *world) check(label string) {
	listed := map[string]bool{}
	for _, spec := range w.session.Specs() {
		listed[spec.Name] = true
	}
	overMCP := map[string]bool{}
	for spec, err := range w.client.Tools(context.Background(), nil) {
		if err != nil {
			w.t.Fatal(err)
		}
		overMCP[spec.Name] = true
	}
	if fmt.Sprint(listed) != fmt.Sprint(overMCP) {
		w.t.Fatalf("%s: MCP lists %v, the session %v", label, overMCP, listed)
	}
	for canonical, all := range w.tools {
		seen := slices.ContainsFunc(all, func(n string) bool { return listed[n] })
		for _, name := range all {
			for face, refused := range w.refusals(name) {
				if refused == seen {
					w.t.Fatalf("%s: %s (%s) is listed: %v; %s refuses it: %v", label, name, canonical, seen, face, refused)
				}
			}
		}
	}
}

// refusals calls a tool by that name through each face and says whether it
// was refused as one that may not be used.
func (w *world) refusals(name string) map[string]bool {
	call := handrail.Call{ID: "only", Tool: name, Args: json.RawMessage(`{}`)}
	out := map[string]bool{}
	r := w.session.Run(context.Background(), call)[0]
	end := w.ends.of(call.ID)
	out["Run"] = !r.OK && (end == "resolve" || end == "policy")
	e := w.session.Explain(context.Background(), call)
	out["Explain"] = slices.ContainsFunc(e.Steps, func(j handrail.Judgement) bool {
		return j.Verdict == "refused" && (j.Step == "resolve" || j.Step == "policy")
	})
	// Nothing but a policy denies here: the mode is full access.
	code, _ := callMCP(w.client, name, `{}`)
	out["MCP"] = code == string(tool.CodeDenied) || code == string(tool.CodeUnknownTool)
	return out
}

// TestSeenIsCallableByEveryName: whatever policies, tags, contexts, aliases,
// surface and origin a session has, a tool that is listed may be used by
// each of its names, and one that is not by none, through each face alike;
// and a child sees no more than its parent, while the parent changes.
func TestSeenIsCallableByEveryName(t *testing.T) {
	fewerChecks(t, "40") // each opens five sessions and speaks MCP to three
	dir, state := t.TempDir(), t.TempDir()
	own := map[string]map[string][]string{"": builtins(t, ""), "claude": builtins(t, "claude")}
	rapid.Check(t, func(t *rapid.T) {
		surface := rapid.SampledFrom([]string{"", "claude"}).Draw(t, "surface")
		w := &world{t: t, tools: maps.Clone(own[surface]), ends: &ends{steps: map[string]string{}}}
		o := handrail.Options{
			Workspace: dir, StateDir: state, Surface: surface, Policy: drawRules(t, "policy"),
			Context:    rapid.SampledFrom(append([]string{""}, contexts...)).Draw(t, "context"),
			Origin:     tool.Origin{Kind: rapid.SampledFrom(origins).Draw(t, "origin"), Depth: rapid.IntRange(0, 3).Draw(t, "depth")},
			Permission: handrail.Permission{Mode: handrail.FullAccess}, Guard: handrail.GuardOff,
			OnEvent: w.ends.note,
		}
		if rapid.IntRange(0, 3).Draw(t, "has a tag filter") == 0 {
			o.Tags = append([]string{}, drawSome(t, "tag filter", ownTags, 3)...)
		}
		if rapid.Bool().Draw(t, "has a provider policy") {
			o.Model, o.PolicyByProvider = "m-1", map[string]handrail.Policy{"m-1": drawRules(t, "provider")}
		}
		for range rapid.IntRange(0, 3).Draw(t, "tools") {
			if f := drawFake(t); w.takes(f) {
				o.Tools = append(o.Tools, f)
				w.knows(f)
			}
		}
		w.session = open(t, o)
		w.client = dial(t, w.session)
		w.check("parent")

		plain := o
		plain.Origin, plain.OnEvent = tool.Origin{}, nil
		if other := open(t, plain); string(other.SpecsJSON()) != string(w.session.SpecsJSON()) {
			t.Fatalf("the list depends on who asks: %v and %v", names(other), names(w.session))
		}
		w.lineage(t)
	})
}

// fewerChecks lowers the number of random cases, unless somebody chose one.
func fewerChecks(t *testing.T, n string) {
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() != checks.DefValue {
		return
	}
	if err := checks.Value.Set(n); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := checks.Value.Set(checks.DefValue); err != nil {
			t.Error(err)
		}
	})
}

// takes reports whether the names of f are free.
func (w *world) takes(f fake) bool {
	for _, taken := range w.tools {
		if slices.Contains(taken, f.spec.Name) || slices.ContainsFunc(f.spec.Aliases, func(a string) bool { return slices.Contains(taken, a) }) {
			return false
		}
	}
	return true
}

func (w *world) knows(f fake) {
	w.tools[f.spec.Name] = append([]string{f.spec.Name}, f.spec.Aliases...)
}

// lineage opens a child and a grandchild and changes all three at random.
func (w *world) lineage(t *rapid.T) {
	generations := []*world{w}
	for i := range 2 {
		above := generations[i]
		c := child(t, above.session, handrail.ChildOptions{Policy: drawRules(t, fmt.Sprint("child ", i))})
		generations = append(generations, &world{t: t, session: c, client: dial(t, c), tools: maps.Clone(above.tools), ends: w.ends})
	}
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		g := rapid.IntRange(0, 2).Draw(t, "generation")
		k := generations[g]
		switch what := rapid.SampledFrom([]string{"add", "remove", "restrict", "context"}).Draw(t, "change"); what {
		case "add":
			f := drawFake(t)
			if err := k.session.Add(f); (err == nil) != k.takes(f) {
				t.Fatalf("adding %s: names are free: %v, error %v", f.spec.Name, k.takes(f), err)
			} else if err == nil {
				k.knows(f)
			}
		case "remove":
			name := rapid.SampledFrom(append([]string{"read_file", "recall"}, ownNames...)).Draw(t, "name")
			if k.session.Remove(name) {
				delete(k.tools, name)
			}
		case "restrict":
			if err := k.session.Restrict(drawRules(t, "further")); err != nil {
				t.Fatal(err)
			}
		case "context":
			k.session.SetContext(rapid.SampledFrom(contexts).Draw(t, "to"))
		}
		for i, k := range generations[1:] {
			above := names(generations[i].session)
			for _, name := range names(k.session) {
				if !slices.Contains(above, name) {
					t.Fatalf("generation %d lists %s, which is not among its parent's %s", i+1, name, strings.Join(above, " "))
				}
			}
		}
	}
	for i, k := range generations {
		k.check(fmt.Sprint("generation ", i))
	}
}
