package file

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/search"
	"github.com/handrail-tools/handrail/internal/search/ignore"
	"github.com/handrail-tools/handrail/internal/search/walk"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// openPlace opens a folder of the workspace for a search, with the ignore
// rules of the folders above it. dropped says that those rules leave the
// folder itself out. Close what it returns.
func openPlace(ctx context.Context, w *workspace.Workspace, name string) (p search.Place, dropped bool, err error) {
	at, err := w.Resolve(name)
	if err != nil {
		return search.Place{}, false, err
	}
	dir, err := w.OpenDir(name)
	if err != nil {
		return search.Place{}, false, dirError(w, name, err)
	}
	defer func() { _ = dir.Close() }()
	tree, err := walk.Open(dir)
	if err != nil {
		return search.Place{}, false, fmt.Errorf("opening %s for a search: %w", tool.Clip(name), err)
	}
	p = search.Place{
		Tree:   tree,
		Closed: closedIn(ctx, w, at),
		Absent: func(p []byte) bool { return stray(w, string(p)) },
	}
	if at.Rel != "." {
		p.Prefix = at.Rel
	}
	if at.Zone == workspace.ZoneRoot {
		p.Rules, dropped = rulesAbove(w, at.Rel)
	}
	return p, dropped, nil
}

// closedIn returns what may not be shown of a folder: what the workspace does
// not let be read, and what rules close to the tool. It takes paths as the
// workspace spells them; rules know the same path from the top.
func closedIn(ctx context.Context, w *workspace.Workspace, at workspace.Resolved) func(p []byte) bool {
	closed := workspace.ClosedFrom(ctx)
	return func(p []byte) bool {
		name := string(p)
		below := name
		if at.Rel != "." {
			below = strings.TrimPrefix(name, at.Rel+"/")
		}
		return w.Unreadable(name) || closed(path.Join(at.Judged, below))
	}
}

// stray reports whether a path is the temporary file of a write, which
// nobody is shown, and lets the workspace remove one that was left behind.
func stray(w *workspace.Workspace, rel string) bool {
	if !workspace.IsTemp(path.Base(rel)) {
		return false
	}
	w.Stray(rel)
	return true
}

// rulesAbove returns the ignore rules that reach a folder from those above
// it. Where they cannot be read the search simply leaves less out.
func rulesAbove(w *workspace.Workspace, rel string) (*ignore.Level, bool) {
	if rel == "." {
		return nil, false
	}
	dir, err := w.OpenDir(".")
	if err != nil {
		return nil, false
	}
	defer func() { _ = dir.Close() }()
	root, err := walk.Open(dir)
	if err != nil {
		return nil, false
	}
	defer func() { _ = root.Close() }()
	return root.Rules(rel)
}

// dirError makes the error of a folder that cannot be opened teach.
func dirError(w *workspace.Workspace, name string, err error) error {
	if info, statErr := w.Stat(name); statErr == nil && !info.IsDir() {
		return &tool.Error{Code: tool.CodeFailed, Err: err, Text: tool.Clip(name) + " is a file, not a folder; read_file reads it"}
	}
	return pathError(w, name, err)
}

// assessSearch says what a tool that looks into a folder would do: a look
// into a folder is one at everything beneath.
func assessSearch(verb, folder string) (tool.Act, error) {
	return tool.Act{Effects: tool.Read, Trees: []string{folder}, Summary: verb + " " + tool.Clip(folder)}, nil
}

// closedWhy says why something is not shown, without naming what closes it.
const closedWhy = "closed by the workspace's rules"

// leftOut says in words what a walk left out, or "".
func leftOut(l walk.Left, ignored, hidden string) string {
	var parts []string
	add := func(n int, noun, why string) {
		if n > 0 {
			parts = append(parts, plural(n, noun)+" "+why)
		}
	}
	if n := l.IgnoredFiles + l.IgnoredFolders; n > 0 {
		parts = append(parts, entries(n)+" left out by ignore files ("+strings.Join(escapeAll(l.IgnoredNames), ", ")+more(n, len(l.IgnoredNames))+ignored+")")
	}
	if n := l.HiddenFiles + l.HiddenFolders; n > 0 {
		parts = append(parts, entries(n)+" left out as hidden"+hidden)
	}
	add(l.Links, "symbolic link", "not followed ("+strings.Join(escapeAll(l.LinkNames), ", ")+more(l.Links, len(l.LinkNames))+")")
	add(l.Special, "special file", "(pipe, socket or device) left out")
	add(l.Closed, "folder", closedWhy)
	add(l.Unreadable, "folder", "that could not be read ("+strings.Join(escapeAll(l.UnreadableNames), ", ")+more(l.Unreadable, len(l.UnreadableNames))+")")
	add(l.BadRules, "ignore file", "that could not be read, so its rules did not apply")
	return strings.Join(parts, "; ")
}

// ignoredNote says in a few words that ignore files left something out.
func ignoredNote(n int) string {
	if n == 1 {
		return "1 ignored entry was left out"
	}
	return strconv.Itoa(n) + " ignored entries were left out"
}

// more marks a list of names that goes on.
func more(total, named int) string {
	if total > named {
		return ", …"
	}
	return ""
}

func escapeAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = escapeName(n)
	}
	return out
}

// escapeName shows a path on one line, whatever is in it. A name without
// control characters is shown as it is, so that it can be used again.
func escapeName(name string) string {
	if strings.ContainsAny(name, "\n\r\t") {
		name = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(name)
	}
	shown, _ := output.Escape(name)
	return shown
}

// remarks joins notes into the last line of an answer.
func remarks(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return "[" + strings.Join(notes, "; ") + "]\n"
}

// inFolder names a folder inside a sentence.
func inFolder(name string) string {
	if name == "." || name == "" {
		return "the workspace"
	}
	return tool.Clip(name)
}
