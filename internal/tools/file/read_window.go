package file

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/tool"
)

// A window is the part of a file that a read asks for.
type window struct {
	// first and last are lines from 1; last 0 means the end.
	first, last int
	// bytes says that offset and limit count instead.
	bytes         bool
	offset, limit int64
	// room is how many bytes of the answer there are.
	room int
	// whole says that no range was named.
	whole bool
}

// window checks the range of a call. All that is wrong is said at once.
func (in readArgs) window() (window, error) {
	want := window{first: 1, limit: maxReadBytes, room: maxReadBytes}
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if in.StartLine != nil {
		// 0 is how callers that count from 0 name the first line.
		if want.first = max(*in.StartLine, 1); *in.StartLine < 0 {
			bad("start_line is %d; lines count from 1", *in.StartLine)
		}
	}
	if in.EndLine != nil {
		if want.last = *in.EndLine; want.last < want.first {
			bad("end_line %d comes before start_line %d", *in.EndLine, want.first)
		}
	}
	if in.Limit != nil {
		// A limit over a window means the same as a window.
		if want.last = want.first + min(*in.Limit, maxReadLines) - 1; *in.Limit < 1 {
			bad("limit is %d; it counts lines, at least 1", *in.Limit)
		}
	}
	if in.EndLine != nil && in.Limit != nil {
		bad("end_line and limit both say where to stop; give one of them")
	}
	if in.ByteOffset != nil || in.ByteLimit != nil {
		want.bytes = true
		if in.StartLine != nil || in.EndLine != nil || in.Limit != nil {
			bad("byte_offset and byte_limit do not go with start_line, end_line or limit")
		}
	}
	if in.ByteOffset != nil {
		if want.offset = *in.ByteOffset; want.offset < 0 {
			bad("byte_offset is %d; bytes count from 0", want.offset)
		}
	}
	if in.ByteLimit != nil {
		if want.limit = min(*in.ByteLimit, maxReadBytes); want.limit < 1 {
			bad("byte_limit is %d; it counts bytes, at least 1", want.limit)
		}
	}
	want.whole = !want.bytes && in.StartLine == nil && in.EndLine == nil && in.Limit == nil
	wrong = append(wrong, in.misfits(want)...)
	if len(wrong) > 0 {
		return window{}, tool.Invalidf("%s", strings.Join(wrong, ". "))
	}
	return want, nil
}

// shown is the part of a text that an answer holds.
type shown struct {
	text     string
	from, to int // the bytes of the text that were shown
	first    int // the first line; lines from it were shown
	lines    int
	total    int // lines of the text, -1 if they were not counted
	size     int64
	hidden   int // characters shown as escapes
	// rest is how many bytes of a line too long for the window were left
	// out, after byte to.
	rest  int
	bytes bool
}

// callFor begins the arguments of a call that reads on.
func callFor(name string) string {
	if len(name) <= tool.MaxEcho {
		if quoted, err := json.Marshal(name); err == nil {
			return fmt.Sprintf(`{"path": %s, `, quoted)
		}
	}
	return `{"path": "…", ` // too long to be repeated
}

// notes says which part was shown and which call shows the next.
func (s shown) notes(name string, want window) []string {
	path := callFor(name)
	if s.bytes {
		if s.from == 0 && int64(s.to) == s.size {
			return nil
		}
		note := fmt.Sprintf("bytes %d–%d of %d", s.from, s.to-1, s.size)
		if int64(s.to) < s.size {
			note += fmt.Sprintf(`; continue with %s"byte_offset": %d}`, path, s.to)
		}
		return []string{note}
	}
	if s.rest > 0 {
		note := fmt.Sprintf(`line %d is too long for one answer, %d more bytes of it follow with %s"byte_offset": %d}`, s.first+s.lines-1, s.rest, path, s.to)
		if s.total < 0 || s.first+s.lines <= s.total {
			note += fmt.Sprintf(`, the next line with %s"start_line": %d}`, path, s.first+s.lines)
		}
		return []string{note}
	}
	last := s.first + s.lines - 1
	if s.first == 1 && last == s.total {
		return nil
	}
	of := fmt.Sprintf("%d", s.total)
	if s.total < 0 {
		of = "a file of " + sizeOf(s.size)
	}
	note := fmt.Sprintf("lines %d–%d of %s", s.first, last, of)
	if s.total < 0 || last < s.total {
		note += fmt.Sprintf(`; continue with %s"start_line": %d}`, path, last+1)
	}
	return []string{note}
}

// hide replaces known secrets where the window cuts one in two, which nobody
// could recognise later. before, part and after are the text around and in
// the window; it reports whether the window holds a secret at all.
func (s *shown) hide(ctx context.Context, before, part, after string) bool {
	p := output.PrepareWindow(before, part, after, true, output.RedactorFrom(ctx))
	if p.Redacted == nil {
		return false
	}
	visible := strings.TrimSuffix(p.Text, "\n") + "\n"
	switch {
	case s.bytes:
		s.text = visible
	case s.rest > 0: // the part of one line, behind its number
		number, _, _ := strings.Cut(s.text, bar)
		s.text = number + bar + visible
	}
	return true
}

// A lister writes numbered lines until a window is full.
type lister struct {
	room   int
	out    []byte
	width  int
	hidden int
	lines  int
}

// add writes a line, and reports false where it no longer fits.
func (l *lister) add(number int, line string) bool {
	visible, hidden := textfile.Show(line)
	if l.lines >= maxReadLines || len(l.out)+l.width+len(bar)+len(visible)+1 > l.room {
		return false
	}
	l.out = append(appendNumber(l.out, number, l.width), visible...)
	l.out = append(l.out, '\n')
	l.hidden += hidden
	l.lines++
	return true
}

// addPart writes as much of a line as fits an empty window, and returns how
// many bytes of it that was.
func (l *lister) addPart(number int, line string) int {
	l.out = appendNumber(l.out, number, l.width)
	part, used, hidden := showUpTo(line, l.room-len(l.out)-1)
	l.out = append(append(l.out, part...), '\n')
	l.hidden += hidden
	l.lines++
	return used
}

// showUpTo returns the visible form of the start of a text, of at most room
// bytes and at least one character, and how much of the text that is.
func showUpTo(text string, room int) (visible string, used, hidden int) {
	end := min(len(text), max(room, 0))
	for end < len(text) && end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	for {
		visible, hidden = textfile.Show(text[:end])
		if len(visible) <= room || end <= 1 {
			return visible, end, hidden
		}
		// Escapes are longer than what they stand for.
		end = max(1, end-max(1, (len(visible)-room)/8))
		for end > 1 && !utf8.RuneStart(text[end]) {
			end--
		}
	}
}

// showLines lists the lines of a window.
func showLines(text string, want window) (shown, error) {
	mark := lineMark(text)
	total := strings.Count(text, mark)
	if text != "" && !strings.HasSuffix(text, mark) {
		total++
	}
	if want.first > total && (want.first > 1 || total > 0) {
		return shown{}, pastEnd(want.first, total)
	}
	if total == 0 {
		return shown{text: "(the file is empty)\n", first: 1, total: 0}, nil
	}
	last := total
	if want.last > 0 {
		last = min(want.last, total)
	}
	l := lister{room: want.room, width: digits(min(last, want.first+maxReadLines-1))}
	s := shown{first: want.first, total: total, size: int64(len(text))}
	s.from = lineStart(text, mark, want.first)
	s.to = s.from
	l.out = make([]byte, 0, min(len(text)-s.from+16*(last-want.first+1), maxReadBytes+64))
	for number := want.first; number <= last; number++ {
		line, next := cutLine(text[s.to:], mark)
		if !l.add(number, line) {
			if l.lines == 0 {
				used := l.addPart(number, line)
				s.rest = len(line) - used
				s.to += used
			}
			break
		}
		s.to += next
	}
	s.text, s.lines, s.hidden = string(l.out), l.lines, l.hidden
	return s, nil
}

func pastEnd(first, total int) error {
	return tool.Invalidf("start_line %d is past the end: the file has %s", first, plural(total, "line"))
}

// lineMark is what divides the lines of a text.
func lineMark(text string) string {
	if textfile.EndingOf(text) == textfile.CR {
		return "\r"
	}
	return "\n"
}

// lineStart returns where line number begins; it exists.
func lineStart(text, mark string, number int) int {
	at := 0
	for range number - 1 {
		at += strings.Index(text[at:], mark) + 1
	}
	return at
}

// cutLine returns the first line without its end, and its length with it.
func cutLine(text, mark string) (line string, next int) {
	i := strings.Index(text, mark)
	if i < 0 {
		return text, len(text)
	}
	return strings.TrimSuffix(text[:i], "\r"), i + 1
}

// showBytes shows part of a text without line numbers.
func showBytes(text string, want window) (shown, error) {
	size := int64(len(text))
	if want.offset >= size {
		return shown{}, pastBytes(want.offset, size)
	}
	from := int(want.offset)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	s := shown{from: from, size: size, bytes: true}
	s.text, s.to, s.hidden = showPart(text[from:min(size, int64(from)+want.limit+utf8.UTFMax)], int(want.limit), want.room)
	s.to += from
	return s, nil
}

func pastBytes(offset, size int64) error {
	return tool.Invalidf("byte_offset %d is past the end: the text has %d bytes", offset, size)
}

// showPart shows the start of a text that spans lines, at most limit bytes
// of it and as many as fit the room, and returns how many that were.
func showPart(text string, limit, room int) (visible string, used, hidden int) {
	end := min(limit, len(text))
	for end < len(text) && end > 1 && !utf8.RuneStart(text[end]) {
		end--
	}
	if end < len(text) && !utf8.RuneStart(text[end]) {
		_, end = utf8.DecodeRuneInString(text) // a limit below one character
	}
	if end < len(text) && text[end] == '\n' && text[end-1] == '\r' {
		end++ // both are one line end
	}
	var b strings.Builder
	for used < end {
		line, next := cutLine(text[used:end], "\n")
		part, n, h := showUpTo(line, room-b.Len())
		if n == 0 && line != "" || b.Len()+len(part)+1 > room && used > 0 {
			break
		}
		b.WriteString(part)
		hidden += h
		if n < len(line) {
			used += n
			break
		}
		if used += next; next > len(line) {
			b.WriteByte('\n')
		}
	}
	visible = b.String()
	if !strings.HasSuffix(visible, "\n") {
		visible += "\n"
	}
	return visible, used, hidden
}
