package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed at a terminal and not yet read.
func flushInput(tty *os.File) {
	_ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
