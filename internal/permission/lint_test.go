package permission_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// kit is a session's tools, for rules to be about.
type kit map[string]*tool.Spec

func (k kit) Resolve(name string) (*tool.Spec, bool) { s, ok := k[name]; return s, ok }

func (k kit) Names() (names []string) {
	for name := range k {
		names = append(names, name)
	}
	return names
}

func newKit() kit {
	k := kit{}
	for name, effects := range map[string]tool.Effects{
		"read_file": tool.Read, "grep": tool.Read, "write_file": tool.Read | tool.Write, "edit_file": tool.Read | tool.Write,
		"shell": tool.AllEffects, "exec_command": tool.AllEffects, "web_fetch": tool.Network, "sleep": tool.Pure, "mcp__a__b": tool.AllEffects,
	} {
		k[name] = &tool.Spec{Name: name, Effects: effects}
	}
	return k
}

func nothingHidden(string) string { return "" }

// TestLint has a finding, or none, for one list of rules each: "deny X", "ask
// Y", "allow Z", and what is to be found about one of them.
func TestLint(t *testing.T) {
	for _, c := range []struct {
		name, rules string
		rule        string // what is found is about this one
		kind        permission.FindingKind
		text        string
	}{
		{"good rules", "deny shell(git push:*); deny read_file(.env); ask shell(npm publish:*); allow shell(git status:*); allow shell(npm run test)", "", "", ""},
		{"a tool that is not there yet", "deny web_search*", "web_search*", permission.Advice, "no tool whose name begins"},
		{"an allow for a tool that is not there", "allow web_search*", "web_search*", permission.Dead, "never decides"},
		{"hosts of a tool that reaches none", "allow read_file(domain:example.org)", "read_file(domain:example.org)", permission.Dead, "reaches no host"},
		{"files of a tool that touches none", "deny sleep(x)", "sleep(x)", permission.Dead, "touches no file"},
		{"allow under deny", "deny shell(git *); allow shell(git status)", "shell(git status)", permission.Shadowed, `deny rule "shell(git *)"`},
		{"allow under deny of another spelling", "deny shell(git:*); allow exec_command(/usr/bin/git status)", "exec_command(/usr/bin/git status)", permission.Shadowed, ""},
		{"allow under ask", "ask shell(git push:*); allow shell(git push origin)", "shell(git push origin)", permission.Shadowed, "a person is asked"},
		{"ask under deny", "deny write_file(docs/**); ask edit_file(docs/a/*.md)", "edit_file(docs/a/*.md)", permission.Shadowed, ""},
		{"allow of a file under deny of its folder", "deny edit_file(/migrations); allow edit_file(/migrations/x.sql)", "edit_file(/migrations/x.sql)", permission.Shadowed, ""},
		{"allow beside deny", "deny edit_file(/migrations/x.sql); allow edit_file(/migrations)", "", "", ""},
		{"hosts under hosts", "deny web_fetch(domain:example.org); allow web_fetch(domain:api.example.org)", "web_fetch(domain:api.example.org)", permission.Shadowed, ""},
		{"twice", "deny grep(x); deny grep(x)", "grep(x)", permission.Redundant, "twice"},
		{"the same in two spellings", "deny shell(git:*); deny shell(git *)", "shell(git *)", permission.Redundant, `"shell(git:*)"`},
		{"narrower after broader", "allow edit_file(src/**); allow edit_file(src/a.go)", "edit_file(src/a.go)", permission.Redundant, ""},
		{"narrower before broader", "allow edit_file(src/a.go); allow edit_file(src/**)", "edit_file(src/a.go)", permission.Redundant, ""},
		{"every command", "allow shell", "shell", permission.Wide, "every command"},
		{"every command by a star", "allow shell(:*)", "shell(:*)", permission.Wide, "every command"},
		{"a shell", "allow shell(bash *)", "shell(bash *)", permission.Wide, "`bash x.sh`, which runs whatever is in the file"},
		{"an interpreter", "allow shell(python3:*)", "shell(python3:*)", permission.Wide, "runs any program"},
		{"find deletes", "allow shell(find *)", "shell(find *)", permission.Wide, "-delete"},
		{"git overwrites", "allow shell(git *)", "shell(git *)", permission.Wide, "--force"},
		{"what the rule says itself", "allow shell(git push --force:*)", "", "", ""},
		{"one script of npm", "allow shell(npm run lint:*)", "", "", ""},
		{"a wrapper", "allow shell(sudo *)", "shell(sudo *)", permission.Dead, "allows nothing by itself"},
		{"a host by its spelling", "deny shell(curl http://evil.example:*)", "shell(curl http://evil.example:*)", permission.Slips, "domain:HOST"},
		{"F082 a file by its spelling", "deny shell(cat .env)", "shell(cat .env)", permission.Slips, "read_file(.env)"},
		{"a whole server", "deny mcp__a__*; allow mcp__a__b", "mcp__a__b", permission.Shadowed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := permission.Lint(listed(c.rules), newKit(), nothingHidden)
			if err != nil {
				t.Fatal(err)
			}
			if c.rule == "" {
				if len(found) > 0 {
					t.Errorf("found %+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Rule != c.rule || found[0].Kind != c.kind || !strings.Contains(found[0].Text, c.text) {
				t.Errorf("found %+v, want %s about %s with %q", found, c.kind, c.rule, c.text)
			}
		})
	}
}

func listed(text string) (c permission.Config) {
	for _, one := range strings.Split(text, "; ") {
		list, rule, _ := strings.Cut(one, " ")
		switch list {
		case "deny":
			c.Deny = append(c.Deny, rule)
		case "ask":
			c.Ask = append(c.Ask, rule)
		default:
			c.Allow = append(c.Allow, rule)
		}
	}
	return c
}

func TestLintKnowsWhatIsHiddenAndAsked(t *testing.T) {
	hidden := func(name string) string {
		if name == "web_fetch" {
			return "the policy denies effect:network"
		}
		return ""
	}
	found, err := permission.Lint(permission.Config{Allow: []string{"web_fetch(domain:a.example)"}}, newKit(), hidden)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Text, "effect:network") {
		t.Errorf("%+v %v", found, err)
	}
	found, err = permission.Lint(permission.Config{Approval: permission.Always, Allow: []string{"shell(ls)"}}, newKit(), nothingHidden)
	if err != nil || len(found) != 1 || found[0].Kind != permission.Dead {
		t.Errorf("%+v %v", found, err)
	}
	if _, err := permission.Lint(permission.Config{Deny: []string{"shel(x)"}}, newKit(), nothingHidden); err == nil {
		t.Error("a rule about no tool was looked at")
	}
}

// TestShadowedRulesAreShadowed: where a rule is said to be contained in
// another, no path that it matches escapes the other one.
func TestShadowedRulesAreShadowed(t *testing.T) {
	patterns := []string{"*", "**", "a", "/a", "a/b", "a/*", "a/**", "**/b", "*/b", "*.go", "a/*.go", "a/**/b", "?", "a/?", "b/"}
	names := []string{"a", "b", "c", "a/b", "b/a", "a/c", "a/b/c", "x.go", "a/x.go", "a/c/b", "c/a/b", "ab", "a/c/d/b"}
	judge := func(rule, name string) bool {
		j, err := permission.New(permission.Config{Deny: []string{rule}}, newKit())
		if err != nil {
			t.Fatal(err)
		}
		return j.Judge(permission.Act{Spec: newKit()["read_file"], Effects: tool.Read, Reads: []string{name}}).Rule == rule
	}
	for _, a := range patterns {
		for _, b := range patterns {
			deny, allow := "read_file("+a+")", "read_file("+b+")"
			found, err := permission.Lint(permission.Config{Deny: []string{deny}, Allow: []string{allow}}, newKit(), nothingHidden)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 0 {
				continue
			}
			for _, name := range names {
				if judge(allow, name) && !judge(deny, name) {
					t.Errorf("%s is said to be shadowed by %s, and %s escapes", allow, deny, name)
				}
			}
		}
	}
}

// TestLintIsBounded looks at many rules.
func TestLintIsBounded(t *testing.T) {
	var c permission.Config
	for i := range 1002 {
		c.Deny = append(c.Deny, fmt.Sprintf("read_file(/a%d)", i))
	}
	start := time.Now()
	found, err := permission.Lint(c, newKit(), nothingHidden)
	if err != nil || len(found) != 1 || found[0].Rule != "read_file(/a1000)" || !strings.Contains(found[0].Text, "1 more") {
		t.Errorf("%+v, %v", found, err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}
