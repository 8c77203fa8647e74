package shellparse

import (
	"strings"
	"sync"
)

// specials judge what options and arguments alone do not tell, by the kind of
// an entry.
var specials = sync.OnceValue(func() map[string]func(*Command, *sense) {
	return map[string]func(*Command, *sense){
		"names":      judgeNames,
		"test":       judgeTest,
		"plus":       judgePlus,
		"giturl":     judgeGitURL,
		"evaluates":  judgeEvaluates,
		"date":       judgeDate,
		"dd":         judgeDd,
		"tar":        judgeTar,
		"find":       judgeFind,
		"fd":         judgeFd,
		"awk":        judgeAwk,
		"sed":        judgeSed,
		"gitconfig":  judgeGitConfig,
		"gitpush":    judgeGitPush,
		"anywhere":   judgeAnywhere,
		"code":       judgeCode,
		"othershell": judgeCode,
		"command":    judgeCommand,
	}
})

// judgeNames is for builtins that set variables by name.
func judgeNames(c *Command, s *sense) {
	facts := table()
	for _, word := range c.Words[1:] {
		name, _, _ := strings.Cut(word.shape, "=")
		if facts.hasMeaning(name) {
			c.Opaque = "it may set " + name + ", which changes what commands do"
			c.worse(Unknown, c.Opaque)
		}
	}
	judgeTest(c, s)
}

// judgeTest is for builtins that look at variables by name: an index in one is
// evaluated, with the substitutions in it.
func judgeTest(c *Command, _ *sense) {
	for _, word := range c.Words[1:] {
		if strings.Contains(word.Text, "[") && substitutes(word.Text) {
			c.Opaque = "it may run the substitution in the index of a name"
			c.worse(Unknown, c.Opaque)
		}
	}
}

// substitutes reports whether a text holds what would be a substitution where
// it is evaluated.
func substitutes(text string) bool {
	return strings.Contains(text, "$(") || strings.Contains(text, "`")
}

// judgeEvaluates is for builtins that run an earlier command once more, or
// evaluate what they are given.
func judgeEvaluates(c *Command, s *sense) {
	switch {
	case c.Name == "fc" && !s.read.gives("-l"):
		c.Opaque = "it runs an earlier command, changed or not"
	case c.Name == "enable" && s.read.gives("-f"):
		c.Opaque = "it loads code into the shell"
	}
	for _, word := range c.Words[1:] {
		if substitutes(word.Text) {
			c.Opaque = "it may run the substitution in an argument"
		}
	}
}

func judgeDate(c *Command, s *sense) {
	for _, i := range s.read.rest {
		if word := s.words[i]; word.shape == "" || word.shape[0] != '+' {
			c.worse(Changes, "with such an argument it sets the clock")
		}
	}
}

func judgeDd(c *Command, _ *sense) {
	for _, word := range c.Words[1:] {
		name, value, _ := strings.Cut(word.shape, "=")
		p := word.tail(0, value).path()
		switch {
		case name == "if":
			c.Effects.Reads = append(c.Effects.Reads, p)
		case name == "of" && strings.HasPrefix(value, "/dev/") && value != "/dev/null":
			c.worse(Dangerous, "it writes to a device")
			c.Effects.Writes = append(c.Effects.Writes, p)
		case name == "of":
			c.Effects.Writes = append(c.Effects.Writes, p)
		case strings.IndexByte(name, wild) >= 0:
			whatever := Path{Name: word.Text, shape: string(wild)}
			c.Effects.Reads, c.Effects.Writes = append(c.Effects.Reads, whatever), append(c.Effects.Writes, whatever)
		}
	}
}

// judgeTar takes a plain listing for what it is.
func judgeTar(c *Command, s *sense) {
	if len(s.words) < 2 || !s.words[1].Known {
		return
	}
	if first := s.words[1].Text; first != "" && first[0] != '-' && strings.ContainsAny(first, "IF") {
		c.Opaque = "the program that its first argument asks for stands somewhere behind it"
		c.worse(Unknown, c.Opaque)
		c.suffixes = true
	}
	letters := strings.TrimPrefix(s.words[1].Text, "-")
	if !strings.Contains(letters, "t") || strings.Trim(letters, "tvfzjJa") != "" || c.Class != Changes {
		return
	}
	files := Effects{}
	for _, word := range s.words[2:] {
		if word.mayBeOption() || word.Many {
			return
		}
		files.Reads = append(files.Reads, word.path())
	}
	c.Class, c.Why, c.Effects = ReadOnly, "lists an archive", files
}

// findTests are the parts of an expression of find that only test or print,
// with how many words each takes.
var findTests = sync.OnceValue(func() map[string]int {
	return map[string]int{
		"-name": 1, "-iname": 1, "-path": 1, "-ipath": 1, "-wholename": 1, "-iwholename": 1, "-lname": 1, "-ilname": 1,
		"-regex": 1, "-iregex": 1, "-regextype": 1, "-type": 1, "-xtype": 1, "-size": 1, "-mtime": 1, "-atime": 1,
		"-ctime": 1, "-mmin": 1, "-amin": 1, "-cmin": 1, "-newer": 1, "-anewer": 1, "-cnewer": 1, "-newermt": 1,
		"-newerct": 1, "-newerat": 1, "-user": 1, "-group": 1, "-uid": 1, "-gid": 1, "-perm": 1, "-links": 1,
		"-inum": 1, "-samefile": 1, "-fstype": 1, "-used": 1, "-maxdepth": 1, "-mindepth": 1, "-printf": 1, "-D": 1,
		"-print": 0, "-print0": 0, "-ls": 0, "-prune": 0, "-quit": 0, "-empty": 0, "-readable": 0, "-writable": 0,
		"-executable": 0, "-nouser": 0, "-nogroup": 0, "-true": 0, "-false": 0, "-depth": 0, "-d": 0, "-mount": 0,
		"-xdev": 0, "-follow": 0, "-daystart": 0, "-noleaf": 0, "-ignore_readdir_race": 0, "-warn": 0, "-nowarn": 0,
		"-not": 0, "-and": 0, "-or": 0, "-a": 0, "-o": 0, "-H": 0, "-L": 0, "-P": 0, "-O1": 0, "-O2": 0, "-O3": 0,
		"(": 0, ")": 0, "!": 0, ",": 0,
	}
})

func judgeFind(c *Command, s *sense) {
	words := s.words
	c.Class, c.Why, c.Opaque = ReadOnly, "only looks", ""
	expression, deletes := false, false
	for i := 1; i < len(words); i++ {
		word := words[i]
		takes, known := findTests()[word.shape]
		switch {
		case known:
			expression = expression || takes > 0
			i += takes
		case word.shape == "-delete":
			c.worse(Dangerous, "-delete removes what it finds")
			c.Effects.Write = true
			deletes = true
		case word.shape == "-exec" || word.shape == "-execdir" || word.shape == "-ok" || word.shape == "-okdir":
			c.worse(Unknown, word.shape+" runs a command for what it finds")
			i = findEnd(words, i)
		case strings.HasPrefix(word.shape, "-fprint") || word.shape == "-fls":
			c.worse(Changes, word.shape+" writes a file")
			if i+1 < len(words) {
				c.Effects.Writes = append(c.Effects.Writes, words[i+1].path())
			}
		case word.mayBeOption() && (!word.Glob || expression):
			c.worse(Unknown, "nothing is known of its test "+word.Text)
		default:
			c.Effects.Reads = append(c.Effects.Reads, word.path())
		}
	}
	if deletes {
		c.Effects.Writes = append(c.Effects.Writes, c.Effects.Reads...)
		if len(c.Effects.Reads) == 0 {
			c.Effects.Writes = append(c.Effects.Writes, Path{Name: ".", Known: true, shape: "."})
		}
	}
}

// findEnd returns where a command of -exec ends: at ";" or at "+" after {}.
func findEnd(words []Word, i int) int {
	for i++; i < len(words); i++ {
		if words[i].Text == ";" || words[i].Text == "+" && words[i-1].Text == "{}" {
			return i
		}
	}
	return len(words)
}

func judgeFd(c *Command, s *sense) {
	for _, o := range s.read.options {
		switch o.name {
		case "-x", "-X", "--exec", "--exec-batch":
			c.worse(Unknown, o.name+" runs a command for what it finds")
		}
	}
}

func judgeAwk(c *Command, _ *sense) {
	if c.Code != "" && !awkReads(c.Code) {
		c.hidden = true
		c.worse(Unknown, "its program may run commands, write files or reach hosts")
	}
}

func judgeSed(c *Command, s *sense) {
	for script := range strings.SplitSeq(c.Code, "\n") {
		if !sedReads(script) {
			c.hidden = true
			c.worse(Unknown, "its script may run commands or write files")
		}
	}
	if s.read.gives("-i", "--in-place") {
		c.Effects.Write = true
		c.Effects.Writes = c.Effects.Reads
		c.worse(Changes, "it changes the files")
	}
}

// judgeGitConfig tells reading a setting from making one, which git may run
// later.
func judgeGitConfig(c *Command, s *sense) {
	for _, i := range s.read.rest {
		c.code(s.words[i])
	}
	getting := len(s.read.rest) <= 1 || s.read.gives("--get", "--get-all", "--get-regexp")
	if getting && s.read.odd == "" && !s.read.loose && len(s.global) == 0 {
		c.Class, c.Why = ReadOnly, "reads a setting"
		return
	}
	c.hidden = len(s.read.rest) == 0 || !plainSetting(strings.ToLower(s.words[s.read.rest[0]].shape))
}

// judgeGitPush looks for references that delete or overwrite.
func judgeGitPush(c *Command, s *sense) {
	for _, i := range s.read.rest {
		if word := s.words[i].shape; strings.HasPrefix(word, "+") || strings.HasPrefix(word, ":") {
			c.worse(Dangerous, "the reference "+s.words[i].Text+" deletes or overwrites a branch")
		}
	}
}

func judgeAnywhere(c *Command, _ *sense) { c.suffixes, c.sure = true, true }

// judgeCode takes all words for code where an option is not known: it may be
// the one that gives code.
func judgeCode(c *Command, s *sense) {
	judgePlus(c, s)
	if s.read.odd != "" {
		for _, word := range s.words[1:] {
			c.Code += "\n" + word.Text
		}
	}
	if rest := s.read.rest; len(rest) > 1 && s.words[rest[0]].Text == "eval" {
		c.code(s.words[rest[1]])
	}
}

// judgePlus takes +COMMAND for the command of an editor or a pager.
func judgePlus(c *Command, s *sense) {
	for _, word := range s.words[1:] {
		if strings.HasPrefix(word.shape, "+") {
			c.Code += "\n" + word.Text
		}
	}
}

// judgeGitURL looks for addresses that name a program, such as ext::sh, and
// for settings that come with a clone.
func judgeGitURL(c *Command, s *sense) {
	for _, o := range s.read.options {
		if o.name == "-c" || o.name == "--config" {
			c.code(o.value)
			c.hidden = true
		}
	}
	for _, i := range s.read.rest {
		word := s.words[i]
		if strings.Contains(word.shape, "::") {
			c.code(word)
			c.hidden = true
			c.worse(Unknown, "the address "+word.Text+" runs a program")
		} else if strings.Contains(word.shape, ":") {
			c.Effects.Hosts = append(c.Effects.Hosts, word.Text)
		}
	}
}

func judgeCommand(c *Command, s *sense) {
	if s.read.gives("-v", "-V") {
		s.read.rest = nil
	}
}
