package main

import "strings"

// showsDiff are the tools whose results hold a unified diff.
var showsDiff = map[string]bool{"undo": true, "workspace_diff": true, "workspace_show": true}

// printDiff is printText with the lines of a diff in colour where a person
// reads them.
func (t *terminal) printDiff(text string) {
	if !t.outTTY || !t.color {
		t.printText(text)
		return
	}
	var b strings.Builder
	in := false // between the head of a file and the end of its last hunk
	for line := range strings.Lines(visible(text)) {
		body := strings.TrimSuffix(line, "\n")
		in = in && body != "" || strings.HasPrefix(body, "diff --git ")
		switch {
		case !in:
			b.WriteString(line)
			continue
		case strings.HasPrefix(body, "@@"):
			body = t.paint(true, "36", body)
		case strings.HasPrefix(body, "+++ "), strings.HasPrefix(body, "--- "), strings.HasPrefix(body, "diff --git "):
			body = t.bold(body)
		case strings.HasPrefix(body, "+"):
			body = t.good(body)
		case strings.HasPrefix(body, "-"):
			body = t.bad(body)
		}
		b.WriteString(body + "\n")
	}
	// What is painted must not be made visible again.
	_, _ = t.out.Write([]byte(b.String()))
}
