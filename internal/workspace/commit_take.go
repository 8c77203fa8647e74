package workspace

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/handrail-tools/handrail/tool"
)

// undoPut notes how a write is taken back. bak holds the old content of what
// was replaced.
func (b *batch) undoPut(a *action, replaced bool, bak scrap) {
	b.undo = append(b.undo, takeBack{
		state: tool.Clip(a.change.Rel) + " has the new content",
		do:    func() error { return b.unput(a, replaced, bak) },
	})
}

func (b *batch) unput(a *action, replaced bool, bak scrap) error {
	at := a.at
	if a.step.Op == OpMove {
		at = a.to
	}
	d, leaf, err := b.dirOf(at)
	if err != nil {
		return err
	}
	now, err := d.look(leaf)
	if err == nil && !sameFile(now, a.result) {
		err = errReplaced
	}
	switch {
	case err != nil && replaced:
		return errors.Join(err, keepAside(bak.dir, bak.name, d, leaf))
	case err != nil:
		return err
	case replaced:
		return bak.dir.rename(bak.name, d, leaf, true)
	}
	gone := tempName()
	if err := d.rename(leaf, d, gone, true); err != nil {
		return err
	}
	return d.remove(gone)
}

// stash is the folder in which a removed file waits for the end of the
// change: the innermost above it that is not removed itself.
func (b *batch) stash(at place) (folder, error) {
	for {
		dir, _ := parent(at.path)
		up := place{zone: at.zone, path: dir}
		if e := b.now[up.spot()]; dir == "." || e == nil || e.exists {
			d, _, err := b.dirOf(at)
			return d, err
		}
		at = up
	}
}

// drop removes a file or a link: it gets a temporary name, is looked at once
// more, and goes when the whole change is done.
func (b *batch) drop(a *action) error {
	d, leaf, err := b.dirOf(a.at)
	if err != nil {
		return err
	}
	to, err := b.stash(a.at)
	if err != nil {
		return err
	}
	name := tempName()
	err = d.rename(leaf, to, name, true)
	if errors.Is(err, syscall.EXDEV) {
		to = d // another disk is mounted in between
		err = d.rename(leaf, to, name, true)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return changedSince(a.step.Name)
	}
	if err != nil {
		return err
	}
	b.trash = append(b.trash, scrap{to, name})
	b.undo = append(b.undo, takeBack{
		state: tool.Clip(a.at.name()) + " is removed",
		do:    func() error { return b.undrop(a, to, name) },
	})
	n, err := to.look(name)
	if err == nil && !sameFile(n, a.old.final()) {
		err = changedSince(a.step.Name)
	}
	return err
}

// final is what the entry is once the steps before have been done.
func (e *entry) final() node {
	if e.writer != nil {
		return e.writer.result
	}
	return e.node
}

func (b *batch) undrop(a *action, from folder, name string) error {
	d, leaf, err := b.dirOf(a.at)
	if err != nil {
		return err
	}
	err = from.rename(name, d, leaf, false)
	if errors.Is(err, fs.ErrExist) {
		err = errors.Join(errReplaced, keepAside(from, name, d, leaf))
	}
	return err
}

// dropFolder removes an empty folder.
func (b *batch) dropFolder(a *action) error {
	d, leaf, err := b.dirOf(a.at)
	if err != nil {
		return err
	}
	own := b.turns[lockKey{a.at.zone, a.at.path}]
	if own == nil || own.dir == nil {
		return changedSince(a.step.Name)
	}
	if !slices.ContainsFunc(b.trash, func(s scrap) bool { return s.dir == own.dir }) {
		sweep(own.dir) // what is ours stays until the end
	}
	switch err := d.rmdir(leaf); {
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, fs.ErrExist):
		return failed(ErrNotEmpty, "%s is a folder that is not empty; it was left as it is", tool.Clip(a.step.Name))
	case err != nil:
		return err
	}
	b.undo = append(b.undo, takeBack{
		state: "the folder " + tool.Clip(a.at.name()) + " is removed",
		do:    func() error { return b.undropFolder(a, own) },
	})
	return nil
}

// undropFolder makes a folder again, and opens it for the files that are put
// back into it.
func (b *batch) undropFolder(a *action, own *turn) error {
	d, leaf, err := b.dirOf(a.at)
	if err != nil {
		return err
	}
	if err := d.mkdir(leaf); err != nil {
		return err
	}
	again, err := d.enter(leaf)
	if err != nil {
		return err
	}
	_ = own.dir.close()
	own.dir = again
	if h := again.handle(); h != nil {
		_, _ = tryFlock(h) // nobody else can know the new folder yet
		keepOwner(h, a.old.node)
	}
	return chmodFolder(again, a.old.node.mode)
}

// shift moves something.
func (b *batch) shift(a *action) error {
	d, leaf, err := b.dirOf(a.at)
	if err != nil {
		return err
	}
	to, as, err := b.dirOf(a.to)
	if err != nil {
		return err
	}
	var bak scrap
	if a.over != nil {
		if n, err := to.look(as); err != nil || !a.over.still(n) {
			return errors.Join(changedSince(a.step.To), err)
		}
		if bak, err = b.backup(a.to, a.step.To); err != nil {
			return err
		}
	}
	err = d.rename(leaf, to, as, a.over != nil)
	switch {
	case errors.Is(err, syscall.EXDEV) && a.old.node.mode.IsDir():
		return failed(err, "%s cannot be moved to %s: they lie on different disks, between which only files are moved. Move its files one by one", tool.Clip(a.step.Name), tool.Clip(a.step.To))
	case errors.Is(err, syscall.EXDEV):
		return b.carry(a, bak)
	case errors.Is(err, fs.ErrExist):
		return changedSince(a.step.To)
	case errors.Is(err, fs.ErrNotExist):
		return changedSince(a.step.Name)
	case err != nil:
		return err
	}
	b.undo = append(b.undo, takeBack{
		state: tool.Clip(a.at.name()) + " is moved to " + tool.Clip(a.change.Rel),
		do:    func() error { return b.unshift(a, bak) },
	})
	if a.result, err = to.look(as); err != nil {
		return err
	}
	if !sameFile(a.result, a.old.final()) {
		return changedSince(a.step.Name)
	}
	a.change.After, a.change.Mode = a.result.version, a.result.mode
	if !a.result.mode.IsDir() {
		return nil
	}
	// What came into the folder since it was judged has to be judged too.
	return b.w.judgeMove(b.ctx, a, a.to)
}

// unshift moves something back. bak is what it has replaced.
func (b *batch) unshift(a *action, bak scrap) error {
	d, leaf, err := b.dirOf(a.at)
	if err != nil {
		return err
	}
	to, as, err := b.dirOf(a.to)
	if err != nil {
		return err
	}
	now, err := to.look(as)
	if err == nil && !sameFile(now, a.result) {
		err = errReplaced
	}
	switch {
	case err != nil && bak.name != "":
		return errors.Join(err, keepAside(bak.dir, bak.name, to, as))
	case err != nil:
		return err
	case bak.name == "":
		return to.rename(as, d, leaf, false)
	}
	// With a second name first, neither path is without its content at any
	// moment, also if the machine stops here.
	err = to.link(as, d, leaf)
	switch {
	case err == nil:
		return bak.dir.rename(bak.name, to, as, true)
	case errors.Is(err, fs.ErrExist):
		return errors.Join(errReplaced, keepAside(bak.dir, bak.name, to, as))
	}
	if err := to.rename(as, d, leaf, false); err != nil {
		return errors.Join(err, keepAside(bak.dir, bak.name, to, as))
	}
	return bak.dir.rename(bak.name, to, as, false)
}

// carry moves a file or a link to another disk: a copy is made and put in
// place, and then the original goes.
func (b *batch) carry(a *action, bak scrap) error {
	d, leaf, err := b.dirOf(a.at)
	if err != nil {
		return err
	}
	to, as, err := b.dirOf(a.to)
	if err != nil {
		return err
	}
	temp := tempName()
	err = copyFile(d, leaf, to, temp, a.step.Name)
	if err == nil {
		err = to.rename(temp, to, as, a.over != nil)
		if errors.Is(err, fs.ErrExist) && a.over == nil {
			err = changedSince(a.step.To)
		}
	}
	if err == nil {
		a.result, err = to.look(as)
	}
	if err != nil {
		_ = to.remove(temp)
		return err
	}
	b.undo = append(b.undo, takeBack{
		state: tool.Clip(a.change.Rel) + " holds a copy of " + tool.Clip(a.at.name()),
		do:    func() error { return b.unput(a, a.over != nil, bak) },
	})
	if err := b.drop(a); err != nil {
		return err
	}
	a.change.After, a.change.Mode = a.result.version, a.result.mode
	return nil
}
