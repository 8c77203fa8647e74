package workspace

import (
	"context"
	"io/fs"

	"github.com/handrail-tools/handrail/tool"
)

// MaxKept is the most content of one file that a [Recorder] is given, in
// bytes. It is twice [MaxEdit], so the two sides of every edit fit.
const MaxKept = 64 << 20

// MaxSteps is the most steps of one [Workspace.Apply]. It bounds what is held
// open and in memory; the largest patch seen in the field has a few hundred.
const MaxSteps = 4096

// Op is what a [Step] does. The zero value is no operation and is refused.
type Op uint8

const (
	// OpWrite gives a file its content, and makes it if it is missing.
	OpWrite Op = iota + 1
	// OpRemove removes a file, a symbolic link (never its target) or an
	// empty folder.
	OpRemove
	// OpMove gives a file, a link or a folder another name.
	OpMove
	// OpMakeDir makes a folder.
	OpMakeDir
)

// A Step is one change of an [Workspace.Apply]. Folders that are missing
// above what is written, moved or made are made as well.
type Step struct {
	Op Op
	// Name is the path that the step is about; of a move, what is moved.
	Name string
	// To is the new path of what is moved. It is the path itself and not the
	// folder to move into.
	To string
	// Data is the content that is written; with [fs.ModeSymlink] in Mode,
	// the target of the link.
	Data []byte
	// Mode is the mode of a new file or folder; 0 means what the umask of
	// the process leaves of 0666 or 0777. With [fs.ModeSymlink] a write makes
	// a symbolic link where nothing is, so that a removed one can be brought
	// back. What exists keeps its mode.
	Mode fs.FileMode
	// CreateOnly makes a write fail with [fs.ErrExist] if there is something.
	CreateOnly bool
	// Overwrite lets a move replace an existing file or link.
	Overwrite bool
	// Expect fails with [ErrChanged] unless Name is a file in this state at
	// the last moment before it is changed.
	Expect *Version
}

// A Change is what a step did.
type Change struct {
	// Op is the operation.
	Op Op
	// Rel is the file that was written, made or removed, as [Workspace.Rel]
	// spells it, links followed; of a move, the new place.
	Rel string
	// From is where what was moved came from, or "".
	From string
	// Created says that there was nothing at Rel before.
	Created bool
	// Unchanged says that everything was so already: the content was the
	// same, the folder was there, the two paths of a move are one. Nothing
	// was done.
	Unchanged bool
	// Before is the state that was replaced or removed, zero if Created.
	// After is the state now, zero after a removal.
	Before, After Version
	// Mode is the type and the permissions of what was written, moved, made
	// or removed.
	Mode fs.FileMode
	// Folders are the folders that were made for it, outermost first.
	Folders []string
	// OtherNames is how many further hard links the file had. They keep the
	// old content: writing through them would change files that nobody
	// named, perhaps outside the workspace, and could not be atomic.
	OtherNames int
}

// A Recorder is told of every change before it happens, so that it can be
// shown and undone. One recorder may serve several workspaces, from several
// goroutines at once. It must not change the workspace: its turns are held.
type Recorder interface {
	// Begin is called with the turns of the folders held, all conditions met
	// and nothing changed yet. If it fails, nothing is changed and the
	// operation fails with its error. Otherwise done is called exactly once:
	// with nil when the change has happened, or with what went wrong, when
	// it was rolled back. planned is the recorder's to keep.
	Begin(ctx context.Context, planned []Planned) (done func(error), err error)
}

// Planned is one path whose state will change. A move is two of them: the
// old place, where nothing is afterwards, and the new one, with From. Of a
// folder that is moved only the folder itself is listed, although all that
// is in it moves along.
type Planned struct {
	// Rel is the path, as [Change].Rel spells it.
	Rel string
	// From is the path that the new content was moved from, or "".
	From string
	// Before and After are the two states; nil means that there is nothing.
	// An After says what the change will make of it; the permission bits of
	// a new file that asked for none are those before the umask.
	Before, After *State
}

// State is what there is at a path.
type State struct {
	Mode fs.FileMode
	// Size is the length of the content in bytes; 0 for a folder.
	Size int64
	// Data is the content, of a symbolic link its target; nil for a folder.
	Data []byte
	// Whole says that Data is everything; it is false, and Data nil, for a
	// file of more than [MaxKept] bytes, for one that the process may replace
	// and not read, and where the old contents of one change exceed four
	// times that.
	Whole bool
}

// A Source says on whose behalf a change is made.
type Source struct {
	Session string
	CallID  string
	Tool    string
	Origin  tool.Origin
}

type sourceKey struct{}

// WithSource returns a context that names who makes the changes under it.
func WithSource(ctx context.Context, s Source) context.Context {
	return context.WithValue(ctx, sourceKey{}, s)
}

// SourceFrom returns who makes the changes under ctx, if that was said.
func SourceFrom(ctx context.Context) (Source, bool) {
	s, ok := ctx.Value(sourceKey{}).(Source)
	return s, ok
}
