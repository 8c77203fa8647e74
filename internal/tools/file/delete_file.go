package file

import (
	"context"
	_ "embed" // for the description
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxDeleted and maxDeletedSize bound a recursive delete, in entries and
	// bytes, so that all of it can be kept and brought back.
	maxDeleted     = 1000
	maxDeletedSize = 64 << 20
)

//go:embed delete_file.md
var deleteFileWords string

type deleteArgs struct {
	Path      string `json:"path" jsonschema:"the file, link or folder, relative to the workspace" min:"1"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"delete a folder with everything in it"`
}

// DeleteFile returns the tool delete_file.
func DeleteFile() tool.Tool {
	return tool.Typed[deleteArgs]{
		Spec: tool.Spec{
			Name: "delete_file", Aliases: []string{"remove_file"}, Title: "Delete a file",
			Description: words(deleteFileWords, "entries", maxDeleted, "size", sizeOf(maxDeletedSize)),
			ArgAliases:  map[string][]string{"path": {"file_path", "file", "filename", "target", "dir"}},
			Tags:        []string{"fs", "code"}, Effects: tool.Write,
		},
		Handle: deleteFile,
		Assess: assessDelete,
	}.Tool()
}

func assessDelete(ctx context.Context, in deleteArgs) (tool.Act, error) {
	at, err := workspace.From(ctx).ResolveEntry(in.Path)
	if err != nil {
		return tool.Act{}, err
	}
	act := tool.Act{Effects: tool.Write, Entries: []string{in.Path}, Summary: "delete " + tool.Clip(in.Path)}
	if in.Recursive && at.Mode.IsDir() {
		act.Trees = []string{in.Path}
		act.Summary += " with everything in it"
	}
	return act, nil
}

func deleteFile(ctx context.Context, _ *tool.Call, in deleteArgs) (*tool.Result, error) {
	w := workspace.From(ctx)
	at, err := w.ResolveEntry(in.Path)
	if err != nil {
		return nil, err
	}
	if !at.Exists {
		return nil, missing(w, in.Path, fs.ErrNotExist)
	}
	if !at.Mode.IsDir() || !in.Recursive {
		return deleteOne(ctx, w, in.Path, at)
	}
	d := felling{ctx: ctx, w: w, closed: workspace.ClosedFrom(ctx)}
	if err := d.add(at); err != nil {
		return nil, err
	}
	changes, err := w.Apply(ctx, d.steps)
	if err != nil {
		return nil, err
	}
	r := &tool.Result{OK: true, Text: fmt.Sprintf("Deleted the folder %s with everything in it: %s, %s, %s.",
		tool.Clip(at.Rel), plural(d.files, "file"), plural(len(changes)-d.files-1, "folder"), sizeOf(d.size))}
	for _, c := range changes {
		r.Changed = append(r.Changed, c.Rel)
	}
	return r, nil
}

// deleteOne deletes a file, a link or an empty folder.
func deleteOne(ctx context.Context, w *workspace.Workspace, name string, at workspace.Resolved) (*tool.Result, error) {
	c, err := w.Remove(ctx, name)
	if errors.Is(err, workspace.ErrNotEmpty) {
		return nil, &tool.Error{Code: tool.CodeFailed, Err: err, Text: tool.Clip(at.Rel) + " is a folder that is not empty. Nothing was deleted; set recursive to delete it with everything in it, list_dir shows what that is"}
	}
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Deleted %s%s", kindOf(c.Mode), tool.Clip(c.Rel))
	switch {
	case c.Mode.IsRegular():
		fmt.Fprintf(&b, " (%s).", sizeOf(c.Before.Size))
	case c.Mode&fs.ModeSymlink != 0:
		b.WriteString("; what it leads to stays.")
	default:
		b.WriteString(", which was empty.")
	}
	if c.OtherNames > 0 {
		fmt.Fprintf(&b, " The file has %s, as hard links, which stay.", plural(c.OtherNames, "other name"))
	}
	return &tool.Result{OK: true, Text: b.String(), Changed: []string{c.Rel}}, nil
}

// A felling collects what goes with a folder, the innermost first.
type felling struct {
	ctx    context.Context
	w      *workspace.Workspace
	closed func(path string) bool
	steps  []workspace.Step
	seen   int // entries, also those whose step is still to come
	files  int
	size   int64
}

func (d *felling) add(at workspace.Resolved) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	d.seen++
	if d.closed(at.Judged) {
		return &tool.Error{Code: tool.CodeDenied, Text: fmt.Sprintf("%s is %s, so the folder that holds it is not deleted. Nothing was deleted.", tool.Clip(at.Rel), closedWhy)}
	}
	if at.Mode.IsDir() {
		names, err := d.names(at.Rel)
		if err != nil {
			return err
		}
		for _, name := range names {
			child, err := d.w.ResolveEntry(path.Join(at.Rel, name))
			if err != nil {
				return err
			}
			if !child.Exists {
				continue // it went in this moment
			}
			if err := d.add(child); err != nil {
				return err
			}
		}
	} else {
		d.files++
		d.size += at.Size
	}
	if d.seen > maxDeleted || d.size > maxDeletedSize {
		return d.tooMuch()
	}
	d.steps = append(d.steps, workspace.Step{Op: workspace.OpRemove, Name: at.Rel})
	return nil
}

// names lists a folder in order, as far as the bound lets it count.
func (d *felling) names(rel string) ([]string, error) {
	dir, err := d.w.OpenDir(rel)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(maxDeleted + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("listing %s: %w", tool.Clip(rel), err)
	}
	names = slices.DeleteFunc(names, workspace.IsTemp)
	if d.seen+len(names) > maxDeleted {
		return nil, d.tooMuch()
	}
	slices.Sort(names)
	return names, nil
}

func (d *felling) tooMuch() error {
	return tool.Failf("the folder holds more than %d entries or %s, which is more than is deleted at once. Nothing was deleted; delete the folders in it one by one", maxDeleted, sizeOf(maxDeletedSize))
}
