package history

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/handrail-tools/handrail/internal/statedir"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// maxCalls is how many calls are remembered, so that several records of one
// call become one change. More are never under way at once.
const maxCalls = 256

// A trail is the history of one workspace in this process.
type trail struct {
	history *History
	root    string

	mu    sync.Mutex
	dir   *statedir.Dir
	own   *segment
	mine  map[string]int // the segments of this process with records that have no end, and how many
	calls map[callKey]*callRecords
	order []callKey // of calls, oldest first

	reading sync.Mutex
	cache   map[string]*index
}

type callKey struct{ session, call, tool string }

// callRecords counts the records of one call.
type callRecords struct {
	id string
	n  int
}

func newTrail(h *History, root string) *trail {
	return &trail{
		history: h, root: root, mine: map[string]int{}, calls: map[callKey]*callRecords{}, cache: map[string]*index{},
	}
}

func (t *trail) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	if t.own != nil {
		errs = append(errs, t.own.file.Close())
		t.own = nil
	}
	if t.dir != nil {
		errs = append(errs, t.dir.Close())
		t.dir = nil
	}
	return errors.Join(errs...)
}

// folder opens the folder of the workspace. t.mu is held.
func (t *trail) folder() (*statedir.Dir, error) {
	if t.dir != nil {
		return t.dir, nil
	}
	base, err := t.history.base()
	if err != nil {
		return nil, err
	}
	t.dir, err = base.Sub(folderOf(t.root))
	return t.dir, err
}

// segment returns the segment that the next record goes into. t.mu is held.
func (t *trail) segment() (*segment, error) {
	last := int64(0)
	if s := t.own; s != nil {
		if !s.full(t.history.opts.MaxBytes) {
			return s, nil
		}
		last = s.last
		s.retired, t.own = true, nil
		if err := s.done(); err != nil {
			return nil, err
		}
	}
	s, fresh, err := t.acquire()
	if err != nil {
		return nil, err
	}
	s.last = max(s.last, last)
	t.own = s
	if fresh {
		t.tend()
	}
	return s, nil
}

func (t *trail) acquire() (*segment, bool, error) {
	for try := 0; ; try++ {
		d, err := t.folder()
		if err != nil {
			return nil, false, err
		}
		s, fresh, err := acquireSegment(d, t.root, t.history.opts.MaxBytes)
		if errors.Is(err, fs.ErrNotExist) && try == 0 {
			// Somebody has removed the folder because it was empty.
			_ = t.dir.Close()
			t.dir = nil
			continue
		}
		return s, fresh, err
	}
}

// identify gives a record its place: which change, and which record of it.
// t.mu is held.
func (t *trail) identify(r *record) {
	if r.Call == "" {
		r.ID, r.N = newID(), 0
		return
	}
	key := callKey{r.Session, r.Call, r.Tool}
	c := t.calls[key]
	if c == nil {
		c = &callRecords{id: newID()}
		t.calls[key] = c
		t.order = append(t.order, key)
		if len(t.order) > maxCalls {
			delete(t.calls, t.order[0])
			t.order = t.order[1:]
		}
	}
	r.ID, r.N = c.id, c.n
	c.n++
}

const (
	idPrefix = "c_"
	idLength = 12
	idLetter = "abcdefghijklmnopqrstuvwxyz234567"
)

func newID() string { return idPrefix + strings.ToLower(rand.Text()[:idLength]) }

// IsID reports whether s has the form of a change's id.
func IsID(s string) bool {
	rest, ok := strings.CutPrefix(s, idPrefix)
	return ok && len(rest) == idLength && strings.Trim(rest, idLetter) == ""
}

// undoKey carries, in the context of an undo, what the record says of it.
type undoKey struct{}

type undoNote struct {
	undoes []undoneRef
	id     string // is set to that of the change
}

// Begin records what is about to be changed, as a [workspace.Recorder]. It
// fails where that is impossible, and then nothing may be changed.
func (t *Timeline) Begin(ctx context.Context, planned []workspace.Planned) (done func(error), err error) {
	r := &record{Tree: t.tree, Entries: make([]entry, len(planned))}
	if from, ok := workspace.SourceFrom(ctx); ok {
		r.Session, r.Call, r.Tool, r.Origin = from.Session, from.CallID, from.Tool, from.Origin
	}
	note, _ := ctx.Value(undoKey{}).(*undoNote)
	if note != nil {
		r.Undoes = note.undoes
	}
	contents := make([]states, len(planned))
	most := t.trail.history.opts.MaxFile
	for i, p := range planned {
		e := &r.Entries[i]
		e.Rel = t.stored(p.Rel)
		if p.From != "" {
			e.From = t.stored(p.From)
		}
		e.Before, contents[i].before = keep(p.Before, most)
		e.After, contents[i].after = keep(p.After, most)
	}
	end, err := t.trail.begin(r, contents)
	if err != nil {
		e := tool.Failf("nothing was changed, because the change cannot be recorded in the history: %s", t.trail.history.bare(err))
		e.Err = err
		return nil, e
	}
	if note != nil {
		note.id = r.ID
	}
	return end, nil
}

// bare says what went wrong without the path of the state folder, which is
// not the model's business.
func (h *History) bare(err error) string {
	return strings.ReplaceAll(err.Error(), h.path, "its folder")
}

// states are the contents of an entry.
type states struct{ before, after content }

type content struct {
	sum  sum
	data []byte
	kept bool
}

// keep describes a state, and returns what is to be stored of it.
func keep(s *workspace.State, most int64) (*kept, content) {
	if s == nil {
		return nil, content{}
	}
	k := &kept{Mode: s.Mode, Size: s.Size}
	switch {
	case s.Mode.IsDir():
		k.Size = 0 // that of a folder means nothing
		return k, content{}
	case !s.Whole || int64(len(s.Data)) > most:
		k.Lost = true
		if s.Whole {
			of := sha256.Sum256(s.Data)
			k.Sum = hex.EncodeToString(of[:])
		}
		return k, content{}
	}
	of := sha256.Sum256(s.Data)
	k.Sum, k.Size = hex.EncodeToString(of[:]), int64(len(s.Data))
	return k, content{of, s.Data, true}
}

// begin writes a record and its contents with one write.
func (t *trail) begin(r *record, of []states) (func(error), error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	seg, err := t.segment()
	if err != nil {
		return nil, err
	}
	b := &batch{seg: seg}
	for _, s := range of {
		if s.before.kept {
			b.add(s.before.sum, s.before.data, sum{}, nil)
		}
		if s.after.kept {
			b.add(s.after.sum, s.after.data, s.before.sum, s.before.data)
		}
	}
	t.identify(r)
	r.Time = seg.now()
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the record of a change: %w", err)
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("a change of %d files at once is too large to be recorded", len(r.Entries))
	}
	b.frames = appendFrame(b.frames, frameBegin, body)
	if err := b.commit(); err != nil {
		return nil, err
	}
	seg.open++
	t.mine[seg.name]++
	var once sync.Once
	return func(err error) { once.Do(func() { t.end(seg, r, err) }) }, nil
}

// end writes what became of a record. Where that fails, the files themselves
// will tell.
func (t *trail) end(seg *segment, r *record, failure error) {
	e := ending{ID: r.ID, N: r.N, OK: failure == nil}
	if failure != nil {
		e.Err = tool.ClipText(failure.Error(), 500)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	body, err := json.Marshal(e)
	if err == nil {
		err = seg.append(appendFrame(nil, frameEnd, body))
		seg.frames++
	}
	seg.open--
	if t.mine[seg.name]--; t.mine[seg.name] == 0 {
		delete(t.mine, seg.name)
	}
	if err = errors.Join(err, seg.done()); err != nil {
		t.history.opts.Logger.Error("ending the record of a change", "change", r.ID, "error", err)
	}
}
