//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// Supported says that commands can be run on this system.
const Supported = true

// hostProc is a command that is a child of this process.
type hostProc struct {
	pid      int
	terminal *os.File
	ended    chan struct{} // closed when exit is set
	gone     chan struct{}
	exit     Exit
	err      error

	// mu guards reaped: while it is false the leader is at worst a zombie, so
	// its number still means this command and no other.
	mu     sync.Mutex
	reaped bool
}

// goneEvery is how often the processes that a command left behind are looked
// for, where nothing tells of their end.
const goneEvery = 200 * time.Millisecond

// killFor is how long processes that were killed may take to be gone. One that
// waits for a disk in the kernel takes as long as the disk, and one that became
// another user, as sudo does, is not ours to kill.
const killFor = 2 * time.Second

var errKeepsRunning = errors.New("a process of it cannot be killed, because it belongs to another user or waits in the kernel")

// startHost starts s on a thread of its own, because the signal that ends a
// command with its owner follows the thread that started it. after is called
// when no process of it is left.
func startHost(s Spec, p Policy, restrict func() error, after func(*hostProc)) (*hostProc, error) {
	files, terminal, err := stdio(s)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, f := range append(files, s.extra...) {
			_ = f.Close() // ours; the command has its own
		}
	}()
	h := &hostProc{terminal: terminal, ended: make(chan struct{}), gone: make(chan struct{})}
	started := make(chan error, 1)
	onThread(func() {
		if restrict == nil {
			// A restricted thread must not be used again: it ends with the
			// goroutine that stays locked to it.
			defer runtime.UnlockOSThread()
		} else if err := restrict(); err != nil {
			started <- fmt.Errorf("restricting the thread of a command: %w", err)
			return
		}
		h.run(s, p, files, started)
		if h.pid != 0 {
			if s.stop != nil {
				s.stop()
			}
			after(h)
			close(h.gone)
		}
	})
	if err := <-started; err != nil {
		if terminal != nil {
			_ = terminal.Close() // nobody gets it
		}
		return nil, err
	}
	return h, nil
}

// onThread calls f in a goroutine that is locked to its thread, which is not
// the first of this process: by that one the kernel judges who may look into
// the process, so if it were restricted with a command, the command could.
func onThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if !isFirstThread() {
			f()
			return
		}
		taken := make(chan struct{})
		go func() { // on another thread, since this one is held
			runtime.LockOSThread()
			close(taken)
			f()
		}()
		<-taken
		runtime.UnlockOSThread()
	}()
}

// stdio returns what the command gets as its first three files, all owned by
// the caller, and our side of its terminal.
func stdio(s Spec) (files []*os.File, terminal *os.File, err error) {
	if s.Terminal != nil {
		ours, theirs, err := pty.Open()
		if err != nil {
			return nil, nil, fmt.Errorf("opening a terminal: %w", err)
		}
		if err := pty.Setsize(ours, &pty.Winsize{Rows: s.Terminal.Rows, Cols: s.Terminal.Cols}); err != nil {
			_, _ = ours.Close(), theirs.Close() // nobody gets them
			return nil, nil, fmt.Errorf("sizing a terminal: %w", err)
		}
		return []*os.File{theirs}, ours, nil
	}
	for _, f := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if f == nil {
			f, err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
		} else {
			f, err = duplicate(f)
		}
		if err != nil {
			for _, f := range files {
				_ = f.Close() // nobody gets them
			}
			return nil, nil, fmt.Errorf("files of a command: %w", err)
		}
		files = append(files, f)
	}
	return files, nil, nil
}

// duplicate returns a second descriptor of f that is ours to close, without
// taking f out of the hands of the poller as File.Fd would.
func duplicate(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var dupErr error
	if err := raw.Control(func(old uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if fd, dupErr = syscall.Dup(int(old)); dupErr == nil {
			syscall.CloseOnExec(fd)
		}
	}); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, os.NewSyscallError("dup", dupErr)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func (h *hostProc) fork(s Spec, files []*os.File) error {
	attr := &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: s.Terminal != nil}}
	dieWithThread(attr.Sys)
	for i := range 3 {
		attr.Files = append(attr.Files, files[min(i, len(files)-1)].Fd())
	}
	for _, f := range s.extra {
		attr.Files = append(attr.Files, f.Fd())
	}
	if attr.Env == nil {
		attr.Env = []string{}
	}
	pid, err := syscall.ForkExec(s.Path, s.Argv, attr)
	if err != nil {
		return &os.PathError{Op: "start", Path: s.Path, Err: err}
	}
	h.pid = pid
	return nil
}

func (h *hostProc) Pid() int              { return h.pid }
func (h *hostProc) Terminal() *os.File    { return h.terminal }
func (h *hostProc) Gone() <-chan struct{} { return h.gone }
func (h *hostProc) Contained() bool       { return false }

func (h *hostProc) Wait() (Exit, error) {
	<-h.ended
	return h.exit, h.err
}

func (h *hostProc) Signal(sig syscall.Signal) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reaped {
		return nil
	}
	signalTree(h.pid, sig)
	return nil
}

func (h *hostProc) Kill() error {
	for until := time.Now().Add(killFor); ; {
		if err := h.Signal(syscall.SIGKILL); err != nil {
			return err
		}
		select {
		case <-h.gone:
			return nil
		case <-time.After(goneEvery / 20):
		}
		if time.Now().After(until) {
			return fmt.Errorf("the command %d: %w", h.pid, errKeepsRunning)
		}
	}
}
