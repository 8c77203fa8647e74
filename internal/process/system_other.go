//go:build !unix

package process

import (
	"errors"
	"syscall"
)

// No command runs here (sandbox.Supported), so that these are never used.
const resume = syscall.SIGTERM

func readNow(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
