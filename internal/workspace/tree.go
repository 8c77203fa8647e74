package workspace

import (
	"errors"
	"io/fs"
	"os"
)

// A tree is one open folder and all that is beneath it. Paths are clean,
// relative and slash-separated; "." is the folder itself. A tree never
// follows a symbolic link: a path that has one anywhere, its last element
// included, fails with errLink. All methods may be called from several
// goroutines at once.
type tree interface {
	// open opens what is there for reading. It never waits for the other
	// end of a pipe; the caller checks what it got.
	open(path string) (*os.File, error)
	// look describes what is at path. A symbolic link as the last element
	// is described, not refused.
	look(path string) (node, error)
	// readlink returns the target of the symbolic link at path.
	readlink(path string) (string, error)
	// folder opens the folder at path for work on its entries.
	folder(path string) (folder, error)
	close() error
}

// A folder is one open folder. Names are single elements; no method follows
// a symbolic link.
type folder interface {
	// handle is a descriptor of the folder for locking, listing and
	// flushing, or nil where the folder may not be read. The folder owns it.
	handle() *os.File
	look(name string) (node, error)
	// open opens an entry for reading, as tree.open does.
	open(name string) (*os.File, error)
	// create makes a new file for writing and fails if the name is taken.
	create(name string, perm fs.FileMode) (*os.File, error)
	mkdir(name string) error
	enter(name string) (folder, error)
	// rename moves an entry to another folder of the same kind of tree, or to
	// another name in this one. If the name is taken it fails with
	// fs.ErrExist, or with over replaces what is there. What lies on another
	// disk fails with syscall.EXDEV.
	rename(from string, to folder, as string, over bool) error
	// link gives a file or a symbolic link a second name in a folder of the
	// same kind of tree. Not every file system can.
	link(from string, to folder, as string) error
	// symlink makes a symbolic link and fails if the name is taken.
	symlink(target, name string) error
	readlink(name string) (string, error)
	remove(name string) error
	rmdir(name string) error
	// mayWrite reports what opening an existing file for writing says. The
	// file is not touched.
	mayWrite(name string) error
	close() error
}

// A node describes a file.
type node struct {
	mode     fs.FileMode
	version  Version
	links    uint64
	uid, gid int
}

func (n node) isLink() bool { return n.mode&fs.ModeSymlink != 0 }

// renameByLink renames without replacing where the system cannot do it in
// one step: a hard link fails just as surely if the name is taken. What
// cannot be linked (a folder, a file of another user, all of some file
// systems) is renamed after a look, and then a folder still replaces nothing
// but an empty folder.
func renameByLink(d folder, from string, to folder, as string, rename func() error) error {
	err := d.link(from, to, as)
	switch {
	case err == nil:
		return d.remove(from)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := to.look(as); err == nil {
		return fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return rename()
}
