package hook

import (
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

func TestMatcher(t *testing.T) {
	for _, c := range []struct {
		matcher, name string
		want          bool
	}{
		{"", "Bash", true}, {"*", "Bash", true}, {" ", "Bash", true},
		{"Bash", "Bash", true}, {"Bash", "BashOutput", false}, {"bash", "Bash", false},
		{"Edit|Write", "Write", true}, {"Edit | Write", "Edit", true}, {"Edit, Write", "Write", true}, {"Edit|Write", "MultiEdit", false},
		{"Notebook.*", "NotebookEdit", true}, {"mcp__.*__write.*", "mcp__fs__write_file", true}, {"^Edit$", "MultiEdit", false},
		{"mcp__memory", "mcp__memory__read", false},
	} {
		m, err := newMatcher(c.matcher)
		if err != nil || m.matches("x", c.name) != c.want {
			t.Errorf("%q and %q: %v, %v", c.matcher, c.name, m.matches("x", c.name), err)
		}
	}
	for _, bad := range []string{"^(?!Bash)", "(", "|"} {
		if _, err := newMatcher(bad); err == nil {
			t.Errorf("%q is taken, and would match nothing", bad)
		}
	}
}

func TestParseEvent(t *testing.T) {
	for name, want := range map[string]Event{"PreToolUse": PreToolUse, "pre_tool_use": PreToolUse, "before_tool_call": PreToolUse, "Stop": Stop, "before_llm_call": PreLLMCall} {
		if got, fires, err := ParseEvent(name); got != want || !fires || err != nil {
			t.Errorf("%s is %s, %v, %v", name, got, fires, err)
		}
	}
	if _, fires, err := ParseEvent("WorktreeCreate"); fires || err != nil {
		t.Errorf("an event of Claude Code that is not fired: %v, %v", fires, err)
	}
	for _, bad := range []string{"", "PreTolUse"} {
		if _, _, err := ParseEvent(bad); err == nil || bad != "" && !strings.Contains(err.Error(), `did you mean "PreToolUse"`) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestNewReportsAllMistakes(t *testing.T) {
	_, err := New(Config{Hooks: []Hook{
		{Event: "PreTolUse", Command: "x"},
		{Event: PreToolUse},
		{Event: PreToolUse, Command: "x", URL: "http://127.0.0.1/"},
		{Event: PreToolUse, URL: "ftp://x/"},
		{Event: PreToolUse, URL: "http://127.0.0.1/", Headers: map[string]string{"Authorization": "Bearer $TOKEN"}},
		{Event: Stop, URL: "http://127.0.0.1/", If: "Bash(ls)"},
		{Event: PostToolUse, URL: "http://127.0.0.1/", OnFailure: Block},
		{Event: PreToolUse, URL: "http://127.0.0.1/", OnFailure: "ignore"},
		{Event: PreToolUse, Matcher: "(", URL: "http://127.0.0.1/", Timeout: -1},
		{Event: PreToolUse, Command: "x", Source: "settings.json:7:9"},
	}})
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{"did you mean", "it has 0 of", "it has 2 of", "ftp://x/", `names the variable "TOKEN"`, "is about none",
		"nothing can be blocked at post_tool_use", `cannot be "ignore"`, "matcher", "is negative", "settings.json:7:9: pre_tool_use", "needs a session with a workspace"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
}

// TestF093_MatchersThatMatchNothing: a hook that will never run is told of,
// with what was probably meant.
func TestF093_MatchersThatMatchNothing(t *testing.T) {
	specs := slices.Values([]*tool.Spec{
		{Name: "shell", Aliases: []string{"bash"}, Effects: tool.Exec}, {Name: "apply_patch", Effects: tool.Read | tool.Write}, {Name: "mcp__srv__read", Effects: tool.Network},
	})
	for matcher, want := range map[string]string{
		"": "", "*": "", "Bash": "", "bash": "", "shell": "", "apply_patch": "", "Edit|Write": "", "Write": "", "Read": "", "mcp__srv__.*": "", "mcp__srv__read": "", "WebFetch|Bash": "", "^mcp__": "",
		"mcp__srv": `"mcp__srv__.*"`, "mcp__other__.*": "no tool", "Basch": "no tool", "WebFetch": "no tool", "Bash.+": "no tool",
	} {
		r, err := New(Config{Hooks: []Hook{{Event: PostToolUse, Matcher: matcher, URL: "http://127.0.0.1/", Source: "h.json:3"}, {Event: SessionStart, Matcher: "none", URL: "http://127.0.0.1/"}}})
		if err != nil {
			t.Fatal(err)
		}
		idle := r.Idle(specs)
		if len(idle) != min(1, len(want)) || len(idle) == 1 && (!strings.Contains(idle[0].Why, want) || idle[0].Source != "h.json:3") {
			t.Errorf("%q: %+v, want %q", matcher, idle, want)
		}
		_ = r.Close(t.Context())
	}
}
