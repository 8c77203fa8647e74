package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// A Dir is an open directory. Who may look into it is what the folder that it
// was made in hands down: below a user's profile, that is the user, the
// system and its administrators. Owner and rights are not checked here.
type Dir struct {
	path string
	root *os.Root
}

// Open opens the state directory and makes it where it is missing.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a link, or not a directory", path)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{path, root}, nil
}

// Sub opens a directory inside of d, and makes it where it is missing.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := d.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a link, or not a directory", filepath.Join(d.path, name))
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Dir{filepath.Join(d.path, name), root}, nil
}

// OpenFile opens a file in d, which must not be a link. With os.O_CREATE a
// missing one is made.
func (d *Dir) OpenFile(name string, flag int) (*os.File, error) {
	f, err := d.root.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = d.root.Lstat(name); err == nil && (!there.Mode().IsRegular() || !os.SameFile(opened, there)) {
			err = fmt.Errorf("%s is a link, or not a file", f.Name())
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Remove removes a file of d.
func (d *Dir) Remove(name string) error { return d.root.Remove(name) }

// Rename gives a file of d another name in it, over what has it already.
func (d *Dir) Rename(from, to string) error { return d.root.Rename(from, to) }

// Touch sets the file's times to now.
func (d *Dir) Touch(name string) error {
	now := time.Now()
	return d.root.Chtimes(name, now, now)
}

// Names lists what is in d, in no order.
func (d *Dir) Names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.Readdirnames(-1)
}

// Close gives the folder back. Files opened in it stay open.
func (d *Dir) Close() error { return d.root.Close() }

// Lock takes a lock on f, which ends when f is closed or the process ends. It
// reports false where wait is not set and another holds it. Locked bytes
// cannot be read by others here, so a byte far beyond the end stands for the
// file.
func Lock(f *os.File, shared, wait bool) (bool, error) {
	how := uint32(0)
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	if err != nil {
		return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return true, nil
}

// RemoveDir removes an empty folder inside of d.
func (d *Dir) RemoveDir(name string) error { return d.root.Remove(name) }

// IsRemoved reports whether an open file no longer has a name. Such a file
// cannot be opened here, so one that is open has its name.
func IsRemoved(*os.File) (bool, error) { return false, nil }

// Path returns the absolute path of the folder.
func (d *Dir) Path() string { return d.path }
