package shellparse

import (
	"path"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// redirects adds those of a statement to the scope, and what they put on
// standard input.
func (w *walker) redirects(s *syntax.Stmt, c scope) scope {
	for _, r := range s.Redirs {
		w.insideWords([]*syntax.Word{r.Word}, c)
		if r.Hdoc != nil {
			w.insideWords([]*syntax.Word{r.Hdoc}, c)
		}
		onInput := r.N == nil || r.N.Value == "0"
		write := true
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			if onInput {
				text, known := w.document(r)
				c.stdin = input{given: true, known: known, text: text}
			}
			continue
		case syntax.RdrIn:
			write = false
		case syntax.DplIn, syntax.DplOut:
			word := w.single(r.Word)
			if word.Known && (word.Text == "-" || strings.Trim(strings.TrimSuffix(word.Text, "-"), "0123456789") == "") {
				continue
			}
			write = r.Op == syntax.DplOut
		}
		if !write && onInput {
			c.stdin = input{given: true}
		}
		if red, ok := toFile(w.single(r.Word), write); ok {
			c.redirs = append(c.redirs[:len(c.redirs):len(c.redirs)], red)
		}
		if r.Op == syntax.RdrInOut && onInput {
			c.stdin = input{given: true}
		}
	}
	return c
}

// toFile returns the redirect to a word, and false for those that touch no
// file.
func toFile(word Word, write bool) (Redirect, bool) {
	name := word.Text
	if word.Known {
		switch name = path.Clean(name); name {
		case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full":
			return Redirect{}, false
		}
	}
	for _, net := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(word.shape, net); ok {
			host := strings.Replace(rest, "/", ":", 1)
			if strings.IndexByte(host, wild) >= 0 {
				host = word.Text
			}
			return Redirect{Host: host, Write: write}, true
		}
	}
	return Redirect{Path: word.path(), Write: write}, true
}

// Path returns the word as the name of a file.
func (w Word) Path() Path { return w.path() }

func (w Word) path() Path { return Path{Name: w.Text, Known: w.Known, Glob: w.Glob, shape: w.shape} }

// call walks a simple command as it is written.
func (w *walker) call(call *syntax.CallExpr, c scope) {
	line := c.position(call)
	w.insideWords(call.Args, c)
	assigns := w.assignments(call.Assigns, c, len(call.Args) > 0)
	w.runAssigned(assigns, c, line)
	if len(call.Args) == 0 {
		w.remember(call.Assigns, assigns, c)
		w.bare(assigns, c, line)
		return
	}
	if alias, ok := w.aliases[call.Args[0].Lit()]; ok {
		w.alias(call, alias, c, line)
	}
	words := w.fields(call.Args)
	if len(words) == 0 {
		w.bare(assigns, c, line)
		return
	}
	c.line = line
	if end, ok := w.survey.functions[words[0].Text]; ok && words[0].Known && c.depth == 0 && call.Pos().Offset() >= end {
		w.emit(Command{Name: words[0].Text, Words: words, Assigns: assigns, Class: ReadOnly, Why: "a function of this script, judged where it is declared", passes: true, function: true}, c)
		return
	}
	w.command(words, assigns, c)
}

// alias walks a call of an alias as the shell would expand it. Shells that
// run a script do not, unless told to: the call stands for itself too.
func (w *walker) alias(call *syntax.CallExpr, value Word, c scope, line int) {
	c = c.through("alias " + call.Args[0].Lit())
	c.line = line
	if !value.Known {
		w.emit(Command{Opaque: "the meaning of the alias is computed", Class: Unknown, Why: "an alias that is computed"}, c)
		return
	}
	name := call.Args[0].Lit()
	saved := w.aliases[name]
	delete(w.aliases, name) // An alias is not expanded inside itself.
	text := value.Text
	for _, word := range call.Args[1:] {
		text += " " + w.source(word)
	}
	w.script(text, c)
	w.aliases[name] = saved
}

// assignments expands those of one command.
func (w *walker) assignments(list []*syntax.Assign, c scope, exported bool) []Assignment {
	for _, a := range list {
		w.inside(a, c)
	}
	return w.expandAssigns(list, exported)
}

// runAssigned walks the values of variables that programs run, such as
// GIT_SSH_COMMAND.
func (w *walker) runAssigned(assigns []Assignment, c scope, line int) {
	for _, a := range assigns {
		if !listed(w.table.runs, a.Name) {
			continue
		}
		c := c.through(a.Name + "=")
		c.line, c.maybe, c.redirs = line, true, nil
		text := strings.TrimLeft(a.Value.Text, "|-")
		if strings.HasPrefix(a.Name, "PS") {
			text = ": " + quotedHere(text)
		}
		if !a.Value.Known {
			w.emit(Command{Opaque: "what " + a.Name + " runs is computed", Why: "what " + a.Name + " runs is computed"}, c)
			continue
		}
		if text = strings.TrimPrefix(strings.TrimSpace(text), "() "); text != "" {
			w.script(text, c)
		}
	}
}

// quotedHere quotes text so that only the substitutions in it mean something.
func quotedHere(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

func (w *walker) expandAssigns(list []*syntax.Assign, exported bool) []Assignment {
	if len(list) == 0 {
		return nil
	}
	out := make([]Assignment, 0, len(list))
	for _, a := range list {
		if a.Name == nil {
			continue
		}
		value := Word{Known: true}
		switch {
		case a.Array != nil || a.Append || a.Index != nil:
			value = Word{Text: w.source(a), shape: string(wild)}
		case a.Value != nil:
			value = w.single(a.Value)
		}
		out = append(out, Assignment{Name: a.Name.Value, Value: value, Exported: exported})
	}
	return out
}

// remember keeps the values of variables that are set once, and surely.
func (w *walker) remember(list []*syntax.Assign, assigns []Assignment, c scope) {
	if c.maybe || len(list) != len(assigns) {
		return
	}
	for i, a := range assigns {
		if a.Value.Known && w.survey.set[a.Name] == 1 && list[i].Value != nil {
			w.survey.values[a.Name] = a.Value.Text
		}
	}
}

// declare walks export, local and the like, which the parser knows.
func (w *walker) declare(d *syntax.DeclClause, c scope) {
	var list []*syntax.Assign
	words := []Word{{Text: d.Variant.Value, Known: true, shape: d.Variant.Value}}
	odd := false
	for _, a := range d.Args {
		w.inside(a, c)
		switch {
		case a.Name != nil:
			list = append(list, a)
		case a.Value != nil:
			option := w.single(a.Value)
			words = append(words, option)
			odd = odd || !option.Known || !isOption(option.shape) || strings.ContainsAny(option.Text, "niaAtul") && d.Variant.Value != "local"
		}
	}
	exported := d.Variant.Value == "export" || len(words) > 1
	assigns := w.expandAssigns(list, exported)
	w.runAssigned(assigns, c, c.position(d))
	if !odd {
		w.remember(list, assigns, c)
	}
	c.line = c.position(d)
	cmd := Command{Name: d.Variant.Value, Words: words, Assigns: assigns, Class: ReadOnly, Why: "sets variables", passes: true, declared: true}
	if odd {
		cmd.Class, cmd.Why = Unknown, "gives variables attributes, or names that are computed"
	}
	judgeTest(&cmd, nil)
	for _, a := range assigns {
		if len(words) > 1 && strings.Contains(a.Value.Text, "[") && substitutes(a.Value.Text) {
			cmd.Opaque = "an attribute may have the substitution in a value evaluated"
		}
	}
	w.emit(cmd, c)
}

// bare notes redirects and assignments without a command.
func (w *walker) bare(assigns []Assignment, c scope, line int) {
	if len(assigns) == 0 && len(c.redirs) == 0 {
		return
	}
	c.line = line
	w.emit(Command{Assigns: assigns, Class: ReadOnly, Why: "sets variables", passes: true}, c)
}

// command notes one command and everything that it runs.
func (w *walker) command(words []Word, assigns []Assignment, c scope) {
	cmd := Command{Words: words, Assigns: assigns}
	name, ok := words[0].base()
	if !ok {
		cmd.Opaque, cmd.Why = "the name of the program is computed", "the name of the program is computed"
		w.emit(cmd, c)
		return
	}
	cmd.Name = name
	understood := w.judge(&cmd, w.table.lookup(strings.TrimSuffix(name, ".exe")))
	if words[0].shape != name && !systemFolder(path.Dir(words[0].shape)) {
		cmd.passes = false
		cmd.worse(Unknown, "a program outside the folders of the system, whatever its name")
	}
	if !ascii(cmd.Name) {
		cmd.Opaque = "its name holds letters that look like others"
	}
	if c.depth > MaxDepth {
		w.limit("commands are nested more than %d deep", MaxDepth)
		return
	}
	if at := w.emit(cmd, c); at >= 0 && understood.root != nil {
		run := runner{w: w, at: at, scope: c, sense: understood}
		run.all()
	}
}

// base returns the base name of a program. It is known where at most the
// folder is computed, as in "$BIN/tool".
func (w Word) base() (string, bool) {
	if w.Known {
		return path.Base(w.Text), w.Text != "" && w.Text[len(w.Text)-1] != '/'
	}
	at := strings.LastIndexByte(w.shape, '/')
	if w.Many || at < strings.LastIndexByte(w.shape, wild) || at == len(w.shape)-1 {
		return "", false
	}
	return w.shape[at+1:], true
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// systemFolder reports whether programs in a folder are those that a bare
// name means.
func systemFolder(dir string) bool {
	switch dir {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin":
		return true
	}
	return false
}

// emit adds a command with what its scope says, and returns where it stands,
// or -1 where there are too many.
func (w *walker) emit(cmd Command, c scope) int {
	if len(w.prog.Commands) >= MaxCommands {
		w.limit("it has more than %d commands", MaxCommands)
		return -1
	}
	cmd.Redirects, cmd.Via, cmd.Line, cmd.Remote = c.redirs, c.via, c.line, c.remote
	w.judgeAssigns(&cmd)
	cmd.ownClass = cmd.Class
	for _, r := range c.redirs {
		switch {
		case r.Host != "":
			cmd.Effects.Network = true
			cmd.Effects.Hosts = append(cmd.Effects.Hosts, r.Host)
			cmd.worse(Changes, "is redirected to a host")
		case r.Write:
			cmd.Effects.Write = true
			cmd.Effects.Writes = append(cmd.Effects.Writes, r.Path)
			cmd.worse(Changes, "its output goes to a file")
		default:
			cmd.Effects.Reads = append(cmd.Effects.Reads, r.Path)
		}
	}
	cmd.Effects.Unbounded = cmd.Effects.Unbounded || cmd.Class == Unknown || cmd.Opaque != ""
	w.prog.Commands = append(w.prog.Commands, cmd)
	return len(w.prog.Commands) - 1
}

// judgeAssigns judges the variables that are set.
func (w *walker) judgeAssigns(cmd *Command) {
	for _, a := range cmd.Assigns {
		if w.table.hasMeaning(a.Name) || a.Exported && !w.table.isHarmless(a.Name) {
			cmd.worse(Unknown, "sets "+a.Name+", which may change what programs do")
		}
	}
}

// worse makes a command's verdict worse, never better.
func (c *Command) worse(class Class, why string) {
	if rank(class) > rank(c.Class) {
		c.Class, c.Why = class, why
	}
}
