package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/tool"
)

// Seen is callable, whatever decides about it: the list and the call agree
// for every name of every tool (octos weaknesses G1, G3, G4, G16, G19).
func TestWhatIsSeen(t *testing.T) {
	r := with(t,
		named("plain"),
		named("tagged", tags("code"), aliases("labelled")),
		named("chat_only", contexts("chat"), tags("code")),
		named("nowhere", contexts()),
		named("shell", effects(tool.Exec), aliases("bash"), tags("code")),
		named("exposure_tool", tags(registry.TagExposure)),
	)
	if err := r.Add(named("internal", aliases("inner"), tags("code")), registry.Options{Hidden: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(named("job", effects(tool.Exec), tags("code")), registry.Options{Background: true}); err != nil {
		t.Fatal(err)
	}
	deny := func(entries ...string) []*policy.Policy {
		return []*policy.Policy{compile(t, r, policy.Config{Deny: entries})}
	}
	for _, c := range []struct {
		name   string
		config registry.ViewConfig
		want   string
	}{
		{"everything but what is hidden", registry.ViewConfig{}, "job plain shell tagged"},
		{"a context", registry.ViewConfig{Context: "chat"}, "chat_only job plain shell tagged"},
		{"another context", registry.ViewConfig{Context: "review"}, "job plain shell tagged"},
		{"L32 a tag filter leaves the untagged out", registry.ViewConfig{Tags: []string{"code"}}, "job shell tagged"},
		{"an empty tag filter", registry.ViewConfig{Tags: []string{}}, ""},
		{"a policy on an alias", registry.ViewConfig{Policies: deny("bash")}, "job plain tagged"},
		{"G16 a policy on a background tool", registry.ViewConfig{Policies: deny("job")}, "plain shell tagged"},
		{"several policies", registry.ViewConfig{Policies: append(deny("plain"), deny("labelled")...)}, "job shell"},
		{"a policy that could not be had", registry.ViewConfig{Policies: []*policy.Policy{nil}}, ""},
		{"deferred", registry.ViewConfig{Exposure: registry.Exposure{Deferred: true}}, "exposure_tool job plain shell tagged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := view(t, r, c.config)
			if got := strings.Join(shown(v), " "); got != c.want {
				t.Errorf("seen are %q, want %q", got, c.want)
			}
			listed := map[string]bool{}
			for _, name := range shown(v) {
				listed[name] = true
			}
			for e := range r.Entries() {
				for _, name := range append([]string{e.Spec.Name}, e.Spec.Aliases...) {
					got, err := v.Resolve(name)
					if (err == nil) != listed[e.Spec.Name] {
						t.Errorf("%s: listed %v, resolving: %v", name, listed[e.Spec.Name], err)
					}
					if err == nil && (got.Entry != e || got.Name != e.Spec.Name) {
						t.Errorf("%s means %s", name, got.Name)
					}
				}
			}
			matches, total := v.Search("", 100)
			if total != len(listed) || len(matches) != total {
				t.Errorf("the search finds %d tools, the list has %d", total, len(listed))
			}
		})
	}
}

// A name that is not seen earns the same answer whether or not a tool has
// it, so nothing can be learned about what is hidden.
func TestG3_HiddenIsNotThere(t *testing.T) {
	r := with(t, named("plain"))
	if err := r.Add(named("secret_one", aliases("alias_one")), registry.Options{Hidden: true}); err != nil {
		t.Fatal(err)
	}
	v := view(t, r, registry.ViewConfig{Policies: []*policy.Policy{compile(t, r, policy.Config{Deny: []string{"secret_one"}})}})
	for hidden, absent := range map[string]string{"secret_one": "secret_two", "alias_one": "alias_two"} {
		_, got := v.Resolve(hidden)
		_, want := v.Resolve(absent)
		if got == nil || want == nil || got.Code != tool.CodeUnknownTool || strings.ReplaceAll(got.Text, hidden, absent) != want.Text {
			t.Errorf("the answers differ:\n%v\n%v", got, want)
		}
	}
}

func TestUnknownToolError(t *testing.T) {
	many := registry.New()
	for i := range 60 {
		if err := many.Add(named(fmt.Sprintf("tool_%02d_%s", i, strings.Repeat("x", 40))), registry.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	few := with(t, named("read_file"), named("write_file"), named("shell", aliases("bash")))
	for _, c := range []struct {
		name  string
		r     *registry.Registry
		asked string
		want  []string
	}{
		{"F176 the name that was used, and the list", few, "Write2", []string{`no tool "Write2"`, "read_file, shell, write_file"}},
		{"a near name", few, "readFile", []string{"Did you mean read_file?"}},
		{"a near alias is its tool", few, "bsah", []string{"Did you mean shell?"}},
		{"many tools", many, "zzz", []string{"There are 60 tools"}},
		{"no tools", registry.New(), "x", []string{"No tool can be used here"}},
		{"a huge name", few, strings.Repeat("y", 1<<20), []string{"There is no tool"}},
		{"no name", few, "", []string{`no tool ""`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := view(t, c.r, registry.ViewConfig{}).Resolve(c.asked)
			if err == nil || err.Code != tool.CodeUnknownTool {
				t.Fatalf("error %v", err)
			}
			wantError(t, err, c.want...)
			if len(err.Text) > tool.MaxErrorText {
				t.Errorf("the text has %d bytes", len(err.Text))
			}
		})
	}
}

func TestL30_EveryAliasIsCovered(t *testing.T) {
	r := with(t, named("shell", aliases("bash", "exec_command"), effects(tool.Exec)), named("read_file"))
	for _, entry := range []string{"shell", "bash", "exec_command", "group:runtime", "ba*", "effect:exec"} {
		t.Run(entry, func(t *testing.T) {
			v := view(t, r, registry.ViewConfig{Policies: []*policy.Policy{compile(t, r, policy.Config{Deny: []string{entry}})}})
			for _, name := range []string{"shell", "bash", "exec_command"} {
				_, err := v.Resolve(name)
				if err == nil {
					t.Fatalf("%s can be called", name)
				}
				var denied *registry.DeniedError
				if err.Code != tool.CodeDenied || !errors.As(err, &denied) || denied.Spec.Name != "shell" || denied.Decision.Entry != entry {
					t.Errorf("%s: %s: %v", name, err.Code, err)
				}
				wantError(t, err, fmt.Sprintf("%q", name), fmt.Sprintf("%q", entry))
			}
		})
	}
}

func TestL19_ListIsSortedAndStable(t *testing.T) {
	a := view(t, with(t, named("c"), named("a"), named("b")), registry.ViewConfig{})
	b := view(t, with(t, named("b"), named("c"), named("a")), registry.ViewConfig{})
	if diff := cmp.Diff([]string{"a", "b", "c"}, shown(a)); diff != "" {
		t.Error(diff)
	}
	if string(a.JSON()) != string(b.JSON()) {
		t.Errorf("the same tools give different bytes:\n%s\n%s", a.JSON(), b.JSON())
	}
}

func TestJSONKeepsSchemasAsTheyAre(t *testing.T) {
	schema := `{ "type":"object","properties":{"n":{"const":12345678901234567890,"description":"<a> & b\u00e9"}} }`
	v := view(t, with(t, named("a", input(schema), described("x < y & z\n\"q\""))), registry.ViewConfig{})
	got := string(v.JSON())
	for _, want := range []string{schema, `"description":"x < y & z\n\"q\""`} {
		if !strings.Contains(got, want) {
			t.Errorf("the list lacks %s:\n%s", want, got)
		}
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(got), &list); err != nil || len(list) != 1 {
		t.Errorf("the list is no JSON: %v", err)
	}
	if got := string(view(t, registry.New(), registry.ViewConfig{}).JSON()); strings.Join(strings.Fields(got), "") != "[]" {
		t.Errorf("the empty list is %q", got)
	}
}

// A view sees every change at once: to its registry, its rules, its parent.
func TestL22_ViewsAreLive(t *testing.T) {
	r := with(t, named("a"), named("chat", contexts("chat")))
	parent := view(t, r, registry.ViewConfig{Context: "chat"})
	v := view(t, r, registry.ViewConfig{Context: "chat", Parent: parent})
	calls := 0
	cancel := v.Subscribe(func() { calls++ })
	defer cancel()
	step := func(want string, change func()) {
		t.Helper()
		before := calls
		change()
		if got := strings.Join(shown(v), " "); got != want {
			t.Errorf("seen are %q, want %q", got, want)
		}
		found, _ := v.Search("", 10)
		if len(found) != len(shown(v)) {
			t.Errorf("the search finds %d tools, the list has %d", len(found), len(shown(v)))
		}
		if calls == before {
			t.Error("nobody was told")
		}
	}
	step("a b chat", func() {
		if err := r.Add(named("b"), registry.Options{}); err != nil {
			t.Fatal(err)
		}
	})
	step("b chat", func() { r.Remove("a") })
	step("b chat", func() {
		if err := r.Replace(named("b", described("Another.")), registry.Options{}); err != nil {
			t.Fatal(err)
		}
	})
	if v.Specs()[0].Description != "Another." {
		t.Error("the list has the tool that was replaced")
	}
	step("b", func() { v.SetContext("review") })
	step("b chat", func() { v.SetContext("chat") })
	step("b", func() { parent.SetContext("") })
	step("", func() { parent.Restrict(nil) })
	cancel()
	before := calls
	r.Remove("b")
	parent.SetContext("chat")
	if calls != before {
		t.Error("a call came after cancel")
	}
}

const claudish = `{"name":"claudish","tools":[
  {"name":"Read","tool":"read_file","description":"Reads.",
   "schema":{"type":"object","additionalProperties":false,"required":["file_path"],"properties":{"file_path":{"type":"string"},"offset":{"type":"integer"}}},
   "args":{"file_path":"path","offset":"start_line"}},
  {"name":"Peek","tool":"read_file"},
  {"name":"Gone","tool":"not_registered"}]}`

func TestSurface(t *testing.T) {
	s, err := surface.Parse([]byte(claudish))
	if err != nil {
		t.Fatal(err)
	}
	r := with(t,
		named("read_file", aliases("cat"), effects(tool.Read),
			input(`{"type":"object","additionalProperties":false,"required":["path"],"properties":{"path":{"type":"string"},"start_line":{"type":"integer"}}}`)),
		named("plain"))
	v := view(t, r, registry.ViewConfig{Surface: s})
	if diff := cmp.Diff([]string{"Peek", "Read", "plain"}, shown(v)); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	list := v.Specs()
	if list[1].Description != "Reads." || !strings.Contains(string(list[1].Input), "file_path") {
		t.Errorf("Read is listed as %+v", list[1])
	}
	if list[0].Description != "Does read_file." || !strings.Contains(string(list[0].Input), "start_line") {
		t.Errorf("Peek is listed as %+v", list[0])
	}
	t.Run("each form takes its own arguments", func(t *testing.T) {
		for _, c := range []struct{ name, shown, args, want string }{
			{"Read", "Read", `{"file_path":"x","offset":3}`, `{"path":"x","start_line":3}`},
			{"read_file", "read_file", `{"path":"x","start_line":3}`, `{"path":"x","start_line":3}`},
			{"cat", "read_file", `{"path":"x"}`, `{"path":"x"}`},
			{"Peek", "Peek", `{"path":"x"}`, `{"path":"x"}`},
		} {
			got, err := v.Resolve(c.name)
			if err != nil {
				t.Fatal(err)
			}
			if got.Name != "read_file" || got.Shown != c.shown {
				t.Errorf("%s is %s, shown as %s", c.name, got.Name, got.Shown)
			}
			decoded, decodeErr := got.Decode(json.RawMessage(c.args))
			if decodeErr != nil || string(decoded.Args) != c.want {
				t.Errorf("%s: %s, %v; want %s", c.name, decoded.Args, decodeErr, c.want)
			}
		}
	})
	t.Run("a denied tool is denied under every name", func(t *testing.T) {
		for _, entry := range []string{"read_file", "cat", "Read", "effect:read"} {
			v := view(t, r, registry.ViewConfig{Surface: s, Policies: []*policy.Policy{compile(t, r, policy.Config{Deny: []string{entry}})}})
			for _, name := range []string{"Read", "Peek", "read_file", "cat"} {
				if _, err := v.Resolve(name); err == nil || err.Code != tool.CodeDenied {
					t.Errorf("%s under a policy that denies %s: %v", name, entry, err)
				}
			}
		}
	})
	t.Run("near names are those shown", func(t *testing.T) {
		_, err := v.Resolve("read_fil")
		wantError(t, err, "Did you mean Peek?")
	})
	t.Run("names that clash", func(t *testing.T) {
		_, err := registry.NewView(with(t, named("Read")), registry.ViewConfig{Surface: s})
		wantError(t, err, "using the surface claudish", `a name of the tool "Read"`)
	})
}

// What one session is shown changes nothing for another.
func TestL20_OtherViewsStayTheSame(t *testing.T) {
	s, err := surface.Parse([]byte(claudish))
	if err != nil {
		t.Fatal(err)
	}
	r := with(t, named("read_file"), named("web_fetch"))
	v := view(t, r, registry.ViewConfig{})
	before := string(v.JSON())
	other := view(t, r, registry.ViewConfig{Surface: s, Exposure: registry.Exposure{Deferred: true, Away: []string{"group:web"}}})
	other.Restrict(nil)
	other.Tick()
	if after := string(v.JSON()); after != before {
		t.Errorf("the list became\n%s\nfrom\n%s", after, before)
	}
}

func TestViewFrom(t *testing.T) {
	v := view(t, registry.New(), registry.ViewConfig{})
	if got := registry.ViewFrom(registry.WithView(context.Background(), v)); got != v {
		t.Error("it is another view")
	}
	defer func() {
		if recover() == nil {
			t.Error("a context without a view is taken")
		}
	}()
	registry.ViewFrom(context.Background())
}

// One view from many goroutines, while the registry changes below it.
func TestViewsAreConcurrent(t *testing.T) {
	r := with(t, named("base"))
	parent := view(t, r, registry.ViewConfig{})
	v := view(t, r, registry.ViewConfig{Parent: parent, Exposure: registry.Exposure{Deferred: true, MaxListed: 3, IdleTurns: 1}})
	cancel := v.Subscribe(func() { v.Specs() })
	defer cancel()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("t%d_%d", g, i%5)
				if r.Add(named(name), registry.Options{}) == nil {
					v.Touch(name)
				} else {
					r.Remove(name)
				}
				if _, err := v.Resolve("base"); err != nil {
					t.Error(err)
				}
				v.Tick()
				v.Search(name, 3)
				v.Away()
				if !json.Valid(v.JSON()) {
					t.Error("the list is no JSON")
				}
			}
		})
	}
	wg.Wait()
}
