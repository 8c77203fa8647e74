//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameAt renames an entry of one open folder to one of another, and
// replaces what is there.
func renameAt(from *os.File, name string, to *os.File, as string) error {
	return withBoth(from, to, func(a, b int) error { return unix.Renameat(a, name, b, as) })
}

// linkAt gives an entry of one open folder a second name in another.
func linkAt(from *os.File, name string, to *os.File, as string) error {
	return withBoth(from, to, func(a, b int) error { return unix.Linkat(a, name, b, as, 0) })
}

// withBoth keeps two files open while do uses their descriptors.
func withBoth(from, to *os.File, do func(from, to int) error) error {
	a, err := from.SyscallConn()
	if err != nil {
		return err
	}
	b, err := to.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = a.Control(func(x uintptr) {
		if e := b.Control(func(y uintptr) { inner = do(int(x), int(y)) }); e != nil {
			inner = e
		}
	})
	if err != nil {
		return err
	}
	return inner
}
