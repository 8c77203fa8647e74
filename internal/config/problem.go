package config

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong in one file.
type Problem struct {
	// File is the path as it was given. Line and Column count from 1; the
	// column counts characters. Line 0 means the file as a whole.
	File         string
	Line, Column int
	// Text says what is wrong and what would be right.
	Text string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems is an error that holds everything that is wrong with the
// settings, in the order of the files and of the lines in them.
type Problems []Problem

// Error has one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// inOrder sorts by place, keeping what stands at the same place in order.
func (p Problems) inOrder() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return p
}
