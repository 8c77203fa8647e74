package history

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// A Conflict is a place where two changes of one text meet.
type Conflict struct {
	// From and To are the lines of the file as it is, from 1; To is From-1
	// where lines were removed in front of From.
	From, To int
}

// String names the lines for a message.
func (c Conflict) String() string {
	switch {
	case c.To < c.From:
		return fmt.Sprintf("where lines were removed before line %d", c.From)
	case c.To == c.From:
		return fmt.Sprintf("line %d", c.From)
	default:
		return fmt.Sprintf("lines %d-%d", c.From, c.To)
	}
}

// maxConflicts is how many places of one file are named.
const maxConflicts = 10

// merge makes, in ours, the changes that lead from base to theirs. Where the
// two change the same lines, or lines next to each other, in different ways,
// it returns the places and no text: what was meant there, only a person
// knows. Texts are compared by their bytes, so encoding and line ends stay.
func merge(base, ours, theirs []byte) ([]byte, []Conflict) {
	b, o := string(base), string(ours)
	x, y := udiff.Lines(b, o), udiff.Lines(b, string(theirs))
	var out strings.Builder
	var conflicts []Conflict
	copied := 0  // of base
	written := 0 // of ours: where the text that stands for base[copied:] begins
	put := func(e udiff.Edit) {
		out.WriteString(b[copied:e.Start])
		out.WriteString(e.New)
		copied = e.End
	}
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(x) > 0 && len(y) > 0 && x[0] == y[0]:
			written += x[0].Start - copied + len(x[0].New)
			put(x[0])
			x, y = x[1:], y[1:]
		case len(x) > 0 && len(y) > 0 && x[0].Start <= y[0].End && y[0].Start <= x[0].End:
			from := written + x[0].Start - copied
			to := from + len(x[0].New)
			if len(conflicts) < maxConflicts {
				conflicts = append(conflicts, Conflict{lineAt(ours, from), lineAt(ours, to) - 1 + unended(ours[from:to])})
			}
			// The text does not matter any more; only the places do.
			written = to
			copied = x[0].End
			for len(y) > 0 && y[0].Start <= copied {
				y = y[1:]
			}
			x = x[1:]
		case len(y) == 0 || len(x) > 0 && x[0].End < y[0].Start:
			written += x[0].Start - copied + len(x[0].New)
			put(x[0])
			x = x[1:]
		default:
			written += y[0].End - copied
			put(y[0])
			y = y[1:]
		}
	}
	if len(conflicts) > 0 {
		return nil, conflicts
	}
	out.WriteString(b[copied:])
	return []byte(out.String()), nil
}

// lineAt is the line that an offset lies in, from 1.
func lineAt(text []byte, offset int) int { return bytes.Count(text[:offset], []byte("\n")) + 1 }

// unended is 1 for a text whose last line has no end.
func unended(text []byte) int {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return 1
	}
	return 0
}
