package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/handrail-tools/handrail/tool"
)

// MaxEdit is the largest file that [Workspace.Edit] holds in memory, in
// bytes. It leaves room above the 10 MB that read_file shows as a whole.
const MaxEdit = 32 << 20

// WriteOptions say under which condition a file is written. The zero value
// overwrites whatever is there.
type WriteOptions struct {
	// CreateOnly fails with [fs.ErrExist] if there is something already.
	CreateOnly bool
	// Expect fails with [ErrChanged] unless the file exists and is in this
	// state at the last moment before it is replaced.
	Expect *Version
}

// WriteFile replaces the content of a file, or makes the file with the
// folders it lies in. A reader sees the old content or the new one, never a
// mixture, also if the machine stops. A symbolic link stays and its target
// is written, as long as that lies inside. A failure changes nothing.
//
// Permission bits are kept, but not set-user-id and set-group-id, which a
// write removes on every system. Owner, group and extended attributes are
// kept where the process may set them; where the group cannot be kept, its
// permissions are cut to those of everybody. A file without any write
// permission is refused although a rename could replace it.
func (w *Workspace) WriteFile(ctx context.Context, name string, data []byte, opts WriteOptions) (Change, error) {
	u, err := w.begin(ctx, name, true)
	if err != nil {
		return Change{}, explain("writing", name, err)
	}
	defer u.end()
	switch {
	case opts.CreateOnly && u.exists:
		err = failed(fs.ErrExist, "%s exists already and was left as it is", tool.Clip(name))
	case opts.Expect != nil && (!u.exists || u.old.version != *opts.Expect):
		err = changedSince(name)
	default:
		err = u.put(ctx, data, opts.Expect != nil)
	}
	if err != nil {
		u.undoFolders()
		return Change{}, explain("writing", name, err)
	}
	return u.change, nil
}

// Edit reads a file, hands it to fn and writes what fn returns, in one turn:
// of any number of concurrent edits, each sees the result of the one before.
// A program that takes no part in the turns and writes in between makes the
// edit fail with [ErrChanged]. An error of fn is returned as it is and
// nothing is written. fn must not write through the workspace itself: it has
// the turn of the folder. The file must exist and have at most [MaxEdit]
// bytes.
func (w *Workspace) Edit(ctx context.Context, name string, fn func(old File) ([]byte, error)) (Change, error) {
	u, err := w.begin(ctx, name, false)
	if err != nil {
		return Change{}, explain("editing", name, err)
	}
	defer u.end()
	old, err := u.read(ctx)
	if err != nil {
		return Change{}, explain("editing", name, err)
	}
	data, err := fn(old)
	if err != nil {
		return Change{}, err
	}
	if bytes.Equal(data, old.Data) {
		u.change.Unchanged, u.change.After = true, old.Version
		return u.change, nil
	}
	if err := u.put(ctx, data, true); err != nil {
		return Change{}, explain("editing", name, err)
	}
	return u.change, nil
}

func changedSince(name string) error {
	return failed(ErrChanged, "%s is no longer the file that was read: it was changed, replaced or removed in the meantime. Nothing was written; read it again", tool.Clip(name))
}

// An update is one turn of a writer.
type update struct {
	w       *Workspace
	name    string // as the caller put it
	at      place
	dir     folder
	leaf    string
	exists  bool
	old     node // if exists
	change  Change
	release func()
}

// begin resolves and judges a name and takes the turn of its folder. What it
// found is looked at again under the lock, so that it is what is written.
func (w *Workspace) begin(ctx context.Context, name string, mkdirs bool) (*update, error) {
	for range maxTries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at, err := w.resolve(name)
		if err != nil {
			return nil, err
		}
		if err := w.judgeWrite(at, name); err != nil {
			return nil, err
		}
		if at.exists && !at.node.mode.IsRegular() {
			return nil, notRegular(name, at.node.mode)
		}
		u := &update{w: w, name: name, at: at, change: Change{Rel: at.name()}}
		err = u.lock(ctx, mkdirs)
		if err == nil {
			return u, nil
		}
		u.end()
		if !errors.Is(err, errLink) {
			return nil, err
		}
	}
	return nil, errLink
}

// lock takes the turn, opens the folder and looks at the file.
func (u *update) lock(ctx context.Context, mkdirs bool) error {
	dir, leaf := parent(u.at.path)
	key := lockKey{u.at.zone, dir}
	var err error
	if u.release, err = u.w.locks.acquire(ctx, key); err != nil {
		return err
	}
	u.leaf = leaf
	if u.dir, err = u.enter(dir, mkdirs); err != nil {
		return err
	}
	locked, err := lockFolder(ctx, u.dir.handle(), u.name)
	if err != nil {
		return err
	}
	if locked && u.w.locks.firstTime(key) {
		sweep(u.dir)
	}
	n, err := u.dir.look(leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case n.isLink():
		return errLink
	case !n.mode.IsRegular():
		return notRegular(u.name, n.mode)
	}
	u.exists, u.old = true, n
	u.change.Before = n.version
	u.change.OtherNames = int(n.links) - 1
	return nil
}

// enter opens the folder dir, and makes what is missing of it if asked to.
func (u *update) enter(dir string, mkdirs bool) (folder, error) {
	d, err := u.at.zone.tree.folder(dir)
	if err == nil || !mkdirs || !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if d, err = u.at.zone.tree.folder("."); err != nil {
		return nil, err
	}
	elems, err := split(dir)
	done := "."
	for i := 0; err == nil && i < len(elems); i++ {
		var next folder
		next, err = d.enter(elems[i])
		done = join(done, elems[i])
		if errors.Is(err, fs.ErrNotExist) {
			if err = d.mkdir(elems[i]); err == nil {
				u.change.Folders = append(u.change.Folders, place{zone: u.at.zone, path: done}.name())
			}
			if err == nil || errors.Is(err, fs.ErrExist) {
				next, err = d.enter(elems[i])
			}
		}
		if err == nil {
			_ = d.close()
			d = next
		}
	}
	if err != nil {
		_ = d.close()
		return nil, err
	}
	return d, nil
}

// undoFolders removes the folders that were made for a file which then could
// not be written. Somebody else may use them by now: then they stay.
func (u *update) undoFolders() {
	made := len(u.change.Folders)
	for dir := u.at.path; made > 0; made-- {
		dir, _ = parent(dir)
		up, leaf := parent(dir)
		d, err := u.at.zone.tree.folder(up)
		if err != nil {
			return
		}
		err = d.rmdir(leaf)
		_ = d.close()
		if err != nil {
			return
		}
	}
}

func (u *update) end() {
	if u.dir != nil {
		_ = u.dir.close()
	}
	if u.release != nil {
		u.release()
	}
}

// read reads the file that the turn is about.
func (u *update) read(ctx context.Context) (File, error) {
	if !u.exists {
		return File{}, fs.ErrNotExist
	}
	for range steadyTries {
		if err := ctx.Err(); err != nil {
			return File{}, err
		}
		f, err := u.dir.open(u.leaf)
		if err != nil {
			return File{}, err
		}
		n, err := nodeOf(f)
		var data []byte
		var after node
		if err == nil && !n.mode.IsRegular() {
			err = notRegular(u.name, n.mode)
		}
		if err == nil {
			data, after, err = readSteady(f, n, MaxEdit)
		}
		_ = f.Close()
		switch {
		case errors.Is(err, ErrTooLarge):
			return File{}, failed(ErrTooLarge, "%s has %d bytes; a file of more than %d is not edited", tool.Clip(u.name), n.version.Size, MaxEdit)
		case err != nil:
			return File{}, err
		case after.version == n.version:
			u.old, u.change.Before = n, n.version
			return File{Rel: u.at.name(), Data: data, Version: n.version, Mode: n.mode}, nil
		}
	}
	return File{}, failed(ErrUnsteady, "%s is being written to right now; try again", tool.Clip(u.name))
}

// mayWrite refuses a file that the user has closed for writing. Replacing it
// would be possible wherever its folder can be written.
func (u *update) mayWrite() error {
	if u.old.mode.Perm()&0o222 == 0 {
		return failed(syscall.EACCES, "%s is marked read-only (mode %04o) and was left as it is", tool.Clip(u.name), u.old.mode.Perm())
	}
	err := u.dir.mayWrite(u.leaf)
	if errors.Is(err, fs.ErrPermission) {
		return failed(err, "%s may not be written by this process: %v", tool.Clip(u.name), bare(err))
	}
	return nil
}
