// Package foreign reads the permission rules of other systems and says them
// in Handrail's own: the settings files of Claude Code and the rule files of
// Codex. It is given bytes and returns rules; it opens no file, and runs of a
// rule file only what the file itself can do, within limits.
//
// Nothing becomes weaker on the way. A rule that refuses or asks and cannot
// be carried over is an error, unless a stricter one can be put in its place;
// a rule that allows and cannot be carried over is left out. Both are told in
// the notes.
package foreign

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/permission"
)

// Limits of what is read. People write these files by hand; the largest that
// were seen have some hundred rules.
const (
	// MaxFile is the largest file, in bytes.
	MaxFile = 1 << 20
	// MaxRules is how many rules one file may come to, of ours.
	MaxRules = 10_000
)

// A Source is one file of another system.
type Source struct {
	// Name is the file's absolute path, with slashes. It tells the system and
	// which folder the paths in it are seen from.
	Name string
	Data []byte
	// Workspace and Home are absolute paths, with slashes and without links.
	// Without a home, "~" has no meaning.
	Workspace, Home string
	// WorkspaceLink and HomeLink are the same folders as people name them,
	// where that is by links.
	WorkspaceLink, HomeLink string
}

// Rules is what a file says.
type Rules struct {
	Permission permission.Config
	// Granted are further folders that may be read and written: absolute.
	Granted []string
	// Notes say what means something else here, and what was left out.
	Notes []Note
}

// A Note is about one entry of a file, or about the whole of it.
type Note struct {
	// Line counts from 1; 0 means the file as a whole.
	Line int
	// Text is a sentence that names the entry.
	Text string
}

func (n Note) String() string {
	if n.Line == 0 {
		return n.Text
	}
	return fmt.Sprintf("line %d: %s", n.Line, n.Text)
}

// Problems is the error of a file that cannot be carried over: everything
// that is in the way, in the order of the lines.
type Problems []Note

// Error has one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Read reads a file of either system: one whose name ends in ".rules" is of
// Codex, one that ends in ".json" of Claude Code. The error is a [Problems].
func Read(src Source) (*Rules, error) {
	switch {
	case len(src.Data) > MaxFile:
		return nil, Problems{{0, fmt.Sprintf("the file is larger than %d bytes", MaxFile)}}
	case path.Ext(src.Name) == ".rules":
		return readCodex(src)
	case path.Ext(src.Name) == ".json":
		return readClaude(src)
	}
	return nil, Problems{{0, "rules can be read from the settings of Claude Code (settings.json) and from the rules of Codex (*.rules)"}}
}

// effect is which list a rule stands in.
type effect int

const (
	allows effect = iota
	asks
	denies
)

func (e effect) String() string { return [...]string{"allow", "ask", "deny"}[e] }

// reader collects what one file comes to.
type reader struct {
	src      Source
	rules    Rules
	problems Problems
	seen     [3]map[string]bool
	full     bool
}

func (r *reader) note(line int, format string, args ...any) {
	r.rules.Notes = append(r.rules.Notes, Note{line, fmt.Sprintf(format, args...)})
}

func (r *reader) problem(line int, format string, args ...any) {
	r.problems = append(r.problems, Note{line, fmt.Sprintf(format, args...)})
}

// cannot is about a rule that cannot be said here: one that allows is left
// out, one that refuses stops the whole file.
func (r *reader) cannot(e effect, line int, entry, why string) {
	if e == allows {
		r.note(line, "allow %q is left out: %s", clip(entry), why)
		return
	}
	r.problem(line, "%s %q cannot be carried over: %s", e, clip(entry), why)
}

// add puts a rule of ours into its list, once.
func (r *reader) add(e effect, rule string) {
	list := [...]*[]string{&r.rules.Permission.Allow, &r.rules.Permission.Ask, &r.rules.Permission.Deny}[e]
	switch {
	case r.seen[e][rule]:
		return
	case len(r.seen[allows])+len(r.seen[asks])+len(r.seen[denies]) >= MaxRules:
		if !r.full {
			r.problem(0, "the file comes to more than %d rules", MaxRules)
		}
		r.full = true
		return
	case r.seen[e] == nil:
		r.seen[e] = map[string]bool{}
	}
	r.seen[e][rule] = true
	*list = append(*list, rule)
}

// result returns what was read, or everything that is in the way.
func (r *reader) result() (*Rules, error) {
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Note) int { return a.Line - b.Line })
		return nil, r.problems
	}
	return &r.rules, nil
}

// clip bounds what a message repeats of a file.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func named(name, spec string) string {
	if spec == "" {
		return name
	}
	return name + "(" + spec + ")"
}
