package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/handrail-tools/handrail/internal/foldname"
	"github.com/handrail-tools/handrail/internal/permission/shellparse"
)

// A Touch is a file or folder that an act's command names.
type Touch struct {
	// Name is how the command names it.
	Name string
	// Path is what rules judge: links resolved, seen from the top of the
	// workspace; absolute outside. "" where it cannot be known.
	Path string
	// Write says that it is changed, else it is read.
	Write bool
	// Sure says that the command touches Path and nothing else by that name.
	Sure bool
	// Open says that Path lies beneath the workspace, which closes it neither
	// to reading nor, where Write is set, to writing.
	Open bool
	// Below says that what lies beneath the folder is touched too.
	Below bool
	// Guess says that nothing tells whether the word names a file at all: it
	// is an argument of a program of which that is not known.
	Guess bool

	// entry is Path without the last link resolved.
	entry string
	// within is the folder that a name with wildcards begins with.
	within string
	// tokens are what an unsure name could be.
	tokens []token
	// command is the index of the part in the program.
	command int
	// moved says that the content can be read under another name afterwards.
	moved bool
}

// A Place is what a name means on the disk, as [Act.Look] asks for it.
type Place struct {
	// Path and Entry are as in [Touch]: with and without the last link
	// resolved.
	Path, Entry string
	// Readable and Writable say that the path lies beneath the workspace and
	// is closed to neither.
	Readable, Writable bool
	// Folder says that it is one.
	Folder bool
}

// maxTouches bounds how many names of one command are looked at; more than
// that are taken for any.
const maxTouches = 512

// Look fills in what is known of the act's command. dir is the folder in which
// it begins, resumed is as in [tool.Act], and locate says what a name means: a
// relative one is seen from the workspace's folder, and one that begins with
// "~/" from the person's home; ok is false where that cannot be told. nil
// knows nothing.
func (a *Act) Look(dir string, resumed bool, locate func(name string) (Place, bool)) {
	a.Touches = nil
	if a.program() == nil {
		return
	}
	if resumed && a.resumed == nil {
		a.resumed = shellparse.ParseResumed(a.Command)
	}
	p := a.known()
	l := looker{act: a, base: dir, known: !resumed, locate: locate}
	// A shell that has run others is still beneath the workspace: to leave it
	// was asked about.
	a.Located = locate != nil
	for i := range p.Commands {
		l.command(p, i)
	}
}

// SameCommand reports whether both acts run the same command on the same
// files.
func (a *Act) SameCommand(b Act) bool {
	return a.Command == b.Command && a.Unclear == b.Unclear && slices.EqualFunc(a.Touches, b.Touches, func(t, u Touch) bool {
		return t.Name == u.Name && t.Path == u.Path && t.entry == u.entry && t.Sure == u.Sure && t.Open == u.Open && t.Below == u.Below
	})
}

// A looker finds the files that the parts of a command name.
type looker struct {
	act *Act
	// base is the folder in which the part runs, if known.
	base   string
	known  bool
	hidden bool // wildcards match names that begin with a dot
	home   bool // the folder is changed to one that is not named
	locate func(string) (Place, bool)
}

func (l *looker) command(p *shellparse.Program, at int) {
	c := &p.Commands[at]
	switch {
	case c.Remote:
		return
	case c.Name == "shopt":
		l.hidden = true
	}
	moved := slices.Contains(movers, c.Name)
	for _, file := range c.Effects.Reads {
		l.add(Touch{command: at, Below: !slices.Contains(lookers, c.Name)}, file, false)
	}
	for _, file := range c.Effects.Writes {
		l.add(Touch{command: at, Write: true, Below: true, moved: moved}, file, false)
	}
	if c.Class != shellparse.ReadOnly || moved {
		l.words(c, at, moved)
	}
	l.move(c, at)
}

// lookers are the programs that say something of a folder and nothing of what
// stands in the files beneath it.
var lookers = []string{"ls", "ll", "dir", "vdir", "find", "tree", "stat", "du", "cd", "pushd", "test", "[", "[[", "realpath", "readlink", "file", "wc", "cat", "head", "tail", "df"}

// movers are those that give a file another name.
var movers = []string{"mv", "ln", "link", "rename", "install", "cp", "rsync"}

// packers are those that read all that lies beneath a folder which they are
// given.
var packers = []string{"tar", "bsdtar", "gtar", "zip", "7z", "7za", "7zr", "rar", "cpio", "pax", "rsync", "scp", "sftp"}

// words looks at the arguments of a program of which it is not known what
// they are, or not of all.
func (l *looker) words(c *shellparse.Command, at int, moved bool) {
	for _, w := range c.Words[min(1, len(c.Words)):] {
		if _, glob := w.Path().Shape(); glob {
			l.add(Touch{command: at, Guess: true, moved: moved}, w.Path(), true)
		}
		if !w.Known || w.Text == "" {
			continue
		}
		text := w.Text
		if strings.HasPrefix(text, "-") {
			i := strings.IndexByte(text, '=')
			if i < 0 {
				continue
			}
			text = text[i+1:]
		}
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '=' || r == ':' || r == ',' || r == '@' }) {
			if l.names(c, part) || len(part) > 4096 {
				continue
			}
			l.add(Touch{command: at, Guess: true, moved: moved, Below: slices.Contains(packers, c.Name)}, shellparse.Path{Name: part, Known: true}, true)
		}
	}
}

// names reports whether a file is among those that a command surely names.
func (l *looker) names(c *shellparse.Command, name string) bool {
	same := func(p shellparse.Path) bool { return p.Name == name }
	return slices.ContainsFunc(c.Effects.Reads, same) || slices.ContainsFunc(c.Effects.Writes, same)
}

// add notes one file.
func (l *looker) add(t Touch, file shellparse.Path, guess bool) {
	if len(l.act.Touches) >= maxTouches {
		l.act.Touches[maxTouches-1] = Touch{Name: "more files than are looked at", tokens: []token{{kind: anything}}}
		return
	}
	t.Name = file.Name
	shape, glob := file.Shape()
	if at := strings.LastIndexByte(shape, 0); at >= 0 {
		// What is not known may be an absolute path, and may lead up again, so
		// that nothing in front of it tells where it ends.
		if shape = shape[at:]; strings.Contains(shape, "..") {
			shape = "\x00"
		}
	} else if !path.IsAbs(shape) && !strings.HasPrefix(shape, "~") {
		if l.known && l.base != "" {
			shape = l.base + "/" + shape
		} else if !l.known {
			if shape = "\x00/" + path.Clean(shape); strings.Contains(shape, "..") {
				shape = "\x00"
			}
		}
	}
	if strings.HasPrefix(shape, "/proc/") {
		shape = "\x00/" + path.Base(shape) // whose folders are those of processes
	}
	if glob && l.locate != nil && strings.IndexByte(shape, 0) < 0 {
		at := strings.LastIndexByte(shape[:strings.IndexAny(shape, "*?[+@!(")], '/') + 1
		if folder, ok := l.locate(path.Clean(shape[:at])); ok && at > 0 {
			t.within = folder.Path
			shape = path.Join(t.within, shape[at:])
		}
	}
	t.Sure = file.Known && !file.Glob && strings.IndexByte(shape, 0) < 0 && l.locate != nil
	if t.Sure {
		place, ok := l.locate(shape)
		if t.Sure = ok; !ok {
			shape = "\x00/" + path.Base(shape)
		}
		t.Path, t.entry = place.Path, place.Entry
		t.Open = place.Readable && (!t.Write || place.Writable)
		t.Below = t.Below && place.Folder
	}
	if !t.Sure {
		if t.tokens = ofShell(foldname.Text(path.Clean(shape)), glob, l.hidden); t.Below && !guess {
			t.tokens = orBeneath(t.tokens)
		}
	}
	t.Sure = t.Sure && !guess
	l.act.Touches = append(l.act.Touches, t)
}

// move follows a change of folder, where it is plain.
func (l *looker) move(c *shellparse.Command, at int) {
	switch c.Name {
	case "cd":
		if len(c.Words) == 2 && len(c.Via) == 0 && c.Words[1].Known && !c.Words[1].Glob && l.known && at == 0 && !strings.HasPrefix(c.Words[1].Text, "-") {
			if to := c.Words[1].Text; path.IsAbs(to) || strings.HasPrefix(to, "~") {
				l.base = to
			} else {
				l.base = path.Join(l.base, to)
			}
			return
		}
		l.known = false
		l.home = l.home || len(c.Words) < 2 || !strings.HasPrefix(c.Words[1].Text, "/") && c.Words[len(c.Words)-1].Text == "-"
	case "pushd", "popd", "chroot", "unshare", "eval", "source", ".":
		l.known = false
	case "env", "git", "make", "tar", "sudo", "find", "xargs", "fd", "ninja", "npm":
		// Their options, or what they do, let what they run begin elsewhere.
		for _, w := range c.Words {
			if strings.HasPrefix(w.Text, "-C") || strings.HasPrefix(w.Text, "--chdir") || strings.HasPrefix(w.Text, "--directory") ||
				strings.HasPrefix(w.Text, "-D") || strings.HasPrefix(w.Text, "-execdir") || strings.HasPrefix(w.Text, "-okdir") {
				l.known = false
			}
		}
	}
	l.act.Located = l.act.Located && !l.home && (l.known || l.act.resumed != nil)
}

// hit reports whether a rule is about the file, and whether that is sure. work
// is as in overlap.
func (t *Touch) hit(r *rule, work *int) (hits, sure bool) {
	reader := r.tool == fileReader
	switch {
	case reader && t.Write && !t.moved && !t.Guess, !reader && !t.Write && !t.Guess:
		return false, false
	case t.tokens == nil:
		if r.matchesPath(t.Path) || r.matchesPath(t.entry) {
			return true, !t.Guess
		}
		return t.Below && r.mayReach(t.Path), false
	case t.within != "" && t.within != "." && r.matchesPath(t.within):
		return true, !t.Guess
	case strings.HasPrefix(r.path, "**/") && t.tokens[0].kind == anything && t.certainEnd() &&
		(doublestar.MatchUnvalidated(r.path, path.Clean(t.Name)) || doublestar.MatchUnvalidated(r.folded, foldname.Text(path.Clean(t.Name)))):
		return true, !t.Guess // wherever the folder is
	}
	return overlap(r.tokens, t.tokens, work), false
}

// certainEnd reports whether only the folder of the file is not known.
func (t *Touch) certainEnd() bool {
	return !slices.ContainsFunc(t.tokens[1:], func(k token) bool {
		return k.kind != letter && k.kind != beneath && k.kind != anything
	})
}

// shown is the file for a person.
func (t *Touch) shown() string {
	if t.Path != "" {
		return t.Path
	}
	return t.Name
}

func (t *Touch) describe(p *shellparse.Program) string {
	verb := "reads"
	if t.Write {
		verb = "writes"
	}
	if !t.Sure {
		verb = "may touch"
	}
	if t.command >= len(p.Commands) {
		return "it " + verb + " " + t.Name
	}
	return describePart(&p.Commands[t.command]) + ": it " + verb + " " + t.shown()
}
