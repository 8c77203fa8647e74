package shellparse

import "strings"

// A runner finds what a command runs.
type runner struct {
	w     *walker
	at    int // of the command in the program
	scope scope
	sense
}

// command returns the command itself, to be made worse.
func (r *runner) command() *Command { return &r.w.prog.Commands[r.at] }

// opaque notes that what is run cannot be known.
func (r *runner) opaque(why string) {
	c := r.command()
	if c.Opaque == "" {
		c.Opaque = why
	}
	c.passes = false
	c.worse(Unknown, why)
	c.Effects.Unbounded = true
}

// inner is the scope of what is run through the command.
func (r *runner) inner(how string) scope {
	c := r.scope.through(how)
	c.redirs = nil
	c.maybe = true
	c.remote = c.remote || r.entry.remote
	return c
}

// name returns the command's name, with an option.
func (r *runner) name(option string) string {
	return strings.TrimSpace(r.command().Name + " " + option)
}

// script runs a word as a script.
func (r *runner) script(word Word, how string, c scope) {
	if !word.Known {
		r.opaque("the script that it runs is computed")
		return
	}
	r.w.script(word.Text, c)
}

// joined runs words as a script, as eval, ssh and watch do.
func (r *runner) joined(words []Word, c scope) {
	text := make([]string, len(words))
	for i, word := range words {
		if !word.Known {
			r.opaque("the script that it runs is computed")
			return
		}
		text[i] = word.Text
	}
	r.w.script(strings.Join(text, " "), c)
}

// rest returns the words behind the first n arguments.
func (r *runner) rest(n int) []Word {
	if n >= len(r.read.rest) {
		return nil
	}
	return r.words[r.read.rest[n]:]
}

// all walks everything that the command runs.
func (r *runner) all() {
	for _, o := range r.global {
		r.option(o, true)
	}
	for _, o := range r.read.options {
		r.option(o, false)
	}
	switch r.entry.kind {
	case "env":
		r.env()
	case "xargs":
		r.xargs()
	case "find", "fd":
		r.finds()
	case "shell":
		r.shell()
	case "othershell", "code":
		r.interpreter()
	case "eval":
		r.eval()
	case "source":
		r.opaque("the file that it runs in this shell is not read")
	case "trap":
		r.trap()
	case "ssh":
		r.ssh()
	case "su":
		r.su()
	case "joined":
		r.joined(r.rest(0), r.inner(r.command().Name))
	case "parallel":
		r.parallel()
	case "alias":
		r.alias()
	case "hash":
		if r.read.gives("-p") {
			r.w.problem("hash -p changes which program a name means")
		}
	default:
		if r.entry.wrap >= 0 {
			r.wrapped(r.rest(r.entry.wrap), nil)
		}
	}
}

func (r *runner) option(o option, global bool) {
	if global && r.root.kind == "git" && o.name == "-c" && o.has {
		r.gitSetting(o.value)
		return
	}
	if r.root.kind == "git" && (o.name == "--exec-path" || o.name == "--config-env") && o.has {
		r.opaque("its option " + o.name + " decides what it runs")
	}
	if o.fact.role != runs || !o.has {
		return
	}
	value := o.value
	if key, action, ok := strings.Cut(value.shape, "="); ok {
		// tar's exec=COMMAND, the ProxyCommand=COMMAND of scp and sftp.
		if key = strings.ToLower(key); key == "exec" || key == "proxycommand" || key == "localcommand" {
			value = value.tail(len(key)+1, action)
		}
	}
	r.script(value, o.name, r.inner(r.name(o.name)))
}

// gitRuns are the ends of git's settings whose value is run.
var gitRuns = []string{
	"pager", "editor", "sshcommand", "fsmonitor", "external", "textconv", "program", "helper", "cmd", "command", "driver",
	"clean", "smudge", "process", "askpass", "uploadpack", "receivepack", "hookspath", "sequence.editor", "browser", "proxycommand",
}

// gitSetting looks at the value of git -c NAME=VALUE.
func (r *runner) gitSetting(setting Word) {
	if !setting.Known {
		r.opaque("the setting of -c is computed")
		return
	}
	name, value, _ := strings.Cut(setting.Text, "=")
	name = strings.ToLower(name)
	c := r.inner("git -c " + name)
	if strings.HasPrefix(name, "alias.") {
		if script, ok := strings.CutPrefix(value, "!"); ok {
			r.w.script(script, c)
		} else {
			r.w.script("git "+value, c)
		}
		return
	}
	for _, end := range gitRuns {
		if strings.HasSuffix(name, end) || strings.HasPrefix(name, "pager.") {
			r.w.script(strings.TrimPrefix(value, "!"), c)
			return
		}
	}
	if !plainSetting(name) {
		r.command().hidden = true
	}
}

// plainSetting reports whether a setting of git runs nothing.
func plainSetting(name string) bool {
	for _, begin := range gitPlain {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// gitPlain are the beginnings of git's settings that run nothing and name no
// file that is read.
var gitPlain = []string{"color.", "user.", "advice.", "core.quotepath", "core.abbrev", "column.", "log.", "init.defaultbranch", "pull.", "push.default", "merge.conflictstyle", "commit.gpgsign", "tag.gpgsign", "rebase.", "fetch.prune"}

// wrapped runs words as a command.
func (r *runner) wrapped(words []Word, assigns []Assignment) {
	if len(words) > 0 && words[0].shape == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	if r.entry.kind == "dashes" {
		for i, word := range words {
			if word.shape == "--" && i+1 < len(words) {
				words = words[i+1:]
				break
			}
		}
	}
	c := r.inner(r.command().Name)
	if words[0].Known && (words[0].Text == "-c" || words[0].Text == "--command") && len(words) > 1 {
		r.script(words[1], "", c)
		return
	}
	if words[0].Many {
		// It may be nothing, so that the next word is the name.
		r.command().suffixes = true
	}
	r.w.command(words, assigns, c)
}

// env is for programs that take NAME=VALUE in front of the command.
func (r *runner) env() {
	words := r.rest(0)
	var assigns []Assignment
	if len(words) > 0 && words[0].shape == "-" {
		words = words[1:]
	}
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0].shape, "=")
		if !ok || name == "" || strings.IndexByte(name, wild) >= 0 {
			break
		}
		a := Assignment{Name: name, Value: words[0].tail(len(name)+1, value), Exported: true}
		assigns = append(assigns, a)
		words = words[1:]
	}
	for _, a := range assigns {
		if !r.w.table.isHarmless(a.Name) {
			c := r.command()
			c.passes = false
			c.worse(Unknown, "sets "+a.Name+", which may change what programs do")
		}
	}
	r.w.runAssigned(assigns, r.inner(r.command().Name), r.scope.line)
	if len(words) == 0 && r.root.class == Dangerous && r.read.gives("-s", "--shell", "-i", "--login") {
		r.input()
	}
	r.wrapped(words, assigns)
}

// xargs adds words that are read to a command.
func (r *runner) xargs() {
	words := r.rest(0)
	if len(words) == 0 {
		return
	}
	mark := ""
	for _, o := range r.read.options {
		switch o.name {
		case "-I":
			mark = o.value.Text
		case "-i", "--replace":
			if mark = "{}"; o.has && o.value.Text != "" {
				mark = o.value.Text
			}
		}
	}
	words = append([]Word{}, words...)
	if mark == "" {
		words = append(words, Word{Text: "…", Many: true, shape: string(wild)})
	}
	r.scope.stdin = input{given: true}
	r.wrapped(placed(words, mark), nil)
}

// placed replaces a mark in words by what is not known.
func placed(words []Word, mark string) []Word {
	for i, word := range words {
		if mark != "" && strings.Contains(word.shape, mark) {
			words[i].Known, words[i].shape = false, strings.ReplaceAll(word.shape, mark, string(wild))
		}
	}
	return words
}

// finds is for programs that run a command for what they find.
func (r *runner) finds() {
	for i := 1; i < len(r.words); i++ {
		how := r.words[i].shape
		switch how {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
		default:
			if r.entry.kind == "find" {
				i += findTests()[how]
			}
			continue
		}
		end := min(findEnd(r.words, i), len(r.words))
		if i+1 < end {
			words := placed(append([]Word{}, r.words[i+1:end]...), "{}")
			r.w.command(words, nil, r.inner(r.name(how)))
		}
		i = end
	}
}
