package walk

import (
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openNative returns the folder that dir is, with a descriptor of its own.
func openNative(dir *os.File) (folder, error) {
	fd, err := openAt(int(dir.Fd()), withNUL("."), unix.O_DIRECTORY)
	runtime.KeepAlive(dir)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir.Name(), Err: err}
	}
	return rawFolder(fd), nil
}

// rawFolder is the descriptor of an open folder.
type rawFolder int

// openAt opens a name beneath a folder. It is openat(2) without the copy of
// the name that the syscall package makes, which would be the only
// allocation for a file.
func openAt(dir int, name []byte, flags int) (int, error) {
	// NONBLOCK keeps the opening of a pipe without writers from waiting; for
	// files and folders it means nothing.
	flags |= unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	name = name[:len(name)+1]
	for {
		fd, _, errno := syscall.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(&name[0])), uintptr(flags), 0, 0, 0)
		if errno == 0 {
			return int(fd), nil
		}
		if errno != syscall.EINTR {
			return -1, errno
		}
	}
}

func (d rawFolder) folder(name []byte) (folder, error) {
	fd, err := openAt(int(d), name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return rawFolder(fd), nil
}

func (d rawFolder) open(name []byte, f *file) error {
	fd, err := openAt(int(d), name, 0)
	if err != nil {
		return err
	}
	f.fd, f.isOpen = fd, true
	return nil
}

func (d rawFolder) close() error { return unix.Close(int(d)) }

func (d rawFolder) list(l *listing) error {
	l.entries = l.entries[:0]
	n := 0
	// A second call tells whether that was all, and where the folder is
	// small both fit into the buffer.
	for calls := 0; calls < 2; calls++ {
		got, err := getdents(int(d), l.buf[n:])
		if err != nil {
			return err
		}
		if got == 0 {
			l.entries = parseDirents(l.buf[:n], l.entries)
			return io.EOF
		}
		if n += got; n > listingSize {
			break
		}
	}
	l.entries = parseDirents(l.buf[:n], l.entries)
	return nil
}

func getdents(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Getdents(fd, buf)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// parseDirents appends the entries that getdents64 wrote to buf: inode and
// offset (8 bytes each), length of the entry (2), kind (1), and the name
// with a NUL behind it.
func parseDirents(buf []byte, entries []listed) []listed {
	const lengthAt, kindAt, nameAt = 16, 18, 19
	for len(buf) >= nameAt {
		length := int(binary.NativeEndian.Uint16(buf[lengthAt:]))
		if length < nameAt || length > len(buf) {
			break
		}
		name := buf[nameAt:length]
		for i, c := range name {
			if c == 0 {
				name = name[:i]
				break
			}
		}
		if string(name) != "." && string(name) != ".." {
			entries = append(entries, listed{name: name, kind: direntKind(buf[kindAt])})
		}
		buf = buf[length:]
	}
	return entries
}

func direntKind(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return File
	case unix.DT_DIR:
		return Dir
	case unix.DT_LNK:
		return Link
	case unix.DT_UNKNOWN:
		return Unknown
	}
	return Special
}

func (d rawFolder) stat(name []byte) (Info, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(int(d), string(name), &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			return Info{
				Kind: modeKind(st.Mode), Mode: fileMode(st.Mode), Size: st.Size, ModTime: time.Unix(st.Mtim.Unix()),
				Inode: st.Ino, Changed: st.Ctim.Nano(),
			}, nil
		}
		if err != unix.EINTR {
			return Info{}, err
		}
	}
}

// fileMode is the type of a file, as far as [Kind] tells it, and its rights.
func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	switch modeKind(mode) {
	case Dir:
		m |= fs.ModeDir
	case Link:
		m |= fs.ModeSymlink
	case Special:
		m |= fs.ModeIrregular
	}
	return m
}

func modeKind(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return File
	case unix.S_IFDIR:
		return Dir
	case unix.S_IFLNK:
		return Link
	}
	return Special
}

func (d rawFolder) readlink(name []byte) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(d), string(name), buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// read reads from the descriptor.
func (f *file) read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, err := unix.Read(f.fd, b)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (f *file) close() error { return unix.Close(f.fd) }
