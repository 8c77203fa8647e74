package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/handrail-tools/handrail/internal/workspace"
)

const (
	// recorded is how many files one command may change to be undone.
	recorded = workspace.MaxSteps
	// recordedBytes is how much content of one command is kept, in bytes.
	recordedBytes = 256 << 20
)

// Options say what is watched.
type Options struct {
	// Folders are those to watch, as the workspace spells them: "." is its
	// own.
	Folders []string
	// Recorder is told of what commands changed. nil is not told.
	Recorder workspace.Recorder
	// Dir is the folder for the contents from before.
	Dir string
	// Busy reports whether commands run in the background. nil means never.
	Busy func() bool
}

// A Witness watches one workspace for one session. Its methods may be called
// from several goroutines at once; a nil witness sees nothing. Close it in the
// end.
type Witness struct {
	files    *workspace.Workspace
	folders  []string
	recorder workspace.Recorder
	dir      string
	busy     func() bool

	mu      sync.Mutex
	shadow  *shadow
	last    *picture
	ignored bool // last has what ignore rules leave out

	own struct { // what the tools of the session changed since the last look
		sync.Mutex
		paths map[string]bool
	}
}

// New returns a witness. It sees nothing before it was given the workspace
// with [Witness.Watch].
func New(o Options) *Witness {
	w := &Witness{folders: o.Folders, recorder: o.Recorder, dir: o.Dir, busy: o.Busy}
	if w.folders == nil {
		w.folders = []string{"."}
	}
	return w
}

// Watch gives the witness the workspace to look at: one that was opened with
// its [Witness.Recorder]. Nothing is looked at before a command begins.
func (w *Witness) Watch(files *workspace.Workspace) { w.files = files }

// Close frees what was kept.
func (w *Witness) Close() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shadow != nil {
		w.shadow.close()
		w.shadow, w.last = nil, nil
	}
	return nil
}

// A Watch is the time of one command.
type Watch struct {
	witness *Witness
	before  *picture
	ignored bool
	earlier Receipt // what background commands changed before
}

// Before looks at the workspace before a command. writes says that it can
// change files; if it cannot there is nothing to see. ignored asks for what
// ignore rules leave out as well.
func (w *Witness) Before(ctx context.Context, writes, ignored bool) (*Watch, error) {
	if w == nil || !writes {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	watch := &Watch{witness: w, ignored: ignored}
	if w.last != nil && w.busy != nil && w.busy() {
		watch.earlier = w.glance(ctx)
	}
	if err := w.refresh(ctx, ignored); err != nil {
		return nil, err
	}
	watch.before = w.last
	return watch, nil
}

// refresh brings the last picture up to the present.
func (w *Witness) refresh(ctx context.Context, ignored bool) error {
	if w.shadow != nil && w.shadow.crowded() {
		w.shadow.close()
		w.shadow, w.last = nil, nil
	}
	if w.shadow == nil {
		s, err := openShadow(w.dir)
		if err != nil {
			return err
		}
		w.shadow = s
	}
	p, err := w.look(ctx, w.last, ignored, true)
	if err != nil {
		return err
	}
	w.replace(p)
	w.ignored = ignored
	w.takeOwn()
	return nil
}

// replace makes p the last picture and lets go of what only the one before
// referred to.
func (w *Witness) replace(p *picture) {
	if w.last != nil {
		for name, s := range w.last.files {
			if s.kept && s.target == "" && p.files[name] != s {
				w.shadow.drop(s.content)
			}
		}
	}
	w.last = p
}

// After looks again and tells what is different. It never fails: what could
// not be seen is said in the receipt.
func (watch *Watch) After(ctx context.Context) Receipt {
	if watch == nil {
		return Receipt{}
	}
	w := watch.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last != watch.before {
		// Another command looked meanwhile and told what it saw.
		return watch.earlier.join(w.glance(ctx))
	}
	return watch.earlier.join(w.difference(ctx, watch.ignored))
}

// Glance tells what is different since the last look, for a command that
// still runs.
func (w *Witness) Glance(ctx context.Context) Receipt {
	if w == nil {
		return Receipt{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.glance(ctx)
}

func (w *Witness) glance(ctx context.Context) Receipt {
	if w.last == nil || w.shadow == nil {
		return Receipt{}
	}
	return w.difference(ctx, w.ignored)
}

// difference looks, records what changed, and makes the new picture the last.
func (w *Witness) difference(ctx context.Context, ignored bool) Receipt {
	ctx = context.WithoutCancel(ctx) // what was done is done, and must be known
	before := w.last
	now, err := w.look(ctx, before, ignored, true)
	if err != nil || !before.whole || !now.whole {
		if now != nil {
			w.replace(now)
		}
		return Receipt{blind: true}
	}
	own := w.takeOwn()
	var changes []change
	for name, is := range now.files {
		was := before.files[name]
		if own[name] || was == is || was != nil && w.same(was, is) {
			continue
		}
		if was == nil && is.changed != 0 && is.changed < before.began.Add(-tick).UnixNano() {
			continue // it was there; an ignore rule hid it
		}
		changes = append(changes, change{name, was, is})
	}
	for name, was := range before.files {
		if now.files[name] == nil && !own[name] && w.isGone(name) {
			changes = append(changes, change{name, was, nil})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.name, b.name) })
	r := w.record(ctx, changes)
	w.replace(now)
	return r
}

// A change is one file that differs; nil is nothing.
type change struct {
	name    string
	was, is *seen
}

// same reports whether two states of a file that were seen are the same but
// for their times.
func (w *Witness) same(was, is *seen) bool {
	if was.stamp == is.stamp && !(was.kept && is.kept) {
		return true
	}
	if was.mode != is.mode || was.size != is.size || !was.kept || !is.kept || was.target != is.target {
		return false
	}
	if was.mode&fs.ModeSymlink != 0 {
		return true
	}
	a, err := w.shadow.get(was.content)
	b, err2 := w.shadow.get(is.content)
	return err == nil && err2 == nil && bytes.Equal(a, b)
}

// isGone reports whether there is no longer a file: one that an ignore rule
// hides is still there.
func (w *Witness) isGone(name string) bool {
	at, err := w.files.ResolveEntry(relative(name))
	return errors.Is(err, fs.ErrNotExist) || err == nil && !at.Exists
}

// record tells the recorder, and makes the receipt.
func (w *Witness) record(ctx context.Context, changes []change) Receipt {
	r := Receipt{changes: changes}
	if len(changes) == 0 || w.recorder == nil {
		return r
	}
	if len(changes) > recorded {
		r.unrecorded = fmt.Sprintf("More than %d files changed, so this cannot be undone.", recorded)
		return r
	}
	var planned []workspace.Planned
	room := int64(recordedBytes)
	for _, c := range changes {
		p := workspace.Planned{Rel: c.name, Before: w.state(c.was, &room), After: w.state(c.is, &room)}
		if p.Before != nil && !p.Before.Whole {
			r.lost = append(r.lost, c.name)
		}
		planned = append(planned, p)
	}
	done, err := w.recorder.Begin(ctx, planned)
	if err != nil {
		r.unrecorded = "This could not be put into the history, so it cannot be undone."
		return r
	}
	done(nil)
	return r
}

// state is what the history is told of a file.
func (w *Witness) state(s *seen, room *int64) *workspace.State {
	if s == nil {
		return nil
	}
	st := &workspace.State{Mode: s.mode, Size: s.size}
	switch {
	case !s.kept || s.content.size > *room:
	case s.mode&fs.ModeSymlink != 0:
		st.Data, st.Size, st.Whole = []byte(s.target), int64(len(s.target)), true
	default:
		data, err := w.shadow.get(s.content)
		if err == nil {
			st.Data, st.Whole = data, true
			*room -= s.content.size
		}
	}
	return st
}

// Recorder returns a recorder that passes on what it is told and remembers
// which files the tools of the session changed themselves, so that no command
// is given their changes. next may be nil.
func (w *Witness) Recorder(next workspace.Recorder) workspace.Recorder { return &ownChanges{w, next} }

type ownChanges struct {
	witness *Witness
	next    workspace.Recorder
}

// Begin implements [workspace.Recorder].
func (o *ownChanges) Begin(ctx context.Context, planned []workspace.Planned) (func(error), error) {
	done := func(error) {}
	if o.next != nil {
		var err error
		if done, err = o.next.Begin(ctx, planned); err != nil {
			return nil, err
		}
	}
	w := o.witness
	w.own.Lock()
	defer w.own.Unlock()
	if w.own.paths == nil || len(w.own.paths) > maxFiles {
		w.own.paths = map[string]bool{}
	}
	for _, p := range planned {
		w.own.paths[strings.TrimPrefix(p.Rel, "./")] = true
	}
	return done, nil
}

func (w *Witness) takeOwn() map[string]bool {
	w.own.Lock()
	defer w.own.Unlock()
	paths := w.own.paths
	w.own.paths = nil
	return paths
}
