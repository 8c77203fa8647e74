package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/creack/pty"

	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/internal/terminal"
)

// The failures of [Process.Write] that a caller tells apart.
var (
	// ErrNoInput: the input is closed, or was never open.
	ErrNoInput = errors.New("the input of the command is closed")
	// ErrNotReading: the command does not read what it was given.
	ErrNotReading = errors.New("the command does not read its input")
)

// Write gives the command something to read. It waits until the command, or
// the system for it, has taken everything, or ctx is done.
func (p *Process) Write(ctx context.Context, data []byte) error {
	p.inputs.Lock()
	to := p.stdin
	if to == nil {
		p.inputs.Unlock()
		return ErrNoInput
	}
	if p.waiting+len(data) > maxInput {
		p.inputs.Unlock()
		return fmt.Errorf("%w: %d bytes are waiting already", ErrNotReading, p.waiting)
	}
	p.waiting += len(data)
	p.inputs.Unlock()

	p.writing.Lock()
	defer p.writing.Unlock()
	defer func() {
		p.inputs.Lock()
		p.waiting -= len(data)
		p.inputs.Unlock()
	}()
	stop := context.AfterFunc(ctx, func() { _ = to.SetWriteDeadline(time.Unix(1, 0)) })
	_, err := to.Write(data)
	if !stop() {
		_ = to.SetWriteDeadline(time.Time{})
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrNotReading, context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNoInput, err)
	}
	return nil
}

// CloseInput ends the input, so that the command reads an end of file. A
// terminal cannot be closed without the command: there, a person types
// control-D.
func (p *Process) CloseInput() error {
	p.inputs.Lock()
	defer p.inputs.Unlock()
	if p.stdin == nil {
		return ErrNoInput
	}
	f := p.stdin
	p.stdin = nil
	if p.screen != nil {
		return nil // it is the terminal itself, which is still being read
	}
	return f.Close()
}

// HasInput reports whether the command can be written to.
func (p *Process) HasInput() bool {
	p.inputs.Lock()
	defer p.inputs.Unlock()
	return p.stdin != nil
}

// Size is that of the terminal, and false for a command without one.
func (p *Process) Size() (sandbox.Size, bool) {
	if p.screen == nil {
		return sandbox.Size{}, false
	}
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	rows, cols := p.screen.Screen.Size()
	return sandbox.Size{Rows: uint16(rows), Cols: uint16(cols)}, true
}

// ApplicationKeys reports whether the program in the terminal asked for the
// other codes of the arrow keys.
func (p *Process) ApplicationKeys() bool {
	if p.screen == nil {
		return false
	}
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	return p.screen.Screen.ApplicationKeys()
}

// Resize changes the size of the terminal. Programs that draw are told.
func (p *Process) Resize(rows, cols uint16) error {
	if p.screen == nil {
		return errors.New("the command has no terminal")
	}
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	p.screen.Resize(int(rows), int(cols))
	if err := pty.Setsize(p.screen.tty, &pty.Winsize{Rows: rows, Cols: cols}); err != nil {
		return fmt.Errorf("resizing the terminal: %w", err)
	}
	return nil
}

// screen is a terminal's picture between the program that draws it and those
// that look at it.
type screen struct {
	mu sync.Mutex
	*terminal.Screen
	tty *os.File
}

func newScreen(size *sandbox.Size, tty *os.File) *screen {
	return &screen{Screen: terminal.NewScreen(int(size.Rows), int(size.Cols)), tty: tty}
}

// Write draws, and tells the program what it asked of its terminal.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	n, err := s.Screen.Write(p)
	answer := s.Answers()
	s.mu.Unlock()
	if len(answer) > 0 {
		// A program that asks and does not read must not hold up its output.
		_ = s.tty.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		_, _ = s.tty.Write(answer)
		_ = s.tty.SetWriteDeadline(time.Time{})
	}
	return n, err
}

func (s *screen) take() terminal.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Take()
}
