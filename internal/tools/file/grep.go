package file

import (
	"context"
	_ "embed" // for the description
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/search"
	"github.com/handrail-tools/handrail/internal/search/match"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// grepLimit is how many results one call returns unless it says
	// otherwise; more does not fit the budget of an answer.
	grepLimit = 100
	// grepBytes is the tool's budget, as in octos.
	grepBytes = 30_000
	// grepTime bounds a search: a model waits no longer for one.
	grepTime = 30 * time.Second
)

//go:embed grep.md
var grepWords string

type grepArgs struct {
	Pattern    string   `json:"pattern" jsonschema:"regular expression (RE2), or plain text with literal" min:"1"`
	Path       string   `json:"path" jsonschema:"file or folder to search, relative to the workspace" default:"."`
	Glob       []string `json:"glob,omitempty" jsonschema:"only files that match one of these globs, such as *.go or src/**; !*.min.js leaves files out" max:"50"`
	Type       []string `json:"type,omitempty" jsonschema:"only files of these types, such as go, py, js, ts, rust" max:"50"`
	Output     string   `json:"output_mode" jsonschema:"content: matching lines; files: paths of files that match; count: paths with the number of matches" enum:"content|files|count" default:"content"`
	Before     int      `json:"before" jsonschema:"lines to show before each match" min:"0" max:"100" default:"0"`
	After      int      `json:"after" jsonschema:"lines to show after each match" min:"0" max:"100" default:"0"`
	Context    int      `json:"context" jsonschema:"lines to show before and after each match" min:"0" max:"100" default:"0"`
	Numbers    bool     `json:"line_numbers" jsonschema:"show line numbers" default:"true"`
	IgnoreCase bool     `json:"ignore_case" jsonschema:"letters of either case match" default:"false"`
	SmartCase  bool     `json:"smart_case" jsonschema:"ignore case unless the pattern has a capital letter" default:"false"`
	Word       bool     `json:"word" jsonschema:"match whole words only" default:"false"`
	Literal    bool     `json:"literal" jsonschema:"the pattern is plain text" default:"false"`
	Multiline  bool     `json:"multiline" jsonschema:"a match may span lines, and . matches a line end" default:"false"`
	Hidden     bool     `json:"hidden" jsonschema:"also search what has a name beginning with a dot" default:"false"`
	NoIgnore   bool     `json:"no_ignore" jsonschema:"also search what .gitignore and the like leave out" default:"false"`
	Limit      int      `json:"limit" jsonschema:"how many matches, or files, to return" min:"1" max:"1000" default:"100"`
	Offset     int      `json:"offset" jsonschema:"how many matches, or files, to pass over first" min:"0" max:"9000" default:"0"`
}

// Grep returns the tool grep.
func Grep() tool.Tool {
	return tool.Typed[grepArgs]{
		Spec: tool.Spec{
			Name: "grep", Title: "Search in files", Description: words(grepWords, "limit", grepLimit, "max_line", search.MaxLine),
			ArgAliases: map[string][]string{
				"pattern": {"query", "regex"}, "path": {"dir", "directory", "folder"}, "glob": {"include", "file_pattern"},
				"before": {"-B"}, "after": {"-A"}, "context": {"-C"}, "ignore_case": {"-i"}, "line_numbers": {"-n"}, "limit": {"head_limit", "max_results"},
			},
			Tags: []string{"search", "code"}, Effects: tool.Read, Concurrency: tool.Safe,
			Idempotent: true, Verbatim: true, OutputBytes: grepBytes,
		},
		Handle: grep,
		Assess: func(_ context.Context, in grepArgs) (tool.Act, error) { return assessSearch("search in", in.Path) },
		Resume: resumeGrep,
	}.Tool()
}

func grep(ctx context.Context, _ *tool.Call, in grepArgs) (*tool.Result, error) {
	q, err := in.query()
	if err != nil {
		return nil, err
	}
	w := workspace.From(ctx)
	if info, err := w.Stat(in.Path); err == nil && !info.IsDir() {
		return grepFile(ctx, w, in, q)
	}
	place, dropped, err := openPlace(ctx, w, in.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = place.Tree.Close() }()
	if q.Filter, err = search.NewFilter(place.Prefix, in.Glob, in.Type); err != nil {
		return nil, tool.Invalidf("%w", err)
	}
	q.NoIgnore = q.NoIgnore || dropped
	found, err := search.Grep(ctx, place, q)
	if err != nil {
		return nil, err
	}
	return tool.Text(grepText(in, found, dropped)), nil
}

// grepFile searches one file. What its name or an ignore file would leave
// out in a folder does not matter: it was asked for.
func grepFile(ctx context.Context, w *workspace.Workspace, in grepArgs, q search.Query) (*tool.Result, error) {
	if len(in.Glob)+len(in.Type) > 0 {
		return nil, tool.Invalidf("glob and type choose files in a folder, and %s is a file; leave them out", tool.Clip(in.Path))
	}
	at, err := w.Resolve(in.Path)
	if err != nil {
		return nil, err
	}
	f, err := w.OpenFile(in.Path)
	if err != nil {
		return nil, pathError(w, in.Path, err)
	}
	defer func() { _ = f.Close() }()
	found, err := search.GrepFile(ctx, at.Rel, f, q)
	if err != nil {
		return nil, err
	}
	return tool.Text(grepText(in, found, false)), nil
}

// query turns the arguments into a search.
func (in *grepArgs) query() (search.Query, error) {
	in.Limit, in.Offset = max(in.Limit, 1), max(in.Offset, 0)
	in.Before, in.After = max(in.Before, in.Context, 0), max(in.After, in.Context, 0)
	if in.IgnoreCase && in.SmartCase {
		return search.Query{}, tool.Invalidf("ignore_case and smart_case exclude each other; give one of them")
	}
	p, err := match.Compile(in.Pattern, match.Options{
		Literal: in.Literal, IgnoreCase: in.IgnoreCase, SmartCase: in.SmartCase, Word: in.Word, Multiline: in.Multiline,
	})
	if err != nil {
		return search.Query{}, tool.Invalidf("pattern: %w", err)
	}
	modes := map[string]search.Mode{"content": search.Lines, "files": search.Files, "count": search.Counts}
	return search.Query{
		Pattern: p, Multiline: in.Multiline, Mode: modes[in.Output], Before: in.Before, After: in.After,
		Offset: in.Offset, Limit: in.Limit, Hidden: in.Hidden, NoIgnore: in.NoIgnore, Time: grepTime,
	}, nil
}

// resumeGrep names only levers that were not used.
func resumeGrep(in grepArgs, _ tool.Cut) string {
	var levers []string
	if in.Path == "." {
		levers = append(levers, "a narrower path")
	}
	if len(in.Glob) == 0 && len(in.Type) == 0 {
		levers = append(levers, "glob or type")
	}
	if in.Output == "content" {
		levers = append(levers, `output_mode "count"`)
	}
	if in.Before+in.After+in.Context > 0 {
		levers = append(levers, "fewer lines around each match")
	}
	if in.Limit > 10 {
		levers = append(levers, "a smaller limit with offset")
	}
	if levers == nil {
		return ""
	}
	return "Call grep again with " + strings.Join(levers, ", or ") + "."
}
