package file

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/handrail-tools/handrail/internal/patch"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// A patching is one patch while it is planned: what the files will be after
// each part of it, so that a later part builds on an earlier one.
type patching struct {
	ctx context.Context
	w   *workspace.Workspace
	// now is what a path holds after the parts so far: nil where nothing
	// is. A path that is not in it is as it is on the disk.
	now map[string]*patched
	// files are all that the patch touches, in its order.
	files []*patched
	// shifts are removals and moves, in their order.
	shifts []*patched
	wrong  []error
	held   int // bytes of the files that were read
}

// maxPatchHeld bounds the files that a patch holds in memory, in bytes: eight
// of the largest that can be edited.
const maxPatchHeld = 8 * workspace.MaxEdit

// A patched is one file that a patch is about.
type patched struct {
	name string // as the patch has it first
	// origin is where it is on the disk, "" for a new file; at is where it
	// will be, "" if it is deleted.
	origin, at     string
	link           bool // a symbolic link that is deleted
	large          bool // too large to be read
	old            workspace.File
	text           textfile.Text // with the changes so far
	data           []byte
	mode           fs.FileMode // of a new file
	written        bool        // data is to be written
	whole          bool        // data was given as a whole
	edits          [][]workspace.Edit
	regions        []region // of text.Content, that were written
	notes          []string
	added, removed int
}

func newPatching(ctx context.Context, w *workspace.Workspace) *patching {
	return &patching{ctx: ctx, w: w, now: make(map[string]*patched)}
}

// add plans one file of the patch, or notes what is wrong with it.
func (p *patching) add(f *patch.File) {
	var err error
	switch f.Action {
	case patch.Add:
		err = p.create(f)
	case patch.Delete:
		err = p.remove(f)
	default:
		err = p.update(f)
	}
	if err != nil {
		p.wrong = append(p.wrong, err)
	}
}

// refusal makes one error of all that is wrong.
func (p *patching) refusal() error {
	if len(p.wrong) == 0 {
		if !p.changes() {
			return tool.Failf("the patch changes nothing: what it would write is there already (line ends are kept as they are). Nothing was changed.")
		}
		return nil
	}
	code := tool.CodeInvalidInput
	var texts []string
	var meta map[string]any
	for _, err := range p.wrong {
		var e *tool.Error
		if !errors.As(err, &e) {
			return err // the call was withdrawn
		}
		texts = append(texts, strings.TrimSuffix(e.Text, " Nothing was changed."))
		if e.Code == tool.CodeDenied || code != tool.CodeDenied && e.Code == tool.CodeFailed {
			code = e.Code
		}
		if e.Metadata != nil {
			meta = e.Metadata
		}
	}
	const end = "\nNothing was changed: a patch is applied as a whole or not at all."
	text := tool.ClipText(strings.Join(texts, "\n"), tool.MaxErrorText-len(end)) + end
	return &tool.Error{Code: code, Text: text, Metadata: meta, Err: errors.Join(p.wrong...)}
}

func (p *patching) changes() bool {
	for _, f := range p.files {
		if f.written || f.at != f.origin {
			return true
		}
	}
	return false
}

// find returns the file that a name leads to after the parts so far, links
// followed, and the one spelling of its path. file is nil where there is
// nothing.
func (p *patching) find(name string) (file *patched, rel string, err error) {
	at, err := p.w.Resolve(name)
	if err != nil {
		return nil, "", err
	}
	if at.Unwritable != "" {
		return nil, "", tool.Errorf(tool.CodeDenied, "%s may not be written: %s.", tool.Clip(name), at.Unwritable)
	}
	if leaf, isLink, err := p.leaf(name, at.Rel); err != nil {
		return nil, "", err
	} else if f, touched := p.now[leaf]; isLink && touched {
		return f, leaf, nil // the link is gone, and what it led to is not meant
	}
	if f, ok := p.now[at.Rel]; ok {
		return f, at.Rel, nil
	}
	if !at.Exists {
		// A link without a target is there, and must not count as nothing.
		if _, err := p.w.ReadFile(p.ctx, name, maxWholeRead); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", pathError(p.w, name, err)
		}
		return nil, at.Rel, nil
	}
	f := &patched{name: name, origin: at.Rel, at: at.Rel}
	f.old, err = p.w.ReadFile(p.ctx, name, workspace.MaxEdit)
	if errors.Is(err, workspace.ErrTooLarge) {
		err = f.unread(p.w, name) // it can still be moved or deleted
	}
	if err != nil {
		return nil, "", pathError(p.w, name, err)
	}
	f.data = f.old.Data
	if p.held += len(f.data); p.held > maxPatchHeld {
		return nil, "", tool.Failf("%s: the files of the patch have more than %s together; divide the patch", tool.Clip(name), sizeOf(maxPatchHeld))
	}
	p.now[at.Rel] = f
	p.files = append(p.files, f)
	return f, at.Rel, nil
}

// unread describes a file that is too large to be held.
func (f *patched) unread(w *workspace.Workspace, name string) error {
	info, err := w.Stat(name)
	if err != nil {
		return err
	}
	version, ok := info.Sys().(workspace.Version)
	if !ok {
		return workspace.ErrTooLarge
	}
	f.large, f.old = true, workspace.File{Rel: f.origin, Version: version, Mode: info.Mode()}
	return nil
}

// leaf returns the path of a name whose last element is not followed, and
// whether that is a symbolic link.
func (p *patching) leaf(name, rel string) (string, bool, error) {
	own, err := p.w.Rel(name)
	if err != nil || own == rel {
		return rel, false, err
	}
	dir, err := p.w.Resolve(path.Dir(own))
	if err != nil {
		return "", false, err
	}
	own = path.Join(dir.Rel, path.Base(own))
	return own, own != rel, nil
}

// gone refuses a part that needs a file where an earlier part left none.
func gone(name string) error {
	return tool.Failf("%s: an earlier part of the patch deletes or moves this file", tool.Clip(name))
}

// existing is find for a file that must be there.
func (p *patching) existing(name string) (*patched, string, error) {
	f, rel, err := p.find(name)
	if err != nil || f != nil {
		return f, rel, err
	}
	if _, touched := p.now[rel]; touched {
		return nil, "", gone(name)
	}
	_, err = p.w.ReadFile(p.ctx, name, 0)
	return nil, "", pathError(p.w, name, err)
}

// create plans a new file, or the replacement of one that is known.
func (p *patching) create(f *patch.File) error {
	old, rel, err := p.find(f.Path)
	if err != nil {
		return err
	}
	if err := p.copied(f, old); err != nil {
		return err
	}
	if old == nil {
		file := p.revive(rel)
		if file == nil {
			file = &patched{name: f.Path, mode: f.Mode}
			p.files = append(p.files, file)
		}
		file.at = rel
		p.now[rel] = file
		return file.replace(p, f.Content)
	}
	if f.Form != patch.Envelope && len(old.data) > 0 {
		if string(old.data) == f.Content {
			return tool.Failf("already applied: %s exists with this content", tool.Clip(f.Path))
		}
		return tool.Failf("%s exists already, and the diff makes it as a new file; give a diff of what is to change in it", tool.Clip(f.Path))
	}
	if old.origin != "" {
		if err := mayReplace(p.w.Views(), old.old, int64(len(f.Content))); err != nil {
			return err
		}
	}
	return old.replace(p, f.Content)
}

// revive returns the file that the patch has deleted from a path, so that
// deleting and adding it again is one change.
func (p *patching) revive(rel string) *patched {
	for i, f := range p.shifts {
		if f.origin == rel && f.at == "" && !f.link {
			p.shifts = append(p.shifts[:i], p.shifts[i+1:]...)
			return f
		}
	}
	return nil
}

// remove plans a deletion. Of a symbolic link the link goes and the target
// stays.
func (p *patching) remove(f *patch.File) error {
	at, resolveErr := p.w.Resolve(f.Path)
	leaf, isLink, err := p.leaf(f.Path, at.Rel)
	if err != nil {
		return cmp.Or(resolveErr, err)
	}
	// A link that leads nowhere, or out, can still be removed.
	if isLink || resolveErr != nil {
		if _, touched := p.now[leaf]; touched {
			return gone(f.Path)
		}
		file := &patched{name: f.Path, origin: leaf, link: true}
		p.now[leaf] = nil
		p.files, p.shifts = append(p.files, file), append(p.shifts, file)
		return nil
	}
	file, rel, err := p.existing(f.Path)
	if err != nil {
		return err
	}
	if len(f.Hunks) > 0 {
		if err := p.edit(file, f); err != nil {
			return err
		}
		if len(file.data) > 0 {
			return tool.Failf("%s has lines that the diff which deletes it does not show; they would be lost. Delete it without hunks, or remove only the lines that you mean", tool.Clip(f.Path))
		}
	} else if text, err := textfile.Decode(file.data); err == nil {
		file.removed += countLines(text.Content)
	}
	p.drop(file, rel)
	return nil
}

// drop makes a file vanish.
func (p *patching) drop(file *patched, rel string) {
	moved := file.at != file.origin
	file.at, file.written = "", false
	p.now[rel] = nil
	if file.origin != "" && !moved {
		p.shifts = append(p.shifts, file)
	}
}

// update plans the hunks of a file, and its move.
func (p *patching) update(f *patch.File) error {
	file, rel, err := p.existing(f.Path)
	if content, ok := f.AsNew(); ok && errors.Is(err, fs.ErrNotExist) {
		return p.create(&patch.File{Action: patch.Add, Path: f.Path, Content: content, Mode: f.Mode, Form: f.Form})
	}
	if err != nil {
		return err
	}
	if f.Mode != 0 && file.origin != "" && f.Mode.Perm() != file.old.Mode.Perm() {
		if len(f.Hunks) == 0 && f.To == "" {
			return tool.Failf("%s: the diff changes nothing but its permissions, which a patch leaves as they are", tool.Clip(f.Path))
		}
		file.note("its permissions stay as they were")
	}
	if len(f.Hunks) > 0 {
		if err := p.edit(file, f); err != nil {
			return err
		}
	}
	if f.To == "" {
		return nil
	}
	return p.move(f, file, rel)
}

// move plans a move. One onto the file itself is none.
func (p *patching) move(f *patch.File, file *patched, rel string) error {
	if _, isLink, err := p.leaf(f.Path, rel); err != nil {
		return err
	} else if isLink {
		return tool.Failf("%s is a symbolic link to %s; name the file itself to move it", tool.Clip(f.Path), tool.Clip(rel))
	}
	over, to, err := p.find(f.To)
	if err != nil {
		return err
	}
	if over == file {
		file.note("it is moved onto itself, so it stays where it is")
		return nil
	}
	if _, isLink, err := p.leaf(f.To, to); err != nil {
		return err
	} else if isLink {
		return tool.Failf("%s is a symbolic link to %s; name the new path itself", tool.Clip(f.To), tool.Clip(to))
	}
	if over != nil {
		if over.origin != "" {
			if err := mayReplace(p.w.Views(), over.old, int64(len(file.data))); err != nil {
				return err
			}
		}
		file.note("it replaces the file that was there")
		p.drop(over, to)
	}
	p.now[rel], p.now[to] = nil, file
	first := file.at == file.origin
	file.at = to
	if file.origin != "" && first {
		p.shifts = append(p.shifts, file)
	}
	return nil
}

func (f *patched) note(text string) { f.notes = append(f.notes, text) }
