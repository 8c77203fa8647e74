//go:build unix && !linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed at a terminal and not yet read.
func flushInput(tty *os.File) {
	const read = 1 // FREAD, for the input queue
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCFLUSH, read)
}
