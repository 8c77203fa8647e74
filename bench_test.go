package handrail_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

type sixFields struct {
	Path   string   `json:"path" jsonschema:"a path" min:"1"`
	Offset int      `json:"offset,omitempty" jsonschema:"a number" min:"0"`
	Limit  int      `json:"limit,omitempty" jsonschema:"a number" min:"1" max:"2000"`
	Mode   string   `json:"mode" jsonschema:"a word" enum:"text|hex|auto"`
	Tags   []string `json:"tags,omitempty" jsonschema:"words"`
	Opts   struct {
		Follow bool `json:"follow,omitempty" jsonschema:"a switch"`
	} `json:"opts,omitzero" jsonschema:"switches"`
}

// BenchmarkSessionRun is a whole governed call: journey, ledger, event log
// and metrics, with a tool that does nothing.
func BenchmarkSessionRun(b *testing.B) {
	noop := tool.Typed[sixFields]{
		Spec:   tool.Spec{Name: "noop", Description: "Does nothing.", Effects: tool.Pure, Concurrency: tool.Safe},
		Handle: func(context.Context, *tool.Call, sixFields) (*tool.Result, error) { return tool.Text("ok"), nil },
	}.Tool()
	session, err := handrail.Open(b.Context(), handrail.Options{Tools: []tool.Tool{noop}, Guard: handrail.GuardAdvise})
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	call := handrail.Call{Tool: "noop", Args: json.RawMessage(`{"path":"/a/b","offset":0,"limit":10,"mode":"text","tags":["x","y"],"opts":{"follow":true}}`)}
	b.ReportAllocs()
	for b.Loop() {
		if r := session.Run(b.Context(), call)[0]; !r.OK {
			b.Fatal(r.Text)
		}
	}
}

// BenchmarkSessionSpecs is what a turn pays for the list: nothing.
func BenchmarkSessionSpecs(b *testing.B) {
	session, err := handrail.Open(b.Context(), handrail.Options{Workspace: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	session.Specs()
	b.ReportAllocs()
	for b.Loop() {
		if len(session.Specs()) == 0 || len(session.SpecsJSON()) == 0 {
			b.Fatal("no tools")
		}
	}
}
