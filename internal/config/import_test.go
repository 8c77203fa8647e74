package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lineImporter stands for the readers of other systems: "allow X", "deny X",
// "ask X", "mode X" and "grant X" a line, and anything else is a problem.
func lineImporter(_ string, data []byte) (s Settings, notes, problems Problems) {
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "allow":
			s.Permission.Allow = append(s.Permission.Allow, rest)
		case "ask":
			s.Permission.Ask = append(s.Permission.Ask, rest)
		case "deny":
			s.Permission.Deny = append(s.Permission.Deny, rest)
		case "approval":
			s.Permission.Approval = rest
		case "mode":
			s.Permission.Mode = rest
		case "grant":
			s.Workspace.Granted = append(s.Workspace.Granted, rest)
		case "note":
			notes = append(notes, Problem{Line: i + 1, Column: 1, Text: rest})
		default:
			problems = append(problems, Problem{Line: i + 1, Column: 1, Text: "unknown " + word})
		}
	}
	return s, notes, problems
}

// writeAll puts files into a folder and returns it.
func writeAll(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestImportedRulesJoinTheOwn(t *testing.T) {
	home := writeAll(t, map[string]string{
		"c.json":    `{"import": ["~/one", "~/two"], "permission": {"mode": "workspace-write", "allow": ["own"], "deny": ["d"]}}`,
		"one":       "allow a\ndeny d\nmode read-only\ngrant /srv",
		"two":       "allow b\nask q\ndeny e\nnote two says so",
		"user.json": `{"permission": {"deny": ["u"], "allow": ["replaced"]}}`,
	})
	l, err := Load(Request{UserFile: filepath.Join(home, "user.json"), File: filepath.Join(home, "c.json"), Home: home, Import: lineImporter})
	if err != nil {
		t.Fatal(err)
	}
	want := Permission{Mode: "workspace-write", Allow: []string{"own", "a", "b"}, Ask: []string{"q"}, Deny: []string{"u", "d", "e"}}
	if diff := cmp.Diff(want, l.Permission); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/srv"}, l.Workspace.Granted); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"one", "two"} {
		if path := filepath.Join(home, name); !strings.Contains(strings.Join(l.Closed, "\n"), path) {
			t.Errorf("%s is open to tools, which could give themselves anything by it: %v", path, l.Closed)
		}
	}
	if len(l.Notes) != 1 || l.Notes[0].File != filepath.Join(home, "two") || l.Notes[0].Line != 1+3 {
		t.Errorf("notes: %v", l.Notes)
	}
	if got := l.Place("deny", "e"); got != filepath.Join(home, "two") {
		t.Errorf("a rule that was taken over is placed at %q", got)
	}
	if got := l.Place("deny", "d"); !strings.HasPrefix(got, filepath.Join(home, "c.json")+":1:") {
		t.Errorf("an own rule is placed at %q", got)
	}
}

// TestL42_F100_AWorkspacesRulesOnlyTakeAway: what lies in a repository was
// written by whoever wrote the repository.
func TestL42_F100_AWorkspacesRulesOnlyTakeAway(t *testing.T) {
	home := writeAll(t, map[string]string{"c.json": `{"import": ["rules"], "permission": {"mode": "full-access", "allow": ["own"]}}`})
	ws := writeAll(t, map[string]string{"rules": "allow everything\ngrant /\nmode read-only\nask q\ndeny d"})
	l, err := Load(Request{File: filepath.Join(home, "c.json"), Workspace: ws, Import: lineImporter})
	if err != nil {
		t.Fatal(err)
	}
	want := Permission{Mode: "read-only", Allow: []string{"own"}, Ask: []string{"q"}, Deny: []string{"d"}}
	if diff := cmp.Diff(want, l.Permission); diff != "" {
		t.Error(diff)
	}
	if l.Workspace.Granted != nil || len(l.Notes) != 1 {
		t.Errorf("granted %v, notes %v", l.Workspace.Granted, l.Notes)
	}
	if !strings.Contains(strings.Join(l.Closed, "\n"), filepath.Join(ws, "rules")) {
		t.Errorf("a tool may take the refusals back: %v", l.Closed)
	}

	// A wider mode of such a file is no ceiling, and lifts none.
	ws = writeAll(t, map[string]string{"rules": "mode full-access"})
	l, err = Load(Request{File: filepath.Join(home, "c.json"), Workspace: ws, Flags: Settings{Permission: Permission{Mode: "read-only"}}, Import: lineImporter})
	if err != nil || l.Permission.Mode != "read-only" {
		t.Errorf("mode %q, %v", l.Permission.Mode, err)
	}

	// The workspace's own allow list stays as narrow as it made it.
	home = writeAll(t, map[string]string{"c.json": `{"import": ["~/one"], "permission": {"allow": ["own"]}}`, "one": "allow a"})
	ws = writeAll(t, map[string]string{".handrail/config.json": `{"permission": {"allow": ["own"]}}`})
	l, err = Load(Request{File: filepath.Join(home, "c.json"), Workspace: ws, Home: home, Import: lineImporter})
	if err != nil || !cmp.Equal(l.Permission.Allow, []string{"own"}) {
		t.Errorf("allow %v, %v", l.Permission.Allow, err)
	}
}

// TestImportedNeverIsNoWayRoundAQuestion: "never" refuses what would be asked,
// and does not take the place of a policy that asks about more.
func TestImportedNeverIsNoWayRoundAQuestion(t *testing.T) {
	for base, want := range map[string]string{"": "never", "on-request": "never", "untrusted": "untrusted", "always": "always", "never": "never"} {
		for _, list := range []string{"~/one", "one"} {
			home := writeAll(t, map[string]string{"c.json": `{"import": ["` + list + `"]}`, "one": "approval never"})
			l, err := Load(Request{
				Base: Settings{Permission: Permission{Approval: base}}, File: filepath.Join(home, "c.json"), Home: home, Workspace: home, Import: lineImporter,
			})
			if err != nil || l.Permission.Approval != want {
				t.Errorf("%s over %q: %q %v, want %q", list, base, l.Permission.Approval, err, want)
			}
		}
	}
}

func TestImportsThatCannotBeRead(t *testing.T) {
	outside := writeAll(t, map[string]string{"secret": "deny x"})
	for name, c := range map[string]struct {
		list, file string
		ws         map[string]string
		importer   Importer
		want       string
	}{
		"missing":         {list: `["~/gone"]`, importer: lineImporter, want: "no such file"},
		"broken":          {list: `["~/one"]`, file: "deny x\nnonsense", importer: lineImporter, want: "one:2:1: unknown nonsense"},
		"no reader":       {list: `["~/one"]`, file: "deny x", want: "cannot be read here"},
		"leads outside":   {list: `["../x"]`, importer: lineImporter, want: "absolute path"},
		"of somebody":     {list: `["~bob/x"]`, importer: lineImporter, want: "absolute path"},
		"not a list":      {list: `"~/one"`, importer: lineImporter, want: "list of strings"},
		"too large":       {list: `["~/one"]`, file: strings.Repeat("x", MaxFile+1), importer: lineImporter, want: "larger than"},
		"in the own file": {list: `[]`, ws: map[string]string{".handrail/config.json": `{"import": []}`}, importer: lineImporter, want: "has no place in it"},
		"broken below":    {list: `["rules"]`, ws: map[string]string{"rules": "nonsense"}, importer: lineImporter, want: "rules:1:1: unknown nonsense"},
		"a link outwards": {list: `["link"]`, ws: map[string]string{}, importer: lineImporter, want: "escapes"},
	} {
		t.Run(name, func(t *testing.T) {
			home := writeAll(t, map[string]string{"c.json": `{"import": ` + c.list + `}`, "one": c.file})
			ws := ""
			if c.ws != nil {
				ws = writeAll(t, c.ws)
				if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(ws, "link")); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Load(Request{File: filepath.Join(home, "c.json"), Workspace: ws, Home: home, Import: c.importer})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestGivenSettingsAreTheOnlyOnes: a file of cases brings its own.
func TestGivenSettingsAreTheOnlyOnes(t *testing.T) {
	home := writeAll(t, map[string]string{"user.json": `{"permission": {"deny": ["u"]}}`})
	ws := writeAll(t, map[string]string{".handrail/config.json": `{"permission": {"deny": ["w"]}}`})
	l, err := Load(Request{UserFile: filepath.Join(home, "user.json"), Workspace: ws, Given: &Given{Name: "g", Data: []byte(`{"permission": {"deny": ["g"]}}`)}})
	if err != nil || !cmp.Equal(l.Permission.Deny, []string{"g"}) {
		t.Errorf("%v %v", l, err)
	}
	if _, err := Load(Request{Given: &Given{Name: "g", Data: []byte(`{"permision": {}}`)}}); err == nil || !strings.HasPrefix(err.Error(), "g:1:2: ") {
		t.Errorf("got %v", err)
	}
}

// TestTheKeysOfTheFile: the sections as they are documented, each key once,
// and a misspelt one with what was meant.
func TestTheKeysOfTheFile(t *testing.T) {
	text := `{
  "permission": {"mode": "read-only", "approval": "untrusted", "allow": ["a"], "ask": ["b"], "deny": ["c"]},
  "policy": {"allow": ["a"], "deny": ["b"], "require_tags": ["c"], "shell_writes": "warn", "by_provider": {"p": {"deny": ["d"]}}}
}`
	l, err := Load(Request{Given: &Given{Name: "g", Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Permission: Permission{Mode: "read-only", Approval: "untrusted", Allow: []string{"a"}, Ask: []string{"b"}, Deny: []string{"c"}},
		Policy: Policy{
			Allow: []string{"a"}, Deny: []string{"b"}, RequireTags: []string{"c"}, ShellWrites: "warn",
			ByProvider: map[string]Policy{"p": {Deny: []string{"d"}}},
		},
	}
	if diff := cmp.Diff(want, l.Settings); diff != "" {
		t.Error(diff)
	}
	for misspelt, meant := range map[string]string{
		`{"permissions": {}}`: `"permission"`, `{"permission": {"aprovals": "never"}}`: `"approval"`, `{"permission": {"denny": []}}`: `"deny"`,
		`{"policy": {"require_tag": []}}`: `"require_tags"`, `{"policy": {"shellWrites": "deny"}}`: `"shell_writes"`,
		`{"policy": {"by_provider": {"p": {"by_provider": {}}}}}`: "policy", `{"imports": []}`: `"import"`, `{"permission": {"defaultMode": "plan"}}`: "",
	} {
		_, err := Load(Request{Given: &Given{Name: "g", Data: []byte(misspelt)}})
		if err == nil || !strings.Contains(err.Error(), meant) {
			t.Errorf("%s: %v, want %s", misspelt, err, meant)
		}
	}
}
