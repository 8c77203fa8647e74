//go:build unix

package main

import (
	"io"
	"os"
	"syscall"
)

// pollable returns a stream that waits for its other side in the runtime's
// poller instead of in a system call, if that side is a pipe or a socket; any
// other stream comes back as it is. A thread that waits in a system call has
// to hand its work to another thread, which costs every message of a client a
// wake-up. restore sets the descriptor back, since it may be shared.
func pollable(in io.Reader) (stream io.Reader, restore func()) {
	f, ok := in.(*os.File)
	if !ok {
		return in, func() {}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return in, func() {}
	}
	fd := int(f.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		return in, func() {}
	}
	return os.NewFile(uintptr(fd), f.Name()), func() { _ = syscall.SetNonblock(fd, false) }
}
