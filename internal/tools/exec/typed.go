package exec

import (
	"strings"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/internal/process"
)

// A line is what text means that is typed into a command, after what was typed
// before it. A shell runs a line when it is complete, so that what comes in
// pieces is put together again here, and judged with each piece as if enter
// followed: no piece is typed that would complete what must not run.
type line struct {
	// text is all that would run.
	text string
	// unclear says, if not "", why more than that may run.
	unclear string
	// rest and restUnclear are what is left over for the next time.
	rest, restUnclear string
}

// What makes it unclear what is typed. It stays so until ctrl-c throws away
// what the shell has of it.
const (
	noShell   = "it is typed into a program that is not known for a shell"
	tooMuch   = "more was typed than is looked at without a complete command"
	editsLine = "it has keys that edit the line, or bring back or complete another; ctrl-c begins a new one"
	remade    = "aliases or the meaning of keys were changed in this shell"
)

// typing returns what data means for a command.
func typing(e *process.Entry, data string, terminal bool) line {
	if e == nil {
		return line{} // which the call will say
	}
	if !terminal && (data == "\x03" || data == "\x04") || terminal && data == "\x04" {
		text, unclear := e.Typed.Get()
		if !terminal || text == "" {
			return line{rest: text, restUnclear: unclear} // a signal, or the end of the input
		}
	}
	if !terminal {
		data = strings.TrimSuffix(data, "\x04")
	}
	if e.Tool == "run_code" || !shellparse.Parse(e.Command).IsShell() {
		return line{text: data, unclear: noShell, restUnclear: noShell}
	}
	pending, unclear := e.Typed.Get()
	return assemble(pending, unclear, data, terminal)
}

// assemble puts data behind what is pending.
func assemble(pending, unclear, data string, terminal bool) line {
	l := line{unclear: unclear, restUnclear: unclear}
	if terminal {
		data = strings.ReplaceAll(strings.ReplaceAll(data, "\r\n", "\n"), "\r", "\n")
		for i := strings.IndexByte(data, '\x03'); i >= 0; i = strings.IndexByte(data, '\x03') {
			// What stands in front of it may have run already, line by line.
			l.take(pending+data[:i], true)
			data, pending = data[i+1:], ""
			if l.restUnclear != remade {
				l.restUnclear = ""
			}
		}
	}
	l.take(pending+data, terminal)
	return l
}

// take adds text to what would run, and finds out what is left over.
func (l *line) take(text string, terminal bool) {
	if terminal && edits(text) {
		l.restUnclear = editsLine
	}
	if text != "" && l.text != "" && !strings.HasSuffix(l.text, "\n") {
		l.text += "\n"
	}
	l.text += text
	l.rest = left(text)
	if len(l.rest) > shellparse.MaxScript {
		l.rest, l.restUnclear = "", tooMuch
	}
	if shellparse.Parse(text).Remakes() {
		l.restUnclear = remade
	}
	if l.unclear == "" && l.restUnclear != remade {
		l.unclear = l.restUnclear
	}
}

// left returns what a shell waits to see more of.
func left(text string) string {
	at := strings.LastIndexByte(text, '\n') + 1
	if at > 0 && shellparse.Complete(text[:at]) {
		return text[at:]
	}
	return text
}

// edits reports whether a terminal, or the shell that reads a line from it,
// would make something else of text than what stands there.
func edits(text string) bool {
	begins := true
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			begins = true
			continue
		case c < ' ' || c == 0x7f || c == '^' && begins:
			return true
		case c == '!' && i+1 < len(text) && strings.IndexByte(" \n=", text[i+1]) < 0:
			return true // an earlier line comes back
		}
		begins = false
	}
	return false
}
