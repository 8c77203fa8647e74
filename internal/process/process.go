package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/internal/terminal"
)

const (
	// Grace is how long a command that was asked to end may take before it
	// is killed, as in octos. It is less than the second after which the
	// journey gives a call up.
	Grace = 500 * time.Millisecond

	// drain is how long the pipes are read on after the first process has
	// ended, for what others wrote just before. Whoever still holds them then
	// is a background process. Codex waits 50 to 150 ms.
	drain = 100 * time.Millisecond

	// piece is how much is read at once, in bytes.
	piece = 64 << 10

	// maxInput is how much may wait to be read by a command, in bytes.
	maxInput = 1 << 20
)

// Options say how a command is run.
type Options struct {
	// Spec is the command. Its files are made here; with Terminal it gets a
	// terminal of its own.
	Spec sandbox.Spec
	// Stdin is what the command reads; then its input ends. nil is /dev/null.
	Stdin []byte
	// Open leaves the input open for [Process.Write]. It goes without Stdin.
	Open bool
	// SplitStderr keeps the two outputs apart. Without it they are one, in
	// the order in which they were written.
	SplitStderr bool
	// Head and Tail are how much of the output is kept, in bytes; 0 means
	// [DefaultHead] and [DefaultTail].
	Head, Tail int
	// Spool is the folder in which the whole of a long output is kept until it
	// is taken or Close, or "".
	Spool string
	// Limit is how long the command may run before it is stopped with all that
	// it started. 0 means for ever.
	Limit time.Duration
	// Live is called with each piece as it comes, from one goroutine at a
	// time. It must not keep it. nil is not called.
	Live func([]byte)
}

// A Process is a command that runs or has run. Its methods may be called from
// several goroutines at once. Close it in the end.
type Process struct {
	proc    sandbox.Proc
	tree    *tree
	started time.Time

	output *Capture
	errout *Capture // nil where the two are one
	screen *screen  // nil without a terminal

	stdin   *os.File // nil where the input is closed
	writing sync.Mutex
	inputs  sync.Mutex // guards stdin and waiting
	waiting int        // bytes that are being written
	reads   []*os.File

	pumps    sync.WaitGroup
	drained  sync.WaitGroup // of pumps that were told to read what is there
	ended    chan struct{}  // the first process has ended and its output was read
	exit     sandbox.Exit
	err      error
	duration time.Duration

	last     atomic.Int64 // when it wrote last, in nanoseconds since started
	limit    *time.Timer  // nil without a limit
	stopping sync.Mutex
	stopped  string // why it was stopped, "" if it was not
}

// LimitReached is what [Process.Stopped] says of a command whose time was
// over.
const LimitReached = "time limit"

// Start starts a command. ctx bounds the starting alone: whoever starts a
// command sees to it that Stop is called when nobody wants it any more.
func Start(ctx context.Context, fence sandbox.Fence, o Options) (*Process, error) {
	if o.Open && o.Stdin != nil {
		return nil, errors.New("the input of a command is given or left open, not both")
	}
	if o.Head == 0 && o.Tail == 0 {
		o.Head, o.Tail = DefaultHead, DefaultTail
	}
	p := &Process{ended: make(chan struct{}), started: time.Now(), output: newCapture(o.Head, o.Tail, o.Spool)}
	theirs, err := p.connect(&o)
	defer closeAll(theirs)
	if err == nil {
		p.tree, err = watchTree(fence, &o.Spec)
	}
	if err == nil {
		p.proc, err = fence.Start(ctx, o.Spec)
	}
	if err != nil {
		p.tree.release()
		closeAll(p.reads)
		if p.stdin != nil {
			_ = p.stdin.Close()
		}
		return nil, err
	}
	p.tree.follow(p.proc)
	p.run(&o)
	return p, nil
}

// connect makes the pipes of a command that has no terminal, and returns
// their other ends.
func (p *Process) connect(o *Options) (theirs []*os.File, err error) {
	if o.Spec.Terminal != nil {
		return nil, nil
	}
	pipe := func() (*os.File, *os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil, fmt.Errorf("making a pipe: %w", err)
		}
		return r, w, nil
	}
	defer func() {
		for _, f := range theirs {
			_ = f.Fd() // which makes it block: few programs know what to do with a pipe that does not
		}
	}()
	out, w, err := pipe()
	if err != nil {
		return nil, err
	}
	p.reads, theirs = append(p.reads, out), append(theirs, w)
	o.Spec.Stdout, o.Spec.Stderr = w, w
	if o.SplitStderr {
		out, w, err = pipe()
		if err != nil {
			return theirs, err
		}
		p.errout = newCapture(o.Head, o.Tail, "")
		p.reads, theirs = append(p.reads, out), append(theirs, w)
		o.Spec.Stderr = w
	}
	if o.Open || len(o.Stdin) > 0 {
		var r *os.File
		if r, p.stdin, err = pipe(); err != nil {
			return theirs, err
		}
		theirs = append(theirs, r)
		o.Spec.Stdin = r
	}
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// run starts the goroutines that see a command to its end. They end when no
// process of it is left, which Stop brings about.
func (p *Process) run(o *Options) {
	live := o.Live
	if live == nil {
		live = func([]byte) {}
	}
	if t := p.proc.Terminal(); t != nil {
		p.screen = newScreen(o.Spec.Terminal, t)
		p.reads, p.stdin = []*os.File{t}, t
		p.pump(t, io.MultiWriter(p.screen, p.output), live)
	} else {
		p.pump(p.reads[0], p.output, live)
		if p.errout != nil {
			p.pump(p.reads[1], p.errout, live)
		}
	}
	if len(o.Stdin) > 0 {
		p.pumps.Go(func() {
			_, _ = p.stdin.Write(o.Stdin) // a command need not read what it is given
			_ = p.CloseInput()
		})
	}
	if o.Limit > 0 {
		p.limit = time.AfterFunc(o.Limit, func() { _ = p.Stop(LimitReached) })
	}
	go p.wait()
}

// wait sees to the end of the first process, and then of its output.
func (p *Process) wait() {
	p.exit, p.err = p.proc.Wait()
	p.duration = time.Since(p.started)
	read := make(chan struct{})
	go func() {
		p.pumps.Wait()
		close(read)
	}()
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-read:
	case <-timer.C:
		p.drain()
	}
	p.output.finish()
	if p.errout != nil {
		p.errout.finish()
	}
	p.exit.Left = p.exit.Left || p.tree.left()
	if p.limit != nil {
		p.limit.Stop() // what runs on in the background is no longer this call's
	}
	close(p.ended)
	<-p.proc.Gone()
	p.tree.wait()
	// Whoever still holds a pipe now got it from elsewhere.
	select {
	case <-read:
	case <-time.After(4 * Grace):
	}
	_ = p.CloseInput()
	closeAll(p.reads)
	<-read
}

// Ended is closed when the first process has ended and what it wrote was
// read. Processes that it left behind may still run, see [Process.Left].
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Exit says how the first process ended. It must not be asked before Ended is
// closed. An error means that the fence failed and nothing is known.
func (p *Process) Exit() (sandbox.Exit, error) {
	<-p.ended
	return p.exit, p.err
}

// Duration is how long the first process ran.
func (p *Process) Duration() time.Duration {
	<-p.ended
	return p.duration
}

// Quiet is for how long the command has written nothing, and ok says that it
// has written at all.
func (p *Process) Quiet() (d time.Duration, ok bool) {
	last := p.last.Load()
	return time.Since(p.started) - time.Duration(last), last > 0
}

// Started is when the command was started.
func (p *Process) Started() time.Time { return p.started }

// Pid is the number of the first process, or 0 where it is not known.
func (p *Process) Pid() int { return p.proc.Pid() }

// Left reports whether any process of the command still runs.
func (p *Process) Left() bool {
	select {
	case <-p.proc.Gone():
		return p.tree.left()
	default:
		return true
	}
}

// Output is what the command writes. Of one with a terminal it has what passed,
// line by line; what a person sees there is [Process.Screen].
func (p *Process) Output() *Capture { return p.output }

// Errors is what it writes to its second output, where the two are kept apart,
// else nil.
func (p *Process) Errors() *Capture { return p.errout }

// Screen takes what there is to read on the terminal since the last time, and
// reports false for a command without one.
func (p *Process) Screen() (terminal.View, bool) {
	if p.screen == nil {
		return terminal.View{}, false
	}
	return p.screen.take(), true
}

// Stop ends every process of the command: it asks, waits for [Grace], and
// kills. It returns when none is left. why is kept for whoever asks later;
// the first one counts.
func (p *Process) Stop(why string) error {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	if !p.Left() {
		return nil
	}
	if p.stopped == "" {
		p.stopped = why
	}
	_ = p.Signal(syscall.SIGTERM)
	_ = p.proc.Signal(resume) // one that is stopped could not end
	gone := make(chan struct{})
	go func() {
		<-p.proc.Gone()
		close(gone)
	}()
	timer := time.NewTimer(Grace)
	defer timer.Stop()
	select {
	case <-gone:
	case <-timer.C:
		if err := p.proc.Kill(); err != nil {
			return fmt.Errorf("killing a command: %w", err)
		}
	}
	p.tree.kill()
	<-p.ended // what it wrote is read by then
	return nil
}

// Stopped says why the command was stopped, or "".
func (p *Process) Stopped() string {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	return p.stopped
}

// Signal sends a signal to every process of the command.
func (p *Process) Signal(sig syscall.Signal) error {
	p.tree.signal(sig)
	return p.proc.Signal(sig)
}

// Close stops the command and frees what it holds.
func (p *Process) Close() error {
	err := p.Stop("closed")
	p.output.Close()
	return err
}
