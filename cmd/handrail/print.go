package main

import (
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/plain"
	"github.com/handrail-tools/handrail/tool"
)

// printText writes text to standard output with a newline at its end. Where
// a person reads it, control characters are made visible: a file must not be
// able to move the cursor or to colour a lie.
func (t *terminal) printText(text string) {
	if t.outTTY {
		text = visible(text)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	fmt.Fprint(t.out, text)
}

// complain writes one message to standard error.
func (t *terminal) complain(format string, args ...any) {
	fmt.Fprintln(t.err, t.alarm("handrail:"), fmt.Sprintf(format, args...))
}

func (t *terminal) paint(on bool, code, text string) string {
	if !on || !t.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// alarm and faint are for standard error, the others for standard output.
func (t *terminal) alarm(text string) string { return t.paint(t.errTTY, "31", text) }
func (t *terminal) faint(text string) string { return t.paint(t.errTTY, "2", text) }
func (t *terminal) bold(text string) string  { return t.paint(t.outTTY, "1", text) }
func (t *terminal) good(text string) string  { return t.paint(t.outTTY, "32", text) }
func (t *terminal) bad(text string) string   { return t.paint(t.outTTY, "31", text) }
func (t *terminal) dim(text string) string   { return t.paint(t.outTTY, "2", text) }
func (t *terminal) warn(text string) string  { return t.paint(t.outTTY, "33", text) }

// visible writes every character that would steer a terminal, or that hides
// or reorders others, as an escape. Newlines and tabs stay. A byte that is
// not UTF-8 becomes U+FFFD: some terminals obey the C1 bytes.
func visible(s string) string { return plain.Text(s) }

// cell returns what stands in one place of a line: on one line, at most limit
// bytes long, and with nothing that steers a terminal.
func cell(s string, limit int) string {
	s = visible(tool.ClipText(s, limit))
	s = strings.NewReplacer("\n", `\u{a}`, "\t", `\u{9}`).Replace(s)
	return tool.ClipText(s, limit)
}

// table writes rows with their columns in line. The last column is not
// padded. Width is counted in characters, which is right for the names that
// stand in such tables.
func (t *terminal) table(rows [][]string, style func(row, column int, cell string) string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for y, row := range rows {
		var line strings.Builder
		for x, cell := range row {
			pad := ""
			if rest := strings.Join(row[x+1:], ""); rest != "" {
				pad = strings.Repeat(" ", width[x]-len([]rune(cell))+2)
			}
			if style != nil {
				cell = style(y, x, cell)
			}
			line.WriteString(cell + pad)
		}
		fmt.Fprintln(t.out, line.String())
	}
}
