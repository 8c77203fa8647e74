package mcp

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Files that a result hands to the person are links to what can be read as a
// resource, whichever way the result takes.
func TestFilesForThePersonAreLinks(t *testing.T) {
	open := func(ctx context.Context) (*handrail.Session, error) {
		return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Tools: []tool.Tool{tool.Typed[nothing]{
			Spec: tool.Spec{Name: "draw", Description: "Draws.", Effects: tool.Pure},
			Handle: func(context.Context, *tool.Call, nothing) (*tool.Result, error) {
				return &tool.Result{OK: true, Text: "drawn", Deliver: []string{"out/a b.png", "out/notes"}}, nil
			},
		}.Tool()}})
	}
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			r, err := client(t, w.connect(t, open), w.version, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "draw"})
			if err != nil {
				t.Fatal(err)
			}
			want := []mcp.Content{
				&mcp.TextContent{Text: "drawn"},
				&mcp.ResourceLink{URI: filesURI + "out/a%20b.png", Name: "out/a b.png", MIMEType: "image/png"},
				&mcp.ResourceLink{URI: filesURI + "out/notes", Name: "out/notes"},
			}
			if diff := cmp.Diff(want, r.Content); diff != "" {
				t.Error(diff)
			}
		})
	}
}
