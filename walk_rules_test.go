package handrail_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
)

// TestRulesReachIntoFolders: what a path rule keeps from a tool, or from
// read_file, is not shown by a tool that walks through the folder above.
func TestRulesReachIntoFolders(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"secret/k.txt": "needle one", "open/k.txt": "needle two"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, rule := range []handrail.Permission{
		{Deny: []string{"grep(secret/**)", "glob(secret/**)", "list_dir(secret/**)"}},
		{Ask: []string{"grep(/secret/)", "glob(/secret/)", "list_dir(/secret/)"}},
		{Deny: []string{"read_file(secret/**)"}},
	} {
		session, err := handrail.Open(t.Context(), handrail.Options{Workspace: dir, Permission: rule})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ tool, args string }{
			{"grep", `{"pattern":"needle"}`}, {"grep", `{"pattern":"needle","output_mode":"files"}`},
			{"grep", `{"pattern":"needle","path":"secret/k.txt"}`}, {"grep", `{"pattern":"needle","path":"secret"}`},
			{"glob", `{"pattern":"**/*.txt"}`}, {"glob", `{"pattern":"secret/*"}`}, {"list_dir", `{"depth":3}`},
		} {
			r := session.Run(t.Context(), handrail.Call{Tool: c.tool, Args: json.RawMessage(c.args)})[0]
			if strings.Contains(r.Text, "needle one") || strings.Contains(r.Text, "secret/k.txt:") || r.OK && strings.Contains(r.Text, "secret/k.txt") {
				t.Errorf("%v: %s %s shows\n%s", rule, c.tool, c.args, r.Text)
			}
			if strings.Contains(c.args, "secret") {
				continue
			}
			if !r.OK || !strings.Contains(r.Text, "open/k.txt") {
				t.Errorf("%v: %s %s: %s", rule, c.tool, c.args, r.Text)
			}
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}
