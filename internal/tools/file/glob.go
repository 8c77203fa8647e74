package file

import (
	"context"
	_ "embed" // for the description
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/search"
	"github.com/handrail-tools/handrail/internal/search/glob"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// globLimit is how many paths one call returns unless it says otherwise
	// (octos, crush and Claude Code return as many); globMost is the most
	// that it can ask for.
	globLimit = 100
	globMost  = 1000
	// globTime bounds the walk: a model waits no longer for a list of names.
	globTime = 20 * time.Second
)

//go:embed glob.md
var globWords string

type globArgs struct {
	Pattern  string `json:"pattern" jsonschema:"paths to find, such as **/*.go or src/**/*.{ts,tsx}; relative to path" min:"1"`
	Path     string `json:"path" jsonschema:"folder to search, relative to the workspace" default:"."`
	Limit    int    `json:"limit" jsonschema:"how many paths to return" min:"1" max:"1000" default:"100"`
	Offset   int    `json:"offset" jsonschema:"how many paths to pass over first" min:"0" max:"9000" default:"0"`
	Sort     string `json:"sort" jsonschema:"modified: latest change first; path: by path" enum:"modified|path" default:"modified"`
	Hidden   bool   `json:"hidden" jsonschema:"also find what has a name beginning with a dot" default:"false"`
	NoIgnore bool   `json:"no_ignore" jsonschema:"also find what .gitignore and the like leave out" default:"false"`
}

// Glob returns the tool glob.
func Glob() tool.Tool {
	return tool.Typed[globArgs]{
		Spec: tool.Spec{
			Name: "glob", Title: "Find files", Description: words(globWords, "limit", globLimit, "most", globMost),
			ArgAliases: map[string][]string{
				"pattern": {"glob", "glob_pattern"}, "path": {"dir", "directory", "folder"},
				"limit": {"max_results", "head_limit"}, "no_ignore": {"include_ignored"}, "hidden": {"include_hidden"},
			},
			Tags: []string{"search", "code"}, Effects: tool.Read, Concurrency: tool.Safe,
			Idempotent: true, Verbatim: true, OutputBytes: 30_000,
		},
		Handle: findFiles,
		Assess: func(_ context.Context, in globArgs) (tool.Act, error) { return assessSearch("find files in", in.Path) },
		Resume: func(in globArgs, _ tool.Cut) string {
			if in.Limit > 1 {
				return fmt.Sprintf("Call glob with a smaller limit than %d, and offset to go on.", in.Limit)
			}
			return ""
		},
	}.Tool()
}

func findFiles(ctx context.Context, _ *tool.Call, in globArgs) (*tool.Result, error) {
	g, err := glob.Compile(in.Pattern)
	if err != nil {
		return nil, tool.Invalidf("pattern: %w", err)
	}
	in.Limit, in.Offset = max(in.Limit, 1), max(in.Offset, 0)
	w := workspace.From(ctx)
	place, dropped, err := openPlace(ctx, w, in.Path)
	if err != nil {
		return nil, err
	}
	// Folders that the pattern names are named by the caller: the search
	// begins in them, whatever links and ignore files say of them.
	if base := path.Join(in.Path, g.Base()); g.Base() != "" && isDir(w, base) {
		if err := place.Tree.Close(); err != nil {
			return nil, err
		}
		if place, dropped, err = openPlace(ctx, w, base); err != nil {
			return nil, err
		}
		g = g.Below()
	}
	defer func() { _ = place.Tree.Close() }()
	found, err := search.Find(ctx, place, search.FindQuery{
		Glob: g, Newest: in.Sort == "modified", Offset: in.Offset, Limit: in.Limit,
		Hidden: in.Hidden, NoIgnore: in.NoIgnore || dropped, Time: globTime,
	})
	if err != nil {
		return nil, err
	}
	return tool.Text(globText(in, found, dropped)), nil
}

func isDir(w *workspace.Workspace, name string) bool {
	info, err := w.Stat(name)
	return err == nil && info.IsDir()
}

// globText is the answer for the model: the paths, then what to know about
// them.
func globText(in globArgs, found *search.Found, dropped bool) string {
	var b strings.Builder
	first := min(in.Offset, found.Total)
	switch {
	case found.Total == 0:
		fmt.Fprintf(&b, "No file matches %s in %s.\n", tool.Clip(in.Pattern), inFolder(in.Path))
	case len(found.Files) == 0:
		fmt.Fprintf(&b, "There are only %s; offset %d is beyond the last.\n", plural(found.Total, "file"), in.Offset)
	case len(found.Files) == found.Total:
		fmt.Fprintf(&b, "%s, %s:\n", plural(found.Total, "file"), order(in))
	default:
		fmt.Fprintf(&b, "Files %d–%d of %d, %s:\n", first+1, first+len(found.Files), found.Total, order(in))
	}
	for _, f := range found.Files {
		b.WriteString(escapeName(f.Path))
		b.WriteByte('\n')
	}
	var notes []string
	if next := first + len(found.Files); len(found.Files) > 0 && next < found.Total {
		notes = append(notes, fmt.Sprintf("%d more; call again with offset %d", found.Total-next, next))
	}
	if found.TimeOut {
		notes = append(notes, fmt.Sprintf("the search was stopped after %s, so these are some of the files, not the first; search a smaller folder", globTime))
	}
	if dropped {
		notes = append(notes, "ignore files leave this folder out, so they were not asked")
	}
	if found.Closed.Count > 0 {
		notes = append(notes, plural(found.Closed.Count, "matching file")+" "+closedWhy)
	}
	if found.Left.Closed > 0 && found.Total > 0 && found.Left.Unreadable == 0 {
		notes = append(notes, plural(found.Left.Closed, "folder")+" "+closedWhy)
	}
	if left := leftOut(found.Left, "; no_ignore finds them", " (hidden finds them)"); left != "" && (found.Total == 0 || found.Left.Unreadable > 0) {
		notes = append(notes, left)
	} else if n := found.Left.IgnoredFiles + found.Left.IgnoredFolders; n > 0 {
		notes = append(notes, ignoredNote(n))
	}
	return strings.TrimSuffix(b.String()+remarks(notes), "\n")
}

func order(in globArgs) string {
	if in.Sort == "modified" {
		return "latest change first"
	}
	return "by path"
}
