package file

import (
	"context"
	_ "embed" // for the description
	"errors"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/patch"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed apply_patch.md
var applyPatchWords string

type applyPatchArgs struct {
	Patch string `json:"patch" jsonschema:"the whole patch" min:"1"`
}

// ApplyPatch returns the tool apply_patch.
func ApplyPatch() tool.Tool {
	return tool.Typed[applyPatchArgs]{
		Spec: tool.Spec{
			Name: "apply_patch", Title: "Apply a patch",
			Description: words(applyPatchWords, "grammar", patch.Grammar()),
			ArgAliases:  map[string][]string{"patch": {"input", "diff"}},
			Tags:        []string{"fs", "code"}, Effects: tool.Read | tool.Write,
		},
		Handle: func(ctx context.Context, _ *tool.Call, in applyPatchArgs) (*tool.Result, error) {
			return applyPatch(ctx, in.Patch, patch.Options{})
		},
		Assess: func(_ context.Context, in applyPatchArgs) (tool.Act, error) {
			return assessPatch(in.Patch, patch.Options{})
		},
	}.Tool()
}

// parsePatch reads the patch of a call.
func parsePatch(text string, opts patch.Options) (*patch.Patch, error) {
	p, err := patch.Parse(text, opts)
	if err != nil {
		return nil, tool.Invalidf("the patch cannot be read: %w. Nothing was changed", err)
	}
	return p, nil
}

// assessPatch names every path that a patch is about.
func assessPatch(text string, opts patch.Options) (tool.Act, error) {
	p, err := parsePatch(text, opts)
	if err != nil {
		return tool.Act{}, err
	}
	act := tool.Act{Effects: tool.Read | tool.Write}
	for _, f := range p.Files {
		switch f.Action {
		case patch.Delete:
			act.Entries = append(act.Entries, f.Path)
		case patch.Update:
			act.Reads, act.Writes = append(act.Reads, f.Path), append(act.Writes, f.Path)
		default:
			act.Writes = append(act.Writes, f.Path)
		}
		if f.To != "" {
			act.Entries = append(act.Entries, f.Path, f.To)
		}
	}
	act.Summary = "change " + tool.Clip(p.Files[0].Path)
	if n := len(p.Files); n > 1 {
		act.Summary = fmt.Sprintf("change %d files: %s, …", n, tool.Clip(p.Files[0].Path))
	}
	return act, nil
}

// maxPatchTries is how often a patch is planned again because another writer
// changed one of its files between the plan and the change.
const maxPatchTries = 50

// applyPatch plans all of a patch, then makes the changes together.
func applyPatch(ctx context.Context, text string, opts patch.Options) (*tool.Result, error) {
	p, err := parsePatch(text, opts)
	if err != nil {
		return nil, err
	}
	w := workspace.From(ctx)
	for try := 1; ; try++ {
		plan := newPatching(ctx, w)
		for i := range p.Files {
			plan.add(&p.Files[i])
		}
		if err := plan.refusal(); err != nil {
			return nil, err
		}
		steps, err := plan.steps()
		if err != nil {
			return nil, err
		}
		changes, err := w.Apply(ctx, steps)
		if errors.Is(err, workspace.ErrChanged) && try < maxPatchTries {
			continue
		}
		if err != nil {
			return nil, err
		}
		changed := plan.record(changes)
		return &tool.Result{OK: true, Text: strings.TrimSuffix(plan.report(changes), "\n"), Changed: changed}, nil
	}
}
