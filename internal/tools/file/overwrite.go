package file

import (
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxUnseen is the largest file that may be replaced without having
	// been seen, in bytes: one window of a read (octos).
	maxUnseen = maxReadBytes
	// unseenLoss is the size from which an unseen file may not shrink to
	// less than half: a model that writes twenty lines over two hundred
	// invents what it has not read (field report F025).
	unseenLoss = 1 << 10
)

// mayReplace is the guard against overwriting what the session does not
// know (octos #1638): a file that was seen in part only, that changed since
// it was seen, or whose view lost something. A file that was never seen may
// be replaced while it is small and the new content is not much smaller.
func mayReplace(views *workspace.Views, old workspace.File, size int64) error {
	name, was := tool.Clip(old.Rel), old.Version.Size
	if was == 0 {
		return nil
	}
	view, known, unsure := views.Of(old.Rel)
	switch {
	case !known && unsure && was > unseenLoss:
		return refused("unknown_view", "%s exists, and what was seen of it is no longer known. Read it whole with read_file, then write it", name)
	case !known && was > maxUnseen:
		return refused("partial_view", "%s exists, has %s and was never read. Read it whole with read_file, then write it; or change a part of it with edit_file", name, sizeOf(was))
	case !known && was >= unseenLoss && size < was/2:
		return refused("partial_view", "%s exists, was never read, and would lose most of its %s. Read it with read_file, then write it if that is what you want", name, sizeOf(was))
	case !known:
		return nil
	case !view.Same(old):
		return refused("changed", "%s has changed since you saw it. Read it again with read_file, then write it", name)
	case view.Lossy:
		return refused("lossy_view", "%s holds bytes that are no characters, which cannot be written back as text. Change the parts that you mean with edit_file, which leaves the rest alone", name)
	case view.Transformed && !view.Complete():
		return refused("transformed_view", "what you saw of %s is a converted form of it, and the file itself is something else; written back, that would destroy it. %s", name, otherWay(old.Rel))
	case !view.Complete():
		return refused("partial_view", "you have seen %d of the %d bytes of %s; writing it whole would lose the rest. Read what is missing with read_file (it says how to continue), or change a part with edit_file", view.Seen(), view.Total, name)
	}
	return nil
}

// otherWay says how a file is changed that is shown in another form.
func otherWay(rel string) string {
	if isNotebookName(rel) {
		return "Change its cells with notebook_edit; read_file with raw shows the file itself"
	}
	return "Write the text to another file"
}

// refused is the answer of a guard. kind is for the host.
func refused(kind, format string, args ...any) error {
	e := tool.Errorf(tool.CodeDenied, format+". Nothing was written.", args...)
	e.Metadata = map[string]any{"guard": kind}
	return e
}
