package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/handrail-tools/handrail/tool"
)

// check looks at what a step will touch through the folders that are locked.
func (b *batch) check(a *action) error {
	if a.nothing {
		return nil
	}
	name := a.step.Name
	if a.step.Op == OpMove && a.over != nil {
		if err := b.checkEntry(a.over, a.step.To, true); err != nil {
			return err
		}
	}
	if a.old == nil || a.old.writer != nil {
		return nil
	}
	err := b.checkEntry(a.old, name, a.step.Op != OpWrite || b.strict(a))
	a.change.Before = a.old.node.version
	return err
}

// checkEntry fails with errStale if an entry is not what was planned with,
// and refuses a file that the user has closed for writing: replacing or
// removing it would be possible wherever its folder can be written. Without
// strict it may have been written to in the meantime.
func (b *batch) checkEntry(e *entry, name string, strict bool) error {
	d, leaf, err := b.dirOf(e.disk)
	if err != nil {
		return err
	}
	n, err := d.look(leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errStale
	case err != nil:
		return err
	case n.version.Dev != e.node.version.Dev || n.version.Inode != e.node.version.Inode || n.mode.Type() != e.node.mode.Type():
		return errStale
	case !n.mode.IsRegular():
		return nil
	case n.version != e.node.version && strict:
		return errStale
	}
	e.node = n
	return mayWrite(d, leaf, n, name)
}

func mayWrite(d folder, leaf string, n node, name string) error {
	if n.mode.Perm()&0o222 == 0 {
		return failed(syscall.EACCES, "%s is marked read-only (mode %04o) and was left as it is", tool.Clip(name), n.mode.Perm())
	}
	err := d.mayWrite(leaf)
	if errors.Is(err, fs.ErrPermission) {
		return failed(err, "%s may not be written by this process: %v", tool.Clip(name), bare(err))
	}
	return nil
}

// editing reads the file of an edit and lets the caller make the new
// content. It reports that this is the old one.
func (b *batch) editing(a *action) (done bool, err error) {
	if a.old == nil {
		return false, fs.ErrNotExist
	}
	old, err := b.read(a.old, a.step.Name)
	if err != nil {
		return false, err
	}
	a.change.Before = old.Version
	data, err := b.edit(old)
	if err != nil {
		return false, asIs{err}
	}
	if bytes.Equal(data, old.Data) {
		a.change.Unchanged, a.change.After = true, old.Version
		return true, nil
	}
	a.step.Data, a.step.Expect = data, &old.Version
	return false, nil
}

// asIs is an error of the caller's own function, which is not explained.
type asIs struct{ error }

// read reads the file that an edit is about. What it finds is what the rest
// of the change goes by.
func (b *batch) read(e *entry, name string) (File, error) {
	d, leaf, err := b.dirOf(e.disk)
	if err != nil {
		return File{}, err
	}
	for range steadyTries {
		if err := b.ctx.Err(); err != nil {
			return File{}, err
		}
		data, n, steady, err := readEntry(d, leaf, name, MaxEdit)
		switch {
		case errors.Is(err, ErrTooLarge):
			return File{}, failed(ErrTooLarge, "%s has %d bytes; a file of more than %d is not edited", tool.Clip(name), n.version.Size, MaxEdit)
		case err != nil:
			return File{}, err
		case steady:
			e.node, b.order[0].node = n, n
			return File{Rel: e.disk.name(), Data: data, Version: n.version, Mode: n.mode}, nil
		}
	}
	return File{}, failed(ErrUnsteady, "%s is being written to right now; try again", tool.Clip(name))
}

// readEntry reads a regular file of a folder and reports whether it stayed
// the same meanwhile.
func readEntry(d folder, leaf, name string, limit int64) (data []byte, n node, steady bool, err error) {
	f, err := d.open(leaf)
	if err != nil {
		return nil, node{}, false, err
	}
	defer func() { _ = f.Close() }()
	n, err = nodeOf(f)
	if err == nil && !n.mode.IsRegular() {
		err = notRegular(name, n.mode)
	}
	if err != nil {
		return nil, n, false, err
	}
	data, after, err := readSteady(f, n, limit)
	return data, n, err == nil && after.version == n.version, err
}

// maxKeptAll bounds what the recorder is given of the old contents of one
// change, in bytes.
const maxKeptAll = 4 * MaxKept

// record tells the recorder what will happen.
func (b *batch) record() (done func(error), err error) {
	if b.w.recorder == nil || len(b.order) == 0 {
		return nil, nil
	}
	before := make(map[spot]*State, len(b.order))
	for _, at := range b.order {
		if before[at.spot()], err = b.before(at); errors.Is(err, errStale) {
			return nil, err
		} else if err != nil {
			return nil, explain("keeping the old content of", at.name(), err)
		}
	}
	planned := make([]Planned, 0, len(b.order))
	for _, at := range b.order {
		e := b.now[at.spot()]
		p := Planned{Rel: at.name(), Before: before[at.spot()]}
		if e.exists {
			p.After = b.after(e, before)
			if e.moved {
				p.From = e.by.change.From
			} else if e.disk.spot() != at.spot() && e.disk.zone != nil {
				p.From = e.disk.name() // moved, then written
			}
		}
		if p.Before != nil || p.After != nil {
			planned = append(planned, p)
		}
	}
	return b.w.recorder.Begin(b.ctx, planned)
}

// before is what is at a place now, nil for nothing.
func (b *batch) before(at place) (*State, error) {
	if !at.exists {
		return nil, nil
	}
	s := &State{Mode: at.node.mode}
	if at.node.mode.IsDir() {
		s.Whole = true
		return s, nil
	}
	d, leaf, err := b.dirOf(at)
	if err != nil {
		return nil, err
	}
	s.Size = at.node.version.Size
	if at.node.isLink() {
		target, err := d.readlink(leaf)
		s.Data, s.Size, s.Whole = []byte(target), int64(len(target)), true
		return s, err
	}
	data, n, steady, err := readEntry(d, leaf, at.name(), min(MaxKept, maxKeptAll-b.kept))
	b.kept += int64(len(data))
	switch {
	case errors.Is(err, ErrTooLarge), errors.Is(err, fs.ErrPermission):
		return s, nil
	case err != nil:
		return nil, err
	case !steady || n.version != at.node.version:
		if b.edit == nil {
			return nil, errStale // nothing was done, so another try is in order
		}
		return nil, changedSince(at.name())
	}
	s.Data, s.Whole = data, true
	return s, nil
}

// after is what will be at the place of an entry.
func (b *batch) after(e *entry, before map[spot]*State) *State {
	s := &State{Mode: e.node.mode, Whole: true}
	switch {
	case e.writer != nil:
		s.Size = int64(len(e.writer.step.Data))
		if s.Whole = s.Size <= MaxKept; s.Whole {
			s.Data = e.writer.step.Data
		}
	case e.node.mode.IsDir():
	default:
		if from := before[e.disk.spot()]; from != nil {
			s.Size, s.Data, s.Whole = from.Size, from.Data, from.Whole
		}
	}
	return s
}

// fill writes the content of a new file and what is kept of the old one,
// whose place is attrs.
func (b *batch) fill(f *os.File, a *action) error {
	if _, err := f.Write(a.step.Data); err != nil {
		return err
	}
	switch {
	case a.old != nil:
		d, leaf, err := b.dirOf(a.old.disk)
		if err != nil {
			return err
		}
		if err := keepAttributes(f, a.old.node, d, leaf); err != nil {
			return err
		}
	case a.step.Mode != 0:
		if err := f.Chmod(a.change.Mode); err != nil {
			return err
		}
	}
	return f.Sync()
}

// keepAttributes gives a new file the old one's owner, mode and extended
// attributes, in this order: a change of owner clears bits of the mode, and
// the mode would overwrite an access control list.
func keepAttributes(f *os.File, old node, d folder, leaf string) error {
	perm := old.mode.Perm()
	if !keepOwner(f, old) {
		perm = perm&^0o070 | perm&0o007<<3&perm
	}
	if err := f.Chmod(perm | old.mode&fs.ModeSticky); err != nil {
		return err
	}
	// A file that may be written and not read has attributes that only the
	// system can copy.
	if from, err := d.open(leaf); err == nil {
		defer func() { _ = from.Close() }()
		copyXattrs(from, f)
	}
	return nil
}

// keepOwner gives f the owner and group of old, and reports whether the
// group is the same in the end.
func keepOwner(f *os.File, old node) bool {
	n, err := nodeOf(f)
	if err != nil || old.uid < 0 {
		return err == nil
	}
	if n.uid == old.uid && n.gid == old.gid {
		return true
	}
	if f.Chown(old.uid, old.gid) == nil {
		return true
	}
	return n.gid == old.gid || f.Chown(-1, old.gid) == nil
}
