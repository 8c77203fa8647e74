package file

import (
	"bytes"
	"context"
	"errors"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/search"
	"github.com/handrail-tools/handrail/internal/search/glob"
	"github.com/handrail-tools/handrail/internal/tools/raw"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// Content runs in the place of read_file and returns a file of at most limit
// bytes as it is. It is not noted as seen by the model, which may never get
// it. The call names a path and nothing else.
func Content(ctx context.Context, call *tool.Call, limit int64) (*tool.Result, error) {
	var in struct {
		Path string `json:"path"`
	}
	if err := raw.Args(call, &in); err != nil {
		return nil, err
	}
	w := workspace.From(ctx)
	f, err := w.ReadFile(ctx, in.Path, limit)
	if errors.Is(err, workspace.ErrTooLarge) {
		return nil, tool.Errorf(tool.CodeTooLarge, "%w; the tool read_file shows a part of it", err)
	}
	if err != nil {
		return nil, pathError(w, in.Path, err)
	}
	return raw.Result(f.Data), nil
}

// A PathQuery chooses from the files of a workspace, in the order of their
// paths.
type PathQuery struct {
	// Prefix and After: only paths that begin so, and that sort after it.
	Prefix, After string
	// Limit is how many paths to return.
	Limit int
}

// Paths runs in the place of glob and returns the files that glob would find,
// in the order of their paths: no hidden, ignored or closed one. more says
// that there are further ones. Names that no JSON string can carry, or that
// hold a control character, are left out, since no tool could be given them.
func Paths(ctx context.Context, call *tool.Call, q PathQuery) (paths []string, more bool, err error) {
	var in globArgs
	if err := raw.Args(call, &in); err != nil {
		return nil, false, err
	}
	g, err := glob.Compile(in.Pattern)
	if err != nil {
		return nil, false, tool.Invalidf("pattern: %w", err)
	}
	place, dropped, err := openPlace(ctx, workspace.From(ctx), in.Path)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = place.Tree.Close() }()
	found, err := search.Find(ctx, place, search.FindQuery{
		Glob: g, Prefix: q.Prefix, After: q.After, Limit: q.Limit + 1,
		Hidden: in.Hidden, NoIgnore: in.NoIgnore || dropped, Time: globTime,
		Skip: func(p []byte) bool { return !utf8.Valid(p) || bytes.ContainsFunc(p, control) },
	})
	if err != nil {
		return nil, false, err
	}
	if found.TimeOut {
		return nil, false, tool.Errorf(tool.CodeTimeout, "listing the files of the workspace took longer than %s and was stopped", globTime)
	}
	for _, f := range found.Files[:min(len(found.Files), q.Limit)] {
		paths = append(paths, f.Path)
	}
	return paths, len(found.Files) > q.Limit, nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }
