// Package shellparse says what a shell command line would do: text in, facts
// out. It runs nothing, opens no file and asks no environment.
//
// [Parse] finds every simple command of a script, through lists, pipes,
// substitutions, functions, here-documents fed to a shell, "sh -c", "eval",
// wrappers such as env, sudo, xargs and "find -exec", and says of each which
// program it is, what it reads, writes and reaches, and how bad it is. What it
// knows of programs stands in the data folder, one line a fact.
//
// A [Set] holds rules; a rule that forbids is asked with [Set.Hit] whether any
// part is or could be what it names, a rule that permits with [Set.Cover]
// whether every part is. The text may be hostile: whatever cannot be known
// counts as possibly anything to the first and as nothing to the second.
//
// Everything here is safe for concurrent use; a Program must not be changed.
package shellparse

import (
	"strconv"
	"strings"
)

// Limits of what is looked at. A script beyond them is unknown, never cut.
const (
	// MaxScript is the longest script that is read, in bytes: half of the
	// 128 KiB that Linux allows one argument of a program.
	MaxScript = 64 << 10
	// MaxDepth is how deep scripts may be nested in scripts ("sh -c", eval,
	// substitutions, wrappers). People reach three.
	MaxDepth = 12
	// MaxCommands is how many simple commands one script may have.
	MaxCommands = 2000
	// maxOpen is how many brackets may be open at once, and maxBraces
	// how many braces one word may have: the parser's time grows with the
	// square and the cube of these.
	maxOpen   = 100
	maxBraces = 16
	// maxParsed is how many bytes all nested scripts may have together, so
	// that text that repeats itself in nested quotes costs no more than this.
	maxParsed = 4 * MaxScript
)

// Class is how bad a command is. The zero value is the careful one.
type Class uint8

// The classes. Which of two is worse: Dangerous, Unknown, Changes, ReadOnly.
const (
	// Unknown is a program, an option or a text of which nothing is known.
	Unknown Class = iota
	// ReadOnly changes nothing, runs nothing else and reaches no other host.
	ReadOnly
	// Changes something or reaches another host, as is its ordinary use.
	Changes
	// Dangerous destroys what cannot be brought back, or takes more power.
	Dangerous
)

// String returns the class in a word: "read-only", "changes", "dangerous" or
// "unknown".
func (c Class) String() string {
	switch c {
	case ReadOnly:
		return "read-only"
	case Changes:
		return "changes"
	case Dangerous:
		return "dangerous"
	}
	return "unknown"
}

// Worse returns the worse of two classes.
func (c Class) Worse(d Class) Class {
	if rank(d) > rank(c) {
		return d
	}
	return c
}

func rank(c Class) int {
	switch c {
	case ReadOnly:
		return 0
	case Changes:
		return 1
	case Unknown:
		return 2
	}
	return 3
}

// A Word is one argument as the program would get it, as far as that is known.
type Word struct {
	// Text is the value where Known is true, else how it is written.
	Text string
	// Known says that the value does not depend on anything outside the text.
	Known bool
	// Computed says that Known rests on reckoning: a variable that the script
	// sets, the output of an echo. It is enough to refuse, not to permit.
	Computed bool
	// Glob says that the word holds unquoted wildcards, which the shell
	// replaces by names of files.
	Glob bool
	// Many says that the word may become several, or none.
	Many bool
	// shape is Text with a wild byte for every stretch that is not known.
	shape string
}

// wild stands in a shape for any text at all. No argument can hold it.
const wild = '\x00'

// mayBeOption reports whether the program could take the word for an option.
func (w Word) mayBeOption() bool {
	return w.shape != "" && (w.shape[0] == '-' || w.shape[0] == wild) || w.Many && w.shape == ""
}

// An Assignment is a variable that is set, for one command or from there on.
type Assignment struct {
	Name  string
	Value Word
	// Exported says that programs that are started see it.
	Exported bool
}

// A Path is a file that a command touches, as the command names it. It is
// relative to whatever folder the command runs in.
type Path struct {
	// Name is the name; a leading ~ and wildcards of the shell stand in it
	// as written.
	Name string
	// Known is false where Name is only how a computed name is written.
	Known bool
	// Glob says that Name holds wildcards.
	Glob bool
	// shape is Name with a wild byte for every stretch that is not known.
	shape string
}

// Shape returns the name with a NUL for every stretch that may be any text,
// slashes included; with glob, it holds wildcards of the shell, as written.
func (p Path) Shape() (shape string, glob bool) {
	switch {
	case p.Glob && !strings.ContainsAny(p.Name, "*?[+@!("):
		return string(wild), false // the wildcards are in what stood before it
	case p.Glob && !strings.ContainsAny(p.Name, "$`\"'\\{"):
		return p.Name, true
	case p.shape == "":
		return p.Name, false
	}
	return p.shape, false
}

// A Redirect is a redirection to or from a file. Those between descriptors,
// and those to /dev/null and the like, are left out.
type Redirect struct {
	Path  Path
	Write bool
	// Host is set instead for bash's /dev/tcp/HOST/PORT and /dev/udp.
	Host string
}

// Effects are what a command, or a whole script, does as far as it is known.
type Effects struct {
	// Reads and Writes are the files and folders named. A folder stands for
	// what is below it.
	Reads, Writes []Path
	// Hosts are the hosts that are named, as written (a URL, HOST, HOST:PORT).
	Hosts []string
	// Network: another machine is reached, one of Hosts or another.
	Network bool
	// Process: other processes are stopped, started for later, or changed.
	Process bool
	// Write: something is changed, be it in Writes or elsewhere.
	Write bool
	// Unbounded: there may be more than all of the above says.
	Unbounded bool
}

func (e *Effects) add(o Effects) {
	e.Reads = append(e.Reads, o.Reads...)
	e.Writes = append(e.Writes, o.Writes...)
	e.Hosts = append(e.Hosts, o.Hosts...)
	e.Network = e.Network || o.Network
	e.Process = e.Process || o.Process
	e.Write = e.Write || o.Write
	e.Unbounded = e.Unbounded || o.Unbounded
}

// A Command is one simple command of a script.
type Command struct {
	// Name is the base name of the program or builtin, or "" where it cannot
	// be known, or where the command only sets variables.
	Name string
	// Words are the name as written and the arguments.
	Words []Word
	// Assigns are the variables set in front of it.
	Assigns []Assignment
	// Redirects are those of this command and of the groups around it.
	Redirects []Redirect
	// Via says through what it is reached, outermost first: "sudo", "sh -c",
	// "$()", "function f". Empty for one that stands in the script itself.
	Via []string
	// Line is where it stands in the outermost script, from 1.
	Line int
	// Class is the verdict on this command and its redirects; Why says, in a
	// phrase, what it rests on. Commands that it runs are judged on their own.
	Class Class
	Why   string
	// Opaque, if not "", says why it cannot be known what this command runs.
	// No rule permits it.
	Opaque string
	// Code is text in another language that it runs (python -c, awk).
	Code string
	// Remote says that it runs on another machine or in a container.
	Remote bool
	// Effects are those of this command and its redirects.
	Effects Effects

	// passes is a wrapper that adds nothing of its own, such as nice.
	passes bool
	// suffixes says that any later word may be a command that it runs; sure,
	// that one of them is.
	suffixes, sure bool
	// hidden: it runs, or may run, what no command of the program shows, so
	// that a rule about its name alone does not permit it.
	hidden bool
	// ownClass is Class without the redirects.
	ownClass Class
	// function: it is a call of a function of the script. declared: the
	// parser knew it for a declaration, so that its names are seen.
	function, declared bool
	// optionWrites are the files that options of a reading command write.
	optionWrites []Path
	// forms are the other word lists that mean the same: git without the
	// options in front of its sub-command.
	forms [][]Word
}

// String returns the command as words, for a message.
func (c *Command) String() string {
	var b []byte
	for i, w := range c.Words {
		if i > 0 {
			b = append(b, ' ')
		}
		if w.Known && needsQuotes(w.Text) {
			b = strconv.AppendQuote(b, w.Text)
		} else {
			b = append(b, w.Text...)
		}
	}
	return string(b)
}

func needsQuotes(s string) bool {
	for _, r := range s {
		if r <= ' ' || r == '\'' || r == '"' {
			return true
		}
	}
	return s == ""
}

// A Program is what is known of a script.
type Program struct {
	// Commands are all simple commands, in the order in which they are met.
	Commands []Command
	// Problems are reasons why there may be more than Commands says: text
	// that cannot be parsed, is too long, or does not mean what it looks
	// like. With one, the whole script is Unknown at best.
	Problems []string
}

// Class returns the worst class of all parts. A script without any command is
// read-only.
func (p *Program) Class() Class {
	worst := ReadOnly
	if len(p.Problems) > 0 {
		worst = Unknown
	}
	for i := range p.Commands {
		worst = worst.Worse(p.Commands[i].Class)
	}
	return worst
}

// Why returns the reason for [Program.Class], with the command it is about.
func (p *Program) Why() string {
	worst := p.Class()
	for i := range p.Commands {
		if c := &p.Commands[i]; c.Class == worst && worst != ReadOnly {
			return c.String() + ": " + c.Why
		}
	}
	if len(p.Problems) > 0 {
		return p.Problems[0]
	}
	return "nothing in it changes anything"
}

// Effects returns the effects of all parts together. Those of a command on
// another machine or in a container name no file of this one.
func (p *Program) Effects() Effects {
	var all Effects
	for i := range p.Commands {
		e := p.Commands[i].Effects
		if p.Commands[i].Remote {
			e.Reads, e.Writes = nil, nil
		}
		all.add(e)
	}
	all.Unbounded = all.Unbounded || len(p.Problems) > 0
	return all
}
