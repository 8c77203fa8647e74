package exec

import (
	"os"
	"path/filepath"
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
	// cd is the folder of a command that begins with a literal "cd X &&" and
	// stays there, or "".
	cd string
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
	if movesOnce(file) {
		s.cd = cdTarget(file.Stmts[0])
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

// movesOnce reports whether the shell changes its folder at one place only.
func movesOnce(file *syntax.File) bool {
	n := 0
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			switch call.Args[0].Lit() {
			case "cd", "pushd", "popd":
				n++
			}
		}
		return true
	})
	return n == 1
}

// cdTarget returns X of "cd X && …", where X stands there literally.
func cdTarget(s *syntax.Stmt) string {
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.AndStmt {
			break
		}
		if call, ok := b.X.Cmd.(*syntax.CallExpr); ok && len(b.X.Redirs) == 0 && !b.X.Negated {
			return cdOf(call)
		}
		s = b.X
	}
	return ""
}

func cdOf(call *syntax.CallExpr) string {
	if len(call.Assigns) > 0 || len(call.Args) != 2 || call.Args[0].Lit() != "cd" {
		return ""
	}
	dir := literal(call.Args[1])
	if dir == "" || strings.HasPrefix(dir, "-") {
		return ""
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		return filepath.Join(home, rest)
	}
	return dir
}

// literal returns a word that means what it says: no expansion of any kind,
// no escape. "" is none.
func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "\\*?[{") {
				return ""
			}
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			if part.Dollar {
				return ""
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, in := range part.Parts {
				lit, ok := in.(*syntax.Lit)
				if !ok || strings.Contains(lit.Value, "\\") {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
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
