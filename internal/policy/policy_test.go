package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/tool"
)

func TestDecide(t *testing.T) {
	list := func(s ...string) []string { return append([]string{}, s...) }
	for _, c := range []struct {
		name   string
		config policy.Config
		want   []string
	}{
		{"nothing said", policy.Config{}, except()},
		{"L77 an empty allow list allows nothing", policy.Config{Allow: []string{}}, list()},
		{"deny a name", policy.Config{Deny: list("shell")}, except("shell")},
		{"L30 deny an alias", policy.Config{Deny: list("bash")}, except("shell")},
		{"allow an alias", policy.Config{Allow: list("cat")}, list("read_file")},
		{"deny wins over allow", policy.Config{Allow: list("shell", "read_file"), Deny: list("exec_command")}, list("read_file")},
		{"deny a prefix", policy.Config{Deny: list("web_*")}, except("web_fetch")},
		{"a prefix of an alias", policy.Config{Deny: list("exec_*")}, except("shell")},
		{"deny all", policy.Config{Deny: list("*")}, list()},
		{"allow all", policy.Config{Allow: list("*"), Deny: list("mystery")}, except("mystery")},
		{"a namespace", policy.Config{Deny: list("mcp__*")}, except("mcp__github__list_issues")},
		{"deny a group", policy.Config{Deny: list("group:fs")}, except("read_file", "write_file")},
		{"allow a group", policy.Config{Allow: list("group:fs", "group:web")}, list("read_file", "write_file", "web_fetch")},
		{"deny a tag", policy.Config{Deny: list("tag:untrusted")}, except("mcp__github__list_issues")},
		{"allow a tag", policy.Config{Allow: list("tag:code")}, list("read_file", "write_file", "shell")},

		{"deny an effect takes what declares nothing", policy.Config{Deny: list("effect:exec")},
			list("read_file", "write_file", "web_fetch", "update_plan", "mcp__github__list_issues", "look")},
		{"allow an effect leaves what may do more", policy.Config{Allow: list("effect:read")}, list("read_file", "update_plan", "look")},
		{"allowed effects add up", policy.Config{Allow: list("effect:read", "effect:network")},
			list("read_file", "web_fetch", "update_plan", "mcp__github__list_issues", "look")},
		{"allow pure alone", policy.Config{Allow: list("effect:pure")}, list("update_plan")},
		{"deny pure", policy.Config{Deny: list("effect:pure")}, except("update_plan")},

		{"L32 require tags leaves the untagged out", policy.Config{RequireTags: list("web", "untrusted")}, list("web_fetch", "mcp__github__list_issues")},
		{"require tags on top of allow", policy.Config{Allow: list("effect:read"), RequireTags: list("fs")}, list("read_file")},

		{"allow a tier admits those below", policy.Config{Allow: list("tier:safe_motion")}, list("look", "crawl")},
		{"allow the lowest tier", policy.Config{Allow: list("tier:observe")}, list("look")},
		{"allow the highest tier", policy.Config{Allow: list("tier:emergency_override")}, list("look", "crawl", "run", "jump", "both")},
		{"deny a tier closes those above", policy.Config{Deny: list("tier:full_actuation")}, except("run", "jump", "both", "odd")},
		{"deny the lowest tier closes all", policy.Config{Deny: list("tier:observe")}, except("look", "crawl", "run", "jump", "both", "odd")},
		{"octos' spelling of a tier", policy.Config{Allow: list("group:robot:safe_motion")}, list("look", "crawl")},
		{"octos' spelling in a deny list closes every tier", policy.Config{Deny: list("group:robot:safe_motion")},
			except("look", "crawl", "run", "jump", "both", "odd")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, allowed(mustCompile(t, c.config), house)); diff != "" {
				t.Errorf("allowed tools (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecisionNamesWhatDecided(t *testing.T) {
	for _, c := range []struct {
		name   string
		config policy.Config
		tool   string
		want   policy.Decision
		text   string
	}{
		{"nothing had to decide", policy.Config{}, "shell",
			policy.Decision{Allowed: true}, "allowed"},
		{"allow entry", policy.Config{Allow: []string{"read_file", "group:runtime"}}, "shell",
			policy.Decision{Allowed: true, List: "allow", Entry: "group:runtime"}, `allowed by the allow entry "group:runtime"`},
		{"first deny entry in the order of the list", policy.Config{Deny: []string{"tag:code", "bash", "shell"}}, "shell",
			policy.Decision{Reason: policy.ReasonDeny, List: "deny", Entry: "tag:code"}, `denied by the deny entry "tag:code"`},
		{"as it was written", policy.Config{Deny: []string{"bash?"}}, "shell",
			policy.Decision{Reason: policy.ReasonDeny, List: "deny", Entry: "bash?"}, `denied by the deny entry "bash?"`},
		{"not allowed", policy.Config{Allow: []string{"read_file"}}, "shell",
			policy.Decision{Reason: policy.ReasonNotAllowed, List: "allow"}, "denied: no entry of the allow list matches it"},
		{"missing tag", policy.Config{RequireTags: []string{"web", "mcp"}}, "shell",
			policy.Decision{Reason: policy.ReasonMissingTag, List: "require_tags", Entry: "web, mcp"}, "denied: it carries none of the required tags (web, mcp)"},
		{"tier denied", policy.Config{Deny: []string{"tier:safe_motion"}}, "run",
			policy.Decision{Reason: policy.ReasonTier, List: "deny", Entry: "tier:safe_motion"}, `denied by the deny entry "tier:safe_motion"`},
		{"tier too high", policy.Config{Allow: []string{"read_file", "tier:observe"}}, "run",
			policy.Decision{Reason: policy.ReasonTier, List: "allow"}, "denied: its tier is above those in the allow list"},
		{"a tool without a tier is not refused for its tier", policy.Config{Allow: []string{"tier:observe"}}, "shell",
			policy.Decision{Reason: policy.ReasonNotAllowed, List: "allow"}, "denied: no entry of the allow list matches it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustCompile(t, c.config).Decide(house.get(t, c.tool))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
			if got.String() != c.text {
				t.Errorf("it says %q, want %q", got, c.text)
			}
		})
	}
}

func TestNoPolicyAllowsNothing(t *testing.T) {
	var p *policy.Policy
	got := p.Decide(house.get(t, "read_file"))
	if got.Allowed || got.Reason != policy.ReasonNoPolicy {
		t.Errorf("the nil policy decides %+v", got)
	}
	if p.ShellWrites() != policy.ShellWritesDeny {
		t.Errorf("the nil policy says %q about shell writes", p.ShellWrites())
	}
}

// A tool that comes after the policy was compiled is judged like one that
// was there, by every kind of entry.
func TestToolsThatComeLater(t *testing.T) {
	later := &tool.Spec{Name: "mcp__jira__run", Aliases: []string{"jira"}, Effects: tool.Exec, Tags: []string{"mcp", "ticket", "tier:full_actuation"}}
	vocab, err := policy.DefaultVocabulary().With(policy.Group{Name: "jira", Members: []string{"mcp__jira__*"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range []string{
		"mcp__jira__run?", "jira?", "mcp__jira__*?", "mcp__*", "group:jira", "tag:mcp", "tag:ticket?", "effect:exec", "tier:safe_motion", "*",
	} {
		t.Run(entry, func(t *testing.T) {
			p, err := policy.Compile(policy.Config{Deny: []string{entry}}, vocab, house)
			if err != nil {
				t.Fatal(err)
			}
			if d := p.Decide(later); d.Allowed || d.Entry != entry {
				t.Errorf("decision %+v", d)
			}
		})
	}
}

// An entry keeps meaning the tool that it meant when the policy was compiled
// even when the catalog knew the name from elsewhere than the declaration.
func TestEntryResolvesThroughTheCatalog(t *testing.T) {
	p, err := policy.Compile(policy.Config{Deny: []string{"Read"}}, nil, surfaced{house})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Decide(house.get(t, "read_file")); d.Allowed || d.Entry != "Read" {
		t.Errorf("decision %+v", d)
	}
}

// surfaced knows read_file by the name that a surface shows.
type surfaced struct{ catalog }

func (s surfaced) Resolve(name string) (*tool.Spec, bool) {
	if name == "Read" {
		name = "read_file"
	}
	return s.catalog.Resolve(name)
}

func TestLaterTier(t *testing.T) {
	p := mustCompile(t, policy.Config{Allow: []string{"tier:unheard_of?"}})
	if diff := cmp.Diff([]string{"odd"}, allowed(p, house)); diff != "" {
		t.Errorf("a tier that the vocabulary lacks admits itself alone (-want +got):\n%s", diff)
	}
}

func TestReasonsAreStable(t *testing.T) {
	want := []policy.Reason{"policy_deny", "not_allowed", "missing_tag", "tier_gate", "no_policy"}
	if diff := cmp.Diff(want, policy.Reasons()); diff != "" {
		t.Errorf("labels of a metric changed (-want +got):\n%s", diff)
	}
}

func BenchmarkDecide(b *testing.B) {
	p := mustCompile(b, policy.Config{
		Allow: []string{"group:fs", "group:search", "group:runtime", "mcp__*", "effect:read", "tier:observe"},
		Deny:  []string{"web_*", "tag:untrusted", "effect:admin", "write_file"},
	})
	for _, name := range []string{"read_file", "shell", "mystery"} {
		spec := house.get(b, name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(spec)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	c := policy.Config{Allow: []string{"group:fs", "group:search", "mcp__*", "effect:read"}, Deny: []string{"web_*", "tag:untrusted"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := policy.Compile(c, nil, house); err != nil {
			b.Fatal(err)
		}
	}
}
