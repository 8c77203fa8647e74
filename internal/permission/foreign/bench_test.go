package foreign

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkClaude reads a settings file of twenty rules, as every start of the
// program does that names one.
func BenchmarkClaude(b *testing.B) {
	var rules []string
	for i := range 10 {
		rules = append(rules, fmt.Sprintf(`"Bash(tool%d run:*)", "Read(secrets%d/**)"`, i, i))
	}
	data := []byte(`{"permissions": {"deny": [` + strings.Join(rules, ", ") + `]}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(Source{Name: project + "/.claude/settings.json", Data: data, Workspace: project, Home: home}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCodex reads a rule file of twenty rules with two examples each.
func BenchmarkCodex(b *testing.B) {
	data := []byte(strings.Repeat(`prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "prompt", match = ["git push origin"], not_match = ["git log"])`+"\n", 20))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(Source{Name: "/c/x.rules", Data: data}); err != nil {
			b.Fatal(err)
		}
	}
}
