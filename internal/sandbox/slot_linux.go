//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/handrail-tools/handrail/internal/sandbox/boot"
)

// slotRef is our side of a slot: its socket, its stub's socket, and what stands
// for the stub.
type slotRef struct {
	commands, signals, pidfd int
}

func (s *slotRef) close() { boot.CloseAll([]int{s.commands, s.signals, s.pidfd}) }

// newSlot has the fence process make a slot. The caller has counted it.
func (f *spaces) newSlot() (*slotRef, error) {
	body, files, err := f.question([]byte{boot.AskSlot})
	if err == nil && len(files) != 3 {
		boot.CloseAll(files)
		err = errors.New("the fence process sent no slot")
	}
	if err != nil {
		f.mu.Lock()
		f.slots--
		f.mu.Unlock()
		return nil, err
	}
	f.note(body.TakeList())
	return &slotRef{commands: files[0], signals: files[1], pidfd: files[2]}, nil
}

// take returns an idle slot or makes one.
func (f *spaces) take() (*slotRef, error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, ErrClosed
	}
	f.work.Add(1) // while a slot is in use, Close waits
	if n := len(f.idle); n > 0 {
		s := f.idle[n-1]
		f.idle = f.idle[:n-1]
		f.mu.Unlock()
		return s, nil
	}
	if f.slots >= maxSlots {
		f.mu.Unlock()
		f.work.Done()
		return nil, fmt.Errorf("%d commands run in this session already; wait for one or end one", maxSlots)
	}
	f.slots++
	f.mu.Unlock()
	s, err := f.newSlot()
	if err != nil {
		f.work.Done()
	}
	return s, err
}

// put gives a slot back for the next command.
func (f *spaces) put(s *slotRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		f.slots--
		s.close()
		return
	}
	f.idle = append(f.idle, s)
	if len(f.idle) > idleSlots && f.shrink == nil {
		f.shrink = time.AfterFunc(shrinkEvery, f.shrinkOne)
	}
}

// shrinkOne lets the slot go that waited longest, and comes back while there
// are more than needed.
func (f *spaces) shrinkOne() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shrink = nil
	if f.closed || len(f.idle) <= idleSlots {
		return
	}
	f.idle[0].close()
	f.idle = append(f.idle[:0], f.idle[1:]...)
	f.slots--
	if len(f.idle) > idleSlots {
		f.shrink = time.AfterFunc(shrinkEvery, f.shrinkOne)
	}
}

func (f *spaces) Start(ctx context.Context, s Spec) (Proc, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.check(f.report.Policy); err != nil {
		return nil, err
	}
	if err := f.watch.before(f); err != nil {
		return nil, err
	}
	for {
		slot, err := f.take()
		if err != nil {
			return nil, err
		}
		p := &slotProc{fence: f, slot: slot, keep: s.Keep, ended: make(chan struct{}), gone: make(chan struct{})}
		if err = p.begin(s); err == nil {
			go p.follow()
			return p, nil
		}
		f.work.Done()
		if !errors.Is(err, errSlotGone) {
			return nil, err
		}
		// Somebody killed an idle slot, so nothing was started: the next one will
		// do, and making a new one tells when the fence itself is gone.
	}
}

// errSlotGone says that a slot was gone before it got the command.
var errSlotGone = errors.New("the slot is gone")

// slotProc is a command in a slot.
type slotProc struct {
	fence    *spaces
	keep     bool
	pid      int
	terminal *os.File
	ended    chan struct{}
	gone     chan struct{}
	exit     Exit
	err      error

	// mu guards slot, which is nil when it is no longer this command's.
	mu     sync.Mutex
	slot   *slotRef
	killed bool
	broken bool // the slot cannot be used again
}

// begin sends the command to its slot. On an error the slot is given back or
// let go.
func (p *slotProc) begin(s Spec) error {
	c := boot.Command{Path: s.Path, Dir: s.Dir, Argv: s.Argv, Env: s.Env}
	var files []*os.File
	if s.Terminal != nil {
		c.Terminal, c.Rows, c.Cols = true, s.Terminal.Rows, s.Terminal.Cols
	} else {
		var err error
		if files, _, err = stdio(s); err != nil {
			p.fence.put(p.slot)
			return err
		}
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	err := boot.Send(p.slot.commands, c.Bytes(), fds...)
	for _, f := range files {
		_ = f.Close() // ours; the slot has its own
	}
	if err != nil {
		p.drop()
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
			return errSlotGone
		}
		return fmt.Errorf("a slot of the fence: %w", err)
	}
	return p.begun(s)
}

// begun takes the slot's answer.
func (p *slotProc) begun(s Spec) error {
	var buf [256]byte
	kind, body, got, err := boot.Recv(p.slot.commands, buf[:])
	if err != nil {
		p.drop()
		return fmt.Errorf("the fence around the command was killed (%w)", errors.Join(err, ErrClosed))
	}
	if kind == boot.Failed {
		errno := syscall.Errno(body.TakeUint())
		if errno == syscall.ENOMEM && p.ask(boot.AskAny) < 0 {
			// Nothing can be forked into a namespace whose PID 1 is gone.
			p.drop()
			return errSlotGone
		}
		p.fence.put(p.slot)
		what, name := body.TakeStr(), s.Path
		if what == "chdir" {
			name = s.Dir
		}
		return &os.PathError{Op: what, Path: name, Err: errno}
	}
	if len(got) > 0 {
		p.pid = pidOf(got[0])
		_ = unix.Close(got[0]) // the stub's signals reach the command
	}
	if len(got) > 1 {
		_ = unix.SetNonblock(got[1], true) // so that a read can be given up
		p.terminal = os.NewFile(uintptr(got[1]), "terminal")
	}
	return nil
}

// drop lets a slot go that cannot be trusted to be empty.
func (p *slotProc) drop() {
	_ = unix.PidfdSendSignal(p.slot.pidfd, unix.SIGKILL, nil, 0) // ESRCH: it is gone already
	p.slot.close()
	p.fence.mu.Lock()
	defer p.fence.mu.Unlock()
	p.fence.slots--
}

// follow waits for the end of the command, then of what it left.
func (p *slotProc) follow() {
	defer p.fence.work.Done()
	defer close(p.gone)
	var buf [256]byte
	kind, body, files, err := boot.Recv(p.slot.commands, buf[:])
	boot.CloseAll(files)
	ended := err == nil && kind == boot.Ended
	if ended {
		p.exit = exitFrom(boot.TakeEnd(body))
		if p.exit.Signal == syscall.SIGKILL {
			p.ask(boot.AskAny) // finds out when it was the whole slot that was killed
		}
		p.exit.Left = p.exit.Left && p.ask(boot.AskAny) == 1
		p.exit.Appeared = p.fence.watch.after(p.fence)
		if p.exit.Left && !p.keep {
			p.ask(boot.AskKill)
		}
	} else {
		p.lost(err)
	}
	if p.exit.Left && p.keep {
		close(p.ended)
		for p.ask(boot.AskAny) == 1 {
			time.Sleep(goneEvery)
		}
		defer p.leave(ended)
		return
	}
	p.leave(ended)
	close(p.ended)
}

// leave gives the slot back when it is whole, and lets it go when it is not.
func (p *slotProc) leave(ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ended && !p.broken {
		p.fence.put(p.slot)
	} else {
		p.drop()
	}
	p.slot = nil
}

// ask asks the stub of the slot; -1 says that the slot is gone.
func (p *slotProc) ask(what byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.askLocked(what)
}

// askLocked waits for the stub's answer, because a signal that is still under
// way when the command ends would hit the next one.
func (p *slotProc) askLocked(what byte) int {
	if p.slot == nil || p.broken {
		return -1
	}
	b := [1]byte{what}
	n, err := unix.Write(p.slot.signals, b[:])
	for err == nil {
		if n, err = unix.Read(p.slot.signals, b[:]); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil || n != 1 {
		p.broken = true
		return -1
	}
	return int(b[0])
}

// lost sets the end of a command whose slot went away.
func (p *slotProc) lost(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exit = Exit{Code: -1, Signal: syscall.SIGKILL}
	if !p.killed {
		p.err = fmt.Errorf("the fence around the command was killed (%w)", errors.Join(err, ErrClosed))
	}
}

func exitFrom(e boot.End) Exit {
	ws := syscall.WaitStatus(e.Status)
	x := Exit{
		Code:   ws.ExitStatus(),
		User:   time.Duration(e.UserUS) * time.Microsecond,
		System: time.Duration(e.SystemUS) * time.Microsecond,
		MaxRSS: int64(e.MaxRSSKiB) << 10, ReadBlocks: int64(e.InBlock), WriteBlocks: int64(e.OutBlock),
		Left: e.Left,
	}
	if ws.Signaled() {
		x.Signal = ws.Signal()
	}
	return x
}

// pidOf returns the number that this PID namespace has for a pidfd.
func pidOf(pidfd int) int {
	data, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(pidfd))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(data, []byte("\nPid:\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	pid, err := strconv.Atoi(string(line))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

func (p *slotProc) Pid() int              { return p.pid }
func (p *slotProc) Terminal() *os.File    { return p.terminal }
func (p *slotProc) Gone() <-chan struct{} { return p.gone }
func (p *slotProc) Contained() bool       { return true }

func (p *slotProc) Wait() (Exit, error) {
	<-p.ended
	return p.exit, p.err
}

func (p *slotProc) Signal(sig syscall.Signal) error {
	if sig < 1 || sig > 64 {
		return fmt.Errorf("signal %d: %w", sig, syscall.EINVAL)
	}
	p.ask(byte(sig)) // -1: the slot is gone, and with it the command
	return nil
}

// killGrace is how long a slot may take to empty itself before it is killed
// whole, with every process in it.
const killGrace = 500 * time.Millisecond

func (p *slotProc) Kill() error {
	p.mu.Lock()
	p.killed = true
	p.askLocked(byte(syscall.SIGKILL))
	p.mu.Unlock()
	select {
	case <-p.gone:
		return nil
	case <-time.After(killGrace):
	}
	var err error
	p.mu.Lock()
	if p.slot != nil {
		p.broken = true
		err = unix.PidfdSendSignal(p.slot.pidfd, unix.SIGKILL, nil, 0)
	}
	p.mu.Unlock()
	<-p.gone
	return err
}
