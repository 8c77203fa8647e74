package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/tool"
)

// What names nothing known is an error when the policy is compiled, in every
// list, and the error says what is near (octos weakness G23).
func TestG23_UnknownEntriesAreErrors(t *testing.T) {
	for _, c := range []struct{ entry, want string }{
		{"shel", `did you mean "shell"?`},
		{"Shell", `did you mean "shell"?`},
		{"readfile", `did you mean "read_file"?`},
		{"shel*", ""}, // a prefix of shell
		{"sshel*", `no tool name begins with "sshel"`},
		{"mcp__gihub__*", `no tool name begins with "mcp__gihub__"`},
		{"group:runtme", `did you mean "group:runtime"?`},
		{"group:nothing_like_it", "there are fs, runtime, web, search"},
		{"group:robot:safe_moton", `did you mean "group:robot:safe_motion"?`},
		{"tier:observ", `did you mean "tier:observe"?`},
		{"effect:exce", `did you mean "effect:exec"?`},
		{"effect:exec?", "effects are fixed"},
		{"tag:untrustd", `did you mean "tag:untrusted"?`},
		{"groups:fs", `did you mean "group:"?`},
		{"mcp:github", "unknown kind"},
		{"", "is empty"},
		{"?", "is empty"},
		{"*_file", "wildcard may only stand at the end"},
		{"read_*_file", "wildcard may only stand at the end"},
		{"**", "wildcard may only stand at the end"},
		{"group:f*", "only tool names take one"},
		{"group:", "no valid name after"},
		{"tag:Untrusted", "no valid name after"},
		{"effect: exec", "no valid name after"},
		{" shell", "is no tool name"},
		{"shell ", "is no tool name"},
		{"read file", "is no tool name"},
		{"shell??", "is no tool name"},
		{"!shell", "is no tool name"},
		{strings.Repeat("x", 65), "is no tool name"},
		{strings.Repeat("x", 1<<20), "is no tool name"},
	} {
		t.Run(tool.Clip(c.entry), func(t *testing.T) {
			for list, config := range map[string]policy.Config{
				"deny":  {Deny: []string{"read_file", c.entry}},
				"allow": {Allow: []string{"read_file", c.entry}},
			} {
				_, err := policy.Compile(config, nil, house)
				if c.want == "" {
					if err != nil {
						t.Errorf("%s: %v", list, err)
					}
					continue
				}
				if err == nil {
					t.Errorf("%s takes it", list)
					continue
				}
				if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), list+" entry 2") {
					t.Errorf("%s: the error does not say %q:\n%v", list, c.want, err)
				}
				if len(err.Error()) > 1000 {
					t.Errorf("%s: the error has %d bytes", list, len(err.Error()))
				}
			}
		})
	}
}

func TestMarkedEntriesMayComeLater(t *testing.T) {
	entries := []string{"future?", "future_*?", "group:future?", "tag:future?", "tier:future?", "group:robot:future?", "shell?", "group:fs?"}
	mustCompile(t, policy.Config{Allow: entries, Deny: entries, RequireTags: []string{"future?", "code?"}})
}

func TestL1_AllProblemsAtOnce(t *testing.T) {
	_, err := policy.Compile(policy.Config{
		Allow:       []string{"reed_file", "read_file"},
		Deny:        []string{"group:runtme", "*x"},
		RequireTags: []string{"coed"},
		ShellWrites: "wran",
	}, nil, house)
	if err == nil {
		t.Fatal("it was taken")
	}
	for _, want := range []string{
		`allow entry 1, "reed_file"`, `deny entry 1, "group:runtme"`, `deny entry 2, "*x"`, `require_tags entry 1, "coed"`, `did you mean "code"?`,
		`shell_writes`, `did you mean "warn"?`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestRequireTagsEmptyIsRefused(t *testing.T) {
	if _, err := policy.Compile(policy.Config{RequireTags: []string{}}, nil, house); err == nil || !strings.Contains(err.Error(), "leave it out") {
		t.Errorf("error %v", err)
	}
}

// Names that only the vocabulary knows are known: a policy for all sessions
// names tools that one of them lacks.
func TestVocabularyNamesAreKnown(t *testing.T) {
	mustCompile(t, policy.Config{Deny: []string{"spawn_agent", "web_search", "apply_*", "tag:skill", "tag:tier:observe"}})
}

func TestCompileWithoutCatalog(t *testing.T) {
	p, err := policy.Compile(policy.Config{Deny: []string{"shell", "group:fs"}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Decide(house.get(t, "shell")); d.Allowed {
		t.Errorf("decision %+v", d)
	}
}

func TestGroups(t *testing.T) {
	v := policy.DefaultVocabulary()
	members := func(group string) []string {
		t.Helper()
		m, ok := v.Members(group)
		if !ok {
			t.Fatalf("there is no group %q", group)
		}
		return m
	}
	t.Run("L31 delegated contains sessions", func(t *testing.T) {
		delegated := members("delegated")
		for _, name := range members("sessions") {
			if !slices.Contains(delegated, name) {
				t.Errorf("delegated lacks %q", name)
			}
		}
	})
	t.Run("L31 whatever sessions gains, delegated gains", func(t *testing.T) {
		own, err := policy.NewVocabulary([]policy.Group{
			{Name: "delegated", Members: []string{"group:sessions"}},
			{Name: "sessions", Members: []string{"spawn", "tomorrow"}},
		}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := own.Members("delegated"); !slices.Contains(got, "tomorrow") {
			t.Errorf("delegated is %q", got)
		}
	})
	t.Run("octos' table", func(t *testing.T) {
		for group, want := range map[string]string{
			"fs":        "read_file write_file apply_patch edit_file diff_edit",
			"runtime":   "shell exec_command write_stdin bash",
			"web":       "web_search web_fetch browser",
			"search":    "glob grep list_dir",
			"sessions":  "spawn spawn_agent send_input resume_agent wait_agent close_agent delegate",
			"memory":    "recall_memory save_memory memory_note record_memory_use",
			"research":  "search synthesize_research deep_crawl",
			"admin":     "manage_skills configure_tool model_check",
			"media":     "mofa_make mofa_describe_content_type mofa_comic mofa_slides mofa_infographic mofa_cards fm_tts fm_voice_list",
			"delegated": "delegate_task delegate spawn spawn_agent send_input resume_agent wait_agent close_agent message save_memory memory_note",
		} {
			got := members(group)
			for name := range strings.FieldsSeq(want) {
				if !slices.Contains(got, name) {
					t.Errorf("group %s lacks %q", group, name)
				}
			}
		}
	})
	t.Run("members are copies", func(t *testing.T) {
		members("fs")[0] = "changed"
		if slices.Contains(members("fs"), "changed") {
			t.Error("the vocabulary was changed through what it returned")
		}
	})
	t.Run("home group", func(t *testing.T) {
		for name, want := range map[string]string{"grep": "search", "spawn": "sessions", "message": "delegated", "no_such": ""} {
			if got := v.HomeGroup(&tool.Spec{Name: name}); got != want {
				t.Errorf("the home of %s is %q, want %q", name, got, want)
			}
		}
		if got := v.HomeGroup(&tool.Spec{Name: "terminal", Aliases: []string{"bash"}}); got != "runtime" {
			t.Errorf("the home of a tool with the alias bash is %q", got)
		}
	})
}

func TestVocabularyErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		groups []policy.Group
		tiers  []string
		want   string
	}{
		{"twice", []policy.Group{{Name: "a"}, {Name: "a"}}, nil, "declared twice"},
		{"contains itself", []policy.Group{{Name: "a", Members: []string{"group:b"}}, {Name: "b", Members: []string{"group:a"}}}, nil, "a > b > a"},
		{"unknown inner group", []policy.Group{{Name: "a", Members: []string{"group:b"}}}, nil, `there is no group "b"`},
		{"bad name", []policy.Group{{Name: "A B"}}, nil, "group name"},
		{"a tier's spelling", []policy.Group{{Name: "robot:x"}}, nil, "spells a tier"},
		{"bad member", []policy.Group{{Name: "a", Members: []string{"x*y"}}}, nil, "neither a tool name"},
		{"all as a member", []policy.Group{{Name: "a", Members: []string{"*"}}}, nil, "neither a tool name"},
		{"tier twice", nil, []string{"low", "low"}, "declared twice"},
		{"bad tier", nil, []string{"Low"}, "tier or tag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := policy.NewVocabulary(c.groups, c.tiers, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
	t.Run("an existing group cannot be changed", func(t *testing.T) {
		if _, err := policy.DefaultVocabulary().With(policy.Group{Name: "fs", Members: []string{"x"}}); err == nil {
			t.Error("it was")
		}
	})
}
