package file

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// bar stands between a line's number and its text. A tab in its place looks
// like part of the indentation (field report F009), and a colon or a pipe
// occurs in programs; this character hardly does, and nothing stands between
// it and the line, so a blank after it belongs to the file.
const bar = "│"

// digits is how wide the column of line numbers is, for lines up to last.
func digits(last int) int { return len(strconv.Itoa(last)) }

// appendNumber writes the number of a line and the bar.
func appendNumber(b []byte, number, width int) []byte {
	var room [20]byte
	text := strconv.AppendInt(room[:0], int64(number), 10)
	for range width - len(text) {
		b = append(b, ' ')
	}
	b = append(b, text...)
	return append(b, bar...)
}

// numberForms are the ways in which this and other systems put a number
// before a line. The first is ours.
var numberForms = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`^ *(\d+)` + bar + `(.*)$`),
		regexp.MustCompile(`^ *(\d+)(?:\t|→)(.*)$`),
		regexp.MustCompile(`^ *(\d+)(?:: |\| |:|\|)(.*)$`),
	}
})

// stripNumbers takes line numbers off a text that was copied from a listing.
// It reports false unless every line that is not blank has one, they count
// up by one, and there are at least two of them (one is enough in our own
// form, which nothing else looks like).
func stripNumbers(text string) (plain string, ours, ok bool) {
	for i, form := range numberForms() {
		if plain, n := stripForm(text, form); n >= 2 || n == 1 && i == 0 {
			return plain, i == 0, true
		}
	}
	return "", false, false
}

// stripForm returns the text without numbers of one form and how many lines
// had one; 0 if not all had.
func stripForm(text string, form *regexp.Regexp) (string, int) {
	lines := strings.Split(text, "\n")
	n, last := 0, 0
	for i, line := range lines {
		m := form.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
		if m == nil {
			if strings.TrimSpace(line) == "" {
				continue
			}
			return "", 0
		}
		number, err := strconv.Atoi(m[1])
		if err != nil || n > 0 && number != last+1 {
			return "", 0
		}
		lines[i], last = m[2], number
		n++
	}
	return strings.Join(lines, "\n"), n
}

// noticeStart begins every footer of a read, and of nothing else.
const noticeStart = "[read_file: "

// cutNotice returns the line of a text that is a footer of a read, or "".
func cutNotice(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, noticeStart) && strings.HasSuffix(line, "]") {
			return line
		}
	}
	return ""
}
