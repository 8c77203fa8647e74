package keyvalue

import (
	"encoding/json"
	"strings"
	"testing"
)

const testSchema = `{"type": "object", "properties": {
	"path": {"type": "string"},
	"limit": {"type": "integer"},
	"ratio": {"type": ["number", "null"]},
	"deep": {"type": "boolean"},
	"paths": {"type": "array", "items": {"type": "string"}},
	"lines": {"type": "array", "items": {"type": "integer"}},
	"range": {"type": "object", "properties": {"start": {"type": "integer"}, "note": {"type": "string"}}},
	"edits": {"type": "array", "items": {"type": "object", "properties": {"old": {"type": "string"}, "all": {"type": "boolean"}}}},
	"a.b": {"type": "integer"},
	"free": {}
}}`

func TestParse(t *testing.T) {
	tests := []struct {
		name  string
		words []string
		want  string
	}{
		{"nothing", nil, `{}`},
		{"by type", []string{"path=12", "limit=12", "ratio=-0.5", "deep=true"}, `{"path":"12","limit":12,"ratio":-0.5,"deep":true}`},
		{"big integers keep their digits", []string{"limit=9007199254740993"}, `{"limit":9007199254740993}`},
		{"null where the schema has it", []string{"ratio=null", "path=null"}, `{"ratio":null,"path":"null"}`},
		{"a misfit goes on as a string", []string{"limit=many", "deep=yes", "ratio=1e"}, `{"limit":"many","deep":"yes","ratio":"1e"}`},
		{"an unknown key goes on as a string", []string{"pth=3"}, `{"pth":"3"}`},
		{"no type", []string{"free=3"}, `{"free":"3"}`},
		{"empty value", []string{"path=", "limit="}, `{"path":"","limit":""}`},
		{"value with =, quotes and HTML", []string{`path=a="<b>&`}, `{"path":"a=\"<b>&"}`},
		{"lists", []string{"paths=a", "lines=3", "paths=b"}, `{"paths":["a","b"],"lines":[3]}`},
		{"inside an object", []string{"range.start=3", "range.note=3"}, `{"range":{"start":3,"note":"3"}}`},
		{"inside the items of a list", []string{"edits.0.old=x", "edits.0.all=true", "edits.1.old=y"},
			`{"edits":[{"old":"x","all":true},{"old":"y"}]}`},
		{"unknown objects", []string{"x.y.z=1"}, `{"x":{"y":{"z":"1"}}}`},
		{"a dot in the name", []string{"a.b=4"}, `{"a.b":4}`},
		{"raw JSON", []string{`range:={"start": 1}`, `limit:=null`, `path:="x"`}, `{"range":{"start": 1},"limit":null,"path":"x"}`},
		{"raw JSON for a list", []string{`paths:=[]`}, `{"paths":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(json.RawMessage(testSchema), tt.words)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestParseProblems(t *testing.T) {
	tests := []struct {
		name  string
		words []string
		want  string
	}{
		{"no key", []string{"go.mod"}, `"go.mod" is not key=value; a whole object goes into one JSON argument, or - reads it from standard input`},
		{"empty key", []string{"=x"}, `"=x" is not key=value; a whole object goes into one JSON argument, or - reads it from standard input`},
		{"twice", []string{"path=a", "path=b"}, `path is given twice, and it is not a list`},
		{"object as text", []string{"range=3"}, `range is an object; write range.KEY=VALUE or range:=JSON`},
		{"bad JSON", []string{"range:={"}, `range:= needs JSON, and "{" is none`},
		{"part of a value", []string{"path=a", "path.b=c"}, `path.b: "b" is inside something that has a value already`},
		{"item out of order", []string{"edits.1.old=x"}, `edits.1.old: "1" is not the number of an item; the next one is 0`},
		{"item of raw JSON", []string{"edits:=[]", "edits.0.old=x"}, `edits.0.old: item "0" is inside something that has a value already`},
		{"list after raw JSON", []string{"paths:=[]", "paths=x"}, `paths has a value already`},
		{"empty part", []string{"a..c=1"}, `the key "a..c" has an empty part`},
		{"not UTF-8", []string{"path=\xff"}, `"path=\xff" is not UTF-8, and JSON can carry nothing else`},
		{"all at once", []string{"x", "path=a", "y"}, "\"x\" is not key=value; a whole object goes into one JSON argument, or - reads it from standard input\n" +
			"\"y\" is not key=value; a whole object goes into one JSON argument, or - reads it from standard input"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(json.RawMessage(testSchema), tt.words)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %s and the error\n%v\nwant\n%s", got, err, tt.want)
			}
		})
	}
}

// FuzzParse checks that what is accepted is a JSON object, whatever the
// schema says.
func FuzzParse(f *testing.F) {
	f.Add(testSchema, "path=a\nlimit=3\nedits.0.old=x")
	f.Add(`{"type": 7, "properties": {"a": null}}`, "a=1\na.b:=2\n:=x")
	f.Add(`[]`, "a.b.c.d=\"\xff\"")
	f.Fuzz(func(t *testing.T, schema, words string) {
		got, err := Parse(json.RawMessage(schema), strings.Split(words, "\n"))
		if err != nil {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(got, &object); err != nil {
			t.Errorf("%q made %s: %v", words, got, err)
		}
	})
}
