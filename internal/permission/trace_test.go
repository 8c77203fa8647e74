package permission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// says lists what rules say about an act, as "LIST RULE SAYS", without those
// that say nothing.
func says(parts []permission.Traced) (all []string) {
	for _, p := range parts {
		for _, one := range p.Tried {
			if one.Says != "no" {
				all = append(all, one.List+" "+one.Rule+" "+one.Says)
			}
		}
	}
	return all
}

func newAct(command string) permission.Act {
	return permission.Act{Spec: newKit()["shell"], Effects: tool.AllEffects, Command: command, Filtered: true, Confined: true}
}

// TestTraceAgreesWithTheVerdict: what an explanation shows of the rules is
// what decided.
func TestTraceAgreesWithTheVerdict(t *testing.T) {
	rules := []string{"git:*", "git push:*", "git status", "rm:*", "ls", "sh:*", "curl http://a.example:*", "*"}
	commands := []string{
		"git status", "git push origin", "ls && git push", "sudo rm x", "sh -c 'git push'", "$X y", "ls | sh", "git $X", "echo $(rm x)", "curl -s http://a.example", "cat x", "if",
	}
	for _, deny := range rules {
		for _, ask := range rules {
			for _, allow := range rules {
				c := permission.Config{Deny: []string{"shell(" + deny + ")"}, Ask: []string{"shell(" + ask + ")"}, Allow: []string{"shell(" + allow + ")"}}
				j, err := permission.New(c, newKit())
				if err != nil {
					t.Fatal(err)
				}
				for _, command := range commands {
					verdict, parts := j.Judge(newAct(command)), j.Trace(newAct(command))
					said := strings.Join(says(parts), "\n") + "\n"
					for _, p := range parts {
						if strings.Contains(p.Knows, "every deny and ask rule") {
							said += "deny " + c.Deny[0] + " may match\n"
						}
					}
					denies := strings.Contains(said, "deny "+c.Deny[0]+" matches\n")
					if denies != (verdict.Outcome == permission.Deny) {
						t.Errorf("deny %s, ask %s, allow %s: `%s` comes to %s by %s, and the tree says\n%s", deny, ask, allow, command, verdict.Outcome, verdict.Rule, said)
					}
					if verdict.Rule == c.Deny[0] && !strings.Contains(said, "deny "+c.Deny[0]) || verdict.Outcome == permission.Allow && strings.Contains(said, "deny ") {
						t.Errorf("deny %s: `%s` comes to %s by %s, and the tree says\n%s", deny, command, verdict.Outcome, verdict.Rule, said)
					}
					if verdict.Rule == c.Allow[0] && !strings.Contains(said, "allow "+c.Allow[0]+" covers\n") && c.Allow[0] != c.Ask[0] && c.Allow[0] != c.Deny[0] {
						t.Errorf("allow %s: `%s` was allowed by it, and the tree says\n%s", allow, command, said)
					}
				}
			}
		}
	}
}

// TestTraceIsBounded: of many rules those are named that say something.
func TestTraceIsBounded(t *testing.T) {
	var c permission.Config
	for i := range 3000 {
		c.Deny = append(c.Deny, fmt.Sprintf("shell(tool%d:*)", i))
	}
	j, err := permission.New(c, newKit())
	if err != nil {
		t.Fatal(err)
	}
	parts := j.Trace(newAct("ls; tool2999 x"))
	if len(parts) != 2 || len(parts[0].Tried) != 12 || parts[0].More != 2988 || len(parts[1].Tried) != 13 || says(parts)[0] != "deny shell(tool2999:*) matches" {
		t.Errorf("%d parts, %v", len(parts), says(parts))
	}
	if parts := j.Trace(newAct(strings.Repeat("true;", 1500))); len(parts) > 200 {
		t.Errorf("%d parts", len(parts))
	}
}

// TestTraceOfFilesAndHosts: rules that are not about commands.
func TestTraceOfFilesAndHosts(t *testing.T) {
	j, err := permission.New(permission.Config{
		Deny: []string{"read_file(.env)", "read_file(*.pem)", "edit_file(x)"}, Ask: []string{"write_file(docs/**)"}, Allow: []string{"write_file(docs/a)", "web_fetch(domain:a.example)"},
	}, newKit())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		act  permission.Act
		want string
	}{
		{permission.Act{Spec: newKit()["read_file"], Effects: tool.Read, Reads: []string{"sub/.env"}, Filtered: true}, "deny read_file(.env) matches"},
		{permission.Act{Spec: newKit()["write_file"], Effects: tool.Write, Writes: []string{"docs/a"}, Filtered: true}, "ask write_file(docs/**) matches, allow write_file(docs/a) covers"},
		{permission.Act{Spec: newKit()["write_file"], Effects: tool.Write, Writes: []string{"x"}, Filtered: true}, "deny edit_file(x) matches"},
		{permission.Act{Spec: newKit()["web_fetch"], Effects: tool.Network, Hosts: []string{"b.a.example"}}, "allow web_fetch(domain:a.example) covers"},
		{permission.Act{Spec: newKit()["grep"], Effects: tool.Read, Trees: []string{"src"}, Filtered: true}, ""},
	} {
		if got := strings.Join(says(j.Trace(c.act)), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.act.Spec.Name, got, c.want)
		}
	}
}
