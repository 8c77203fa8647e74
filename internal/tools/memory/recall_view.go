package memory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/tool"
)

// recallBlock is how much of a result is read and prepared at once, in
// bytes. A line that is longer is shown by its start.
const recallBlock = 256 << 10

// view shows parts of one result.
type view struct {
	ctx      context.Context
	record   *store.Record
	content  *store.Content
	redactor *output.Redactor
	block    int64 // recallBlock
	out      strings.Builder
	note     string // on what was cleaned or replaced
}

// line is a line of the result as it may be shown.
type line struct {
	number int
	offset int64 // where it begins in the result
	size   int64 // how long it is there, without its newline
	read   int64 // how much of it was read
	text   string
}

// head says what is being shown.
func (v *view) head() {
	what := v.record.Tool
	if what == "" {
		what = "a tool"
	}
	lines := "lines"
	if v.record.Lines == 1 {
		lines = "line"
	}
	fmt.Fprintf(&v.out, "[Result %s of %s: %d %s, %d bytes", v.record.ID, what, v.record.Lines, lines, v.record.Size)
	for _, m := range v.record.Media {
		fmt.Fprintf(&v.out, ", %s of %d bytes", tool.Clip(m.MIME), m.Size)
	}
	v.out.WriteString("]\n")
}

// foot says what was shown and how to go on.
func (v *view) foot(format string, args ...any) {
	fmt.Fprintf(&v.out, "["+format+"]", args...)
	if v.note != "" {
		fmt.Fprintf(&v.out, "\n[%s]", v.note)
	}
}

// room is how many bytes may still be written before the foot.
func (v *view) room() int { return recallRoom - 500 - v.out.Len() }

// prepare returns raw, which stands at that offset of the result, as it may
// be shown, with as many newlines as it has.
func (v *view) prepare(raw string, offset int64) (shown string, err error) {
	const around = int64(output.MaxSecret)
	before, err := v.content.Window(offset-around, offset)
	if err != nil {
		return "", err
	}
	end := offset + int64(len(raw))
	after, err := v.content.Window(end, end+around)
	if err != nil {
		return "", err
	}
	p := output.PrepareWindow(before, raw, after, v.record.Verbatim, v.redactor)
	switch {
	case v.note == "":
		v.note = p.Note
	case v.record.Verbatim && p.Redacted != nil && !strings.HasSuffix(v.note, output.NoteReplaced):
		v.note += " " + output.NoteReplaced // of a later block
	}
	return p.Text, nil
}

// from yields the lines from that offset on, which is where the line of that
// number begins.
func (v *view) from(offset int64, number int) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for offset < v.content.Size {
			raw, next, err := v.readBlock(offset)
			shown := ""
			if err == nil {
				shown, err = v.prepare(raw, offset)
			}
			if err = cmp.Or(err, v.ctx.Err()); err != nil {
				yield(line{}, err)
				return
			}
			for raw != "" {
				var l line
				l.number, l.offset = number, offset
				var own string
				own, raw, _ = strings.Cut(raw, "\n")
				l.text, shown, _ = strings.Cut(shown, "\n")
				l.size = int64(len(own))
				l.read = l.size
				if raw == "" { // the last line of the block, which may go on beyond it
					l.size = next - offset
					if v.endsLine(next) {
						l.size--
					}
				}
				if !yield(l, nil) {
					return
				}
				number++
				offset += int64(len(own)) + 1
			}
			offset = next
		}
	}
}

// readBlock returns the whole lines that begin at offset, and where the next ones
// do. Of a line that is longer than a block it returns the start.
func (v *view) readBlock(offset int64) (raw string, next int64, err error) {
	raw, err = v.content.Window(offset, offset+v.block)
	next = offset + int64(len(raw))
	if err != nil || next == v.content.Size {
		return raw, next, err
	}
	if i := strings.LastIndexByte(raw, '\n'); i >= 0 {
		return raw[:i+1], offset + int64(i) + 1, nil
	}
	next, err = v.content.NextLine(v.ctx, next)
	return raw, next, err
}

// endsLine reports whether a newline stands before the offset.
func (v *view) endsLine(offset int64) bool {
	last, err := v.content.Window(offset-1, offset)
	return err == nil && last == "\n"
}

// numbered returns the line with its number, in the form in which read_file
// shows lines.
func (l line) numbered() string { return fmt.Sprintf("%d│%s\n", l.number, l.clip(recallLine)) }

// clip shortens the line to limit bytes, and says where it goes on.
func (l line) clip(limit int) string {
	if len(l.text) <= limit && l.read == l.size {
		return l.text
	}
	end := toRune(l.text, min(limit, len(l.text)))
	at := l.offset // where the text was altered, only its start is sure
	if l.isPlain() {
		at += int64(end)
	}
	return fmt.Sprintf("%s… [cut: this line has %d bytes; byte_offset %d shows more]", l.text[:end], l.size, at)
}

// isPlain reports whether the line is shown as it stands in the result.
func (l line) isPlain() bool { return int64(len(l.text)) == l.read }

func toRune(s string, end int) int {
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return end
}

// lines shows numbered lines.
func (v *view) lines(in recallIn) error {
	start, total := max(1, in.StartLine), v.record.Lines
	if start > total {
		return tool.Failf("the result %s has %d lines, so there is no line %d", v.record.ID, total, start)
	}
	offset, err := v.content.LineOffset(v.ctx, start)
	if err != nil {
		return err
	}
	last := start - 1
	for l, err := range v.from(offset, start) {
		if err != nil {
			return err
		}
		row := l.numbered()
		if len(row) > v.room() || in.Limit != 0 && last-start+1 == in.Limit {
			break
		}
		v.out.WriteString(row)
		last = l.number
	}
	if last >= total {
		v.foot("Lines %d to %d: the end.", start, total)
	} else {
		v.foot("Lines %d to %d of %d. Go on with start_line %d.", start, last, total, last+1)
	}
	return nil
}

// tail shows the last n lines, or as many of them as there is room for.
func (v *view) tail(n int) error {
	offset, err := v.content.TailOffset(v.ctx, n)
	if err != nil {
		return err
	}
	if far := v.content.Size - v.block; offset < far {
		if offset, err = v.content.NextLine(v.ctx, far); err != nil {
			return err
		}
		if offset == v.content.Size { // the last line alone is longer
			if offset, err = v.content.TailOffset(v.ctx, 1); err != nil {
				return err
			}
		}
	}
	first, err := v.content.LineAt(v.ctx, offset)
	if err != nil {
		return err
	}
	var rows []string
	for l, err := range v.from(offset, first) {
		if err != nil {
			return err
		}
		rows = append(rows, l.numbered())
	}
	keep, size := len(rows), 0
	for i, row := range slices.Backward(rows) {
		if size += len(row); size > v.room() {
			break
		}
		keep = i
	}
	for _, row := range rows[keep:] {
		v.out.WriteString(row)
	}
	if first += keep; v.record.Lines-first+1 < min(n, v.record.Lines) {
		v.foot("Lines %d to %d: the end. There is no room for more; start_line shows what stands before.", first, v.record.Lines)
	} else {
		v.foot("Lines %d to %d: the end.", first, v.record.Lines)
	}
	return nil
}

// bytes shows raw bytes.
func (v *view) bytes(in recallIn) error {
	from, size := int64(0), v.content.Size
	if in.ByteOffset != nil {
		from = *in.ByteOffset
	}
	if from >= size {
		return tool.Failf("the result %s has %d bytes, so there is nothing at byte_offset %d", v.record.ID, size, from)
	}
	limit := int64(v.room())
	if in.ByteLimit != 0 {
		limit = min(limit, in.ByteLimit)
	}
	from, err := v.align(from)
	if err != nil {
		return err
	}
	for {
		to, err := v.align(min(size, from+limit))
		if err != nil {
			return err
		}
		if to <= from { // a character is longer than the limit
			to = min(size, from+utf8.UTFMax)
		}
		raw, err := v.content.Window(from, to)
		if err != nil {
			return err
		}
		shown, err := v.prepare(raw, from)
		if err != nil {
			return err
		}
		if len(shown) > v.room() { // escapes and placeholders can be longer than what they show
			limit /= 2
			continue
		}
		v.out.WriteString(shown)
		if !strings.HasSuffix(shown, "\n") {
			v.out.WriteByte('\n')
		}
		if to == size {
			v.foot("Bytes %d to %d: the end.", from, size)
		} else {
			v.foot("Bytes %d to %d of %d. Go on with byte_offset %d.", from, to, size, to)
		}
		return nil
	}
}

// align moves an offset back to the start of the character that it lies in.
func (v *view) align(offset int64) (int64, error) {
	back := max(0, offset-utf8.UTFMax+1)
	text, err := v.content.Window(back, offset+1)
	if err != nil || offset >= v.content.Size {
		return offset, err
	}
	i := len(text) - 1
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	if !utf8.RuneStart(text[i]) { // no UTF-8
		return offset, nil
	}
	return back + int64(i), nil
}
