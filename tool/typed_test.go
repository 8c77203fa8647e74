package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

type sample struct {
	Path  string   `json:"path" jsonschema:"path of the file" min:"1"`
	Limit int      `json:"limit" jsonschema:"how many lines" min:"1" max:"2000" default:"50"`
	Mode  string   `json:"mode,omitempty" enum:"text|hex"`
	Tags  []string `json:"tags,omitempty" max:"3"`
	Deep  *struct {
		On bool `json:"on"`
	} `json:"deep,omitempty"`
}

func TestInferSchema(t *testing.T) {
	got, err := tool.InferSchema[sample]()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"path of the file","minLength":1},` +
		`"limit":{"type":"integer","description":"how many lines","default":50,"minimum":1,"maximum":2000},` +
		`"mode":{"type":"string","enum":["text","hex"]},` +
		`"tags":{"type":"array","items":{"type":"string"},"maxItems":3},` +
		`"deep":{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"],"additionalProperties":false}},` +
		`"required":["path"],"additionalProperties":false}`
	if string(got) != want {
		t.Errorf("schema\n got %s\nwant %s", got, want)
	}
}

func TestTypedDefaults(t *testing.T) {
	var seen []sample
	tl := tool.Typed[sample]{
		Spec: tool.Spec{Name: "t", Description: "d"},
		Handle: func(_ context.Context, _ *tool.Call, in sample) (*tool.Result, error) {
			seen = append(seen, in)
			return tool.Text("ok"), nil
		},
	}.Tool()
	for _, args := range []string{`{"path":"x"}`, `{"path":"x","limit":0}`} {
		if _, err := tl.Run(context.Background(), &tool.Call{Args: json.RawMessage(args)}); err != nil {
			t.Fatal(err)
		}
	}
	if seen[0].Limit != 50 || seen[1].Limit != 0 {
		t.Errorf("limits are %d and %d, want the default 50 and the explicit 0", seen[0].Limit, seen[1].Limit)
	}
}
