package shellparse

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/commands.txt
var commandsText string

//go:embed data/variables.txt
var variablesText string

// A role says what an option does to the verdict.
type role uint8

const (
	fine       role = iota // nothing
	changes                // something is changed
	dangers                // something is destroyed
	writesFile             // its value is a file that is written
	readsFile              // its value is a file that is read
	runs                   // its value is a command line of a shell
	runsCode               // its value is a program in another language
	runsFile               // its value is a program text in a file
	connects               // its value is a host
	unclear                // known, and nothing to rely on
)

var roleNames = sync.OnceValue(func() map[string]role {
	return map[string]role{
		"ok": fine, "change": changes, "danger": dangers, "write": writesFile, "read": readsFile,
		"run": runs, "code": runsCode, "file": runsFile, "host": connects, "unclear": unclear,
	}
})

type optionFact struct {
	role role
	// takes: the value is the next word where it is not attached.
	takes bool
	// maybe: a value, if any, is attached.
	maybe bool
	// same is the spelling that stands for all that mean this option.
	same string
}

// An entry is what is known of one program, or of one of its sub-commands.
type entry struct {
	class   Class
	options map[string]optionFact
	// anyOption: no option of it changes, runs or reaches anything.
	anyOption bool
	// single: long options begin with one dash.
	single bool
	// plus: there are options that begin with "+".
	plus bool
	// args are what the arguments are; the last holds for all that follow.
	args []string
	// most arguments that still only read; beyond, something is changed.
	most int
	// network and process are effects whatever the arguments say.
	network, process bool
	// wrap: a command follows after that many arguments; -1 is none.
	wrap int
	// passes: as a wrapper it adds nothing of its own.
	passes bool
	// remote: what it runs runs elsewhere.
	remote bool
	// subs: the first argument names a sub-command, an entry of its own.
	subs bool
	// kind is what the code must know beside all that.
	kind string
}

// facts are the data files, read.
type facts struct {
	entries map[string]*entry
	// harmless and meaning are names of variables, or the beginnings of
	// names with a "*": those that change nothing of what a command does,
	// those that change it even where they are not exported, and of these
	// the ones whose value is run.
	harmless, meaning, runs []string
}

// table reads the data files at the first use: they cost no start-up time.
var table = sync.OnceValue(func() *facts {
	f, err := readFacts(commandsText, variablesText)
	if err != nil {
		panic(err) // The files are part of the program, and a test reads them.
	}
	return f
})

func readFacts(commands, variables string) (*facts, error) {
	f := &facts{entries: map[string]*entry{}}
	var now *entry
	n := 0
	for line := range strings.Lines(commands) {
		n++
		line = strings.TrimRight(line, " \n")
		if line == "" || line[0] == '#' {
			continue
		}
		var err error
		if line[0] == ' ' {
			if now == nil {
				err = fmt.Errorf("a fact about no command")
			} else {
				words := strings.Fields(line)
				err = now.fact(words[0], words[1:])
			}
		} else {
			now, err = f.start(line)
		}
		if err != nil {
			return nil, fmt.Errorf("commands.txt:%d: %w", n, err)
		}
	}
	for line := range strings.Lines(variables) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "harmless":
			f.harmless = append(f.harmless, words[1:]...)
		case words[0] == "meaning":
			f.meaning = append(f.meaning, words[1:]...)
		case words[0] == "runs":
			f.runs = append(f.runs, words[1:]...)
		default:
			return nil, fmt.Errorf("variables.txt: %q is none of harmless, meaning and runs", words[0])
		}
	}
	return f, nil
}

var classNames = map[string]Class{"read": ReadOnly, "change": Changes, "danger": Dangerous, "unknown": Unknown}

// start reads "name, name sub: class".
func (f *facts) start(line string) (*entry, error) {
	at := strings.LastIndexByte(line, ':')
	names, class := line[:max(at, 0)], line[at+1:]
	c, known := classNames[strings.TrimSpace(class)]
	if at < 0 || !known {
		return nil, fmt.Errorf("%q is not \"names: class\"", line)
	}
	e := &entry{class: c, wrap: -1, most: -1, options: map[string]optionFact{}}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if _, twice := f.entries[name]; twice || name == "" {
			return nil, fmt.Errorf("%q stands twice or is empty", name)
		}
		f.entries[name] = e
	}
	return e, nil
}

// fact reads one indented line.
func (e *entry) fact(key string, words []string) error {
	if r, ok := roleNames()[key]; ok {
		return e.optionWords(r, words)
	}
	var err error
	switch key {
	case "args":
		e.args = words
	case "most":
		e.most, err = strconv.Atoi(strings.Join(words, " "))
	case "wrap":
		e.wrap, err = strconv.Atoi(strings.Join(words, " "))
	case "kind":
		e.kind = strings.Join(words, " ")
	case "same":
		for _, w := range words {
			o := e.options[w]
			o.same = words[0]
			e.options[w] = o
		}
	case "is":
		for _, w := range words {
			switch w {
			case "network":
				e.network = true
			case "process":
				e.process = true
			case "passes":
				e.passes = true
			case "remote":
				e.remote = true
			case "single":
				e.single = true
			case "subs":
				e.subs = true
			default:
				return fmt.Errorf("nothing is %q", w)
			}
		}
	default:
		return fmt.Errorf("unknown fact %q", key)
	}
	return err
}

func (e *entry) optionWords(r role, words []string) error {
	for _, w := range words {
		if w == "*" && r == fine {
			e.anyOption = true
			continue
		}
		o := optionFact{role: r}
		w, o.takes = strings.CutSuffix(w, "=")
		w, o.maybe = strings.CutSuffix(w, "?")
		if len(w) < 2 || w[0] != '-' && w[0] != '+' {
			return fmt.Errorf("%q is not an option", w)
		}
		e.plus = e.plus || w[0] == '+'
		if _, twice := e.options[w]; twice {
			return fmt.Errorf("option %s stands twice", w)
		}
		e.options[w] = o
	}
	return nil
}

// lookup finds a program by its base name. Versions do not matter: python3.12
// is python3.
func (f *facts) lookup(name string) *entry {
	if e := f.entries[name]; e != nil {
		return e
	}
	if cut := strings.TrimRight(name, "0123456789.-"); cut != name && cut != "" {
		if e := f.entries[cut]; e != nil && e.kind == "code" {
			return e
		}
	}
	return nil
}

// isHarmless reports whether setting the variable for a program changes
// nothing that matters.
func (f *facts) isHarmless(name string) bool { return listed(f.harmless, name) }

// hasMeaning reports whether the variable changes what commands do, even if
// it is only set in the shell.
func (f *facts) hasMeaning(name string) bool { return listed(f.meaning, name) && !f.isHarmless(name) }

func listed(list []string, name string) bool {
	for _, l := range list {
		if prefix, ok := strings.CutSuffix(l, "*"); ok && strings.HasPrefix(name, prefix) || l == name {
			return true
		}
	}
	return false
}
