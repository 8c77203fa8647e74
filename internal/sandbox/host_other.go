//go:build !unix

package sandbox

import (
	"errors"
	"os"
)

// Supported says that commands can be run on this system: they cannot. It has
// no signals and no sessions, on which everything here rests.
const Supported = false

// hostProc is never made here.
type hostProc struct{ Proc }

func startHost(Spec, Policy, func() error, func(*hostProc)) (*hostProc, error) {
	return nil, errors.ErrUnsupported
}

// inMemory is for bubblewrap, which is for Linux.
func inMemory([]byte) (*os.File, error) { return nil, errors.ErrUnsupported }
