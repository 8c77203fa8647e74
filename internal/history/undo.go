package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// ErrConflict says that an undo would lose what was changed since. Nothing
// was changed then.
var ErrConflict = errors.New("changed since")

// UndoOptions say what is taken back. The zero value means the newest change
// of the asker's own sessions that was not taken back yet and is no undo
// itself.
type UndoOptions struct {
	// ID is the change.
	ID string
	// Paths, unless empty, are the files and folders to which the undo is
	// limited.
	Paths []string
	// Since takes back what came after the change as well: of the asker's
	// own sessions, if the change is one of theirs, else of everybody.
	Since bool
	// DryRun plans and reports, and changes nothing.
	DryRun bool
	// Anybody takes, without an ID, the newest change of anybody where the
	// asker's sessions have none, and makes Since mean everybody's.
	Anybody bool
}

// UndoResult says what an undo did, or would do.
type UndoResult struct {
	// ID is the change that the undo is; to undo that brings back what was
	// taken back. It is "" after a dry run.
	ID string `json:"id,omitempty"`
	// Undone are the changes that were taken back, the newest first.
	Undone []*Change `json:"undone"`
	// Files are the paths that it was about, in order.
	Files []UndoneFile `json:"files"`
	// Left is how many changes of others, made since, were left alone.
	Left int `json:"left,omitempty"`
	// Diff is what it changed, as a unified diff.
	Diff string `json:"diff"`
	// DryRun says that nothing was changed.
	DryRun bool `json:"dry_run,omitempty"`
}

// An UndoneFile says what became of a path.
type UndoneFile struct {
	Path string `json:"path"`
	// What is one of the Undo... words.
	What string `json:"what"`
	// Note says more, or "".
	Note string `json:"note,omitempty"`
}

// What an undo does to a path.
const (
	UndoRestored = "restored"     // its content is that from before
	UndoBack     = "brought back" // it had been deleted
	UndoRemoved  = "removed"      // it had been created
	UndoMoved    = "moved back"
	UndoMerged   = "merged" // the change was taken out of a file that was changed since
	UndoAlready  = "left"   // nothing had to be done, or could
)

// Undo takes changes back, all of it or nothing. What is exactly as the
// change left it becomes exactly what it was before: content, mode, links,
// names, and the folders that were made for it go if they are empty. From a
// text that was changed since, the change is taken out line by line; where
// that is not possible, the error wraps [ErrConflict] and names every file.
//
// The workspace's rules hold as for every write. The undo is a change itself
// and can be undone; w must record into t.
func (t *Timeline) Undo(ctx context.Context, w *workspace.Workspace, o UndoOptions) (*UndoResult, error) {
	s, err := t.choose(ctx, o)
	if err != nil {
		return nil, err
	}
	p := &plan{t: t, overlay: &overlay{ctx: ctx, w: w, nodes: map[string]*node{}, facts: map[string]node{}}, said: map[string]UndoneFile{}, bad: map[string]bool{}}
	if err := p.run(s); err != nil {
		return nil, err
	}
	steps := p.steps()
	r := &UndoResult{Undone: s.changes, Left: s.left, Files: p.files(), Diff: p.diff(), DryRun: o.DryRun}
	if o.DryRun {
		return r, nil
	}
	note := &undoNote{undoes: s.refs(t)}
	if err := t.carryOut(context.WithValue(ctx, undoKey{}, note), w, steps); err != nil {
		return nil, err
	}
	r.ID = note.id
	return r, nil
}

// carryOut does the steps, and records also that there were none.
func (t *Timeline) carryOut(ctx context.Context, w *workspace.Workspace, steps []workspace.Step) error {
	if len(steps) > 0 {
		_, err := w.Apply(ctx, steps)
		if errors.Is(err, workspace.ErrConflict) {
			return tool.Failf("nothing was undone, because too much of it is about the same folders to be done at once; undo one change after the other, the newest first: %w", err)
		}
		return err
	}
	done, err := t.Begin(ctx, nil)
	if err == nil {
		done(nil)
	}
	return err
}

// A selection is what an undo is about.
type selection struct {
	changes []*Change // the newest first
	paths   []string  // nil: all
	skip    []string  // paths that were taken back already
	left    int
}

// refs name the selection in the record of the undo.
func (s *selection) refs(t *Timeline) []undoneRef {
	var out []undoneRef
	for _, c := range s.changes {
		ref := undoneRef{ID: c.ID}
		if s.paths != nil {
			ref.Paths = []string{}
			for _, f := range c.Files {
				if s.covers(f.Path) || f.From != "" && s.covers(f.From) {
					ref.Paths = append(ref.Paths, t.stored(f.Path))
				}
			}
		}
		out = append(out, ref)
	}
	return out
}

// covers reports whether the undo is about a path.
func (s *selection) covers(rel string) bool {
	if slices.Contains(s.skip, rel) {
		return false
	}
	return s.paths == nil || slices.ContainsFunc(s.paths, func(p string) bool {
		return p == "." || rel == p || strings.HasPrefix(rel, p+"/")
	})
}

// Touches returns the paths that an undo would write, for those who judge it
// beforehand.
func (t *Timeline) Touches(ctx context.Context, o UndoOptions) ([]string, error) {
	s, err := t.choose(ctx, o)
	if err != nil {
		return nil, err
	}
	var out []string
	add := func(p string) {
		if p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, c := range s.changes {
		for _, f := range c.Files {
			if s.covers(f.Path) || f.From != "" && s.covers(f.From) {
				add(f.Path)
				add(f.From)
			}
		}
	}
	return out, nil
}

// choose finds what is to be undone, and refuses what cannot be.
func (t *Timeline) choose(ctx context.Context, o UndoOptions) (*selection, error) {
	s := &selection{}
	if len(o.Paths) > 0 {
		s.paths = o.Paths
	}
	if o.ID == "" {
		c, err := t.newest(ctx, o.Anybody)
		if err != nil {
			return nil, err
		}
		o.ID = c.ID
	}
	all, err := t.upTo(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	first := all[len(all)-1]
	s.changes = []*Change{first}
	if o.Since {
		s.since(all, first.Own && !o.Anybody)
	} else if err := s.single(first); err != nil {
		return nil, err
	}
	return s, s.check()
}

// newest returns the newest change that can be meant without a name.
func (t *Timeline) newest(ctx context.Context, anybody bool) (*Change, error) {
	var found *Change
	look := func(own bool) func(all []*Change, since time.Time) bool {
		return func(all []*Change, since time.Time) bool {
			i := slices.IndexFunc(all, func(c *Change) bool {
				return (c.Own || !own) && len(c.Undoes) == 0 && !c.IsUndone() && c.Status != Running
			})
			if i < 0 {
				return false
			}
			found = all[i]
			return allSince(all[i:i+1], since)
		}
	}
	for _, own := range []bool{true, false} {
		if !own && !anybody {
			break
		}
		all, _, err := t.load(ctx, look(own))
		if err != nil {
			return nil, err
		}
		if look(own)(all, time.Time{}); found != nil {
			return found, nil
		}
	}
	e := tool.Failf("there is nothing to undo: this session has changed no file, or has taken everything back. workspace_log lists the changes of everybody; give the id of one to undo that")
	e.Err = ErrNotFound
	return nil, e
}

// since takes in what came after the change, in the own tree or at all.
func (s *selection) since(all []*Change, own bool) {
	s.changes = nil
	for _, c := range all {
		if own && !c.Own {
			s.left++
			continue
		}
		s.changes = append(s.changes, c)
	}
}

func (s *selection) single(c *Change) error {
	if c.IsUndone() {
		by := c.UndoneBy[0].ID
		return tool.Failf("%s was taken back already, by %s; to bring it back, undo %s", c.ID, by, by)
	}
	for _, f := range c.Files {
		if c.undoneAt(f.Path) {
			s.skip = append(s.skip, f.Path)
		}
	}
	return nil
}

// check refuses a selection that cannot be undone, with every reason.
func (s *selection) check() error {
	var wrong []string
	hit := map[string]bool{}
	for _, c := range s.changes {
		switch {
		case c.Status == Running:
			wrong = append(wrong, c.ID+" is not finished yet")
		case c.Partial:
			wrong = append(wrong, "the older part of "+c.ID+" is no longer kept")
		case c.Hidden > 0 && s.paths == nil:
			wrong = append(wrong, fmt.Sprintf("%s also changed %d files that lie outside of this session's folder; name in paths what to take back", c.ID, c.Hidden))
		}
		for _, f := range c.Files {
			for _, p := range s.paths {
				one := selection{paths: []string{p}}
				if one.covers(f.Path) || f.From != "" && one.covers(f.From) {
					hit[p] = true
				}
			}
		}
	}
	for _, p := range s.paths {
		if !hit[p] {
			wrong = append(wrong, tool.Clip(p)+" was not changed then")
		}
	}
	if len(wrong) > 0 {
		return tool.Failf("nothing was undone: %s", strings.Join(wrong, "; "))
	}
	return nil
}
