//go:build unix && !linux

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"
)

func dieWithThread(*syscall.SysProcAttr) {}

// run starts the command and stays until its group is empty.
func (h *hostProc) run(s Spec, _ Policy, files []*os.File, started chan<- error) {
	if err := h.fork(s, files); err != nil {
		started <- err
		return
	}
	started <- nil
	var ws syscall.WaitStatus
	var use syscall.Rusage
	for {
		_, h.err = syscall.Wait4(h.pid, &ws, 0, &use)
		if h.err != syscall.EINTR {
			break
		}
	}
	h.exit = Exit{
		Code:   ws.ExitStatus(),
		User:   time.Duration(use.Utime.Nano()),
		System: time.Duration(use.Stime.Nano()),
		MaxRSS: int64(use.Maxrss), ReadBlocks: int64(use.Inblock), WriteBlocks: int64(use.Oublock),
	}
	if ws.Signaled() {
		h.exit.Signal = ws.Signal()
	}
	h.exit.Left = syscall.Kill(-h.pid, 0) == nil
	if s.Keep {
		close(h.ended)
	}
	for syscall.Kill(-h.pid, 0) == nil {
		if !s.Keep {
			signalTree(h.pid, syscall.SIGKILL)
		}
		time.Sleep(goneEvery / 20)
	}
	h.mu.Lock()
	h.reaped = true
	h.mu.Unlock()
	if !s.Keep {
		close(h.ended)
	}
}

// signalTree sends sig to the group that leader leads.
func signalTree(leader int, sig syscall.Signal) {
	_ = syscall.Kill(-leader, sig) // ESRCH: the group is empty
}

// inMemory is for bubblewrap, which is for Linux.
func inMemory([]byte) (*os.File, error) { return nil, errors.ErrUnsupported }

// isFirstThread reports false: no driver restricts threads here.
func isFirstThread() bool { return false }
