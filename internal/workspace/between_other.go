//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package workspace

import (
	"os"
	"syscall"
)

// renameAt cannot rename between two open folders on this system; the
// caller copies instead.
func renameAt(*os.File, string, *os.File, string) error { return syscall.EXDEV }

// linkAt cannot link between two open folders on this system.
func linkAt(*os.File, string, *os.File, string) error { return syscall.EXDEV }
