package dispatch

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// locator says what the names in a command mean: as the workspace resolves
// them, or, outside of it, as they stand there. nil is for a session without
// a workspace.
func (t *trip) locator() func(name string) (permission.Place, bool) {
	files := t.d.Workspace
	if files == nil {
		return nil
	}
	return func(name string) (permission.Place, bool) {
		if rest, ok := strings.CutPrefix(name, "~"); ok {
			home, err := os.UserHomeDir()
			if err != nil || rest != "" && rest[0] != '/' {
				return permission.Place{}, false
			}
			name = filepath.Join(home, rest)
		} else if !filepath.IsAbs(name) {
			name = filepath.Join(files.Root(), name)
		}
		return placeOf(files, name), true
	}
}

// placeOf is what an absolute path means.
func placeOf(files *workspace.Workspace, name string) permission.Place {
	to, err := files.Resolve(name)
	if err != nil {
		clean := filepath.ToSlash(filepath.Clean(name))
		return permission.Place{Path: clean, Entry: clean}
	}
	p := permission.Place{
		Path: to.Judged, Entry: to.Judged, Folder: to.Exists && to.Mode.IsDir(),
		Readable: to.Unreadable == "", Writable: to.Unreadable == "" && to.Unwritable == "",
	}
	if to.Linked {
		if link, err := files.ResolveEntry(name); err == nil {
			p.Entry = link.Judged
		}
	}
	return p
}

// assessAgain asks a tool once more whose calls take turns by a key: what a
// text means that is typed into a terminal depends on what was typed before.
func (t *trip) assessAgain(ctx context.Context) *tool.Error {
	a := t.resolved.Entry.Assesser
	if a == nil || t.spec.Concurrency != tool.Keyed || t.act.Command == "" && t.act.Unclear == "" {
		return nil
	}
	act, err := t.narrowed(ctx, a)
	if err == nil {
		t.assessed = act
	}
	return err
}
