// Command handrail calls governed tools from the command line: it runs a
// call or a batch, shows what a model would see, and says why a call would be
// refused.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func main() {
	ctx, _ := untilSignal()
	os.Exit(run(ctx, processTerminal(), os.Args[1:]))
}

// signalGrace is how long after the first signal another one changes nothing.
// A person who presses Ctrl-C in Claude Code sends its servers SIGINT, and so
// does Claude Code itself, with SIGTERM 0.1 s later: all of them mean one stop.
const signalGrace = time.Second

// untilSignal returns a context that ends with the first signal, which asks
// the call to stop: its result is still printed and recorded. One that comes
// later than [signalGrace] after it ends the program as usual.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(signalGrace, stop) })
	return ctx, stop
}

// terminal is what the program reads from and writes to.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	// inTTY, outTTY and errTTY say which of them a person sits at.
	inTTY, outTTY, errTTY bool
	// flush drops what was typed and not yet read. It is nil where in is no
	// terminal.
	flush func()
	// color says whether words may be coloured where a person reads them.
	color bool
}

func processTerminal() *terminal {
	isTTY := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	t := &terminal{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		inTTY: isTTY(os.Stdin), outTTY: isTTY(os.Stdout), errTTY: isTTY(os.Stderr),
		color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
	if t.inTTY {
		t.flush = func() { flushInput(os.Stdin) }
	}
	return t
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, t *terminal, args []string) int {
	out := &watched{w: t.out}
	t.out, t.err = out, &serial{w: t.err}
	code := execute(ctx, t, args)
	if out.err != nil && code == exitOK {
		t.complain("writing the output: %v", out.err)
		return exitFailed
	}
	return code
}

// watched remembers the first error of a writer, so that output which is lost
// on a full disk is not a success.
type watched struct {
	w   io.Writer
	err error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// serial lets one write follow the other: a question may still be on its way
// to the terminal when the call that it is about is told to stop.
type serial struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *serial) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

func execute(ctx context.Context, t *terminal, args []string) int {
	root := newRoot(t)
	root.SetArgs(args)
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.err)
	cmd, err := root.ExecuteContextC(ctx)
	var exit exitError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		t.complain("stopped before there was a call")
		return exitStopped
	case errors.As(err, &exit):
		if exit.err != nil {
			t.complain("%v", exit.err)
		}
		return exit.code
	default:
		// What cobra itself refuses is a mistake in the command line.
		t.complain("%v", err)
		fmt.Fprintf(t.err, "Try '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	}
}

func newRoot(t *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "handrail",
		Short: "Governed tools for AI agents",
		Long: "Handrail runs the tools of an AI agent under rules: every call is checked, judged, run inside\n" +
			"the workspace and answered with a bounded result.\n\n" + exitHelp,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := &flags{}
	f.register(root)
	root.AddCommand(
		newCall(t, f), newBatch(t, f), newTools(t, f), newExplain(t, f), newPolicy(t, f),
		newLog(t, f), newRecall(t, f), newHistory(t, f), newUndo(t, f), newApprovals(t, f), newGrants(t, f), newPrompt(t, f), newDoctor(t, f), newMCP(t, f), newVersion(t, f),
	)
	return root
}
