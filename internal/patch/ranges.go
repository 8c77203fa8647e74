package patch

import (
	"strconv"
	"strings"
)

// A ranges is what an @@ line states of line numbers.
type ranges struct {
	start            int // of the old side
	oldLen, newLen   int
	counted, hasLens bool // lengths are known; they were written
}

// after reports whether the range has no old lines, so that start is the
// line before.
func (g ranges) after() bool { return g.hasLens && g.oldLen == 0 }

// parseRange reads an @@ line. ok says that it is one of a diff: with ranges
// or with dots in their place. Else all of it is context.
func parseRange(line string) (g ranges, heading string, ok bool) {
	rest := strings.TrimPrefix(line, "@@")
	inner, heading, closed := strings.Cut(rest, "@@")
	if !closed {
		inner = rest
	}
	switch fields := strings.Fields(inner); {
	case len(fields) == 0 && closed, closed && strings.Trim(inner, " .…,+-") == "":
		return g, trimBlank(heading), true
	case len(fields) >= 1 && strings.HasPrefix(fields[0], "-"):
		start, length, stated, good := parseSpan(fields[0][1:])
		if !good {
			break
		}
		g.start, g.oldLen, g.hasLens = start, length, stated
		if len(fields) > 1 && strings.HasPrefix(fields[1], "+") {
			if _, length, _, good := parseSpan(fields[1][1:]); good {
				g.newLen, g.counted = length, true
				fields = fields[1:]
			}
		}
		if !closed && len(fields) > 1 {
			heading = strings.Join(fields[1:], " ")
		}
		return g, trimBlank(heading), true
	}
	return ranges{}, trimBlank(rest), false
}

// trimBlank drops the blank between @@ and what follows it, and blanks at
// the end. The indentation of a context line stays.
func trimBlank(s string) string { return strings.TrimRight(strings.TrimPrefix(s, " "), " \t") }

// parseSpan reads "12,3" or "12".
func parseSpan(s string) (start, length int, stated, ok bool) {
	first, second, stated := strings.Cut(s, ",")
	start, err := strconv.Atoi(first)
	if err != nil || start < 0 {
		return 0, 0, false, false
	}
	if !stated {
		return start, 1, false, true
	}
	length, err = strconv.Atoi(second)
	if err != nil || length < 0 {
		return 0, 0, false, false
	}
	return start, length, true, true
}
