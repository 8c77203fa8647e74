package config

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// An Importer makes settings of the file of another system: its permission
// rules and the folders that it grants. name is absolute. notes say what
// means something else here; problems, that the file cannot be used. The
// File of neither is set. It must be safe for concurrent use.
type Importer func(name string, data []byte) (s Settings, notes, problems Problems)

// maxImports is how many files one settings file may name.
const maxImports = 100

// imports reads the list of files whose rules are taken over: a path that is
// absolute or begins with "~/", or one below the workspace.
func (d *decoder) imports(into *[]string) func(string, *node) {
	return func(path string, n *node) {
		var list []string
		d.list(&list)(path, n)
		if len(list) > maxImports {
			d.problem(n.at, "%s names more than %d files", path, maxImports)
		}
		for _, text := range list {
			at := d.file.places[entryKey(path, text)]
			if rest, ok := strings.CutPrefix(text, "~/"); ok && d.home != "" {
				text = filepath.Join(d.home, rest)
			}
			if !filepath.IsAbs(text) && (!filepath.IsLocal(text) || text[0] == '~') {
				d.problem(at, "%s: %q must be an absolute path, start with ~/, or lead to a file below the workspace", path, text)
			}
			*into = append(*into, filepath.Clean(text))
		}
	}
}

// importAll lays what the files say that f names beneath the settings of f
// itself, whose scalars win. Lists are joined, the allow list too: who names a
// file wants its rules beside the own ones.
func (l *Loaded) importAll(f *file, req Request) (Settings, Problems) {
	base, all := l.Settings, Settings{}
	var problems Problems
	for _, name := range f.settings.Import {
		if !filepath.IsAbs(name) {
			continue // read when everything that grants is known
		}
		data, err := readAll(os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0))
		s, ps := l.importOne(name, data, err, req)
		problems = append(problems, ps...)
		all.Join(s)
		l.Closed = append(l.Closed, name)
	}
	all.Permission.Approval = unlessAsked(base.Permission.Approval, all.Permission.Approval)
	allow, granted := all.Permission.Allow, all.Workspace.Granted
	all.Permission.Allow, all.Workspace.Granted = nil, nil
	s := overlay(overlay(base, all), f.settings)
	s.Permission.Allow = union(s.Permission.Allow, allow)
	s.Workspace.Granted = union(s.Workspace.Granted, granted)
	return s, problems
}

func (l *Loaded) importOne(name string, data []byte, err error, req Request) (Settings, Problems) {
	switch {
	case err != nil:
		return Settings{}, Problems{{File: name, Text: "reading the rules: " + reason(err)}}
	case req.Import == nil:
		return Settings{}, Problems{{File: name, Text: "the rules of other systems cannot be read here"}}
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return Settings{}, Problems{{File: name, Text: err.Error()}}
	}
	s, notes, problems := req.Import(abs, data)
	for i := range notes {
		notes[i].File = name
	}
	for i := range problems {
		problems[i].File = name
	}
	l.remember(name, s.Permission)
	l.Files = append(l.Files, name)
	l.Notes = append(l.Notes, notes...)
	return s, problems
}

// remember keeps which file entries were taken over from.
func (l *Loaded) remember(name string, p Permission) {
	if l.imported == nil {
		l.imported = map[string]string{}
	}
	for list, entries := range map[string][]string{"allow": p.Allow, "ask": p.Ask, "deny": p.Deny} {
		for _, entry := range entries {
			l.imported[entryKey("permission."+list, entry)] = name
		}
	}
}

// importOwn takes from the files below the workspace what refuses and asks. As
// with the workspace's own settings, whoever wrote the repository wrote them.
func (l *Loaded) importOwn(req Request) (problems Problems) {
	if req.Workspace == "" {
		return nil
	}
	for _, name := range l.Import {
		if filepath.IsAbs(name) {
			continue
		}
		full := filepath.Join(req.Workspace, name)
		data, err := readBeneath(req.Workspace, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // not every workspace has one
		}
		s, ps := l.importOne(full, data, err, req)
		problems = append(problems, ps...)
		if n := len(s.Permission.Allow) + len(s.Workspace.Granted); n > 0 {
			l.Notes = append(l.Notes, Problem{File: full, Text: "what the file allows and grants does not count, since it lies in the workspace; " +
				"name it by its absolute path to trust it, or put the rules into the user's file"})
		}
		l.Permission.Mode = lower(Modes(), l.Permission.Mode, s.Permission.Mode)
		l.Permission.Approval = cmp.Or(unlessAsked(l.Permission.Approval, s.Permission.Approval), l.Permission.Approval)
		l.Permission.Ask = union(l.Permission.Ask, s.Permission.Ask)
		l.Permission.Deny = union(l.Permission.Deny, s.Permission.Deny)
		if abs, err := filepath.Abs(full); err == nil {
			l.Closed = append(l.Closed, abs)
		}
	}
	return problems
}

// unlessAsked is an imported word for when a person is asked. "never" refuses
// what would be asked; where a person is asked about more than that, it would
// let happen without a question what the mode covers.
func unlessAsked(base, imported string) string {
	if base == "untrusted" || base == "always" {
		return ""
	}
	return imported
}

// readBeneath reads a file that the workspace may have made to lead elsewhere.
func readBeneath(workspace, name string) ([]byte, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return readAll(root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0))
}
