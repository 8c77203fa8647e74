package workspace

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// Rel brings a path as a model writes it (relative, "./x", absolute inside
// the root, with a trailing slash) to the one spelling that the workspace
// uses: clean, with slashes, relative to the root, "." for the root itself.
// A path in a granted folder becomes absolute. Symbolic links in it are kept
// as they are; see [Workspace.Resolve]. Everything else is refused with a
// [*tool.Error] that says what is right.
func (w *Workspace) Rel(name string) (string, error) {
	at, err := w.locate(name)
	if err != nil {
		return "", err
	}
	return at.name(), nil
}

// Unreadable reports whether a rule keeps rel, a path as [Workspace.Rel] and
// listings spell it, from being read or shown. It looks at the name alone.
func (w *Workspace) Unreadable(rel string) bool {
	at := settle(place{zone: w.zones[0], path: rel})
	if filepath.IsAbs(rel) {
		z, rest := w.zoneOf(filepath.ToSlash(rel))
		if z == nil {
			return true
		}
		at = settle(place{zone: z, path: cmp.Or(strings.Trim(rest, "/"), ".")})
	}
	return w.unreadableBy(at) != ""
}

// openFast opens name for reading, and resolves its links only if it has
// any. The place that is judged is the place that is opened.
func (w *Workspace) openFast(name string) (*os.File, place, error) {
	at, err := w.locate(name)
	if err != nil {
		return nil, place{}, err
	}
	for range maxTries {
		if err := w.judgeRead(at, name); err != nil {
			return nil, place{}, err
		}
		f, err := at.zone.tree.open(at.path)
		if !errors.Is(err, errLink) {
			return f, at, err
		}
		if at, err = w.resolve(name); err != nil {
			return nil, place{}, err
		}
	}
	return nil, place{}, errLink
}

// OpenFile opens a regular file for reading. Symbolic links are followed as
// long as they stay inside. A pipe, socket or device is refused at once and
// never waited for.
func (w *Workspace) OpenFile(name string) (*os.File, error) {
	f, _, _, err := w.openRegular(name)
	return f, explain("opening", name, err)
}

func (w *Workspace) openRegular(name string) (*os.File, place, node, error) {
	f, at, err := w.openFast(name)
	if err != nil {
		return nil, place{}, node{}, err
	}
	n, err := nodeOf(f)
	if err == nil && !n.mode.IsRegular() {
		err = notRegular(name, n.mode)
	}
	if err != nil {
		_ = f.Close()
		return nil, place{}, node{}, err
	}
	return f, at, n, nil
}

// notRegular is the refusal for what is no file with content.
func notRegular(name string, mode fs.FileMode) error {
	what := "a special file"
	switch {
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return failed(ErrNotRegular, "%s is %s, not a regular file", tool.Clip(name), what)
}

// OpenDir opens a folder for listing.
func (w *Workspace) OpenDir(name string) (*os.File, error) {
	f, _, err := w.openFast(name)
	if err != nil {
		return nil, explain("opening", name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = failed(ErrNotRegular, "%s is a file, not a folder", tool.Clip(name))
	}
	if err != nil {
		_ = f.Close()
		return nil, explain("opening", name, err)
	}
	return f, nil
}

// Stat describes what name leads to, symbolic links followed. It opens
// nothing that an open could disturb.
func (w *Workspace) Stat(name string) (fs.FileInfo, error) {
	at, err := w.resolve(name)
	if err != nil {
		return nil, explain("looking at", name, err)
	}
	if err := w.judgeRead(at, name); err != nil {
		return nil, err
	}
	if !at.exists {
		return nil, explain("looking at", name, fs.ErrNotExist)
	}
	return at.info(), nil
}

// A File is the content of a file at one moment.
type File struct {
	// Rel is where it is, as [Workspace.Rel] spells it, links followed.
	Rel string
	// Data is the content. It belongs to the caller.
	Data []byte
	// Version is the state that Data was read from.
	Version Version
	// Mode is the file's mode.
	Mode fs.FileMode
	// Growing says that somebody was appending to the file: Data is what it
	// held when the read began, and Version is out of date already.
	Growing bool
}

// steadyTries is how often a file that changes while it is read is read
// again before the call gives up.
const steadyTries = 3

// ReadFile reads a whole file of at most limit bytes; a larger one fails
// with [ErrTooLarge]. The content is of one state: a file that is written
// while it is read is read again, and fails with [ErrUnsteady] if that goes
// on; a file that only grows, as a log does, is returned up to where it
// ended when the read began.
func (w *Workspace) ReadFile(ctx context.Context, name string, limit int64) (File, error) {
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return File{}, err
		}
		f, at, n, err := w.openRegular(name)
		if err != nil {
			return File{}, explain("reading", name, err)
		}
		data, after, err := readSteady(f, n, limit)
		_ = f.Close()
		file := File{Rel: at.name(), Data: data, Version: n.version, Mode: n.mode}
		switch {
		case errors.Is(err, ErrTooLarge):
			return File{}, failed(ErrTooLarge, "%s has %d bytes; at most %d are read at once", tool.Clip(name), max(n.version.Size, limit+1), limit)
		case err != nil:
			return File{}, explain("reading", name, err)
		case after.version == n.version:
			return file, nil
		case try < steadyTries:
		case after.version.Size > n.version.Size && int64(len(data)) >= n.version.Size:
			file.Data, file.Growing = data[:n.version.Size], true
			return file, nil
		default:
			return File{}, failed(ErrUnsteady, "%s is being written to right now and changed during each of %d reads; try again", tool.Clip(name), steadyTries)
		}
	}
}

// readSteady reads an open file and describes it again afterwards.
func readSteady(f *os.File, n node, limit int64) ([]byte, node, error) {
	if n.version.Size > limit {
		return nil, node{}, ErrTooLarge
	}
	// One byte more than the size finds the end without a second buffer.
	data := make([]byte, 0, n.version.Size+1)
	for {
		got, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+got]
		if int64(len(data)) > limit {
			return nil, node{}, ErrTooLarge
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, node{}, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
	after, err := nodeOf(f)
	return data, after, err
}
