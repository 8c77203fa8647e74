package workspace

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// newTree opens a folder. Where the kernel or a seccomp filter does not
// grant openat2 (Linux before 5.6, older container runtimes), the portable
// tree does the same work in more system calls.
func newTree(dir string) (tree, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	probe, err := openBeneath(fd, ".", unix.O_PATH, 0)
	if err != nil {
		_ = unix.Close(fd)
		return newRootTree(dir)
	}
	_ = unix.Close(probe)
	return &linuxTree{fd: fd}, nil
}

// maxAgain bounds the retries of openat2. It answers EAGAIN when a rename or
// mount anywhere on the machine raced with the look-up; in a race of two
// threads a handful of tries was always enough.
const maxAgain = 256

// openBeneath opens path beneath the folder fd, through no symbolic link.
func openBeneath(fd int, path string, flags int, perm uint32) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Mode:    uint64(perm),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS,
	}
	for try := 0; ; try++ {
		got, err := unix.Openat2(fd, path, &how)
		switch {
		case err == nil:
			return got, nil
		case (err == unix.EAGAIN || err == unix.EINTR) && try < maxAgain:
		case err == unix.ELOOP:
			return -1, errLink
		default:
			return -1, err
		}
	}
}

const (
	readFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_NOFOLLOW
	lookFlags = unix.O_PATH | unix.O_NOFOLLOW
)

// linuxTree holds a descriptor of its folder. The lock keeps the descriptor
// open while a call uses it: its number might belong to another file after
// close.
type linuxTree struct {
	mu sync.RWMutex
	fd int // -1 once closed
}

func (t *linuxTree) openFd(path string, flags int) (int, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.fd < 0 {
		return -1, fs.ErrClosed
	}
	return openBeneath(t.fd, path, flags, 0)
}

func (t *linuxTree) open(path string) (*os.File, error) {
	fd, err := t.openFd(path, readFlags)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

func (t *linuxTree) look(path string) (node, error) {
	fd, err := t.openFd(path, lookFlags)
	if err != nil {
		return node{}, err
	}
	defer closeFd(fd)
	return lookFd(fd)
}

func (t *linuxTree) readlink(path string) (string, error) {
	fd, err := t.openFd(path, lookFlags)
	if err != nil {
		return "", err
	}
	defer closeFd(fd)
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func (t *linuxTree) folder(path string) (folder, error) {
	fd, err := t.openFd(path, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return newLinuxFolder(fd), nil
}

func (t *linuxTree) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fd < 0 {
		return nil
	}
	err := unix.Close(t.fd)
	t.fd = -1
	return err
}

// linuxFolder is used by one goroutine at a time.
type linuxFolder struct {
	fd       int
	readable *os.File
}

func newLinuxFolder(fd int) *linuxFolder {
	d := &linuxFolder{fd: fd}
	// The descriptor of an O_PATH open cannot be locked or listed; a second
	// one can, if the folder may be read.
	if r, err := openBeneath(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0); err == nil {
		d.readable = os.NewFile(uintptr(r), "folder")
	}
	return d
}

func (d *linuxFolder) handle() *os.File { return d.readable }

func (d *linuxFolder) look(name string) (node, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return node{}, err
	}
	return nodeFromStat(&st), nil
}

func (d *linuxFolder) open(name string) (*os.File, error) {
	fd, err := openBeneath(d.fd, name, readFlags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *linuxFolder) create(name string, perm fs.FileMode) (*os.File, error) {
	flags := unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	fd, err := openBeneath(d.fd, name, flags, uint32(perm.Perm()))
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *linuxFolder) mkdir(name string) error { return unix.Mkdirat(d.fd, name, 0o777) }

func (d *linuxFolder) enter(name string) (folder, error) {
	fd, err := openBeneath(d.fd, name, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return newLinuxFolder(fd), nil
}

func (d *linuxFolder) rename(from string, to folder, as string, over bool) error {
	dst, ok := to.(*linuxFolder)
	if !ok {
		return unix.EXDEV
	}
	if over {
		return unix.Renameat(d.fd, from, dst.fd, as)
	}
	err := unix.Renameat2(d.fd, from, dst.fd, as, unix.RENAME_NOREPLACE)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// The file system does not know the flag (NFS, some FUSE).
	return renameByLink(d, from, dst, as, func() error { return unix.Renameat(d.fd, from, dst.fd, as) })
}

func (d *linuxFolder) link(from string, to folder, as string) error {
	dst, ok := to.(*linuxFolder)
	if !ok {
		return unix.EXDEV
	}
	return unix.Linkat(d.fd, from, dst.fd, as, 0)
}

func (d *linuxFolder) symlink(target, name string) error { return unix.Symlinkat(target, d.fd, name) }

func (d *linuxFolder) readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func (d *linuxFolder) remove(name string) error { return unix.Unlinkat(d.fd, name, 0) }

func (d *linuxFolder) rmdir(name string) error {
	return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR)
}

func (d *linuxFolder) mayWrite(name string) error {
	fd, err := openBeneath(d.fd, name, readFlags&^unix.O_RDONLY|unix.O_WRONLY, 0)
	if err != nil {
		return err
	}
	closeFd(fd)
	return nil
}

func (d *linuxFolder) close() error {
	if d.readable != nil {
		_ = d.readable.Close()
	}
	return unix.Close(d.fd)
}

// lookFd describes an open descriptor.
func lookFd(fd int) (node, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return node{}, err
	}
	return nodeFromStat(&st), nil
}

// closeFd closes a descriptor that was only read; its error says nothing
// that the caller could act on.
func closeFd(fd int) { _ = unix.Close(fd) }

var (
	_ tree   = (*linuxTree)(nil)
	_ folder = (*linuxFolder)(nil)
)
