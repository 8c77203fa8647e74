package patch

import (
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// maxProblems bounds the mistakes that an error lists.
const maxProblems = 12

// A Problem is one mistake in the text of a patch.
type Problem struct {
	// Line is where, from 1.
	Line int
	// Text says what is wrong and what would be right.
	Text string
}

// A SyntaxError lists what is wrong with the text of a patch.
type SyntaxError struct {
	Problems []Problem
	// More is how many mistakes are not listed.
	More int
}

func (e *SyntaxError) Error() string {
	var b strings.Builder
	if len(e.Problems) == 1 && e.More == 0 {
		fmt.Fprintf(&b, "line %d of the patch: %s", e.Problems[0].Line, e.Problems[0].Text)
		return b.String()
	}
	fmt.Fprintf(&b, "the patch has %d mistakes:", len(e.Problems)+e.More)
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\nline %d: %s", p.Line, p.Text)
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.More)
	}
	return tool.ClipText(b.String(), tool.MaxErrorText-200)
}

// add lists a mistake.
func (e *SyntaxError) add(line int, format string, args ...any) {
	if len(e.Problems) == maxProblems {
		e.More++
		return
	}
	e.Problems = append(e.Problems, Problem{line, fmt.Sprintf(format, args...)})
}

// err returns e, or nil if nothing is listed.
func (e *SyntaxError) err() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}

// quote shows a line of a patch inside a message.
func quote(line string) string { return fmt.Sprintf("%q", tool.ClipText(line, 100)) }
