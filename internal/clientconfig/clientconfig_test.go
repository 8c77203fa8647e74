package clientconfig

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var entry = Entry{Name: "handrail", Command: "/bin/handrail", Args: []string{"mcp", "-w", `/a "b"`}}

const served = `{
      "command": "/bin/handrail",
      "args": [
        "mcp",
        "-w",
        "/a \"b\""
      ]
    }`

func TestNothingElseChanges(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"no file": {"", "{\n  \"mcpServers\": {\n    \"handrail\": " + served + "\n  }\n}\n"},
		"beside another": {
			"{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"} // keep\n  },\n\t\"odd\" : 1e2\n}",
			"{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}, // keep\n    \"handrail\": " + served + "\n  },\n\t\"odd\" : 1e2\n}",
		},
		"an older one": {
			"{\n  \"mcpServers\": {\n    \"handrail\": {\"command\": \"old\"}, \"z\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"handrail\": " + served + ", \"z\": {}\n  }\n}\n",
		},
		"a comma at the end": {
			"{\n  \"a\": [1, 2,],\n  \"mcpServers\": {\n    \"z\": {}, // last\n  },\n}\n",
			"{\n  \"a\": [1, 2,],\n  \"mcpServers\": {\n    \"z\": {}, // last\n    \"handrail\": " + served + ",\n  },\n}\n",
		},
		"an empty object": {"{\n  \"mcpServers\": {}\n}\n", "{\n  \"mcpServers\": {\n    \"handrail\": " + served + "\n  }\n}\n"},
	} {
		got, err := Set("gemini", []byte(c.before), entry)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.after, string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		again, err := Set("gemini", got, entry)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: a second time changes it: %s, %v", name, again, err)
		}
	}
}

func TestOneLineStaysJSON(t *testing.T) {
	for _, before := range []string{`{}`, `{"a":1}`, `{"mcpServers":{"z":{}}}`, `{"mcpServers":{"handrail":1,"z":[]}}`, `{"a":{"mcpServers":1}}`, "\ufeff{\"a\":1}"} {
		for _, client := range []string{"claude", "gemini", "opencode", "vscode"} {
			got, err := Set(client, []byte(before), entry)
			if err != nil {
				t.Fatalf("%s: %v", before, err)
			}
			var parsed map[string]any
			if err := json.Unmarshal([]byte(strings.TrimPrefix(string(got), "\ufeff")), &parsed); err != nil {
				t.Errorf("%s, %s: %v in %s", client, before, err, got)
			}
		}
	}
}

func TestWhatIsNotUnderstoodIsLeftAlone(t *testing.T) {
	for name, before := range map[string]string{
		"a list":           `[]`,
		"cut off":          `{"mcpServers": {`,
		"two documents":    `{} {}`,
		"no comma":         `{"a": 1 "b": 2}`,
		"a bare name":      `{a: 1}`,
		"open string":      `{"a": "b` + "\n" + `"}`,
		"open comment":     `{ /* }`,
		"servers no table": `{"mcpServers": []}`,
		"servers null":     `{"mcpServers": null}`,
		"servers twice":    `{"mcpServers": {}, "mcpServers": {}}`,
		"in other letters": `{"mcpServers": {}, "mcp\u0053ervers": {}}`,
		"entry twice":      `{"mcpServers": {"handrail": 1, "handrail": 2}}`,
		"too deep":         strings.Repeat(`{"a":`, maxDepth+2) + "1" + strings.Repeat("}", maxDepth+2),
		"too large":        "{}" + strings.Repeat(" ", maxFile),
	} {
		if got, err := Set("gemini", []byte(before), entry); err == nil {
			t.Errorf("%s: %.200s", name, got)
		}
	}
}

func TestTables(t *testing.T) {
	const table = "[mcp_servers.handrail]\ncommand = \"/bin/handrail\"\nargs = [\"mcp\", \"-w\", \"/a \\\"b\\\"\"]\n"
	for name, c := range map[string]struct{ before, after string }{
		"no file":        {"", table},
		"other settings": {"model = \"x\" # mine\n", "model = \"x\" # mine\n\n" + table},
		"no line end":    {"model = \"x\"", "model = \"x\"\n\n" + table},
		"beside another": {"[mcp_servers.other]\ncommand = \"handrail\"\n", "[mcp_servers.other]\ncommand = \"handrail\"\n\n" + table},
		"there already":  {"a = 1\n\n" + table, "a = 1\n\n" + table},
		"as a comment":   {"# [mcp_servers.handrail]\n", "# [mcp_servers.handrail]\n\n" + table},
	} {
		got, err := Set("codex", []byte(c.before), entry)
		if err != nil || string(got) != c.after {
			t.Errorf("%s: %v, %s", name, err, cmp.Diff(c.after, string(got)))
		}
	}
	for name, before := range map[string]string{
		"an older one":   "[mcp_servers.handrail]\ncommand = \"old\"\n",
		"in quotes":      "[mcp_servers.\"handrail\"]\n",
		"with blanks":    "[ mcp_servers . handrail ]\n",
		"dotted":         "mcp_servers.handrail.command = \"old\"\n",
		"inline":         "mcp_servers = {}\n",
		"the root table": "[mcp_servers]\nhandrail = {}\n",
		"several lines":  "a = \"\"\"\n[mcp_servers.handrail]\n\"\"\"\n",
	} {
		if got, err := Set("codex", []byte(before), entry); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestPaths(t *testing.T) {
	p := Place{Home: "/home/x", Project: "/home/x/p"}
	for name, want := range map[string]string{
		"claude": "/home/x/p/.mcp.json", "codex": "/home/x/.codex/config.toml", "gemini": "/home/x/p/.gemini/settings.json",
		"opencode": "/home/x/p/opencode.json", "vscode": "/home/x/p/.vscode/mcp.json",
	} {
		if got, err := Path(name, p); err != nil || filepath.ToSlash(got) != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := Path("emacs", p); err == nil || len(Names()) != 5 {
		t.Error("a client that is not known has a path")
	}
}

func FuzzSet(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"mcpServers":{"z":{},},}`, "{ // x\n}", `{"mcpServers":{"handrail":1}}`, "a = 1\n", "\ufeff{}", `{"a":1 /* x */ , }`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		for _, client := range []string{"claude", "codex"} {
			got, err := Set(client, before, entry)
			if err != nil {
				continue
			}
			again, err := Set(client, got, entry)
			if err != nil || string(again) != string(got) {
				t.Fatalf("%s: %q became %q and then %q, %v", client, before, got, again, err)
			}
			if client == "claude" && json.Valid(before) && !json.Valid(got) {
				t.Fatalf("%q became %q, which is no JSON", before, got)
			}
		}
	})
}
