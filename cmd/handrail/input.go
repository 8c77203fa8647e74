package main

import (
	"context"
	"io"
)

// withdrawable reads from r until ctx is done. A read from a terminal or a
// pipe cannot be interrupted, so it goes on in the background, where it ends
// with the input or with the program; without this, Ctrl-C would do nothing
// while the program waits for input.
type withdrawable struct {
	ctx context.Context
	r   io.Reader
}

type readResult struct {
	data []byte
	err  error
}

func (w withdrawable) Read(p []byte) (int, error) {
	done := make(chan readResult, 1)
	go func() {
		// A buffer of its own: p belongs to the caller again once ctx ends.
		buf := make([]byte, len(p))
		n, err := w.r.Read(buf)
		done <- readResult{buf[:n], err}
	}()
	select {
	case <-w.ctx.Done():
		return 0, w.ctx.Err()
	case r := <-done:
		return copy(p, r.data), r.err
	}
}
