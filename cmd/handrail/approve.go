package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// maxShownArgs is how much of a call's arguments a question shows, in bytes:
// about a screen.
const maxShownArgs = 2000

// approver returns what asks the person at the terminal, or nil where no
// person can both read the question and answer it.
func (t *terminal) approver(p *progress) handrail.Approver {
	if !t.inTTY || !t.errTTY {
		return nil
	}
	a := &asker{t: t, progress: p, turn: make(chan struct{}, 1), granted: map[string]bool{}}
	return a.ask
}

// asker puts one question at a time.
type asker struct {
	t        *terminal
	progress *progress
	turn     chan struct{}
	lines    chan string // answers, closed at the end of the input
	// granted are the acts that were allowed for the session. A batch may
	// have the same question in line already when that word is given.
	granted map[string]bool
}

func (a *asker) ask(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
	select {
	case <-ctx.Done():
		return handrail.ApprovalAnswer{}, ctx.Err()
	case a.turn <- struct{}{}:
	}
	defer func() { <-a.turn }()
	if a.granted[r.Digest] {
		return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true, Session: true}, nil
	}
	a.progress.hold()
	defer a.progress.release()
	a.put(r)
	a.forget()
	for {
		fmt.Fprint(a.t.err, a.t.paint(a.t.errTTY, "1", "Allow it? "), "[o]nce, for this [s]ession, [d]eny: ")
		line, err := a.read(ctx)
		if err != nil {
			fmt.Fprintln(a.t.err)
			return handrail.ApprovalAnswer{}, err
		}
		switch word := strings.ToLower(strings.TrimSpace(line)); word {
		case "o", "once", "y", "yes":
			return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true}, nil
		case "s", "session":
			a.granted[r.Digest] = true
			return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true, Session: true}, nil
		case "d", "deny", "n", "no", "":
			return handrail.ApprovalAnswer{Digest: r.Digest, Reason: "the person at the terminal said no"}, nil
		}
	}
}

// put shows what is asked. Nothing in it may steer the terminal: the
// arguments are the model's.
func (a *asker) put(r handrail.ApprovalRequest) {
	w := a.t.err
	fmt.Fprintf(w, "%s %s\n", a.t.paint(a.t.errTTY, "1", visible(r.Tool)), visible(oneLine(r.Summary)))
	fmt.Fprintf(w, "  arguments  %s\n", visible(tool.ClipText(oneLine(string(r.Args)), maxShownArgs)))
	for _, path := range r.Act.Writes {
		fmt.Fprintf(w, "  writes     %s\n", visible(oneLine(path)))
	}
	for _, host := range r.Act.Hosts {
		fmt.Fprintf(w, "  reaches    %s\n", visible(oneLine(host)))
	}
	if r.Act.Command != "" {
		fmt.Fprintf(w, "  runs       %s\n", visible(tool.ClipText(oneLine(r.Act.Command), maxShownArgs)))
	}
	fmt.Fprintf(w, "  asked by   %s: %s\n", visible(r.Rule), visible(oneLine(r.Reason)))
}

// forget drops what was typed before the question stood there: it was meant
// for something else, most dangerously for a question that was withdrawn.
func (a *asker) forget() {
	select {
	case <-a.lines:
	default:
	}
	if a.t.flush != nil {
		a.t.flush()
	}
}

// read waits for a line, the end of the input, or the end of ctx. Reading
// from a terminal cannot be withdrawn, so one reader is started with the
// first question and lives as long as the program.
func (a *asker) read(ctx context.Context) (string, error) {
	if a.lines == nil {
		a.lines = make(chan string)
		go func() {
			in := bufio.NewScanner(a.t.in)
			for in.Scan() {
				a.lines <- in.Text()
			}
			close(a.lines)
		}()
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line, ok := <-a.lines:
		if !ok {
			return "", fmt.Errorf("the input ended before there was an answer")
		}
		return line, nil
	}
}

// oneLine keeps a text from drawing lines that look like ours.
func oneLine(s string) string {
	return strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\r", "⏎", "\t", " ").Replace(s)
}
