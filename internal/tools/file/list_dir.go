package file

import (
	"context"
	_ "embed" // for the description
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/search/ignore"
	"github.com/handrail-tools/handrail/internal/search/walk"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// listLimit is how many entries one call returns unless it says
	// otherwise; listMost is the most that it can ask for.
	listLimit = 500
	listMost  = 2000
	// listReach is how many entries are looked at in all: the last that an
	// offset can reach, and a bound on memory and time in a huge tree.
	listReach = 50_000
)

//go:embed list_dir.md
var listDirWords string

type listArgs struct {
	Path   string `json:"path" jsonschema:"the folder, relative to the workspace" default:"."`
	Depth  int    `json:"depth" jsonschema:"how many levels of folders to open" min:"1" max:"10" default:"1"`
	Limit  int    `json:"limit" jsonschema:"how many entries to return" min:"1" max:"2000" default:"500"`
	Offset int    `json:"offset" jsonschema:"how many entries to pass over first" min:"0" max:"48000" default:"0"`
	Hidden bool   `json:"hidden" jsonschema:"also list what has a name beginning with a dot" default:"true"`
}

// ListDir returns the tool list_dir.
func ListDir() tool.Tool {
	return tool.Typed[listArgs]{
		Spec: tool.Spec{
			Name: "list_dir", Title: "List a folder", Description: words(listDirWords, "limit", listLimit, "most", listMost),
			ArgAliases: map[string][]string{
				"path": {"dir", "directory", "dir_path", "folder"}, "limit": {"max_entries"}, "hidden": {"include_hidden", "all"},
			},
			Tags: []string{"search", "code"}, Effects: tool.Read, Concurrency: tool.Safe, Idempotent: true, Verbatim: true,
		},
		Handle: listDir,
		Assess: func(_ context.Context, in listArgs) (tool.Act, error) { return assessSearch("list", in.Path) },
		Resume: func(in listArgs, _ tool.Cut) string {
			if in.Limit > 1 {
				return fmt.Sprintf("Call list_dir with a smaller limit than %d, and offset to go on.", in.Limit)
			}
			return ""
		},
	}.Tool()
}

func listDir(ctx context.Context, _ *tool.Call, in listArgs) (*tool.Result, error) {
	in.Limit, in.Offset = max(in.Limit, 1), max(in.Offset, 0)
	w := workspace.From(ctx)
	at, err := w.Resolve(in.Path)
	if err != nil {
		return nil, err
	}
	dir, err := w.OpenDir(in.Path)
	if err != nil {
		return nil, dirError(w, in.Path, err)
	}
	defer func() { _ = dir.Close() }()
	tree, err := walk.Open(dir)
	if err != nil {
		return nil, tool.Failf("opening %s: %w", tool.Clip(in.Path), err)
	}
	defer func() { _ = tree.Close() }()
	l := &listing{ctx: ctx, w: w, in: in, shut: closedIn(ctx, w, at)}
	var level *ignore.Level
	if at.Rel != "." {
		l.prefix = at.Rel + "/"
	}
	if at.Zone == workspace.ZoneRoot && at.Rel != "." {
		level, _ = rulesAbove(w, at.Rel)
	}
	if level == nil {
		level = tree.Level(nil, strings.TrimSuffix(l.prefix, "/"))
	}
	if err := l.folder(tree, "", level, in.Depth); err != nil {
		return nil, err
	}
	return tool.Text(l.text()), nil
}

// listing gathers the entries of a folder and of those below it.
type listing struct {
	ctx    context.Context
	w      *workspace.Workspace
	in     listArgs
	prefix string
	shut   func(p []byte) bool // what may not be shown

	lines                  []string // those to show
	seen, files, folders   int
	hidden, closed, failed int
	unopened               int // ignored folders that were not opened
	full                   bool
}

// folder lists one folder, rel below the first, and the folders in it while
// depth allows. level are the ignore rules that hold in it.
func (l *listing) folder(t *walk.Tree, rel string, level *ignore.Level, depth int) error {
	items, more, err := t.Items(listReach - l.seen)
	if err != nil {
		return tool.Failf("reading %s: %w", tool.Clip(l.prefix+rel), err)
	}
	l.full = l.full || more
	slices.SortFunc(items, func(a, b walk.Item) int {
		if (a.Kind == walk.Dir) != (b.Kind == walk.Dir) {
			if a.Kind == walk.Dir {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, item := range items {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		if l.leavesOut(rel, item) {
			continue
		}
		if l.seen == listReach {
			l.full = true
			return nil
		}
		if err := l.entry(t, rel, item, level, depth); err != nil {
			return err
		}
	}
	return nil
}

// leavesOut reports whether an entry is not shown, and counts it.
func (l *listing) leavesOut(rel string, item walk.Item) bool {
	switch {
	case stray(l.w, l.prefix+path.Join(rel, item.Name)):
		return true
	case !l.in.Hidden && strings.HasPrefix(item.Name, "."):
		l.hidden++
		return true
	case l.shut([]byte(l.prefix + path.Join(rel, item.Name))):
		l.closed++
		return true
	}
	return false
}

// entry adds one entry and, if it is a folder, what is in it. A folder that
// ignore files leave out is not opened on the way down, and neither is the
// version control's own.
func (l *listing) entry(t *walk.Tree, rel string, item walk.Item, level *ignore.Level, depth int) error {
	l.seen++
	show := l.seen > l.in.Offset && len(l.lines) < l.in.Limit
	line := escapeName(l.prefix + path.Join(rel, item.Name))
	if item.Kind != walk.Dir {
		l.files++
		if show {
			l.lines = append(l.lines, line+l.detail(t, item))
		}
		return nil
	}
	l.folders++
	below, open := path.Join(rel, item.Name), depth > 1
	if open && (item.Name == ".git" || level.Match([]byte(l.prefix+below), true) == ignore.Drop) {
		l.unopened++
		open = false
		line += "/  (not opened)"
	} else {
		line += "/"
	}
	if show {
		l.lines = append(l.lines, line)
	}
	if !open {
		return nil
	}
	sub, err := t.Sub(item.Name)
	if err != nil {
		l.failed++
		return nil
	}
	defer func() { _ = sub.Close() }()
	return l.folder(sub, below, sub.Level(level, l.prefix+below), depth-1)
}

// detail is what is told of an entry that is no folder.
func (l *listing) detail(t *walk.Tree, item walk.Item) string {
	switch item.Kind {
	case walk.Link:
		target, err := t.Readlink(item.Name)
		if err != nil {
			return "  (a symbolic link)"
		}
		return " -> " + escapeName(tool.Clip(target))
	case walk.Special:
		return "  (a pipe, socket or device)"
	case walk.Unknown:
		return "  (of unknown kind)"
	}
	info, err := t.Stat(item.Name)
	if err != nil {
		return ""
	}
	return "  " + sizeOf(info.Size)
}

// text is the answer for the model.
func (l *listing) text() string {
	name := inFolder(strings.TrimSuffix(l.prefix, "/"))
	var b strings.Builder
	last := l.in.Offset + len(l.lines)
	switch {
	case l.seen == 0:
		fmt.Fprintf(&b, "There is nothing in %s.\n", name)
	case len(l.lines) == 0:
		fmt.Fprintf(&b, "%s holds only %s; offset %d is beyond the last.\n", name, entries(l.seen), l.in.Offset)
	case len(l.lines) == l.seen:
		fmt.Fprintf(&b, "%s: %s, %s\n", name, plural(l.folders, "folder"), plural(l.files, "file"))
	default:
		fmt.Fprintf(&b, "%s: entries %d–%d of %d\n", name, l.in.Offset+1, last, l.seen)
	}
	for _, line := range l.lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String()+remarks(l.notes(last)), "\n")
}

func (l *listing) notes(last int) []string {
	var notes []string
	if len(l.lines) > 0 && last < l.seen {
		notes = append(notes, fmt.Sprintf("%d more; call again with offset %d", l.seen-last, last))
	}
	if l.full {
		notes = append(notes, fmt.Sprintf("there is more than the %d entries that are looked at; list a folder further down", listReach))
	}
	if l.hidden > 0 {
		notes = append(notes, fmt.Sprintf("%s whose names begin with a dot left out; hidden lists them", entries(l.hidden)))
	}
	if l.unopened > 0 {
		notes = append(notes, plural(l.unopened, "ignored folder")+" not opened; list one by its path to see into it")
	}
	if l.closed > 0 {
		notes = append(notes, entries(l.closed)+" "+closedWhy)
	}
	if l.failed > 0 {
		notes = append(notes, plural(l.failed, "folder")+" could not be opened")
	}
	return notes
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
