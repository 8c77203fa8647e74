package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestHooks reads a hooks block as it stands in a settings file of Claude
// Code.
func TestHooks(t *testing.T) {
	f, problems := parse("c.json", []byte(`{"hooks": {
  "PreToolUse": [
    {"matcher": "Bash", "hooks": [
      {"type": "command", "command": "guard", "if": "Bash(git *)", "timeout": 2.5, "statusMessage": "", "shell": "bash"},
      {"type": "http", "url": "http://127.0.0.1/", "headers": {"A": "$B"}, "allowedEnvVars": ["B"], "onFailure": "block"}]},
    {"hooks": [{"command": "c", "args": [], "on_failure": "continue", "fence": false, "async": true, "once": true}]}],
  "Stop": [{"matcher": "", "hooks": [{"type": "agent", "prompt": "p", "model": "m"}]}]
}}`), "", trusted)
	if problems != nil {
		t.Fatal(problems)
	}
	no := false
	want := []Hook{
		{Event: "PreToolUse", Matcher: "Bash", Command: "guard", If: "Bash(git *)", Timeout: 2500 * time.Millisecond, Where: "c.json:4:7"},
		{Event: "PreToolUse", Matcher: "Bash", URL: "http://127.0.0.1/", Headers: map[string]string{"A": "$B"}, AllowedEnv: []string{"B"}, OnFailure: "block", Where: "c.json:5:7"},
		{Event: "PreToolUse", Command: "c", Args: []string{}, OnFailure: "continue", Fence: &no, Async: true, Once: true, Where: "c.json:6:16"},
		{Event: "Stop", Where: "c.json:7:38", Unused: "hooks of the type agent are not run"},
	}
	if diff := cmp.Diff(want, f.settings.Hooks); diff != "" {
		t.Error(diff)
	}
	// Another trusted source adds to them and takes none away.
	both := overlay(f.settings, Settings{Hooks: []Hook{{Event: "Stop", Command: "x"}}})
	if len(both.Hooks) != 5 || len(overlay(f.settings, Settings{Hooks: []Hook{}}).Hooks) != 4 {
		t.Errorf("%d hooks", len(both.Hooks))
	}
}

func TestHookMistakes(t *testing.T) {
	_, problems := parse("c.json", []byte(`{"hooks": {
  "PreToolUse": [{"matcher": 3}, {"hooks": [{"type": "command"}, {"type": "http"}, {"type": "http", "url": "x", "command": "y"}, {"type": "shell"}, 5,
    {"command": "x", "timeout": 0}, {"command": "x", "shell": "powershell"}, {"command": "x", "fence": "no"}]}],
  "Stop": {"hooks": []}
}}`), "", trusted)
	text := problems.Error()
	for _, want := range []string{"matcher must be a string", "has no hooks; it is", "has no command", "has no url", "has both a command and a url",
		`type cannot be "shell"`, "must be an object, not a number", "number of seconds above 0", `shell cannot be "powershell"`, "fence must be true or false",
		"hooks.Stop must be a list"} {
		if !strings.Contains(text, want) {
			t.Errorf("no word of %q:\n%s", want, text)
		}
	}
}
