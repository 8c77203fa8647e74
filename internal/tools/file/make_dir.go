package file

import (
	"context"
	_ "embed" // for the description
	"fmt"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed make_dir.md
var makeDirWords string

type makeDirArgs struct {
	Path string `json:"path" jsonschema:"the folder, relative to the workspace" min:"1"`
}

// MakeDir returns the tool make_dir.
func MakeDir() tool.Tool {
	return tool.Typed[makeDirArgs]{
		Spec: tool.Spec{
			Name: "make_dir", Aliases: []string{"mkdir", "create_directory"}, Title: "Make a folder",
			Description: words(makeDirWords),
			ArgAliases:  map[string][]string{"path": {"dir", "directory", "dir_path", "folder"}},
			Tags:        []string{"fs", "code"}, Effects: tool.Write, Idempotent: true,
		},
		Handle: makeDir,
		Assess: func(_ context.Context, in makeDirArgs) (tool.Act, error) {
			return tool.Act{Effects: tool.Write, Writes: []string{in.Path}, Summary: "make the folder " + tool.Clip(in.Path)}, nil
		},
	}.Tool()
}

func makeDir(ctx context.Context, _ *tool.Call, in makeDirArgs) (*tool.Result, error) {
	c, err := workspace.From(ctx).MakeDir(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	if c.Unchanged {
		return tool.Text(fmt.Sprintf("The folder %s exists already.", tool.Clip(c.Rel))), nil
	}
	return &tool.Result{OK: true, Text: fmt.Sprintf("Made the folder %s.", tool.Clip(c.Rel)), Changed: []string{c.Rel}}, nil
}
