package file

import (
	"context"
	_ "embed" // for the description
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed move_file.md
var moveFileWords string

type moveArgs struct {
	Source      string `json:"source" jsonschema:"what to move, relative to the workspace" min:"1"`
	Destination string `json:"destination" jsonschema:"its new path, relative to the workspace" min:"1"`
	Overwrite   bool   `json:"overwrite,omitempty" jsonschema:"replace an existing file or link at the destination"`
}

// MoveFile returns the tool move_file.
func MoveFile() tool.Tool {
	return tool.Typed[moveArgs]{
		Spec: tool.Spec{
			Name: "move_file", Aliases: []string{"rename_file"}, Title: "Move a file",
			Description: words(moveFileWords),
			ArgAliases: map[string][]string{
				"source":      {"from", "old_path", "src", "path", "source_path", "file_path"},
				"destination": {"to", "new_path", "dst", "dest", "target", "destination_path"},
			},
			Tags: []string{"fs", "code"}, Effects: tool.Read | tool.Write,
		},
		Handle: moveFile,
		Assess: assessMove,
	}.Tool()
}

// assessMove says what a move would do. What is moved could be read at its
// new path, so unless it is a link it counts as a tree that is read.
func assessMove(ctx context.Context, in moveArgs) (tool.Act, error) {
	from, err := workspace.From(ctx).ResolveEntry(in.Source)
	if err != nil {
		return tool.Act{}, err
	}
	act := tool.Act{
		Effects: tool.Read | tool.Write, Entries: []string{in.Source, in.Destination},
		Summary: fmt.Sprintf("move %s to %s", tool.Clip(in.Source), tool.Clip(in.Destination)),
	}
	if from.Mode&fs.ModeSymlink == 0 {
		act.Reads, act.Trees = []string{in.Source}, []string{in.Source}
	}
	return act, nil
}

func moveFile(ctx context.Context, _ *tool.Call, in moveArgs) (*tool.Result, error) {
	w := workspace.From(ctx)
	at, err := w.ResolveEntry(in.Source)
	if err != nil {
		return nil, err
	}
	if !at.Exists {
		return nil, missing(w, in.Source, fs.ErrNotExist)
	}
	c, err := w.Move(ctx, in.Source, in.Destination, workspace.MoveOptions{Overwrite: in.Overwrite})
	switch {
	case errors.Is(err, fs.ErrExist) && !in.Overwrite && mayOverwrite(w, in.Destination):
		return nil, &tool.Error{Code: tool.CodeFailed, Err: err, Text: tool.Clip(in.Destination) + " exists already. Nothing was moved; choose another destination, or set overwrite if that file is to be lost"}
	case err != nil:
		return nil, err
	case c.Unchanged:
		return tool.Text(fmt.Sprintf("%s and %s are the same path; nothing was moved.", tool.Clip(in.Source), tool.Clip(in.Destination))), nil
	}
	return &tool.Result{OK: true, Text: moved(c), Changed: []string{c.From, c.Rel}}, nil
}

// mayOverwrite reports whether overwrite would let the destination be
// replaced.
func mayOverwrite(w *workspace.Workspace, name string) bool {
	at, err := w.ResolveEntry(name)
	return err == nil && (at.Mode.IsRegular() || at.Mode&fs.ModeSymlink != 0)
}

// moved says what was moved.
func moved(c workspace.Change) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Moved %s%s to %s.", kindOf(c.Mode), tool.Clip(c.From), tool.Clip(c.Rel))
	if !c.Created {
		b.WriteString(" What was there before is replaced.")
	}
	if n := len(c.Folders); n > 0 {
		fmt.Fprintf(&b, " Made the folder %s.", tool.Clip(c.Folders[n-1]))
	}
	if c.Mode&fs.ModeSymlink != 0 {
		b.WriteString(" The link was moved, not what it leads to; a relative target is seen from its new place.")
	}
	return b.String()
}

// kindOf names what is no plain file, in front of its path.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "the folder "
	case mode&fs.ModeSymlink != 0:
		return "the symbolic link "
	}
	return ""
}
