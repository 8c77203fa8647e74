package args

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/tool"
)

// Limits within a report. Whatever the sizes of names and values, the header,
// the names that are valid and the closing advice fit.
const (
	maxBullet = 600
	maxNames  = 1000
)

// The order of the problems in a report.
const (
	rankMissing = iota
	rankUnknown
	rankType
	rankEnum
	rankRest
)

// bullet is one problem of a report.
type bullet struct {
	rank       int
	path, text string
	key        string // the unknown key that it is about, or ""
}

func (b bullet) String() string { return tool.ClipText("- "+b.path+": "+b.text, maxBullet) + "\n" }

// report lays out the text of an error: a header that names the tool, a
// bullet for each problem, what the valid names are, and what to do. more
// counts problems beyond the bullets.
func report(toolName string, bullets []bullet, more int, names string) error {
	slices.SortStableFunc(bullets, func(a, b bullet) int { return cmp.Compare(a.rank, b.rank) })
	toolName = tool.ClipText(toolName, tool.MaxName)
	count := "1 problem"
	advice := "Fix this and call " + toolName + " again."
	if n := len(bullets) + more; n > 1 {
		count = fmt.Sprintf("%d problems", n)
		advice = "Fix all of these and call " + toolName + " again."
	}
	var text strings.Builder
	text.WriteString("Invalid arguments for " + toolName + " (" + count + "); nothing was run:\n")
	names = tool.ClipText(names, maxNames)
	if names != "" {
		names += "\n"
	}
	const moreLine = "- … and %d more problems\n"
	room := tool.MaxErrorText - text.Len() - len(names) - len(advice) - len(moreLine) - 20
	for i, b := range bullets {
		line := b.String()
		if room -= len(line); room < 0 {
			more += len(bullets) - i
			break
		}
		text.WriteString(line)
	}
	if more > 0 {
		fmt.Fprintf(&text, moreLine, more)
	}
	text.WriteString(names)
	text.WriteString(advice)
	return &tool.Error{Code: tool.CodeInvalidInput, Text: text.String()}
}

// notObject reports arguments that are not an object.
func (s *Schema) notObject(doc *jsondoc.Node) error {
	b := bullet{path: "(arguments)", text: "expected an object, got " + describe(doc)}
	return report(s.tool, []bullet{b}, 0, s.validNames())
}

// malformed reports a text that is not JSON, or not all of it.
func (s *Schema) malformed(err error) error {
	var syntax *jsondoc.SyntaxError
	if !errors.As(err, &syntax) {
		return tool.Invalidf("reading the arguments of %s: %w", tool.Clip(s.tool), err)
	}
	where := ""
	if len(syntax.Path) > 0 {
		where = ", inside " + pathString(syntax.Path)
	}
	toolName := tool.ClipText(s.tool, tool.MaxName)
	if syntax.CutOff {
		return tool.Invalidf("The arguments of %s are cut off at %d bytes%s: the text ends before the JSON does. "+
			"Nothing was run and nothing was filled in. Most likely the output limit was reached. "+
			"Call %[1]s again with complete arguments; if they are long, send them in parts, over several calls.",
			toolName, syntax.Offset, where)
	}
	b := bullet{path: "(arguments)", text: fmt.Sprintf("not valid JSON: %s (at byte %d%s)", syntax.Msg, syntax.Offset, where)}
	return report(s.tool, []bullet{b}, 0, "")
}
