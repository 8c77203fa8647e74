package patch

import (
	"io/fs"
	"strconv"
	"strings"
)

// A section is what a diff says of one file, while it is read.
type section struct {
	line     int // of the text, from 1
	git      bool
	names    bool   // --- and +++ were there
	old, new string // as --- and +++ or the git header have them, with prefixes
	from, to string // of a git rename
	added    bool
	deleted  bool
	mode     fs.FileMode
	oldMode  bool
	hunks    []Hunk
}

// A diff is a unified or git diff while it is read.
type diff struct {
	source
	at      int
	path    string // that the caller gave
	current *section
	patch   Patch
	wrong   SyntaxError
}

func parseDiff(s source, opts Options) (*Patch, error) {
	d := diff{source: s, path: opts.Path, patch: Patch{Form: Unified}}
	for d.at < len(d.lines) && !d.starts(d.at) {
		d.at++ // what stands before a diff: a commit message, a sentence
	}
	if d.at == len(d.lines) {
		if opts.Path == "" || !d.bareBody() {
			return nil, d.notAPatch()
		}
		d.at = 0
		d.current = &section{line: d.number(0)}
		d.hunk(d.at, ranges{}, "")
	}
	for d.at < len(d.lines) {
		d.next()
	}
	d.finish()
	if len(d.patch.Files) == 0 && len(d.wrong.Problems) == 0 {
		return nil, d.notAPatch()
	}
	if d.path != "" && len(d.patch.Files) > 1 {
		d.wrong.add(d.patch.Files[1].Line, "a second file begins here, and path names one; leave path out to change several files")
	}
	if err := d.wrong.err(); err != nil {
		return nil, err
	}
	return &d.patch, nil
}

// notAPatch says what a text lacks that is no patch.
func (d *diff) notAPatch() error {
	for i, line := range d.lines {
		line = strings.TrimSpace(line)
		switch {
		case line == beginPatch:
			return d.wrongHere(i, "%q must be the first line; leave out what stands before it", beginPatch)
		case strings.HasPrefix(line, "*** ") && i+1 < len(d.lines) && strings.HasPrefix(d.lines[i+1], "--- "):
			return d.wrongHere(i, "context diffs are not read; give a unified diff")
		}
		if _, _, ok := directiveOf(line); ok {
			return d.wrongHere(i, "%s is part of a patch whose first line is %q and whose last is %q; add them", quote(line), beginPatch, endPatch)
		}
	}
	if len(d.lines) == 1 && strings.Contains(d.lines[0], `\n`) {
		return d.wrongHere(0, `the patch is one line with \n in it; give it with real line ends`)
	}
	return d.wrongHere(0, "%s begins no patch. A patch begins with %q; a unified diff with \"--- a/PATH\" and \"+++ b/PATH\"; a hunk of it with @@", quote(d.lines[0]), beginPatch)
}

func (d *diff) wrongHere(i int, format string, args ...any) error {
	return d.source.wrong(i, format, args...)
}

// bareBody reports whether the text is the lines of one hunk and nothing
// else.
func (d *diff) bareBody() bool {
	changes := false
	for _, line := range d.lines {
		if !contentLike(line) {
			return false
		}
		changes = changes || strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")
	}
	return changes
}

// starts reports whether a file or a hunk begins at a line.
func (d *diff) starts(i int) bool {
	line := d.lines[i]
	return strings.HasPrefix(line, "diff --") || strings.HasPrefix(line, "@@") || d.fileHeader(i) || binaryLine(line)
}

// fileHeader reports whether two lines name the old and the new file.
func (d *diff) fileHeader(i int) bool {
	return i+1 < len(d.lines) && strings.HasPrefix(d.lines[i], "--- ") && strings.HasPrefix(d.lines[i+1], "+++ ")
}

func binaryLine(line string) bool {
	return line == "GIT binary patch" || strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(line, " differ")
}

// next takes one line outside of a hunk, or a whole hunk.
func (d *diff) next() {
	line := d.lines[d.at]
	switch {
	case d.fileHeader(d.at):
		d.fileNames()
	case strings.HasPrefix(line, "diff --git "):
		d.finish()
		d.current = &section{line: d.number(d.at), git: true}
		d.current.old, d.current.new = gitNames(strings.TrimPrefix(line, "diff --git "))
		d.patch.Form = Git
	case strings.HasPrefix(line, "@@@"), strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "diff --combined "):
		d.wrong.add(d.number(d.at), "this is the diff of a merge, which cannot be applied; give the diff against one parent")
		d.skip()
		return
	case strings.HasPrefix(line, "@@"):
		d.hunkAt()
		return
	case binaryLine(line):
		d.wrong.add(d.number(d.at), "%s is changed as a binary file; only text can be patched", quote(d.named()))
		d.skip()
		return
	case d.signature(d.at):
		d.at = len(d.lines)
		return
	case strings.TrimSpace(line) == "", strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "Index: "), strings.Trim(line, "=") == "":
	case d.extended(line):
	case d.current != nil && d.current.names && len(d.current.hunks) == 0 && contentLike(line):
		d.hunk(d.at, ranges{}, "") // a hunk whose @@ line is missing
		return
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		d.wrong.add(d.number(d.at), `a file begins with two lines, "--- a/PATH" and "+++ b/PATH"; one of them is missing`)
	default:
		d.wrong.add(d.number(d.at), "%s cannot stand here: a line of a hunk begins with a blank (context), - or +, a hunk with @@, and a file with %q", quote(line), "--- a/PATH")
		d.skip()
		return
	}
	d.at++
}

// skip goes on to where a file or a hunk begins, after a mistake.
func (d *diff) skip() {
	for d.at++; d.at < len(d.lines) && !d.starts(d.at); d.at++ {
	}
}

// signature reports whether the mail that holds a patch ends here: "-- " and
// the version of git.
func (d *diff) signature(i int) bool {
	if strings.TrimRight(d.lines[i], " ") != "--" || i+1 != d.last() {
		return false
	}
	first, _, ok := strings.Cut(d.lines[i+1], ".")
	return ok && first != "" && strings.Trim(first, "0123456789") == ""
}

// named names the file of the current section for a message.
func (d *diff) named() string {
	if d.path != "" {
		return d.path
	}
	if d.current == nil {
		return "a file"
	}
	_, name := stripPrefixes(d.current.old, d.current.new)
	if name == devNull {
		name, _ = stripPrefixes(d.current.old, d.current.new)
	}
	return name
}

// fileNames takes the two lines that name a file.
func (d *diff) fileNames() {
	old, err := fileName(d.lines[d.at][len("--- "):])
	if err != nil {
		d.wrong.add(d.number(d.at), "%v", err)
	}
	new, err := fileName(d.lines[d.at+1][len("+++ "):])
	if err != nil {
		d.wrong.add(d.number(d.at+1), "%v", err)
	}
	if c := d.current; c == nil || !c.git || c.names || len(c.hunks) > 0 {
		d.finish()
		d.current = &section{line: d.number(d.at)}
	}
	d.current.names, d.current.old, d.current.new = true, old, new
	d.at++ // and one more by the caller
}

// extended takes a line of git's header. It reports false for any other.
func (d *diff) extended(line string) bool {
	c := d.current
	if c == nil || len(c.hunks) > 0 {
		return false
	}
	for _, known := range []string{"similarity index ", "dissimilarity index ", "index "} {
		if strings.HasPrefix(line, known) {
			return true
		}
	}
	word, rest, ok := cutAny(line, "old mode ", "new mode ", "new file mode ", "deleted file mode ", "rename from ", "rename to ", "copy from ", "copy to ")
	if !ok {
		return false
	}
	switch word {
	case "rename from ":
		c.from = d.gitName(rest)
	case "rename to ":
		c.to = d.gitName(rest)
	case "copy from ":
		d.wrong.add(d.number(d.at), "copies are not made; add the new file with its content")
	case "copy to ":
	default:
		c.added = c.added || word == "new file mode "
		c.deleted = c.deleted || word == "deleted file mode "
		d.setMode(word, rest)
	}
	return true
}

func (d *diff) gitName(s string) string {
	name, err := unquote(s)
	if err != nil {
		d.wrong.add(d.number(d.at), "%v", err)
	}
	return name
}

// setMode takes a mode of git: the kind of file and its permissions.
func (d *diff) setMode(word, text string) {
	mode, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32)
	switch kind := mode >> 12; {
	case err != nil:
		d.wrong.add(d.number(d.at), "%s is no mode; a file has 100644 or 100755", quote(text))
	case kind == 0o12:
		d.wrong.add(d.number(d.at), "%s is a symbolic link; a patch changes regular files only", quote(d.named()))
	case kind == 0o16:
		d.wrong.add(d.number(d.at), "%s is a submodule; a patch changes regular files only", quote(d.named()))
	case kind != 0o10 && kind != 0:
		d.wrong.add(d.number(d.at), "%s is no mode of a regular file; one has 100644 or 100755", quote(text))
	case word == "old mode ":
		d.current.oldMode = true
		d.current.mode = fs.FileMode(mode & 0o777)
	case word == "new mode " && d.current.oldMode && d.current.mode == fs.FileMode(mode&0o777):
		d.current.mode = 0 // no change
	case word != "deleted file mode ":
		d.current.mode = fs.FileMode(mode & 0o777)
	}
}

func cutAny(line string, words ...string) (word, rest string, ok bool) {
	for _, w := range words {
		if rest, ok := strings.CutPrefix(line, w); ok {
			return w, rest, true
		}
	}
	return "", "", false
}

// hunkAt takes a hunk that begins with an @@ line.
func (d *diff) hunkAt() {
	if d.current == nil {
		if d.path == "" {
			d.wrong.add(d.number(d.at), `this hunk belongs to no file; put "--- a/PATH" and "+++ b/PATH" before it`)
			d.skip()
			return
		}
		d.current = &section{line: d.number(d.at)}
	}
	g, heading, ok := parseRange(d.lines[d.at])
	if !ok {
		g = ranges{}
	}
	d.hunk(d.at+1, g, heading)
	if n := len(d.current.hunks); n > 0 {
		d.current.hunks[n-1].Soft = ok
	}
}

// hunk takes the lines of a hunk from line from on.
func (d *diff) hunk(from int, g ranges, heading string) {
	h := Hunk{Line: d.number(d.at), Start: g.start, After: g.after()}
	if heading != "" {
		h.Context = []string{heading}
	}
	end := d.bodyEnd(from, g)
	for i := from; i < end; i++ {
		if noEndMark(d.lines[i]) {
			if !h.markNoEnd() {
				d.wrong.add(d.number(i), "this remark belongs after a line of a hunk")
			}
			continue
		}
		h.Lines = append(h.Lines, hunkLine(d.lines[i]))
	}
	d.at = end
	if len(h.Lines) == 0 {
		d.wrong.add(h.Line, "the hunk that begins here has no lines")
		if d.at < from {
			d.at = from
		}
		return
	}
	d.current.hunks = append(d.current.hunks, h)
}

// contentLike reports whether a line can be one of a hunk.
func contentLike(line string) bool {
	return line == "" || strings.IndexByte(" +-\t", line[0]) >= 0 || noEndMark(line)
}

// bodyEnd returns where the lines of a hunk end. What its header states
// decides if it leads to a place where a hunk can end; so a removed line
// "-- x" is none that names a file. Where the counts are wrong the lines end
// where something else begins.
func (d *diff) bodyEnd(from int, g ranges) int {
	if g.counted {
		if end, ok := d.counted(from, g); ok {
			return end
		}
	}
	i := from
	for i < len(d.lines) && contentLike(d.lines[i]) && !d.fileHeader(i) && !d.signature(i) {
		i++
	}
	return i
}

// counted follows the counts of a header.
func (d *diff) counted(from int, g ranges) (int, bool) {
	old, new, i := g.oldLen, g.newLen, from
	for old > 0 || new > 0 {
		if i == len(d.lines) || !contentLike(d.lines[i]) {
			return 0, false
		}
		switch line := d.lines[i]; {
		case noEndMark(line):
		case strings.HasPrefix(line, "-"):
			old--
		case strings.HasPrefix(line, "+"):
			new--
		default:
			old, new = old-1, new-1
		}
		if old < 0 || new < 0 {
			return 0, false
		}
		i++
	}
	for i < len(d.lines) && noEndMark(d.lines[i]) {
		i++
	}
	after := i
	for after < len(d.lines) && d.lines[after] == "" {
		after++
	}
	ends := after == len(d.lines) || !contentLike(d.lines[after]) || d.fileHeader(after) || d.signature(after)
	return i, ends && i > from
}
