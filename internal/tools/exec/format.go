package exec

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// formatTimeout is how long a formatter may take. An edit waits for it, and a
// formatter that starts cold on a busy machine takes seconds (octos #1774).
const formatTimeout = 20 * time.Second

// maxFormatted is how many files of one call are formatted.
const maxFormatted = 50

// Format runs the formatters for the files that a call has changed, inside
// the fence, each on the one file alone. It returns which of them a formatter
// changed further, and notes for the model. It never fails: an edit that
// could not be formatted is an edit.
func (k *Kit) Format(ctx context.Context, call *tool.Call, changed []string) (formatted, notes []string) {
	for i, name := range changed {
		argv := k.Formatters[path.Ext(name)]
		if len(argv) == 0 {
			continue
		}
		if i >= maxFormatted {
			notes = append(notes, "Of the files changed, only the first were formatted.")
			break
		}
		did, note := k.formatOne(ctx, call, name, argv)
		if note != "" {
			notes = append(notes, note)
		}
		for _, rel := range did {
			if !slices.Contains(formatted, rel) {
				formatted = append(formatted, rel)
			}
		}
	}
	return formatted, notes
}

func (k *Kit) formatOne(ctx context.Context, call *tool.Call, name string, argv []string) (did []string, note string) {
	at, err := workspace.From(ctx).Resolve(name)
	if err != nil || !at.Exists || !at.Mode.IsRegular() {
		return nil, ""
	}
	r, err := newRun(ctx, call, "")
	if err != nil {
		return nil, ""
	}
	r.program(append(slices.Clone(argv), at.Abs), false)
	r.options.Spec.Keep = false
	r.options.Limit = formatTimeout
	if err := r.start(ctx); err != nil {
		return nil, tool.Clip(name) + " was not formatted: " + tool.Clip(err.Error())
	}
	r.wait(ctx)
	defer func() { _ = r.process.Close() }()
	exit, err := r.process.Exit()
	receipt := r.watching.After(ctx)
	did = receipt.Changed()
	if status, ok, _ := r.status(exit); err != nil || !ok {
		said := strings.TrimSpace(r.process.Output().Text())
		return did, tool.Clip(name) + " was not formatted by " + argv[0] + ": " + status + " " + tool.Clip(said)
	}
	if len(did) > 0 {
		return did, "Formatted by " + argv[0] + ": " + tool.Clip(strings.Join(did, ", ")) + ". Read it again before you edit it."
	}
	return nil, ""
}
