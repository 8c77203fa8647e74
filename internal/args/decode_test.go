package args_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/tool"
)

// reading is the schema of most tests: closed, with something of each kind.
const reading = `{"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"path of the file\nmore words"},
"offset":{"type":"integer","minimum":0},
"limit":{"type":"integer","minimum":1,"maximum":2000},
"ratio":{"type":"number"},
"full":{"type":"boolean"},
"mode":{"type":"string","enum":["text","hex","auto"]},
"tags":{"type":"array","items":{"type":"string"}},
"ports":{"type":"array","items":{"type":"integer"},"maxItems":4},
"note":{"type":["string","null"]},
"hint":{"type":["array","null"],"items":{"type":"string"}},
"any":{},
"tasks":{"type":"array","items":{"$ref":"#/$defs/task"}},
"env":{"type":"object","additionalProperties":{"type":"string"}},
"opts":{"type":"object","properties":{"follow":{"type":"boolean"},"max_depth":{"type":"integer"}},"additionalProperties":false},
"when":{"anyOf":[{"type":"integer"},{"type":"null"}]},
"edit":{"oneOf":[{"$ref":"#/$defs/add"},{"$ref":"#/$defs/drop"}]}},
"required":["path"],"additionalProperties":false,
"$defs":{
"task":{"type":"object","properties":{"a":{"type":"integer"},"state":{"enum":["open","done"]},"sub":{"type":"array","items":{"$ref":"#/$defs/task"}}},"required":["a"],"additionalProperties":false},
"add":{"type":"object","properties":{"op":{"const":"add"},"count":{"type":"integer"}},"required":["op","count"],"additionalProperties":false},
"drop":{"type":"object","properties":{"op":{"const":"drop"},"name":{"type":"string"}},"required":["op"],"additionalProperties":false}}}`

var readingAliases = map[string][]string{"path": {"file", "file_name"}, "offset": {"start_line"}}

func compile(t testing.TB, schema string, aliases map[string][]string) *args.Schema {
	t.Helper()
	s, err := args.Compile("read_file", json.RawMessage(schema), aliases)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestValidIsUntouched: what is valid goes through byte for byte.
func TestValidIsUntouched(t *testing.T) {
	s := compile(t, reading, readingAliases)
	for name, raw := range map[string]string{
		"smallest":                  `{"path":"x"}`,
		"white space and order":     "{ \"limit\" : 3 ,\n\t\"path\" : \"x\" }\n",
		"F177 path last":            `{"offset":1,"limit":2,"path":"x"}`,
		"F166 F178 big integer":     `{"path":"x","offset":9007199254740995}`,
		"F178 beyond 64 bits":       `{"path":"x","offset":9223372036854775808}`,
		"F179 an explicit zero":     `{"path":"x","offset":0,"full":false}`,
		"F168 null where allowed":   `{"path":"x","note":null,"hint":null,"when":null}`,
		"F168 null text is a text":  `{"path":"x","note":"null"}`,
		"number text":               `{"path":"x","ratio":1.50e1}`,
		"3.0 for a number":          `{"path":"x","ratio":3.0}`,
		"escapes":                   `{"path":"\u0078\/y"}`,
		"a text that is JSON":       `{"path":"[1,2]"}`,
		"map keys are data":         `{"path":"x","env":{"PATH":"a","path":"b","Path_":"c"}}`,
		"anything":                  `{"path":"x","any":{"a":[1,"2",null]}}`,
		"union":                     `{"path":"x","edit":{"op":"drop"}}`,
		"a text that looks a fence": "{\"path\":\"```\"}",
	} {
		t.Run(name, func(t *testing.T) {
			d, err := s.Decode(json.RawMessage(raw))
			if err != nil {
				t.Fatal(err)
			}
			if string(d.Args) != raw || len(d.Repairs) != 0 {
				t.Errorf("got %s with repairs %q", d.Args, d.Repairs)
			}
		})
	}
}

func TestNothingMeansNoArguments(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, nil)
	for _, raw := range []string{"", " \n", "null", "{}", `""`} {
		d, err := s.Decode(json.RawMessage(raw))
		if raw == `""` {
			if err == nil {
				t.Errorf("an empty text is taken as %s", d.Args)
			}
			continue
		}
		if err != nil || string(d.Args) != "{}" {
			t.Errorf("F179 %q gives %s, %v", raw, d.Args, err)
		}
	}
	if d, err := s.Decode(nil); err != nil || string(d.Args) != "{}" || d.Repairs != nil {
		t.Errorf("nil gives %+v, %v", d, err)
	}
}

// TestRepairs pins every repair, its record, and how much of the rest of the
// text it leaves alone.
func TestRepairs(t *testing.T) {
	s := compile(t, reading, readingAliases)
	for _, tc := range []struct {
		name, raw, want string
		repairs         []string
	}{
		{"key in another case", `{"PATH":"x"}`, `{"path":"x"}`, []string{`PATH: read as "path"`}},
		{"camel case key", `{"path":"x","opts":{"maxDepth":2}}`, `{"path":"x","opts":{"max_depth":2}}`, []string{`opts.maxDepth: read as "max_depth"`}},
		{"L4 alias", `{"file_name":"x","startLine":3}`, `{"path":"x","offset":3}`, []string{`file_name: read as "path"`, `startLine: read as "offset"`}},
		{"F175 alias in another spelling", `{"FileName":"x"}`, `{"path":"x"}`, []string{`FileName: read as "path"`}},
		{"F165 integer in a string", `{"path":"x","offset":"3"}`, `{"path":"x","offset":3}`, []string{`offset: the text "3" was read as integer 3`}},
		{"F165 number in a string", `{"path":"x","ratio":"1.50"}`, `{"path":"x","ratio":1.50}`, []string{`ratio: the text "1.50" was read as number 1.50`}},
		{"F165 boolean in a string", `{"path":"x","full":"true"}`, `{"path":"x","full":true}`, []string{`full: the text "true" was read as boolean true`}},
		{"boolean as Python writes it", `{"path":"x","full":"False"}`, `{"path":"x","full":false}`, []string{`full: the text "False" was read as boolean false`}},
		{"F165 3.0 in a string", `{"path":"x","offset":"3.0"}`, `{"path":"x","offset":3}`, []string{`offset: the text "3.0" was read as integer 3.0`, `offset: 3.0 was written as 3`}},
		{"F166 3.0", `{"path":"x","offset":3.0}`, `{"path":"x","offset":3}`, []string{`offset: 3.0 was written as 3`}},
		{"F166 3e0", `{"path":"x","offset":3e0}`, `{"path":"x","offset":3}`, []string{`offset: 3e0 was written as 3`}},
		{"F166 exact digits", `{"path":"x","offset":9007199254740993.0}`, `{"path":"x","offset":9007199254740993}`, []string{`offset: 9007199254740993.0 was written as 9007199254740993`}},
		{"F167 array in a string", `{"path":"x","tasks":"[{\"a\":1}]"}`, `{"path":"x","tasks":[{"a":1}]}`, []string{`tasks: the text "[{\"a\":1}]" was read as an array`}},
		{"F167 nested", `{"path":"x","tasks":[{"a":1,"sub":"[{\"a\":\"2\"}]"}]}`, `{"path":"x","tasks":[{"a":1,"sub":[{"a":2}]}]}`,
			[]string{`tasks[0].sub: the text "[{\"a\":\"2\"}]" was read as an array`, `tasks[0].sub[0].a: the text "2" was read as integer 2`}},
		{"F167 object in a string", `{"path":"x","opts":" {\"follow\":true}\n"}`, `{"path":"x","opts":{"follow":true}}`, []string{`opts: the text " {\"follow\":true}\n" was read as an object`}},
		{"F184 list in a string", `{"path":"x","tags":"[\"enabled\"]"}`, `{"path":"x","tags":["enabled"]}`, []string{`tags: the text "[\"enabled\"]" was read as an array`}},
		{"F168 null text", `{"path":"x","when":"null","hint":"null"}`, `{"path":"x","when":null,"hint":null}`,
			[]string{`when: the text "null" was read as null`, `hint: the text "null" was read as null`}},
		{"F169 null for an optional", `{"path":"x","limit":null,"opts":{"follow":null},"tags":null}`, `{"path":"x","opts":{}}`,
			[]string{`limit: null was left out`, `tags: null was left out`, `opts.follow: null was left out`}},
		{"one value for a list", `{"path":"x","tags":"a,b"}`, `{"path":"x","tags":["a,b"]}`, []string{`tags: the single value was put in a list`}},
		{"one value for a nullable list", `{"path":"x","hint":"a"}`, `{"path":"x","hint":["a"]}`, []string{`hint: the single value was put in a list`}},
		{"one value in a string for a list", `{"path":"x","ports":"80"}`, `{"path":"x","ports":[80]}`,
			[]string{`ports: the single value was put in a list`, `ports[0]: the text "80" was read as integer 80`}},
		{"one object for a list", `{"path":"x","tasks":{"a":1}}`, `{"path":"x","tasks":[{"a":1}]}`, []string{`tasks: the single value was put in a list`}},
		{"F181 enum in another case", `{"path":"x","mode":"Text"}`, `{"path":"x","mode":"text"}`, []string{`mode: "Text" was read as "text"`}},
		{"enum behind a reference", `{"path":"x","tasks":[{"a":1,"state":"OPEN"}]}`, `{"path":"x","tasks":[{"a":1,"state":"open"}]}`, []string{`tasks[0].state: "OPEN" was read as "open"`}},
		{"branch of a union", `{"path":"x","edit":{"Op":"Add","count":"2"}}`, `{"path":"x","edit":{"op":"add","count":2}}`,
			[]string{`edit.Op: read as "op"`, `edit.op: "Add" was read as "add"`, `edit.count: the text "2" was read as integer 2`}},
		{"F173 trailing commas", "{\"path\":\"x\",\"tags\":[\"a\",\"b\", ],}", `{"path":"x","tags":["a","b"]}`, []string{"trailing commas were dropped (2)"}},
		{"F173 code fence", "```json\n{\"path\":\"x\"}\n```", `{"path":"x"}`, []string{"the code fence around the arguments was taken off"}},
		{"whole object in a string", `"{\"path\":\"x\"}"`, `{"path":"x"}`, []string{"the arguments came as one JSON string and were read as an object"}},
		{"fence in a string", "\"```\\n{\\\"path\\\":\\\"x\\\",}\\n```\"", `{"path":"x"}`,
			[]string{"the arguments came as one JSON string and were read as an object", "the code fence around the arguments was taken off", "trailing commas were dropped (1)"}},
		{"order and digits of the rest", `{"ratio":1.50,"Limit":5,"any":{"z":9007199254740993,"a":1e2},"path":"\u0078"}`,
			`{"ratio":1.50,"limit":5,"any":{"z":9007199254740993,"a":1e2},"path":"\u0078"}`, []string{`Limit: read as "limit"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := s.Decode(json.RawMessage(tc.raw))
			if err != nil {
				t.Fatal(err)
			}
			if string(d.Args) != tc.want {
				t.Errorf("args\n got %s\nwant %s", d.Args, tc.want)
			}
			if diff := cmp.Diff(tc.repairs, d.Repairs); diff != "" {
				t.Errorf("repairs (-want +got)\n%s", diff)
			}
			again, err := s.Decode(d.Args)
			if err != nil || len(again.Repairs) > 0 || string(again.Args) != string(d.Args) {
				t.Errorf("decoding the result again gives %s with repairs %q, %v", again.Args, again.Repairs, err)
			}
		})
	}
}

// TestRefused pins what is not repaired, and that the answer names the place
// and what would be right.
func TestRefused(t *testing.T) {
	s := compile(t, reading, readingAliases)
	for _, tc := range []struct {
		name, raw string
		want      []string
	}{
		{"F165 unit", `{"path":"x","offset":"3px"}`, []string{`- offset: expected integer, got string "3px"`}},
		{"F165 empty", `{"path":"x","offset":""}`, []string{`- offset: expected integer, got string ""`}},
		{"F165 blank", `{"path":"x","offset":" "}`, []string{`expected integer, got string " "`}},
		{"F165 too large", `{"path":"x","ratio":"1e999"}`, []string{`expected number, got string "1e999"`}},
		{"F165 hex", `{"path":"x","offset":"0x10"}`, []string{`expected integer, got string "0x10"`}},
		{"F165 fraction in a string", `{"path":"x","offset":"3.5"}`, []string{`expected integer, got string "3.5"`}},
		{"F165 yes", `{"path":"x","full":"yes"}`, []string{`expected boolean, got string "yes"`}},
		{"one for true", `{"path":"x","full":1}`, []string{`expected boolean, got integer 1`}},
		{"number for a text", `{"path":5}`, []string{`- path: expected string, got integer 5`}},
		{"F166 fraction", `{"path":"x","offset":3.5}`, []string{`- offset: expected integer, got number 3.5`}},
		{"F166 boolean", `{"path":"x","offset":true}`, []string{`- offset: expected integer, got boolean true`}},
		{"F169 null for a required", `{"path":null}`, []string{`- path: expected string, got null`}},
		{"null in a list", `{"path":"x","tags":[null]}`, []string{`- tags[0]: expected string, got null`}},
		{"null text for what takes no null", `{"path":"x","limit":"null"}`, []string{`- limit: expected integer, got string "null"`}},
		{"list for one value", `{"path":["x"]}`, []string{`- path: expected string, got array ["x"]`}},
		{"broken JSON in a string", `{"path":"x","tags":"[\"a\""}`, []string{`- tags: expected array, got string`, "the text is not valid JSON: the text ends before the value does"}},
		{"braces are not wrapped", `{"path":"x","tags":"{a,b}.go"}`, []string{`- tags: expected array, got string "{a,b}.go"`}},
		{"single quotes in a string", `{"path":"x","tags":"['a']"}`, []string{`- tags: expected array, got string "['a']"`, "double quotes"}},
		{"F175 alias and name", `{"path":"x","file":"y"}`, []string{`- file: means the same as "path", which was also given (send only "path")`}},
		{"two spellings", `{"PATH":"x","Path":"y"}`, []string{`- Path: means the same as "path"`}},
		{"F180 unknown key", `{"path":"x","ofset":3}`, []string{`- ofset: unknown (did you mean "offset"?)`, `Valid arguments: path (string, required), offset (integer)`, `mode (one of "text", "hex", "auto")`, `tags (array of strings)`}},
		{"F180 missing", `{}`, []string{`- path: missing; it is required (string: path of the file)`}},
		{"missing with a stray near it", `{"paht":"x"}`, []string{`- path: missing`, `you sent "paht", was that meant?`, `- paht: unknown (did you mean "path"?)`}},
		{"limit is no alias of anything", `{"path":"x","max":3}`, []string{`- max: unknown`}},
		{"F181 enum", `{"path":"x","mode":"txt"}`, []string{`- mode: "txt" is not allowed (expected one of "text", "hex", "auto"; did you mean "text"?)`}},
		{"F184 brackets", `{"path":"x","mode":"[\"text\"]"}`, []string{`remove the brackets and quotes: send "text"`}},
		{"enum of another kind", `{"path":"x","mode":3}`, []string{`- mode: expected string, got integer 3`}},
		{"range", `{"path":"","offset":-1,"limit":2001}`, []string{`- path: the text "" has 0 characters (at least 1)`, `- offset: -1 is too small (at least 0)`, `- limit: 2001 is too large (at most 2000)`}},
		{"range after a repair", `{"path":"x","limit":"0"}`, []string{`- limit: 0 is too small (at least 1)`}},
		{"list too long", `{"path":"x","ports":[1,2,3,4,5]}`, []string{`- ports: the list has 5 items (at most 4)`}},
		{"map", `{"path":"x","env":{"A":1}}`, []string{`- env.A: expected string, got integer 1`}},
		{"F183 branch by tag", `{"path":"x","edit":{"op":"add","name":"n"}}`, []string{`- edit.count: missing`, `- edit.name: unknown`}},
		{"F183 unknown tag", `{"path":"x","edit":{"op":"mul"}}`, []string{`- edit.op: "mul" is not allowed (expected one of "add", "drop")`}},
		{"F183 no tag", `{"path":"x","edit":{}}`, []string{`- edit.op: missing; it is required (one of "add", "drop")`}},
		{"union of kinds", `{"path":"x","when":"soon"}`, []string{`- when: expected integer or null, got string "soon"`}},
		{"F174 wrong wrapper", `{"command":["apply_patch","*** Begin Patch\n+x"]}`, []string{`- command: unknown`, `- path: missing`}},
		{"F174 wrapper of the right arguments", `{"arguments":{"path":"x"}}`, []string{`- arguments: unknown; the arguments are wrapped in it (send what is inside as the arguments)`}},
		{"F174 wrapper in a string", `{"input":"{\"path\":\"x\"}"}`, []string{`- input: unknown; the arguments are wrapped in it`}},
		{"F174 array for a text", `{"path":["apply_patch","*** Begin Patch"]}`, []string{`- path: expected string, got array ["apply_patch", "*** Begin Patch"]`}},
		{"not an object", `["x"]`, []string{`- (arguments): expected an object, got array ["x"]`, `Valid arguments: path`}},
		{"a bare text", `"x"`, []string{`- (arguments): expected an object, got string "x"`}},
		{"a bare text that is a number", `"3"`, []string{`- (arguments): expected an object, got string "3"`}},
		{"not JSON", `{path: "x"}`, []string{`- (arguments): not valid JSON:`, "key in double quotes", "at byte 1"}},
		{"key twice", `{"path":"x","path":"y"}`, []string{`the key "path" is given twice`}},
		{"key twice inside a text", `{"path":"x","opts":"{\"follow\":true,\"follow\":false}"}`, []string{`- opts: expected object, got string`, `given twice`}},
		{"number out of range", `{"path":"x","offset":1e999}`, []string{`out of range`, "inside offset"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := s.Decode(json.RawMessage(tc.raw))
			var e *tool.Error
			if !errors.As(err, &e) || e.Code != tool.CodeInvalidInput {
				t.Fatalf("got %s with repairs %q, error %v", d.Args, d.Repairs, err)
			}
			for _, want := range tc.want {
				if !strings.Contains(e.Text, want) {
					t.Errorf("the error lacks %q:\n%s", want, e.Text)
				}
			}
			if !strings.HasPrefix(e.Text, "Invalid arguments for read_file (") || !strings.HasSuffix(e.Text, "and call read_file again.") {
				t.Errorf("the error lacks its frame:\n%s", e.Text)
			}
		})
	}
}

func TestF183_OneLineForOneProblem(t *testing.T) {
	s := compile(t, reading, nil)
	for raw, bullets := range map[string]int{
		`{"path":"x","edit":{"op":"add","name":"n"}}`: 2,
		`{"path":"x","edit":{"op":"mul"}}`:            1,
		`{"path":"x","edit":7}`:                       1,
		`{"path":"x","file":1,"FILE":2}`:              2,
	} {
		_, err := s.Decode(json.RawMessage(raw))
		if got := strings.Count(err.Error(), "\n- "); got != bullets {
			t.Errorf("%s gives %d bullets, want %d:\n%v", raw, got, bullets, err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	s := compile(t, reading, nil)
	fits := `{"path":"` + strings.Repeat("x", tool.MaxArgs-len(`{"path":""}`)) + `"}`
	if d, err := s.Decode(json.RawMessage(fits)); err != nil || len(d.Args) != tool.MaxArgs {
		t.Errorf("arguments of exactly the limit are refused: %v", err)
	}
	_, err := s.Decode(json.RawMessage(fits + " "))
	var e *tool.Error
	if !errors.As(err, &e) || e.Code != tool.CodeTooLarge || !strings.Contains(e.Text, "1048577 bytes; the limit is 1048576") {
		t.Errorf("one byte more gives %v", err)
	}
}

// TestF172_CutOff cuts arguments at every byte, bare and in a fence and in a
// string: nothing may run, nothing may be filled in.
func TestF172_CutOff(t *testing.T) {
	s := compile(t, reading, nil)
	const whole = `{"path":"a.py","tags":["rm -rf tmp","npm test"],"any":"line1\nli"}`
	for i := 1; i < len(whole); i++ {
		inString, err := json.Marshal(whole[:i])
		if err != nil {
			t.Fatal(err)
		}
		for name, raw := range map[string]string{"bare": whole[:i], "fence": "```json\n" + whole[:i], "string": string(inString)} {
			d, err := s.Decode(json.RawMessage(raw))
			if err == nil {
				t.Fatalf("F173 %s cut after %q is taken as %s", name, whole[:i], d.Args)
			}
			if name == "string" && i == 1 {
				continue // "{" alone could be any text
			}
			if !strings.Contains(err.Error(), "cut off at") || !strings.Contains(err.Error(), "in parts") {
				t.Errorf("%s cut after %q gives %v", name, whole[:i], err)
			}
		}
	}
	_, err := s.Decode(json.RawMessage(`{"path":"a.py","content":"line1\nli`))
	want := "The arguments of read_file are cut off at 35 bytes, inside content: "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestL1_AllProblemsAtOnce(t *testing.T) {
	s := compile(t, reading, readingAliases)
	_, err := s.Decode(json.RawMessage(`{"offset":-1,"limit":"10px","mode":"txt","tags":["x",3],"opts":{"folow":true},"extra":1,"ratio":"1e999","edit":{"op":"add"}}`))
	want := `Invalid arguments for read_file (9 problems); nothing was run:
- path: missing; it is required (string: path of the file)
- edit.count: missing; it is required (integer)
- opts.folow: unknown (did you mean "follow"?)
- extra: unknown
- limit: expected integer, got string "10px"
- tags[1]: expected string, got integer 3
- ratio: expected number, got string "1e999"
- mode: "txt" is not allowed (expected one of "text", "hex", "auto"; did you mean "text"?)
- offset: -1 is too small (at least 0)
`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestL3_BoundedWhateverTheNames sends names, values and numbers of problems
// that once pushed the advice out of the result.
func TestL3_BoundedWhateverTheNames(t *testing.T) {
	s := compile(t, reading, nil)
	long := strings.Repeat("x", 60_000)
	var many []string
	for i := range 2000 {
		many = append(many, `"key`+strings.Repeat("z", i%50)+string(rune('a'+i%26))+`_`+strings.Repeat("q", i/50)+`":1`)
	}
	for name, raw := range map[string]string{
		"a 60 KB name":           `{"` + long + `":1}`,
		"a 60 KB name, wide":     `{"` + strings.Repeat("é", 30_000) + `":1}`,
		"a 60 KB value":          `{"path":"x","mode":"` + long + `"}`,
		"a 60 KB array":          `{"path":[` + strings.Repeat("1,", 30_000) + `1]}`,
		"many bad items":         `{"path":"x","tags":[` + strings.Repeat("1,", 30_000) + `1]}`,
		"many unknown names":     `{` + strings.Join(many, ",") + `}`,
		"many long names":        `{"a` + long + `":1,"b` + long + `":1,"c` + long + `":1,"d` + long + `":1}`,
		"a 60 KB key in JSON":    `{"` + long + `":`,
		"line breaks in a name":  `{"path":"x","a\n- path: fine\nFix":1}`,
		"hidden letters":         "{\"path\":\"x\",\"a\u202e\u200bb\":1,\"mode\":\"\u202e\"}",
		"deep path of long keys": `{"path":"x","tasks":` + strings.Repeat(`[{"a":1,"sub":`, 50) + `"x"` + strings.Repeat(`}]`, 50) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Decode(json.RawMessage(raw))
			if err == nil {
				t.Fatal("it is accepted")
			}
			text := err.Error()
			if len(text) > tool.MaxErrorText {
				t.Errorf("the error has %d bytes", len(text))
			}
			if !strings.Contains(text, "call read_file again") && !strings.Contains(text, "Call read_file again") {
				t.Errorf("the advice is lost: …%s", text[max(0, len(text)-200):])
			}
			if strings.Contains(text, "\n- path: fine") || strings.ContainsAny(text, "\u202e\u200b") {
				t.Errorf("a name breaks out of its place:\n%s", text)
			}
		})
	}
	_, err := s.Decode(json.RawMessage(`{` + strings.Join(many, ",") + `}`))
	if !strings.Contains(err.Error(), " more problems\n") || !strings.Contains(err.Error(), "(2001 problems)") {
		t.Errorf("the rest is not counted:\n%.300s", err)
	}
}

// TestL2_InputErrorIsItsOwnKind: the code tells a malformed call apart, and
// nothing else has it.
func TestL2_InputErrorIsItsOwnKind(t *testing.T) {
	s := compile(t, reading, nil)
	for _, raw := range []string{`{}`, `{`, `[]`, `{"path":1}`, `{"path":"x",}}`} {
		_, err := s.Decode(json.RawMessage(raw))
		var e *tool.Error
		if !errors.As(err, &e) || e.Code != tool.CodeInvalidInput {
			t.Errorf("%s gives %#v", raw, err)
		}
	}
}

// TestOpenSchema: where a schema takes any further key, a misspelling would
// go unnoticed, and a decoder that ignores case would still take the value
// past the schema. Such keys are treated as what they mean.
func TestOpenSchema(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"path":{"type":"string","pattern":"^[a-z]+$"},"user_id":{"type":"integer"}}}`, map[string][]string{"path": {"file"}})
	for _, tc := range []struct {
		name, raw, want, problem string
	}{
		{"further keys stay", `{"path":"x","extra":{"Path":1}}`, `{"path":"x","extra":{"Path":1}}`, ""},
		{"misspelt", `{"userId":3}`, `{"user_id":3}`, ""},
		{"alias", `{"file":"x"}`, `{"path":"x"}`, ""},
		{"F179 past the pattern", `{"PATH":"../x"}`, "", "does not match"},
		{"F179 both", `{"path":"x","PATH":"../x"}`, "", `means the same as "path"`},
		{"F179 only the case", `{"path":"x","USER_ID":"9"}`, `{"path":"x","user_id":9}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := s.Decode(json.RawMessage(tc.raw))
			if tc.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tc.problem) {
					t.Errorf("got %s, %v", d.Args, err)
				}
				return
			}
			if err != nil || string(d.Args) != tc.want {
				t.Errorf("got %s, %v", d.Args, err)
			}
		})
	}
}

// TestAmbiguous: where two things could be meant, nothing is chosen.
func TestAmbiguous(t *testing.T) {
	for _, tc := range []struct{ name, schema, raw string }{
		{"two enum values", `{"type":"object","properties":{"m":{"enum":["A","a"]}}}`, `{"m":"á"}`},
		{"two enum values in another case", `{"type":"object","properties":{"m":{"enum":["Ab","aB"]}}}`, `{"m":"AB"}`},
		{"two names in another case", `{"type":"object","properties":{"aB":{},"Ab":{}},"additionalProperties":false}`, `{"AB":1}`},
		{"two branches", `{"type":"object","properties":{"v":{"oneOf":[
			{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false},
			{"type":"object","properties":{"a":{"type":"boolean"},"b":{}},"required":["b"]},
			{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"additionalProperties":false}]}}}`, `{"v":{"a":"3"}}`},
		{"a text is allowed", `{"type":"object","properties":{"v":{"anyOf":[{"type":"integer"},{"type":"string","pattern":"^x"}]}}}`, `{"v":"3"}`},
		{"a list of lists", `{"type":"object","properties":{"v":{"type":"array","items":{"type":"array","items":{"type":"string"}}}}}`, `{"v":"x"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if d, err := compile(t, tc.schema, nil).Decode(json.RawMessage(tc.raw)); err == nil {
				t.Errorf("it is taken as %s with repairs %q", d.Args, d.Repairs)
			}
		})
	}
}

func TestUnionByTrial(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"v":{"anyOf":[
		{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false},
		{"type":"object","properties":{"b":{"type":"boolean"}},"required":["b"],"additionalProperties":false}]}}}`, nil)
	d, err := s.Decode(json.RawMessage(`{"v":{"B":"true"}}`))
	if err != nil || string(d.Args) != `{"v":{"b":true}}` {
		t.Errorf("got %s, %v", d.Args, err)
	}
	_, err = s.Decode(json.RawMessage(`{"v":{"c":1}}`))
	if err == nil || !strings.Contains(err.Error(), "- v: it fits none of the 2 allowed forms: {a (integer, required)} or {b (boolean, required)}") {
		t.Errorf("got %v", err)
	}
}

// TestUnionByShape: branches without a tag are told apart by their keys, at
// every level and in any number.
func TestUnionByShape(t *testing.T) {
	s := compile(t, schemas[2], nil)
	many := strings.TrimSuffix(strings.Repeat(`{"EQ":"1"},{"and":[{"eq":2.0,"NOT":"true"}]},`, 500), ",")
	want := strings.TrimSuffix(strings.Repeat(`{"eq":"1"},{"and":[{"eq":2,"not":true}]},`, 500), ",")
	d, err := s.Decode(json.RawMessage(`{"q":{"And":[` + many + `]}}`))
	if err != nil || string(d.Args) != `{"q":{"and":[`+want+`]}}` {
		t.Errorf("got %.300s, %v", d.Args, err)
	}
	_, err = s.Decode(json.RawMessage(`{"q":{"and":[{"and":[{"eq":true}]}]}}`))
	if err == nil || !strings.Contains(err.Error(), "- q.and[0].and[0].eq: expected string or integer, got boolean true") || strings.Count(err.Error(), "\n- ") != 1 {
		t.Errorf("got %v", err)
	}
}

// TestHostileSizes holds large arguments of unpleasant shapes: the answer must
// come, within a bound that a busy machine keeps even with the race detector.
func TestHostileSizes(t *testing.T) {
	const size = tool.MaxArgs / 8
	fill := func(before, unit, after string) string {
		n := (size - len(before) - len(after) - 1) / len(unit)
		return before + strings.TrimSuffix(strings.Repeat(unit, n), ",") + after
	}
	var union, keys strings.Builder
	for i := range 800 {
		fmt.Fprintf(&union, `{"type":"object","properties":{"k":{"const":"v%d"}},"required":["k"],"additionalProperties":false},`, i)
	}
	for i := 0; keys.Len() < size-40; i++ {
		fmt.Fprintf(&keys, `"k%d":1,`, i)
	}
	wide := `{"type":"object","properties":{"v":{"type":"array","items":{"anyOf":[` + strings.TrimSuffix(union.String(), ",") + `]}}}}`
	for _, tc := range []struct{ name, schema, raw string }{
		{"items to mend", reading, fill(`{"path":"x","ports":[`, `"1",`, `]}`)},
		{"items to report", reading, fill(`{"path":"x","tags":[`, `1,`, `]}`)},
		{"objects to mend", reading, fill(`{"path":"x","tasks":[`, `{"a":"1","STATE":"Open"},`, `]}`)},
		{"unions to mend", schemas[2], fill(`{"q":{"and":[`, `{"EQ":"1"},`, `]}}`)},
		{"unions to report", schemas[2], fill(`{"q":{"and":[`, `{"E":"1"},`, `]}}`)},
		{"many branches", wide, fill(`{"v":[`, `{"z":"x"},`, `]}`)},
		{"unknown keys", reading, `{` + strings.TrimSuffix(keys.String(), ",") + `}`},
		{"brackets in a string", reading, fill(`{"path":"x","tasks":"`, `[`, `"}`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := compile(t, tc.schema, nil)
			start := time.Now()
			_, err := s.Decode(json.RawMessage(tc.raw))
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			if err != nil && len(err.Error()) > tool.MaxErrorText {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestRepairsAreBounded(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"v":{"type":"array","items":{"type":"integer"}}}}`, nil)
	d, err := s.Decode(json.RawMessage(`{"v":[` + strings.Repeat(`"1",`, 9999) + `"1"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Repairs) != 51 || d.Repairs[50] != "… and 9950 more repairs" {
		t.Errorf("%d lines, the last is %q", len(d.Repairs), d.Repairs[len(d.Repairs)-1])
	}
	for _, line := range d.Repairs {
		if strings.Contains(line, "\n") || len(line) > 600 {
			t.Errorf("a record is no line: %q", line)
		}
	}
}

// TestUnpackedTooDeep nests texts in texts until the whole would be deeper
// than anybody reads.
func TestUnpackedTooDeep(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"v":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"array","items":{"$ref":"#/$defs/l"}}}}`, nil)
	inner := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	raw := `{"v":` + strings.Repeat("[", 60) + `"` + inner + `"` + strings.Repeat("]", 60) + `}`
	d, err := s.Decode(json.RawMessage(raw))
	if err == nil || !strings.Contains(err.Error(), "deeper than 128") {
		t.Errorf("got %.100s, %v", d.Args, err)
	}
}

func TestCompileRefuses(t *testing.T) {
	const two = `{"type":"object","properties":{"a_b":{},"c":{}}}`
	for _, tc := range []struct {
		name, schema string
		aliases      map[string][]string
		want         string
	}{
		{"no schema", ``, nil, "input schema of read_file"},
		{"not an object", `{"type":"string"}`, nil, `must say "type": "object"`},
		{"no type", `{"properties":{}}`, nil, `must say "type": "object"`},
		{"object or null", `{"type":["object","null"]}`, nil, `must say "type": "object"`},
		{"dialect", `{"type":"object","$schema":"http://json-schema.org/draft-04/schema#"}`, nil, "not supported"},
		{"network", `{"type":"object","properties":{"a":{"$ref":"https://example.com/x"}}}`, nil, "nothing is fetched"},
		{"alias of nothing", two, map[string][]string{"x": {"y"}}, `"x" is no argument`},
		{"alias that is an argument", two, map[string][]string{"c": {"aB"}}, "is an argument itself"},
		{"alias of two", two, map[string][]string{"c": {"z"}, "a_b": {"Z"}}, "means both"},
		{"empty alias", two, map[string][]string{"c": {"_"}}, "is no name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := args.Compile("read_file", json.RawMessage(tc.schema), tc.aliases)
			if err == nil || s != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want one about %q", err, tc.want)
			}
		})
	}
	// The canonical name in another spelling needs no entry and does no harm.
	if _, err := args.Compile("t", json.RawMessage(two), map[string][]string{"a_b": {"aB"}}); err != nil {
		t.Error(err)
	}
}

func TestDraft07(t *testing.T) {
	s := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
		"properties":{"n":{"$ref":"#/definitions/n"},"pair":{"type":"array","items":[{"type":"integer"},{"type":"string"}],"additionalItems":false}},
		"definitions":{"n":{"type":"integer"}},"additionalProperties":false}`, nil)
	d, err := s.Decode(json.RawMessage(`{"N":"3","pair":["1","x"]}`))
	if err != nil || string(d.Args) != `{"n":3,"pair":[1,"x"]}` {
		t.Errorf("got %s, %v", d.Args, err)
	}
}

func TestF170_Example(t *testing.T) {
	for _, tc := range []struct{ schema, want string }{
		{reading, `{"path":"<path>"}`},
		{`{"type":"object"}`, `{}`},
		{`{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"type":"integer","minimum":5},"c":{"const":null},"d":{"type":"array","items":{"type":"boolean"},"minItems":2},
			"e":{"type":"string","examples":["ex"]},"f":{"type":"number","exclusiveMinimum":7,"default":8},"g":{"type":"string","maxLength":2},"h":{"type":"string","minLength":10}},
			"required":["a","b","c","d","e","f","g","h"]}`,
			`{"a":"x","b":5,"c":null,"d":[true,true],"e":"ex","f":8,"g":"a","h":"<h>xxxxxxx"}`},
		{`{"type":"object","properties":{"o":{"oneOf":[{"$ref":"#/$defs/never"},{"type":"object","properties":{"k":{"const":"v"},"n":{"type":"integer"}},"required":["k","n"]}]}},
			"required":["o","free"],"$defs":{"never":{"not":{}}}}`, `{"o":{"k":"v","n":1},"free":"<free>"}`},
		{`{"type":"object","properties":{"day":{"type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}$"}},"required":["day"]}`, `{"day":"2024-01-31"}`},
		{`{"type":"object","properties":{"p":{"type":"string","pattern":"^zq{3}$"}},"required":["p"]}`, ``},
		{`{"type":"object","properties":{"t":{"$ref":"#"}},"required":["t"]}`, ``},
	} {
		s := compile(t, tc.schema, nil)
		got := s.Example()
		if string(got) != tc.want {
			t.Errorf("the example is %s, want %s", got, tc.want)
		}
		if got == nil {
			continue
		}
		if d, err := s.Decode(got); err != nil || len(d.Repairs) > 0 {
			t.Errorf("the example %s is not valid: %q, %v", got, d.Repairs, err)
		}
	}
}
