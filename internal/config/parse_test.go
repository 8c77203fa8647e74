package config

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// problemsOf returns what parse finds, one line each.
func problemsOf(text string, from source) []string {
	_, problems := parse("config.json", []byte(text), "/home/u", from)
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return lines
}

func TestParseProblems(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"unknown key", "{\n\n    \"permision\": {}\n}", []string{
			`config.json:3:5: unknown key "permision" (did you mean "permission"?)`}},
		{"key of another place", `{"mode": "read-only", "permission": {"require_tags": []}}`, []string{
			`config.json:1:2: the top level has no key "mode"; it belongs in permission`,
			`config.json:1:38: permission has no key "require_tags"; it belongs in policy`}},
		{"key of nowhere", `{"workspace": {"zzzzzz": 1}}`, []string{
			`config.json:1:16: unknown key "zzzzzz"; the keys of workspace are granted, protected, read_only_dirs, unreadable`}},
		{"word", `{"permission": {"mode": "readonly", "approval": "sometimes"}, "surface": 3}`, []string{
			`config.json:1:25: permission.mode cannot be "readonly" (did you mean "read-only"?); it is one of read-only, workspace-write, full-access`,
			`config.json:1:49: permission.approval cannot be "sometimes"; it is one of never, on-request, untrusted, always`,
			`config.json:1:74: surface must be a string, not a number`}},
		{"lists", `{"policy": {"allow": null, "deny": "shell", "require_tags": [1, "", "code"]}}`, []string{
			`config.json:1:22: policy.allow must be a list of strings, not null`,
			`config.json:1:36: policy.deny must be a list of strings, not a string`,
			`config.json:1:62: policy.require_tags must hold strings only, not a number`,
			`config.json:1:65: an entry of policy.require_tags is empty`}},
		{"twice", "{\"policy\": {\"deny\": [\"shell\"],\n\"deny\": []}}", []string{
			`config.json:2:1: the key "deny" is here a second time; the first is in line 1`}},
		{"paths", `{"state_dir": "state", "workspace": {"granted": ["~/x", "./y", "/z/../w"]}}`, []string{
			`config.json:1:15: state_dir: "state" must be an absolute path or start with ~/`,
			`config.json:1:57: workspace.granted: "./y" must be an absolute path or start with ~/`}},
		{"providers", `{"policy": {"by_provider": {"": {}, "gpt": {"by_provider": {}}}}}`, []string{
			`config.json:1:29: a key of policy.by_provider is a model id or a provider's name and cannot be empty`,
			`config.json:1:45: policy.by_provider.gpt has no key "by_provider"; it belongs in policy`}},
		{"profiles", `{"profiles": {"full-access": {}, "a b": {}, "x": {"profiles": {}}}}`, []string{
			`config.json:1:15: the profile "full-access" is built in and cannot be declared; choose another name`,
			`config.json:1:34: "a b" cannot be the name of a profile; use letters, digits, - and _`,
			`config.json:1:51: profiles.x has no key "profiles"; it belongs in the top level`}},
		{"scalars", `{"timeout": 90, "exposure": {"deferred": "yes", "max_listed": 0, "idle_turns": 1.5}}`, []string{
			`config.json:1:13: timeout must be a time such as "90s" or "5m", at most 30m0s`,
			`config.json:1:42: exposure.deferred must be true or false, not a string`,
			`config.json:1:63: exposure.max_listed must be a whole number from 1`,
			`config.json:1:80: exposure.idle_turns must be a whole number from 1`}},
		{"too long", `{"timeout": "31m"}`, []string{
			`config.json:1:13: timeout must be a time such as "90s" or "5m", at most 30m0s`}},
		{"not an object", `[1]`, []string{`config.json:1:1: the top level must be an object, not a list`}},
		{"column counts characters", `{"policy": {"deny": ["äöü", 7]}}`, []string{
			`config.json:1:29: policy.deny must hold strings only, not a number`}},
		{"empty", ``, []string{`config.json:1:1: this is not JSON: the text ends before the value does`}},
		{"cut", "{\n  \"policy\": {", []string{`config.json:2:14: this is not JSON: the text ends before the value does`}},
		{"comment", "{\n  // no\n}", []string{`config.json:2:3: this is not JSON: "// no\n}" stands where a key in double quotes belongs`}},
		{"trailing comma", `{"policy": {},}`, []string{`config.json:1:14: this is not JSON: there is a comma before "}"`}},
		{"two values", "{} {}", []string{`config.json:1:4: this is not JSON: there is more text after the end of the JSON value: "{}"`}},
		{"byte order mark", "\xef\xbb\xbf{}", []string{`config.json:1:1: the file starts with a byte order mark; save it as plain UTF-8`}},
		{"not UTF-8", "{\"\xff\": 1}", []string{`config.json:1:3: this is not UTF-8`}},
		{"deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), []string{`config.json:1:18: this nests deeper than 16 levels`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, problemsOf(tt.text, trusted)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkspaceFileMayOnlyTakeAway(t *testing.T) {
	got := problemsOf(`{"surface": "claude", "permission": {"approval": "never"}, "policy": {"by_provider": {}},
		"workspace": {"granted": ["/"]}, "profiles": {}, "state_dir": "/x", "exposure": {}, "secret_env": ["SHLVL"],
		"history": {"enabled": false}}`, workspaceOwn)
	const tail = `" has no place in it; it belongs in the user's file`
	if len(got) != 9 {
		t.Fatalf("%d problems, want one for each of the 9 keys:\n%s", len(got), strings.Join(got, "\n"))
	}
	for _, line := range got {
		if !strings.HasSuffix(line, tail) || !strings.Contains(line, "may only take away") {
			t.Errorf("problem %q does not say why and where else", line)
		}
	}
}

func TestParseValues(t *testing.T) {
	f, problems := parse("c", []byte(`{
		"permission": {"mode": "read-only", "approval": "never", "allow": [], "deny": ["Bash(rm *)"]},
		"policy": {"allow": ["group:fs"], "shell_writes": "warn", "by_provider": {"gpt-5": {"deny": ["shell"]}}},
		"workspace": {"granted": ["~/x", "/z/../w"], "unreadable": []},
		"surface": "claude", "state_dir": "~/s", "timeout": "90s", "secret_env": ["TOKEN"],
		"exposure": {"deferred": false, "pinned": ["grep"], "max_listed": 9},
		"history": {"enabled": false, "max_bytes": 1048576, "max_age_days": 7},
		"profiles": {"ci": {"permission": {"mode": "full-access"}}}
	}`), "/home/u", trusted)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := Settings{
		Permission: Permission{Mode: "read-only", Approval: "never", Allow: []string{}, Deny: []string{"Bash(rm *)"}},
		Policy: Policy{Allow: []string{"group:fs"}, ShellWrites: "warn",
			ByProvider: map[string]Policy{"gpt-5": {Deny: []string{"shell"}}}},
		Workspace: Workspace{Granted: []string{"/home/u/x", "/w"}, Unreadable: []string{}},
		Surface:   "claude", StateDir: "/home/u/s", Timeout: 90 * time.Second, SecretEnv: []string{"TOKEN"},
		Exposure: Exposure{Deferred: new(bool), Pinned: []string{"grep"}, MaxListed: 9},
		History:  History{Enabled: new(bool), MaxBytes: 1 << 20, MaxAgeDays: 7},
		Profiles: map[string]Settings{"ci": {Permission: Permission{Mode: "full-access"}}},
	}
	if diff := cmp.Diff(want, f.settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// FuzzParse checks that no text crashes the reader, that every problem
// stands inside the file, and that what is accepted is JSON.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, ``, `{"permission":{"mode":"read-only","allow":[]}}`, `{"policy":{"by_provider":{"x":{"deny":["a"]}}}}`,
		`{"profiles":{"a":{"workspace":{"granted":["~/x"]}}}}`, "{\n\"a\":1,\"a\":2}", `[[[[`, `{"a"`, `{"a":1,}`, "\xef\xbb\xbf{}", `{"ä":"\ud800"}`,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, own bool) {
		from := trusted
		if own {
			from = workspaceOwn
		}
		_, problems := parse("c", []byte(text), "/home/u", from)
		lines := strings.Count(text, "\n") + 1
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Column > len(text)+1 {
				t.Errorf("problem outside the file: %v", p)
			}
		}
		if len(problems) == 0 && !json.Valid([]byte(text)) {
			t.Errorf("accepted %q, which is not JSON", text)
		}
	})
}
