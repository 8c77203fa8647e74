package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/handrail-tools/handrail/tool"
)

// maxLinks is how many symbolic links one path may go through: the kernel's
// own limit.
const maxLinks = 40

// maxTries is how often a path is resolved again because a link in it
// changed in the meantime.
const maxTries = 8

// A place is a path beneath one of the open folders.
type place struct {
	zone *zone
	path string // clean and relative; "." is the folder
	// linked says that symbolic links were followed to get here.
	linked bool
	exists bool
	node   node // if exists
}

// name is the place as the rest of the system spells it: relative to the
// root, or absolute in a folder that was granted. It is a name again, so a
// file that is really called ~ keeps the "./" that says so.
func (p place) name() string {
	switch {
	case p.zone.kind != ZoneRoot:
		return p.abs()
	case misread(p.path) != "":
		return "./" + p.path
	default:
		return p.path
	}
}

func (p place) abs() string {
	if p.path == "." {
		return p.zone.dir
	}
	return filepath.Join(p.zone.dir, filepath.FromSlash(p.path))
}

// via names the place for a message when that is not what was asked for.
func (p place) via(asked string) string {
	if !p.linked {
		return ""
	}
	return " (" + tool.Clip(asked) + " leads to " + tool.Clip(p.name()) + ")"
}

// A Resolved is what a name means on the disk, with every symbolic link
// followed as far as the path exists.
type Resolved struct {
	// Rel is the path below the root, with slashes, "." for the root
	// itself; in a granted folder it is the absolute path.
	Rel string
	// Judged is Rel as rules know it: seen from [Options].Top, where the
	// path lies beneath it.
	Judged string
	// Abs is the absolute path, for rules and for people. Opening it would
	// be a second look-up: open Rel through the workspace.
	Abs string
	// Zone is the kind of folder that the path lies in.
	Zone Zone
	// Exists says whether there is something.
	Exists bool
	// Mode is the type and the permissions of what exists.
	Mode fs.FileMode
	// Size is the length of what exists, in bytes.
	Size int64
	// Linked says that the name went through a symbolic link.
	Linked bool
	// Unreadable is the rule, or the closed path, that refuses reading (and
	// writing), or "".
	Unreadable string
	// Unwritable says why a write would be refused, or "".
	Unwritable string
}

// Resolve says what a name means, for those who judge a call beforehand. It
// fails only where the name leads out of the workspace or is no path. What
// it says may be outdated a moment later, so every operation judges again
// for itself.
func (w *Workspace) Resolve(name string) (Resolved, error) {
	at, err := w.resolve(name)
	if err != nil {
		return Resolved{}, explain("resolving", name, err)
	}
	return w.resolved(at, toWrite), nil
}

// ResolveEntry is [Workspace.Resolve] for what is removed or moved: a
// symbolic link as the last element is not followed, so the link itself is
// described, wherever it leads.
func (w *Workspace) ResolveEntry(name string) (Resolved, error) {
	at, err := w.resolveLeaf(name)
	if err != nil {
		return Resolved{}, explain("resolving", name, err)
	}
	return w.resolved(at, toTake), nil
}

func (w *Workspace) resolved(at place, to use) Resolved {
	why, _ := w.unwritable(at, to)
	return Resolved{
		Rel: at.name(), Judged: at.judged(), Abs: at.abs(), Zone: at.zone.kind,
		Exists: at.exists, Mode: at.node.mode, Size: at.node.version.Size, Linked: at.linked,
		Unreadable: w.unreadableBy(at), Unwritable: why,
	}
}

// judged is the place as rules know it.
func (p place) judged() string {
	if p.zone.belowTop != "" {
		return p.zone.fromTop(p.path)
	}
	return p.name()
}

// resolve locates a name and follows its links.
func (w *Workspace) resolve(name string) (place, error) {
	at, err := w.locate(name)
	if err != nil {
		return place{}, err
	}
	return w.follow(at, name)
}

// follow turns a place into one whose path has no symbolic link. A place
// that does not exist keeps the part after the last existing folder.
func (w *Workspace) follow(at place, given string) (place, error) {
	n, err := at.zone.tree.look(at.path)
	switch {
	case err == nil && !n.isLink():
		at.exists, at.node = true, n
		return at, nil
	case errors.Is(err, fs.ErrNotExist):
		return at, nil
	case err == nil || errors.Is(err, errLink):
		f := follower{w: w, given: given, at: place{zone: at.zone, path: "."}, todo: strings.Split(at.path, "/")}
		return f.run()
	default:
		return place{}, err
	}
}

// A follower walks a path one element at a time.
type follower struct {
	w     *Workspace
	given string
	at    place
	// todo are the elements still to walk. The first fromLink of them come
	// from the target of a link, not from the caller.
	todo     []string
	fromLink int
	links    int
	lastLink string
}

func (f *follower) run() (place, error) {
	for len(f.todo) > 0 {
		elem := f.todo[0]
		f.todo = f.todo[1:]
		f.fromLink = max(f.fromLink-1, -1)
		if elem == ".." {
			if f.at.path == "." {
				return place{}, f.escapes()
			}
			f.at.path, _ = parent(f.at.path)
			continue
		}
		next := join(f.at.path, elem)
		n, err := f.at.zone.tree.look(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return f.missing(next)
		case err != nil:
			return place{}, err
		case n.isLink():
			if err := f.link(next); err != nil {
				return place{}, err
			}
		case len(f.todo) > 0 && !n.mode.IsDir():
			return place{}, syscall.ENOTDIR
		default:
			f.at.path = next
		}
	}
	n, err := f.at.zone.tree.look(f.at.path)
	if err != nil {
		return place{}, err
	}
	f.at.exists, f.at.node = true, n
	return settle(f.at), nil
}

// link puts the target of the link at p in front of what is to be walked.
func (f *follower) link(p string) error {
	if f.links++; f.links > maxLinks {
		return failed(syscall.ELOOP, "%s goes through more than %d symbolic links; they probably form a loop", tool.Clip(f.given), maxLinks)
	}
	target, err := f.at.zone.tree.readlink(p)
	if err != nil {
		return err
	}
	f.lastLink = p
	target = filepath.ToSlash(target)
	if strings.HasPrefix(target, "/") || filepath.IsAbs(target) {
		z, rest := f.w.zoneOf(target)
		if z == nil {
			return f.escapes()
		}
		f.at.zone, f.at.path, target = z, ".", rest
	}
	elems, err := split(target)
	if err != nil {
		return err
	}
	f.at.linked = true
	f.fromLink = len(elems) + max(f.fromLink, 0)
	f.todo = append(elems, f.todo...)
	return nil
}

// missing ends the walk at p, which does not exist. A link whose own target
// is missing is refused: what a write through it should make is a guess.
func (f *follower) missing(p string) (place, error) {
	if f.at.linked && f.fromLink >= 0 {
		return place{}, failed(fs.ErrNotExist, "%s is a symbolic link whose target does not exist; name the target itself",
			tool.Clip(f.lastLink))
	}
	for _, elem := range f.todo {
		p = join(p, elem)
	}
	f.at.path = p
	return settle(f.at), nil
}

func (f *follower) escapes() error {
	return denied(ErrOutside, "the path %s lies outside the workspace: the symbolic link %s leads out of it",
		tool.Clip(f.given), tool.Clip(f.lastLink))
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// resolveLeaf is resolve without following the last element: what is removed
// or moved is the link and not what it leads to.
func (w *Workspace) resolveLeaf(name string) (place, error) {
	at, err := w.locate(name)
	if err != nil {
		return place{}, err
	}
	if at.path == "." {
		return w.follow(at, name)
	}
	dir, leaf := parent(at.path)
	up, err := w.follow(place{zone: at.zone, path: dir}, name)
	if err != nil {
		return place{}, err
	}
	if up.exists && !up.node.mode.IsDir() {
		return place{}, syscall.ENOTDIR
	}
	up = settle(place{zone: up.zone, path: join(up.path, leaf), linked: up.linked})
	n, err := up.zone.tree.look(up.path)
	switch {
	case err == nil:
		up.exists, up.node = true, n
	case !errors.Is(err, fs.ErrNotExist):
		return place{}, err
	}
	return up, nil
}
