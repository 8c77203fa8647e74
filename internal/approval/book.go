package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/statedir"
)

const (
	// maxBook is the longest book that is read, in bytes.
	maxBook = 1 << 20
	// maxRules is how many rules one book may hold. A person who has allowed
	// more than this for always wants a rule that is wider.
	maxRules = 1000
)

// Book keeps what a person has allowed for always in one workspace: a JSON
// file of the user's own, for each workspace one, that can be read and edited.
// It lies outside of the workspace, because a repository that could bring rules
// would give itself whatever it wants; and it says which workspace it is for,
// because what was allowed in one folder was not allowed in another. It is a
// [permission.Book], safe for concurrent use, also by several processes.
type Book struct {
	dir       string
	name      string
	workspace string
}

// entry is one rule as the file has it.
type entry struct {
	Rule    string    `json:"rule"`
	For     string    `json:"for,omitempty"` // the call that was asked about
	Tool    string    `json:"tool,omitempty"`
	By      string    `json:"by,omitempty"`
	Given   time.Time `json:"given,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
}

type bookFile struct {
	Workspace string  `json:"workspace"`
	Allow     []entry `json:"allow"`
}

// OpenBook returns the book of a workspace in a folder of books. Neither need
// exist; the folder is made with the first rule. The workspace is known by its
// path with all links resolved.
func OpenBook(dir, workspace string) (*Book, error) {
	real, err := filepath.EvalSymlinks(workspace)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the rules for always: %w", err)
	}
	sum := sha256.Sum256([]byte(real))
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(real))
	return &Book{dir: dir, name: readable[:min(len(readable), 40)] + "-" + hex.EncodeToString(sum[:6]) + ".json", workspace: real}, nil
}

// Path returns the file of the book, whether it exists or not.
func (b *Book) Path() string { return filepath.Join(b.dir, b.name) }

// Stamp tells one state of the file from another: one look at it, without
// reading.
func (b *Book) Stamp() string {
	info, err := os.Lstat(b.Path())
	if err != nil {
		return ""
	}
	return stampOf(info)
}

func stampOf(info fs.FileInfo) string {
	b := make([]byte, 0, 96)
	for _, n := range [...]int64{info.Size(), info.ModTime().UnixNano(), int64(info.Mode()), fileID(info)} {
		b = append(strconv.AppendInt(b, n, 36), ' ')
	}
	return string(b)
}

// Rules returns the rules that hold, and the stamp of the file that they were
// read from. A book that cannot be read, or is another workspace's, is an
// error.
func (b *Book) Rules() ([]permission.Grant, string, error) {
	stamp := b.Stamp() // before it is read: a change meanwhile is noticed later
	if stamp == "" {
		return nil, "", nil
	}
	dir, err := statedir.Open(b.dir)
	if err != nil {
		return nil, "", b.fault("reading", err)
	}
	defer func() { _ = dir.Close() }()
	file, err := b.read(dir)
	if err != nil {
		return nil, "", b.fault("reading", err)
	}
	return file.grants(time.Now()), stamp, nil
}

func (b *Book) fault(what string, err error) error {
	return fmt.Errorf("%s the rules for always, %s: %w", what, b.Path(), err)
}

func (b *Book) read(dir *statedir.Dir) (bookFile, error) {
	none := bookFile{Workspace: b.workspace}
	f, err := dir.OpenFile(b.name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxBook+1))
	switch {
	case err != nil:
		return none, err
	case len(text) > maxBook:
		return none, fmt.Errorf("it is longer than %d bytes", maxBook)
	}
	var file bookFile
	if err := strict(text, &file); err != nil {
		return none, err
	}
	if file.Workspace != b.workspace {
		return none, fmt.Errorf("it is for the workspace %q and not for %q", file.Workspace, b.workspace)
	}
	return file, nil
}

// grants are the rules that hold at a time.
func (f bookFile) grants(now time.Time) []permission.Grant {
	var list []permission.Grant
	for _, e := range f.Allow {
		g := permission.Grant{
			ID: e.Rule, Scope: permission.ForAlways, Tool: e.Tool, Summary: e.For, Rule: e.Rule, By: e.By, Given: e.Given, Expires: e.Expires,
		}
		if !g.Expired(now) {
			list = append(list, g)
		}
	}
	return list
}

// change reads the file, lets f change it, and puts it back as a whole.
func (b *Book) change(f func(*bookFile) error) error {
	dir, err := statedir.Open(b.dir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	lock, err := dir.OpenFile(lockName, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if _, err := statedir.Lock(lock, false, true); err != nil {
		return err
	}
	file, err := b.read(dir)
	if err == nil {
		err = f(&file)
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	return replace(dir, b.name, append(text, '\n'), true)
}

// Keep adds rules. One that is there already is not added twice; its times
// become those of the new one.
func (b *Book) Keep(rules []permission.Grant) error {
	err := b.change(func(file *bookFile) error {
		for _, g := range rules {
			e := entry{Rule: g.Rule, For: g.Summary, Tool: g.Tool, By: g.By, Given: g.Given.UTC().Truncate(time.Second), Expires: g.Expires}
			if i := slices.IndexFunc(file.Allow, func(have entry) bool { return have.Rule == g.Rule }); i >= 0 {
				file.Allow[i] = e
				continue
			}
			file.Allow = append(file.Allow, e)
		}
		if len(file.Allow) > maxRules {
			return fmt.Errorf("it holds %d rules; write a wider one in your settings", maxRules)
		}
		return nil
	})
	if err != nil {
		return b.fault("writing", err)
	}
	return nil
}

// Drop takes a rule back and reports whether it was there.
func (b *Book) Drop(rule string) (bool, error) {
	there := false
	if b.Stamp() == "" {
		return false, nil
	}
	err := b.change(func(file *bookFile) error {
		before := len(file.Allow)
		file.Allow = slices.DeleteFunc(file.Allow, func(e entry) bool { return e.Rule == rule })
		there = len(file.Allow) < before
		return nil
	})
	if err != nil {
		return false, b.fault("writing", err)
	}
	return there, nil
}

// replace writes a file of a folder as a whole; lasting says that it must
// survive a machine that stops. The caller holds the lock of the folder.
func replace(dir *statedir.Dir, name string, text []byte, lasting bool) error {
	temp := name + tempEnd
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil && lasting {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}
