package file

import (
	"context"
	_ "embed" // for the description

	"github.com/handrail-tools/handrail/internal/patch"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed diff_edit.md
var diffEditWords string

type diffEditArgs struct {
	Path string `json:"path,omitempty" jsonschema:"the file, relative to the workspace; leave it out where the diff names its files"`
	Diff string `json:"diff" jsonschema:"the unified diff" min:"1"`
}

// DiffEdit returns the tool diff_edit.
func DiffEdit() tool.Tool {
	return tool.Typed[diffEditArgs]{
		Spec: tool.Spec{
			Name: "diff_edit", Title: "Apply a unified diff",
			Description: words(diffEditWords),
			ArgAliases: map[string][]string{
				"path": {"file_path", "file", "filename"}, "diff": {"patch", "input"},
			},
			Tags: []string{"fs", "code"}, Effects: tool.Read | tool.Write,
		},
		Handle: func(ctx context.Context, _ *tool.Call, in diffEditArgs) (*tool.Result, error) {
			return applyPatch(ctx, in.Diff, patch.Options{Path: in.Path})
		},
		Assess: func(_ context.Context, in diffEditArgs) (tool.Act, error) {
			return assessPatch(in.Diff, patch.Options{Path: in.Path})
		},
	}.Tool()
}
