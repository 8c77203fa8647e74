package doctor

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
)

// reason returns the last cause of err, without the call that failed: the
// fact already says what was asked.
func reason(err error) string {
	var (
		path    *fs.PathError
		program *exec.Error
		call    *os.SyscallError
	)
	switch {
	case errors.As(err, &path):
		return path.Path + ": " + path.Err.Error()
	case errors.As(err, &program):
		return program.Err.Error()
	case errors.As(err, &call):
		return call.Err.Error()
	default:
		return err.Error()
	}
}
