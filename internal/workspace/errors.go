package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/handrail-tools/handrail/tool"
)

// The causes that a caller tells apart with [errors.Is]. What is missing or
// exists already is reported as [fs.ErrNotExist] and [fs.ErrExist].
var (
	// ErrOutside: the name leads out of every folder that is open.
	ErrOutside = errors.New("outside the workspace")
	// ErrProtected: a rule refuses to write there.
	ErrProtected = errors.New("protected from writing")
	// ErrUnreadable: a rule refuses to read there.
	ErrUnreadable = errors.New("not readable by rule")
	// ErrReadOnly: the workspace, or the folder, is read-only.
	ErrReadOnly = errors.New("read-only")
	// ErrNotGranted: the write grants of a child session do not cover it.
	ErrNotGranted = errors.New("not granted for writing")
	// ErrNotEmpty: a folder that would be removed holds something.
	ErrNotEmpty = errors.New("not empty")
	// ErrConflict: the steps of one change contradict each other.
	ErrConflict = errors.New("conflicting steps")
	// ErrChanged: the file is no longer the one that was expected.
	ErrChanged = errors.New("changed since")
	// ErrNotRegular: a folder, pipe, socket or device stands where a file is
	// wanted.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge: the file exceeds the limit of the read.
	ErrTooLarge = errors.New("too large")
	// ErrUnsteady: the file kept changing while it was read.
	ErrUnsteady = errors.New("changed while being read")
)

// errLink is what a tree answers for a path with a symbolic link in it. It
// never leaves this package: the link is resolved, or the call gives up.
var errLink = errors.New("symbolic link in the path")

// cause attaches a cause that is not part of the text.
func cause(e *tool.Error, err error) *tool.Error {
	e.Err = err
	return e
}

func denied(err error, format string, args ...any) *tool.Error {
	return cause(tool.Errorf(tool.CodeDenied, format, args...), err)
}

func failed(err error, format string, args ...any) *tool.Error {
	return cause(tool.Failf(format, args...), err)
}

func invalid(err error, format string, args ...any) *tool.Error {
	return cause(tool.Invalidf(format, args...), err)
}

// explain turns what the operating system said about name into a text for
// the model. doing is what was tried, for example "reading".
func explain(doing, name string, err error) error {
	var e *tool.Error
	if err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	shown := tool.Clip(name)
	switch {
	case errors.Is(err, errLink):
		return failed(err, "%s %s: a symbolic link in this path keeps changing; try again", doing, shown)
	case errors.Is(err, fs.ErrNotExist):
		return failed(err, "%s %s: no such file or folder", doing, shown)
	case errors.Is(err, syscall.ENOTDIR):
		return failed(err, "%s %s: a part of this path is a file, not a folder", doing, shown)
	case errors.Is(err, syscall.EISDIR):
		return failed(err, "%s %s: this is a folder, not a file", doing, shown)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return failed(err, "%s %s: the disk is full (%v); nothing was changed", doing, shown, bare(err))
	case errors.Is(err, syscall.EFBIG):
		return failed(err, "%s %s: larger than this file system or process may write; nothing was changed", doing, shown)
	case errors.Is(err, syscall.EROFS):
		return failed(err, "%s %s: the file system is read-only; nothing was changed", doing, shown)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return invalid(err, "%s %s: a name in this path is too long for the file system", doing, shown)
	case errors.Is(err, fs.ErrPermission):
		return failed(err, "%s %s: the operating system denies access", doing, shown)
	default:
		return failed(err, "%s %s: %v", doing, shown, bare(err))
	}
}

// bare drops the path that a [fs.PathError] repeats.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le interface{ Unwrap() error }
	if errors.As(err, &le) && strings.Contains(err.Error(), tempPrefix) {
		return le.Unwrap()
	}
	return err
}

// parent returns the folder of a clean relative path and its last element.
func parent(p string) (dir, leaf string) {
	dir, leaf = path.Split(p)
	if dir == "" {
		return ".", leaf
	}
	return dir[:len(dir)-1], leaf
}
