package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// Zone is the kind of folder that a path lies in.
type Zone uint8

const (
	// ZoneRoot is the workspace's own folder.
	ZoneRoot Zone = iota
	// ZoneGranted is a further folder that may be read and written.
	ZoneGranted
	// ZoneReadOnly is a further folder that may only be read.
	ZoneReadOnly
)

// String names the zone for a message.
func (z Zone) String() string {
	switch z {
	case ZoneRoot:
		return "workspace"
	case ZoneGranted:
		return "granted"
	case ZoneReadOnly:
		return "read-only"
	default:
		return fmt.Sprintf("zone %d", uint8(z))
	}
}

// Options are the further folders and the rules. The zero value opens the
// root alone, for reading and writing.
//
// A pattern names a run of path elements at any depth, or from the top of a
// folder if it starts with "/"; "*", "?" and "[…]" stay within an element.
// It covers what it names and all that is beneath, without regard to case.
//
// Where folders lie in each other, a path belongs to the innermost, whichever
// name or link led there.
type Options struct {
	// ReadOnly refuses every write.
	ReadOnly bool
	// Granted are absolute paths of further folders, for reading and
	// writing. Each must exist. One that lies inside the root is open
	// already, and stays under the rules of the root.
	Granted []string
	// ReadOnlyDirs are absolute paths of folders that may be read and not
	// written. One that lies inside the root is closed for writing; any
	// other is opened for reading. Each must exist.
	ReadOnlyDirs []string
	// Protected are patterns that refuse writing, beside .git and
	// .handrail, which always do.
	Protected []string
	// Unreadable are patterns that refuse reading, writing and listing. nil
	// means [DefaultUnreadable]; an empty list means none.
	Unreadable []string
	// Closed are absolute paths of files and folders that are never read,
	// written or listed, in whatever folder they lie and by whatever link
	// they are reached: where the state and the settings of a session are
	// kept. A path need not exist; if it is a link, its target is closed as
	// well. None may hold the root or a further folder.
	Closed []string
	// Top is the folder to which the patterns and the rules of a session
	// are relative: the root itself, or a folder above it, so that somebody
	// who is confined to a part of a workspace is held by the rules of the
	// whole. Empty means the root.
	Top string
	// Beneath, unless empty, is the absolute path of a folder in which the
	// root must lie, or which it must be. The folder that was opened is held
	// against it, not the path, so that a link that is moved in the meantime
	// changes nothing.
	Beneath string
	// Grants is the write fence of a child session. nil means none.
	Grants *Grants
	// Recorder is told of every change before it happens. nil means that
	// nothing is recorded.
	Recorder Recorder
}

// A Workspace is an open set of folders. Its methods may be called from
// several goroutines at once.
type Workspace struct {
	zones         []*zone // zones[0] is the root
	top           string  // the absolute path of the top, with slashes
	readOnly      bool
	readOnlyBelow []string // folders below the root that are closed for writing
	protected     rules
	unreadable    rules
	fences        []fence // all of them must allow a write
	recorder      Recorder

	locks lockTable
	views *Views
}

// A zone is one open folder.
type zone struct {
	kind Zone
	dir  string // absolute, links resolved, as the system spells it
	tree tree
	// spellings are the absolute paths, with slashes, under which the
	// folder is known: resolved, as it was given, and as the shell has it.
	spellings []string
	closed    rules // the closed paths beneath dir
	// inner are the zones that lie in this one, the longest path first.
	inner []innerZone
	// belowTop is the folder as seen from the top, "." if it is that and ""
	// if it lies elsewhere.
	belowTop string
}

// Open opens a folder as a workspace. The folder and those of the options
// must exist. An error names everything that is wrong with the options.
func Open(root string, opts Options) (*Workspace, error) { return open(root, opts, newTree) }

func open(root string, opts Options, newTree func(string) (tree, error)) (*Workspace, error) {
	w := &Workspace{readOnly: opts.ReadOnly, recorder: opts.Recorder, views: newViews()}
	var errs []error
	note := func(doing string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", doing, err))
		}
	}
	note("opening the workspace", w.add(root, ZoneRoot, newTree))
	note("finding the workspace in its folder", w.checkBeneath(opts.Beneath))
	note("finding the top of the workspace", w.setTop(opts.Top))
	for _, dir := range opts.Granted {
		note("opening a granted folder", w.addFurther(dir, ZoneGranted, newTree))
	}
	for _, dir := range opts.ReadOnlyDirs {
		note("opening a read-only folder", w.addFurther(dir, ZoneReadOnly, newTree))
	}
	w.nest()
	note("closing paths to tools", w.closeTo(opts.Closed))
	var err error
	w.protected, err = parseRules(append(slices.Clone(alwaysProtected), opts.Protected...))
	note("reading the protected paths", err)
	unreadable := opts.Unreadable
	if unreadable == nil {
		unreadable = defaultUnreadable
	}
	w.unreadable, err = parseRules(unreadable)
	note("reading the unreadable paths", err)
	note("reading the write grants", w.fenceIn(opts.Grants))
	if len(errs) > 0 {
		return nil, errors.Join(append(errs, w.Close())...)
	}
	return w, nil
}

// setTop finds the top, beneath which the root must lie.
func (w *Workspace) setTop(top string) error {
	if len(w.zones) == 0 {
		return nil
	}
	w.top = slashed(w.Root())
	if top == "" {
		return nil
	}
	real, err := realDir(top)
	if err != nil {
		return err
	}
	if _, ok := cutFolder(w.top, slashed(real)); !ok {
		return fmt.Errorf("the workspace does not lie beneath %s", tool.Clip(top))
	}
	w.top = slashed(real)
	return nil
}

// addFurther opens a folder beside the root, or closes one inside it for
// writing. A folder inside the root that is granted is open already.
func (w *Workspace) addFurther(dir string, kind Zone, newTree func(string) (tree, error)) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%q is not an absolute path", dir)
	}
	if len(w.zones) > 0 {
		real, err := realDir(dir)
		if err != nil {
			return err
		}
		if rest, ok := cutFolder(slashed(real), slashed(w.zones[0].dir)); ok {
			if kind == ZoneReadOnly {
				w.readOnlyBelow = append(w.readOnlyBelow, cmp.Or(strings.Trim(rest, "/"), "."))
			}
			return nil
		}
	}
	return w.add(dir, kind, newTree)
}

func (w *Workspace) add(dir string, kind Zone, newTree func(string) (tree, error)) error {
	real, err := realDir(dir)
	if err != nil {
		return err
	}
	t, err := newTree(real)
	if err != nil {
		return err
	}
	z := &zone{kind: kind, dir: real, tree: t, spellings: []string{filepath.ToSlash(real)}}
	if given, err := filepath.Abs(dir); err == nil {
		z.spell(given)
	}
	// A shell that went through a link shows the folder by that link.
	if pwd := os.Getenv("PWD"); filepath.IsAbs(pwd) {
		if resolved, err := filepath.EvalSymlinks(pwd); err == nil {
			if rest, ok := cutFolder(filepath.ToSlash(real), filepath.ToSlash(resolved)); ok {
				z.spell(filepath.Join(pwd, rest))
			}
		}
	}
	w.zones = append(w.zones, z)
	return nil
}

func (z *zone) spell(abs string) {
	if s := filepath.ToSlash(filepath.Clean(abs)); !slices.Contains(z.spellings, s) {
		z.spellings = append(z.spellings, s)
	}
}

// realDir returns the absolute path of a folder with its links resolved.
func realDir(dir string) (string, error) {
	if dir == "" || strings.ContainsRune(dir, 0) {
		return "", fmt.Errorf("%q is no path", dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", abs)
	}
	return real, nil
}

// Close gives the folders back. Files that were opened stay open; every
// further operation fails.
func (w *Workspace) Close() error {
	var errs []error
	for _, z := range w.zones {
		errs = append(errs, z.tree.close())
	}
	return errors.Join(errs...)
}

// Root returns the absolute path of the workspace, links resolved.
func (w *Workspace) Root() string {
	if len(w.zones) == 0 {
		return ""
	}
	return w.zones[0].dir
}

// ReadOnly reports whether every write is refused.
func (w *Workspace) ReadOnly() bool { return w.readOnly }

// Views is the record of what the session has seen of which file.
func (w *Workspace) Views() *Views { return w.views }

type contextKey struct{}

// With returns a context that carries w to the tools.
func With(ctx context.Context, w *Workspace) context.Context {
	return context.WithValue(ctx, contextKey{}, w)
}

// From returns the workspace of a call. It panics where there is none: a
// tool that touches files is never run without.
func From(ctx context.Context) *Workspace {
	w, ok := ctx.Value(contextKey{}).(*Workspace)
	if !ok {
		panic("workspace: the context of this call carries no workspace")
	}
	return w
}
