package workspace

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/handrail-tools/handrail/tool"
)

// maxFolders is how many folders one change may touch. Each takes two
// descriptors while it lasts.
const maxFolders = 1024

// A turn is a folder that nobody else writes in for the moment.
type turn struct {
	dir folder // nil while the folder is missing
}

// keys are the folders whose entries the plan changes, in the one order in
// which everybody takes them.
func (p *plan) keys() []lockKey {
	keys := make([]lockKey, 0, 2*len(p.actions))
	add := func(at place) {
		dir, _ := parent(at.path)
		keys = append(keys, lockKey{at.zone, dir})
	}
	for _, a := range p.actions {
		if a.nothing {
			continue
		}
		add(a.at)
		if a.step.Op == OpMove {
			add(a.to)
		}
		if a.step.Op == OpRemove && a.old.node.mode.IsDir() {
			keys = append(keys, lockKey{a.at.zone, a.at.path}) // swept before it goes
		}
	}
	slices.SortFunc(keys, func(a, b lockKey) int {
		return cmp.Or(cmp.Compare(a.zone.dir, b.zone.dir), cmp.Compare(a.dir, b.dir))
	})
	return slices.Compact(keys)
}

func sameKeys(a, b []lockKey) bool { return slices.Equal(a, b) }

// lock takes the turns within this process, then those among processes. As
// both kinds are taken in order, and the one before the other, nobody waits
// for somebody who waits for him.
func (b *batch) lock(keys []lockKey) error {
	if len(keys) > maxFolders {
		return invalid(nil, "the change touches %d folders; at most %d are possible at once. Divide it", len(keys), maxFolders)
	}
	b.turns = make(map[lockKey]*turn, len(keys))
	for _, key := range keys {
		release, err := b.w.locks.acquire(b.ctx, key)
		if err != nil {
			return err
		}
		b.releases = append(b.releases, release)
		b.turns[key] = &turn{}
	}
	for _, key := range keys {
		d, err := key.zone.tree.folder(key.dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is made later
		}
		if err != nil {
			return b.said(b.actionIn(key), err)
		}
		b.turns[key].dir = d
		locked, err := lockFolder(b.ctx, d.handle(), key.dir)
		if err != nil {
			return err
		}
		if locked && b.w.locks.firstTime(key) {
			sweep(d)
		}
	}
	return nil
}

// actionIn finds an action for a folder, to name it in an error.
func (b *batch) actionIn(key lockKey) *action {
	for _, a := range b.actions {
		for _, at := range []place{a.at, a.to} {
			if dir, _ := parent(at.path); at.zone == key.zone && dir == key.dir {
				return a
			}
		}
	}
	return b.actions[0]
}

// dirOf returns the locked folder that a place lies in, and its last element.
func (b *batch) dirOf(at place) (folder, string, error) {
	dir, leaf := parent(at.path)
	t := b.turns[lockKey{at.zone, dir}]
	if t == nil || t.dir == nil {
		return nil, "", errStale
	}
	return t.dir, leaf, nil
}

// makeFolders makes the folders that the plan needs and takes their turns.
// A folder that another process has taken in this moment is not waited for,
// as it would be out of order: the whole change begins again.
func (b *batch) makeFolders() error {
	for i := range b.folders {
		f := &b.folders[i]
		if err := b.makeFolder(f); err != nil {
			return b.said(f.by, err)
		}
	}
	return nil
}

func (b *batch) makeFolder(f *newFolder) error {
	dir, leaf := parent(f.at.path)
	up, err := f.at.zone.tree.folder(dir)
	if err != nil {
		return err
	}
	defer func() { _ = up.close() }()
	err = up.mkdir(leaf)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f.made = err == nil
	d, err := up.enter(leaf)
	if err != nil {
		return err
	}
	t := b.turns[lockKey{f.at.zone, f.at.path}]
	if t == nil || t.dir != nil {
		defer func() { _ = d.close() }()
	} else {
		t.dir = d
		if h := d.handle(); h != nil {
			if _, err := tryFlock(h); errors.Is(err, errLocked) {
				return errStale
			} else if err != nil {
				return err
			}
		}
	}
	if f.made && f.mode != 0 {
		return chmodFolder(d, f.mode)
	}
	return nil
}

// chmodFolder gives a folder a mode.
func chmodFolder(d folder, mode fs.FileMode) error {
	h := d.handle()
	if h == nil {
		return failed(syscall.EACCES, "the mode %s of a folder cannot be set, as the folder may not be read", mode)
	}
	return h.Chmod(mode & (fs.ModePerm | fs.ModeSticky | fs.ModeSetgid))
}

// unmakeFolders removes the folders that were made for a change which then
// did not happen. Somebody else may use them by now: then they stay.
func (b *batch) unmakeFolders() []string {
	var left []string
	for _, f := range slices.Backward(b.folders) {
		if !f.made {
			continue
		}
		dir, leaf := parent(f.at.path)
		up, err := f.at.zone.tree.folder(dir)
		if err == nil {
			err = up.rmdir(leaf)
			_ = up.close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			left = append(left, "the folder "+tool.Clip(f.at.name())+" was made and stays")
		}
	}
	return left
}

// release gives the turns back.
func (b *batch) release() {
	for _, t := range b.turns {
		if t.dir != nil {
			_ = t.dir.close()
		}
	}
	for _, release := range slices.Backward(b.releases) {
		release()
	}
}
