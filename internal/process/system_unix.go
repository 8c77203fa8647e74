//go:build unix

package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// resume is the signal that lets a stopped process go on.
const resume = syscall.SIGCONT

// readNow reads from a descriptor that does not block.
func readNow(fd uintptr, b []byte) (int, error) { return unix.Read(int(fd), b) }
