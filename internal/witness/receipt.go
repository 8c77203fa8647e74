package witness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/tool"
)

// listed is how many changed files a receipt names, as in octos.
const listed = 20

// A Receipt is what a command changed.
type Receipt struct {
	changes    []change
	lost       []string // of which the content from before is not kept
	unrecorded string
	blind      bool
}

func (r Receipt) join(other Receipt) Receipt {
	r.changes = append(slices.Clone(r.changes), other.changes...)
	r.lost = append(slices.Clone(r.lost), other.lost...)
	if r.unrecorded == "" {
		r.unrecorded = other.unrecorded
	}
	r.blind = r.blind || other.blind
	return r
}

// Changed lists the files that changed, in order, each once.
func (r Receipt) Changed() []string {
	var names []string
	for _, c := range r.changes {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Lines says to the model what changed; nil says nothing.
func (r Receipt) Lines() []string {
	if r.blind {
		return []string{"What it changed cannot be told: the workspace is too large or too slow to be looked at. It cannot be undone."}
	}
	if len(r.changes) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("files_changed: %d", len(r.changes))}
	for i, c := range r.changes {
		if i == listed {
			lines = append(lines, fmt.Sprintf("  (+%d more)", len(r.changes)-i))
			break
		}
		lines = append(lines, "  "+spell(c.name)+c.what())
	}
	if len(r.lost) > 0 {
		lines = append(lines, fmt.Sprintf("The content from before is not kept of %s%s: it cannot be undone there.",
			spell(strings.Join(r.lost[:min(3, len(r.lost))], ", ")), more(len(r.lost)-3)))
	}
	if r.unrecorded != "" {
		lines = append(lines, r.unrecorded)
	}
	return lines
}

// spell shows a name on one line, whatever is in it.
func spell(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 || !utf8.ValidString(name) {
		name = strconv.Quote(name)
	}
	return tool.Clip(name)
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func (c change) what() string {
	switch {
	case c.was == nil:
		return " (created)"
	case c.is == nil:
		return " (deleted)"
	case c.was.mode != c.is.mode && c.was.size == c.is.size && c.was.modified == c.is.modified:
		return " (mode)"
	}
	return ""
}
