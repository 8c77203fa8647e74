package file

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// maxNearScan bounds how many entries of a folder are looked at for a name
// that somebody may have meant.
const maxNearScan = 10_000

// pathError makes the refusal of a path teach: near names for one that does
// not exist, the tool that fits for one that is no file.
func pathError(w *workspace.Workspace, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing(w, name, err)
	case errors.Is(err, workspace.ErrNotRegular):
		if info, statErr := w.Stat(name); statErr == nil && info.IsDir() {
			return &tool.Error{Code: tool.CodeFailed, Err: err,
				Text: tool.Clip(name) + " is a folder, not a file; list_dir shows what is in it"}
		}
	}
	return err
}

// missing says what there is instead of a file that does not exist.
func missing(w *workspace.Workspace, name string, err error) error {
	rel, relErr := w.Rel(name)
	if relErr != nil {
		return relErr
	}
	var e *tool.Error
	if errors.As(err, &e) && strings.Contains(e.Text, "symbolic link") {
		return err
	}
	// Walk up to the folder that exists; the element below it is the one
	// that is wrong.
	dir, wrong := path.Dir(rel), path.Base(rel)
	for {
		if info, statErr := w.Stat(dir); statErr == nil && info.IsDir() {
			break
		}
		if dir == "." || dir == "/" {
			return err
		}
		dir, wrong = path.Dir(dir), path.Base(dir)
	}
	text := "there is no file " + tool.Clip(rel)
	if dir != path.Dir(rel) {
		text = "there is no folder " + tool.Clip(path.Join(dir, wrong)) + ", so no file " + tool.Clip(rel)
	}
	if what := handle(name); what != "" {
		text += "; " + what
	} else if near := nearNames(w, dir, wrong); len(near) > 0 {
		text += "; near names are " + strings.Join(near, ", ")
	} else {
		text += "; list_dir or glob shows what there is"
	}
	return &tool.Error{Code: tool.CodeFailed, Text: tool.ClipText(text, tool.MaxErrorText), Err: fs.ErrNotExist}
}

// handle says what a name is that looks like the handle of something else
// than a file, or "". Who is only told that there is no such file asks for it
// to be sent again (octos, lesson 47).
func handle(name string) string {
	scheme, rest, found := strings.Cut(name, "://")
	switch {
	case store.IsID(name):
		return "this is the id of an earlier result and not a path"
	case found && rest != "" && !strings.ContainsAny(scheme, "/. "):
		return "this is an address and not a path; only files of the workspace are read here"
	case uploadHandle(name):
		return "this looks like the handle of an upload and not like a path; what was uploaded need not be sent again: if it is in the workspace, list_dir shows under which name"
	}
	return ""
}

// uploadHandle reports whether a name is a word like "file", perhaps, and a
// long row of letters and digits that nobody would choose.
func uploadHandle(name string) bool {
	for _, prefix := range []string{"file-", "file_", "upload_", "upload-", "attachment_", "attachment-", "asset-", "blob-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	digits := 0
	for _, c := range name {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-':
		default:
			return false
		}
	}
	return len(name) >= 20 && digits >= 4
}

// nearNames lists entries of a folder whose name is like the one that was
// asked for, at most three.
func nearNames(w *workspace.Workspace, dir, name string) []string {
	d, err := w.OpenDir(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	var names, sameStem []string
	stem := strings.TrimSuffix(name, path.Ext(name))
	for len(names) < maxNearScan {
		entries, err := d.Readdirnames(1000)
		for _, entry := range entries {
			if workspace.IsTemp(entry) || w.Unreadable(path.Join(dir, entry)) {
				continue
			}
			names = append(names, entry)
			if stem != "" && strings.EqualFold(strings.TrimSuffix(entry, path.Ext(entry)), stem) {
				sameStem = append(sameStem, entry)
			}
		}
		if err != nil || len(entries) == 0 {
			break
		}
	}
	var near []string
	for _, entry := range append(suggest.NearestN(name, names, 3), sameStem...) {
		full := tool.Clip(path.Join(dir, entry))
		if len(near) < 3 && !slices.Contains(near, full) {
			near = append(near, full)
		}
	}
	return near
}
