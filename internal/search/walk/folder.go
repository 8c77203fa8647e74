package walk

import (
	"io"
	"io/fs"
	"sync"
	"time"
)

// Kind is what a folder's entry is.
type Kind uint8

const (
	// Unknown is an entry whose kind could not be found out.
	Unknown Kind = iota
	// File is a regular file.
	File
	// Dir is a folder.
	Dir
	// Link is a symbolic link, wherever it leads.
	Link
	// Special is a pipe, socket or device.
	Special
)

// Info is what can be asked of an entry.
type Info struct {
	Kind    Kind
	Mode    fs.FileMode
	Size    int64
	ModTime time.Time
	// Inode and Changed, the time of the last change of whatever kind in
	// nanoseconds since 1970, are 0 where the system does not tell.
	Inode   uint64
	Changed int64
}

// folder is an open folder. Names are single elements; no method follows a
// link that a name may be. Except for list, which one goroutine calls, the
// methods may be called from several goroutines at once.
//
// A name is handed over as bytes behind which a NUL stands: name[:len(name)+1]
// is valid and ends in 0. The kernel wants them so, and this way nothing has
// to be copied.
type folder interface {
	// list reads further entries into l, replacing those there. It returns
	// io.EOF when there are no more; entries may come with it.
	list(l *listing) error
	// folder opens a folder.
	folder(name []byte) (folder, error)
	// open opens a file for reading into f. It does not wait for a pipe.
	open(name []byte, f *file) error
	// stat asks for an entry.
	stat(name []byte) (Info, error)
	// readlink returns where a link leads.
	readlink(name []byte) (string, error)
	close() error
}

// listing is some entries of a folder. The names stay valid until the next
// call of list.
type listing struct {
	entries []listed
	buf     []byte // where the names stand
}

type listed struct {
	name []byte // with a NUL behind it
	kind Kind
}

// listings are kept because a walk of a small tree would spend more on them
// than on all else.
var listings = sync.Pool{New: func() any { return newListing() }}

// listingSize is how much a listing holds, in bytes: about 1,500 entries of
// ordinary names, which is nearly always the whole folder.
const listingSize = 64 << 10

// file is an open file. A worker has one, which it uses again and again.
type file struct {
	fd     int           // on Linux
	other  io.ReadCloser // elsewhere
	isOpen bool
}

// Read reads from the file, as [io.Reader] says.
func (f *file) Read(b []byte) (int, error) {
	switch {
	case !f.isOpen:
		return 0, fs.ErrClosed
	case f.other != nil:
		return f.other.Read(b)
	}
	return f.read(b)
}

// Close closes the file.
func (f *file) Close() error {
	if !f.isOpen {
		return fs.ErrClosed
	}
	f.isOpen = false
	if f.other != nil {
		return f.other.Close()
	}
	return f.close()
}

// withNUL returns name with a NUL behind it.
func withNUL(name string) []byte {
	b := make([]byte, len(name)+1)
	copy(b, name)
	return b[:len(name)]
}
