package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/handrail-tools/handrail"
)

// TestF094_SameVerdictFromTheCommandLine: random rules and commands have the
// same verdict by call, batch and explain as in a session of the library, whose
// other origins the root package compares. Nobody is there to be asked.
func TestF094_SameVerdictFromTheCommandLine(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	rules := []string{"shell(git *)", "bash(echo x)", "exec_command(ls:*)", "read_file(.env)", "edit_file(docs/**)", "Bash(env:*)", "shell(*version*)"}
	texts := []string{"git --version", "echo x", "ls", "cat .env", "cat .ENV", "sh -c 'git --version'", "G=git; $G --version", "echo x >> docs/b.txt", "cat .e*", "true"}
	random := rand.New(rand.NewPCG(6, 1))
	pick := func() []string {
		list := []string{}
		for range random.IntN(3) {
			list = append(list, rules[random.IntN(len(rules))])
		}
		return list
	}
	dir := t.TempDir()
	for name, text := range map[string]string{".env": "SECRET=1\n", "docs/b.txt": "x\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for range 12 {
		p := handrail.Permission{Mode: []handrail.Mode{handrail.ReadOnly, handrail.WorkspaceWrite}[random.IntN(2)], Allow: pick(), Ask: pick(), Deny: pick()}
		settings, err := json.Marshal(map[string]any{"permission": map[string]any{"mode": p.Mode, "allow": p.Allow, "ask": p.Ask, "deny": p.Deny}})
		if err != nil {
			t.Fatal(err)
		}
		config := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(config, settings, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := handrail.Open(t.Context(), handrail.Options{Workspace: dir, Permission: p, Guard: handrail.GuardOff})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			args, err := json.Marshal(map[string]string{"command": texts[random.IntN(len(texts))]})
			if err != nil {
				t.Fatal(err)
			}
			want := s.Explain(t.Context(), handrail.Call{Tool: "shell", Args: args}).Outcome.String()
			seen[want]++
			for _, way := range []string{"call", "batch", "explain"} {
				if got := verdictBy(t, way, dir, config, string(args)); got != want {
					t.Errorf("%s: %s is %s in a session and %s by %s", settings, args, want, got, way)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("verdicts: %v", seen)
	}
}

// verdictBy is what becomes of a call of shell by a sub-command.
func verdictBy(t *testing.T, way, dir, config, args string) string {
	t.Helper()
	line := []string{way, "-w", dir, "--config", config, "--json"}
	in, out, complaints := &bytes.Buffer{}, &bytes.Buffer{}, &bytes.Buffer{}
	if way == "batch" {
		in.WriteString(`{"id":"1","tool":"shell","args":` + args + "}\n")
	} else {
		line = append(line, "shell", args)
	}
	run(t.Context(), &terminal{in: in, out: out, err: complaints}, line)
	var said struct{ Code, Outcome string }
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		t.Fatalf("%s: %v: %s%s", way, err, out, complaints)
	}
	switch {
	case way == "explain":
		return said.Outcome
	case said.Code == "denied":
		return "deny"
	case said.Code == "approval_required":
		return "ask"
	}
	return "allow"
}
