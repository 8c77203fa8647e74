package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// WorkspaceFile is where a workspace keeps its own settings, below its root.
const WorkspaceFile = ".handrail/config.json"

// Request says where to look for settings.
type Request struct {
	// Base is what holds where nobody says otherwise. Its Unreadable must be
	// the list that is in force then: the workspace's own file adds to it.
	Base Settings
	// Workspace is the root whose own file is read; "" reads none.
	Workspace string
	// UserFile is the user's own file, usually from [UserFile]. It need not
	// exist; "" reads none.
	UserFile string
	// File is a file that was asked for and must exist; "" asks for none.
	File string
	// Given, if not nil, is a settings file that is read in place of UserFile,
	// File and the workspace's own.
	Given *Given
	// Home stands for "~" in the files; "" leaves no such paths.
	Home string
	// Profile is the name of the profile to lay on top, or "".
	Profile string
	// Flags is what the command line says.
	Flags Settings
	// Import reads the files that settings name under "import"; without it
	// such a file is a problem.
	Import Importer
}

// Given is the text of a settings file, and what it is called in messages.
type Given struct {
	Name string
	Data []byte
}

// Loaded is the settings in force.
type Loaded struct {
	Settings
	// Files are the files that were found, in the order they were laid.
	Files []string
	// AllowFixed says that the workspace's own file has an allow list, beside
	// which no rule allows anything there.
	AllowFixed bool
	// Closed are the absolute paths of the trusted files, whether they exist
	// or not. No tool may touch them: whoever opens a workspace hands them to
	// it as closed.
	Closed []string
	// Notes say what the files of other systems mean otherwise there.
	Notes Problems

	files []*file
	// imported has the file that each entry of a list was taken over from.
	imported map[string]string
}

// UserFile returns where the user's own settings are looked for, or "" on a
// machine that has no place for them.
func UserFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "handrail", "config.json")
}

// Load reads the files that req names and lays them over each other. The
// error is a [Problems] where a file says something that is wrong.
func Load(req Request) (*Loaded, error) {
	l := &Loaded{Settings: req.Base.clone()}
	var problems Problems
	if req.Given != nil {
		found, ps := l.take(req.Given.Name, req.Given.Data, nil, req.Home, trusted)
		problems = append(problems, ps...)
		l.Settings, ps = l.importAll(found, req)
		problems = append(problems, ps...)
		req.UserFile, req.File, req.Workspace = "", "", ""
	}
	for _, one := range []struct {
		name     string
		required bool
	}{{req.UserFile, false}, {req.File, true}} {
		found, ps := l.trusted(one.name, one.required, req.Home)
		problems = append(problems, ps...)
		if found != nil {
			l.Settings, ps = l.importAll(found, req)
			problems = append(problems, ps...)
		}
	}
	own, ps := l.own(req.Workspace)
	problems = append(problems, ps...)

	if req.Profile != "" {
		p, err := l.profile(req.Profile)
		if err != nil && len(problems) == 0 {
			return nil, err
		}
		l.Settings = overlay(l.Settings, p)
	}
	l.Settings = overlay(l.Settings, req.Flags)
	if own != nil {
		l.AllowFixed = own.settings.Permission.Allow != nil
		l.Settings, ps = narrow(l.Settings, own)
		problems = append(problems, ps...)
	}
	problems = append(problems, l.importOwn(req)...)
	if len(problems) > 0 {
		return nil, problems
	}
	if err := l.closeFiles(req); err != nil {
		return nil, err
	}
	return l, nil
}

// Locate puts file:line:column in front of each line of text that quotes an
// entry of a list of the settings and names that list. What an entry means
// is known only to the rooms that read it, and they do not know the files.
func (l *Loaded) Locate(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if place := l.placeOf(line); place != "" {
			lines[i] = place + ": " + strings.TrimPrefix(line, "- ")
		}
	}
	return strings.Join(lines, "\n")
}

// Place returns file:line:column of an entry of a list of the permission
// section, by the list's name; the file alone where the entry is taken over
// from one of another system; or "" where it stands in none of the files.
func (l *Loaded) Place(list, entry string) string {
	for _, f := range slices.Backward(l.files) {
		if at, ok := f.places[entryKey("permission."+list, entry)]; ok {
			line, column := position(f.data, at)
			return fmt.Sprintf("%s:%d:%d", f.name, line, column)
		}
	}
	return l.imported[entryKey("permission."+list, entry)]
}

// Imported reports whether an entry of a list of the permission section comes
// from a file of another system, and from no other.
func (l *Loaded) Imported(list, entry string) bool {
	key := entryKey("permission."+list, entry)
	return l.imported[key] != "" && !slices.ContainsFunc(l.files, func(f *file) bool { _, own := f.places[key]; return own })
}

func (l *Loaded) placeOf(line string) string {
	for _, f := range slices.Backward(l.files) {
		for _, key := range slices.Sorted(maps.Keys(f.places)) {
			path, entry, isEntry := strings.Cut(key, "\x00")
			list := path[strings.LastIndexByte(path, '.')+1:]
			if isEntry && strings.Contains(line, list) && strings.Contains(line, quote(entry)) {
				at, column := position(f.data, f.places[key])
				return fmt.Sprintf("%s:%d:%d", f.name, at, column)
			}
		}
	}
	return ""
}

func (l *Loaded) profile(name string) (Settings, error) {
	all := BuiltinProfiles()
	maps.Copy(all, l.Profiles)
	if p, ok := all[name]; ok {
		return p, nil
	}
	names := slices.Sorted(maps.Keys(all))
	return Settings{}, fmt.Errorf("no profile is called %q%s; there are %s", name, didYouMean(name, names), strings.Join(names, ", "))
}

// trusted reads a file of the user's.
func (l *Loaded) trusted(name string, required bool, home string) (*file, Problems) {
	if name == "" {
		return nil, nil
	}
	data, err := readAll(os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0))
	if errors.Is(err, fs.ErrNotExist) && !required {
		return nil, nil
	}
	return l.take(name, data, err, home, trusted)
}

// own reads the workspace's file. The workspace may be hostile, so the file
// is opened beneath the root and is not waited for.
func (l *Loaded) own(workspace string) (*file, Problems) {
	if workspace == "" {
		return nil, nil
	}
	name := filepath.Join(workspace, filepath.FromSlash(WorkspaceFile))
	data, err := readBeneath(workspace, WorkspaceFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // whoever opens the workspace says whether it is there
	}
	return l.take(name, data, err, "", workspaceOwn)
}

func (l *Loaded) take(name string, data []byte, err error, home string, from source) (*file, Problems) {
	if err != nil {
		return nil, Problems{{File: name, Text: "reading the settings: " + reason(err)}}
	}
	f, problems := parse(name, data, home, from)
	l.Files = append(l.Files, name)
	l.files = append(l.files, f)
	return f, problems
}

// readAll reads a regular file of at most [MaxFile] bytes and closes it. It
// takes what opening it returned.
func readAll(f *os.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", MaxFile)
	}
	return data, nil
}

// closeFiles closes the user's files to tools, which could give themselves
// anything by them. They may lie in the workspace or in a granted folder, as
// they do when somebody works in the home directory.
func (l *Loaded) closeFiles(req Request) error {
	for _, name := range []string{req.UserFile, req.File} {
		if name == "" {
			continue
		}
		abs, err := filepath.Abs(name)
		if err != nil {
			return fmt.Errorf("finding the settings %s: %w", name, err)
		}
		l.Closed = append(l.Closed, abs)
	}
	return nil
}

// reason drops the path from a file error; it stands before the text.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

func quote(s string) string { return strconv.Quote(s) }
