package workspace

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// rootTree is the tree for every system that Go knows. [os.Root] follows
// symbolic links inside its folder, which is more than a tree may do, so
// each step is made on its own and then compared with the name that it was
// made through: the name must still be there, be no link, and be the very
// file that was opened.
type rootTree struct {
	root *os.Root
}

func newRootTree(dir string) (tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &rootTree{root: root}, nil
}

// walk opens the folder at p, one verified step after the other.
func (t *rootTree) walk(p string) (*rootFolder, error) {
	root, err := t.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	d := &rootFolder{root: root}
	if p == "." {
		return d, nil
	}
	for name := range strings.SplitSeq(p, "/") {
		next, err := d.step(name)
		_ = d.close()
		if err != nil {
			return nil, err
		}
		d = next
	}
	return d, nil
}

func (t *rootTree) open(p string) (*os.File, error) {
	if p == "." {
		return t.root.Open(".")
	}
	dir, leaf := parent(p)
	d, err := t.walk(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.close() }()
	return d.open(leaf)
}

func (t *rootTree) look(p string) (node, error) {
	dir, leaf := parent(p)
	if p == "." {
		dir, leaf = ".", "."
	}
	d, err := t.walk(dir)
	if err != nil {
		return node{}, err
	}
	defer func() { _ = d.close() }()
	return d.look(leaf)
}

func (t *rootTree) readlink(p string) (string, error) {
	dir, leaf := parent(p)
	d, err := t.walk(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = d.close() }()
	return d.root.Readlink(leaf)
}

func (t *rootTree) folder(p string) (folder, error) {
	d, err := t.walk(p)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (t *rootTree) close() error { return t.root.Close() }

// rootFolder is used by one goroutine at a time.
type rootFolder struct {
	root     *os.Root
	readable *os.File
}

func (d *rootFolder) step(name string) (*rootFolder, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !before.IsDir():
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	sub, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := sub.Stat(".")
	if err == nil {
		err = d.still(name, opened)
	}
	if err != nil {
		_ = sub.Close()
		return nil, err
	}
	return &rootFolder{root: sub}, nil
}

// still checks that name is the file that was opened through it.
func (d *rootFolder) still(name string, opened fs.FileInfo) error {
	after, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if after.Mode()&fs.ModeSymlink != 0 || !os.SameFile(after, opened) {
		return errLink
	}
	return nil
}

func (d *rootFolder) handle() *os.File {
	if d.readable == nil {
		// An unreadable folder leaves nil, which callers know.
		d.readable, _ = d.root.Open(".")
	}
	return d.readable
}

func (d *rootFolder) look(name string) (node, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return node{}, err
	}
	return nodeFromInfo(info), nil
}

func (d *rootFolder) open(name string) (*os.File, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		err = d.still(name, opened)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (d *rootFolder) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm.Perm())
}

func (d *rootFolder) mkdir(name string) error { return d.root.Mkdir(name, 0o777) }

func (d *rootFolder) enter(name string) (folder, error) {
	next, err := d.step(name)
	if err != nil {
		return nil, err
	}
	return next, nil
}

func (d *rootFolder) rename(from string, to folder, as string, over bool) error {
	dst, ok := to.(*rootFolder)
	switch {
	case !ok:
		return syscall.EXDEV
	case over && d == dst:
		return d.root.Rename(from, as)
	case over:
		return d.across(dst, func() error { return renameAt(d.handle(), from, dst.handle(), as) })
	}
	return renameByLink(d, from, dst, as, func() error { return d.rename(from, dst, as, true) })
}

func (d *rootFolder) link(from string, to folder, as string) error {
	dst, ok := to.(*rootFolder)
	switch {
	case !ok:
		return syscall.EXDEV
	case d == dst:
		return d.root.Link(from, as)
	default:
		return d.across(dst, func() error { return linkAt(d.handle(), from, dst.handle(), as) })
	}
}

// across does something between two folders, which needs a descriptor of
// each.
func (d *rootFolder) across(dst *rootFolder, do func() error) error {
	if d.handle() == nil || dst.handle() == nil {
		return &fs.PathError{Op: "open", Path: ".", Err: fs.ErrPermission}
	}
	return do()
}

func (d *rootFolder) symlink(target, name string) error { return d.root.Symlink(target, name) }

func (d *rootFolder) readlink(name string) (string, error) { return d.root.Readlink(name) }

func (d *rootFolder) remove(name string) error { return d.root.Remove(name) }

func (d *rootFolder) rmdir(name string) error { return d.root.Remove(name) }

func (d *rootFolder) mayWrite(name string) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *rootFolder) close() error {
	if d.readable != nil {
		_ = d.readable.Close()
	}
	return d.root.Close()
}

var (
	_ tree   = (*rootTree)(nil)
	_ folder = (*rootFolder)(nil)
)
