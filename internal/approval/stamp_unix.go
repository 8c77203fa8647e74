//go:build unix

package approval

import (
	"io/fs"
	"syscall"
)

// fileID tells a file from another that has taken its name.
func fileID(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Ino)
	}
	return 0
}
