package history

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

var (
	// ErrNotFound says that there is no change with that id, or no longer.
	ErrNotFound = errors.New("no such change")
	// ErrNotKept says that a content is not kept: it was too large, or its
	// change was too old.
	ErrNotKept = errors.New("the content is not kept")
)

// Status says what became of a change.
type Status string

const (
	// Done: it happened.
	Done Status = "done"
	// Running: it is happening.
	Running Status = "running"
	// Interrupted: the process ended in the middle. What it did to which
	// file, only the files tell.
	Interrupted Status = "interrupted"
)

// A Change is all that one call did to files.
type Change struct {
	// ID begins with "c_".
	ID      string      `json:"id"`
	Time    time.Time   `json:"time"`
	Session string      `json:"session,omitempty"`
	Call    string      `json:"call,omitempty"`
	Tool    string      `json:"tool,omitempty"`
	Origin  tool.Origin `json:"origin,omitzero"`
	Status  Status      `json:"status"`
	// Own says that a session of the asker's own tree made it.
	Own bool `json:"own"`
	// Files are the paths that it changed, in order of their names.
	Files []File `json:"files"`
	// Hidden is how many further files it changed that the session may not
	// see: they lie outside of its folder.
	Hidden int `json:"hidden,omitempty"`
	// Undoes are the changes that it took back, UndoneBy those that took it
	// back and were not taken back themselves.
	Undoes   []Undone `json:"undoes,omitempty"`
	UndoneBy []Undone `json:"undone_by,omitempty"`
	// Partial says that the older part of it is no longer kept.
	Partial bool `json:"partial,omitempty"`

	group *group
}

// Undone names one side of an undo.
type Undone struct {
	ID string `json:"id"`
	// Paths are the files that it was about; nil means all.
	Paths []string `json:"paths,omitempty"`

	except []string // files of which it was taken back itself
}

// A File is what a change did to one path.
type File struct {
	Path string `json:"path"`
	// From is where it was moved from.
	From string `json:"from,omitempty"`
	// Before and After are the states; nil means that there was nothing.
	Before *FileState `json:"before,omitempty"`
	After  *FileState `json:"after,omitempty"`

	first, last *record // those that hold the two states
}

// FileState describes a file at one moment.
type FileState struct {
	Mode fs.FileMode `json:"-"`
	Size int64       `json:"size"`
	// Lost says that the content is not kept.
	Lost bool `json:"lost,omitempty"`

	kept *kept
}

// MarshalJSON writes the mode as ls does.
func (s *FileState) MarshalJSON() ([]byte, error) {
	type plain FileState
	return json.Marshal(struct {
		Mode string `json:"mode"`
		*plain
	}{s.Mode.String(), (*plain)(s)})
}

// What says in a word what happened to the file.
func (f *File) What() string {
	switch {
	case f.From != "":
		return "moved"
	case f.Before == nil:
		return "created"
	case f.After == nil:
		return "deleted"
	default:
		return "changed"
	}
}

// IsUndone reports whether all of it was taken back.
func (c *Change) IsUndone() bool {
	return len(c.UndoneBy) > 0 && !slices.ContainsFunc(c.Files, func(f File) bool { return !c.undoneAt(f.Path) })
}

func (c *Change) undoneAt(path string) bool {
	return slices.ContainsFunc(c.UndoneBy, func(u Undone) bool {
		return (u.Paths == nil || slices.Contains(u.Paths, path)) && !slices.Contains(u.except, path)
	})
}

// change makes a change of what is known of it. It returns nil where it had
// no effect or the session can see nothing of it.
func (t *Timeline) change(g *group) *Change {
	applied := g.applied()
	if len(applied) == 0 {
		return nil
	}
	first := applied[0]
	c := &Change{
		ID: g.id, Time: first.time(), Session: first.Session, Call: first.Call, Tool: first.Tool, Origin: first.Origin,
		Own: t.tree != "" && first.Tree == t.tree, Status: Done, Partial: !g.whole(), group: g,
	}
	for _, r := range applied {
		if r.outcome == open && c.Status != Running {
			c.Status = Interrupted
			if r.living {
				c.Status = Running
			}
		}
		for _, u := range r.Undoes {
			c.Undoes = append(c.Undoes, t.undone(u))
		}
	}
	c.Files, c.Hidden = t.net(applied)
	if len(c.Files) == 0 && c.Hidden > 0 {
		return nil
	}
	return c
}

func (t *Timeline) undone(u undoneRef) Undone {
	out := Undone{ID: u.ID}
	if u.Paths != nil {
		out.Paths = []string{} // some, although perhaps none that is seen
	}
	for _, p := range u.Paths {
		if rel, ok := t.seen(p); ok {
			out.Paths = append(out.Paths, rel)
		}
	}
	return out
}

// net folds the entries of records into one for each path.
func (t *Timeline) net(records []*record) (files []File, hidden int) {
	at := map[string]int{}
	var all []File
	for _, r := range records {
		for _, e := range r.Entries {
			i, ok := at[e.Rel]
			if !ok {
				i = len(all)
				at[e.Rel] = i
				all = append(all, File{Path: e.Rel, Before: stateOf(e.Before), first: r})
			}
			f := &all[i]
			f.After, f.last = stateOf(e.After), r
			if e.From != "" {
				f.From = e.From
			}
		}
	}
	moved := map[string]bool{}
	for _, f := range all {
		if f.From != "" && f.After != nil {
			moved[f.From] = true
		}
	}
	for _, f := range all {
		if f.Before == nil && f.After == nil || f.After == nil && moved[f.Path] {
			continue
		}
		rel, ok := t.seen(f.Path)
		if !ok {
			hidden++
			continue
		}
		f.Path = rel
		if f.From != "" {
			from, ok := t.seen(f.From)
			if f.After == nil || !ok {
				from = ""
			}
			f.From = from
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, hidden
}

func stateOf(k *kept) *FileState {
	if k == nil {
		return nil
	}
	return &FileState{Mode: k.Mode, Size: k.Size, Lost: k.Lost, kept: k}
}

// moved returns what a file's old place held before it was moved.
func (c *Change) movedFrom(f *File, stored string) (*record, *kept) {
	for _, r := range c.group.applied() {
		for i := range r.Entries {
			if e := &r.Entries[i]; e.Rel == stored && e.Before != nil {
				return r, e.Before
			}
		}
	}
	return f.first, nil
}
