package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/handrail-tools/handrail/tool"
)

// A takeBack undoes one thing that was done. If it fails, state says how
// the path is left.
type takeBack struct {
	do    func() error
	state string
}

// A scrap is an extra name that is of no use once the change is complete.
type scrap struct {
	dir  folder
	name string
}

// prepare makes folders and writes the new contents under temporary names.
func (b *batch) prepare() error {
	if err := b.makeFolders(); err != nil {
		return err
	}
	for _, a := range b.actions {
		if a.step.Op != OpWrite {
			continue
		}
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if err := b.stage(a); err != nil {
			return b.said(a, err)
		}
	}
	return b.ctx.Err()
}

// stage writes a new content beside its place.
func (b *batch) stage(a *action) (err error) {
	d, _, err := b.dirOf(a.at)
	if err != nil {
		return err
	}
	temp := tempName()
	if a.step.Mode&fs.ModeSymlink != 0 && a.old == nil {
		if err := d.symlink(string(a.step.Data), temp); err != nil {
			return err
		}
		a.temp = temp
		a.result, err = d.look(temp)
		return err
	}
	perm := fs.FileMode(0o666) // the umask of the process takes its part
	if a.old != nil || a.step.Mode != 0 {
		perm = 0o600 // until the file's own mode is set
	}
	f, err := d.create(temp, perm)
	if err != nil {
		return err
	}
	a.temp = temp
	err = b.fill(f, a)
	if err == nil {
		a.result, err = nodeOf(f)
	}
	return errors.Join(err, f.Close())
}

// commit gives everything its name, one step after the other. The renames
// themselves are not flushed: after a power cut each file is the old one or
// the new one, whole, and a second flush would double the cost.
func (b *batch) commit() error {
	last := -1
	for i, a := range b.actions {
		if !a.nothing && a.step.Op != OpMakeDir {
			last = i
		}
	}
	for i, a := range b.actions {
		var err error
		switch {
		case a.nothing:
		case a.step.Op == OpWrite:
			err = b.put(a, i == last)
		case a.step.Op == OpRemove && a.old.node.mode.IsDir():
			err = b.dropFolder(a)
		case a.step.Op == OpRemove:
			err = b.drop(a)
		case a.step.Op == OpMove:
			err = b.shift(a)
		}
		if err != nil {
			return b.said(a, err)
		}
	}
	return nil
}

// strict says that a write must not go over a change of somebody else's:
// somebody has said what the file must be, or the recorder has kept what it
// was.
func (b *batch) strict(a *action) bool { return a.step.Expect != nil || b.w.recorder != nil }

// put gives a new content its name. The name has the old content or the new
// one at every moment.
func (b *batch) put(a *action, last bool) error {
	d, leaf, err := b.dirOf(a.at)
	if err != nil {
		return err
	}
	replaced, err := b.puttable(a, d, leaf)
	if err != nil {
		return err
	}
	var bak scrap
	if replaced && !last {
		if bak, err = b.backup(a.at, a.step.Name); err != nil {
			return err
		}
	}
	if err := d.rename(a.temp, d, leaf, replaced); err != nil {
		if errors.Is(err, fs.ErrExist) && !replaced {
			return changedSince(a.step.Name)
		}
		return err
	}
	a.temp = ""
	if !last {
		b.undoPut(a, replaced, bak)
	}
	b.landed(a, d, leaf)
	return nil
}

// puttable looks once more at what a write replaces, and reports whether
// there is something.
func (b *batch) puttable(a *action, d folder, leaf string) (bool, error) {
	if a.old == nil {
		return false, nil
	}
	now, err := d.look(leaf)
	switch strict := b.strict(a); {
	case errors.Is(err, fs.ErrNotExist) && !strict:
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, changedSince(a.step.Name)
	case err != nil:
		return false, err
	case !now.mode.IsRegular():
		return false, notRegular(a.step.Name, now.mode)
	case strict && !a.old.still(now):
		return false, changedSince(a.step.Name)
	}
	return true, nil
}

// still reports whether n is what the entry was planned to be. What an
// earlier step has moved has another time of change by now.
func (e *entry) still(n node) bool {
	want := e.node
	if e.writer != nil {
		want = e.writer.result
	}
	if e.by == nil {
		return n.version == want.version
	}
	return sameFile(n, want)
}

// sameFile compares two nodes as far as a rename or a second name leaves
// them alone.
func sameFile(a, b node) bool {
	same := a.version.Dev == b.version.Dev && a.version.Inode == b.version.Inode && a.mode.Type() == b.mode.Type()
	return same && (a.mode.IsDir() || a.version.Size == b.version.Size && a.version.Modified == b.version.Modified)
}

// landed notes the state of what a step has put in place.
func (b *batch) landed(a *action, d folder, leaf string) {
	a.change.After, a.change.Mode = a.result.version, a.result.mode
	if n, err := d.look(leaf); err == nil && sameFile(n, a.result) {
		a.change.After, a.change.Mode, a.result = n.version, n.mode, n
	}
}

// backup gives a file a second name that a rollback can rename over the
// first. Where there are no hard links it is a copy.
func (b *batch) backup(at place, name string) (scrap, error) {
	d, leaf, err := b.dirOf(at)
	if err != nil {
		return scrap{}, err
	}
	to, err := b.stash(at)
	if err != nil {
		return scrap{}, err
	}
	bak := scrap{to, tempName()}
	err = d.link(leaf, to, bak.name)
	if errors.Is(err, syscall.EXDEV) {
		bak.dir = d // another disk is mounted in between
		err = d.link(leaf, d, bak.name)
	}
	if err != nil {
		if err = copyFile(d, leaf, bak.dir, bak.name, name); err != nil {
			_ = bak.dir.remove(bak.name)
			return scrap{}, err
		}
	}
	b.trash = append(b.trash, bak)
	return bak, nil
}

// copyFile copies a regular file, or a link, with its attributes.
func copyFile(d folder, leaf string, to folder, as, name string) error {
	n, err := d.look(leaf)
	if err != nil {
		return err
	}
	if n.isLink() {
		target, err := d.readlink(leaf)
		if err != nil {
			return err
		}
		return to.symlink(target, as)
	}
	src, err := d.open(leaf)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	if n, err = nodeOf(src); err == nil && !n.mode.IsRegular() {
		err = notRegular(name, n.mode)
	}
	if err != nil {
		return err
	}
	dst, err := to.create(as, 0o600)
	if err != nil {
		return err
	}
	err = copyInto(dst, src, n, d, leaf)
	return errors.Join(err, dst.Close())
}

func copyInto(dst, src *os.File, n node, d folder, leaf string) error {
	if _, err := io.Copy(dst, src); err != nil {
		return err
	}
	if err := keepAttributes(dst, n, d, leaf); err != nil {
		return err
	}
	after, err := nodeOf(src)
	if err == nil && after.version != n.version {
		err = failed(ErrUnsteady, "the file is being written to right now; try again")
	}
	return errors.Join(err, dst.Sync())
}

// rollback takes back what was done, the last first, and makes the error say
// what could not be taken back.
func (b *batch) rollback(cause error) error {
	var left []string
	for _, u := range slices.Backward(b.undo) {
		if err := u.do(); err != nil {
			left = append(left, fmt.Sprintf("%s (%v)", u.state, bare(err)))
		}
	}
	for _, a := range b.actions {
		if a.temp == "" {
			continue
		}
		if d, _, err := b.dirOf(a.at); err == nil {
			_ = d.remove(a.temp)
		}
	}
	if len(left) > 0 {
		b.trash = nil // what could not be put back must not be lost
	}
	left = append(left, b.unmakeFolders()...)
	var e *tool.Error
	if len(left) == 0 {
		if len(b.steps) > 1 && errors.As(cause, &e) {
			return withText(e, cause, e.Text+"\nNo step was done; everything is as it was.")
		}
		return cause
	}
	text := explain("the change", b.steps[0].Name, cause).Error() + "\nWhat was done before could not be taken back altogether:\n" + strings.Join(left, "\n")
	return &tool.Error{Code: tool.CodeFailed, Text: tool.ClipText(text, tool.MaxErrorText), Err: cause}
}

func withText(e *tool.Error, cause error, text string) *tool.Error {
	own := *e
	own.Text, own.Err = tool.ClipText(text, tool.MaxErrorText), cause
	return &own
}

// finish removes the extra names, and carries what the session has seen of
// the files over to where they are now.
func (b *batch) finish(happened bool) {
	for _, s := range b.trash {
		_ = s.dir.remove(s.name)
	}
	if !happened {
		return
	}
	for _, a := range b.actions {
		switch {
		case a.nothing:
		case a.step.Op == OpRemove:
			b.w.views.forget(a.change.Rel)
		case a.step.Op == OpMove:
			b.w.views.moved(a.change.From, a.change.Rel, a.change.Before, a.change.After)
		}
	}
}

// keepAside gives what a rollback cannot put back a name that is not swept.
func keepAside(d folder, name string, to folder, leaf string) error {
	kept := leaf + ".kept-" + path.Ext(tempName())[1:]
	if err := d.rename(name, to, kept, false); err != nil {
		return err
	}
	return fmt.Errorf("its old content is kept as %s", kept)
}

// errReplaced is why a rollback leaves a path alone.
var errReplaced = fmt.Errorf("another program has replaced it: %w", syscall.EBUSY)
