package file

import (
	"context"
	_ "embed" // for the description
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// maxEdits bounds the changes of one call. Each is searched in the whole
// text, and more of them are a new file.
const maxEdits = 200

//go:embed edit_file.md
var editFileWords string

type editArgs struct {
	Path       string    `json:"path" jsonschema:"the file, relative to the workspace" min:"1"`
	OldString  *string   `json:"old_string,omitempty" jsonschema:"the text to replace, as it stands in the file"`
	NewString  *string   `json:"new_string,omitempty" jsonschema:"the text to put in its place; may be empty"`
	ReplaceAll bool      `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
	NearLine   int       `json:"near_line,omitempty" jsonschema:"of several occurrences, take the one nearest to this line"`
	Edits      []oneEdit `json:"edits,omitempty" jsonschema:"several changes, instead of old_string and new_string" max:"200"`
	Encoding   string    `json:"encoding,omitempty" jsonschema:"the file's encoding, where the recognised one is wrong"`
}

type oneEdit struct {
	OldString  string `json:"old_string" jsonschema:"the text to replace"`
	NewString  string `json:"new_string" jsonschema:"the new text"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"as above, for this edit"`
	NearLine   int    `json:"near_line,omitempty" jsonschema:"as above, for this edit"`
}

// EditFile returns the tool edit_file.
func EditFile() tool.Tool {
	return tool.Typed[editArgs]{
		Spec: tool.Spec{
			Name: "edit_file", Title: "Edit a file",
			Description: words(editFileWords),
			ArgAliases: map[string][]string{
				"path":       {"file_path", "file", "filename"},
				"old_string": {"old_str", "old_text", "old", "search"}, "new_string": {"new_str", "new_text", "new", "replace"},
			},
			Tags: []string{"fs", "code"}, Effects: tool.Read | tool.Write,
		},
		Handle: editFile,
		Assess: func(_ context.Context, in editArgs) (tool.Act, error) {
			return tool.Act{
				Effects: tool.Read | tool.Write, Reads: []string{in.Path}, Writes: []string{in.Path},
				Summary: "edit " + tool.Clip(in.Path),
			}, nil
		},
	}.Tool()
}

// list brings the two forms of a call to one. All that is wrong is said at
// once.
func (in editArgs) list() ([]oneEdit, error) {
	var wrong []string
	single := in.OldString != nil || in.NewString != nil
	edits := in.Edits
	switch {
	case single && len(edits) > 0:
		wrong = append(wrong, "old_string with new_string and edits are two ways to say the same; use one of them")
	case !single && len(edits) == 0:
		wrong = append(wrong, "old_string and new_string are missing (or edits, for several changes)")
	case single && in.OldString == nil:
		wrong = append(wrong, "old_string is missing; quote the text that new_string is to replace. To write a whole file use write_file")
	case single && in.NewString == nil:
		wrong = append(wrong, `new_string is missing; give "" to delete old_string`)
	case single:
		edits = []oneEdit{{*in.OldString, *in.NewString, in.ReplaceAll, in.NearLine}}
	case in.ReplaceAll || in.NearLine != 0:
		wrong = append(wrong, "replace_all and near_line belong to each of edits, not beside it")
	}
	if len(edits) > maxEdits {
		wrong = append(wrong, fmt.Sprintf("%d edits are too many for one call; at most %d", len(edits), maxEdits))
	}
	for i, e := range edits {
		for _, problem := range e.problems() {
			wrong = append(wrong, which(i, len(edits))+problem)
		}
	}
	if len(wrong) > 0 {
		return nil, tool.Invalidf("%s. Nothing was changed", strings.Join(wrong, ". "))
	}
	return edits, nil
}

// problems says what is wrong with an edit whatever the file holds.
func (e oneEdit) problems() []string {
	var wrong []string
	if e.OldString == e.NewString {
		wrong = append(wrong, "old_string and new_string are the same, so nothing would change")
	}
	if e.ReplaceAll && e.NearLine != 0 {
		wrong = append(wrong, "replace_all takes every occurrence and near_line one; use one of them")
	}
	if e.NearLine < 0 {
		wrong = append(wrong, fmt.Sprintf("near_line is %d; lines count from 1", e.NearLine))
	}
	return wrong
}

// which names an edit of a list in front of a message.
func which(i, of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprintf("edit %d of %d: ", i+1, of)
}

func editFile(ctx context.Context, _ *tool.Call, in editArgs) (*tool.Result, error) {
	edits, err := in.list()
	if err != nil {
		return nil, err
	}
	w := workspace.From(ctx)
	if edits[0].OldString == "" {
		return createByEdit(ctx, w, in.Path, edits)
	}
	var s editing
	change, err := w.Edit(ctx, in.Path, func(old workspace.File) ([]byte, error) {
		s = editing{views: w.Views(), old: old, name: in.Path}
		return s.run(edits, in.Encoding)
	})
	if err != nil {
		var lost *notFoundError
		if errors.As(err, &lost) {
			return nil, lost.explain(ctx, w)
		}
		return nil, pathError(w, in.Path, err)
	}
	if change.Unchanged {
		return tool.Text(fmt.Sprintf("The edits undo each other: %s is as it was.", tool.Clip(change.Rel))), nil
	}
	s.record(change)
	return &tool.Result{OK: true, Text: strings.TrimSuffix(s.report(change, edits), "\n"), Changed: []string{change.Rel}}, nil
}

// createByEdit serves the custom of other tools to make a file by replacing
// nothing. It works only where there is nothing: an empty old_string must
// never stand for a whole file (field report F014).
func createByEdit(ctx context.Context, w *workspace.Workspace, name string, edits []oneEdit) (*tool.Result, error) {
	old, err := w.ReadFile(ctx, name, maxWholeRead)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing && !errors.Is(err, workspace.ErrTooLarge):
		return nil, pathError(w, name, err)
	case len(edits) > 1 || !missing && len(old.Data) > 0 || err != nil && !missing:
		return nil, tool.Invalidf("old_string is empty. Quote the text that is to be replaced; to add text, quote the line beside it and repeat it in new_string. Nothing was changed")
	}
	return writeFile(ctx, nil, writeArgs{Path: name, Content: edits[0].NewString, CreateOnly: missing})
}

// decodeForEdit returns a text that may be spliced.
func decodeForEdit(name string, data []byte, encoding string) (textfile.Text, error) {
	text, err := decode(name, data, encoding)
	if err != nil {
		return text, err
	}
	if text.Confident && text.Exact {
		return text, nil
	}
	bytes, ok := text.Transparent()
	if !ok {
		return text, tool.Failf("%s is %s, but some of its bytes are no characters of it, so it cannot be changed without damage. Nothing was changed", tool.Clip(name), text.Encoding)
	}
	return bytes, nil
}
