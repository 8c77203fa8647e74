package foreign

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/permission"
)

// TestCodexRulesMeanWhatTheyMeanThere has what Codex documents of its rules,
// as cases of our own.
func TestCodexRulesMeanWhatTheyMeanThere(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       permission.Config
		note       string
	}{
		{"a prefix allows where no decision stands", `prefix_rule(pattern = ["git", "status"])`,
			permission.Config{Allow: []string{"shell(git status:*)"}}, ""},
		{"prompt asks and forbidden refuses", `
prefix_rule(pattern = ["git", "push"], decision = "prompt", justification = "the whole team sees it")
prefix_rule(["rm"], "forbidden")
`, permission.Config{Ask: []string{"shell(git push:*)"}, Deny: []string{"shell(rm:*)"}}, ""},
		{"alternatives at any place", `prefix_rule(pattern = [["npm", "pnpm"], "run", ["lint", "test"]], decision = "allow",
    match = ["npm run lint", ["pnpm", "run", "test", "--watch"]], not_match = ["npm install", "yarn run lint"])`,
			permission.Config{Allow: []string{"shell(npm run lint:*)", "shell(npm run test:*)", "shell(pnpm run lint:*)", "shell(pnpm run test:*)"}}, ""},
		{"names, loops and comprehensions", `
READ = ["log", "show"]
for sub in READ:
    prefix_rule(pattern = ["git", sub])
[prefix_rule(pattern = [tool, "--version"]) for tool in ["go", "node"]]
`, permission.Config{Allow: []string{"shell(git log:*)", "shell(git show:*)", "shell(go --version:*)", "shell(node --version:*)"}}, ""},
		{"words that need quotes", `prefix_rule(pattern = ["git", "commit", "-m", "a b"], decision = "forbidden", match = [["git", "commit", "-m", "a b", "x"]])
prefix_rule(pattern = ["echo", "it's"], decision = "forbidden")`,
			permission.Config{Deny: []string{"shell(git commit -m 'a b':*)", `shell(echo 'it'\''s':*)`}}, ""},
		{"a star is a star in Codex", `prefix_rule(pattern = ["ls", "*"])`, permission.Config{}, "allow more"},
		{"what refuses may cover more", `prefix_rule(pattern = ["ls", "*"], decision = "forbidden")`,
			permission.Config{Deny: []string{"shell(ls *:*)"}}, ""},
		{"an example that is refused too is told", `prefix_rule(pattern = ["git", "push", "--force"], decision = "forbidden",
    match = ["git push --force"], not_match = ["git push origin --force"])`,
			permission.Config{Deny: []string{"shell(git push --force:*)"}}, `holds for "git push origin --force" too`},
		{"hosts", `
network_rule(host = "API.Example.com:443", protocol = "https", decision = "deny")
network_rule(host = "example.org", protocol = "http", decision = "prompt")
network_rule(host = "good.example", protocol = "https", decision = "allow")
`, permission.Config{Deny: []string{"web_fetch*(domain:api.example.com)"}, Ask: []string{"web_fetch*(domain:example.org)"}}, "commands.deny_hosts"},
		{"programs of the system", `
host_executable(name = "git", paths = ["/opt/git/bin/git", "/usr/bin/git"])
host_executable(name = "odd", paths = ["/opt/odd"])
prefix_rule(pattern = [["git", "odd"], "log"])
prefix_rule(pattern = ["odd", "rm"], decision = "forbidden")
`, permission.Config{Allow: []string{"shell(git log:*)"}, Deny: []string{"shell(odd rm:*)"}}, "none of the folders of the system"},
		{"examples with a path", `
prefix_rule(pattern = ["git", "log"], match = ["/usr/bin/git log"], not_match = ["/opt/git log"])
host_executable(name = "git", paths = ["/usr/bin/git"])
prefix_rule(pattern = ["make"], decision = "forbidden", match = ["/any/where/make all"])
`, permission.Config{Allow: []string{"shell(git log:*)"}, Deny: []string{"shell(make:*)"}}, ""},
		{"an empty file", "# nothing yet\n", permission.Config{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, home+"/.codex/rules/default.rules", c.data)
			if diff := cmp.Diff(c.want, r.Permission); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(notes(r), c.note) || c.note == "" && len(r.Notes) > 0 {
				t.Errorf("notes:\n%s\nwant %q", notes(r), c.note)
			}
		})
	}
}

// TestCodexFilesThatAreRefused: L41, a malformed file is an error that names
// the line, and no rule of it counts.
func TestCodexFilesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		data string
		line int
		why  string
	}{
		{`prefix_rule(pattern = [])`, 1, "words"},
		{"\n" + `prefix_rule(pattern = ["git", []])`, 2, "list of words"},
		{`prefix_rule(pattern = ["git", 7])`, 1, "int"},
		{`prefix_rule(pattern = ["git", ["a", ["b"]]])`, 1, "list"},
		{`prefix_rule(pattern = "git")`, 1, "list"},
		{`prefix_rule(pattern = ["git"], decision = "deny")`, 1, "forbidden"},
		{`prefix_rule(pattern = ["git"], dicision = "allow")`, 1, "dicision"},
		{"x = 1\n" + `prefix_rule(pattern = ["git", "status"], match = ["git log"])`, 2, "match"},
		{`prefix_rule(pattern = ["git"], match = [[]])`, 1, "list of words"},
		{`prefix_rule(pattern = ["git"], not_match = [["git", "log"]])`, 1, "not_match"},
		{`prefix_rule(pattern = ["git"], match = ["git 'x"])`, 1, "not a command"},
		{`prefix_rule(pattern = ["", "x"], decision = "forbidden")`, 1, "empty"},
		{`host_executable(name = "git", paths = ["/usr/bin/hg"])`, 1, "ends in that name"},
		{`host_executable(name = "git", paths = ["git"])`, 1, "absolute"},
		{`network_rule(host = "*.example.com", protocol = "https", decision = "deny")`, 1, "host"},
		{`network_rule(host = "example.com", protocol = "https", decision = "forbid")`, 1, "decision"},
		{`load("other.rules", "x")`, 1, "load"},
		{"\nprefix_rul(pattern = [])", 2, "call"},
		{"prefix_rule(pattern = [", 1, ""},
		{"prefix_rule(pattern = [name])", 1, "name"},
		{"while True:\n  pass", 1, ""},
	} {
		_, err := Read(Source{Name: "/r/x.rules", Data: []byte(c.data)})
		if err == nil {
			t.Errorf("%s was read", c.data)
			continue
		}
		problems := err.(Problems)
		if problems[0].Line != c.line || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: line %d, want %d with %q: %v", c.data, problems[0].Line, c.line, c.why, err)
		}
	}
}

// TestCodexFilesAreBounded: a file can neither run on nor grow.
func TestCodexFilesAreBounded(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString("a0 = 'xxxxxxxx'\n")
	for i := range 60 {
		fmt.Fprintf(&doubling, "a%d = a%d + a%d\n", i+1, i, i)
	}
	for name, data := range map[string]string{
		"doubling": doubling.String(), "repeating": `x = "a" * 1000000000`,
		"formatting": `x = "%s%s" % ("a", "b")`, "joining": `x = "a".replace("a", "b")`, "slicing": "x = [1][:]",
		"looping":     "for a in range(1000000):\n  for b in range(1000000):\n    pass",
		"collecting":  "x = [[b for b in range(100000)] for a in range(100000)]",
		"huge range":  "x = [a for a in range(1 << 40)]",
		"many rules":  "for a in range(100000):\n  prefix_rule(pattern = [\"x\"])",
		"deep":        strings.Repeat("[", 100000),
		"functions":   "def f(x):\n  return f(x)\nf(1)",
		"comparing":   "x = [1] == [1]",
		"dictionary":  "x = {1: 2}",
		"wide":        "prefix_rule(pattern = [" + strings.Repeat(`["a","b","c","d"],`, 10) + "], decision = \"forbidden\")",
		"long prefix": "prefix_rule(pattern = [" + strings.Repeat(`"a",`, 65) + "])",
	} {
		start := time.Now()
		if _, err := Read(Source{Name: "/r/x.rules", Data: []byte(data)}); err == nil {
			t.Errorf("%s was read", name)
		}
		if took := time.Since(start); took > 2*maxTime {
			t.Errorf("%s took %s", name, took)
		}
	}
}
