package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestTheSettingsOfThePageOpenASession: what docs/settings.md shows are
// settings that a session can be opened with, and rules that do something.
func TestTheSettingsOfThePageOpenASession(t *testing.T) {
	page, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for name, text := range map[string]string{
		".claude/settings.json": `{"permissions": {"deny": ["Bash(curl:*)"]}}`, ".codex/rules/default.rules": `prefix_rule(pattern = ["git", "status"])`,
	} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	blocks := fence.FindAllSubmatch(page, -1)
	if len(blocks) < 3 {
		t.Fatalf("the page shows %d blocks", len(blocks))
	}
	for i, block := range blocks {
		file := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(file, block[2], 0o644); err != nil {
			t.Fatal(err)
		}
		var out, complaints bytes.Buffer
		if code := run(t.Context(), &terminal{out: &out, err: &complaints}, []string{"policy", "check", "-w", t.TempDir(), "--config", file}); code != exitOK {
			t.Errorf("block %d: exit code %d\n%s%s", i+1, code, out.String(), complaints.String())
		}
	}
}
