package changes

import (
	"context"
	_ "embed" // for the description
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed undo.md
var undoWords string

type undoArgs struct {
	ID     string   `json:"id,omitempty" jsonschema:"the change to take back; without it, the newest one of this session that is not undone" max:"64"`
	Paths  []string `json:"paths,omitempty" jsonschema:"take it back only in these files or folders"`
	Since  bool     `json:"since,omitempty" jsonschema:"take back what came after it, too"`
	DryRun bool     `json:"dry_run,omitempty" jsonschema:"only say what would happen"`
}

// Undo returns the tool undo.
func Undo() tool.Tool {
	return tool.Typed[undoArgs]{
		Spec: tool.Spec{
			Name: "undo", Title: "Undo a change", Description: strings.TrimSpace(undoWords),
			ArgAliases: map[string][]string{"id": {"change", "change_id"}, "paths": {"path", "files"}, "dry_run": {"preview"}},
			Tags:       tags(), Effects: tool.Read | tool.Write, Verbatim: true,
		},
		Handle: func(ctx context.Context, call *tool.Call, in undoArgs) (*tool.Result, error) {
			o, err := in.options(ctx, call.Origin)
			if err != nil {
				return nil, err
			}
			return runUndo(ctx, o)
		},
		Assess: assessUndo,
	}.Tool()
}

// options are what the history is asked for. A person at the command line
// has a session of its own for each call, so the newest change of anybody is
// meant.
func (in undoArgs) options(ctx context.Context, by tool.Origin) (history.UndoOptions, error) {
	paths, err := places(ctx, in.Paths)
	return history.UndoOptions{
		ID: in.ID, Paths: paths, Since: in.Since, DryRun: in.DryRun, Anybody: by.Kind == tool.OriginCLI,
	}, err
}

// assessUndo names every path that would be written.
func assessUndo(ctx context.Context, in undoArgs) (tool.Act, error) {
	source, _ := workspace.SourceFrom(ctx)
	o, err := in.options(ctx, source.Origin)
	if err != nil {
		return tool.Act{}, err
	}
	paths, err := history.From(ctx).Touches(ctx, o)
	if err != nil {
		return tool.Act{}, err
	}
	act := tool.Act{Effects: tool.Read, Reads: paths, Summary: "show what an undo would do to " + shortList(paths)}
	if !in.DryRun {
		act.Effects, act.Entries = tool.Read|tool.Write, paths
		act.Summary = "undo changes of " + shortList(paths)
	}
	return act, nil
}

// refuseWithheld refuses an undo of files that the session may not read: it
// would show, or bring about, what nobody here may know.
func refuseWithheld(ctx context.Context, o history.UndoOptions) error {
	paths, err := history.From(ctx).Touches(ctx, o)
	if err != nil {
		return err
	}
	hidden := withheld(ctx, workspace.From(ctx))
	paths = slices.DeleteFunc(paths, func(p string) bool { return !hidden(p) })
	if len(paths) == 0 {
		return nil
	}
	return tool.Errorf(tool.CodeDenied, "nothing was undone: %s may not be read by this session. Name in paths what to take back.", shortList(paths))
}

func runUndo(ctx context.Context, o history.UndoOptions) (*tool.Result, error) {
	if err := refuseWithheld(ctx, o); err != nil {
		return nil, err
	}
	r, err := history.From(ctx).Undo(ctx, workspace.From(ctx), o)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	verb := "Undid"
	if r.DryRun {
		verb = "Would undo"
	}
	for _, c := range r.Undone {
		fmt.Fprintf(&b, "%s %s (%s, %s)\n", verb, c.ID, orUnknown(c.Tool), whose(c))
	}
	for _, f := range r.Files {
		b.WriteString("  " + f.What + " " + name(f.Path))
		if f.Note != "" {
			b.WriteString(": " + f.Note)
		}
		b.WriteString("\n")
	}
	if len(r.Changed) == 0 {
		b.WriteString("No file had to be changed for that.\n")
	}
	if r.Left > 0 {
		fmt.Fprintf(&b, "%d changes that other sessions made since were left as they are.\n", r.Left)
	}
	if r.ID != "" {
		fmt.Fprintf(&b, "To bring it back: undo with id=%s.\n", r.ID)
	}
	if r.Diff != "" {
		b.WriteString("\n" + r.Diff)
	}
	result := tool.Text(b.String())
	if !r.DryRun {
		result.Changed = r.Changed
	}
	return result, nil
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown tool"
	}
	return s
}
