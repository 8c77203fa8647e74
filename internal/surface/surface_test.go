package surface_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/tool"
)

// plan shows every means of a data file.
const plan = `{
  "name": "test", "description": "for tests",
  "tools": [
    {"name": "Todo", "tool": "update_plan", "description": "Keeps the list.",
     "schema": {"type": "object", "additionalProperties": false, "required": ["todos"], "properties": {
       "todos": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
         "content": {"type": "string"}, "state": {"enum": ["open", "done"]}, "id": {"type": "integer"}}}},
       "only": {"type": "string"},
       "mode": {"enum": ["files", "lines", null, 3], "default": "files"},
       "quiet": {"type": "boolean"}}},
     "args": {"todos": {"to": "plan", "items": {"content": "step", "state": {"to": "status", "values": {"open": "pending", "done": "completed"}}}},
              "only": {"to": "globs", "wrap": true},
              "mode": {"to": "output", "values": {"files": "paths", "lines": "text", "null": "none", "3": 3.0}}},
     "set": {"source": "todo", "big": 9007199254740993}},
    {"name": "Renamed", "tool": "own"},
    {"name": "Same", "tool": "same",
     "schema": {"type": "object", "additionalProperties": false, "properties": {"x": {"type": "string"}}}}
  ]
}`

func load(t testing.TB, text string) *surface.Surface {
	t.Helper()
	s, err := surface.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func form(t testing.TB, s *surface.Surface, name string) *surface.Tool {
	t.Helper()
	f, ok := s.ByName(name)
	if !ok {
		t.Fatalf("the surface %s shows no %q", s.Name, name)
	}
	return f
}

func TestMap(t *testing.T) {
	s := load(t, plan)
	for _, c := range []struct{ name, tool, args, want string }{
		{"rename, nested rename, words of an enum, constants", "Todo",
			`{"todos":[{"content":"a","state":"open"},{"state":"done","content":"b"}],"mode":"lines"}`,
			`{"plan":[{"step":"a","status":"pending"},{"status":"completed","step":"b"}],"output":"text","big":9007199254740993,"source":"todo"}`},
		{"one value where the tool takes a list", "Todo", `{"only":"*.go","mode":"files"}`,
			`{"globs":["*.go"],"output":"paths","big":9007199254740993,"source":"todo"}`},
		{"a default of the schema", "Todo", `{"todos":[]}`, `{"plan":[],"output":"paths","big":9007199254740993,"source":"todo"}`},
		{"no arguments", "Todo", ``, `{"output":"paths","big":9007199254740993,"source":"todo"}`},
		{"key order and digits stay", "Todo", `{"quiet":false,"mode":"files","todos":[{"id":12345678901234567890,"content":"\u00e9\n"}]}`,
			`{"quiet":false,"output":"paths","plan":[{"id":12345678901234567890,"step":"\u00e9\n"}],"big":9007199254740993,"source":"todo"}`},
		{"values that are not strings", "Todo", `{"mode":null}`, `{"output":"none","big":9007199254740993,"source":"todo"}`},
		{"equal numbers are one value", "Todo", `{"mode":3.0}`, `{"output":3.0,"big":9007199254740993,"source":"todo"}`},
		{"only the name differs", "Renamed", `{ "any" : [1, 2] }`, `{ "any" : [1, 2] }`},
		{"nothing differs", "Same", `{ "x" : "y" }`, `{ "x" : "y" }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := form(t, s, c.tool).Map(json.RawMessage(c.args))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("arguments\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// Nothing that a caller wrote can get lost on the way: what has no place is
// an error.
func TestMapDropsNothing(t *testing.T) {
	s := load(t, plan)
	for _, c := range []struct{ args, want string }{
		{`{"todo":[]}`, `no argument "todo"`},
		{`{"todos":[{"contents":"x"}]}`, `todos: item 1: there is no argument "contents"`},
		{`{"mode":"Files"}`, "not one of the values"},
		{`{"todos":{}}`, "a list is expected"},
		{`{"todos":[3]}`, "an object is expected"},
		{`[]`, "an object is expected"},
		{`{"todos":[],"todos":[]}`, "twice"},
		{`{"todos":[]`, "do not fit"},
		{`{"plan":[]}`, `no argument "plan"`},
		{`{"source":"me"}`, `no argument "source"`},
	} {
		t.Run(c.args, func(t *testing.T) {
			got, err := form(t, s, "Todo").Map(json.RawMessage(c.args))
			if err == nil {
				t.Fatalf("it became %s", got)
			}
			var e *tool.Error
			if !errors.As(err, &e) || e.Code != tool.CodeInvalidInput || !strings.Contains(e.Text, c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}

func TestParseIsStrict(t *testing.T) {
	const closed = `"type":"object","additionalProperties":false`
	one := func(fields string) string { return `{"name":"s","tools":[{"name":"A","tool":"a",` + fields + `}]}` }
	for _, c := range []struct{ name, text, want string }{
		{"not JSON", `{`, "reading the surface"},
		{"unknown key", `{"name":"s","tool":[]}`, "unknown field"},
		{"unknown key of an argument", one(`"schema":{` + closed + `,"properties":{"x":{}}},"args":{"x":{"too":"y"}}`), "unknown field"},
		{"key twice", `{"name":"s","tools":[],"tools":[]}`, "twice"},
		{"text after it", `{"name":"s","tools":[]} {}`, "after the end"},
		{"bad name", `{"name":"a b","tools":[]}`, `name "a b"`},
		{"no name", `{}`, `name ""`},
		{"bad tool name", `{"name":"s","tools":[{"name":"A.B","tool":"a"}]}`, `"A.B" is no tool name`},
		{"no tool behind it", `{"name":"s","tools":[{"name":"A"}]}`, `"" is no tool name`},
		{"shown twice", `{"name":"s","tools":[{"name":"A","tool":"a"},{"name":"A","tool":"b"}]}`, "shown twice"},
		{"args without a schema", one(`"args":{"x":"y"}`), "need a schema"},
		{"set without a schema", one(`"set":{"x":1}`), "need a schema"},
		{"schema is null", one(`"schema":null`), `"type": "object"`},
		{"open schema", one(`"schema":{"type":"object","properties":{}}`), `"additionalProperties": false`},
		{"schema of a list", one(`"schema":{"type":"array"}`), `"type": "object"`},
		{"args speaks of no property", one(`"schema":{` + closed + `},"args":{"x":"y"}`), `"x" is no property`},
		{"two become one", one(`"schema":{` + closed + `,"properties":{"x":{},"y":{}}},"args":{"x":"y"}`), `it becomes "y"`},
		{"set and a property become one", one(`"schema":{` + closed + `,"properties":{"x":{}}},"args":{"x":"y"},"set":{"y":1}`), `"y" is what the property "x" becomes`},
		{"values without an enum", one(`"schema":{` + closed + `,"properties":{"x":{}}},"args":{"x":{"values":{"a":1}}}`), "an enum"},
		{"values lack a word", one(`"schema":{` + closed + `,"properties":{"x":{"enum":["a","b"]}}},"args":{"x":{"values":{"a":1}}}`), `nothing about "b"`},
		{"values have another word", one(`"schema":{` + closed + `,"properties":{"x":{"enum":["a"]}}},"args":{"x":{"values":{"a":1,"c":2}}}`), `speaks of "c"`},
		{"two values of one spelling", one(`"schema":{` + closed + `,"properties":{"x":{"enum":[1,"1"]}}},"args":{"x":{"values":{"1":2}}}`), `spelt "1"`},
		{"values and items", one(`"schema":{` + closed + `,"properties":{"x":{"enum":["a"]}}},"args":{"x":{"values":{"a":1},"items":{"y":"z"}}}`), "do not go together"},
		{"wrap and items", one(`"schema":{` + closed + `,"properties":{"x":{}}},"args":{"x":{"wrap":true,"items":{"y":"z"}}}`), "do not go together"},
		{"items of no list", one(`"schema":{` + closed + `,"properties":{"x":{}}},"args":{"x":{"items":{"a":"b"}}}`), "the schema of a list"},
		{"open items", one(`"schema":{` + closed + `,"properties":{"x":{"type":"array","items":{"type":"object"}}}},"args":{"x":{"items":{}}}`), `"additionalProperties": false`},
		{"default inside items", one(`"schema":{` + closed + `,"properties":{"x":{"type":"array","items":{` + closed + `,"properties":{"y":{"default":1}}}}}},"args":{"x":{"items":{"y":"z"}}}`), "leave it out"},
		{"default is no value", one(`"schema":{` + closed + `,"properties":{"x":{"enum":["a"],"default":"b"}}},"args":{"x":{"values":{"a":1}}}`), "its default"},
		{"too long", `{"name":"` + strings.Repeat("x", surface.MaxFile) + `"}`, "at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := surface.Parse([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}

func TestParseReportsAllProblems(t *testing.T) {
	_, err := surface.Parse([]byte(`{"name":"s","tools":[{"name":"A.B","tool":"a"},{"name":"C","tool":"c","set":{"x":1}}]}`))
	if err == nil || !strings.Contains(err.Error(), "A.B") || !strings.Contains(err.Error(), "need a schema") {
		t.Errorf("error %v", err)
	}
}

func TestBuiltInSurfaces(t *testing.T) {
	names := surface.Names()
	if !slices.Contains(names, surface.Default) || !slices.Contains(names, "claude") {
		t.Fatalf("the surfaces are %q", names)
	}
	for _, name := range names {
		s, err := surface.Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Description == "" {
			t.Errorf("the surface %s has no description", name)
		}
		for _, f := range s.Tools() {
			if f.Schema != nil && !json.Valid(f.Schema) {
				t.Errorf("%s: the schema of %s is not JSON", name, f.Name)
			}
		}
	}
	s, err := surface.Load("")
	if err != nil || len(s.Tools()) != 0 {
		t.Errorf("the default surface shows %v, %v", s.Tools(), err)
	}
	if _, err := surface.Load("cladue"); err == nil || !strings.Contains(err.Error(), `did you mean "claude"?`) {
		t.Errorf("error %v", err)
	}
	if _, err := surface.Load("../data/claude"); err == nil {
		t.Error("a path was taken as a name")
	}
}

func TestNilSurfaceShowsNothingElse(t *testing.T) {
	var s *surface.Surface
	if _, ok := s.ByName("Read"); ok || s.ByTarget("read_file") != nil || s.Tools() != nil {
		t.Error("the nil surface shows something")
	}
}

func BenchmarkMap(b *testing.B) {
	f := form(b, load(b, plan), "Todo")
	args := json.RawMessage(`{"todos":[{"content":"a","state":"open"},{"state":"done","content":"b"}],"mode":"lines"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Map(args); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzMap feeds arguments: nothing crashes, and what is taken becomes one
// JSON object.
func FuzzMap(f *testing.F) {
	s, err := surface.Parse([]byte(plan))
	if err != nil {
		f.Fatal(err)
	}
	todo, _ := s.ByName("Todo")
	for _, seed := range []string{`{}`, `{"todos":[{"content":"a","state":"open"}]}`, `{"mode":3}`, `{"todos":null}`, `[`, `{"mode":"lines","mode":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := todo.Map(raw)
		if err != nil {
			var e *tool.Error
			if !errors.As(err, &e) || len(e.Text) > tool.MaxErrorText {
				t.Fatalf("the error is %T of %d bytes", err, len(err.Error()))
			}
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(got, &object); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if string(object["source"]) != `"todo"` {
			t.Fatalf("the constant is missing: %s", got)
		}
	})
}

// FuzzParse feeds data files: nothing crashes, and a surface that is taken
// maps what its schema admits at the least: no arguments at all.
func FuzzParse(f *testing.F) {
	f.Add([]byte(plan))
	f.Add([]byte(`{"name":"s","tools":[{"name":"A","tool":"a"}]}`))
	f.Add([]byte(`{"name":"s","tools":[{"name":"A","tool":"a","schema":{"type":"object","additionalProperties":false,"properties":{"x":{"enum":[1,"1"],"default":1}}},"args":{"x":{"values":{"1":2}}}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := surface.Parse(text)
		if err != nil {
			return
		}
		for _, tl := range s.Tools() {
			got, err := tl.Map(nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) > 0 && !json.Valid(got) {
				t.Fatalf("%s is not JSON", got)
			}
		}
	})
}
