package changes

import (
	"context"
	"io/fs"

	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/tools/raw"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// Content runs in the place of workspace_show and returns what it shows, of
// at most limit bytes, as it is: a file as it was, or else the words on the
// change with its differences.
func Content(ctx context.Context, call *tool.Call, limit int64) (*tool.Result, error) {
	var in showArgs
	if err := raw.Args(call, &in); err != nil {
		return nil, err
	}
	if in.Path == "" {
		return within(in.ID, limit)(runShow(ctx, call, in))
	}
	h, w := history.From(ctx), workspace.From(ctx)
	c, err := h.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	at, data, err := contentOf(ctx, h, w, c, in)
	switch {
	case err != nil:
		return nil, err
	case data == nil:
		return nil, &tool.Error{Code: tool.CodeFailed, Text: "there was no file at " + name(at) + " then", Err: fs.ErrNotExist}
	case int64(len(data)) > limit:
		return nil, raw.TooLarge(name(at), int64(len(data)), limit, "The tool workspace_show shows its beginning and its end.")
	}
	return raw.Result(data), nil
}

// LogContent runs in the place of workspace_log and returns what it shows,
// not cut, of at most limit bytes.
func LogContent(ctx context.Context, call *tool.Call, limit int64) (*tool.Result, error) {
	var in logArgs
	if err := raw.Args(call, &in); err != nil {
		return nil, err
	}
	return within("the list of changes", limit)(runLog(ctx, call, in))
}

// IDs runs in the place of workspace_log and returns the ids of the changes
// that it lists, the newest first.
func IDs(ctx context.Context, call *tool.Call) ([]string, error) {
	var in logArgs
	if err := raw.Args(call, &in); err != nil {
		return nil, err
	}
	l, err := list(ctx, in)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(l.Changes))
	for i, c := range l.Changes {
		ids[i] = c.ID
	}
	return ids, nil
}

// Files runs in the place of workspace_show and returns the paths of a change
// that it would show.
func Files(ctx context.Context, call *tool.Call) ([]string, error) {
	var in showArgs
	if err := raw.Args(call, &in); err != nil {
		return nil, err
	}
	c, err := history.From(ctx).Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	hidden := withheld(ctx, workspace.From(ctx))
	var paths []string
	for i := range c.Files {
		if f := &c.Files[i]; !isWithheld(hidden, f) {
			paths = append(paths, f.Path)
		}
	}
	return paths, nil
}

// within bounds what a tool has to show.
func within(what string, limit int64) func(*tool.Result, error) (*tool.Result, error) {
	return func(r *tool.Result, err error) (*tool.Result, error) {
		if err == nil && int64(len(r.Text)) > limit {
			return nil, raw.TooLarge(what, int64(len(r.Text)), limit, "A path, or another tool call, asks for less of it.")
		}
		return r, err
	}
}
