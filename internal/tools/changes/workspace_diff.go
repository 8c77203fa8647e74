package changes

import (
	"context"
	_ "embed" // for the description
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed workspace_diff.md
var diffWords string

type diffArgs struct {
	ID   string `json:"id,omitempty" jsonschema:"show what this change did" max:"64"`
	From string `json:"from,omitempty" jsonschema:"show what came after this change" max:"64"`
	To   string `json:"to,omitempty" jsonschema:"with from: up to and with this change, instead of up to now" max:"64"`
	Path string `json:"path,omitempty" jsonschema:"show only this file, or the files in this folder"`
}

// Diff returns the tool workspace_diff.
func Diff() tool.Tool {
	return tool.Typed[diffArgs]{
		Spec: tool.Spec{
			Name: "workspace_diff", Title: "Compare states of files", Description: strings.TrimSpace(diffWords),
			ArgAliases: map[string][]string{
				"id": {"change", "commit"}, "from": {"from_commit", "since"}, "to": {"to_commit", "until"}, "path": {"file", "file_path"},
			},
			Tags: tags(), Effects: tool.Read, Concurrency: tool.Safe, Idempotent: true, Verbatim: true,
		},
		Handle: runDiff,
		Assess: func(ctx context.Context, in diffArgs) (tool.Act, error) { return assessDiff(ctx, in.span(), in.Path) },
		Resume: func(in diffArgs, _ tool.Cut) string {
			if in.Path == "" {
				return "Call workspace_diff with a path as well to see one file."
			}
			return ""
		},
	}.Tool()
}

func (in diffArgs) span() history.Range { return history.Range{ID: in.ID, From: in.From, To: in.To} }

// assessDiff names the files whose contents would be shown.
func assessDiff(ctx context.Context, r history.Range, given string) (tool.Act, error) {
	var err error
	if r.Path, err = clean(ctx, given); err != nil {
		return tool.Act{}, err
	}
	paths, err := history.From(ctx).Paths(ctx, r)
	// What may not be read by anybody is left out of the answer.
	paths = slices.DeleteFunc(paths, workspace.From(ctx).Unreadable)
	return tool.Act{Effects: tool.Read, Reads: paths, Summary: "show changes of files"}, err
}

func runDiff(ctx context.Context, _ *tool.Call, in diffArgs) (*tool.Result, error) {
	if in.ID != "" && (in.From != "" || in.To != "") {
		return nil, tool.Invalidf("id: it already says what to compare, so leave out from and to")
	}
	r := in.span()
	var err error
	if r.Path, err = clean(ctx, in.Path); err != nil {
		return nil, err
	}
	w := workspace.From(ctx)
	d, err := history.From(ctx).Diff(ctx, w, r, withheld(ctx, w))
	if err != nil {
		return nil, err
	}
	return tool.Text(diffText(d)), nil
}

func diffText(d *history.Diff) string {
	text := d.Text
	if text == "" {
		text = "Nothing differs.\n"
	}
	if len(d.Cut) > 0 {
		text += "\nLeft out, because the diff is long: " + shortList(d.Cut) + ". Give a path to see one.\n"
	}
	if len(d.Withheld) > 0 {
		text += "\nLeft out, because it may not be read: " + shortList(d.Withheld) + ".\n"
	}
	return text
}
