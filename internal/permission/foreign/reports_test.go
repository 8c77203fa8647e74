package foreign

import (
	"path/filepath"
	"testing"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// ours are tools as a session has them, for imported rules to be about.
type ours map[string]*tool.Spec

func (o ours) Resolve(name string) (*tool.Spec, bool) { s, ok := o[name]; return s, ok }

func (o ours) Names() (names []string) {
	for name := range o {
		names = append(names, name)
	}
	return names
}

// tools has every tool that the table of Claude Code's names, with what it
// does at most.
func tools() ours {
	all := ours{}
	for _, known := range claudeTools() {
		for _, list := range [][]string{known.allow, known.ask, known.deny, known.every} {
			for _, name := range list {
				effects := tool.Read | tool.Write
				if name == "shell" || name == "write_stdin" {
					effects = tool.AllEffects
				}
				all[name] = &tool.Spec{Name: name, Effects: effects}
			}
		}
	}
	return all
}

// judged is what the rules of a file make of a command that the fence holds.
func judged(t *testing.T, file, data, command string) permission.Outcome {
	t.Helper()
	r := read(t, file, data)
	r.Permission.Mode = permission.ReadOnly // so that nothing is allowed but by a rule
	j, err := permission.New(r.Permission, tools())
	if err != nil {
		t.Fatalf("the rules that came over cannot be read: %v", err)
	}
	return j.Judge(permission.Act{Spec: tools()["shell"], Effects: tool.AllEffects, Command: command, Filtered: true, Confined: true}).Outcome
}

// spellings are ways to run "git status" that are not written so.
var spellings = []string{
	"git status", "git -C . status", "/usr/bin/git status", `g\it status`, `"g"it status`, `'git' status`, "env git status", "command git status",
	"exec git status", "nice git status", "nohup git status", "time git status", "setsid git status", "stdbuf -o0 git status", "sudo -n git status",
	"echo x; git status", "(git status)", "{ git status; }", "if true; then git status; fi", "echo `git status`", "G=git; $G status", "echo status | xargs git",
	"bash -c 'git status'", "sh -c 'git status'", "eval git status", "$(echo git) status", `find . -maxdepth 0 -exec git status \;`, "echo 'git status' | sh",
	`awk 'BEGIN{system("git status")}'`, `python3 -c 'import os; os.system("git status")'`, "git${IFS}status", "busybox sh -c 'git status'", "echo x | xargs -I{} git status",
}

// TestImportedRulesHoldInEverySpelling: a deny of either system refuses, or at
// the least has a person asked where what runs is computed, whatever else the
// file allows.
func TestImportedRulesHoldInEverySpelling(t *testing.T) {
	for name, data := range map[string]string{
		project + "/.claude/settings.json": `{"permissions": {"allow": ["Bash"], "deny": ["Bash(git *)"]}}`,
		"/c/x.rules": "prefix_rule(pattern = [\"git\"], decision = \"forbidden\")\n" +
			"[prefix_rule(pattern = [p]) for p in [\"sh\", \"bash\", \"env\", \"echo\", \"python3\", \"awk\", \"find\", \"xargs\", \"eval\", \"busybox\"]]",
	} {
		for _, command := range spellings {
			if got := judged(t, name, data, command); got == permission.Allow {
				t.Errorf("%s: `%s` is allowed", filepath.Base(name), command)
			}
		}
	}
}

// TestImportedAllowsCoverEveryPart has the field reports about allow rules
// that were taken for more than they say, through a settings file.
func TestImportedAllowsCoverEveryPart(t *testing.T) {
	for _, c := range []struct {
		report, allow, command string
		want                   permission.Outcome
	}{
		{"F075", "Bash(cd *)", "cd /tmp && touch pwn", permission.Ask},
		{"F075", "Bash(cd *)", "cd /tmp\ntouch pwn", permission.Ask},
		{"F075", "Bash(cd *)", "cd /tmp |& touch pwn", permission.Ask},
		{"F076", "Bash(grep:*)", "ls 2>/dev/null | grep x | head -3", permission.Allow},
		{"F077", "Bash(git status)", "git status-evil", permission.Ask},
		{"F077", "Bash(ls:*)", "ls > ~/.bashrc", permission.Ask},
		{"F077", "Bash(ls:*)", "ls $(touch pwn)", permission.Ask},
		{"F078", "Bash(git *)", "git status $(touch x)", permission.Ask},
		{"F078", "Bash(git *)", "git diff <(touch y)", permission.Ask},
		{"F079", "Bash(echo *)", "echo $(date)", permission.Allow},
		{"F080", "Bash(rg:*)", "rg --pre sh x", permission.Ask},
		{"F081", "Bash(git status:*)", "git -c core.fsmonitor='touch pwn' status", permission.Ask},
		{"L13", "Bash(git status:*)", "git status; rm -rf ~", permission.Ask},
		{"L14", "Bash(npm run test:*)", " npm run test --watch", permission.Allow},
		{"oracle", "Bash(npm run test:*)", "timeout 5 npm run test", permission.Allow},
		{"oracle", "Bash(npm run test:*)", "npm run test && touch y", permission.Ask},
		{"oracle", "Bash(npm run test:*)", "NODE_OPTIONS=--require=x npm run test", permission.Ask},
		{"L38", "Bash(npm run test:*)", "npm run test > out.txt", permission.Ask},
	} {
		t.Run(c.report+" "+c.command, func(t *testing.T) {
			if got := judged(t, project+"/.claude/settings.json", `{"permissions": {"allow": ["`+c.allow+`"]}}`, c.command); got != c.want {
				t.Errorf("allow %s: `%s` comes to %s, want %s", c.allow, c.command, got, c.want)
			}
		})
	}
}

// TestCodexDecisionsAreTheStrictest: of the rules that match any part of a
// script, the strictest decides.
func TestCodexDecisionsAreTheStrictest(t *testing.T) {
	const rules = `
prefix_rule(pattern = ["git"], decision = "allow")
prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "prompt")
prefix_rule(pattern = ["git", "reset", "--hard"], decision = "forbidden")
prefix_rule(pattern = ["ls"])
`
	for command, want := range map[string]permission.Outcome{
		"git status": permission.Allow, "git push origin": permission.Ask, "git fetch": permission.Ask, "git reset --hard": permission.Deny,
		"git reset": permission.Allow, "ls && git reset --hard": permission.Deny, "ls && git push": permission.Ask, "ls; git log": permission.Allow,
		"hg log": permission.Ask, "gitx": permission.Ask, "/usr/bin/git commit": permission.Allow, "./git commit": permission.Ask,
		// What Codex does not see, measured there: redirects, wrappers and nested shells.
		"git reset --hard 2>&1": permission.Deny, "sudo git reset --hard": permission.Deny, "bash -c 'git reset --hard'": permission.Deny,
		"if true; then git reset --hard; fi": permission.Deny, "X=1; git reset --hard": permission.Deny,
	} {
		if got := judged(t, "/c/x.rules", rules, command); got != want {
			t.Errorf("`%s` comes to %s, want %s", command, got, want)
		}
	}
}

// TestF096_AListForCommandsIsOneForCommands: rules about commands say nothing
// about other tools.
func TestF096_AListForCommandsIsOneForCommands(t *testing.T) {
	r := read(t, project+"/.claude/settings.json", `{"permissions": {"allow": ["Bash(ls)"]}}`)
	r.Permission.Mode = permission.WorkspaceWrite
	j, err := permission.New(r.Permission, tools())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"read_file", "write_file"} {
		if v := j.Judge(permission.Act{Spec: tools()[name], Effects: tool.Write, Writes: []string{"a"}, Filtered: true}); v.Outcome != permission.Allow {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
