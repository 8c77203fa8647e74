package exec

import (
	"context"
	_ "embed" // for the description
	"errors"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed write_stdin.md
var writeStdinWords string

const (
	// typedYield is how long a call that types waits for an answer, pollYield
	// one that only reads, where it does not say.
	typedYield = 2 * time.Second
	pollYield  = 5 * time.Second
)

type stdinArgs struct {
	ID        int      `json:"session_id" jsonschema:"which command, as the call that started it said"`
	Chars     string   `json:"chars,omitempty" jsonschema:"text to type" max:"500000"`
	Keys      []string `json:"keys,omitempty" jsonschema:"keys to press after it: enter, tab, esc, space, backspace, delete, up, down, left, right, home, end, page-up, page-down, f1 to f12, ctrl-a to ctrl-z" max:"100"`
	Signal    string   `json:"signal,omitempty" jsonschema:"signal to send to all of its processes" enum:"INT|TERM|HUP|QUIT|KILL"`
	Close     bool     `json:"close,omitempty" jsonschema:"close its input after typing"`
	End       bool     `json:"end,omitempty" jsonschema:"end it, with all that it started"`
	Yield     int      `json:"yield_time_ms,omitempty" jsonschema:"milliseconds to wait at most; 2000 after typing, else 5000" min:"0" max:"600000"`
	MaxTokens int      `json:"max_output_tokens,omitempty" jsonschema:"most text to return, in tokens of four bytes" min:"1"`
	Rows      int      `json:"rows,omitempty" jsonschema:"new number of rows of its terminal; with cols" min:"1" max:"500"`
	Cols      int      `json:"cols,omitempty" jsonschema:"new number of columns; with rows" min:"1" max:"1000"`
}

// typed reports whether the call does more than look.
func (in *stdinArgs) typed() bool {
	return in.Chars != "" || len(in.Keys) > 0 || in.Signal != "" || in.Close
}

// WriteStdin returns the tool write_stdin.
func WriteStdin() tool.Tool {
	return tool.Typed[stdinArgs]{
		Spec: tool.Spec{
			Name: "write_stdin", Title: "Talk to a running command", Description: words(writeStdinWords),
			ArgAliases: map[string][]string{"session_id": {"id", "session"}, "chars": {"input", "text"}, "yield_time_ms": {"yield"}},
			Tags:       tags(), Effects: tool.Read | tool.Write | tool.Exec | tool.Network, Concurrency: tool.Keyed,
			Timeout: MaxTimeout + margin, OutputBytes: outputBytes,
		},
		Assess: assessStdin,
		Handle: runStdin,
		Key:    func(in stdinArgs) string { return strconv.Itoa(in.ID) },
	}.Tool()
}

// assessStdin: what is typed into a command is a command; to read what one
// has written, or to end it, is not.
func assessStdin(ctx context.Context, in stdinArgs) (tool.Act, error) {
	keys, err := encodeKeys(in.Keys, false)
	if err != nil {
		return tool.Act{}, err
	}
	id := strconv.Itoa(in.ID)
	if (in.Rows > 0) != (in.Cols > 0) {
		return tool.Act{}, tool.Invalidf("rows and cols are given together")
	}
	if !in.typed() {
		return tool.Act{Effects: tool.Read, Summary: "read what the command " + id + " has written"}, nil
	}
	k := From(ctx)
	outside := k.Commands.Outside(in.ID)
	summary := "type into the command " + id + ": " + tool.Clip(in.Chars)
	if outside {
		summary = "OUTSIDE OF THE FENCE, " + summary
	}
	act := k.act(summary, outside)
	if data := in.Chars + keys; data != "" {
		e := k.Commands.Look(in.ID)
		terminal := false
		if e != nil {
			_, terminal = e.Size()
		}
		l := typing(e, data, terminal)
		if l.unclear != noShell && l.rest != l.text { // a shell would run some of it
			if _, err := k.judgeWrites(l.text); err != nil {
				return tool.Act{}, err
			}
		}
		act.Command, act.Unclear, act.Resumed = l.text, l.unclear, true
		if strings.TrimSpace(act.Command) != strings.TrimSpace(in.Chars) && act.Command != "" {
			act.Summary += " (with what was typed before: " + tool.Clip(act.Command) + ")"
		}
	}
	return act, nil
}

func runStdin(ctx context.Context, call *tool.Call, in stdinArgs) (*tool.Result, error) {
	k := From(ctx)
	e, done, err := k.Commands.Talk(ctx, in.ID)
	if err != nil {
		return nil, tool.Errorf(tool.CodeFailed, "%w", err)
	}
	defer done()
	_, hasTTY := e.Size()
	t := &talk{kit: k, call: call, entry: e, tokens: in.MaxTokens, tty: hasTTY}
	if in.Rows > 0 && in.Cols > 0 {
		if err := e.Resize(uint16(in.Rows), uint16(in.Cols)); err != nil {
			return nil, tool.Failf("%w", err)
		}
	}
	if err := t.send(ctx, &in); err != nil {
		return nil, err
	}
	if in.End {
		_ = e.Stop("ended on request")
		<-e.Ended()
	}
	most := time.Duration(in.Yield) * time.Millisecond
	if in.Yield == 0 {
		most = pollYield
		if in.typed() {
			most = typedYield
		}
	}
	t.wait(ctx, most, in.typed() || in.Rows > 0)
	return t.answer(ctx, k.Witness.Glance(ctx)), nil
}

// send types, presses and signals.
func (t *talk) send(ctx context.Context, in *stdinArgs) error {
	keys, err := encodeKeys(in.Keys, t.entry.ApplicationKeys())
	if err != nil {
		return err
	}
	data := in.Chars + keys
	if !t.tty {
		if data, err = t.plainKeys(data, in); err != nil {
			return err
		}
	}
	if data != "" {
		l := typing(t.entry, data, t.tty)
		err := t.write(ctx, data)
		if err != nil && l.restUnclear == "" {
			l.restUnclear = editsLine // it may have got a part
		}
		t.entry.Typed.Set(l.rest, l.restUnclear)
		if err != nil {
			return err
		}
	}
	if in.Close && !t.tty {
		_ = t.entry.CloseInput() // closed is what it should be
	}
	if sig, ok := signalOf(in.Signal); ok {
		_ = t.entry.Signal(sig) // one that has ended needs none
	}
	return nil
}

// plainKeys does what a terminal would make of control characters, for a
// command that has none.
func (t *talk) plainKeys(data string, in *stdinArgs) (string, error) {
	const interrupt, endOfFile = "\x03", "\x04"
	switch data {
	case interrupt:
		return "", t.entry.Signal(syscall.SIGINT)
	case endOfFile:
		in.Close = true
		return "", nil
	}
	if n := len(data) - 1; n > 0 && data[n:] == endOfFile {
		in.Close = true
		return data[:n], nil
	}
	return data, nil
}

func (t *talk) write(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := t.entry.Write(ctx, []byte(data))
	switch {
	case err == nil:
		return nil
	case t.ended():
		return nil // how it ended is the answer
	case errors.Is(err, process.ErrNoInput):
		return tool.Failf("nothing was typed: the input of the command %d is closed. Start it again with exec_command and tty or stdin set; "+
			"the key ctrl-c, a signal and end work without.", t.entry.ID)
	}
	return tool.Failf("%w", err)
}
