package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// maxListed is the most changes that one question returns.
const maxListed = 1000

// A Filter asks for changes. The zero value asks for the newest.
type Filter struct {
	// Path, unless empty, is a file or folder that the change is about, as
	// the workspace spells it.
	Path string
	// Session, unless empty, is the session that made it; Own asks for those
	// of the asker's own tree.
	Session string
	Own     bool
	// Before, unless empty, is the id of a change: only older ones.
	Before string
	// After, unless empty, is the id of a change: only newer ones.
	After string
	// Limit is how many to return; 0 means 20, at most 1000.
	Limit int
}

// A List is an answer to a [Filter].
type List struct {
	// Changes are the newest first.
	Changes []*Change
	// More says that there are older ones, Cut that those older than some
	// hundred thousand were not looked at.
	More, Cut bool
}

func (f Filter) matches(c *Change) bool {
	switch {
	case f.Session != "" && c.Session != f.Session, f.Own && !c.Own:
		return false
	case f.Path == "" || f.Path == ".":
		return true
	}
	within := func(p string) bool { return p == f.Path || strings.HasPrefix(p, f.Path+"/") }
	return slices.ContainsFunc(c.Files, func(file File) bool { return within(file.Path) || file.From != "" && within(file.From) })
}

// List returns the newest changes that the filter asks for.
func (t *Timeline) List(ctx context.Context, f Filter) (*List, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = 20
	}
	limit = min(limit, maxListed)
	pick := func(all []*Change) (picked []*Change, complete bool) {
		started := f.Before == ""
		for _, c := range all {
			if c.ID == f.After {
				return picked, true
			}
			if started && f.matches(c) {
				picked = append(picked, c)
			}
			started = started || c.ID == f.Before
		}
		return picked, false
	}
	all, cut, err := t.load(ctx, func(all []*Change, since time.Time) bool {
		picked, complete := pick(all)
		if complete {
			return allSince(picked, since)
		}
		return len(picked) > limit && allSince(picked[:limit+1], since)
	})
	if err != nil {
		return nil, err
	}
	for _, id := range []string{f.Before, f.After} {
		if id != "" && !slices.ContainsFunc(all, func(c *Change) bool { return c.ID == id }) {
			return nil, notFound(id)
		}
	}
	picked, _ := pick(all)
	out := &List{Changes: picked, Cut: cut}
	if len(picked) > limit {
		out.Changes, out.More = picked[:limit], true
	}
	return out, nil
}

// allSince reports whether all that was picked is complete: newer than what
// has not been read yet, with no record missing.
func allSince(picked []*Change, since time.Time) bool {
	return !slices.ContainsFunc(picked, func(c *Change) bool { return c.Partial || !c.Time.After(since) })
}

// load returns changes, the newest first, with what is known of their being
// undone.
func (t *Timeline) load(ctx context.Context, enough func([]*Change, time.Time) bool) ([]*Change, bool, error) {
	var stop func([]*group, time.Time) bool
	if enough != nil {
		stop = func(sofar []*group, since time.Time) bool { return enough(t.changes(sofar), since) }
	}
	groups, cut, err := t.trail.gather(ctx, stop)
	if err != nil {
		return nil, false, fmt.Errorf("reading the history: %w", err)
	}
	return t.changes(groups), cut, nil
}

func (t *Timeline) changes(groups []*group) []*Change {
	out := make([]*Change, 0, len(groups))
	undone := map[string][]Undone{}
	for _, g := range groups {
		c := t.change(g)
		if c == nil {
			continue
		}
		c.UndoneBy = undone[c.ID]
		// An undo that was interrupted may be asked for again: what it has done
		// already is then left as it is.
		if c.Status == Done && !c.IsUndone() {
			var except []string
			for _, f := range c.Files {
				if c.undoneAt(f.Path) {
					except = append(except, f.Path)
				}
			}
			for _, u := range c.Undoes {
				undone[u.ID] = append(undone[u.ID], Undone{ID: c.ID, Paths: u.Paths, except: except})
			}
		}
		out = append(out, c)
	}
	return out
}

func notFound(id string) error {
	e := tool.Failf("there is no change %s in the history of this workspace, or it is no longer kept; workspace_log lists the changes", tool.Clip(id))
	e.Err = ErrNotFound
	return e
}

// Get returns one change.
func (t *Timeline) Get(ctx context.Context, id string) (*Change, error) {
	all, err := t.upTo(ctx, id)
	if err != nil {
		return nil, err
	}
	return all[len(all)-1], nil
}

// upTo returns all changes from the newest to the one of that id.
func (t *Timeline) upTo(ctx context.Context, id string) ([]*Change, error) {
	if !IsID(id) {
		return nil, tool.Invalidf("%q is no id of a change; one looks like c_k3m9x2pq7abc, and workspace_log lists them", tool.Clip(id))
	}
	find := func(all []*Change) int { return slices.IndexFunc(all, func(c *Change) bool { return c.ID == id }) }
	all, _, err := t.load(ctx, func(all []*Change, since time.Time) bool {
		i := find(all)
		return i >= 0 && allSince(all[i:i+1], since)
	})
	if err != nil {
		return nil, err
	}
	i := find(all)
	if i < 0 {
		return nil, notFound(id)
	}
	return all[:i+1], nil
}
