package sandbox

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// Fence is where commands run. All methods may be called from several
// goroutines at once.
type Fence interface {
	// Start starts a command inside the fence. ctx bounds the starting, not the
	// command. The files of the Spec may be closed as soon as Start returns. An
	// error means that nothing runs; one that wraps os.ErrNotExist or
	// os.ErrPermission speaks of the command's own program or folder, any other of
	// the fence. Signals that this process ignores are at their defaults for a
	// command in namespaces, and stay ignored with the other drivers.
	Start(ctx context.Context, s Spec) (Proc, error)
	// Report says which driver it is, and what it does not hold.
	Report() Report
	// Close kills whatever still runs inside and takes the fence down. It returns
	// when nothing is left, or with an error about what cannot be killed. A second Close does nothing.
	Close() error

	// passed sets Report.Passed, before anybody else has the fence.
	passed([]string)
}

// Spec is one command.
type Spec struct {
	// Path is the program, absolute, or a bare name that is looked up in the PATH
	// of Env; Argv are its arguments, Argv[0] included.
	Path string
	Argv []string
	// Env is the whole environment; nothing is added to it except what Report.Env
	// names. nil is an empty environment.
	Env []string
	// Dir is the working folder, absolute; "" is the workspace.
	Dir string
	// Stdin, Stdout and Stderr are what the command gets; nil is /dev/null. Give
	// pipes: a file of the file system that is handed in is a hole in the fence.
	Stdin, Stdout, Stderr *os.File
	// Terminal, when set, gives the command a terminal of its own, of that size,
	// as standard input, output and error, which must then be nil.
	Terminal *Size
	// Keep lets processes that the command left behind live on after it ended,
	// until Proc.Kill or Fence.Close. Without it they are killed with its end.
	Keep bool

	// extra are files after the first three, closed once the command has them.
	extra []*os.File
	// inspect sees the end of the command before anybody else, or is nil.
	inspect func(*Exit)
	// stop is called when no process of the command is left, or is nil.
	stop func()
}

// Size is that of a terminal, in characters.
type Size struct {
	Rows, Cols uint16
}

// Proc is a command that was started. All methods may be called from several
// goroutines at once, also after its end.
type Proc interface {
	// Pid is the number of the command's first process as this process sees it,
	// or 0 where a driver cannot know it. It leads a session and a process group
	// of its own. After Wait returned it may belong to somebody else.
	Pid() int
	// Terminal is the side of the terminal to read from and write to, or nil.
	// The caller closes it.
	Terminal() *os.File
	// Signal sends sig to every process of the command. It is not an error when
	// none is left.
	Signal(sig syscall.Signal) error
	// Kill kills every process of the command and returns when they are gone. An
	// error says that some are not, and cannot be killed from here.
	Kill() error
	// Wait waits for the end of the command's first process. An error means that
	// the fence failed, and nothing is known about the end.
	Wait() (Exit, error)
	// Gone is closed when no process of the command is left; not before Wait
	// can return.
	Gone() <-chan struct{}
	// Contained says that no process of the command can leave the reach of
	// Signal and Kill, whatever it does. Where it is false they reach the process
	// group and the descendants that can be found.
	Contained() bool
}

// Exit is how the first process of a command ended.
type Exit struct {
	// Code is its exit status, or -1 when a signal ended it.
	Code int
	// Signal is what ended it, or 0.
	Signal syscall.Signal
	// User and System are the processor time of the process and of those
	// children that it waited for.
	User, System time.Duration
	// MaxRSS is the largest memory of any of them, in bytes.
	MaxRSS int64
	// ReadBlocks and WriteBlocks are what they moved to and from disks, in blocks
	// of 512 bytes.
	ReadBlocks, WriteBlocks int64
	// Left says that processes of the command still ran when it ended. With
	// Spec.Keep they still do.
	Left bool
	// Appeared are protected paths, relative to the workspace, that were missing
	// when the command began and are there now; from a driver that does not hold
	// them (Report.Open says so), those that are not as they were.
	Appeared []string
}

// Report is what a fence says about itself.
type Report struct {
	// Driver is its name.
	Driver Driver
	// Policy is what it holds, with every default spelled out.
	Policy Policy
	// Open are the things that this driver does not hold on this machine, each in
	// one sentence for a person. Empty means that it holds all of the policy.
	Open []string
	// Passed are the stronger drivers that Auto passed over, each with the reason.
	Passed []string
	// Env are variables, as "NAME=value", that commands need in this fence: those
	// of the proxy, TMPDIR where /tmp is not private, and HANDRAIL_SANDBOX with the
	// driver's name. The caller adds them to Spec.Env.
	Env []string
}

// ErrClosed is what Start returns after Close, or after the fence process was
// killed by somebody.
var ErrClosed = errors.New("the fence is closed")

// UnavailableError says that a driver cannot be had, in words for an operator.
type UnavailableError struct {
	// Driver is the one that was asked for.
	Driver Driver
	// Reason says what is missing.
	Reason string
	// Err is what the system said, or nil.
	Err error
}

// Error names the driver and the reason.
func (e *UnavailableError) Error() string {
	text := "the fence " + string(e.Driver) + " cannot be had: " + e.Reason
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns what the system said.
func (e *UnavailableError) Unwrap() error { return e.Err }
