package workspace

import (
	"fmt"
	"io/fs"
	"os"
)

// Version tells one state of a file from another without reading it. Change
// time and inode are part of it because size and modification time can be
// forged (octos #2193). Two equal versions are the same bytes, as far as the
// file system's clock can tell. The zero value is no version at all.
type Version struct {
	// Dev and Inode name the file itself; both are 0 where the system has
	// no such numbers.
	Dev, Inode uint64
	// Size is in bytes.
	Size int64
	// Modified and Changed are in nanoseconds since 1970. Changed is 0
	// where the system does not keep it.
	Modified, Changed int64
}

// IsZero reports whether v is no version.
func (v Version) IsZero() bool { return v == Version{} }

// String is short enough for a log line.
func (v Version) String() string {
	return fmt.Sprintf("%d:%d/%d@%d/%d", v.Dev, v.Inode, v.Size, v.Modified, v.Changed)
}

// nodeOf describes an open file.
func nodeOf(f *os.File) (node, error) {
	info, err := f.Stat()
	if err != nil {
		return node{}, err
	}
	return nodeFromInfo(info), nil
}

// nodeFromInfo fills in what every system has; see sysNode for the rest.
func nodeFromInfo(info fs.FileInfo) node {
	n := node{mode: info.Mode(), links: 1, uid: -1, gid: -1}
	n.version.Size = info.Size()
	n.version.Modified = info.ModTime().UnixNano()
	sysNode(&n, info)
	return n
}
