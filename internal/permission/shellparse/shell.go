package shellparse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A survey is what must be known of a whole script before its parts can be
// understood.
type survey struct {
	// set counts how often each variable is set.
	set map[string]int
	// values are the variables whose value is certain.
	values map[string]string
	// blind: variables may change in ways that are not followed.
	blind bool
	// functions are those that are surely declared, with the place from which
	// on they are.
	functions map[string]uint
	// arithmetic stands somewhere, and so do quoted substitutions: a value
	// that arithmetic evaluates again may run one.
	arithmetic, quoted bool
	// shadow: a function has the name of a command whose output is known.
	shadow bool
	// hash: what the parser took for a comment stands in the middle of a word.
	// It does so behind quotes in a subshell, and a shell would run what
	// stands there.
	hash bool
	// prompt: a value is expanded as a prompt is, with what stands in it.
	prompt bool
}

// look reads a script once, top to bottom, before it is walked.
func (s *survey) look(f *syntax.File, text string) {
	outer := *s
	*s = survey{set: map[string]int{}, values: map[string]string{}, blind: outer.blind, shadow: outer.shadow}
	for name, n := range outer.set {
		s.set[name] = n
	}
	for name, v := range outer.values {
		s.values[name] = v
	}
	unsets := false
	if strings.ContainsAny(text, "=($[{#") || strings.Contains(text, "unset") || strings.Contains(text, "for") {
		syntax.Walk(f, func(n syntax.Node) bool {
			s.note(n, &unsets)
			if c, ok := n.(*syntax.Comment); ok {
				at := int(c.Hash.Offset())
				s.hash = s.hash || at > 0 && at <= len(text) && !strings.ContainsRune(" \t\n;&|(", rune(text[at-1]))
			}
			return true
		})
	}
	if unsets {
		return
	}
	for _, stmt := range f.Stmts {
		if fn, ok := stmt.Cmd.(*syntax.FuncDecl); ok && !stmt.Background && fn.Name != nil {
			if s.functions == nil {
				s.functions = map[string]uint{}
			}
			if _, has := s.functions[fn.Name.Value]; !has {
				s.functions[fn.Name.Value] = stmt.End().Offset()
			}
		}
	}
}

func (s *survey) note(n syntax.Node, unsets *bool) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil {
			s.set[n.Name.Value]++
			if n.Append || n.Index != nil || n.Array != nil {
				s.set[n.Name.Value]++
			}
			if _, has := s.values[n.Name.Value]; has {
				delete(s.values, n.Name.Value)
				s.set[n.Name.Value]++
			}
		}
	case *syntax.FuncDecl:
		if n.Name != nil {
			switch n.Name.Value {
			case "echo", "printf", "cat", "which", "command":
				s.shadow = true
			}
		}
	case *syntax.Redirect:
		if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
			s.set[strings.Trim(n.N.Value, "{}")] += 2
		}
	case *syntax.CoprocClause:
		s.blind = true
	case *syntax.DeclClause:
		for _, a := range n.Args {
			if a.Name == nil && (a.Value == nil || a.Value.Lit() == "" || strings.Contains(a.Value.Lit(), "n")) {
				s.blind = true
			}
		}
	case *syntax.SglQuoted:
		s.quoted = s.quoted || strings.Contains(n.Value, "$(") || strings.Contains(n.Value, "`")
	case *syntax.Lit:
		s.quoted = s.quoted || strings.Contains(n.Value, `\$(`) || strings.Contains(n.Value, "\\`")
	case *syntax.WordIter:
		s.set[n.Name.Value] += 2
	case *syntax.ParamExp:
		s.prompt = s.prompt || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word.Lit() == "P"
		if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
			s.set[n.Param.Value] += 2
		}
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		s.arithmetic, s.blind = true, true
	case *syntax.TestClause:
		s.arithmetic = true
	case *syntax.CallExpr:
		if len(n.Args) == 0 {
			return
		}
		switch n.Args[0].Lit() {
		case "unset":
			*unsets, s.blind = true, true
		case "eval", "source", ".", "read", "mapfile", "readarray", "printf", "getopts", "let", "shopt", "enable":
			s.blind = s.blind || n.Args[0].Lit() != "printf" || len(n.Args) > 1 && strings.HasPrefix(n.Args[1].Lit(), "-")
		}
	}
}

// value returns what an expansion stands for, where that is certain.
func (w *walker) value(part syntax.WordPart) (string, bool) {
	switch part := part.(type) {
	case *syntax.ParamExp:
		if part.Param == nil || part.Excl || part.Length || part.Width || part.Index != nil || part.Slice != nil ||
			part.Repl != nil || part.Names != 0 || part.Exp != nil || part.NestedParam != nil {
			return "", false
		}
		name := part.Param.Value
		if v, ok := w.survey.values[name]; ok && !w.survey.blind {
			w.trusted = true
			return v, true
		}
		if w.survey.set[name] > 0 || w.survey.blind {
			return "", false
		}
		switch name {
		case "IFS":
			return " \t\n", true
		case "HOME":
			return "~", true
		case "PWD":
			return ".", true
		}
	case *syntax.CmdSubst:
		text, ok := w.output(part.Stmts)
		return strings.TrimRight(text, "\n"), ok
	}
	return "", false
}

// output returns what statements print, where that is certain: an echo or
// printf of known words, a cat of a here-document.
func (w *walker) output(list []*syntax.Stmt) (string, bool) {
	if len(list) != 1 || w.survey.blind || w.survey.shadow {
		return "", false
	}
	s := list[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || s.Background || s.Coprocess {
		return "", false
	}
	name := call.Args[0].Lit()
	switch name {
	case "cat":
		if len(call.Args) != 1 || len(s.Redirs) != 1 {
			return "", false
		}
		w.trusted = true
		return w.document(s.Redirs[0])
	case "echo", "printf", "which", "command":
	default:
		return "", false
	}
	if len(s.Redirs) > 0 {
		return "", false
	}
	w.trusted = true
	words := w.fields(call.Args)[1:]
	switch {
	case name == "which" && len(words) == 1, name == "command" && len(words) == 2 && words[0].Text == "-v":
		last := words[len(words)-1]
		return last.Text, last.Known && !last.mayBeOption()
	case name == "which" || name == "command":
		return "", false
	}
	text := make([]string, len(words))
	for i, word := range words {
		if !word.Known {
			return "", false
		}
		text[i] = word.Text
	}
	if name == "echo" {
		return echoed(text)
	}
	return printed(text)
}

func echoed(words []string) (string, bool) {
	escapes, end := false, "\n"
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' && strings.Trim(words[0][1:], "neE") == "" {
		escapes = escapes || strings.Contains(words[0], "e")
		if strings.Contains(words[0], "n") {
			end = ""
		}
		words = words[1:]
	}
	text := strings.Join(words, " ")
	if strings.Contains(text, "\\") {
		// Shells differ in whether a plain echo decodes escapes.
		if !escapes || strings.Contains(text, `\0`) || strings.Contains(text, `\c`) {
			return "", false
		}
		return ansiCNewline(text, end)
	}
	return text + end, true
}

func ansiCNewline(text, end string) (string, bool) {
	text, ok := ansiC(text)
	return text + end, ok
}

func printed(words []string) (string, bool) {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return "", false
	}
	format, ok := ansiC(words[0])
	if !ok || strings.Count(format, "%") != strings.Count(format, "%s") {
		return "", false
	}
	n := strings.Count(format, "%s")
	args := words[1:]
	if n == 0 {
		return format, len(args) == 0
	}
	var b strings.Builder
	for len(args) > 0 || b.Len() == 0 {
		out := format
		for range n {
			arg := ""
			if len(args) > 0 {
				arg, args = args[0], args[1:]
			}
			before, after, _ := strings.Cut(out, "%s")
			b.WriteString(before + arg)
			out = after
		}
		b.WriteString(out)
		if len(args) == 0 {
			break
		}
	}
	return b.String(), true
}

// document returns the text of a here-document or here-string.
func (w *walker) document(r *syntax.Redirect) (string, bool) {
	switch r.Op {
	case syntax.WordHdoc:
		word := w.single(r.Word)
		return word.Text + "\n", word.Known
	case syntax.Hdoc, syntax.DashHdoc:
	default:
		return "", false
	}
	if r.Hdoc == nil {
		return "", true
	}
	quoted := len(r.Word.Parts) != 1 || r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), "\\")
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case ok && quoted:
			b.WriteString(lit.Value)
		case ok:
			b.WriteString(unescape(lit.Value, "$`\\"))
		default:
			value, known := w.value(part)
			if !known {
				return "", false
			}
			b.WriteString(value)
		}
	}
	return b.String(), true
}
