package shellparse

import "strings"

// A sense is what was understood of a command on the way to its verdict.
type sense struct {
	// root is the program's entry, entry that of its sub-command, if it has
	// one, and words and read what stands behind that.
	root, entry *entry
	words       []Word
	read        reading
	// global are the options in front of the sub-command.
	global []option
}

// judge fills in the verdict and the effects of a command from what is known
// of its program, its options and its arguments.
func (w *walker) judge(c *Command, e *entry) sense {
	s := sense{root: e, entry: e, words: c.Words}
	c.Class, c.Why = ReadOnly, "changes nothing, runs nothing else and reaches no other host"
	if e == nil {
		c.worse(Unknown, "nothing is known of "+c.Name)
		c.suffixes = true
		return s
	}
	name := c.Name
	for s.entry.subs {
		r := s.entry.read(s.words, true)
		w.options(c, s.entry, r)
		s.global = append(s.global, r.options...)
		s.read = r
		if len(r.rest) == 0 {
			c.worse(s.entry.class, s.entry.class.String()+" by its nature")
			return s
		}
		s.words = s.words[r.rest[0]:]
		c.forms = append(c.forms, append([]Word{c.Words[0]}, s.words...))
		name += " " + s.words[0].Text
		sub := w.table.entries[name]
		if !s.words[0].Known || sub == nil {
			c.subUnknown(s.words[0], name)
			return s
		}
		s.entry = sub
	}
	w.verdict(c, &s)
	return s
}

// verdict judges by the entry that was found.
func (w *walker) verdict(c *Command, s *sense) {
	e := s.entry
	c.worse(e.class, e.class.String()+" by its nature")
	c.passes = e.passes
	s.read = e.read(s.words, e.endsOptions())
	c.Effects.Network = c.Effects.Network || e.network
	c.Effects.Process = c.Effects.Process || e.process
	w.options(c, e, s.read)
	w.arguments(c, e, s.read, s.words)
	if special := specials()[e.kind]; special != nil {
		special(c, s)
	}
	c.Effects.Write = c.Effects.Write || c.Class == Changes && !e.network || c.Class == Dangerous
}

// endsOptions reports whether the first argument ends the options.
func (e *entry) endsOptions() bool {
	switch e.kind {
	case "parallel", "joined", "shell", "code", "ssh", "anywhere", "othershell":
		return true
	}
	return e.wrap >= 0
}

// subUnknown is a sub-command of which nothing is known: git's may be an
// alias that stands for anything.
func (c *Command) subUnknown(first Word, name string) {
	c.worse(Unknown, "nothing is known of "+name)
	if c.Name == "git" {
		c.suffixes = true
		anything := Word{Text: first.Text, Many: true, shape: string(wild)}
		c.forms = append(c.forms, []Word{c.Words[0], anything})
	}
}

// options judges the options.
func (w *walker) options(c *Command, e *entry, r reading) {
	for _, o := range r.options {
		switch {
		case !o.known && (e.class == ReadOnly || e.subs):
			c.worse(Unknown, "nothing is known of its option "+o.name)
		case o.fact.role == changes:
			c.worse(Changes, "its option "+o.name+" changes something")
		case o.fact.role == dangers:
			c.worse(Dangerous, "its option "+o.name+" destroys what cannot be brought back")
		case o.fact.role == writesFile:
			c.worse(Changes, "its option "+o.name+" writes a file")
			c.Effects.Write = true
			if e.class == ReadOnly {
				c.optionWrites = append(c.optionWrites, o.value.path())
			}
			if o.has {
				c.Effects.Writes = append(c.Effects.Writes, o.value.path())
			}
		case o.fact.role == readsFile && o.has:
			c.Effects.Reads = append(c.Effects.Reads, o.value.path())
		case o.fact.role == connects && o.has:
			c.Effects.Network = true
			c.Effects.Hosts = append(c.Effects.Hosts, o.value.Text)
		case o.fact.role == runs, o.fact.role == runsFile, o.fact.role == unclear:
			c.worse(Unknown, "its option "+o.name+" may run or reach something else")
		case o.fact.role == runsCode:
			c.code(o.value)
		}
	}
	if r.odd != "" && (e.subs || e.wrap >= 0) && !e.anyOption {
		c.suffixes = true
		c.Opaque = "nothing is known of its option " + r.odd + ", so it is not clear what it runs"
	}
	if r.loose && e.wrap >= 0 {
		// It may be an option that takes the next word, so that another one
		// is the command.
		c.suffixes, c.hidden = true, true
	}
	if r.loose && runsByOption(e) {
		c.hidden = true
	}
	// A word that is computed could be any option: it only matters where
	// some option matters.
	if r.loose && e.class == ReadOnly && !harmlessOptions(e) {
		c.worse(Unknown, "an argument that is computed could be any option")
	}
}

// runsByOption reports whether an option of an entry runs something.
func runsByOption(e *entry) bool {
	if e.subs {
		return true
	}
	for _, f := range e.options {
		if f.role == runs || f.role == runsCode || f.role == runsFile {
			return true
		}
	}
	return false
}

// harmlessOptions reports whether no option of an entry matters.
func harmlessOptions(e *entry) bool {
	if !e.anyOption {
		return false
	}
	for _, f := range e.options {
		if f.role != fine && f.role != readsFile {
			return false
		}
	}
	return true
}

// code notes a program in another language.
func (c *Command) code(text Word) {
	if !text.Known {
		c.Opaque = "the program that it is given is computed"
	}
	if c.Code != "" {
		c.Code += "\n"
	}
	c.Code += text.Text
}

// arguments judges what stands beside the options.
func (w *walker) arguments(c *Command, e *entry, r reading, words []Word) {
	if e.subs || e.wrap >= 0 {
		return
	}
	rest := r.rest
	if e.most >= 0 && len(rest) > e.most && !listing(e, r) {
		c.worse(Changes, "with these arguments it changes something")
	}
	for n, i := range rest {
		if len(e.args) == 0 {
			break
		}
		word, what := words[i], e.args[min(n, len(e.args)-1)]
		// The text is an option's value where one gives it: grep -e X file.
		if what == "text" && len(e.args) > 1 && r.gives("-e", "--regexp", "-f", "--file") {
			what = e.args[1]
		}
		switch what {
		case "read":
			c.Effects.Reads = append(c.Effects.Reads, word.path())
		case "write":
			c.Effects.Writes = append(c.Effects.Writes, word.path())
		case "copy":
			if n == len(rest)-1 && !r.gives("-t", "--target-directory") {
				c.Effects.Writes = append(c.Effects.Writes, word.path())
			} else {
				c.Effects.Reads = append(c.Effects.Reads, word.path())
			}
		case "host":
			c.Effects.Hosts = append(c.Effects.Hosts, word.Text)
		case "remote":
			c.remotePath(word, n == len(rest)-1)
		case "program":
			c.code(word)
		case "code":
			if n == 0 && !r.gives("-e", "--expression", "--source", "-f", "--file") {
				c.code(word)
			} else {
				c.Effects.Reads = append(c.Effects.Reads, word.path())
			}
		}
	}
	if len(c.Effects.Hosts) > 0 {
		c.Effects.Network = true
	}
}

// remotePath notes HOST:FILE or a file, as scp and rsync name them.
func (c *Command) remotePath(word Word, last bool) {
	host, _, ok := strings.Cut(word.Text, ":")
	switch {
	case ok && !strings.Contains(host, "/"):
		c.Effects.Hosts = append(c.Effects.Hosts, host)
	case last:
		c.Effects.Writes = append(c.Effects.Writes, word.path())
	default:
		c.Effects.Reads = append(c.Effects.Reads, word.path())
	}
}

// gives reports whether one of the options was given.
func (r reading) gives(names ...string) bool {
	for _, o := range r.options {
		for _, name := range names {
			if o.name == name {
				return true
			}
		}
	}
	return false
}

// listing reports whether an option makes the arguments patterns of a list.
func listing(e *entry, r reading) bool {
	return e.kind == "list" && r.gives("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
}
