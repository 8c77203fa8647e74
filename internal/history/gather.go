package history

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/handrail-tools/handrail/internal/statedir"
)

const (
	// reach is how many records are looked at, the newest first, before an
	// answer says that it has not looked further. It bounds time and memory.
	reach = 100_000

	// cachedFrames is how many frames the indexes that are kept may have
	// together.
	cachedFrames = 50_000
)

// A group is all that is known of one change.
type group struct {
	id      string
	records []*record // in order
	newest  int64     // time of the last record
}

// whole reports whether no record is missing in front.
func (g *group) whole() bool {
	for i, r := range g.records {
		if r.N != i {
			return false
		}
	}
	return true
}

// applied returns the records that took effect, or may have.
func (g *group) applied() []*record {
	return slices.DeleteFunc(slices.Clone(g.records), func(r *record) bool { return r.outcome == rolledBack })
}

// A gathering collects changes from the segments, the newest first.
type gathering struct {
	groups map[string]*group
	seen   int
	cut    bool // reach ended it
}

func (g *gathering) add(r *record) {
	if g.groups[r.ID] == nil {
		g.groups[r.ID] = &group{id: r.ID}
	}
	c := g.groups[r.ID]
	c.records = append(c.records, r)
	c.newest = max(c.newest, r.Time)
	g.seen++
}

// sorted returns the changes, the newest first.
func (g *gathering) sorted() []*group {
	out := make([]*group, 0, len(g.groups))
	for _, c := range g.groups {
		slices.SortFunc(c.records, func(a, b *record) int { return a.N - b.N })
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *group) int {
		switch {
		case a.newest > b.newest:
			return -1
		case a.newest < b.newest:
			return 1
		default:
			return 0
		}
	})
	return out
}

// gather reads segments until enough says so. It is called after each with
// all changes so far, the newest first, and with a time: what is newer than
// that is complete.
func (t *trail) gather(ctx context.Context, enough func(sofar []*group, since time.Time) bool) (sorted []*group, cut bool, err error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	t.mu.Lock()
	d, err := t.folder()
	mine := map[string]bool{}
	for name := range t.mine {
		mine[name] = true
	}
	if t.own != nil {
		mine[t.own.name] = true
	}
	t.mu.Unlock()
	if err != nil {
		return nil, false, err
	}
	all, err := oldSegments(d)
	if err != nil {
		return nil, false, err
	}
	slices.SortStableFunc(all, func(a, b oldSegment) int { return b.modified.Compare(a.modified) })
	t.forget(all)
	g := &gathering{groups: map[string]*group{}}
	for i, s := range all {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		x, err := t.indexOf(d, s.name, mine[s.name])
		if err != nil {
			return nil, false, err
		}
		if x == nil {
			continue
		}
		for _, r := range x.records {
			g.add(r)
		}
		if i+1 == len(all) {
			break
		}
		if g.seen > reach {
			g.cut = true
			break
		}
		// Asking costs as much as there is so far, so it is done ever more
		// rarely.
		if i&(i+1) == 0 && enough != nil && enough(g.sorted(), all[i+1].modified) {
			break
		}
	}
	return g.sorted(), g.cut, nil
}

// indexOf returns the index of a segment as it is now, or nil where there is
// none that is ours. t.reading is held.
func (t *trail) indexOf(d *statedir.Dir, name string, own bool) (*index, error) {
	f, err := d.OpenFile(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // removed in the meantime
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	x := t.cache[name]
	if x == nil {
		x = newIndex(name)
		t.cache[name] = x
	}
	if err := x.refresh(f, own); err != nil {
		return nil, err
	}
	if x.root != t.root {
		return nil, nil
	}
	return x, nil
}

// forget drops indexes of segments that are gone, and all where they have
// become many. t.reading is held.
func (t *trail) forget(all []oldSegment) {
	there := map[string]bool{}
	for _, s := range all {
		there[s.name] = true
	}
	frames := 0
	for name, x := range t.cache {
		if !there[name] {
			delete(t.cache, name)
			continue
		}
		frames += x.frames
	}
	if frames > cachedFrames {
		clear(t.cache)
	}
}

// content reads what a record keeps of a state. It fails with [ErrNotKept]
// where it keeps nothing.
func (t *trail) content(r *record, k *kept) ([]byte, error) {
	if k == nil || k.Lost || k.Sum == "" {
		return nil, ErrNotKept
	}
	of, err := k.sum()
	if err != nil {
		return nil, err
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	t.mu.Lock()
	d, err := t.folder()
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	x, err := t.indexOf(d, r.seg, true)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return nil, ErrNotKept // it was removed in the meantime
	}
	f, err := d.OpenFile(r.seg, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return x.content(f, of, 0)
}
