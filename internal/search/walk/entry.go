package walk

import "io"

// Entry is a file that is being visited. It and all that it returns are
// valid only until the visit returns.
type Entry struct {
	path   []byte // with a NUL behind it
	name   int    // where the last element begins
	folder folder
	file   file
}

// Path returns the path of the file, with slashes, beginning with
// [Config.Prefix]. It may hold any byte but NUL.
func (e *Entry) Path() []byte { return e.path }

// Name returns the last element of the path.
func (e *Entry) Name() []byte { return e.path[e.name:] }

// Open opens the file for reading. One is open at a time.
func (e *Entry) Open() (io.ReadCloser, error) {
	e.file = file{}
	if err := e.folder.open(e.Name(), &e.file); err != nil {
		return nil, err
	}
	return &e.file, nil
}

// Stat returns what is known of the file.
func (e *Entry) Stat() (Info, error) { return e.folder.stat(e.Name()) }

// Readlink returns where a link leads.
func (e *Entry) Readlink() (string, error) { return e.folder.readlink(e.Name()) }

// at makes the entry the one with that name in the folder whose path, with
// its final slash, is the first dir bytes of the path.
func (e *Entry) at(dir int, name []byte) {
	e.path = append(append(e.path[:dir], name...), 0)
	e.path = e.path[:len(e.path)-1]
	e.name = dir
}
