package output

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/tool"
)

const (
	// headShare is the part of a cut text that comes from its start, in
	// tenths. What was asked stands at the start and how it ended at the
	// end; octos keeps the same 70 %.
	headShare = 7

	// adviceRoom is the most that the sentences on how to go on may take,
	// in bytes. It is set aside before the cut is made, so that the advice
	// can name the very number that the marker names.
	adviceRoom = 640
)

// Budget is how much text of one result reaches the model, and what is said
// when there is more. It is the one routine behind every limit on text.
type Budget struct {
	// Bytes bounds the text with everything that is added to it; it is the
	// tool's own [tool.Spec.OutputLimit], whatever name it was called by. 0 or
	// less means [tool.DefaultOutput].
	Bytes int
	// Resume is the tool's own advice on how to go on, asked once the cut is
	// known. nil or an answer of "" means that the tool has none.
	Resume func(tool.Cut) string
	// ResultID is the id under which the whole result is kept, or "".
	ResultID string
	// RecallTool is the name under which this session sees the recall tool.
	// "" means that it does not, and then recall is not spoken of.
	RecallTool string
	// Note is a sentence about the text itself that closes the result, cut
	// or not. "" adds nothing.
	Note string
}

// Bounded is a text within its budget.
type Bounded struct {
	// Text is what the model reads.
	Text string
	// Omitted is how many bytes of the given text are not shown. 0 means
	// that nothing was cut.
	Omitted int
	// Total and Lines are the size of the given text.
	Total, Lines int
}

// Fits reports whether text would be shown whole.
func (b Budget) Fits(text string) bool {
	return len(text)+len(footer(text, "", b.Note)) <= b.limit()
}

func (b Budget) limit() int {
	if b.Bytes <= 0 {
		return tool.DefaultOutput
	}
	return b.Bytes
}

// Apply returns text within the budget. A text that is too long keeps its
// head and its tail; between them stands a paragraph that says which lines
// are shown and how many bytes are not. The result never exceeds the budget
// and allocates no more than that.
func (b Budget) Apply(text string) Bounded {
	out := Bounded{Text: text, Total: len(text), Lines: countLines(text)}
	if b.Fits(text) {
		out.Text += footer(text, "", b.Note)
		return out
	}
	limit := b.limit()
	advice := b.adviceRoom(limit)
	marker := markerRoom(len(text))
	room := limit - marker - advice - len(footer("", "", b.Note))
	if room < limit/4 {
		return out.clipped(limit)
	}
	head, tail := split(text, room)
	out.Omitted = tail - head
	g := newGap(text, head, tail, out.Lines)
	foot := footer(text[tail:], b.advice(tool.Cut{Omitted: out.Omitted, Total: out.Total, Lines: out.Lines}, g, advice), b.Note)

	var sb strings.Builder
	sb.Grow(head + marker + len(text) - tail + len(foot))
	sb.WriteString(text[:head])
	sb.WriteString(paragraph(text[:head]))
	sb.WriteString(g.marker())
	sb.WriteString("\n\n")
	sb.WriteString(text[tail:])
	sb.WriteString(foot)
	out.Text = sb.String()
	return out
}

// clipped is the cut for a budget that has no room for a sentence, nor for
// the note.
func (out Bounded) clipped(limit int) Bounded {
	const mark = "…"
	if len(out.Text) <= limit {
		return out
	}
	end := toRune(out.Text, max(0, limit-len(mark)))
	out.Omitted = out.Total - end
	if out.Text = out.Text[:end] + mark; len(mark) > limit {
		out.Text = ""
	}
	return out
}

// adviceRoom is how many bytes are set aside for advice.
func (b Budget) adviceRoom(limit int) int {
	if b.Resume == nil && (b.ResultID == "" || b.RecallTool == "") {
		return 0
	}
	return min(adviceRoom, limit/4)
}

// advice returns the sentences on how to go on, in at most room bytes with
// the brackets and blank line around them. A sentence that does not fit is
// left out whole: half a call would be tried as it stands.
func (b Budget) advice(cut tool.Cut, g gap, room int) string {
	room -= len(footer("", "x", ""))
	advice := ""
	if b.Resume != nil {
		if s := strings.TrimSpace(b.Resume(cut)); len(s) <= room {
			advice = s
		}
	}
	if b.ResultID == "" || b.RecallTool == "" {
		return advice
	}
	s := "The whole result is kept: call " + b.RecallTool + ` with {"id":"` + b.ResultID + `",` + g.lever() +
		`} to go on where it breaks off, or with "pattern" to search it.`
	switch {
	case advice == "" && len(s) <= room:
		return s
	case advice != "" && len(advice)+1+len(s) <= room:
		return advice + " " + s
	}
	return advice
}

// footer returns what closes a result: advice and note, each a line in
// brackets, in a paragraph of their own after text.
func footer(text, advice, note string) string {
	if advice == "" && note == "" {
		return ""
	}
	lead := paragraph(text)
	switch {
	case advice == "":
		return lead + "[" + note + "]"
	case note == "":
		return lead + "[" + advice + "]"
	}
	return lead + "[" + advice + "]\n[" + note + "]"
}

// paragraph returns what must follow text to begin a new paragraph.
func paragraph(text string) string {
	if strings.HasSuffix(text, "\n") {
		return "\n"
	}
	return "\n\n"
}

// split returns how many bytes of the start of text are kept and where its
// kept end begins; together they are at most room bytes. Both lie on rune
// boundaries, and on line boundaries where one is near.
func split(text string, room int) (head, tail int) {
	head = backToLine(text, room*headShare/10)
	return head, forwardToLine(text, len(text)-(room-head))
}

// near is the part of a kept piece that may be given up to end it at a line.
const near = 4

func backToLine(text string, end int) int {
	end = toRune(text, end)
	if i := strings.LastIndexByte(text[end-end/near:end], '\n'); i >= 0 {
		return end - end/near + i + 1
	}
	return end
}

// toRune moves end back to the start of a rune.
func toRune(text string, end int) int {
	for range utf8.UTFMax - 1 {
		if end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
	}
	return end
}

func forwardToLine(text string, start int) int {
	for range utf8.UTFMax - 1 {
		if start < len(text) && !utf8.RuneStart(text[start]) {
			start++
		}
	}
	if start == 0 || text[start-1] == '\n' {
		return start
	}
	if i := strings.IndexByte(text[start:start+(len(text)-start)/near], '\n'); i >= 0 {
		return start + i + 1
	}
	return start
}

// countLines returns how many lines text has; a last line need not end with
// a newline.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// gap describes the place where a text was cut.
type gap struct {
	head, tail, omitted int  // bytes kept at the start and at the end, and between
	first, next, lines  int  // the last line of the head, the first of the tail, all
	inFirst, inNext     bool // whether those two lines are shown in part
}

func newGap(text string, head, tail, lines int) gap {
	g := gap{head: head, tail: len(text) - tail, omitted: tail - head, lines: lines}
	breaks := strings.Count(text[:head], "\n")
	g.first = breaks
	if head == 0 || text[head-1] != '\n' {
		g.first++
		g.inFirst = text[head] != '\n'
	}
	g.next = breaks + strings.Count(text[head:tail], "\n") + 1
	g.inNext = text[tail-1] != '\n'
	return g
}

// markerRoom bounds the length of a marker and the blank lines around it,
// for a text of that many bytes: the longest wording, and seven numbers of
// which none exceeds the text's size.
func markerRoom(total int) int {
	return 128 + 7*len(strconv.Itoa(total))
}

// marker returns the sentence that stands in the gap.
func (g gap) marker() string {
	omitted := "; " + strconv.Itoa(g.omitted) + " bytes omitted.]"
	if g.lines == 1 {
		return "[Showing the first " + strconv.Itoa(g.head) + " and the last " + strconv.Itoa(g.tail) + " bytes of one line" + omitted
	}
	part := ""
	switch first, next := strconv.Itoa(g.first), strconv.Itoa(g.next); {
	case g.inFirst && g.inNext && g.first != g.next:
		part = ", with lines " + first + " and " + next + " in part"
	case g.inFirst:
		part = ", with line " + first + " in part"
	case g.inNext:
		part = ", with line " + next + " in part"
	}
	return "[Showing lines " + span(1, g.first) + " and " + span(g.next, g.lines) + " of " + strconv.Itoa(g.lines) + part + omitted
}

// span writes a range of line numbers.
func span(from, to int) string {
	if from == to {
		return strconv.Itoa(from)
	}
	return strconv.Itoa(from) + "–" + strconv.Itoa(to)
}

// lever returns the recall argument that goes on where the head ends.
func (g gap) lever() string {
	if g.inFirst {
		return `"byte_offset":` + strconv.Itoa(g.head)
	}
	return `"start_line":` + strconv.Itoa(g.first+1)
}
