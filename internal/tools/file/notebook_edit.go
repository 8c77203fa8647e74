package file

import (
	"context"
	_ "embed" // for the description
	"fmt"

	"github.com/handrail-tools/handrail/internal/notebook"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed notebook_edit.md
var notebookEditWords string

type notebookArgs struct {
	Path     string  `json:"path" jsonschema:"the notebook, relative to the workspace" min:"1"`
	Cell     string  `json:"cell,omitempty" jsonschema:"the cell: its id, or its number from 0; for insert the cell that the new one comes after, or nothing for the start"`
	Mode     string  `json:"mode,omitempty" jsonschema:"what to do with the cell" enum:"replace|insert|delete" default:"replace"`
	CellType string  `json:"cell_type,omitempty" jsonschema:"type of a new cell, or another type for a replaced one" enum:"code|markdown|raw"`
	Source   *string `json:"source,omitempty" jsonschema:"the whole new text of the cell"`
}

// NotebookEdit returns the tool notebook_edit.
func NotebookEdit() tool.Tool {
	return tool.Typed[notebookArgs]{
		Spec: tool.Spec{
			Name: "notebook_edit", Title: "Edit a notebook", Description: words(notebookEditWords),
			ArgAliases: map[string][]string{
				"path": {"notebook_path", "file_path", "file"}, "cell": {"cell_id", "cell_number"},
				"mode": {"edit_mode"}, "source": {"new_source", "content"},
			},
			Tags: []string{"fs", "code"}, Effects: tool.Read | tool.Write,
		},
		Handle: notebookEdit,
		Assess: func(_ context.Context, in notebookArgs) (tool.Act, error) {
			return tool.Act{Effects: tool.Read | tool.Write, Writes: []string{in.Path}, Summary: in.Mode + " a cell of " + tool.Clip(in.Path)}, nil
		},
	}.Tool()
}

// check says what is wrong with a call whatever the file holds.
func (in notebookArgs) check() error {
	switch {
	case in.Mode == "delete" && (in.Source != nil || in.CellType != ""):
		return tool.Invalidf("source and cell_type do not go with delete. Nothing was changed")
	case in.Mode != "delete" && in.Source == nil:
		return tool.Invalidf(`source is missing: the whole new text of the cell ("" for an empty one). Nothing was changed`)
	case in.Mode != "insert" && in.Cell == "":
		return tool.Invalidf("cell is missing: the id of the cell, or its number from 0. Nothing was changed")
	case in.Mode == "insert" && in.CellType == "":
		return tool.Invalidf("cell_type is missing: a new cell is code, markdown or raw. Nothing was changed")
	}
	return nil
}

func notebookEdit(ctx context.Context, _ *tool.Call, in notebookArgs) (*tool.Result, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	w := workspace.From(ctx)
	var done string
	var after []byte
	change, err := w.Edit(ctx, in.Path, func(old workspace.File) (data []byte, err error) {
		after, done, err = in.apply(old)
		return after, err
	})
	if err != nil {
		return nil, pathError(w, in.Path, err)
	}
	if change.Unchanged {
		return tool.Text(fmt.Sprintf("%s is as it was: the cell holds exactly that already.", tool.Clip(change.Rel))), nil
	}
	seen := workspace.View{Version: change.After, Sum: workspace.SumOf(after), Total: int64(len(after)), Transformed: true}
	w.Views().Saw(change.Rel, seen, "")
	return &tool.Result{OK: true, Text: done, Changed: []string{change.Rel}}, nil
}

// apply makes the change in memory and says what it was.
func (in notebookArgs) apply(old workspace.File) (data []byte, done string, err error) {
	nb, err := notebook.Parse(old.Data)
	if err != nil {
		return nil, "", tool.Failf("%s cannot be edited by cells: %w. Nothing was changed", tool.Clip(old.Rel), err)
	}
	at := -1
	if in.Cell != "" {
		if at, err = nb.Index(in.Cell); err != nil {
			return nil, "", tool.Failf("%s: %w. Nothing was changed", tool.Clip(old.Rel), err)
		}
	}
	name, cells := tool.Clip(old.Rel), len(nb.Cells)
	switch in.Mode {
	case "insert":
		var id string
		data, id = nb.Insert(at+1, *in.Source, in.CellType)
		if id != "" {
			id = ", id " + id
		}
		done = fmt.Sprintf("Inserted a %s cell into %s as number %d of %d%s.", in.CellType, name, at+1, cells+1, id)
	case "delete":
		data = nb.Delete(at)
		done = fmt.Sprintf("Deleted cell %d of %s; %d are left, and those behind it moved up by one.", at, name, cells-1)
	default:
		data = nb.Replace(at, *in.Source, in.CellType)
		done = fmt.Sprintf("Replaced the source of cell %d of %s.", at, name)
		if c := nb.Cells[at]; len(c.Outputs) > 0 || c.Count != "" {
			done += " Its outputs are cleared; they were not from this source."
		}
	}
	if _, err := notebook.Parse(data); err != nil {
		return nil, "", tool.Failf("%s: the changed file would be no notebook: %w. Nothing was changed", name, err)
	}
	return data, done, nil
}
