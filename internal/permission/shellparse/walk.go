package shellparse

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Parse reads a script as bash would, which is also near enough to what other
// POSIX shells would. It never fails: what cannot be read is a problem of the
// program.
func Parse(script string) *Program {
	w := parse(script, false)
	if w.trusted && changesNames(w.prog) {
		// A value or an output was taken for certain, and a command that no
		// first look could find may have changed it.
		w = parse(script, true)
	}
	if changesFunctions(w.prog) {
		for i := range w.prog.Commands {
			if c := &w.prog.Commands[i]; c.function {
				c.passes = false
				c.worse(Unknown, "it may not be the function of that name any more")
			}
		}
	}
	return w.prog
}

// ParseResumed is [Parse] for text that goes to a shell which has run other
// commands before: no variable that the text does not set itself is taken for
// certain.
func ParseResumed(script string) *Program {
	p := parse(script, true).prog
	for i := range p.Commands {
		if p.Commands[i].function {
			p.Commands[i].passes = false
			p.Commands[i].worse(Unknown, "it may not be the function of that name any more")
		}
	}
	return p
}

// parse walks a script. With blind, no variable and no output is taken for
// certain.
func parse(script string, blind bool) *walker {
	w := &walker{parser: syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)), table: table(), prog: &Program{Commands: make([]Command, 0, 24)}}
	w.survey.blind = blind
	if problem := looksOtherwise(script); problem != "" {
		w.problem(problem)
	}
	w.script(script, scope{})
	return w
}

// changesNames reports whether a command of the program may change variables
// or functions by a name that stands in its arguments.
func changesNames(p *Program) bool {
	for i := range p.Commands {
		switch c := &p.Commands[i]; c.Name {
		case "eval", "source", ".", "read", "mapfile", "readarray", "getopts", "let", "unset", "trap", "alias", "enable", "wait", "shopt", "set":
			if c.Name != "set" && c.Name != "shopt" || len(c.Words) > 1 && strings.Contains(c.Words[1].shape, "k") {
				return true
			}
		case "printf":
			if len(c.Words) > 1 && c.Words[1].mayBeOption() {
				return true
			}
		case "declare", "typeset", "local", "export", "readonly":
			if !c.declared {
				return true
			}
		}
	}
	return false
}

// changesFunctions reports whether a name may no longer mean the function that
// the script declares.
func changesFunctions(p *Program) bool {
	for i := range p.Commands {
		switch p.Commands[i].Name {
		case "unset", "alias", "enable":
			return true
		}
	}
	return false
}

// looksOtherwise returns why a text would not be run as a person reads it.
func looksOtherwise(script string) string {
	if len(script) > MaxScript {
		return ""
	}
	if !utf8.ValidString(script) {
		return "it is not valid UTF-8, so it cannot be shown as it is"
	}
	for _, r := range script {
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		case unicode.IsControl(r):
			return fmt.Sprintf("it holds the control character %U", r)
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || unicode.IsSpace(r):
			return fmt.Sprintf("it holds %U, which is invisible or changes how the text is shown", r)
		}
	}
	return ""
}

// A walker goes through one script and all scripts in it.
type walker struct {
	parser *syntax.Parser
	table  *facts
	prog   *Program
	text   string // of the script that is being walked
	parsed int    // bytes of all scripts
	full   bool   // one of the limits was met, and is noted
	survey survey
	// trusted: a value or an output was taken for certain.
	trusted bool
	// aliases are those that the script makes, wherever it does.
	aliases map[string]Word
}

// A scope is what surrounds a command.
type scope struct {
	via    []string
	depth  int
	line   int // of the command in the outermost script; 0 while in it
	redirs []Redirect
	stdin  input
	// maybe: it is not certain that it runs, or its variables end with it.
	maybe  bool
	remote bool
}

// An input is what a command finds on its standard input.
type input struct {
	given, known bool
	text         string
}

func (c scope) through(what string) scope {
	c.via = append(c.via[:len(c.via):len(c.via)], what)
	c.depth++
	return c
}

func (w *walker) problem(why string) {
	if len(w.prog.Problems) < 8 {
		w.prog.Problems = append(w.prog.Problems, why)
	}
}

func (w *walker) limit(format string, args ...any) {
	if !w.full {
		w.full = true
		w.problem(fmt.Sprintf(format, args...))
	}
}

// script walks a script that stands in another one, or the outermost.
func (w *walker) script(text string, c scope) {
	switch {
	case w.full:
		return
	case len(text) > MaxScript:
		w.limit("it is longer than %d bytes", MaxScript)
		return
	case w.parsed+len(text) > maxParsed:
		w.limit("the scripts in it have more than %d bytes together", maxParsed)
		return
	case c.depth > MaxDepth:
		w.limit("commands are nested more than %d deep", MaxDepth)
		return
	case open(text) > maxOpen:
		w.limit("it has more than %d brackets open at once", maxOpen)
		return
	}
	w.parsed += len(text)
	file, err := w.parser.Parse(strings.NewReader(text), "")
	if err != nil {
		w.problem("it cannot be parsed: " + err.Error())
		if file == nil {
			return
		}
		// What stands before the error is looked at too, for the sake of
		// rules that refuse.
	}
	// Whether the script runs at all does not matter to what stands in it.
	c.maybe = false
	outer, outerSurvey := w.text, w.survey
	w.text = text
	w.survey.look(file, text)
	if w.survey.arithmetic && w.survey.quoted {
		w.problem("arithmetic may run a substitution that stands quoted in it")
	}
	if (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 {
		w.problem("it ends in a backslash, which shells read differently")
	}
	if w.survey.hash {
		w.problem("it holds a # that shells may or may not take for the start of a comment")
	}
	if w.survey.prompt {
		w.problem("${…@P} runs the substitutions in a value")
	}
	w.stmts(file.Stmts, c)
	w.text, w.survey = outer, outerSurvey
}

// open returns how many brackets are open at once, at most.
func open(text string) int {
	now, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			now++
			most = max(most, now)
		case ')', ']', '}':
			now = max(now-1, 0)
		}
	}
	return most
}

func (w *walker) stmts(list []*syntax.Stmt, c scope) {
	for _, s := range list {
		w.stmt(s, c)
	}
}

// position fixes the line of what stands in the outermost script.
func (c scope) position(n syntax.Node) int {
	if c.line > 0 {
		return c.line
	}
	return int(n.Pos().Line())
}

func (w *walker) stmt(s *syntax.Stmt, c scope) {
	if w.full || s == nil {
		return
	}
	c = w.redirects(s, c)
	c.maybe = c.maybe || s.Background || s.Negated
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.call(cmd, c)
	case *syntax.BinaryCmd:
		w.binary(cmd, c)
	case *syntax.Block:
		w.stmts(cmd.Stmts, c)
	case *syntax.Subshell:
		c.maybe = true
		w.stmts(cmd.Stmts, c)
	case *syntax.TimeClause:
		w.stmt(cmd.Stmt, c)
	case *syntax.CoprocClause:
		c.maybe = true
		w.stmt(cmd.Stmt, c)
	case *syntax.FuncDecl:
		name := "()"
		if cmd.Name != nil {
			name = cmd.Name.Value
		}
		c = c.through("function " + name)
		c.maybe, c.stdin = true, input{given: true}
		if c.depth > MaxDepth {
			w.limit("commands are nested more than %d deep", MaxDepth)
			return
		}
		w.stmt(cmd.Body, c)
	case *syntax.DeclClause:
		w.declare(cmd, c)
	default:
		w.compound(s, c)
	}
}

// compound walks the statements that hold others under a condition, and those
// that hold none.
func (w *walker) compound(s *syntax.Stmt, c scope) {
	c.maybe = true
	switch cmd := s.Cmd.(type) {
	case *syntax.IfClause:
		for ; cmd != nil; cmd = cmd.Else {
			w.stmts(cmd.Cond, c)
			w.stmts(cmd.Then, c)
		}
	case *syntax.WhileClause:
		w.stmts(cmd.Cond, c)
		w.stmts(cmd.Do, c)
	case *syntax.ForClause:
		if iter, ok := cmd.Loop.(*syntax.WordIter); ok && w.table.hasMeaning(iter.Name.Value) {
			w.problem("a loop sets " + iter.Name.Value + ", which changes what commands do")
		}
		w.inside(cmd.Loop, c)
		w.stmts(cmd.Do, c)
	case *syntax.CaseClause:
		w.inside(cmd.Word, c)
		for _, item := range cmd.Items {
			for _, p := range item.Patterns {
				w.inside(p, c)
			}
			w.stmts(item.Stmts, c)
		}
	case nil:
		w.bare(nil, c, c.position(s))
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		w.inside(cmd, c)
		if len(c.redirs) > 0 {
			w.bare(nil, c, c.position(s))
		}
	default:
		w.problem(fmt.Sprintf("%T is a construct that is not known", cmd))
		w.inside(cmd, c)
	}
}

func (w *walker) binary(b *syntax.BinaryCmd, c scope) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		w.stmt(b.X, c)
		c.maybe = true
		w.stmt(b.Y, c)
		return
	}
	c.maybe = true
	w.stmt(b.X, c)
	text, known := w.output([]*syntax.Stmt{b.X})
	c.stdin = input{given: true, known: known, text: text}
	w.stmt(b.Y, c)
}

// inside walks the commands that stand in words, arithmetic and the like.
func (w *walker) inside(n syntax.Node, c scope) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.substitution(n.Stmts, "$()", c)
			return false
		case *syntax.ProcSubst:
			w.substitution(n.Stmts, n.Op.String()+")", c)
			return false
		}
		return true
	})
}

func (w *walker) substitution(list []*syntax.Stmt, via string, c scope) {
	c = c.through(via)
	c.maybe, c.redirs = true, nil
	if via == ">()" {
		c.stdin = input{given: true}
	}
	if c.depth > MaxDepth {
		w.limit("commands are nested more than %d deep", MaxDepth)
		return
	}
	w.stmts(list, c)
}

// insideWords is inside, for words of which most hold nothing.
func (w *walker) insideWords(words []*syntax.Word, c scope) {
	for _, word := range words {
		for _, part := range word.Parts {
			switch part.(type) {
			case *syntax.Lit, *syntax.SglQuoted:
			default:
				w.inside(part, c)
			}
		}
	}
}
