package patch

import (
	"fmt"
	"strings"
)

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	endOfFile  = "*** End of File"
)

// A directive is one kind of control line of an envelope. The parser and the
// words for the model are made from the same table.
type directive struct {
	marker string
	// arg is what follows the marker, "" for nothing.
	arg string
	// action is set for a directive that begins a file.
	action Action
	// says is what the model is told.
	says string
}

var directives = []directive{
	{marker: beginPatch, says: "the first line"},
	{marker: "*** Add File: ", arg: "PATH", action: Add, says: "a new file: its lines follow, each with + in front (none for an empty file)"},
	{marker: "*** Delete File: ", arg: "PATH", action: Delete, says: "nothing follows"},
	{marker: "*** Update File: ", arg: "PATH", action: Update, says: "hunks follow, in the order of the file"},
	{marker: "*** Move to: ", arg: "PATH", says: "directly after Update File; with or without hunks"},
	{marker: "@@", says: "begins a hunk"},
	{marker: "@@ ", arg: "LINE", says: "begins a hunk somewhere below that line of the file; may be repeated, the outer line first"},
	{marker: endOfFile, says: "after a hunk that ends where the file ends"},
	{marker: endPatch, says: "the last line"},
}

// Grammar returns the control lines of the envelope, one a line, for the
// description of a tool.
func Grammar() string {
	var b strings.Builder
	for _, d := range directives {
		fmt.Fprintf(&b, "%s%s – %s\n", d.marker, d.arg, d.says)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// directiveOf finds the directive of a line that has no blanks around it,
// and its argument.
func directiveOf(line string) (directive, string, bool) {
	for _, d := range directives {
		if d.arg == "" && line == d.marker {
			return d, "", true
		}
		if d.arg != "" && d.marker[0] == '*' {
			if rest, ok := strings.CutPrefix(line, strings.TrimSpace(d.marker)); ok {
				return d, strings.TrimSpace(rest), true
			}
		}
	}
	return directive{}, "", false
}

// beginnings lists the lines that begin a file, for a message.
func beginnings() string {
	var out []string
	for _, d := range directives {
		if d.action != 0 {
			out = append(out, fmt.Sprintf("%q", d.marker+d.arg))
		}
	}
	return strings.Join(out, ", ")
}

// An envelope is a patch of this form while it is read.
type envelope struct {
	source
	at    int // the next line
	end   int // the line with the end marker
	files []File
	wrong SyntaxError
}

func parseEnvelope(s source) (*Patch, error) {
	e := envelope{source: s, at: 1}
	e.findEnd()
	for e.at < e.end {
		line := strings.TrimSpace(e.lines[e.at])
		d, arg, ok := directiveOf(line)
		switch {
		case line == "":
			e.at++
		case !ok || d.action == 0:
			e.wrong.add(e.number(e.at), "%s cannot stand here; a file begins with one of %s", quote(e.lines[e.at]), beginnings())
			e.skip()
		default:
			e.file(d.action, arg)
		}
	}
	if len(e.files) == 0 && len(e.wrong.Problems) == 0 {
		e.wrong.add(e.number(0), "no file is changed; between %s and %s a file begins with one of %s", beginPatch, endPatch, beginnings())
	}
	if err := e.wrong.err(); err != nil {
		return nil, err
	}
	return &Patch{Form: Envelope, Files: e.files}, nil
}

// findEnd finds the end marker: the last line, with blanks around it or not.
// Elsewhere a blank before it makes it a line of a hunk.
func (e *envelope) findEnd() {
	e.lines = e.lines[:e.last()+1]
	e.end = len(e.lines)
	for i, line := range e.lines {
		if strings.TrimRight(line, " \t") == endPatch || i == len(e.lines)-1 && strings.TrimSpace(line) == endPatch {
			e.end = i
			break
		}
	}
	switch {
	case e.end == len(e.lines):
		e.wrong.add(e.number(e.end-1), "the last line must be %q; the patch may have been cut off", endPatch)
	case e.end < len(e.lines)-1:
		e.wrong.add(e.number(e.end+1), "nothing may follow %q; put all files between one %q and one %q, and begin each line of a hunk with a blank, + or -", endPatch, beginPatch, endPatch)
	}
}

// skip goes on to the next line that begins a file.
func (e *envelope) skip() {
	for e.at++; e.at < e.end; e.at++ {
		if d, _, ok := directiveOf(strings.TrimSpace(e.lines[e.at])); ok && d.action != 0 {
			return
		}
	}
}

// file reads one file with all that follows its first line.
func (e *envelope) file(action Action, path string) {
	f := File{Action: action, Path: path, Form: Envelope, Line: e.number(e.at)}
	if path == "" {
		e.wrong.add(f.Line, "the path is missing")
	}
	e.at++
	switch action {
	case Add:
		e.content(&f)
	case Update:
		e.update(&f)
	}
	e.files = append(e.files, f)
}

// content reads the lines of a new file. An empty line between others has
// lost its +; at the end it is layout.
func (e *envelope) content(f *File) {
	var b strings.Builder
	blanks, noEnd := 0, false
	for ; e.at < e.end; e.at++ {
		line := e.lines[e.at]
		if text, ok := strings.CutPrefix(line, "+"); ok {
			b.WriteString(strings.Repeat("\n", blanks))
			b.WriteString(text)
			b.WriteByte('\n')
			blanks = 0
			continue
		}
		switch {
		case strings.TrimSpace(line) == "":
			blanks++
		case noEndMark(line):
			noEnd = true
		default:
			if _, _, ok := directiveOf(strings.TrimSpace(line)); ok {
				e.finishContent(f, b.String(), noEnd)
				return
			}
			if strings.HasPrefix(line, "***") {
				e.wrong.add(e.number(e.at), "%s is no control line; a file begins with one of %s", quote(line), beginnings())
				continue
			}
			e.wrong.add(e.number(e.at), "%s: every line of an added file begins with +", quote(line))
		}
	}
	e.finishContent(f, b.String(), noEnd)
}

func (e *envelope) finishContent(f *File, content string, noEnd bool) {
	if noEnd {
		content = strings.TrimSuffix(content, "\n")
	}
	f.Content = content
}

// update reads the target of a move and the hunks.
func (e *envelope) update(f *File) {
	for e.at < e.end && strings.TrimSpace(e.lines[e.at]) == "" {
		e.at++
	}
	moved := false
	if e.at < e.end {
		if d, arg, ok := directiveOf(strings.TrimSpace(e.lines[e.at])); ok && d.marker == "*** Move to: " {
			if arg == "" {
				e.wrong.add(e.number(e.at), "the path to move to is missing")
			}
			f.To, moved = arg, true
			e.at++
		}
	}
	wrongBefore := len(e.wrong.Problems)
	r := hunkReader{envelope: e, f: f}
	for e.at < e.end && r.line(e.lines[e.at]) {
		e.at++
	}
	r.close()
	if len(f.Hunks) == 0 && !moved && len(e.wrong.Problems) == wrongBefore {
		e.wrong.add(f.Line, "the update of %s has no hunk: give lines that begin with a blank, - or +", quote(f.Path))
	}
}

// A hunkReader reads the hunks of an update.
type hunkReader struct {
	*envelope
	f    *File
	hunk *Hunk
	// closed says that a hunk ended with the end of the file, so that the
	// next needs a line of its own to begin.
	closed bool
	// spoiled says that the hunk has a line that cannot be one.
	spoiled bool
}

// line takes one line, or reports false where the file ends. Only a line
// without blanks before it is a control line: an indented one is context.
func (r *hunkReader) line(line string) bool {
	number := r.number(r.at)
	switch {
	case strings.HasPrefix(line, "***"):
		return r.control(strings.TrimRight(line, " \t"), number)
	case strings.HasPrefix(line, "@@"):
		r.begin(line, number)
	case noEndMark(line):
		r.noEnd(number)
	case line == "" && r.hunk == nil:
	case line == "" || strings.IndexByte(" +-\t", line[0]) >= 0:
		if r.closed {
			r.wrong.add(number, "%s follows %q; a further hunk begins with @@", quote(line), endOfFile)
			r.closed = false
		}
		if r.hunk == nil {
			if d, _, ok := directiveOf(strings.TrimSpace(line)); ok && d.action != 0 && len(r.f.Hunks) == 0 {
				return false // a padded header, and there is no hunk for it to be part of
			}
			r.hunk = &Hunk{Line: number}
		}
		r.hunk.Lines = append(r.hunk.Lines, hunkLine(line))
	default:
		r.spoiled = true
		r.wrong.add(number, "%s: every line of a hunk begins with a blank (context), - (removed) or + (added)", quote(line))
	}
	return true
}

// control takes a line that begins with three stars.
func (r *hunkReader) control(line string, number int) bool {
	d, _, ok := directiveOf(line)
	switch {
	case ok && d.action != 0:
		return false
	case ok && d.marker == endOfFile:
		if r.hunk == nil || len(r.hunk.Lines) == 0 {
			r.wrong.add(number, "%q belongs after the lines of a hunk", endOfFile)
			return true
		}
		r.hunk.EOF = true
		r.close()
		r.closed = true
	case ok && d.marker == "*** Move to: ":
		r.wrong.add(number, "%s must come directly after the line of its %q", quote(line), "*** Update File: ")
	default:
		r.wrong.add(number, "%s is no control line; a file begins with one of %s, and a line of a hunk with a blank, - or +", quote(line), beginnings())
	}
	return true
}

// begin takes an @@ line: a hunk, or a further context of one that has no
// lines yet.
func (r *hunkReader) begin(line string, number int) {
	if r.hunk == nil || len(r.hunk.Lines) > 0 {
		r.close()
		r.hunk = &Hunk{Line: number}
	}
	r.closed = false
	g, heading, ok := parseRange(line)
	if ok {
		r.hunk.Start, r.hunk.After = g.start, g.after()
		r.hunk.Soft = true
	}
	if heading != "" {
		r.hunk.Context = append(r.hunk.Context, heading)
	}
}

func (r *hunkReader) noEnd(number int) {
	if r.hunk == nil || !r.hunk.markNoEnd() {
		r.wrong.add(number, "this remark belongs after a line of a hunk")
	}
}

// close ends the hunk that is open.
func (r *hunkReader) close() {
	if r.hunk == nil {
		return
	}
	switch {
	case len(r.hunk.Lines) > 0:
		r.f.Hunks = append(r.f.Hunks, *r.hunk)
	case !r.spoiled:
		r.wrong.add(r.hunk.Line, "the hunk that begins here has no lines")
	}
	r.hunk, r.spoiled = nil, false
}

// hunkLine takes a line of a hunk apart. An empty one is context that lost
// its blank, and so is one that begins with a tab.
func hunkLine(line string) Line {
	switch {
	case line == "":
		return Line{Kind: ' ', bare: true}
	case line[0] == '\t':
		return Line{Kind: ' ', Text: line}
	}
	return Line{Kind: line[0], Text: line[1:]}
}

// noEndMark reports whether a line is the remark that the line above it has
// no line end.
func noEndMark(line string) bool { return strings.HasPrefix(line, `\ `) }

// markNoEnd notes that the last line has no line end.
func (h *Hunk) markNoEnd() bool {
	if len(h.Lines) == 0 {
		return false
	}
	switch h.Lines[len(h.Lines)-1].Kind {
	case '-':
		h.OldNoEnd = true
	case '+':
		h.NewNoEnd = true
	default:
		h.OldNoEnd, h.NewNoEnd = true, true
	}
	h.EOF = true
	return true
}
