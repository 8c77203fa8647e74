package workspace

import (
	"context"

	"github.com/handrail-tools/handrail/tool"
)

// MaxEdit is the largest file that [Workspace.Edit] holds in memory, in
// bytes. It leaves room above the 10 MB that read_file shows as a whole.
const MaxEdit = 32 << 20

// WriteOptions say under which condition a file is written. The zero value
// overwrites whatever is there.
type WriteOptions struct {
	// CreateOnly fails with [fs.ErrExist] if there is something already.
	CreateOnly bool
	// Expect fails with [ErrChanged] unless the file exists and is in this
	// state at the last moment before it is replaced.
	Expect *Version
}

// WriteFile replaces the content of a file, or makes the file with the
// folders it lies in. A reader sees the old content or the new one, never a
// mixture, also if the machine stops. A symbolic link stays and its target
// is written, as long as that lies inside. A failure changes nothing.
//
// Permission bits are kept, but not set-user-id and set-group-id, which a
// write removes on every system. Owner, group and extended attributes are
// kept where the process may set them; where the group cannot be kept, its
// permissions are cut to those of everybody. A file without any write
// permission is refused although a rename could replace it.
func (w *Workspace) WriteFile(ctx context.Context, name string, data []byte, opts WriteOptions) (Change, error) {
	return w.one(ctx, Step{Op: OpWrite, Name: name, Data: data, CreateOnly: opts.CreateOnly, Expect: opts.Expect}, "", nil)
}

// Edit reads a file, hands it to fn and writes what fn returns, in one turn:
// of any number of concurrent edits, each sees the result of the one before.
// A program that takes no part in the turns and writes in between makes the
// edit fail with [ErrChanged]. An error of fn is returned as it is and
// nothing is written. fn must not write through the workspace itself: it has
// the turn of the folder. The file must exist and have at most [MaxEdit]
// bytes.
func (w *Workspace) Edit(ctx context.Context, name string, fn func(old File) ([]byte, error)) (Change, error) {
	return w.one(ctx, Step{Op: OpWrite, Name: name}, "editing", fn)
}

func changedSince(name string) error {
	return failed(ErrChanged, "%s is no longer the file that was read: it was changed, replaced or removed in the meantime. Nothing was written; read it again", tool.Clip(name))
}
