package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// Apply takes steps in order, all of them or none. Each is planned and judged
// as if those before it had happened already; then the turns of all folders
// are taken, in one order for everybody, what was planned is looked at once
// more, the new contents are written beside their files and flushed, and
// only then is one name after the other changed. A fault in the middle takes
// back what was done; if even that fails, the error says which path is in
// which state. A machine that stops in the middle leaves each single file
// old or new, whole.
//
// Folders that files need are made before the first file is changed. There
// is a change for each step, in order. Steps may build on each other: a file
// can be moved and then written, written and then moved, and a path that was
// removed or moved away can be used again. Two steps that want different
// things of one path are refused with [ErrConflict], and so is a step about
// what lies in a folder that another step moves or has removed. Paths are
// compared resolved, so another spelling or a link does not hide this; names
// that differ only by case count as different, also on a disk that folds
// them.
func (w *Workspace) Apply(ctx context.Context, steps []Step) ([]Change, error) {
	if len(steps) > MaxSteps {
		return nil, invalid(nil, "%d steps are more than the %d that one change may have; divide it", len(steps), MaxSteps)
	}
	return w.run(ctx, steps, "", nil)
}

// Remove removes a file, a symbolic link or an empty folder. A link's target
// stays. What may not be written may not be removed.
func (w *Workspace) Remove(ctx context.Context, name string) (Change, error) {
	return w.one(ctx, Step{Op: OpRemove, Name: name}, "", nil)
}

// MoveOptions say how a move goes about. The zero value replaces nothing.
type MoveOptions struct {
	// Overwrite replaces an existing file or link at the new path.
	Overwrite bool
}

// Move gives a file, a symbolic link or a folder another path. Folders that
// are missing above the new path are made. Of a folder, everything in it is
// judged at the old and at the new path; one with more than [MaxMoved]
// entries is refused. A file may go to another disk, a folder may not. A
// move to the path where it is already changes nothing.
func (w *Workspace) Move(ctx context.Context, name, to string, opts MoveOptions) (Change, error) {
	return w.one(ctx, Step{Op: OpMove, Name: name, To: to, Overwrite: opts.Overwrite}, "", nil)
}

// MakeDir makes a folder, with those above it. One that exists is Unchanged.
func (w *Workspace) MakeDir(ctx context.Context, name string) (Change, error) {
	return w.one(ctx, Step{Op: OpMakeDir, Name: name}, "", nil)
}

func (w *Workspace) one(ctx context.Context, s Step, doing string, edit func(File) ([]byte, error)) (Change, error) {
	changes, err := w.run(ctx, []Step{s}, doing, edit)
	if err != nil {
		return Change{}, err
	}
	return changes[0], nil
}

// errStale: what was planned is not what there is under the locks.
var errStale = errors.New("the path keeps changing")

// run takes steps, and begins again where something moved between the plan
// and the locks.
func (w *Workspace) run(ctx context.Context, steps []Step, doing string, edit func(File) ([]byte, error)) ([]Change, error) {
	var err error
	for range maxTries {
		if err = ctx.Err(); err != nil {
			return nil, err
		}
		b := &batch{steps: steps, doing: doing, edit: edit, plan: plan{w: w, ctx: ctx}}
		err = b.run()
		b.release()
		switch {
		case err == nil:
			return b.changes(), nil
		case !errors.Is(err, errStale) && !errors.Is(err, errLink):
			return nil, err
		}
	}
	return nil, failed(err, "%s: a path keeps changing under the hands of another program; try again", tried(doing, steps))
}

// tried names what was tried for a message.
func tried(doing string, steps []Step) string {
	a := action{step: steps[0]}
	if doing == "" {
		doing = a.doing()
	}
	return doing + " " + tool.Clip(steps[0].Name)
}

// A batch is one Apply under way.
type batch struct {
	steps []Step
	doing string // instead of what the step itself says, or ""
	// edit makes the content of the only step out of the old one.
	edit func(File) ([]byte, error)

	plan
	turns    map[lockKey]*turn
	releases []func() // of the turns within this process
	undo     []takeBack
	kept     int64 // bytes of old contents that the recorder is given
	trash    []scrap
}

// run plans, locks, looks again and acts. errStale and errLink mean that
// nothing was done and another try is in order.
func (b *batch) run() error {
	b.plan = plan{w: b.w, ctx: b.ctx}
	if err := b.planAll(b.steps, b.said); err != nil {
		return err
	}
	first := b.keys()
	if err := b.lock(first); err != nil {
		return err
	}
	b.plan = plan{w: b.w, ctx: b.ctx, locked: true}
	if err := b.planAll(b.steps, b.said); err != nil {
		return err
	}
	if !sameKeys(first, b.keys()) {
		return errStale
	}
	if done, err := b.settle(); done || err != nil {
		return err
	}
	return b.perform()
}

// settle looks at every file that will be touched, through the folders that
// are locked, and lets an edit make its content. It reports that nothing is
// left to do.
func (b *batch) settle() (done bool, err error) {
	for _, a := range b.actions {
		if err := b.check(a); err != nil {
			return false, b.said(a, err)
		}
	}
	if b.edit == nil {
		return false, nil
	}
	done, err = b.editing(b.actions[0])
	var own asIs
	if errors.As(err, &own) {
		return false, own.error
	}
	return done, b.said(b.actions[0], err)
}

// perform does what was planned, with the recorder around it.
func (b *batch) perform() error {
	done, err := b.record()
	if err != nil {
		return err
	}
	err = b.prepare()
	if err == nil {
		err = b.commit()
	}
	if err != nil {
		err = b.rollback(err)
	}
	b.finish(err == nil)
	if done != nil {
		done(err)
	}
	return err
}

func (b *batch) changes() []Change {
	out := make([]Change, len(b.actions))
	for i, a := range b.actions {
		out[i] = a.change
	}
	return out
}

// said makes an error of a step one that can be shown: it names what was
// tried, and the step where there are several.
func (b *batch) said(a *action, err error) error {
	if err == nil || errors.Is(err, errStale) || errors.Is(err, errLink) {
		return err
	}
	doing := b.doing
	if doing == "" {
		doing = a.doing()
	}
	err = explain(doing, a.shown(), err)
	var e *tool.Error
	if len(b.steps) == 1 || !errors.As(err, &e) {
		return err
	}
	own := *e
	own.Text = tool.ClipText(fmt.Sprintf("step %d of %d: %s", a.n, len(b.steps), e.Text), tool.MaxErrorText)
	own.Err = err
	return &own
}

// joinSteps makes one error of those of several steps, so that everything
// that is wrong is said at once.
func joinSteps(errs []error) error {
	var texts []string
	code := tool.CodeInvalidInput
	for _, err := range errs {
		if errors.Is(err, errStale) || errors.Is(err, errLink) {
			return err
		}
		var e *tool.Error
		if !errors.As(err, &e) {
			return err
		}
		texts = append(texts, e.Text)
		if e.Code == tool.CodeDenied || code != tool.CodeDenied && e.Code != tool.CodeInvalidInput {
			code = e.Code
		}
	}
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return &tool.Error{Code: code, Text: tool.ClipText(strings.Join(texts, "\n"), tool.MaxErrorText), Err: errors.Join(errs...)}
}
