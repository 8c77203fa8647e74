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

// However a tool spells a host, a rule that denies it holds; a rule that
// allows it holds only where it is clear what the host is.
func TestSpellingsOfHosts(t *testing.T) {
	const yes, no, unclear = "yes", "no", "unclear"
	for _, c := range []struct{ domain, host, means string }{
		{"evil.com", "evil.com", yes}, {"evil.com", "evil.com:443", yes}, {"evil.com", "EVIL.com.", yes},
		{"evil.com", "Evil.com.:443", yes}, {"EVIL.com.", "a.evil.com:8080", yes}, {"evil.com", "evil.com.example.org", no},
		{"evil.com", "notevil.com", no}, {"evil.com", "evil.com:x", unclear}, {"evil.com", "evil.com..", unclear},
		{"evil.com", "http://evil.com/", unclear}, {"evil.com", "u@evil.com", unclear}, {"evil.com", "", unclear},
		{"evil.com", "evil。com", unclear}, {"evil.com", "evil.com ", unclear}, {"evil.com", "[evil.com]:80", unclear},
		{"evil.com", "evil.com:99999", unclear}, {"evil.com", "a:b:c", unclear}, {"evil.com", "evil.com:", unclear},
		{"::1", "[::1]:80", yes}, {"[::1]", "::1", yes}, {"::1", "[0:0::0001]", yes}, {"::1", "[::1]80", unclear}, {"::1", "[::1", unclear},
		{"fe80::1", "[fe80::1%eth0]:80", yes}, {"127.0.0.1", "127.0.0.1:80", yes}, {"127.0.0.1", "[::ffff:127.0.0.1]", yes},
		{"127.0.0.1", "127.0.0.1.", yes}, {"127.0.0.1", "127.1", unclear}, {"127.0.0.1", "2130706433", unclear}, {"127.0.0.1", "0x7f.0x1", unclear},
		{"127.0.0.1", "127.0.0.2", no},
	} {
		a := Act{Spec: fetch, Effects: tool.Network, Hosts: []string{c.host}}
		rules := []string{"web_fetch(domain:" + c.domain + ")"}
		denied := judged(t, Config{Mode: FullAccess, Deny: rules}, a).Outcome == Deny
		allowed := judged(t, Config{Allow: rules}, a).Outcome == Allow
		if denied != (c.means != no) || allowed != (c.means == yes) {
			t.Errorf("%s and %q: denied %v, allowed %v; want %s", c.domain, c.host, denied, allowed, c.means)
		}
	}
}

// A rule that could never match protects nothing, so it is refused.
func TestPatternsThatMatchNothing(t *testing.T) {
	for _, p := range []string{
		" a", "a ", "a/\t", "a//b", "//a", ".//a", "!a", "!a/b", "/", "./", ".", "a/./b", "a/.", "/..", "/../a", "a/..", "~/a",
		"domain:evil.com:443", "domain:http://evil.com", "domain: evil.com", "domain:evil。com", "domain:[::1]:80", "domain:",
	} {
		if _, err := New(Config{Deny: []string{"read_file(" + p + ")"}}, catalog); err == nil {
			t.Errorf("%q is taken", p)
		}
	}
}

func TestAnchoredPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		match         bool
	}{
		{"/secret", "secret", true}, {"/secret", "secret/a", true}, {"/secret", "x/secret", false}, {"/secret/", "secret/a", true},
		{"secret", "x/secret/a", true}, {"/a/*.go", "a/b.go", true}, {"/**/x", "a/x", true}, {"./secret", "x/secret", true},
	} {
		v := judged(t, Config{Mode: FullAccess, Deny: []string{"read_file(" + c.pattern + ")"}}, act(read, c.path))
		if (v.Outcome == Deny) != c.match {
			t.Errorf("%s and %s: %v", c.pattern, c.path, v)
		}
	}
}

// A read of a folder is a read of everything beneath it.
func TestTrees(t *testing.T) {
	grep := &tool.Spec{Name: "grep", Effects: tool.Read | tool.Write}
	for _, c := range []struct {
		rule, tree               string
		foreign, own, allowWhole bool // denied for a foreign tool, for one that filters; covered by an allow
	}{
		{"secret/**", ".", true, false, false}, {"secret/**", "secret", true, true, true}, {"secret/**", "secret/a", true, true, true},
		{"secret/**", "docs", false, false, false}, {"a/b/c", "a", true, false, false}, {"a/b/c", "a/x", false, false, false},
		{"a/*/c", "a/x", true, false, false}, {"*.env", "docs", true, false, false}, {"/secret", "x/secret", false, false, false},
		{"a/{b,c/d}", "a/c", true, false, false}, {`a/\b`, "a", true, false, false}, {".*", ".", true, false, false}, {"*.*", ".", true, false, false},
		{"**/*", ".", true, true, true}, {"/**", ".", true, true, true}, {"docs", "docs", true, true, true}, {"docs/*.md", "docs", true, false, false},
	} {
		rules := []string{"grep(" + c.rule + ")"}
		for filtered, want := range map[bool]bool{false: c.foreign, true: c.own} {
			a := Act{Spec: grep, Effects: tool.Read, Trees: []string{c.tree}, Filtered: filtered}
			for _, with := range []Config{{Mode: FullAccess, Deny: rules}, {Mode: FullAccess, Ask: rules}} {
				j, err := New(with, append(names{grep}, catalog...))
				if err != nil {
					t.Fatal(err)
				}
				if v := j.Judge(a); (v.Outcome != Allow) != want {
					t.Errorf("%s and %s, filtered %v: %v, want closed %v", c.rule, c.tree, filtered, v, want)
				}
			}
		}
		j, err := New(Config{Allow: rules}, append(names{grep}, catalog...))
		if err != nil {
			t.Fatal(err)
		}
		if v := j.Judge(Act{Spec: grep, Effects: tool.Read, Trees: []string{c.tree}}); (v.Rule == rules[0]) != c.allowWhole {
			t.Errorf("allow %s for %s: %v", c.rule, c.tree, v)
		}
	}
}

// What a tool leaves out of its trees.
func TestClosed(t *testing.T) {
	grep := &tool.Spec{Name: "grep", Effects: tool.Read}
	j, err := New(Config{
		Deny: []string{"grep(denied/**)", "read_file(*.env)", "write_file(written)"}, Ask: []string{"grep(asked/**)", "read_file(viewed)"},
	}, append(names{grep}, catalog...))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tree, path string
		closed     bool
	}{
		{".", "denied", true}, {".", "denied/a/b", true}, {".", "x/.env", true}, {".", "x/a.env", true}, {".", "asked/a", true},
		{"asked", "asked/a", false}, {"asked", "asked/a.env", true}, {".", "written", false}, {".", "viewed", false}, {".", "a", false},
	} {
		closed := j.Closed(Act{Spec: grep, Trees: []string{c.tree}, Filtered: true})
		if closed(c.path) != c.closed {
			t.Errorf("%s in %s: closed %v", c.path, c.tree, !c.closed)
		}
	}
	if v := j.Judge(Act{Spec: grep, Effects: tool.Read, Trees: []string{"x/a.env"}, Filtered: true}); v.Outcome != Deny {
		t.Errorf("a file that may not be read is searched: %v", v)
	}
	if (&Judge{}).Closed(Act{Spec: grep, Filtered: true}) != nil {
		t.Error("the zero judge closes something")
	}
}
