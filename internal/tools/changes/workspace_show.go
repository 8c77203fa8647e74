package changes

import (
	"context"
	_ "embed" // for the description
	"errors"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed workspace_show.md
var showWords string

type showArgs struct {
	ID     string `json:"id" jsonschema:"the change, such as c_k3m9x2pq7abc" min:"1" max:"64"`
	Path   string `json:"path,omitempty" jsonschema:"show what this file held after the change"`
	Before bool   `json:"before,omitempty" jsonschema:"with path: what it held before the change"`
}

// Show returns the tool workspace_show.
func Show() tool.Tool {
	return tool.Typed[showArgs]{
		Spec: tool.Spec{
			Name: "workspace_show", Title: "Show a change", Description: strings.TrimSpace(showWords),
			ArgAliases: map[string][]string{"id": {"change", "commit", "change_id"}, "path": {"file", "file_path"}},
			Tags:       tags(), Effects: tool.Read, Concurrency: tool.Safe, Idempotent: true, Verbatim: true,
		},
		Handle: runShow,
		Assess: func(ctx context.Context, in showArgs) (tool.Act, error) {
			return assessDiff(ctx, history.Range{ID: in.ID}, in.Path)
		},
		Resume: func(in showArgs, _ tool.Cut) string {
			if in.Path == "" {
				return "Call workspace_diff with this id and a path to see one file."
			}
			return ""
		},
	}.Tool()
}

func runShow(ctx context.Context, _ *tool.Call, in showArgs) (*tool.Result, error) {
	if in.Before && in.Path == "" {
		return nil, tool.Invalidf("before: it needs a path, the file whose earlier content is wanted")
	}
	h, w := history.From(ctx), workspace.From(ctx)
	c, err := h.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Path != "" {
		return showFile(ctx, h, w, c, in)
	}
	var b strings.Builder
	b.WriteString(line(c) + "\n")
	hidden := withheld(ctx, w)
	for i := range c.Files {
		if f := &c.Files[i]; !isWithheld(hidden, f) {
			b.WriteString(detail(f) + "\n")
		}
	}
	d, err := h.Diff(ctx, w, history.Range{ID: in.ID}, hidden)
	if err != nil {
		return nil, err
	}
	return tool.Text(b.String() + "\n" + diffText(d)), nil
}

// showFile shows a file as it was.
func showFile(ctx context.Context, h *history.Timeline, w *workspace.Workspace, c *history.Change, in showArgs) (*tool.Result, error) {
	at, data, err := contentOf(ctx, h, w, c, in)
	switch {
	case err != nil:
		return nil, err
	case data == nil:
		return tool.Text("There was no file at " + name(at) + " then."), nil
	}
	t, err := textfile.Decode(data)
	if err != nil {
		return nil, tool.Failf("what %s held then is not text (%d bytes)", tool.Clip(at), len(data))
	}
	return tool.Text(t.Content), nil
}

// contentOf returns what a file held before or after a change, or nil where
// there was none.
func contentOf(ctx context.Context, h *history.Timeline, w *workspace.Workspace, c *history.Change, in showArgs) (at string, data []byte, err error) {
	if at, err = clean(ctx, in.Path); err != nil {
		return at, nil, err
	}
	hidden := withheld(ctx, w)
	i := slices.IndexFunc(c.Files, func(f history.File) bool { return f.Path == at })
	if i < 0 {
		var paths []string
		for _, f := range c.Files {
			if !hidden(f.Path) {
				paths = append(paths, f.Path)
			}
		}
		return at, nil, tool.Failf("%s did not change %s; it changed %s", c.ID, tool.Clip(at), shortList(paths))
	}
	if isWithheld(hidden, &c.Files[i]) {
		return at, nil, tool.Errorf(tool.CodeDenied, "%s may not be read", tool.Clip(at))
	}
	data, err = h.Content(ctx, in.ID, at, in.Before)
	if errors.Is(err, history.ErrNotKept) {
		err = tool.Failf("what %s held then is not kept: it was too large", tool.Clip(at))
	}
	return at, data, err
}
