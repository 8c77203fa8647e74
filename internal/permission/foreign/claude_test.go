package foreign

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/permission"
)

const (
	home    = "/home/ada"
	project = home + "/garden"
)

// read reads a settings file of the project.
func read(t *testing.T, name, data string) *Rules {
	t.Helper()
	r, err := Read(Source{Name: name, Data: []byte(data), Workspace: project, Home: home})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func notes(r *Rules) string {
	var b strings.Builder
	for _, n := range r.Notes {
		b.WriteString(n.String() + "\n")
	}
	return b.String()
}

// TestClaudeSettingsInTheShapesPeopleUse carries whole files over.
func TestClaudeSettingsInTheShapesPeopleUse(t *testing.T) {
	for _, c := range []struct {
		name, file, data string
		want             permission.Config
		granted          []string
		note             string
	}{
		{
			"a web project", project + "/.claude/settings.json", `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {
    "allow": ["Bash(npm run lint)", "Bash(npm run test:*)", "Bash(git diff *)", "Edit(src/**)", "WebFetch(domain:docs.example.org)"],
    "ask": ["Bash(git push:*)"],
    "deny": ["Read(./.env)", "Read(./.env.*)", "Read(./secrets/**)", "Bash(curl:*)", "WebFetch"]
  },
  "env": {"FOO": "1"}
}`,
			permission.Config{
				Allow: []string{"shell(npm run lint)", "shell(npm run test:*)", "shell(git diff *)", "edit_file(src/**)", "write_file(src/**)", "diff_edit(src/**)", "notebook_edit(src/**)"},
				Ask:   []string{"shell(git push:*)"},
				Deny:  []string{"read_file(./.env)", "read_file(./.env.*)", "read_file(./secrets/**)", "shell(curl:*)", "web_fetch*"},
			}, nil, `line 4: allow "WebFetch(domain:docs.example.org)" is left out`,
		},
		{
			"a person's own", home + "/.claude/settings.json", `{"permissions": {
  "defaultMode": "plan",
  "additionalDirectories": ["~/notes", "../docs", "/srv/data/"],
  "deny": ["Read(~/.ssh/**)", "Read(//etc/shadow)", "Read(/keys/*)", "Edit(//home/ada/garden/vendor/**)", "Bash", "mcp__tracker"],
  "ask": ["Write(~/garden/*.md)", "mcp__tracker__close_issue", "Agent(reviewer)"]
}}`,
			permission.Config{
				Mode: permission.ReadOnly,
				Ask:  []string{"write_file(/*.md)", "mcp__tracker__close_issue*", "spawn*", "delegate*"},
				Deny: []string{
					"read_file(**/home/ada/.ssh/**)", "read_file(**/etc/shadow)", "read_file(**/home/ada/.claude/keys/*)", "edit_file(/vendor/**)",
					"shell", "mcp__tracker__*",
				},
			}, []string{home + "/notes", home + "/docs", "/srv/data"}, "outside of the workspace",
		},
		{
			"what settles by itself", project + "/.claude/settings.local.json",
			`{"permissions": {"allow": ["Bash(ls)", "Bash(ls)", "Skill(tidy)", "mcp__tracker__list", "mcp__*", "Gardening"], "deny": [], "newThing": 3, "denyInsteadOfPrompting": true}}`,
			permission.Config{Approval: permission.Never, Allow: []string{"shell(ls)"}}, nil, `allow "mcp__*" is left out: it would allow every server`,
		},
		{"nothing to carry", project + "/.claude/settings.json", `{"model": "opus"}`, permission.Config{}, nil, "no permissions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, c.file, c.data)
			if diff := cmp.Diff(c.want, r.Permission); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.granted, r.Granted); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(notes(r), c.note) {
				t.Errorf("the notes do not say %q:\n%s", c.note, notes(r))
			}
		})
	}
}

// TestNoRefusalIsLost: a rule that refuses or asks and cannot be carried over
// stops the file, with its line; the same rule that allows is left out.
func TestNoRefusalIsLost(t *testing.T) {
	for rule, why := range map[string]string{
		"Bsh(git *)":                   "did you mean",
		"bash(git *)":                  "did you mean",
		"Bash(git push && rm *)":       "one simple command",
		"Bash(command:git push)":       "git push",
		"Bash(git *":                   "closing",
		"Bash()":                       "empty",
		"(x)":                          "name of a tool",
		"":                             "name of a tool",
		"Read(!secrets/**)":            "take back",
		"Read(~bob/x)":                 "somebody else",
		"Read(a//b)":                   "empty",
		"Read([)":                      "pattern",
		"WebFetch(https://x.example/)": "domain:HOST",
		"WebFetch(domain:*)":           "host",
		"mcp__a*b__c":                  "wildcard",
		"*":                            "no tool of that name",
	} {
		for _, list := range []string{"deny", "ask"} {
			text := "{\"permissions\": {\n\"" + list + "\": [\n\"" + strings.ReplaceAll(rule, `\`, `\\`) + "\"]}}"
			r, err := Read(Source{Name: project + "/.claude/settings.json", Data: []byte(text), Workspace: project, Home: home})
			if err == nil {
				t.Errorf("%s %q came over as %+v", list, rule, r.Permission)
				continue
			}
			if !strings.HasPrefix(err.Error(), "line 3: ") || !strings.Contains(err.Error(), why) {
				t.Errorf("%s %q: %v", list, rule, err)
			}
		}
		r := read(t, project+"/.claude/settings.json", `{"permissions": {"allow": ["`+rule+`"]}}`)
		if len(r.Permission.Allow) > 0 || len(r.Notes) == 0 {
			t.Errorf("allow %q came over as %q, notes %q", rule, r.Permission.Allow, notes(r))
		}
	}
}

// TestBrokenClaudeFiles: what cannot be read at all is an error, never an
// empty list.
func TestBrokenClaudeFiles(t *testing.T) {
	for _, data := range []string{
		"", "[]", "{", "// no\n{}", `{"permissions": []}`, `{"permissions": {"deny": "Bash"}}`, `{"permissions": {"deny": [["Bash"]]}}`,
		`{"permissions": {"deny": [], "deny": ["Bash"]}}`, `{"permissions": {"denny": ["Bash"]}}`, `{"permissions": {"defaultMode": "yolo"}}`,
		`{"permissions": {"defaultMode": 7}}`, `{"permissions": {"deny": null}}`,
	} {
		if r, err := Read(Source{Name: "/p/.claude/settings.json", Data: []byte(data)}); err == nil {
			t.Errorf("%s came over as %+v", data, r.Permission)
		}
	}
	if _, err := Read(Source{Name: "/p/rules.yaml"}); err == nil {
		t.Error("a file of an unknown kind was read")
	}
	if _, err := Read(Source{Name: "/p/x.json", Data: make([]byte, MaxFile+1)}); err == nil {
		t.Error("a file beyond the limit was read")
	}
}

// TestPathsAreSeenFromWhereTheFileIs: F082 and F083, and patterns with
// wildcards above the workspace.
func TestPathsAreSeenFromWhereTheFileIs(t *testing.T) {
	for _, c := range []struct {
		file, effect, rule string
		want               []string
	}{
		{"settings.json", "deny", "Read(.env)", []string{"read_file(.env)"}},
		{"settings.json", "allow", "NotebookRead(./.env)", []string{"read_file(/.env)"}}, // F083: an allow stays as narrow as it was
		{"settings.json", "deny", "Read(//home/ada/garden/.env)", []string{"read_file(/.env)"}},
		{"settings.json", "deny", "Read(//home/*/garden/.env)", []string{"read_file(/.env)"}},
		{"settings.json", "deny", "Read(//home/**/.env)", []string{"read_file(/**/.env)"}},
		{"settings.json", "deny", "Read(//home/ada)", []string{"read_file(**)"}},
		{"settings.json", "deny", "Read(//**/secrets)", []string{"read_file(/**/secrets)"}},
		{"settings.json", "deny", "Read(../other/x)", []string{"read_file(**/home/ada/other/x)"}},
		{"settings.json", "deny", "Read(/src/x)", []string{"read_file(/src/x)"}},
		{"settings.json", "allow", "MultiEdit(//etc/hosts)", nil},
		{"settings.json", "allow", "MultiEdit(//home/**/x.go)", []string{"edit_file(/**/x.go)"}},
		{"settings.json", "deny", "Read(*)", []string{"read_file", "view_image"}},
	} {
		data := `{"permissions": {"` + c.effect + `": ["` + c.rule + `"]}}`
		r := read(t, project+"/.claude/"+c.file, data)
		got := r.Permission.Deny
		if c.effect == "allow" {
			got = r.Permission.Allow
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s:\n%s", c.effect, c.rule, diff)
		}
	}
}

// TestF090_FoldersThatLinksLeadTo: rules name folders as people do, and hold
// for what is there.
func TestF090_FoldersThatLinksLeadTo(t *testing.T) {
	src := Source{
		Name: "/data/ada/.claude/settings.json", Workspace: "/data/ada/garden", WorkspaceLink: "/home/ada/garden", Home: "/data/ada", HomeLink: "/home/ada",
		Data: []byte(`{"permissions": {"deny": ["Read(//home/ada/garden/a)", "Read(//data/ada/garden/b)", "Read(~/garden/c)", "Read(~/.ssh)"]}}`),
	}
	r, err := Read(src)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"read_file(/a)", "read_file(/b)", "read_file(/c)", "read_file(**/data/ada/.ssh)", "read_file(**/home/ada/.ssh)"}
	if diff := cmp.Diff(want, r.Permission.Deny); diff != "" {
		t.Error(diff)
	}
}

// TestEveryToolOfTheTableHasRules: a rule about any tool that the table knows
// refuses something, or says why there is nothing to refuse.
func TestEveryToolOfTheTableHasRules(t *testing.T) {
	for name := range claudeTools() {
		r := read(t, project+"/.claude/settings.json", `{"permissions": {"deny": ["`+name+`"], "ask": ["`+name+`"]}}`)
		if len(r.Permission.Deny) == 0 && len(r.Notes) == 0 {
			t.Errorf("deny %s comes to nothing", name)
		}
		if len(r.Permission.Ask) == 0 && len(r.Notes) == 0 {
			t.Errorf("ask %s comes to nothing", name)
		}
	}
}
