package args_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	oracle "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/tool"
)

// schemas are what the fuzzers and the property tests decode for.
var schemas = []string{
	reading,
	`{"type":"object","properties":{"path":{"type":"string"},"user_id":{"type":"integer"},"more":{"type":"object","properties":{"a_b":{"type":"boolean"}}}}}`,
	`{"type":"object","properties":{"q":{"$ref":"#/$defs/q"}},"required":["q"],"additionalProperties":false,"$defs":{"q":{"anyOf":[
		{"type":"object","properties":{"and":{"type":"array","items":{"$ref":"#/$defs/q"}}},"required":["and"],"additionalProperties":false},
		{"type":"object","properties":{"eq":{"type":["string","integer"]},"not":{"type":"boolean"}},"required":["eq"],"additionalProperties":false}]}}}`,
	`{"type":"object","allOf":[{"properties":{"a":{"type":"integer"}}},{"properties":{"b":{"type":"array","items":{"enum":["x","Y",1]}}}}],
		"if":{"required":["a"]},"then":{"required":["b"]},"unevaluatedProperties":false}`,
	`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"p":{"type":"array","items":[{"type":"integer"},{"type":"null"}],"additionalItems":{"type":"string"}}},
		"dependencies":{"p":["q"]},"patternProperties":{"^x_":{"type":"number"}},"additionalProperties":{"type":"boolean"}}`,
}

// sound asserts what must hold of every decoding.
func sound(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *args.Schema, valid func([]byte) error, raw string) {
	t.Helper()
	d, err := s.Decode(json.RawMessage(raw))
	if err != nil {
		var e *tool.Error
		switch {
		case !errors.As(err, &e):
			t.Fatalf("%q gives an error of another kind: %v", raw, err)
		case e.Code != tool.CodeInvalidInput && e.Code != tool.CodeTooLarge, len(e.Text) > tool.MaxErrorText, !strings.Contains(e.Text, "Nothing was run") && !strings.Contains(e.Text, "nothing was run"):
			t.Fatalf("%q gives %s: %s", raw, e.Code, e.Text)
		case strings.HasPrefix(e.Text, "Invalid") && !strings.HasSuffix(e.Text, " again."):
			t.Fatalf("%q loses the advice: %s", raw, e.Text)
		}
		return
	}
	if err := valid(d.Args); err != nil {
		t.Fatalf("%q is taken as %s, which the published schema refuses: %v", raw, d.Args, err)
	}
	if len(d.Repairs) == 0 && string(d.Args) != raw && string(d.Args) != "{}" {
		t.Fatalf("%q was changed to %s without a record", raw, d.Args)
	}
	again, err := s.Decode(d.Args)
	if err != nil || len(again.Repairs) > 0 || string(again.Args) != string(d.Args) {
		t.Fatalf("%q is taken as %s and then as %s with repairs %q, %v", raw, d.Args, again.Args, again.Repairs, err)
	}
}

// published compiles a schema with another validator: what a client that
// read the schema would hold the arguments against.
func published(t testing.TB, text string) func([]byte) error {
	t.Helper()
	doc, err := oracle.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := oracle.NewCompiler()
	if err := c.AddResource("schema:///root", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema:///root")
	if err != nil {
		t.Fatal(err)
	}
	return func(b []byte) error {
		v, err := oracle.UnmarshalJSON(strings.NewReader(string(b)))
		if err != nil {
			return err
		}
		return s.Validate(v)
	}
}

func FuzzDecode(f *testing.F) {
	var compiled []*args.Schema
	var valid []func([]byte) error
	for _, text := range schemas {
		compiled = append(compiled, compile(f, text, nil))
		valid = append(valid, published(f, text))
	}
	for i, seeds := range [][]string{
		{`{"PATH":"x","limit":"3","tags":"a","opts":"{\"Follow\":\"true\"}","edit":{"Op":"ADD","count":2.0}}`, `{"path":"x","tasks":"[{\"a\":1}]"}`, "```json\n{\"path\":1,}\n```", `{"path":"x","env":{"A":"b"},"when":"null"}`},
		{`{"userId":3.0,"USER_ID":4,"more":{"aB":"true"}}`},
		{`{"q":{"And":[{"eq":"x","NOT":"false"},{"and":"[]"}]}}`, `{"q":"{\"and\":{\"eq\":1}}"}`},
		{`{"A":"1","B":"y"}`, `{"a":null,"b":[1,"X"]}`},
		{`{"p":["1","null",3],"q":"true","x_1":"1e2"}`},
	} {
		for _, seed := range seeds {
			f.Add(byte(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, raw string) {
		i := int(which) % len(compiled)
		sound(t, compiled[i], valid[i], raw)
	})
}

// TestF182_PublishedSchemaIsTheValidator draws arguments from the names and
// values of the schemas: what the published schema takes is decoded, and what
// is decoded the published schema takes.
func TestF182_PublishedSchemaIsTheValidator(t *testing.T) {
	for i, text := range schemas {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s, valid := compile(t, text, nil), published(t, text)
			taken, mended, refused := 0, 0, 0
			rapid.Check(t, func(t *rapid.T) {
				for range 10 {
					raw := drawArgs(t, text, 3)
					sound(t, s, valid, raw)
					d, err := s.Decode(json.RawMessage(raw))
					switch {
					case err != nil:
						refused++
						if valid([]byte(raw)) == nil && !strings.Contains(text, `"user_id"`) { // the open schema refuses stray spellings
							t.Fatalf("%s is valid by the published schema and refused: %v", raw, err)
						}
					case len(d.Repairs) > 0:
						mended++
					default:
						taken++
					}
				}
			})
			if taken == 0 || mended == 0 || refused == 0 {
				t.Errorf("%d taken, %d mended and %d refused say too little", taken, mended, refused)
			}
		})
	}
}

// drawArgs draws an object of the names that the schema has, in some spelling.
func drawArgs(t *rapid.T, text string, depth int) string {
	var names []string
	for _, name := range []string{"path", "limit", "offset", "tags", "opts", "edit", "op", "count", "q", "and", "eq", "a", "b", "p", "user_id", "x_1", "tasks", "sub", "mode", "more", "a_b"} {
		if strings.Contains(text, `"`+name+`"`) || name == "x_1" {
			names = append(names, name)
		}
	}
	var members []string
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, min(4, len(names)), rapid.ID[string]).Draw(t, "names") {
		switch rapid.IntRange(0, 9).Draw(t, "spelling") {
		case 0:
			name = strings.ToUpper(name)
		case 1:
			name = strings.ReplaceAll(name, "_", "")
		}
		members = append(members, `"`+name+`":`+drawValue(t, text, depth))
	}
	for _, must := range [][2]string{{"path", `"x"`}, {"q", `{"eq":1}`}} {
		given := strings.ToLower(strings.Join(members, ","))
		if strings.Contains(text, `"required":["`+must[0]+`"]`) && !strings.Contains(given, `"`+must[0]+`"`) {
			members = append(members, `"`+must[0]+`":`+must[1])
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func drawValue(t *rapid.T, text string, depth int) string {
	scalars := []string{`null`, `true`, `3`, `3.0`, `2.5`, `"x"`, `"Y"`, `"3"`, `"true"`, `"null"`, `"add"`, `"Text"`, `""`, `"[1]"`, `"[\"x\"]"`, `"{\"a\":\"1\"}"`, `"{"`,
		`{"eq":"x"}`, `{"EQ":3.0,"not":"TRUE"}`, `"{\"eq\":1}"`, `{"and":{"eq":1}}`}
	switch pick := rapid.IntRange(0, len(scalars)+5).Draw(t, "value"); {
	case pick < len(scalars):
		return scalars[pick]
	case depth == 0:
		return `1`
	case pick < len(scalars)+3:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, drawValue(t, text, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return drawArgs(t, text, depth-1)
}

// TestSuiteThroughDecode sends the cases of the JSON Schema test suite as the
// argument of a tool: what is valid must come out as it went in.
func TestSuiteThroughDecode(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatalf("asking for the module with the test suite: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "jsonschema/testdata/draft2020-12/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the JSON Schema test suite is missing: %v", err)
	}
	cases := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		if err := json.Unmarshal(b, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			inner := string(g.Schema)
			if strings.HasPrefix(inner, "{") && !strings.Contains(inner, `"$id"`) {
				inner = strings.Replace(strings.Replace(inner, "{", `{"$id":"schema:///inner",`, 1), ",}", "}", 1)
			}
			s, err := args.Compile("t", json.RawMessage(`{"type":"object","properties":{"v":`+inner+`},"required":["v"],"additionalProperties":false}`), nil)
			if err != nil {
				continue // it leads out of itself, as the schema room tests
			}
			for _, c := range g.Tests {
				cases++
				raw := `{"v":` + string(c.Data) + `}`
				d, err := s.Decode(json.RawMessage(raw))
				switch {
				case c.Valid && err != nil && !strings.Contains(err.Error(), "means the same as"):
					t.Errorf("%s: %s: %s is refused: %v", g.Description, c.Description, raw, err)
				case c.Valid && err == nil && len(d.Repairs) == 0 && string(d.Args) != raw:
					t.Errorf("%s: %s: %s was changed to %s", g.Description, c.Description, raw, d.Args)
				case !c.Valid && err == nil && len(d.Repairs) == 0:
					t.Errorf("%s: %s: %s is taken", g.Description, c.Description, raw)
				}
				if c.Valid && err == nil && len(d.Repairs) > 0 && !sameButSpelling(raw, d.Repairs) {
					t.Errorf("%s: %s: %s is valid and was repaired: %q", g.Description, c.Description, raw, d.Repairs)
				}
			}
		}
	}
	if cases < 1000 {
		t.Errorf("only %d cases were run", cases)
	}
}

// sameButSpelling reports whether the repairs of a valid value are of the two
// kinds that valid values get: integers with a point, misspelt optional keys.
func sameButSpelling(raw string, repairs []string) bool {
	if _, err := jsondoc.Parse(raw); err != nil {
		return false
	}
	for _, r := range repairs {
		if !strings.Contains(r, " was written as ") && !strings.Contains(r, ": read as ") {
			return false
		}
	}
	return true
}
