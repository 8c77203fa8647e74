package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// placeholders are the empty folders that hold the place of protected ones
// that were missing. git does not see an empty folder.
type placeholders []placeholder

type placeholder struct {
	path string
	info os.FileInfo
}

// holdPlaces makes an empty folder for each protected folder whose parent is
// there. A workspace that cannot be written to needs none. A policy that
// crosses a link is refused, since the folder would be made where it leads.
func holdPlaces(p Policy) (placeholders, error) {
	if err := p.crossesLink(); err != nil {
		return nil, err
	}
	if p.Mode == ReadOnly {
		return nil, nil
	}
	var held placeholders
	for _, rel := range p.Protected {
		if !strings.HasSuffix(rel, "/") {
			continue
		}
		path := filepath.Join(p.Workspace, rel)
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if err := os.Mkdir(path, 0o755); err != nil {
			held.remove()
			return nil, fmt.Errorf("holding the place of a protected folder: %w", err)
		}
		if info, err := os.Lstat(path); err == nil {
			held = append(held, placeholder{path, info})
		}
	}
	return held, nil
}

// remove takes away the folders that are still ours and still empty.
func (h placeholders) remove() {
	for _, p := range h {
		if info, err := os.Lstat(p.path); err == nil && os.SameFile(info, p.info) {
			_ = os.Remove(p.path) // somebody put something into it: it is theirs
		}
	}
}

// crossesLink refuses a policy whose protected paths lead through a symbolic
// link: whoever may change the link would decide what is protected.
func (p Policy) crossesLink() error {
	for _, rel := range p.Protected {
		at := p.Workspace
		for _, part := range splitPath(rel) {
			at = filepath.Join(at, part)
			info, err := os.Lstat(at)
			if err != nil {
				break // missing from here on
			}
			if info.Mode()&os.ModeSymlink != 0 {
				return fmt.Errorf("the protected path %s leads through the symbolic link %s, which a command could point elsewhere; replace the link by what it points to", rel, at)
			}
		}
	}
	return nil
}

// missing lists the protected paths that are not there.
func (p Policy) missing() []string {
	var list []string
	for _, rel := range p.Protected {
		if !p.there(rel) {
			list = append(list, rel)
		}
	}
	return list
}

// there says that a protected path exists. A file where one of its folders
// should be counts: it decides what the path means.
func (p Policy) there(rel string) bool {
	at := p.Workspace
	for _, part := range splitPath(rel) {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if err != nil {
			return false
		}
		if !info.IsDir() {
			return true
		}
	}
	return true
}

func splitPath(rel string) []string { return strings.Split(strings.TrimSuffix(rel, "/"), "/") }

// within says that path is dir or lies in it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
