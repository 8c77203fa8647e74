package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/tool"
)

// names returns the canonical names of all tools, hidden ones too.
func names(r *registry.Registry) []string {
	all := []string{}
	for s := range r.All() {
		all = append(all, s.Name)
	}
	return all
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q:\n%v", part, err)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	r := with(t, named("shell", aliases("bash")))
	for _, c := range []struct {
		name string
		tool tool.Tool
		want []string
	}{
		{"a name twice", named("shell"), []string{`adding the tool "shell" of mcp:x`, `"shell" belongs to the tool "shell"`}},
		{"a name that is an alias", named("bash"), []string{`adding the tool "bash" of mcp:x`, `belongs to the tool "shell"`}},
		{"an alias that is a name", named("other", aliases("shell")), []string{`adding the tool "other"`, `belongs to the tool "shell"`}},
		{"an alias twice", named("other", aliases("bash")), []string{`"bash" belongs to the tool "shell"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantError(t, r.Add(c.tool, registry.Options{Source: "mcp:x"}), c.want...)
			if diff := cmp.Diff([]string{"shell"}, names(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("names in another case are others", func(t *testing.T) {
		if err := r.Add(named("Shell"), registry.Options{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("a removed tool frees its names", func(t *testing.T) {
		if !r.Remove("shell") || r.Remove("shell") {
			t.Error("removing is not reported")
		}
		if err := r.Add(named("bash", aliases("shell")), registry.Options{}); err != nil {
			t.Error(err)
		}
	})
}

func TestAddAllIsOneChange(t *testing.T) {
	r := with(t, named("a"))
	before := r.Version()
	err := r.AddAll([]tool.Tool{named("b"), named("c", aliases("b")), named("a")}, registry.Options{})
	wantError(t, err, `"b" belongs to the tool "b"`, `"a" belongs to the tool "a"`)
	if diff := cmp.Diff([]string{"a"}, names(r)); diff != "" || r.Version() != before {
		t.Errorf("something was added: %s", diff)
	}
	if err := r.AddAll([]tool.Tool{named("b"), named("c")}, registry.Options{}); err != nil {
		t.Fatal(err)
	}
	if r.Version() != before+1 {
		t.Errorf("two tools made %d changes", r.Version()-before)
	}
}

func TestReplaceIsExplicit(t *testing.T) {
	r := with(t, named("a", aliases("x")), named("b"))
	wantError(t, r.Replace(named("new"), registry.Options{}), "there is none of that name")
	wantError(t, r.Replace(named("x"), registry.Options{}), "there is none of that name")
	wantError(t, r.Replace(named("a", aliases("b")), registry.Options{}), `"b" belongs to the tool "b"`)
	if e, ok := r.Entry("x"); !ok || e.Spec.Name != "a" {
		t.Fatal("a replacement that failed changed the registry")
	}
	if err := r.Replace(named("a", described("The other one.")), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	if e, _ := r.Entry("a"); e.Spec.Description != "The other one." {
		t.Errorf("the tool is still %q", e.Spec.Description)
	}
	if _, ok := r.Entry("x"); ok {
		t.Error("the alias of the old tool is left")
	}
}

// All that is known of a tool goes with it: a tool of the same name that
// comes later starts afresh.
func TestL24_NoStateOutlivesATool(t *testing.T) {
	r := registry.New()
	if err := r.Add(named("slow", aliases("old")), registry.Options{Background: true, Hidden: true}); err != nil {
		t.Fatal(err)
	}
	r.Remove("slow")
	if err := r.Add(named("slow"), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	e, _ := r.Entry("slow")
	if diff := cmp.Diff(registry.Options{}, e.Options); diff != "" {
		t.Error(diff)
	}
	if _, ok := r.Entry("old"); ok {
		t.Error("an alias of the removed tool is left")
	}
}

func TestSpecsAreChecked(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, c := range []struct {
		name string
		edit func(*tool.Spec)
		want string
	}{
		{"no name", func(s *tool.Spec) { s.Name = "" }, "the name is not"},
		{"name with a dot", func(s *tool.Spec) { s.Name = "a.b" }, "the name is not"},
		{"name not ASCII", func(s *tool.Spec) { s.Name = "ä" }, "the name is not"},
		{"name of 65 bytes", func(s *tool.Spec) { s.Name = long }, "the name is not"},
		{"no description", func(s *tool.Spec) { s.Description = " \n" }, "no description"},
		{"description too long", func(s *tool.Spec) { s.Description = strings.Repeat("x", registry.MaxDescription+1) }, "at most"},
		{"description not UTF-8", func(s *tool.Spec) { s.Description = "a\xff" }, "UTF-8"},
		{"title too long", func(s *tool.Spec) { s.Title = strings.Repeat("x", registry.MaxTitle+1) }, "the title"},
		{"no schema", func(s *tool.Spec) { s.Input = nil }, "no input schema"},
		{"schema not JSON", input(`{`), "input schema"},
		{"schema a boolean", input(`true`), "input schema"},
		{"schema of a list", input(`{"type":"array"}`), `"type": "object"`},
		{"schema of a choice", input(`{"type":["object","null"]}`), `"type": "object"`},
		{"schema without a type", input(`{"properties":{}}`), `"type": "object"`},
		{"schema too long", input(`{"type":"object","description":"` + strings.Repeat("x", registry.MaxSchema) + `"}`), "at most"},
		{"output schema broken", func(s *tool.Spec) { s.Output = json.RawMessage(`[]`) }, "output schema"},
		{"alias is the name", aliases("t"), "own name"},
		{"alias twice", aliases("x", "x"), "stands twice"},
		{"alias bad", aliases("a b"), "the alias"},
		{"too many aliases", func(s *tool.Spec) { s.Aliases = make([]string, registry.MaxLabels+1) }, "at most"},
		{"tag bad", tags("Upper"), "the tag"},
		{"tag empty", tags(""), "the tag"},
		{"tag twice", tags("a", "a"), "stands twice"},
		{"context bad", contexts("a b"), "the context"},
		{"effects unknown", effects(1 << 15), "mean nothing"},
		{"concurrency unknown", func(s *tool.Spec) { s.Concurrency = 9 }, "concurrency"},
		{"safe and writing", func(s *tool.Spec) { s.Concurrency, s.Effects = tool.Safe, tool.Write }, "exclusive or keyed"},
		{"timeout negative", func(s *tool.Spec) { s.Timeout = -1 }, "the timeout"},
		{"timeout too long", func(s *tool.Spec) { s.Timeout = tool.MaxTimeout + time.Second }, "the timeout"},
		{"deadline while a person thinks", func(s *tool.Spec) { s.WaitsForPerson, s.Timeout = true, time.Second }, "no deadline"},
		{"budget negative", func(s *tool.Spec) { s.OutputBytes = -1 }, "budget"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := registry.New()
			err := r.Add(named("t", c.edit), registry.Options{})
			wantError(t, err, c.want)
			if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			if len(names(r)) != 0 {
				t.Error("the tool was added")
			}
		})
	}
	t.Run("all problems at once", func(t *testing.T) {
		err := registry.New().Add(named("a b", tags("X"), described("")), registry.Options{})
		wantError(t, err, "the name", "the tag", "no description")
	})
	t.Run("as much as can be", func(t *testing.T) {
		if err := registry.New().Add(named(strings.Repeat("x", 64), func(s *tool.Spec) {
			s.Timeout, s.Tags, s.Contexts = tool.MaxTimeout, []string{"a-b_c.d:e"}, []string{}
			s.Output = json.RawMessage(`{"type":"object"}`)
		}), registry.Options{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("no tool", func(t *testing.T) { wantError(t, registry.New().Add(nil, registry.Options{}), "nil") })
}

func TestCheckerIsAsked(t *testing.T) {
	broken := tool.Func("broken", "Has no schema.", tool.Pure, func(context.Context, chan int) (string, error) { return "", nil })
	wantError(t, registry.New().Add(broken, registry.Options{}), "inferring the schema")
}

// A declaration that its owner changes after the fact changes nothing.
func TestSpecIsCopied(t *testing.T) {
	s := tool.Spec{Name: "t", Description: "d", Input: json.RawMessage(`{"type":"object"}`), Aliases: []string{"a"}, Tags: []string{"x"},
		ArgAliases: map[string][]string{}}
	r := with(t, fake{s})
	s.Aliases[0], s.Tags[0], s.Input[2] = "b", "y", 'T'
	e, ok := r.Entry("a")
	if !ok || e.Spec.Tags[0] != "x" || string(e.Spec.Input) != `{"type":"object"}` {
		t.Errorf("the entry is %+v", e)
	}
}

// halves has every optional half of a tool.
type halves struct{ fake }

func (halves) Assess(context.Context, *tool.Call) (tool.Act, error) { return tool.Act{}, nil }
func (halves) Preflight(context.Context, *tool.Call) error          { return nil }
func (halves) Resume(*tool.Call, tool.Cut) string                   { return "" }
func (halves) Key(json.RawMessage) string                           { return "" }

func TestOptionalHalves(t *testing.T) {
	full := halves{named("full").(fake)}
	r := with(t, full, named("plain"))
	e, _ := r.Entry("full")
	if e.Assesser == nil || e.Preflighter == nil || e.Resumer == nil || e.Keyer == nil {
		t.Errorf("a half is missing: %+v", e)
	}
	e, _ = r.Entry("plain")
	if e.Assesser != nil || e.Preflighter != nil || e.Resumer != nil || e.Keyer != nil {
		t.Errorf("there is a half that the tool lacks: %+v", e)
	}
}

func TestPrune(t *testing.T) {
	r := with(t, named("read", effects(tool.Read)), named("shell", effects(tool.Exec), aliases("bash")), named("plan", effects(tool.Pure)))
	p := compile(t, r, policy.Config{Deny: []string{"effect:exec"}})
	removed, err := r.Prune(p)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"shell"}, removed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"plan", "read"}, names(r)); diff != "" {
		t.Error(diff)
	}
	t.Run("tools that come later are pruned too", func(t *testing.T) {
		err := r.Add(named("python", effects(tool.Exec)), registry.Options{})
		var denied *registry.DeniedError
		if !errors.As(err, &denied) || denied.Spec.Name != "python" || denied.Decision.Entry != "effect:exec" {
			t.Errorf("error %v", err)
		}
		wantError(t, r.Replace(named("read"), registry.Options{}), "effect:exec") // declares nothing
	})
	t.Run("in a child too", func(t *testing.T) {
		child, err := r.Child("")
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, child.Add(named("perl", effects(tool.Exec)), registry.Options{}), "effect:exec")
	})
	t.Run("G16 the background is no way round", func(t *testing.T) {
		wantError(t, r.Add(named("job", effects(tool.Exec)), registry.Options{Background: true}), "effect:exec")
	})
	t.Run("no policy leaves nothing", func(t *testing.T) {
		if _, err := r.Prune(nil); err != nil || len(names(r)) != 0 {
			t.Errorf("%v %q", err, names(r))
		}
	})
}

func TestSubscribe(t *testing.T) {
	r := registry.New()
	calls := 0
	cancel := r.Subscribe(func() { calls++ })
	step := func(want int, what string) {
		t.Helper()
		if calls != want {
			t.Errorf("%s: %d calls, want %d", what, calls, want)
		}
	}
	if err := r.Add(named("a"), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	step(1, "adding")
	if r.Add(named("a"), registry.Options{}) == nil {
		t.Fatal("a name was taken twice")
	}
	step(1, "a change that failed")
	r.Remove("none")
	step(1, "removing nothing")
	r.Remove("a")
	step(2, "removing")
	cancel()
	cancel()
	if err := r.Add(named("b"), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	step(2, "after cancel")
}

func TestSurfaceNamesAreReserved(t *testing.T) {
	s, err := surface.Parse([]byte(`{"name":"s","tools":[{"name":"Read","tool":"read_file"},{"name":"Find","tool":"grep"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("against tools that come later", func(t *testing.T) {
		r := with(t, named("read_file"))
		if err := r.UseSurface(s); err != nil {
			t.Fatal(err)
		}
		wantError(t, r.Add(named("Find"), registry.Options{Source: "plugin:x"}), `"Find" of plugin:x`, "the surface s shows grep")
		wantError(t, r.Add(named("other", aliases("Read")), registry.Options{}), "the surface s shows read_file")
		if err := r.Add(named("grep", aliases("Find")), registry.Options{}); err != nil {
			t.Errorf("a tool may have the name under which it is shown: %v", err)
		}
		child, err := r.Child("")
		if err != nil {
			t.Fatal(err)
		}
		child.Remove("grep")
		wantError(t, child.Add(named("Find"), registry.Options{}), "the surface s shows grep")
	})
	t.Run("against tools that are there", func(t *testing.T) {
		r := with(t, named("Read"), named("x", aliases("Find")))
		wantError(t, r.UseSurface(s), `shows read_file as "Read"`, `shows grep as "Find"`)
	})
	t.Run("against another surface", func(t *testing.T) {
		r := registry.New()
		other, err := surface.Parse([]byte(`{"name":"o","tools":[{"name":"Read","tool":"view_image"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.UseSurface(s), r.UseSurface(nil)); err != nil {
			t.Fatal(err)
		}
		wantError(t, r.UseSurface(other), "the surface s shows read_file")
	})
	t.Run("policies may use them", func(t *testing.T) {
		r := with(t, named("read_file"))
		if err := r.UseSurface(s); err != nil {
			t.Fatal(err)
		}
		p := compile(t, r, policy.Config{Deny: []string{"Read"}})
		e, _ := r.Entry("read_file")
		if p.Decide(e.Spec).Allowed {
			t.Error("denying the shown name leaves the tool")
		}
	})
	t.Run("using it again is no change", func(t *testing.T) {
		r := with(t, named("read_file"))
		if err := r.UseSurface(s); err != nil {
			t.Fatal(err)
		}
		before := r.Version()
		if err := r.UseSurface(s); err != nil || r.Version() != before {
			t.Errorf("%v, %d changes", err, r.Version()-before)
		}
	})
}

func TestEntriesAreSorted(t *testing.T) {
	r := with(t, named("c"), named("a", aliases("z")), named("B"))
	if got := names(r); !slices.IsSorted(got) {
		t.Errorf("the order is %q", got)
	}
}
