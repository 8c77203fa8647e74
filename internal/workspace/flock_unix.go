//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"os"
	"syscall"
)

// tryFlock takes the exclusive lock of an open folder without waiting. It
// answers false where the file system does not lock (NFS asks for a
// descriptor that was opened for writing, which no folder has).
func tryFlock(f *os.File) (bool, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var locked error
	err = raw.Control(func(fd uintptr) {
		for {
			locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
			if !errors.Is(locked, syscall.EINTR) {
				return
			}
		}
	})
	switch {
	case err != nil:
		return false, err
	case locked == nil:
		return true, nil
	case errors.Is(locked, syscall.EWOULDBLOCK):
		return false, errLocked
	default:
		return false, nil
	}
}
