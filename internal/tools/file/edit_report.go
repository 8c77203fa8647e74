package file

import (
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// snippetContext is how many lines are shown around a change.
	snippetContext = 3
	// maxSnippetLines bounds the lines of all snippets of an answer.
	maxSnippetLines = 60
	// maxSnippets bounds the changed places that are shown.
	maxSnippets = 6
)

// report says what was changed and shows it.
func (s *editing) report(c workspace.Change, edits []oneEdit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Edited %s: %s", tool.Clip(c.Rel), plural(s.made, "replacement"))
	if len(edits) > 1 {
		fmt.Fprintf(&b, " by %s", plural(len(edits), "edit"))
	}
	before, after := countLines(s.before), countLines(s.text.Content)
	switch {
	case after > before:
		fmt.Fprintf(&b, ", %s more", plural(after-before, "line"))
	case after < before:
		fmt.Fprintf(&b, ", %s fewer", plural(before-after, "line"))
	}
	b.WriteString(".")
	b.WriteString(stageNote(s.stages))
	b.WriteString(s.changed)
	b.WriteString(linkNote(c))
	b.WriteString("\n")
	b.WriteString(s.snippets())
	return b.String()
}

// snippets shows the changed lines as they are now.
func (s *editing) snippets() string {
	text := textfile.Unify(s.text.Content)
	parts := s.changedLines(text)
	var b strings.Builder
	shown, left := 0, maxSnippetLines
	for i, p := range parts {
		if i == maxSnippets || left <= 0 {
			break
		}
		if i > 0 {
			b.WriteString("…\n")
		}
		end := min(p.end, p.start+left)
		b.WriteString(listLines(text, p.start, end))
		left -= end - p.start
		if end < p.end {
			fmt.Fprintf(&b, "… %s of this change not shown\n", plural(p.end-end, "more line"))
		}
		shown++
	}
	if shown < len(parts) {
		fmt.Fprintf(&b, "… %s not shown\n", plural(len(parts)-shown, "more changed place"))
	}
	return b.String()
}

// changedLines returns the ranges of lines, from 0, that were written, with
// the lines around them, joined where they meet.
func (s *editing) changedLines(text string) []region {
	total := countLines(text)
	var parts []region
	line, at := 0, 0
	for _, r := range s.regions {
		if r.start < at || r.end > len(text) {
			continue
		}
		line += strings.Count(text[at:r.start], "\n")
		at = r.start
		last := line + strings.Count(strings.TrimSuffix(text[r.start:r.end], "\n"), "\n")
		p := region{max(line-snippetContext, 0), min(last+1+snippetContext, total)}
		if n := len(parts); n > 0 && p.start <= parts[n-1].end {
			parts[n-1].end = max(parts[n-1].end, p.end)
		} else if p.start < p.end {
			parts = append(parts, p)
		}
	}
	return parts
}
