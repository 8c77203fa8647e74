package patch

import (
	"io/fs"
	"strings"
)

// Action is what a patch does to a file.
type Action uint8

// The actions. A file that is moved is updated, possibly by no hunk.
const (
	Add Action = iota + 1
	Update
	Delete
)

// Form is the notation that a patch is written in.
type Form uint8

// The notations.
const (
	Envelope Form = iota
	Unified
	Git
)

// String names the notation for a message.
func (f Form) String() string {
	return [...]string{"patch", "unified diff", "git diff"}[min(int(f), 2)]
}

// A Patch is what a text asks for, file by file in its order. A path may
// occur more than once.
type Patch struct {
	Form  Form
	Files []File
}

// A File is what a patch does to one file.
type File struct {
	Action Action
	// Path is the file as the patch names it, without the prefixes of a
	// diff; To is where it is moved, or "".
	Path, To string
	// Content is what an added file holds, with LF ends.
	Content string
	// Hunks are the changes of an update. Those of a file that is deleted
	// say what is expected to be in it; it may have none.
	Hunks []Hunk
	// Mode is the permission that git gives the file, 0 if none is stated.
	Mode fs.FileMode
	// Form is the notation that it was written in.
	Form Form
	// Line is where in the text of the patch it begins, from 1.
	Line int
}

// A Hunk is one change with the lines around it.
type Hunk struct {
	// Line is where in the text of the patch it begins, from 1.
	Line int
	// Context are the lines after @@, the outermost first. Soft says that
	// they are the heading that a diff tool adds: they may help to choose a
	// place, and need not be there.
	Context []string
	Soft    bool
	// Start is the first line of the old file that the header states, from
	// 1; 0 if it states none. After is set for a range of no lines, which
	// lies behind line Start; then 0 with After is the top of the file.
	Start int
	After bool
	// EOF says that the hunk ends where the file ends.
	EOF bool
	// OldNoEnd and NewNoEnd say that the last line has no line end before or
	// after the change. Both need EOF.
	OldNoEnd, NewNoEnd bool
	Lines              []Line
}

// A Line is one line of a hunk.
type Line struct {
	// Kind is ' ' for context, '-' for a line that goes and '+' for one that
	// comes.
	Kind byte
	Text string
	// bare says that the line was empty in the patch, without the blank of a
	// context line. At the end of a hunk it may be mere layout.
	bare bool
}

// side returns the lines of a hunk that are in the old file ('-') or in the
// new one ('+').
func side(lines []Line, kind byte) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		if l.Kind == ' ' || l.Kind == kind {
			out = append(out, l.Text)
		}
	}
	return out
}

// Changes counts the lines that a file gains and loses by its hunks or its
// content. For an added file nothing is lost.
func (f *File) Changes() (added, removed int) {
	if f.Action == Add {
		return len(splitContent(f.Content)), 0
	}
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// Added returns the lines that the hunks of a file bring, for those who
// check what would be written.
func (f *File) Added() string {
	if f.Action == Add {
		return f.Content
	}
	var b strings.Builder
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if l.Kind == '+' {
				b.WriteString(l.Text)
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

func splitContent(content string) []string {
	if content == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(content, "\n"), "\n")
}

// Options say what is known of a patch beside its text.
type Options struct {
	// Path is the file that a diff is about, or "". With it a diff needs no
	// header; one that it has must not speak of another file.
	Path string
}

// Parse reads the text of a patch. It fails with a [*SyntaxError] that lists
// what is wrong. A patch has at least one file.
func Parse(text string, opts Options) (*Patch, error) {
	s, err := unwrap(text)
	if err != nil {
		return nil, err
	}
	if s.is(beginPatch) {
		if opts.Path != "" {
			return nil, s.wrong(0, "this form of patch names its files itself; leave path out, or give a unified diff")
		}
		return parseEnvelope(s)
	}
	return parseDiff(s, opts)
}

// AsNew returns the content of a file that an update would make out of
// nothing: a diff whose only hunk says that there are no lines before.
func (f *File) AsNew() (string, bool) {
	if f.Action != Update || f.To != "" || len(f.Hunks) != 1 || !f.Hunks[0].After || f.Hunks[0].Start != 0 {
		return "", false
	}
	h := f.Hunks[0]
	if len(side(h.Lines, '-')) > 0 {
		return "", false
	}
	content := f.Added()
	if h.NewNoEnd {
		content = strings.TrimSuffix(content, "\n")
	}
	return content, true
}
