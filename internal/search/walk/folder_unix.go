//go:build unix

package walk

import "syscall"

// openFlags keep the opening of a pipe from waiting.
const openFlags = syscall.O_NONBLOCK
