package exec

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
)

// A script is what is known of a shell command. It is never what is run.
type script struct {
	// text is what is run: the command, without the "&" at its end.
	text string
	// background says that there was one.
	background bool
	// pipefail says that nothing in the command looks at the status of a
	// pipeline, so that the shell may be told to report it truthfully.
	pipefail bool
}

// readScript looks at a command. What shells may read differently is run as it
// is, without anything being made of it.
func readScript(text string) script {
	s := script{text: text}
	if !strings.ContainsAny(text, "|&") || len(shellparse.Parse(text).Problems) > 0 {
		return s
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 {
		return s
	}
	s.pipefail = pipefailSafe(file)
	last := file.Stmts[len(file.Stmts)-1]
	if last.Background && len(file.Stmts) == 1 {
		// Only what the parser took for the end of the command goes.
		at := int(last.Semicolon.Offset())
		if at < len(text) && text[at] == '&' && strings.TrimSpace(text[at+1:]) == "" {
			s.text, s.background = text[:at], true
		}
	}
	return s
}

// pipefailSafe reports whether every pipeline stands where only the exit
// status of the whole command depends on it: at the end, or behind && and ||
// at the end. Elsewhere the script itself looks at the status, and would do
// other things if it were another.
func pipefailSafe(file *syntax.File) bool {
	safe := map[*syntax.BinaryCmd]bool{}
	last := file.Stmts[len(file.Stmts)-1]
	for s := last; s != nil && !s.Negated && !s.Background; {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		if b.Op == syntax.Pipe || b.Op == syntax.PipeAll {
			for p := b; p != nil; {
				safe[p] = true
				p, _ = p.X.Cmd.(*syntax.BinaryCmd)
			}
			break
		}
		s = b.Y
	}
	found, all := false, true
	syntax.Walk(file, func(n syntax.Node) bool {
		if b, ok := n.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			found = true
			all = all && safe[b]
		}
		return true
	})
	return found && all
}
