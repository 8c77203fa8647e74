package config

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheSettingsPageIsTrue: docs/settings.md names every key, and what it
// shows can be loaded.
func TestTheSettingsPageIsTrue(t *testing.T) {
	data, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for key := range homes() {
		if !strings.Contains(page, "`"+key+"`") && !strings.Contains(page, `"`+key+`"`) {
			t.Errorf("docs/settings.md does not name %q", key)
		}
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Fatal("the page shows no settings")
	}
	home := writeAll(t, map[string]string{".claude/settings.json": "deny x", ".codex/rules/default.rules": "deny y"})
	for _, b := range blocks {
		if _, err := Load(Request{Given: &Given{Name: "settings.md", Data: []byte(b[1])}, Home: home, Import: lineImporter}); err != nil {
			t.Error(err)
		}
	}
	for _, words := range [][]string{Modes(), Approvals(), ShellWrites()} {
		for _, w := range words {
			if !strings.Contains(page, "`"+w+"`") {
				t.Errorf("docs/settings.md does not name the word %q", w)
			}
		}
	}
}
