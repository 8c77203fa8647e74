package exec

import (
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/internal/witness"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// outputBytes is how much text of one answer reaches the model.
	outputBytes = 30_000
	// tokenBytes is how many bytes count as a token, as in Codex.
	tokenBytes = 4
	// minOutput is the least that a call can ask for, in bytes: below, there
	// is no room to say what was left out. It is that of octos.
	minOutput = 256

	// settled is for how long a program that was typed to is silent when it
	// has said what it had to say.
	settled = 200 * time.Millisecond
	// lookAgain is how often that is looked at.
	lookAgain = 20 * time.Millisecond
)

// A talk is one call's turn with a command that runs on.
type talk struct {
	kit    *Kit
	call   *tool.Call
	entry  *process.Entry
	tokens int
	tty    bool
}

// wait waits until the command has ended, the time is over, or ctx is done;
// with answer also until it has said something and is silent again.
func (t *talk) wait(ctx context.Context, most time.Duration, answer bool) {
	over := time.NewTimer(most)
	defer over.Stop()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	began := time.Now()
	ended := t.entry.Ended()
	for {
		select {
		case <-ended:
			if !t.entry.Left() {
				return
			}
			ended = nil // those that it left behind may still say something
		case <-over.C:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
			if ended == nil && !t.entry.Left() {
				return
			}
			quiet, said := t.entry.Quiet()
			if answer && said && quiet < time.Since(began) && quiet >= settled {
				return
			}
		}
	}
}

// ended reports whether the command has ended. It is asked before the output
// is taken, so that an end is never told before the last output.
func (t *talk) ended() bool {
	select {
	case <-t.entry.Ended():
		return true
	default:
		return false
	}
}

// answer tells what came since the last time, and how the command stands.
func (t *talk) answer(ctx context.Context, receipt witness.Receipt) *tool.Result {
	ended := t.ended()
	r := &run{kit: t.kit, call: &tool.Call{Tool: t.entry.Tool}, process: t.entry.Process, fence: t.entry.Fence, dir: t.entry.Dir, text: t.entry.Command, outside: t.entry.Place.Outside}
	text, refused, notes := t.take(ctx, r)
	res := &tool.Result{OK: true, Changed: receipt.Changed(), Metadata: map[string]any{}}
	var exit sandbox.Exit
	if ended {
		status := "How it ended is not known: the fence failed."
		var err error
		if exit, err = t.entry.Exit(); err == nil {
			status, res.OK, res.Code = r.status(exit)
			res.Metadata = r.metadata(exit)
		}
		notes = append(notes, t.leave(status)...)
	} else {
		notes = append(notes, t.standing()...)
	}
	res.Metadata["session_id"], res.Metadata["running"] = t.entry.ID, !ended
	notes = append(notes, r.denial(exit, refused, res)...)
	notes = append(notes, receipt.Lines()...)
	if strings.TrimSpace(text) == "" {
		text = "(no output)"
		if !ended || t.entry.Left() {
			text = "(nothing new)"
		}
	}
	res.Text = text + "\n\n" + strings.Join(notes, "\n")
	switch {
	case ctx.Err() != nil && !ended:
		res.OK, res.Code = false, tool.CodeCancelled // the command runs on; the call was withdrawn
	case res.Code == tool.CodeCancelled:
		// That a command ran and failed is what was asked about, so it is told
		// as a failure; that it was ended on request is not.
		res.OK, res.Code = true, ""
	}
	return res
}

// budget is how much text the call wants, within what it may have.
func (t *talk) budget() int {
	const room = 2_000 // for what is said beside the output
	if t.tokens == 0 || t.tokens > (outputBytes-room)/tokenBytes {
		return outputBytes - room
	}
	return max(t.tokens*tokenBytes, minOutput)
}

// take takes what there is to read, within the budget of the call. Where the
// text does not have all of it, the whole goes into the ledger.
func (t *talk) take(ctx context.Context, r *run) (text string, refused []sandbox.Denial, notes []string) {
	view, drawn := t.entry.Screen()
	var kept []string
	passed, _, err := t.entry.Output().TakeWhole(func(from *io.SectionReader, capped bool) (err error) {
		refused = r.scan(from)
		if !view.Picture { // else it is what drew it, which nobody reads
			kept, err = t.kit.keep(ctx, t.call, from, capped)
		}
		return err
	})
	if refused == nil {
		refused = r.scan(strings.NewReader(passed))
	}
	text = passed
	if drawn {
		text = view.Text
	}
	cut := output.Budget{Bytes: t.budget()}.Apply(strings.TrimRight(text, "\n"))
	if kept == nil && err == nil && (cut.Omitted > 0 || view.Lost > 0) && !view.Picture {
		kept, err = t.kit.keep(ctx, t.call, strings.NewReader(passed), false)
	}
	if err != nil {
		kept = []string{"The whole output could not be kept."}
	}
	switch {
	case view.Lost > 0 && len(kept) == 0:
		notes = append(notes, fmt.Sprintf("%d earlier lines passed and are not kept.", view.Lost))
	case view.Lost > 0:
		notes = append(notes, fmt.Sprintf("%d earlier lines passed and are not shown.", view.Lost))
	}
	notes = append(notes, kept...)
	if view.Picture && view.Text != "" {
		notes = append(notes, fmt.Sprintf("This is the screen; the cursor is in row %d, column %d.", view.Row, view.Column))
	}
	return cut.Text, refused, notes
}

// standing says how to go on with a command that runs.
func (t *talk) standing() []string {
	ran := time.Since(t.entry.Started()).Round(100 * time.Millisecond)
	how := `"chars" types`
	if !t.entry.HasInput() {
		how = `its input is closed`
	}
	text := fmt.Sprintf(`Still running after %s, as the session %d. write_stdin {"session_id": %d} waits and reads on, %s, "end": true ends it.`,
		ran, t.entry.ID, t.entry.ID, how)
	if t.entry.AwaitsInput() {
		return []string{text, "It waits for input."}
	}
	return []string{text}
}

// leave drops a command that has ended, unless it left others running.
func (t *talk) leave(status string) []string {
	if t.entry.Left() && t.entry.Stopped() == "" {
		return []string{status, fmt.Sprintf(`Processes that it started still run, as the session %d.`, t.entry.ID)}
	}
	t.kit.Commands.Remove(t.entry, "it has ended, which was told ("+status+")")
	return []string{status}
}

// signalOf returns the signal that a call names.
func signalOf(name string) (syscall.Signal, bool) {
	switch name {
	case "INT":
		return syscall.SIGINT, true
	case "TERM":
		return syscall.SIGTERM, true
	case "HUP":
		return syscall.SIGHUP, true
	case "QUIT":
		return syscall.SIGQUIT, true
	case "KILL":
		return syscall.SIGKILL, true
	}
	return 0, false
}
