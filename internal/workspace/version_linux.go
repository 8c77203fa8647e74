package workspace

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// sysNode adds what Linux knows beyond [fs.FileInfo].
func sysNode(n *node, info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	n.version.Dev, n.version.Inode = st.Dev, st.Ino
	n.version.Changed = st.Ctim.Nano()
	n.links = uint64(st.Nlink)
	n.uid, n.gid = int(st.Uid), int(st.Gid)
}

// nodeFromStat is nodeFromInfo without the allocations.
func nodeFromStat(st *unix.Stat_t) node {
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	default:
		mode |= fs.ModeIrregular
	}
	if st.Mode&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return node{
		mode: mode,
		version: Version{
			Dev: st.Dev, Inode: st.Ino, Size: st.Size,
			Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano(),
		},
		links: uint64(st.Nlink),
		uid:   int(st.Uid),
		gid:   int(st.Gid),
	}
}
