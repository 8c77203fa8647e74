package permission

import (
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

// judged is the verdict of a configuration on an act.
func judged(t *testing.T, c Config, a Act) Verdict {
	t.Helper()
	j, err := New(c, catalog)
	if err != nil {
		t.Fatal(err)
	}
	return j.Judge(a)
}

// An allow rule with a pattern says nothing about effects that its pattern is
// not about.
func TestAllowGrantsOnlyItsEffects(t *testing.T) {
	all := &tool.Spec{Name: "web_fetch", Effects: tool.AllEffects}
	for _, c := range []struct {
		name string
		rule string
		mode Mode
		act  Act
		want Outcome
	}{
		{"a path does not cover the network", "write_file(docs/**)", "",
			Act{Spec: write, Effects: tool.Write | tool.Network, Writes: []string{"docs/a"}}, Ask},
		{"a path does not cover hosts", "write_file(docs/**)", "",
			Act{Spec: write, Effects: tool.Write | tool.Network, Writes: []string{"docs/a"}, Hosts: []string{"evil.com"}}, Ask},
		{"a path does not cover running", "write_file(docs/**)", "",
			Act{Spec: write, Effects: tool.Write | tool.Exec, Writes: []string{"docs/a"}}, Ask},
		{"a read path does not cover unnamed writes", "write_file(docs/**)", "",
			Act{Spec: write, Effects: tool.Read | tool.Write, Reads: []string{"docs/a"}}, Ask},
		{"a path covers its writes", "write_file(docs/**)", "",
			Act{Spec: write, Effects: tool.Read | tool.Write, Writes: []string{"docs/a"}}, Allow},
		{"undeclared effects are all effects", "write_file(docs/**)", "",
			Act{Spec: write, Writes: []string{"docs/a"}}, Ask},
		{"a host does not cover a write", "web_fetch(domain:example.com)", "",
			Act{Spec: all, Effects: tool.Network | tool.Write, Hosts: []string{"example.com"}, Writes: []string{"a"}}, Ask},
		{"a host does not cover an unnamed write", "web_fetch(domain:example.com)", "",
			Act{Spec: all, Effects: tool.Network | tool.Write, Hosts: []string{"example.com"}}, Ask},
		{"a host beside what the mode covers", "web_fetch(domain:example.com)", WorkspaceWrite,
			Act{Spec: all, Effects: tool.Network | tool.Write, Hosts: []string{"example.com"}, Writes: []string{"a"}}, Allow},
		{"no host, no grant", "web_fetch(domain:example.com)", "", Act{Spec: all, Effects: tool.Network}, Ask},
		{"one host of two", "web_fetch(domain:example.com)", "",
			Act{Spec: all, Effects: tool.Network, Hosts: []string{"example.com", "evil.com"}}, Ask},
		{"the bare name covers all", "web_fetch", "", Act{Spec: all, Effects: tool.AllEffects, Command: "x"}, Allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v := judged(t, Config{Mode: c.mode, Allow: []string{c.rule}}, c.act); v.Outcome != c.want {
				t.Errorf("%v by %q, want %v", v.Outcome, v.Rule, c.want)
			}
		})
	}
}

// A path that nobody can resolve may lie anywhere.
func TestUnresolvedIsAsked(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		act    Act
		want   Outcome
	}{
		{"read", Config{}, Act{Spec: read, Effects: tool.Read}, Ask},
		{"write", Config{Mode: WorkspaceWrite}, Act{Spec: write, Effects: tool.Write}, Ask},
		{"nobody is asked", Config{Mode: WorkspaceWrite, Approval: Never}, Act{Spec: write, Effects: tool.Write}, Deny},
		{"a path rule", Config{Allow: []string{"read_file(a/**)"}}, Act{Spec: read, Effects: tool.Read, Reads: []string{"a/b"}}, Ask},
		{"full access", Config{Mode: FullAccess}, Act{Spec: write, Effects: tool.Write}, Allow},
		{"the bare name", Config{Allow: []string{"read_file"}}, Act{Spec: read, Effects: tool.Read}, Allow},
		{"no file is touched", Config{}, Act{Spec: plan, Effects: tool.Pure}, Allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.act.Unresolved = "/etc/passwd"
			if v := judged(t, c.config, c.act); v.Outcome != c.want {
				t.Errorf("%v by %q, want %v", v.Outcome, v.Rule, c.want)
			}
		})
	}
}
