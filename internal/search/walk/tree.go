package walk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/handrail-tools/handrail/internal/search/ignore"
)

// Tree is an open folder with all that lies beneath it. Its methods may be
// called from several goroutines at once, except [Tree.Close].
type Tree struct{ folder folder }

// Open returns the tree beneath dir, which stays the caller's: it may be
// closed as soon as Open has returned.
func Open(dir *os.File) (*Tree, error) {
	f, err := openNative(dir)
	if err != nil {
		return nil, err
	}
	return &Tree{f}, nil
}

// OpenPortable is [Open] in the way that works on every system. Linux has it
// so that its tests can hold both ways to the same results.
func OpenPortable(dir *os.File) (*Tree, error) {
	f, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Tree{f}, nil
}

// Close closes the tree. It must not be in use.
func (t *Tree) Close() error { return t.folder.close() }

// Sub opens the folder at a path of names, separated by slashes, below t. A
// link on the way is an error. The path "" or "." is t itself, opened again.
func (t *Tree) Sub(path string) (*Tree, error) {
	if path == "" {
		path = "."
	}
	f, err := openBelow(t.folder, path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: bare(err)}
	}
	return &Tree{f}, nil
}

// OpenFile opens the file at a path of names, separated by slashes, below t.
// A link on the way is an error, and so is anything but a regular file. It
// does not wait for a pipe.
func (t *Tree) OpenFile(path string) (io.ReadCloser, error) {
	dir, name := t.folder, path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		below, err := openBelow(t.folder, path[:i])
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: bare(err)}
		}
		defer below.close()
		dir, name = below, path[i+1:]
	}
	info, err := dir.stat(withNUL(name))
	if err == nil && info.Kind != File {
		err = fs.ErrInvalid
	}
	var f file
	if err == nil {
		err = dir.open(withNUL(name), &f)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: bare(err)}
	}
	return &f, nil
}

// openBelow opens the folder at path, name by name.
func openBelow(from folder, path string) (folder, error) {
	at := from
	for name := range strings.SplitSeq(path, "/") {
		if name == ".." {
			return nil, errors.Join(fs.ErrInvalid, closeUnless(at, from))
		}
		next, err := at.folder(withNUL(name))
		if err != nil {
			return nil, errors.Join(err, closeUnless(at, from))
		}
		if err := closeUnless(at, from); err != nil {
			return nil, errors.Join(err, next.close())
		}
		at = next
	}
	return at, nil
}

func closeUnless(f, kept folder) error {
	if f == kept {
		return nil
	}
	return f.close()
}

// bare takes the cause out of an error that names a path itself.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Item is an entry of a folder.
type Item struct {
	Name string
	Kind Kind
}

// Items returns the entries of the tree's own folder, in no order, up to
// limit of them. more says that there are others.
func (t *Tree) Items(limit int) (items []Item, more bool, err error) {
	// The folder is opened again, since reading it moves its position.
	again, err := t.folder.folder(withNUL("."))
	if err != nil {
		return nil, false, err
	}
	defer again.close()
	l := newListing()
	for {
		err := again.list(l)
		if err != nil && err != io.EOF {
			return nil, false, err
		}
		for _, e := range l.entries {
			if len(items) == limit {
				return items, true, nil
			}
			kind := e.kind
			if kind == Unknown {
				kind = statKind(again, e.name)
			}
			items = append(items, Item{Name: string(e.name), Kind: kind})
		}
		if err == io.EOF {
			return items, false, nil
		}
	}
}

func newListing() *listing { return &listing{buf: make([]byte, 2*listingSize)} }

// statKind asks for the kind of an entry that the listing did not tell.
func statKind(f folder, name []byte) Kind {
	info, err := f.stat(name)
	if err != nil {
		return Unknown
	}
	return info.Kind
}

// Stat returns what is known of an entry of the tree's own folder. It does
// not follow a link.
func (t *Tree) Stat(name string) (Info, error) { return t.folder.stat(withNUL(name)) }

// Readlink returns where a link in the tree's own folder leads.
func (t *Tree) Readlink(name string) (string, error) { return t.folder.readlink(withNUL(name)) }

// Rules returns the rules of the ignore files of the tree's own folder and
// of those below it on the way to path, for a walk that begins at path, and
// whether path itself is left out by them. A link on the way ends the rules
// there: they do not reach across it.
func (t *Tree) Rules(path string) (level *ignore.Level, dropped bool) {
	level, _ = readRules(t.folder, level, "", nil)
	if path == "" || path == "." {
		return level, false
	}
	at, below := t.folder, ""
	defer func() { _ = closeUnless(at, t.folder) }() // it was only read
	for name := range strings.SplitSeq(path, "/") {
		below = join(below, name)
		if level.Match([]byte(below), true) == ignore.Drop {
			return nil, true
		}
		next, err := at.folder(withNUL(name))
		if err != nil {
			// A link, or a file: the rules of the folders above have spoken.
			return nil, false
		}
		_ = closeUnless(at, t.folder) // it was only read
		at = next
		level, _ = readRules(at, level, below, nil)
	}
	return level, false
}

// Level returns the level of the tree's own folder, which lies at path,
// beneath that of the folder above it.
func (t *Tree) Level(up *ignore.Level, path string) *ignore.Level {
	level, _ := readRules(t.folder, up, path, nil)
	return level
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// readRules reads the ignore files of a folder at path and returns the level
// of the folder. present, where it is not nil, says which of the names
// exist; otherwise each is tried. bad counts files that could not be read or
// are no rules.
func readRules(f folder, up *ignore.Level, path string, present *present) (level *ignore.Level, bad int) {
	var files ignore.Files
	if present == nil || present.repository {
		_, err := f.stat(gitName)
		files.Repository = err == nil
	}
	for _, kind := range ignore.Kinds() {
		if present != nil && !present.rules[kind] || kind == ignore.Exclude && !files.Repository {
			continue
		}
		rules, err := readRuleFile(f, kind)
		if err != nil {
			bad++
			continue
		}
		files.Rules[kind] = rules
	}
	return up.Enter(path, files), bad
}

var gitName = withNUL(".git")

// present says which names that matter for rules a folder has.
type present struct {
	rules      [ignore.NumKinds]bool
	repository bool
}

// note looks at a name.
func (p *present) note(name []byte) {
	switch string(name) {
	case ".git":
		p.repository = true
		p.rules[ignore.Exclude] = true
	case ".gitignore":
		p.rules[ignore.Git] = true
	case ".ignore":
		p.rules[ignore.Plain] = true
	case ".rgignore":
		p.rules[ignore.Ripgrep] = true
	}
}

// readRuleFile reads one ignore file. A missing one has no rules; neither
// has a link, as with git.
func readRuleFile(f folder, kind ignore.Kind) (*ignore.Rules, error) {
	dir, name := f, kind.Path()
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		below, err := openBelow(f, name[:i])
		if err != nil {
			return nil, nil // in a worktree .git is a file
		}
		defer below.close()
		dir, name = below, name[i+1:]
	}
	var file file
	if err := dir.open(withNUL(name), &file); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		return nil, nil
	}
	defer file.Close()
	var data bytes.Buffer
	n, err := data.ReadFrom(io.LimitReader(&file, ignore.MaxFile+1))
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, nil
	case err != nil:
		return nil, err
	case n > ignore.MaxFile:
		return nil, errors.New("the ignore file is too large")
	}
	return ignore.Parse(data.Bytes()), nil
}
