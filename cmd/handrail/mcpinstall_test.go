package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstallAsks(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		dir := t.TempDir()
		var out, err bytes.Buffer
		term := &terminal{in: strings.NewReader(answer), out: &out, err: &err, inTTY: true, outTTY: true, errTTY: true}
		code := run(t.Context(), term, []string{"mcp", "install", "gemini", "-w", dir})
		_, missing := os.Stat(filepath.Join(dir, ".gemini", "settings.json"))
		if written := missing == nil; written != want || (code == exitOK) != want {
			t.Errorf("%q: written %v, exit code %d", answer, written, code)
		}
		if !strings.Contains(out.String(), `+    "handrail": {`) || !strings.Contains(err.String(), "[y/N]") {
			t.Errorf("%q: what would be written is not shown: %s%s", answer, out.String(), err.String())
		}
	}
}

func TestInstallLeavesWhatOthersHaveChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	c, err := newSettingsChange(path, func([]byte) ([]byte, error) { return []byte("ours"), nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.write(); err == nil {
		t.Error("another program's change is lost")
	}
	if data, _ := os.ReadFile(path); string(data) != "theirs" {
		t.Errorf("file %q", data)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".handrail-*")); left != nil {
		t.Errorf("left over: %v", left)
	}
}

func TestInstallKeepsLinksAndModes(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(real, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	c, err := newSettingsChange(link, func([]byte) ([]byte, error) { return []byte("new"), nil })
	if err == nil {
		err = c.write()
	}
	if err != nil {
		t.Fatal(err)
	}
	at, err := os.Lstat(real)
	if err != nil || at.Mode() != 0o600 {
		t.Errorf("mode %v, %v", at, err)
	}
	if to, err := os.Readlink(link); err != nil || to != real {
		t.Errorf("the link is gone: %v", err)
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := newSettingsChange(link, nil); err == nil {
		t.Error("a link to nothing is taken for a new file")
	}
}
