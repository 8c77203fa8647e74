//go:build !linux

package walk

import "os"

func openNative(dir *os.File) (folder, error) { return openRoot(dir) }

// Only folders of Linux open files by descriptor.

func (f *file) read([]byte) (int, error) { return 0, os.ErrInvalid }

func (f *file) close() error { return os.ErrInvalid }
