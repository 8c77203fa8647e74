package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

// deferred returns a view with a deferred exposure over tools of three
// groups, a tool of none, and one that runs in the background.
func deferred(t *testing.T, x registry.Exposure) (*registry.Registry, *registry.View) {
	t.Helper()
	r := with(t,
		named("read_file"), named("write_file"), named("grep"), named("glob"), named("web_search"), named("web_fetch"), named("own"),
		named("tool_search", tags(registry.TagDiscovery)), named("activate_tools", tags(registry.TagDiscovery, registry.TagExposure)))
	if err := r.Add(named("job"), registry.Options{Background: true}); err != nil {
		t.Fatal(err)
	}
	x.Deferred = true
	return r, view(t, r, registry.ViewConfig{Exposure: x})
}

func wantShown(t *testing.T, v *registry.View, want string) {
	t.Helper()
	if got := strings.Join(shown(v), " "); got != want {
		t.Errorf("listed are %q, want %q", got, want)
	}
}

const everyTool = "activate_tools glob grep job own read_file tool_search web_fetch web_search write_file"

func ticks(v *registry.View, n int) {
	for range n {
		v.Tick()
	}
}

func TestExposureAll(t *testing.T) {
	r := registry.New()
	for i := range 40 {
		if err := r.Add(named(fmt.Sprintf("t%02d", i)), registry.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	v := view(t, r, registry.ViewConfig{})
	ticks(v, 100)
	v.Touch("t01")
	if n := len(v.Specs()); n != 40 {
		t.Errorf("L21: %d of 40 tools are listed", n)
	}
	if v.Away() != nil {
		t.Errorf("put away are %v", v.Away())
	}
	if _, err := v.Activate([]string{"t01"}, ""); err == nil || err.Code != tool.CodeInvalidInput {
		t.Errorf("error %v", err)
	}
}

func TestGroupsAwayFromTheStart(t *testing.T) {
	r, v := deferred(t, registry.Exposure{Away: []string{"group:web", "own"}})
	wantShown(t, v, "activate_tools glob grep job read_file tool_search write_file")
	if diff := cmp.Diff([]registry.AwayGroup{
		{Group: "group:web", Tools: []string{"web_fetch", "web_search"}},
		{Group: "own", Tools: []string{"own"}},
	}, v.Away()); diff != "" {
		t.Errorf("put away (-want +got):\n%s", diff)
	}
	t.Run("a put-away tool can be called and found", func(t *testing.T) {
		if _, err := v.Resolve("web_fetch"); err != nil {
			t.Error(err)
		}
		found, _ := v.Search("web_fetch", 1)
		if len(found) != 1 || !found[0].Away {
			t.Errorf("found %+v", found)
		}
		wantShown(t, v, "activate_tools glob grep job read_file tool_search write_file")
	})
	t.Run("it comes back with its group when it is used", func(t *testing.T) {
		calls := 0
		defer v.Subscribe(func() { calls++ })()
		v.Touch("web_fetch")
		wantShown(t, v, "activate_tools glob grep job read_file tool_search web_fetch web_search write_file")
		if calls != 1 {
			t.Errorf("%d calls to those who listen", calls)
		}
	})
	t.Run("what comes later into a group that is back is listed", func(t *testing.T) {
		for _, name := range []string{"browser"} {
			if err := r.Add(named(name), registry.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		wantShown(t, v, "activate_tools browser glob grep job read_file tool_search web_fetch web_search write_file")
	})
}

func TestLateToolsOfAPutAwayGroup(t *testing.T) {
	r, v := deferred(t, registry.Exposure{Away: []string{"mcp__x__*?"}})
	wantShown(t, v, everyTool)
	for _, name := range []string{"mcp__x__a", "mcp__x__b", "mcp__y__c"} {
		if err := r.Add(named(name), registry.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(shown(v), " "); strings.Contains(got, "mcp__x__") || !strings.Contains(got, "mcp__y__c") {
		t.Errorf("listed are %q", got)
	}
	v.Touch("mcp__x__b")
	if got := strings.Join(shown(v), " "); !strings.Contains(got, "mcp__x__a mcp__x__b") {
		t.Errorf("listed are %q", got)
	}
}

func TestIdleToolsArePutAway(t *testing.T) {
	_, v := deferred(t, registry.Exposure{Pinned: []string{"own"}, MaxListed: 7, IdleTurns: 3})
	step := func(turns int, want string) {
		t.Helper()
		ticks(v, turns)
		wantShown(t, v, want)
	}
	step(2, everyTool)
	v.Touch("glob")
	v.Touch("web_search")
	// Three more than seven are listed. Those that were never used go, by
	// name: not the pinned own, the background job or what finds tools.
	step(1, "activate_tools glob job own tool_search web_search write_file")
	step(5, "activate_tools glob job own tool_search web_search write_file")
	// One that is used comes back with its group, and the least recently
	// used makes room: write_file, then the search tools that came back.
	v.Touch("grep")
	step(0, "activate_tools glob grep job own tool_search web_search write_file")
	step(1, "activate_tools glob grep job own tool_search web_search")
	v.Touch("read_file")
	step(0, "activate_tools glob grep job own read_file tool_search web_search write_file")
	step(3, "activate_tools grep job own read_file tool_search write_file")
}

func TestNothingGoesBeforeItsTime(t *testing.T) {
	_, v := deferred(t, registry.Exposure{MaxListed: 1})
	ticks(v, registry.DefaultIdleTurns-1)
	wantShown(t, v, everyTool)
	ticks(v, 1)
	wantShown(t, v, "activate_tools job tool_search")
}

func TestDefaultMaximum(t *testing.T) {
	r := registry.New()
	for i := range 20 {
		if err := r.Add(named(fmt.Sprintf("t%02d", i)), registry.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	v := view(t, r, registry.ViewConfig{Exposure: registry.Exposure{Deferred: true}})
	ticks(v, registry.DefaultIdleTurns)
	if n := len(v.Specs()); n != registry.DefaultMaxListed {
		t.Errorf("%d tools are listed", n)
	}
}

func TestActivate(t *testing.T) {
	for _, c := range []struct {
		name   string
		tools  []string
		group  string
		want   registry.Activation
		errors []string
	}{
		{name: "a tool brings its group", tools: []string{"web_fetch"},
			want: registry.Activation{Activated: []string{"web_fetch", "web_search"}, Already: []string{}}},
		{name: "a group", group: "group:web",
			want: registry.Activation{Activated: []string{"web_fetch", "web_search"}, Already: []string{}}},
		{name: "a group without its prefix", group: "web",
			want: registry.Activation{Activated: []string{"web_fetch", "web_search"}, Already: []string{}}},
		{name: "a tool of no group", group: "own", want: registry.Activation{Activated: []string{"own"}, Already: []string{}}},
		{name: "listed all along", tools: []string{"grep"}, want: registry.Activation{Activated: []string{}, Already: []string{"grep"}}},
		{name: "both", tools: []string{"grep", "own", "web_fetch", "web_search"}, group: "search",
			want: registry.Activation{Activated: []string{"own", "web_fetch", "web_search"}, Already: []string{"glob", "grep"}}},
		{name: "unknown", tools: []string{"web_fech", "own"}, group: "wbe",
			errors: []string{`no tool "web_fech"`, "web_fetch", `no group "wbe"`, "mean web?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, v := deferred(t, registry.Exposure{Away: []string{"group:web", "own"}})
			before := string(v.JSON())
			got, err := v.Activate(c.tools, c.group)
			if c.errors != nil {
				if err == nil {
					t.Fatal("there is no error")
				}
				wantError(t, err, c.errors...)
				if string(v.JSON()) != before {
					t.Error("the list changed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("activation (-want +got):\n%s", diff)
			}
		})
	}
}

// Putting away is a session's own affair and never a protection.
func TestExposureIsPerSession(t *testing.T) {
	r, v := deferred(t, registry.Exposure{Away: []string{"group:web"}})
	other := view(t, r, registry.ViewConfig{Exposure: registry.Exposure{Deferred: true}})
	v.Touch("web_fetch")
	ticks(v, 3)
	wantShown(t, other, everyTool)
}

func TestExposureDoesNotUncoverWhatIsDenied(t *testing.T) {
	r, _ := deferred(t, registry.Exposure{})
	v := view(t, r, registry.ViewConfig{
		Policies: []*policy.Policy{compile(t, r, policy.Config{Deny: []string{"web_fetch"}})},
		Exposure: registry.Exposure{Deferred: true, Away: []string{"group:web"}},
	})
	if _, err := v.Activate(nil, "web"); err != nil {
		t.Fatal(err)
	}
	wantShown(t, v, strings.Replace(everyTool, "web_fetch ", "", 1))
	if _, err := v.Activate([]string{"web_fetch"}, ""); err == nil {
		t.Error("a denied tool was activated")
	}
	v.Touch("web_fetch")
	wantShown(t, v, strings.Replace(everyTool, "web_fetch ", "", 1))
}

func TestExposureErrors(t *testing.T) {
	r := with(t, named("read_file"))
	for _, c := range []struct {
		x    registry.Exposure
		want string
	}{
		{registry.Exposure{Deferred: true, Pinned: []string{"reed_file"}}, `pinned entry 1, "reed_file"`},
		{registry.Exposure{Deferred: true, Away: []string{"group:wbe"}}, `did you mean "group:web"?`},
		{registry.Exposure{Deferred: true, MaxListed: -1}, "negative"},
		{registry.Exposure{Deferred: true, IdleTurns: -1}, "negative"},
	} {
		_, err := registry.NewView(r, registry.ViewConfig{Exposure: c.x})
		wantError(t, err, c.want)
	}
}

// A tool that comes anew under an old name starts afresh (L24).
func TestExposureForgetsRemovedTools(t *testing.T) {
	r, v := deferred(t, registry.Exposure{Away: []string{"own"}})
	v.Touch("own")
	wantShown(t, v, everyTool)
	r.Remove("own")
	v.Tick()
	if err := r.Add(named("own"), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	wantShown(t, v, strings.Replace(everyTool, "own ", "", 1))
}

// A tool that is replaced keeps its place and gets its new group.
func TestExposureFollowsAReplacement(t *testing.T) {
	r, v := deferred(t, registry.Exposure{Away: []string{"tag:heavy?"}, MaxListed: 9, IdleTurns: 2})
	wantShown(t, v, everyTool)
	if err := r.Replace(named("grep", tags("heavy")), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	wantShown(t, v, everyTool)
	v.Tick()
	v.Touch("glob")
	v.Tick()
	wantShown(t, v, strings.Replace(everyTool, "grep ", "", 1))
	if diff := cmp.Diff([]registry.AwayGroup{{Group: "tag:heavy", Tools: []string{"grep"}}}, v.Away()); diff != "" {
		t.Error(diff)
	}
}
