//go:build unix

package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A Dir is an open directory that only its owner can look into. Files in it
// are reached by descriptor and never through a link.
type Dir struct {
	path string
	file *os.File
}

// Open opens the state directory and makes it where it is missing.
// It refuses one that somebody else owns or could exchange, and takes away
// what rights others have on one that is ours.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(path)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	if err := checkParent(parent); err != nil {
		return nil, err
	}
	return openDir(unix.AT_FDCWD, path, path)
}

// checkParent refuses a directory in which somebody else could put another
// state directory in the place of ours.
func checkParent(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&0o002 != 0 && st.Mode&unix.S_ISVTX == 0 {
		return fmt.Errorf("%s can be written to by others, who could exchange what is in it", path)
	}
	if st.Uid != 0 && !isOwn(&st) {
		return fmt.Errorf("%s belongs to user %d, who could exchange what is in it", path, st.Uid)
	}
	return nil
}

func isOwn(st *unix.Stat_t) bool { return int(st.Uid) == os.Geteuid() }

// Sub opens a directory inside of d, and makes it where it is missing.
func (d *Dir) Sub(name string) (*Dir, error) {
	return openDir(int(d.file.Fd()), name, filepath.Join(d.path, name))
}

func openDir(at int, name, path string) (*Dir, error) {
	if err := unix.Mkdirat(at, name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil, fmt.Errorf("%s is a symbolic link", path)
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	d := &Dir{path: path, file: os.NewFile(uintptr(fd), path)}
	if err := d.secure(d.file, 0o700); err != nil {
		_ = d.file.Close()
		return nil, err
	}
	return d, nil
}

// retry repeats a system call that a signal has interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		fd, err := call()
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// secure makes sure that f is ours and that only we have rights on it.
func (d *Dir) secure(f *os.File, mode uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	if !isOwn(&st) {
		return fmt.Errorf("%s belongs to user %d and not to us (%d)", f.Name(), st.Uid, os.Geteuid())
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFDIR {
		return fmt.Errorf("%s is neither a file nor a directory", f.Name())
	}
	if uint32(st.Mode)&0o7777&^mode != 0 {
		if err := unix.Fchmod(int(f.Fd()), mode); err != nil {
			return &fs.PathError{Op: "chmod", Path: f.Name(), Err: err}
		}
	}
	return nil
}

// OpenFile opens a file in d, which must be ours and no link. With os.O_CREATE a
// missing one is made.
func (d *Dir) OpenFile(name string, flag int) (*os.File, error) {
	path := filepath.Join(d.path, name)
	fd, err := retry(func() (int, error) {
		return unix.Openat(int(d.file.Fd()), name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	if err := d.secure(f, 0o600); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Remove removes a file of d.
func (d *Dir) Remove(name string) error {
	if err := unix.Unlinkat(int(d.file.Fd()), name, 0); err != nil {
		return &fs.PathError{Op: "remove", Path: filepath.Join(d.path, name), Err: err}
	}
	return nil
}

// Rename gives a file of d another name in it, over what has it already.
func (d *Dir) Rename(from, to string) error {
	fd := int(d.file.Fd())
	if err := unix.Renameat(fd, from, fd, to); err != nil {
		return &fs.PathError{Op: "rename", Path: filepath.Join(d.path, to), Err: err}
	}
	return nil
}

// Touch sets the file's times to now.
func (d *Dir) Touch(name string) error {
	now, err := unix.TimeToTimespec(time.Now())
	if err == nil {
		err = unix.UtimesNanoAt(int(d.file.Fd()), name, []unix.Timespec{now, now}, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return &fs.PathError{Op: "utimes", Path: filepath.Join(d.path, name), Err: err}
	}
	return nil
}

// Names lists what is in d, in no order.
func (d *Dir) Names() ([]string, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(int(d.file.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: d.path, Err: err}
	}
	f := os.NewFile(uintptr(fd), d.path)
	defer func() { _ = f.Close() }()
	return f.Readdirnames(-1)
}

// Close gives the folder back. Files opened in it stay open.
func (d *Dir) Close() error { return d.file.Close() }

// Lock takes an advisory lock on f, which ends when f is closed or the
// process ends. It reports false where wait is not set and another holds it.
func Lock(f *os.File, shared, wait bool) (bool, error) {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	if !wait {
		how |= unix.LOCK_NB
	}
	_, err := retry(func() (int, error) { return 0, unix.Flock(int(f.Fd()), how) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return true, nil
}

// RemoveDir removes an empty folder inside of d.
func (d *Dir) RemoveDir(name string) error {
	if err := unix.Unlinkat(int(d.file.Fd()), name, unix.AT_REMOVEDIR); err != nil {
		return &fs.PathError{Op: "rmdir", Path: filepath.Join(d.path, name), Err: err}
	}
	return nil
}

// IsRemoved reports whether an open file no longer has a name.
func IsRemoved(f *os.File) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return false, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return st.Nlink == 0, nil
}

// Path returns the absolute path of the folder.
func (d *Dir) Path() string { return d.path }
