package permission

import (
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

type names []*tool.Spec

func (n names) Resolve(name string) (*tool.Spec, bool) {
	i := slices.IndexFunc(n, func(s *tool.Spec) bool { return s.Name == name || slices.Contains(s.Aliases, name) })
	if i < 0 {
		return nil, false
	}
	return n[i], true
}

func (n names) Names() (all []string) {
	for _, s := range n {
		all = append(all, s.Name)
	}
	return all
}

var (
	read    = &tool.Spec{Name: "read_file", Aliases: []string{"view"}, Effects: tool.Read}
	write   = &tool.Spec{Name: "write_file", Effects: tool.Read | tool.Write}
	shell   = &tool.Spec{Name: "shell", Aliases: []string{"bash"}, Effects: tool.Read | tool.Write | tool.Exec}
	fetch   = &tool.Spec{Name: "web_fetch", Effects: tool.Network}
	plan    = &tool.Spec{Name: "update_plan", Effects: tool.Pure}
	mystery = &tool.Spec{Name: "mystery"}
	catalog = names{read, write, shell, fetch, plan, mystery}
)

func act(s *tool.Spec, paths ...string) Act {
	a := Act{Spec: s, Effects: s.Effects}
	if s.Effects.Has(tool.Write) && s.Effects != 0 {
		a.Writes = paths
	} else {
		a.Reads = paths
	}
	return a
}

func TestModesAndApprovals(t *testing.T) {
	for _, c := range []struct {
		mode     Mode
		approval Approval
		act      Act
		want     Outcome
	}{
		{"", "", act(read, "a"), Allow},
		{"", "", act(plan), Allow},
		{"", "", act(write, "a"), Ask},
		{"", Never, act(write, "a"), Deny},
		{WorkspaceWrite, "", act(write, "a"), Allow},
		{WorkspaceWrite, "", act(shell), Ask},
		{WorkspaceWrite, "", act(fetch), Ask},
		{WorkspaceWrite, "", act(mystery), Ask},
		{WorkspaceWrite, Never, act(mystery), Deny},
		{FullAccess, "", act(mystery), Allow},
		{FullAccess, Untrusted, act(read, "a"), Allow},
		{FullAccess, Untrusted, act(write, "a"), Ask},
		{FullAccess, Always, act(plan), Ask},
	} {
		j, err := New(Config{Mode: c.mode, Approval: c.approval}, catalog)
		if err != nil {
			t.Fatal(err)
		}
		if got := j.Judge(c.act); got.Outcome != c.want || got.Rule == "" || got.Reason == "" {
			t.Errorf("%q %q %s: %v (%s), want %v", c.mode, c.approval, c.act.Spec.Name, got.Outcome, got.Rule, c.want)
		}
	}
}

func TestRules(t *testing.T) {
	protected := act(write, ".git/hooks/x")
	protected.Protected, protected.ProtectedBy = ".git/hooks/x", "it lies in .git"
	unresolved := act(read, "a")
	unresolved.Unresolved = "a"
	toHost := func(h ...string) Act { return Act{Spec: fetch, Effects: fetch.Effects, Hosts: h} }
	for _, c := range []struct {
		name   string
		config Config
		act    Act
		want   Outcome
		rule   string
	}{
		{"deny beats allow", Config{Allow: []string{"write_file"}, Deny: []string{"write_file"}, Mode: FullAccess}, act(write, "a"), Deny, "write_file"},
		{"deny by alias covers the tool", Config{Deny: []string{"bash"}, Mode: FullAccess}, act(shell), Deny, "bash"},
		{"deny by prefix of an alias", Config{Deny: []string{"ba*"}, Mode: FullAccess}, act(shell), Deny, "ba*"},
		{"ask beats allow", Config{Allow: []string{"write_file"}, Ask: []string{"write_file"}}, act(write, "a"), Ask, "write_file"},
		{"allow widens the mode", Config{Allow: []string{"write_file"}}, act(write, "a"), Allow, "write_file"},
		{"protected beats allow", Config{Allow: []string{"write_file"}, Mode: FullAccess}, protected, Deny, "protected path"},
		{"path deny, one of two", Config{Deny: []string{"write_file(*.env)"}, Mode: FullAccess}, act(write, "ok", "x/.env"), Deny, "write_file(*.env)"},
		{"path deny, directory", Config{Deny: []string{"read_file(secrets/)"}}, act(read, "a/secrets/b"), Deny, "read_file(secrets/)"},
		{"F091 path deny in another case", Config{Deny: []string{"read_file(secrets/)"}}, act(read, "a/Secrets/b"), Deny, "read_file(secrets/)"},
		{"F091 path allow as it is written", Config{Allow: []string{"write_file(docs/**)"}}, act(write, "Docs/a"), Ask, "mode read-only"},
		{"path deny, other", Config{Deny: []string{"read_file(secrets/)"}}, act(read, "a/secretsx"), Allow, "mode read-only"},
		{"path deny, unresolved", Config{Deny: []string{"read_file(secrets/)"}}, unresolved, Deny, "read_file(secrets/)"},
		{"path allow must cover all", Config{Allow: []string{"write_file(docs/**)"}}, act(write, "docs/a", "b"), Ask, "mode read-only"},
		{"path allow, two rules together", Config{Allow: []string{"write_file(docs/**)", "write_file(b)"}}, act(write, "docs/a", "b"), Allow, "write_file(b)"},
		{"domain allow", Config{Allow: []string{"web_fetch(domain:example.com)"}}, toHost("api.Example.com."), Allow, "web_fetch(domain:example.com)"},
		{"domain lookalike", Config{Allow: []string{"web_fetch(domain:example.com)"}}, toHost("badexample.com"), Ask, "mode read-only"},
		{"domain deny, host unknown", Config{Deny: []string{"web_fetch(domain:example.com)"}, Mode: FullAccess}, toHost(), Deny, "web_fetch(domain:example.com)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, err := New(c.config, catalog)
			if err != nil {
				t.Fatal(err)
			}
			if got := j.Judge(c.act); got.Outcome != c.want || got.Rule != c.rule {
				t.Errorf("got %v by %q, want %v by %q", got.Outcome, got.Rule, c.want, c.rule)
			}
		})
	}
}

func TestMistakesAreReportedAtOnce(t *testing.T) {
	_, err := New(Config{
		Mode: "workspace-wirte", Approval: "sometimes",
		Allow: []string{"raed_file", "shell(git *; ls)", "read_file(", "*", "mystery(x)"},
		Deny:  []string{"read_file(~/.ssh)", "read_file(../x)", "web_fetch(domain:*.com)", "read_file()", "read_file([)"},
	}, catalog)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`did you mean "workspace-write"?`, `unknown approval "sometimes"`, `did you mean "read_file"?`,
		"more than one simple command", "a pattern needs one tool", "closing", "wildcard", "relative to the workspace", "bare host name", "empty pattern",
		"not a valid path pattern",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
}

func TestZeroJudgeRefusesToWrite(t *testing.T) {
	var j Judge
	if v := j.Judge(act(write, "a")); v.Outcome == Allow {
		t.Errorf("the zero judge allows a write: %+v", v)
	}
}

func TestGrantsAreBoundToTheAct(t *testing.T) {
	var g Grants
	a := Digest("shell", []byte(`{"command":"ls"}`))
	if _, ok := g.Add(a, Grant{}); !ok {
		t.Fatal("not taken")
	}
	for _, other := range []string{
		Digest("shell", []byte(`{"command":"ls "}`)), Digest("shell2", []byte(`{"command":"ls"}`)), Digest("shell\x00", []byte(`{"command":"ls"}`)), "",
	} {
		if _, ok := g.Find(other); ok {
			t.Errorf("the grant covers %q", other)
		}
	}
	if _, ok := g.Find(a); !ok {
		t.Error("the grant does not cover its own act")
	}
}

func TestNarrow(t *testing.T) {
	for _, c := range []struct{ have, want, got Mode }{
		{"", "", ReadOnly}, {"", FullAccess, ReadOnly}, {WorkspaceWrite, "", WorkspaceWrite}, {WorkspaceWrite, ReadOnly, ReadOnly},
		{WorkspaceWrite, FullAccess, WorkspaceWrite}, {FullAccess, WorkspaceWrite, WorkspaceWrite},
	} {
		j, err := New(Config{Mode: c.have, Deny: []string{"bash"}}, catalog)
		if err != nil {
			t.Fatal(err)
		}
		own, err := j.Narrow(c.want)
		if err != nil || own.Mode() != c.got {
			t.Errorf("%q narrowed by %q is %q, %v", c.have, c.want, own.Mode(), err)
		}
		if v := own.Judge(act(shell)); v.Outcome != Deny {
			t.Error("a rule was lost")
		}
		if _, err := j.Narrow("read_only"); err == nil || !strings.Contains(err.Error(), `"read-only"`) {
			t.Errorf("a misspelt mode: %v", err)
		}
	}
}
