//go:build linux && (amd64 || arm64)

package boot

import (
	"syscall"
	"unsafe"
)

// openBare opens path without following any symbolic link on the way, so that
// a command that runs cannot lead a mask or a lock elsewhere.
func openBare(path string) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	how := [3]uint64{oPath | syscall.O_CLOEXEC | syscall.O_NOFOLLOW, 0, 0x04 /* RESOLVE_NO_SYMLINKS */}
	fd, _, e := syscall.Syscall6(437 /* openat2 */, ^uintptr(99), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// cloneFD clones the mount that fd lies in, from fd down.
func cloneFD(fd int) (int, error) {
	var empty byte
	tree, _, e := syscall.Syscall(sysOpenTree, uintptr(fd), uintptr(unsafe.Pointer(&empty)), openTreeClone|openTreeCloexec|atRecursive|atEmptyPath)
	if e != 0 {
		return -1, e
	}
	return int(tree), nil
}

// hide puts an empty thing over path, unless one lies there already.
func (m masks) hide(path string) error {
	to, err := openBare(path)
	if err == nil {
		syscall.Close(to)
		if err = m.pin(path); err == nil {
			to, err = openBare(path)
		}
	}
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	var st, file, folder syscall.Stat_t
	if err := syscall.Fstat(to, &st); err != nil {
		return err
	}
	if err := syscall.Fstat(m.file, &file); err != nil {
		return err
	}
	if err := syscall.Fstat(m.folder, &folder); err != nil {
		return err
	}
	if st.Dev == file.Dev && (st.Ino == file.Ino || st.Ino == folder.Ino) {
		return nil
	}
	mask := m.file
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		mask = m.folder
	}
	tree, err := cloneFD(mask)
	if err != nil {
		return wrap("cloning a mask", err)
	}
	defer syscall.Close(tree)
	if err := setAttr(tree, "", 0, attrReadOnly|attrNoSuid|attrNoDev); err != nil {
		return wrap("a read-only mask", err)
	}
	return mountFD(tree, to)
}

// pin makes each folder between a writable one and path a mount, so that none
// can be renamed away with what it hides: a mask would go with it, but whoever
// is outside of the fence knows what is hidden by its name.
func (m masks) pin(path string) error {
	root := ""
	for _, w := range m.writable {
		if below(path, w) && len(w) > len(root) {
			root = w
		}
	}
	if root == "" {
		return nil
	}
	return down(root, parentOf(path), func(path string, _ bool) (bool, error) { return lockOne(path, false) })
}

// lock makes path, which lies below root, read-only. Every folder between them
// becomes a mount as well, because a folder that is a mount cannot be renamed
// away with what it protects. A file where a folder should be is what is locked:
// with it goes everything that it could name.
func lock(root, path string) error { return down(root, path, lockOne) }

// down calls step with each path from below root to path, until it says that
// there is no further.
func down(root, path string, step func(path string, last bool) (bool, error)) error {
	for at := len(root); at < len(path); {
		at++
		for at < len(path) && path[at] != '/' {
			at++
		}
		last, err := step(path[:at], at == len(path))
		if err != nil || last {
			return err
		}
	}
	return nil
}

// lockOne makes path a mount, read-only when it is the last or no folder.
func lockOne(path string, last bool) (bool, error) {
	fd, err := openBare(path)
	if err != nil {
		return false, err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return false, err
	}
	last = last || st.Mode&syscall.S_IFMT != syscall.S_IFDIR
	if done, err := locked(fd, path, last); done || err != nil {
		return last, err
	}
	tree, err := cloneFD(fd)
	if err != nil {
		return false, wrap("taking "+path, err)
	}
	defer syscall.Close(tree)
	if last {
		if err := setAttr(tree, "", atRecursive, attrReadOnly|attrNoSuid|attrNoDev); err != nil {
			return false, wrap("read-only "+path, err)
		}
	}
	return last, wrap("mounting "+path, mountFD(tree, fd))
}

// locked says that path is a mount of its own already, and read-only if it is
// to be.
func locked(fd int, path string, readOnly bool) (bool, error) {
	var stx [256]byte
	var empty byte
	if _, _, e := syscall.Syscall6(sysStatx, uintptr(fd), uintptr(unsafe.Pointer(&empty)), atEmptyPath, 0, uintptr(unsafe.Pointer(&stx)), 0); e != 0 {
		return false, e
	}
	// stx_attributes is at 8; STATX_ATTR_MOUNT_ROOT says that a mount begins here.
	attributes := *(*uint64)(unsafe.Pointer(&stx[8]))
	if attributes&0x2000 == 0 {
		return false, nil
	}
	var fs syscall.Statfs_t
	if err := syscall.Fstatfs(fd, &fs); err != nil {
		return false, wrap(path, err)
	}
	return !readOnly || fs.Flags&1 /* ST_RDONLY */ != 0, nil
}
