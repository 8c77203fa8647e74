package ignore

// Kind is a kind of ignore file. A kind stands above every kind after it,
// whatever the folders in which the files lie.
type Kind int8

const (
	// Ripgrep is .rgignore.
	Ripgrep Kind = iota
	// Plain is .ignore, which several search tools read.
	Plain
	// Git is .gitignore.
	Git
	// Exclude is .git/info/exclude.
	Exclude

	// NumKinds is how many kinds there are.
	NumKinds = iota
)

// Kinds lists the kinds, the strongest first.
func Kinds() [NumKinds]Kind { return [NumKinds]Kind{Ripgrep, Plain, Git, Exclude} }

// Path returns where a file of the kind lies, relative to its folder.
func (k Kind) Path() string {
	switch k {
	case Ripgrep:
		return ".rgignore"
	case Plain:
		return ".ignore"
	case Git:
		return ".gitignore"
	default:
		return ".git/info/exclude"
	}
}

// Files are the ignore files of one folder.
type Files struct {
	// Rules holds the parsed files by [Kind]; nil where there is none.
	Rules [NumKinds]*Rules
	// Repository says that the folder holds a .git. The git rules of the
	// folders above end there, as they do for git and ripgrep.
	Repository bool
}

// Level is a folder's rules together with those of the folders above it. A
// nil Level has no rules. A Level never changes and may be used from several
// goroutines at once.
type Level struct {
	up    *Level
	base  int // length of the folder's path with its final slash
	files Files
	has   [NumKinds]bool // whether this level or one above has such rules
}

// Enter returns the level of a folder beneath l. dir is the folder's path
// from the root of the walk, "" for the root itself, without a final slash.
// Where the folder adds nothing the result is l itself.
func (l *Level) Enter(dir string, files Files) *Level {
	next := &Level{up: l, files: files}
	if dir != "" {
		next.base = len(dir) + 1
	}
	if l != nil {
		next.has = l.has
	}
	adds := files.Repository && (next.has[Git] || next.has[Exclude])
	for kind, rules := range files.Rules {
		if rules != nil {
			next.has[kind] = true
			adds = true
		}
	}
	if !adds {
		return l
	}
	return next
}

// Match says what the rules make of path, which is relative to the root of
// the walk. As with [Rules.Match], folders above path are not looked at.
func (l *Level) Match(path []byte, dir bool) Verdict {
	if l == nil {
		return None
	}
	for kind := range l.has {
		if !l.has[kind] {
			continue
		}
		if v := l.match(Kind(kind), path, dir); v != None {
			return v
		}
	}
	return None
}

// match asks the files of one kind, the nearest folder first.
func (l *Level) match(kind Kind, path []byte, dir bool) Verdict {
	for at := l; at != nil; at = at.up {
		if v := at.files.Rules[kind].Match(path[at.base:], dir); v != None {
			return v
		}
		if at.files.Repository && kind >= Git {
			return None
		}
	}
	return None
}
