package memory

import (
	"fmt"
	"regexp"

	"github.com/handrail-tools/handrail/tool"
)

// grep shows the lines that match. It searches what may be shown, so that
// no pattern can ask for what was redacted; and it counts all matches, so
// that a cut list does not pass for the whole.
func (v *view) grep(in recallIn, re *regexp.Regexp) error {
	start := max(1, in.StartLine)
	if start > v.record.Lines {
		return tool.Failf("the result %s has %d lines, so there is no line %d", v.record.ID, v.record.Lines, start)
	}
	offset, err := v.content.LineOffset(v.ctx, start)
	if err != nil {
		return err
	}
	limit := in.Limit
	if limit == 0 {
		limit = recallHits
	}
	p := printer{view: v, context: in.Context}
	total, shown, last := 0, 0, 0
	for l, err := range v.from(offset, start) {
		if err != nil {
			return err
		}
		at := re.FindStringIndex(l.text)
		if at == nil {
			p.pass(l)
			continue
		}
		total++
		if shown < limit && !p.full && p.match(l, at) {
			shown++
			last = l.number
		}
	}
	where := ""
	if start > 1 {
		where = fmt.Sprintf(" from line %d on", start)
	}
	switch {
	case total == 0:
		v.foot("No line matches%s.", where)
	case shown < total:
		v.foot("%d of %d matching lines%s. Go on with start_line %d.", shown, total, where, last+1)
	case total == 1:
		v.foot("1 matching line%s, the only one.", where)
	default:
		v.foot("%d matching lines%s, all of them.", total, where)
	}
	return nil
}

// printer writes matches with the lines around them.
type printer struct {
	*view
	context int
	before  []line // the last lines that were not shown
	after   int    // how many lines the last match still has to come
	last    int    // the number of the last line written
	full    bool
}

// pass takes note of a line that does not match.
func (p *printer) pass(l line) {
	if p.full || p.context == 0 {
		return
	}
	if p.after > 0 {
		p.after--
		p.write(row(l, '-', nil))
		p.last = l.number
		return
	}
	if len(p.before) == p.context {
		p.before = append(p.before[:0], p.before[1:]...)
	}
	p.before = append(p.before, l)
}

// match writes a line that matches, and reports whether there was room.
func (p *printer) match(l line, at []int) bool {
	text := ""
	first := l.number - len(p.before)
	if p.context > 0 && p.last > 0 && first > p.last+1 {
		text = "--\n"
	}
	for _, b := range p.before {
		text += row(b, '-', nil)
	}
	p.before = p.before[:0]
	if !p.write(text + row(l, ':', at)) {
		return false
	}
	p.after, p.last = p.context, l.number
	return true
}

func (p *printer) write(text string) bool {
	if len(text) > p.room() {
		p.full = true
		return false
	}
	p.out.WriteString(text)
	return true
}

// row returns the line with its number. Of a long one it shows what stands
// around the match.
func row(l line, mark byte, at []int) string {
	if len(l.text) <= recallHit && l.read == l.size {
		return fmt.Sprintf("%d%c%s\n", l.number, mark, l.text)
	}
	from := 0
	if at != nil {
		from = toRune(l.text, max(0, at[0]-recallHit/4))
	}
	end := toRune(l.text, min(len(l.text), from+recallHit))
	dots := [2]string{}
	if from > 0 {
		dots[0] = "…"
	}
	if end < len(l.text) {
		dots[1] = "…"
	}
	offset := l.offset
	if l.isPlain() {
		offset += int64(from)
	}
	return fmt.Sprintf("%d%c%s%s%s [cut: this line has %d bytes; byte_offset %d shows this place]\n", l.number, mark, dots[0], l.text[from:end], dots[1], l.size, offset)
}
