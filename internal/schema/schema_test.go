package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
)

func compile(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(text))
	if err != nil {
		t.Fatalf("compiling %.200s: %v", text, err)
	}
	return s
}

func parse(t testing.TB, text string) *jsondoc.Node {
	t.Helper()
	n, err := jsondoc.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &n
}

func TestCompileRefuses(t *testing.T) {
	for _, tc := range []struct{ name, schema, want string }{
		{"not JSON", `{`, "reading the schema"},
		{"key twice", `{"type":"object","type":"array"}`, "given twice"},
		{"too large", `{"description":"` + strings.Repeat("x", schema.MaxBytes) + `"}`, "the limit is 262144"},
		{"too deep", strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 200), "deeper than 128"},
		{"no schema", `3`, "a schema is an object, true or false"},
		{"schema in a property", `{"properties":{"a":"string"}}`, "at #/properties/a: a schema is an object"},
		{"type", `{"type":"strin"}`, `type "strin" is none of`},
		{"type kind", `{"type":3}`, "type 3 is none of"},
		{"no type", `{"type":[]}`, "type lists no type"},
		{"minimum", `{"minimum":"3"}`, `minimum must be number, not "3"`},
		{"minLength", `{"minLength":-1}`, "whole number from 0 up"},
		{"minLength fraction", `{"minLength":1.5}`, "whole number from 0 up"},
		{"multipleOf", `{"multipleOf":0}`, "above 0"},
		{"required", `{"required":[1]}`, "must list strings"},
		{"draft-04 bound", `{"exclusiveMinimum":true}`, "must be number"},
		{"draft-07 items", `{"items":[{}]}`, "prefixItems"},
		{"empty anyOf", `{"anyOf":[]}`, "lists no schema"},
		{"pattern", `{"pattern":"("}`, "pattern"},
		{"lookahead", `{"pattern":"^(?!x)"}`, "looks around"},
		{"pattern property", `{"patternProperties":{"(":true}}`, "patternProperties"},
		{"dialect", `{"$schema":"https://json-schema.org/draft/2019-09/schema"}`, "is not supported"},
		{"own dialect", `{"$schema":"https://example.com/mine"}`, "is not supported"},
		{"dialect kind", `{"$schema":3}`, "is not supported"},
		{"network reference", `{"$ref":"https://example.com/s.json"}`, remote},
		{"file reference", `{"$ref":"file:///etc/passwd"}`, remote},
		{"relative reference", `{"$ref":"other.json"}`, remote},
		{"missing definition", `{"$ref":"#/$defs/a"}`, "names nothing"},
		{"missing anchor", `{"$ref":"#a"}`, "names no anchor"},
		{"bad URI", `{"$ref":"http://[::1"}`, "is not a URI"},
		{"self", `{"$ref":"#"}`, "without end"},
		{"circle", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, "without end"},
		{"same id", `{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, "is also that of"},
		{"same anchor", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, "already taken"},
		{"percent in a name", `{"properties":{"100%d":{"type":"x"}}}`, "at #/properties/100%d: type"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := schema.Compile([]byte(tc.schema))
			if err == nil || s != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want one about %q", err, tc.want)
			}
		})
	}
}

func TestCompileReportsAllMistakes(t *testing.T) {
	_, err := schema.Compile([]byte(`{"type":"x","minimum":"1","properties":{"a":{"required":"b"}}}`))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("want three mistakes, got %v", err)
	}
}

func TestLocalReferences(t *testing.T) {
	s := compile(t, `{"$id":"https://example.com/root","properties":{
		"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#named"},"c":{"$ref":"https://example.com/inner"},"d":{"$ref":"inner#/properties/e"}},
		"$defs":{"x":{"type":"integer"},"y":{"$anchor":"named","type":"string"},
		"z":{"$id":"inner","type":"object","properties":{"e":{"type":"null"}}}}}`)
	for value, want := range map[string]bool{
		`{"a":1,"b":"x","c":{"e":null},"d":null}`: true,
		`{"a":"1"}`: false, `{"b":1}`: false, `{"c":{"e":1}}`: false, `{"d":1}`: false,
	} {
		if got := s.Accepts(parse(t, value), schema.NewBudget()); got != want {
			t.Errorf("%s is accepted: %t, want %t", value, got, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		pattern, yes, no string
	}{
		{`^\u00e9$`, "é", "e"},
		{`^\uD83D\uDE00$`, "😀", "x"},
		{`^\u{1F600}$`, "😀", "x"},
		{`^[\u0041-\u0043]$`, "B", "D"},
		{`^\/x\-$`, "/x-", "x"},
		{`^a[^]b$`, "a\nb", "ab"},
		{`^\cJ$`, "\n", "J"},
		{`^\\u0041$`, `\u0041`, "A"},
		{`^(?<year>\d{4})$`, "2024", "24"},
	} {
		text, err := json.Marshal(map[string]string{"pattern": tc.pattern})
		if err != nil {
			t.Fatal(err)
		}
		s := compile(t, string(text))
		yes, no := jsondoc.NewString(tc.yes), jsondoc.NewString(tc.no)
		if !s.Accepts(&yes, schema.NewBudget()) || s.Accepts(&no, schema.NewBudget()) {
			t.Errorf("%s: %q is accepted: %t, %q is accepted: %t", tc.pattern, tc.yes, s.Accepts(&yes, schema.NewBudget()), tc.no, s.Accepts(&no, schema.NewBudget()))
		}
	}
}

// keywordsOf lists the problems as "path keyword key".
func keywordsOf(v schema.Verdict) []string {
	var list []string
	for _, p := range v.Problems {
		var path strings.Builder
		for _, step := range p.Path {
			if step.Item {
				fmt.Fprintf(&path, "/%d", step.Index)
			} else {
				path.WriteString("/" + step.Key)
			}
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", path.String(), p.Keyword, p.Key)))
	}
	return list
}

func TestL1_CheckReportsEverything(t *testing.T) {
	s := compile(t, sixFields)
	v := s.Check(parse(t, `{"offset":-1,"limit":"10","mode":"txt","tags":["x",3],"opts":{"folow":true},"extra":1}`), schema.NewBudget())
	want := []string{
		"required path", "/offset minimum", "/limit type", "/mode enum", "/tags/1 type", "/opts unknown folow", "unknown extra",
	}
	if diff := cmp.Diff(want, keywordsOf(v)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestF183_NoContradictions(t *testing.T) {
	s := compile(t, `{"type":"object","oneOf":[
		{"properties":{"op":{"const":"add"},"value":{"type":"integer"}},"required":["op","value"]},
		{"properties":{"op":{"const":"drop"},"name":{"type":"string"}},"required":["op","name"]}],
		"unevaluatedProperties":false}`)
	v := s.Check(parse(t, `{"op":"add","value":"x","bogus":1}`), schema.NewBudget())
	if diff := cmp.Diff([]string{"oneOf", "unknown bogus"}, keywordsOf(v)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	for _, tc := range []struct {
		schema, value    string
		respelled, stray bool
	}{
		{`{"properties":{"n":{"type":"integer"}}}`, `{"n":3}`, false, false},
		{`{"properties":{"n":{"type":"integer"}}}`, `{"n":3.0}`, true, false},
		{`{"properties":{"n":{"type":"number"}}}`, `{"n":3.0}`, false, false},
		{`{"properties":{"n":{"type":["integer","string"]}}}`, `{"n":3e0}`, true, false},
		{`{"properties":{"n":{}}}`, `{"N":3}`, false, true},
		{`{"properties":{"n":{}}}`, `{"n":3}`, false, false},
		{`{}`, `{"n":3}`, false, false},
	} {
		v := compile(t, tc.schema).Check(parse(t, tc.value), schema.NewBudget())
		if !v.Valid() || v.Respelled != tc.respelled || v.Stray != tc.stray {
			t.Errorf("%s for %s gives %+v", tc.schema, tc.value, v)
		}
	}
}

// TestWorkIsBounded holds schemas that ask for a number of steps that doubles
// with every level: the answer must come soon and must be no.
func TestWorkIsBounded(t *testing.T) {
	wide := strings.Builder{}
	wide.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&wide, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	wide.WriteString(`"d40":{}}}`)
	tree := `"$defs":{"t":{"allOf":[{"items":{"$ref":"#/$defs/t"}},{"items":{"$ref":"#/$defs/t"}}]}}`
	nest := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for _, tc := range []struct{ name, schema, value string }{
		{"doubling in place", wide.String(), `1`},
		{"doubling with depth", `{"$ref":"#/$defs/t",` + tree + `}`, nest},
		{"behind a negation", `{"not":{"$ref":"#/$defs/t"},` + tree + `}`, nest},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := compile(t, tc.schema)
			if v := s.Check(parse(t, tc.value), schema.NewBudget()); v.Valid() || v.Problems[0].Keyword != schema.Exhausted {
				t.Errorf("the verdict is %+v", keywordsOf(v))
			}
		})
	}
}

func TestProblemsAreBounded(t *testing.T) {
	s := compile(t, `{"items":{"type":"string"}}`)
	v := s.Check(parse(t, "["+strings.Repeat("1,", 9999)+"1]"), schema.NewBudget())
	if len(v.Problems) != 500 || v.More != 9500 {
		t.Errorf("%d problems are kept and %d counted", len(v.Problems), v.More)
	}
}

func TestKindsAndLiterals(t *testing.T) {
	for _, tc := range []struct{ schema, kinds, literals string }{
		{`{"type":["integer","null"]}`, "integer or null", ""},
		{`{"anyOf":[{"type":"string"},{"type":"array"}]}`, "string or array", ""},
		{`{"enum":["a",1]}`, "string or integer", `["a",1]`},
		{`{"anyOf":[{"const":"a"},{"enum":["b","c"]}]}`, "string", `["a","b","c"]`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"const":null}}}`, "null", `[null]`},
		{`{"allOf":[{"type":"number"},{"type":["integer","string"]}]}`, "integer", ""},
		{`false`, "", ""},
	} {
		s := compile(t, tc.schema)
		list, listed := s.Literals()
		var got []byte
		if listed {
			all := jsondoc.Node{Kind: jsondoc.Array}
			for _, n := range list {
				all.Elems = append(all.Elems, jsondoc.Elem{Node: n})
			}
			got = all.JSON()
		}
		if s.Kinds().String() != tc.kinds || string(got) != tc.literals {
			t.Errorf("%s: kinds %s, literals %s", tc.schema, s.Kinds(), got)
		}
	}
}

// TestNothingIsFetched compiles a reference to a server that would answer.
func TestNothingIsFetched(t *testing.T) {
	for _, ref := range []string{"http://127.0.0.1:9/s", "https://json-schema.org/draft/2020-12/schema"} {
		if _, err := schema.Compile([]byte(`{"properties":{"a":{"$ref":"` + ref + `"}}}`)); err == nil || !strings.Contains(err.Error(), remote) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

const sixFields = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
"path":{"type":"string","minLength":1},"offset":{"type":"integer","minimum":0},"limit":{"type":"integer","minimum":1,"maximum":2000},
"mode":{"type":"string","enum":["text","hex","auto"]},"tags":{"type":"array","items":{"type":"string"}},
"opts":{"type":"object","properties":{"follow":{"type":"boolean"}},"additionalProperties":false}},
"required":["path","mode"],"additionalProperties":false}`

func BenchmarkCheck(b *testing.B) {
	s := compile(b, sixFields)
	n := parse(b, `{"path":"/a/b","offset":0,"limit":10,"mode":"text","tags":["x","y"],"opts":{"follow":true}}`)
	b.ReportAllocs()
	for b.Loop() {
		if v := s.Check(n, schema.NewBudget()); !v.Valid() {
			b.Fatal("invalid")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compile(b, sixFields)
	}
}
