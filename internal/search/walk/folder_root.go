package walk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// openRoot returns the folder that dir is, by means of [os.Root], which is
// to be had on every system.
func openRoot(dir *os.File) (folder, error) {
	root, err := os.OpenRoot(dir.Name())
	if err != nil {
		return nil, err
	}
	// The name may lead elsewhere by now.
	want, err := dir.Stat()
	if err != nil {
		return nil, closing(root, err)
	}
	got, err := root.Stat(".")
	if err != nil {
		return nil, closing(root, err)
	}
	if !os.SameFile(want, got) {
		return nil, closing(root, fmt.Errorf("opening %s: the folder was replaced meanwhile", dir.Name()))
	}
	return &rootFolder{root: root}, nil
}

// closing closes root and returns err.
func closing(root *os.Root, err error) error {
	_ = root.Close() // err is the failure to report
	return err
}

type rootFolder struct {
	root    *os.Root
	listing *os.File
}

func (d *rootFolder) folder(name []byte) (folder, error) {
	// A Root follows a link to a folder within itself, so what was opened is
	// compared with what stands there.
	want, err := d.root.Lstat(string(name))
	if err != nil {
		return nil, err
	}
	if !want.IsDir() {
		return nil, &os.PathError{Op: "open", Path: string(name), Err: fs.ErrInvalid}
	}
	root, err := d.root.OpenRoot(string(name))
	if err != nil {
		return nil, err
	}
	got, err := root.Stat(".")
	if err != nil {
		return nil, closing(root, err)
	}
	if !os.SameFile(want, got) {
		return nil, closing(root, &os.PathError{Op: "open", Path: string(name), Err: fs.ErrInvalid})
	}
	return &rootFolder{root: root}, nil
}

func (d *rootFolder) open(name []byte, f *file) error {
	// As in folder: a link within the root would be followed.
	want, err := d.root.Lstat(string(name))
	if err != nil {
		return err
	}
	opened, err := d.root.OpenFile(string(name), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return err
	}
	got, err := opened.Stat()
	if err == nil && !(got.Mode().IsRegular() && os.SameFile(want, got)) {
		err = &os.PathError{Op: "open", Path: string(name), Err: fs.ErrInvalid}
	}
	if err != nil {
		_ = opened.Close() // err is the failure to report
		return err
	}
	f.other, f.isOpen = opened, true
	return nil
}

func (d *rootFolder) stat(name []byte) (Info, error) {
	info, err := d.root.Lstat(string(name))
	if err != nil {
		return Info{}, err
	}
	return Info{Kind: fsKind(info.Mode()), Mode: info.Mode(), Size: info.Size(), ModTime: info.ModTime()}, nil
}

func (d *rootFolder) readlink(name []byte) (string, error) { return d.root.Readlink(string(name)) }

func (d *rootFolder) close() error {
	if d.listing != nil {
		_ = d.listing.Close() // it was only read
	}
	return d.root.Close()
}

func (d *rootFolder) list(l *listing) error {
	l.entries = l.entries[:0]
	if d.listing == nil {
		f, err := d.root.Open(".")
		if err != nil {
			return err
		}
		d.listing = f
	}
	// Asking for a number ends in io.EOF only after the last entries.
	found, err := d.listing.ReadDir(1000)
	for _, e := range found {
		l.entries = append(l.entries, listed{name: withNUL(e.Name()), kind: fsKind(e.Type())})
	}
	if err != nil {
		return err
	}
	if len(found) < 1000 {
		return io.EOF
	}
	return nil
}

func fsKind(m fs.FileMode) Kind {
	switch {
	case m.IsRegular():
		return File
	case m.IsDir():
		return Dir
	case m&fs.ModeSymlink != 0:
		return Link
	}
	return Special
}
