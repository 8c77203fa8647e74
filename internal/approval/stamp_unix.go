//go:build unix

package approval

import (
	"io/fs"
	"syscall"
)

// fileID tells a file from another that has taken its name.
func fileID(info fs.FileInfo) any {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return [2]uint64{uint64(st.Dev), st.Ino}
	}
	return nil
}
