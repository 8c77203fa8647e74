package shellparse

import "strings"

// shell is for programs that read scripts as we do.
func (r *runner) shell() {
	words := r.rest(0)
	switch {
	case r.read.odd != "" || r.read.loose && !r.read.gives("-c"):
		r.opaque("its options or its script are computed")
	case r.read.gives("-c"):
		if len(words) > 0 {
			c := r.inner(r.name("-c"))
			c.stdin = r.scope.stdin
			r.script(words[0], "-c", c)
		}
	case r.read.gives("-s") || len(words) == 0 || words[0].Text == "-" || words[0].Text == "/dev/stdin":
		r.input()
	default:
		r.file(words[0])
	}
}

// input is for programs that run what they read.
func (r *runner) input() {
	in := r.scope.stdin
	if !in.known {
		r.opaque("it runs what it reads from its standard input")
		return
	}
	r.w.script(in.text, r.inner(r.name("<")))
}

// file is for programs that run a file.
func (r *runner) file(word Word) {
	c := r.command()
	c.Effects.Reads = append(c.Effects.Reads, word.path())
	c.passes = false
	c.worse(Unknown, "what stands in the file that it runs is not read")
	if !word.Known || strings.HasPrefix(word.Text, "/dev/") || strings.HasPrefix(word.Text, "/proc/") {
		r.opaque("which file it runs is computed")
	}
}

// interpreter is for programs that run other languages.
func (r *runner) interpreter() {
	c := r.command()
	words := r.rest(0)
	switch {
	case c.Code != "":
	case len(words) > 0 && words[0].Text != "-":
		r.file(words[0])
	case r.scope.stdin.known:
		c.Code = r.scope.stdin.text
	case r.scope.stdin.given || len(words) > 0 || len(r.read.options) == 0:
		r.opaque("it runs what it reads from its standard input")
	}
}

func (r *runner) eval() {
	c := r.scope.through("eval")
	c.redirs = nil
	if words := r.words[1:]; len(words) > 0 && words[0].Text == "--" {
		r.joined(words[1:], c)
	} else {
		r.joined(words, c)
	}
}

func (r *runner) trap() {
	words := r.rest(0)
	if len(words) < 2 || words[0].Known && (words[0].Text == "" || words[0].Text == "-") {
		return
	}
	c := r.inner("trap")
	c.stdin = input{given: true}
	r.script(words[0], "", c)
}

// sshRuns are the settings of ssh that run a command on this machine.
var sshRuns = []string{"proxycommand", "localcommand", "knownhostscommand", "remotecommand", "proxyusefdpass", "include", "match"}

func (r *runner) ssh() {
	for _, o := range r.read.options {
		at := strings.IndexAny(o.value.shape, " =")
		if o.name != "-o" || at < 0 {
			continue
		}
		key, value := o.value.shape[:at], o.value.shape[at+1:]
		for _, runs := range sshRuns {
			if strings.EqualFold(strings.TrimSpace(key), runs) {
				c := r.inner("ssh -o " + key)
				c.remote = false
				r.script(o.value.tail(len(key)+1, value), "", c)
			}
		}
	}
	host, words := r.rest(0), r.rest(1)
	if len(host) == 0 {
		return
	}
	if len(words) > 0 && words[0].mayBeOption() {
		// Options may stand behind the host too.
		more := r.entry.read(host, true)
		r.read.options = append(r.read.options, more.options...)
		if words = nil; len(more.rest) > 0 {
			words = host[more.rest[0]:]
		}
		if more.odd != "" || more.loose {
			r.opaque("its options are computed or not known")
		}
	}
	cmd := r.command()
	cmd.Effects.Hosts = append(cmd.Effects.Hosts, host[0].Text)
	if len(words) > 0 {
		c := r.inner("ssh " + host[0].Text)
		c.stdin = r.scope.stdin
		r.joined(words, c)
		return
	}
	if !r.read.gives("-N", "-V", "-G", "-Q") {
		r.input()
	}
}

// su is for programs that start a shell unless an option says what to run.
func (r *runner) su() {
	if r.entry.class == Dangerous && r.read.gives("-u", "--user") && len(r.read.rest) > 0 {
		r.wrapped(r.rest(0), nil)
		return
	}
	if !r.read.gives("-c", "--command", "--session-command") {
		r.input()
	}
}

// parallel puts arguments behind ":::" into a command, which a shell runs.
func (r *runner) parallel() {
	words := append([]Word{}, r.rest(0)...)
	for i, word := range words {
		if strings.HasPrefix(word.shape, ":::") {
			words = words[:i]
			break
		}
	}
	if len(words) == 0 {
		r.opaque("it runs the lines that it reads")
		return
	}
	c := r.inner("parallel")
	if len(words) == 1 && words[0].Known {
		r.w.script(marks(words[0].Text, `"$@"`), c)
		return
	}
	for i, word := range words {
		if shape := marks(word.shape, string(wild)); shape != word.shape {
			words[i].Known, words[i].shape = false, shape
		}
	}
	r.command().suffixes = true
	r.w.command(append(words, Word{Text: "…", Many: true, shape: string(wild)}), nil, c)
}

// marks replaces the places of parallel, such as {} and {.}.
func marks(text, by string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if _, after, ok = strings.Cut(after, "}"); !ok {
			b.WriteString(by)
			return b.String()
		}
		b.WriteString(by)
		text = after
	}
}

// alias notes the aliases that are made.
func (r *runner) alias() {
	for _, word := range r.words[1:] {
		name, value, ok := strings.Cut(word.shape, "=")
		if !ok {
			if !word.Known {
				r.opaque("the alias is computed")
			}
			continue
		}
		if r.w.aliases == nil {
			r.w.aliases = map[string]Word{}
		}
		r.w.aliases[name] = word.tail(len(name)+1, value)
	}
}
