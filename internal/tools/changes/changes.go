// Package changes has the tools over the history of the workspace: what was
// changed by whom, what it was before, and the way back.
package changes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// All returns the tools of this package. They need a session with a
// workspace and a history.
func All() []tool.Tool { return []tool.Tool{Log(), Show(), Diff(), Undo()} }

// tags are those of all tools here.
func tags() []string { return []string{"history", "fs", "code"} }

// withheld tells which paths may not be shown: those that the workspace does
// not let be read, and those that rules close to the tool.
func withheld(ctx context.Context, w *workspace.Workspace) func(rel string) bool {
	closed := workspace.ClosedFrom(ctx)
	return func(rel string) bool {
		if w.Unreadable(rel) {
			return true
		}
		at, err := w.ResolveEntry(rel)
		return err != nil || closed(at.Judged)
	}
}

// isWithheld tells it of what a change did to a file, which shows two names
// where the file was moved.
func isWithheld(hidden func(rel string) bool, f *history.File) bool {
	return hidden(f.Path) || f.From != "" && hidden(f.From)
}

// line is a change in one line.
func line(c *history.Change) string {
	words := []string{c.ID, c.Time.Local().Format(time.DateTime)}
	if c.Tool != "" {
		words = append(words, c.Tool)
	}
	words = append(words, whose(c))
	if c.Status != history.Done {
		words = append(words, string(c.Status))
	}
	text := strings.Join(words, "  ")
	for _, u := range c.Undoes {
		text += "; undoes " + u.ID + part(u)
	}
	for _, u := range c.UndoneBy {
		text += "; undone by " + u.ID + part(u)
	}
	if c.Partial {
		text += "; its older part is no longer kept"
	}
	return text
}

// whose says who made a change.
func whose(c *history.Change) string {
	switch {
	case c.Own:
		return "by this session"
	case c.Origin.Kind == tool.OriginCLI:
		return "from the command line" // where each call is a session
	case c.Session == "":
		return "by another session"
	default:
		return "by another session (" + tool.Clip(c.Session) + ")"
	}
}

func part(u history.Undone) string {
	if u.Paths == nil {
		return ""
	}
	return " in " + shortList(u.Paths)
}

// shortList names a few paths and counts the rest.
func shortList(paths []string) string {
	const most = 5
	var words []string
	for _, p := range paths[:min(len(paths), most)] {
		words = append(words, name(p))
	}
	text := strings.Join(words, ", ")
	if n := len(paths) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// detail is what a change did to one file, in one line.
func detail(f *history.File) string {
	text := "  " + f.What() + " " + name(f.Path)
	if f.From != "" {
		text += " from " + name(f.From)
	}
	before, after := f.Before, f.After
	switch {
	case after != nil && after.Mode.IsDir(), before != nil && before.Mode.IsDir():
		return text + "/"
	case before != nil && after != nil:
		text += fmt.Sprintf(" (%d → %d bytes)", before.Size, after.Size)
	case after != nil:
		text += fmt.Sprintf(" (%d bytes)", after.Size)
	case before != nil:
		text += fmt.Sprintf(" (%d bytes)", before.Size)
	}
	if before != nil && before.Lost {
		text += "; what it held before is not kept"
	}
	return text
}

// name writes a path on one line.
func name(p string) string {
	if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Sprintf("%q", tool.Clip(p))
	}
	return tool.Clip(p)
}

// clean brings a path that a model gave to the spelling of the history.
func clean(ctx context.Context, given string) (string, error) {
	if given == "" {
		return "", nil
	}
	at, err := workspace.From(ctx).ResolveEntry(given)
	return at.Rel, err
}

// places is clean for several paths.
func places(ctx context.Context, given []string) ([]string, error) {
	var out []string
	for _, p := range given {
		at, err := clean(ctx, p)
		if err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, nil
}
