package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// flushInput drops what was typed at a terminal and not yet read.
func flushInput(tty *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(tty.Fd()))
}
