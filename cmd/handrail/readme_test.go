package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/config"
)

var fence = regexp.MustCompile("(?s)```(console|json)\n(.*?)```")

// block returns the first block of the README in that language.
func block(t *testing.T, readme []byte, language string) string {
	t.Helper()
	for _, m := range fence.FindAllSubmatch(readme, -1) {
		if string(m[1]) == language {
			return string(m[2])
		}
	}
	t.Fatalf("the README has no block of %s", language)
	return ""
}

// TestREADMEShowsWhatHappens runs the commands that the README shows, in a
// copy of testdata/readme, and compares what they print. With UPDATE_SCRIPTS
// set it rewrites the README instead.
func TestREADMEShowsWhatHappens(t *testing.T) {
	path, err := filepath.Abs("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shown := block(t, readme, "console")

	dir := filepath.Join(t.TempDir(), "project")
	if err := os.CopyFS(dir, os.DirFS("testdata/readme")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Chdir(dir)
	var got strings.Builder
	for line := range strings.Lines(shown) {
		if command, ok := strings.CutPrefix(line, "$ handrail "); ok {
			if got.Len() > 0 {
				got.WriteString("\n")
			}
			got.WriteString(line)
			var both bytes.Buffer
			run(context.Background(), &terminal{in: strings.NewReader(""), out: &both, err: &both}, typed(command))
			got.Write(both.Bytes())
		}
	}
	printed := steadyIDs(got.String())
	switch {
	case printed == shown:
	case os.Getenv("UPDATE_SCRIPTS") != "":
		if err := os.WriteFile(path, bytes.Replace(readme, []byte(shown), []byte(printed), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the README shows\n%s\nand the program prints\n%s", shown, printed)
	}
}

// typed splits a command line as a shell does that knows single quotes alone.
func typed(line string) []string {
	words := regexp.MustCompile(`(?:[^\s']|'[^']*')+`).FindAllString(line, -1)
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "'", "")
	}
	return words
}

// steadyIDs gives the changes that a text names, which have other ids each
// time, ids in the order of their names in the text.
func steadyIDs(text string) string {
	names := []string{"c_k3m9x2pq7abc", "c_w5tn4ohz6rde"}
	given := map[string]string{}
	return regexp.MustCompile(`c_[a-z2-7]{12}`).ReplaceAllStringFunc(text, func(id string) string {
		if given[id] == "" && len(given) < len(names) {
			given[id] = names[len(given)]
		}
		return given[id]
	})
}

// TestREADMESettingsAreValid opens a session with the settings that the
// README shows.
func TestREADMESettingsAreValid(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(block(t, readme, "json")), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var out, complaints bytes.Buffer
	args := []string{"tools", "-w", t.TempDir(), "--config", file, "--profile", "review", "--provider", "small-model"}
	if code := run(t.Context(), &terminal{out: &out, err: &complaints}, args); code != exitOK {
		t.Fatalf("exit code %d: %s", code, complaints.String())
	}
	if !strings.Contains(out.String(), "read_file") || strings.Contains(out.String(), "write_file") {
		t.Errorf("the provider's policy does not hold:\n%s", out.String())
	}
	// The network is denied, and a command behind its fence has none.
	out.Reset()
	if code := run(t.Context(), &terminal{out: &out, err: &complaints}, args[:5]); code != exitOK || !strings.Contains(out.String(), "shell") {
		t.Errorf("exit code %d: %s\n%s", code, complaints.String(), out.String())
	}
}

// TestEveryWordOfTheSettingsIsKnown keeps the words that the settings allow
// in step with the rooms that read them.
func TestEveryWordOfTheSettingsIsKnown(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	for list, words := range map[string][]string{
		`{"permission": {"mode": "WORD"}}`: config.Modes(), `{"permission": {"approval": "WORD"}}`: config.Approvals(),
		`{"policy": {"shell_writes": "WORD"}}`: config.ShellWrites(), `{"surface": "WORD"}`: config.Surfaces(),
		`{"commands": {"fence": "WORD"}}`: config.Fences(), `{"commands": {"network": "WORD"}}`: config.Networks(),
	} {
		for _, word := range words {
			file := filepath.Join(dir, "c.json")
			if err := os.WriteFile(file, []byte(strings.Replace(list, "WORD", word, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			var complaints bytes.Buffer
			if code := run(t.Context(), &terminal{out: &bytes.Buffer{}, err: &complaints}, []string{"tools", "-w", dir, "--config", file}); code != exitOK {
				t.Errorf("%s with %s: %s", list, word, complaints.String())
			}
		}
	}
}
