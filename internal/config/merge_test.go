package config

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOverlay(t *testing.T) {
	yes, no := true, false
	base := Settings{
		Permission: Permission{Mode: "read-only", Approval: "never", Allow: []string{"a"}, Ask: []string{"b"}, Deny: []string{"c"}},
		Policy: Policy{Allow: []string{"x"}, Deny: []string{"y"}, RequireTags: []string{"t"},
			ByProvider: map[string]Policy{"p": {Deny: []string{"shell"}}}},
		Workspace: Workspace{Granted: []string{"/a"}, Protected: []string{"k"}, Unreadable: []string{".env"}},
		Exposure:  Exposure{Deferred: &yes, MaxListed: 9},
		History:   History{Enabled: &no, MaxBytes: 1000},
	}
	t.Run("nothing said changes nothing", func(t *testing.T) {
		if diff := cmp.Diff(base, overlay(base, Settings{})); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("allow lists replace, refusals join", func(t *testing.T) {
		got := overlay(base, Settings{
			Permission: Permission{Mode: "full-access", Allow: []string{}, Ask: []string{}, Deny: []string{"c", "d"}},
			Policy: Policy{Allow: []string{"z"}, Deny: []string{"w"}, RequireTags: []string{"u"},
				ByProvider: map[string]Policy{"p": {Allow: []string{"read_file"}}}},
			Workspace: Workspace{Granted: []string{}, Protected: []string{"l"}, Unreadable: []string{}},
			History:   History{Enabled: &yes, MaxAgeDays: 3},
			Exposure:  Exposure{Deferred: &no, IdleTurns: 2}, Timeout: time.Second, SecretEnv: []string{"X"},
		})
		want := Settings{
			Permission: Permission{Mode: "full-access", Approval: "never", Allow: []string{}, Ask: []string{"b"}, Deny: []string{"c", "d"}},
			Policy: Policy{Allow: []string{"z"}, Deny: []string{"y", "w"}, RequireTags: []string{"u"},
				ByProvider: map[string]Policy{"p": {Allow: []string{"read_file"}, Deny: []string{"shell"}}}},
			Workspace: Workspace{Granted: []string{}, Protected: []string{"k", "l"}, Unreadable: []string{}},
			History:   History{Enabled: &yes, MaxBytes: 1000, MaxAgeDays: 3},
			Exposure:  Exposure{Deferred: &no, MaxListed: 9, IdleTurns: 2}, Timeout: time.Second, SecretEnv: []string{"X"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("settings (-want +got):\n%s", diff)
		}
	})
	t.Run("an unsaid list and an empty one differ", func(t *testing.T) {
		got := overlay(Settings{}, Settings{Policy: Policy{Allow: []string{}, Deny: []string{}}})
		if got.Policy.Allow == nil || got.Policy.Deny == nil || got.Policy.RequireTags != nil {
			t.Errorf("policy is %#v", got.Policy)
		}
	})
}

func TestOverlayKeepsItsOperands(t *testing.T) {
	base := Settings{Policy: Policy{ByProvider: map[string]Policy{"p": {Deny: []string{"a"}}}}}
	over := Settings{Policy: Policy{ByProvider: map[string]Policy{"p": {Deny: []string{"b"}}}}}
	got := overlay(base, over)
	got.Policy.ByProvider["p"].Deny[0] = "changed"
	if base.Policy.ByProvider["p"].Deny[0] != "a" || over.Policy.ByProvider["p"].Deny[0] != "b" {
		t.Error("the result shares memory with an operand")
	}
}

func TestNarrow(t *testing.T) {
	base := Settings{
		Permission: Permission{Mode: "workspace-write", Allow: []string{"Bash(go test)", "Bash(go vet)"}},
		Policy:     Policy{RequireTags: []string{"code"}, ShellWrites: "warn"},
		Workspace:  Workspace{Unreadable: []string{".env"}},
	}
	tests := []struct {
		name, text string
		change     func(*Settings)
		problem    string
	}{
		{"lower mode", `{"permission": {"mode": "read-only"}}`, func(s *Settings) { s.Permission.Mode = "read-only" }, ""},
		{"higher mode is a ceiling without effect", `{"permission": {"mode": "full-access"}}`, func(*Settings) {}, ""},
		{"wider shell writes have no effect", `{"policy": {"shell_writes": "allow"}}`, func(*Settings) {}, ""},
		{"part of the allow list", `{"permission": {"allow": ["Bash(go vet)"]}}`,
			func(s *Settings) { s.Permission.Allow = []string{"Bash(go vet)"} }, ""},
		{"empty allow list", `{"permission": {"allow": []}}`, func(s *Settings) { s.Permission.Allow = []string{} }, ""},
		{"a rule of its own", `{"permission": {"allow": ["Bash(rm)"]}}`, nil,
			`c:1:27: a workspace's own file may only take away, and permission.allow of the trusted settings does not have "Bash(rm)"; add it in the user's file`},
		{"fewer tools", `{"policy": {"allow": ["read_file"], "deny": ["shell"]}}`,
			func(s *Settings) { s.Policy.Allow, s.Policy.Deny = []string{"read_file"}, []string{"shell"} }, ""},
		{"another tag would let more through", `{"policy": {"require_tags": ["web"]}}`, nil,
			`c:1:30: a workspace's own file may only take away, and policy.require_tags of the trusted settings does not have "web"; add it in the user's file`},
		{"no tags required takes nothing away", `{"policy": {"require_tags": []}}`, func(*Settings) {}, ""},
		{"more protection", `{"workspace": {"protected": ["keys"], "unreadable": ["dump"]}}`,
			func(s *Settings) {
				s.Workspace.Protected, s.Workspace.Unreadable = []string{"keys"}, []string{".env", "dump"}
			}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			own, problems := parse("c", []byte(tt.text), "", workspaceOwn)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got, problems := narrow(base, own)
			if tt.problem != "" {
				if problems.Error() != tt.problem {
					t.Errorf("problems are\n%v, want\n%s", problems, tt.problem)
				}
				return
			}
			want := base.clone()
			tt.change(&want)
			if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
				t.Errorf("problems %v, settings (-want +got):\n%s", problems, diff)
			}
		})
	}
}

// TestNarrowNeverWidens gives random settings and a random workspace file,
// and asks of the result that it permits nothing new.
func TestNarrowNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := drawSettings(t, "base")
		own := &file{name: "c", settings: drawSettings(t, "own"), places: map[string]int{}}
		got, problems := narrow(base, own)
		if len(problems) > 0 {
			return
		}
		if slices.Index(Modes(), got.Permission.Mode) > slices.Index(Modes(), base.Permission.Mode) {
			t.Errorf("mode rose from %s to %s", base.Permission.Mode, got.Permission.Mode)
		}
		if slices.Index(ShellWrites(), got.Policy.ShellWrites) > slices.Index(ShellWrites(), base.Policy.ShellWrites) {
			t.Errorf("shell_writes rose from %s to %s", base.Policy.ShellWrites, got.Policy.ShellWrites)
		}
		within := func(what string, wide, slim []string) {
			for _, entry := range slim {
				if !slices.Contains(wide, entry) {
					t.Errorf("%s: %q is in %q and not in %q", what, entry, slim, wide)
				}
			}
		}
		within("permission.allow", base.Permission.Allow, got.Permission.Allow)
		within("deny", got.Permission.Deny, base.Permission.Deny)
		within("ask", got.Permission.Ask, base.Permission.Ask)
		within("policy.deny", got.Policy.Deny, base.Policy.Deny)
		within("unreadable", got.Workspace.Unreadable, base.Workspace.Unreadable)
		within("protected", got.Workspace.Protected, base.Workspace.Protected)
		if base.Policy.Allow != nil {
			within("policy.allow", base.Policy.Allow, got.Policy.Allow)
			if got.Policy.Allow == nil {
				t.Error("policy.allow became no list, which allows everything")
			}
		}
		if len(base.Policy.RequireTags) > 0 {
			within("require_tags", base.Policy.RequireTags, got.Policy.RequireTags)
			if len(got.Policy.RequireTags) == 0 {
				t.Error("require_tags became empty, which requires nothing")
			}
		}
		got.Permission, got.Policy.Allow, got.Policy.Deny = base.Permission, base.Policy.Allow, base.Policy.Deny
		got.Policy.RequireTags, got.Policy.ShellWrites = base.Policy.RequireTags, base.Policy.ShellWrites
		got.Workspace.Unreadable, got.Workspace.Protected = base.Workspace.Unreadable, base.Workspace.Protected
		if diff := cmp.Diff(base, got); diff != "" {
			t.Errorf("something else changed:\n%s", diff)
		}
	})
}

func drawSettings(t *rapid.T, label string) Settings {
	list := rapid.Custom(func(t *rapid.T) []string {
		if rapid.Bool().Draw(t, "unsaid") {
			return nil
		}
		return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "entries")
	})
	return Settings{
		Permission: Permission{
			Mode:     rapid.SampledFrom(Modes()).Draw(t, label+" mode"),
			Approval: rapid.SampledFrom(Approvals()).Draw(t, label+" approval"),
			Allow:    list.Draw(t, label+" allow"), Ask: list.Draw(t, label+" ask"), Deny: list.Draw(t, label+" deny"),
		},
		Policy: Policy{
			Allow: list.Draw(t, label+" policy.allow"), Deny: list.Draw(t, label+" policy.deny"),
			RequireTags: list.Draw(t, label+" tags"),
			ShellWrites: rapid.SampledFrom(ShellWrites()).Draw(t, label+" shell_writes"),
			ByProvider:  map[string]Policy{"p": {Deny: list.Draw(t, label+" provider deny")}},
		},
		Workspace: Workspace{
			Granted: list.Draw(t, label+" granted"), Unreadable: list.Draw(t, label+" unreadable"),
			Protected: list.Draw(t, label+" protected"),
		},
		Exposure:  Exposure{Pinned: list.Draw(t, label+" pinned")},
		SecretEnv: list.Draw(t, label+" secret_env"),
		Surface:   rapid.SampledFrom(Surfaces()).Draw(t, label+" surface"),
	}
}

func TestBuiltinProfilesAreOrdered(t *testing.T) {
	names := slices.Sorted(maps.Keys(BuiltinProfiles()))
	if diff := cmp.Diff([]string{"full-access", "read-only", "workspace-write"}, names); diff != "" {
		t.Error(diff)
	}
	for name, p := range BuiltinProfiles() {
		if p.Permission.Mode != name || !slices.Contains(Approvals(), p.Permission.Approval) {
			t.Errorf("profile %s has the permission %+v", name, p.Permission)
		}
	}
}
