package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
)

// suiteDir is where the module google/jsonschema-go, which the build needs
// anyway, keeps its copy of the JSON Schema test suite.
func suiteDir(t *testing.T, draft string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatalf("asking for the module with the test suite: %v", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata", draft)
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the JSON Schema test suite is missing: %v", err)
	}
	return dir
}

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// remote is why a group is left out: its schema refers to a document that
// would have to be fetched, or to the meta-schema. That it is refused is
// tested instead.
const remote = "leads out of the schema; nothing is fetched"

// leadsOut are the groups that are left out.
var leadsOut = map[string]bool{
	"defs.json: validate definition against metaschema":                               true,
	"definitions.json: validate definition against metaschema":                        true,
	"dynamicRef.json: strict-tree schema, guards against misspelled properties":       true,
	"dynamicRef.json: tests for implementation dynamic anchor and reference link":     true,
	"dynamicRef.json: $ref and $dynamicAnchor are independent of order - $defs first": true,
	"dynamicRef.json: $ref and $dynamicAnchor are independent of order - $ref first":  true,
	"dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor":              true,
	"ref.json: remote ref, containing refs itself":                                    true,
	"refRemote.json: remote ref":                                                      true,
	"refRemote.json: fragment within remote ref":                                      true,
	"refRemote.json: anchor within remote ref":                                        true,
	"refRemote.json: ref within remote ref":                                           true,
	"refRemote.json: base URI change":                                                 true,
	"refRemote.json: base URI change - change folder":                                 true,
	"refRemote.json: base URI change - change folder in subschema":                    true,
	"refRemote.json: root ref in remote ref":                                          true,
	"refRemote.json: remote ref with ref to defs":                                     true,
	"refRemote.json: remote ref with ref to definitions":                              true,
	"refRemote.json: Location-independent identifier in remote ref":                   true,
	"refRemote.json: retrieved nested refs resolve relative to their URI not $id":     true,
	"refRemote.json: remote HTTP ref with different $id":                              true,
	"refRemote.json: remote HTTP ref with different URN $id":                          true,
	"refRemote.json: remote HTTP ref with nested absolute ref":                        true,
	"refRemote.json: $ref to $ref finds detached $anchor":                             true,
	"refRemote.json: $ref to $ref finds location-independent $id":                     true,
}

// TestSuite runs the JSON Schema test suite. A group whose schema leads out
// of itself must be refused, for that very reason; all others must come out
// as the suite says.
func TestSuite(t *testing.T) {
	for _, tc := range []struct {
		draft, dialect string
		cases, refused int
	}{
		{"draft2020-12", "", 1099, 48},
		{"draft7", `"http://json-schema.org/draft-07/schema#"`, 913, 27},
	} {
		t.Run(tc.draft, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(suiteDir(t, tc.draft), "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			cases, refused := 0, 0
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var groups []suiteGroup
				if err := json.Unmarshal(b, &groups); err != nil {
					t.Fatal(err)
				}
				for _, g := range groups {
					cases += len(g.Tests)
					refused += runGroup(t, filepath.Base(file), g, tc.dialect)
				}
			}
			t.Logf("%d cases, %d of them refused because their schema leads out of itself", cases, refused)
			if cases != tc.cases || refused != tc.refused {
				t.Errorf("there are %d cases and %d refused, want %d and %d", cases, refused, tc.cases, tc.refused)
			}
		})
	}
}

// runGroup returns how many cases were refused with their schema.
func runGroup(t *testing.T, file string, g suiteGroup, dialect string) int {
	t.Helper()
	name := fmt.Sprintf("%s: %s", file, g.Description)
	text := g.Schema
	if dialect != "" && text[0] == '{' && !strings.Contains(string(text), `"$schema"`) {
		text = json.RawMessage(`{"$schema":` + dialect + `,` + strings.TrimPrefix(string(text), "{"))
		text = json.RawMessage(strings.Replace(string(text), ",}", "}", 1))
	}
	s, err := schema.Compile(text)
	if err != nil {
		if strings.Contains(err.Error(), remote) {
			if !leadsOut[name] {
				t.Errorf("%s: %v", name, err)
			}
			return len(g.Tests)
		}
		t.Errorf("%s: %v", name, err)
		return 0
	}
	for _, c := range g.Tests {
		n, err := jsondoc.Parse(string(c.Data))
		if err != nil {
			t.Errorf("%s: %s: %v", name, c.Description, err)
			continue
		}
		v := s.Check(&n, schema.NewBudget())
		if v.Valid() != c.Valid || s.Accepts(&n, schema.NewBudget()) != c.Valid {
			t.Errorf("%s: %s: valid is %t (%t when quiet), want %t\nschema %s\nvalue %s\nproblems %+v",
				name, c.Description, v.Valid(), s.Accepts(&n, schema.NewBudget()), c.Valid, text, c.Data, v.Problems)
		}
	}
	return 0
}
