package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/plain"
	"github.com/handrail-tools/handrail/tool"
)

// maxShown is how much of one text a question shows, in bytes: a few screens.
// What is longer is shown whole to who asks to view it.
const maxShown = 8 << 10

// byTerminal is how the record names the way that an answer came.
const byTerminal = "terminal"

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

// act identifies what was allowed: the call, the files and the command that it
// meant, and why it was asked about. The same arguments mean other files once
// a link was moved.
func act(r handrail.ApprovalRequest) string {
	text := fmt.Sprintf("%q %q %q %q %q %q %q %q %q %q", r.Session, r.Tool, r.Args, r.Rule, r.Reason,
		r.Act.Reads, r.Act.Writes, r.Act.Trees, r.Act.Command, r.Act.Unclear)
	for _, file := range r.Act.Touches {
		text += fmt.Sprintf(" %q", file.Path)
	}
	return text
}

func (a *asker) ask(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
	select {
	case <-ctx.Done():
		return handrail.ApprovalAnswer{}, ctx.Err()
	case a.turn <- struct{}{}:
	}
	defer func() { <-a.turn }()
	if ctx.Err() != nil {
		return handrail.ApprovalAnswer{}, ctx.Err() // it was withdrawn while it stood in line
	}
	answer := handrail.ApprovalAnswer{Digest: r.Digest, By: byTerminal}
	if a.granted[act(r)] {
		answer.Allow, answer.Scope = true, handrail.ForSession
		return answer, nil
	}
	a.progress.hold()
	defer a.progress.release()
	cut := showQuestion(a.t.err, a.t.errPainter(), shownOf(r), maxShown)
	a.forget()
	for {
		fmt.Fprint(a.t.err, a.t.paint(a.t.errTTY, "1", "Allow it? "), choices(r, cut))
		line, err := a.read(ctx)
		if err != nil {
			fmt.Fprintln(a.t.err)
			if errors.Is(context.Cause(ctx), handrail.ErrAnswered) {
				fmt.Fprintln(a.t.err, "  (answered elsewhere)")
			}
			return handrail.ApprovalAnswer{}, err
		}
		if done, err := a.understand(ctx, r, line, &answer); done || err != nil {
			if answer.Allow && answer.Scope == handrail.ForSession {
				a.granted[act(r)] = true
			}
			return answer, err
		}
	}
}

// choices are the words that answer a question.
func choices(r handrail.ApprovalRequest, cut bool) string {
	words := "[o]nce, for this [s]ession, "
	if cut {
		words = "[v]iew the whole, " + words
	}
	switch len(r.Offers) {
	case 0:
	case 1:
		words += "[a]lways, "
	default:
		words += fmt.Sprintf("[a1]-[a%d] always, ", len(r.Offers))
	}
	if commandField(r) != "" {
		words += "[e]dit the command, "
	}
	return words + "[d]eny [why]: "
}

// understand takes in what was typed, and reports whether it is an answer.
func (a *asker) understand(ctx context.Context, r handrail.ApprovalRequest, line string, answer *handrail.ApprovalAnswer) (done bool, err error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	word, rest = strings.ToLower(word), strings.TrimSpace(rest)
	if offer, ok := offerOf(r, word); ok && rest == "" {
		answer.Allow, answer.Scope, answer.Offer = true, handrail.ForAlways, offer
		return true, nil
	}
	switch word {
	case "d", "deny", "n", "no", "":
		if answer.Reason = plain.Text(rest); rest == "" {
			answer.Reason = "the person at the terminal said no"
		}
		return true, nil
	}
	if rest != "" {
		return false, nil // a yes has no more words
	}
	switch word {
	case "o", "once", "y", "yes":
		answer.Allow = true
		return true, nil
	case "s", "session":
		answer.Allow, answer.Scope = true, handrail.ForSession
		return true, nil
	case "v", "view":
		showQuestion(a.t.err, a.t.errPainter(), shownOf(r), math.MaxInt)
	case "e", "edit":
		if commandField(r) != "" {
			answer.Args, err = a.edit(ctx, r)
			return answer.Args != nil, err
		}
	}
	return false, nil
}

// offerOf is the offer that a word for always takes.
func offerOf(r handrail.ApprovalRequest, word string) (int, bool) {
	number, ok := strings.CutPrefix(strings.Replace(word, "always", "a", 1), "a")
	switch {
	case !ok || len(r.Offers) == 0:
		return 0, false
	case number == "" && len(r.Offers) == 1:
		return 0, true
	}
	n, err := strconv.Atoi(number)
	return n - 1, err == nil && n >= 1 && n <= len(r.Offers)
}

// edit has the person type another command. The call is judged anew with it,
// and asked about again where the rules say so. An empty line changes nothing.
func (a *asker) edit(ctx context.Context, r handrail.ApprovalRequest) ([]byte, error) {
	fmt.Fprint(a.t.err, "Run this instead (empty: leave it): ")
	line, err := a.read(ctx)
	if err != nil || strings.TrimSpace(line) == "" {
		return nil, err
	}
	return withCommand(r.Args, commandField(r), line)
}

// commandField is the argument that holds the command of a call, or "" where
// none does or the answer may not change it.
func commandField(r handrail.ApprovalRequest) string {
	var args map[string]any
	if r.Act.Command == "" || !r.Editable || json.Unmarshal(r.Args, &args) != nil {
		return ""
	}
	return fieldOf(args, r.Act.Command)
}

// fieldOf is the name of the only argument with the value, or "".
func fieldOf(args map[string]any, value string) string {
	found := ""
	for name, have := range args {
		if have == value {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	return found
}

// withCommand returns arguments with another text in one field; the others
// stay as they were written.
func withCommand(args []byte, field, text string) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(args, &all); err != nil {
		return nil, err
	}
	var err error
	if all[field], err = json.Marshal(text); err != nil {
		return nil, err
	}
	return json.Marshal(all)
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

// shown is a question as a person sees it, wherever it comes from.
type shown struct {
	tool, summary, arguments, command, rule, reason string
	reads, trees, writes, hosts                     []string
	offers                                          []handrail.ApprovalOffer
}

func shownOf(r handrail.ApprovalRequest) shown {
	return shown{
		tool: r.Tool, summary: r.Summary, arguments: string(r.Args), command: r.Act.Command, rule: r.Rule, reason: r.Reason,
		reads: r.Act.Reads, trees: r.Act.Trees, writes: r.Act.Writes, hosts: r.Act.Hosts, offers: r.Offers,
	}
}

// errPainter makes text on the error stream bold where it is a terminal.
func (t *terminal) errPainter() func(string) string {
	return func(s string) string { return t.paint(t.errTTY, "1", s) }
}

// showQuestion shows what is asked, of each text at most limit bytes, and
// reports whether anything was left out. Nothing in it may steer the terminal:
// the arguments are the model's.
func showQuestion(w io.Writer, bold func(string) string, q shown, limit int) (cut bool) {
	short := func(s string) string {
		s = oneLine(s)
		if len(s) <= limit {
			return visible(s)
		}
		cut = true
		kept := tool.ClipText(s, limit)
		hidden := len(s) - len(strings.TrimSuffix(kept, "…"))
		return visible(kept) + bold(fmt.Sprintf(" [%d bytes more, not shown]", hidden))
	}
	fmt.Fprintf(w, "%s %s\n", bold(visible(oneLine(q.tool))), short(q.summary))
	fmt.Fprintf(w, "  arguments  %s\n", short(q.arguments))
	for _, part := range []struct {
		name string
		list []string
	}{{"reads", q.reads}, {"reads in", q.trees}, {"writes", q.writes}, {"reaches", q.hosts}} {
		for _, text := range part.list {
			fmt.Fprintf(w, "  %-9s  %s\n", part.name, visible(oneLine(text)))
		}
	}
	if q.command != "" {
		fmt.Fprintf(w, "  runs       %s\n", short(q.command))
	}
	fmt.Fprintf(w, "  asked by   %s: %s\n", visible(oneLine(q.rule)), short(q.reason))
	for i, offer := range q.offers {
		name := "always"
		if len(q.offers) > 1 {
			name += fmt.Sprint(" ", i+1)
		}
		fmt.Fprintf(w, "  %-9s  adds the rule %s\n", name, visible(oneLine(strings.Join(offer.Rules, " and "))))
	}
	return cut
}
