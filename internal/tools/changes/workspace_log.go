package changes

import (
	"context"
	_ "embed" // for the description
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed workspace_log.md
var logWords string

// filesShown is how many files of one change are listed.
const filesShown = 20

type logArgs struct {
	Path        string `json:"path,omitempty" jsonschema:"only changes of this file, or of files in this folder"`
	Limit       int    `json:"limit" jsonschema:"how many changes to return" min:"1" max:"100" default:"20"`
	Before      string `json:"before,omitempty" jsonschema:"only changes older than the one with this id" max:"64"`
	SessionOnly bool   `json:"session_only,omitempty" jsonschema:"only changes by this session and its sub-agents"`
}

// Log returns the tool workspace_log.
func Log() tool.Tool {
	return tool.Typed[logArgs]{
		Spec: tool.Spec{
			Name: "workspace_log", Title: "List changes", Description: strings.TrimSpace(logWords),
			ArgAliases: map[string][]string{"path": {"file", "file_path", "project"}, "limit": {"count", "max"}},
			Tags:       tags(), Effects: tool.Read, Concurrency: tool.Safe, Idempotent: true,
		},
		Handle: runLog,
		Assess: func(ctx context.Context, in logArgs) (tool.Act, error) {
			at, err := clean(ctx, in.Path)
			if at == "" {
				at = "."
			}
			return tool.Act{Effects: tool.Read, Trees: []string{at}, Summary: "list the changes of files"}, err
		},
		Resume: func(in logArgs, _ tool.Cut) string {
			if in.Limit > 1 {
				return fmt.Sprintf("Call workspace_log with a smaller limit than %d, and before to go on.", in.Limit)
			}
			return ""
		},
	}.Tool()
}

// list finds the changes that a call asks for.
func list(ctx context.Context, in logArgs) (*history.List, error) {
	at, err := clean(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	return history.From(ctx).List(ctx, history.Filter{Path: at, Limit: in.Limit, Before: in.Before, Own: in.SessionOnly})
}

func runLog(ctx context.Context, _ *tool.Call, in logArgs) (*tool.Result, error) {
	l, err := list(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(l.Changes) == 0 {
		return tool.Text("No change is recorded " + what(in) + "."), nil
	}
	hidden := withheld(ctx, workspace.From(ctx))
	var b strings.Builder
	for _, c := range l.Changes {
		b.WriteString(line(c) + "\n")
		left, shown := c.Hidden, 0
		for i := range c.Files {
			f := &c.Files[i]
			if isWithheld(hidden, f) || shown == filesShown {
				left++
				continue
			}
			shown++
			b.WriteString(detail(f) + "\n")
		}
		if left > 0 {
			fmt.Fprintf(&b, "  and %d more\n", left)
		}
	}
	switch last := l.Changes[len(l.Changes)-1].ID; {
	case l.More:
		fmt.Fprintf(&b, "\nThere are older changes: before=%s goes on.\n", last)
	case l.Cut:
		b.WriteString("\nChanges that are older still were not looked at.\n")
	}
	return tool.Text(b.String()), nil
}

func what(in logArgs) string {
	text := "in this workspace"
	if in.Path != "" {
		text = "of " + tool.Clip(in.Path)
	}
	if in.SessionOnly {
		text += " by this session"
	}
	if in.Before != "" {
		text += " before " + in.Before
	}
	return text
}
