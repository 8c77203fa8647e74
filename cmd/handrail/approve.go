package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/plain"
	"github.com/handrail-tools/handrail/tool"
)

// maxShown is how much of one text a question shows, in bytes: a few screens.
// What is longer is shown whole to who asks to view it.
const maxShown = 8 << 10

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
	// granted are the acts that were allowed for the session, by [act]. A
	// batch may have the same question in line already when that word is
	// given.
	granted map[string]bool
}

// act identifies what was allowed: the call and the files that it meant. The
// same arguments mean other files once a link was moved.
func act(r handrail.ApprovalRequest) string {
	return fmt.Sprintf("%s %q %q", r.Digest, r.Act.Reads, r.Act.Writes)
}

func (a *asker) ask(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
	select {
	case <-ctx.Done():
		return handrail.ApprovalAnswer{}, ctx.Err()
	case a.turn <- struct{}{}:
	}
	defer func() { <-a.turn }()
	if a.granted[act(r)] {
		return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true, Session: true}, nil
	}
	a.progress.hold()
	defer a.progress.release()
	words := "[o]nce, for this [s]ession, [d]eny: "
	if a.put(r, maxShown) {
		words = "[v]iew the whole, " + words
	}
	a.forget()
	for {
		fmt.Fprint(a.t.err, a.t.paint(a.t.errTTY, "1", "Allow it? "), words)
		line, err := a.read(ctx)
		if err != nil {
			fmt.Fprintln(a.t.err)
			return handrail.ApprovalAnswer{}, err
		}
		switch word := strings.ToLower(strings.TrimSpace(line)); word {
		case "o", "once", "y", "yes":
			return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true}, nil
		case "s", "session":
			a.granted[act(r)] = true
			return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true, Session: true}, nil
		case "v", "view":
			a.put(r, math.MaxInt)
		case "d", "deny", "n", "no", "":
			return handrail.ApprovalAnswer{Digest: r.Digest, Reason: "the person at the terminal said no"}, nil
		}
	}
}

// put shows what is asked, of each text at most limit bytes, and reports
// whether anything was left out. Nothing in it may steer the terminal: the
// arguments are the model's.
func (a *asker) put(r handrail.ApprovalRequest, limit int) (cut bool) {
	w := a.t.err
	short := func(s string) string {
		s = oneLine(s)
		if len(s) <= limit {
			return visible(s)
		}
		cut = true
		shown := tool.ClipText(s, limit)
		hidden := len(s) - len(strings.TrimSuffix(shown, "…"))
		return visible(shown) + a.t.paint(a.t.errTTY, "1", fmt.Sprintf(" [%d bytes more, not shown]", hidden))
	}
	fmt.Fprintf(w, "%s %s\n", a.t.paint(a.t.errTTY, "1", visible(r.Tool)), short(r.Summary))
	fmt.Fprintf(w, "  arguments  %s\n", short(string(r.Args)))
	for _, path := range r.Act.Writes {
		fmt.Fprintf(w, "  writes     %s\n", visible(oneLine(path)))
	}
	for _, host := range r.Act.Hosts {
		fmt.Fprintf(w, "  reaches    %s\n", visible(oneLine(host)))
	}
	if r.Act.Command != "" {
		fmt.Fprintf(w, "  runs       %s\n", short(r.Act.Command))
	}
	fmt.Fprintf(w, "  asked by   %s: %s\n", visible(oneLine(r.Rule)), short(r.Reason))
	return cut
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
func oneLine(s string) string { return plain.OneLine(s) }
