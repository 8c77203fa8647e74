package handrail

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/handrail-tools/handrail/internal/dispatch"
	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/internal/tools/changes"
	"github.com/handrail-tools/handrail/internal/tools/file"
	"github.com/handrail-tools/handrail/internal/tools/memory"
	"github.com/handrail-tools/handrail/tool"
)

// MaxContent is the largest content that [Session.Content] returns, in bytes.
// In base64 it fits into a message of 8 MiB, the longest that Handrail's own
// MCP server takes from others.
const MaxContent = 4 << 20

// Resource is something that a host may show as it is, beside what the tools
// show to a model. Each kind belongs to the tool that shows it, and is there
// exactly while that tool may be used.
type Resource struct {
	Kind ResourceKind
	// ID is that of a result or a change.
	ID string
	// Path is a file's, relative to the workspace. Of ResourceLog it may be
	// that of a folder or "", which means the whole workspace.
	Path string
	// Before asks for what a file held before the change.
	Before bool
}

// ResourceKind says what a [Resource] is.
type ResourceKind uint8

const (
	// ResourceFile is a file of the workspace: Path. Its tool is read_file.
	ResourceFile ResourceKind = iota
	// ResourceResult is a whole result of the session: ID. Its tool is recall.
	ResourceResult
	// ResourceChange is a change with its differences: ID. Its tool is
	// workspace_show, as that of the next.
	ResourceChange
	// ResourceVersion is a file as it was after a change, or before it: ID,
	// Path and Before.
	ResourceVersion
	// ResourceLog is the list of the newest changes: Path. Its tool is
	// workspace_log.
	ResourceLog
)

// logLimit is how many changes a list of them has: the most that
// workspace_log returns.
const logLimit = 100

// resourceTools names the tool that each kind belongs to, and what runs in its
// place.
var resourceTools = [...]struct {
	tool    string
	content func(context.Context, *tool.Call, int64) (*tool.Result, error)
}{
	ResourceFile:    {"read_file", file.Content},
	ResourceResult:  {"recall", memory.Content},
	ResourceChange:  {"workspace_show", changes.Content},
	ResourceVersion: {"workspace_show", changes.Content},
	ResourceLog:     {"workspace_log", changes.LogContent},
}

// call is the call that shows a resource to a model.
func (r Resource) call() (Call, error) {
	var args any
	switch r.Kind {
	case ResourceFile:
		args = map[string]any{"path": dotted(r.Path)}
	case ResourceResult, ResourceChange:
		args = map[string]any{"id": r.ID}
	case ResourceVersion:
		args = map[string]any{"id": r.ID, "path": dotted(r.Path), "before": r.Before}
	case ResourceLog:
		in := map[string]any{"limit": logLimit}
		if r.Path != "" {
			in["path"] = dotted(r.Path)
		}
		args = in
	default:
		return Call{}, errors.New("there is no such kind of resource")
	}
	raw, err := json.Marshal(args)
	return Call{Tool: resourceTools[r.Kind].tool, Args: raw}, err
}

// dotted keeps a path from being taken for anything but one relative to the
// workspace, whatever characters it begins with.
func dotted(path string) string { return "./" + path }

// A Content is what a [Resource] holds.
type Content struct {
	// Text is the content if it is text, as UTF-8.
	Text string
	// Media are contents that are not text. Where there are none, the text
	// is the content, and may be empty; of a result both may be there.
	Media []tool.Media
	// Notes say what is not as it was, such as a secret that was replaced,
	// and what hooks have to say. They are no part of the content.
	Notes []string
}

// ErrNoResource is the failure of [Session.Content], told with [errors.Is],
// where there is no such file, result or change, or no longer.
var ErrNoResource = errors.New("there is no such content")

// Content returns what a resource holds, as it is: not numbered, not cut, at
// most [MaxContent] bytes. It is judged, asked about and recorded as the call
// of the resource's tool that would show it to a model; there is no other way to
// it. Registered secrets are replaced in text, and bytes that hold one are
// refused. Every error but those of ctx is a [*tool.Error].
func (s *Session) Content(ctx context.Context, r Resource) (Content, error) {
	return s.StartContent(ctx, r)()
}

// StartContent takes its place behind all calls that were started before, and
// returns the function that gives what [Session.Content] does; it must be
// called, once. It is for a face whose requests arrive one by one and run
// beside each other.
func (s *Session) StartContent(ctx context.Context, r Resource) (wait func() (Content, error)) {
	c, err := r.call()
	if err != nil {
		return func() (Content, error) { return Content{}, err }
	}
	s.begin(ctx)
	show := resourceTools[r.Kind].content
	result := s.dispatch.StartInstead(ctx, c, func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
		return show(ctx, call, MaxContent)
	})
	return func() (Content, error) {
		r, err := result()
		if err != nil {
			return Content{}, absent(err)
		}
		notes, _ := r.Metadata[dispatch.NotesKey].([]string)
		return Content{Text: r.Text, Media: r.Media, Notes: notes}, nil
	}
}

// absent marks the failures that mean that nothing is there.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrNotFound) || errors.Is(err, history.ErrNotFound) {
		return &noResource{err}
	}
	return err
}

// noResource keeps the words of the failure, and is ErrNoResource too.
type noResource struct{ error }

func (e *noResource) Unwrap() []error { return []error{e.error, ErrNoResource} }

// HasResource reports whether content of a kind can be had at all: whether its
// tool may be used in the session and is Handrail's own. What is judged by a
// path or an id is judged when it is asked for.
func (s *Session) HasResource(k ResourceKind) bool {
	return int(k) < len(resourceTools) && s.hasOwn(resourceTools[k].tool)
}

func (s *Session) hasOwn(name string) bool {
	r, err := s.view.Resolve(name)
	return err == nil && r.Entry.Source == ""
}

// FileQuery chooses from the files of the workspace, in the byte order of
// their paths.
type FileQuery struct {
	// Prefix and After, unless "", choose only paths that begin with the one
	// and sort after the other.
	Prefix, After string
	// Limit is how many paths to return: at most [MaxFiles], which is also
	// the meaning of 0.
	Limit int
	// Quiet finds nothing where the list would be refused or a person asked
	// about it, for a host that looks at every key that is pressed.
	Quiet bool
}

// MaxFiles is how many paths [Session.Files] returns at once.
const MaxFiles = 1000

// Files lists files of the workspace that can be had as [ResourceFile]. It is
// judged and recorded as a call of glob over the whole workspace, so that what
// ignore files, closed paths and rules keep from glob or read_file is left
// out; so are hidden files. more says that there are further ones. Where
// files cannot be read there are none.
func (s *Session) Files(ctx context.Context, q FileQuery) (paths []string, more bool, err error) {
	if !s.HasResource(ResourceFile) || !s.hasOwn("glob") {
		return nil, false, nil
	}
	if q.Limit <= 0 || q.Limit > MaxFiles {
		q.Limit = MaxFiles
	}
	type list struct {
		paths []string
		more  bool
	}
	c := Call{Tool: "glob", Args: json.RawMessage(`{"pattern":"**","path":"."}`)}
	if q.Quiet && !s.free(ctx, c) {
		return nil, false, nil
	}
	found, err := aside(ctx, s, c, func(ctx context.Context, call *tool.Call) (l list, err error) {
		l.paths, l.more, err = file.Paths(ctx, call, file.PathQuery{Prefix: q.Prefix, After: q.After, Limit: q.Limit})
		return l, err
	})
	return found.paths, found.more, err
}

// Changes lists the ids of the newest changes, at most a hundred, judged and
// recorded as a call of workspace_log. There are none where that would be
// refused or a person asked about it.
func (s *Session) Changes(ctx context.Context) ([]string, error) {
	if !s.HasResource(ResourceChange) || !s.HasResource(ResourceLog) {
		return nil, nil
	}
	c, err := Resource{Kind: ResourceLog}.call()
	if err != nil || !s.free(ctx, c) {
		return nil, err
	}
	return aside(ctx, s, c, changes.IDs)
}

// ChangedFiles lists the paths that a change was about, judged and recorded
// as a call of workspace_show. There are none where that would be refused or a
// person asked about it.
func (s *Session) ChangedFiles(ctx context.Context, id string) ([]string, error) {
	if !s.HasResource(ResourceChange) {
		return nil, nil
	}
	c, err := Resource{Kind: ResourceChange, ID: id}.call()
	if err != nil || !s.free(ctx, c) {
		return nil, err
	}
	return aside(ctx, s, c, changes.Files)
}

// free reports whether a call would be let happen without a question.
func (s *Session) free(ctx context.Context, c Call) bool { return s.Explain(ctx, c).Outcome == Allow }

// aside has act run in the place of a tool and returns what it found, which
// is no result of a tool.
func aside[T any](ctx context.Context, s *Session, c Call, act func(context.Context, *tool.Call) (T, error)) (T, error) {
	// An act that does not stop when it is told to still runs when its call
	// has ended, so it leaves what it finds where nobody looks then.
	found := make(chan T, 1)
	_, err := s.dispatch.RunInstead(ctx, c, func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
		v, err := act(ctx, call)
		if err != nil {
			return nil, err
		}
		found <- v
		return tool.Text(""), nil
	})
	if err != nil {
		var none T
		return none, absent(err)
	}
	return <-found, nil
}
