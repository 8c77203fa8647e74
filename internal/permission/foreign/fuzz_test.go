package foreign

import (
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
)

// FuzzClaude: no text makes the reader fail in another way than by saying so,
// and every deny and ask rule of a file that is read has left something.
func FuzzClaude(f *testing.F) {
	f.Add("Bash(git push:*)", "Read(//home/**/x)", "Edit(~/y)")
	f.Add("mcp__a__b", "WebFetch(domain:*.example.com)", `Bash(echo \(x\))`)
	f.Add("Read(./.env)", "Bash(*)", "Agent(x)")
	f.Fuzz(func(t *testing.T, deny, ask, allow string) {
		quote := func(s string) string {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
		}
		data := `{"permissions": {"deny": [` + quote(deny) + `], "ask": [` + quote(ask) + `], "allow": [` + quote(allow) + `]}}`
		r, err := Read(Source{Name: "/home/ada/garden/.claude/settings.json", Data: []byte(data), Workspace: "/home/ada/garden", Home: "/home/ada"})
		if err != nil {
			return
		}
		for what, n := range map[string]int{deny: len(r.Permission.Deny), ask: len(r.Permission.Ask)} {
			if n == 0 && len(r.Notes) == 0 {
				t.Errorf("%q is lost without a word", what)
			}
		}
		for _, rule := range append(r.Permission.Deny, r.Permission.Ask...) {
			pattern, command := strings.CutPrefix(rule, "shell(")
			if command {
				if _, err := shellparse.ParsePattern(strings.TrimSuffix(pattern, ")")); err != nil {
					t.Errorf("the rule %q cannot be read: %v", rule, err)
				}
			} else if why := invalidRule(rule); why != "" {
				t.Errorf("the rule %q cannot be read: %s", rule, why)
			}
		}
	})
}

// FuzzClaudeFile reads whole files.
func FuzzClaudeFile(f *testing.F) {
	f.Add([]byte(`{"permissions": {"deny": ["Bash(git *)"], "defaultMode": "plan", "additionalDirectories": ["~/x"]}}`))
	f.Add([]byte(`{"permissions": {"allow": [1], "deny": {}}, "sandbox": {}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = Read(Source{Name: "/p/.claude/settings.json", Data: data, Workspace: "/p", Home: "/h"})
	})
}

// FuzzCodex: a file that is read keeps within the limits, and every rule of it
// that refuses can be read back.
func FuzzCodex(f *testing.F) {
	f.Add(`prefix_rule(pattern = ["git", ["push", "pull"]], decision = "forbidden", match = ["git push x"], not_match = ["git log"])`)
	f.Add("for x in ['a', 'b']:\n  prefix_rule(pattern = [x, 'y z'], decision = 'prompt')")
	f.Add(`host_executable(name = "git", paths = ["/usr/bin/git"])
network_rule(host = "example.com", protocol = "https", decision = "deny")`)
	f.Fuzz(func(t *testing.T, data string) {
		r, err := Read(Source{Name: "/r/x.rules", Data: []byte(data)})
		if err != nil {
			return
		}
		if n := len(r.Permission.Allow) + len(r.Permission.Ask) + len(r.Permission.Deny); n > MaxRules {
			t.Errorf("%d rules", n)
		}
		for _, rule := range append(r.Permission.Deny, r.Permission.Ask...) {
			if pattern, ok := strings.CutPrefix(rule, "shell("); ok {
				if _, err := shellparse.ParsePattern(strings.TrimSuffix(pattern, ")")); err != nil {
					t.Errorf("the rule %q cannot be read: %v", rule, err)
				}
			}
		}
	})
}
