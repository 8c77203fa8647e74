package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// put writes data under a temporary name, flushes it and gives it the name
// of the file. strict says that a file which is no longer the one that was
// looked at must stay.
func (u *update) put(ctx context.Context, data []byte, strict bool) (err error) {
	perm := fs.FileMode(0o666) // the umask of the process takes its part
	if u.exists {
		if err := u.mayWrite(); err != nil {
			return err
		}
		perm = 0o600 // until the file's own mode is set
	}
	temp := tempName()
	f, err := u.dir.create(temp, perm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = u.dir.remove(temp)
		}
	}()
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := u.fill(f, data); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := u.swap(temp, strict); err != nil {
		return err
	}
	// The rename itself is not flushed: after a power cut the old file or
	// the new one is there, whole, and a second flush would double the cost.
	n, err := nodeOf(f)
	u.change.After, u.change.Created = n.version, !u.exists
	return err
}

// fill writes the content and what is kept of the old file.
func (u *update) fill(f *os.File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if u.exists {
		if err := u.keepAttributes(f); err != nil {
			return err
		}
	}
	return f.Sync()
}

// keepAttributes gives the new file the old one's owner, mode and extended
// attributes, in this order: a change of owner clears bits of the mode, and
// the mode would overwrite an access control list.
func (u *update) keepAttributes(f *os.File) error {
	perm := u.old.mode.Perm()
	if !keepOwner(f, u.old) {
		perm = perm&^0o070 | perm&0o007<<3&perm
	}
	if err := f.Chmod(perm | u.old.mode&fs.ModeSticky); err != nil {
		return err
	}
	// A file that may be written and not read has attributes that only the
	// system can copy.
	if old, err := u.dir.open(u.leaf); err == nil {
		defer func() { _ = old.Close() }()
		copyXattrs(old, f)
	}
	return nil
}

// swap gives the temporary file its name.
func (u *update) swap(temp string, strict bool) error {
	if !u.exists {
		err := u.dir.place(temp, u.leaf)
		if errors.Is(err, fs.ErrExist) {
			return changedSince(u.name)
		}
		return err
	}
	now, err := u.dir.look(u.leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !strict:
	case errors.Is(err, fs.ErrNotExist):
		return changedSince(u.name)
	case err != nil:
		return err
	case !now.mode.IsRegular():
		return notRegular(u.name, now.mode)
	case strict && now.version != u.old.version:
		return changedSince(u.name)
	}
	return u.dir.replace(temp, u.leaf)
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
