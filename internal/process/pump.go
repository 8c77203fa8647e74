package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// pieces are kept because a short command would spend more on one than on all
// else.
var pieces = sync.Pool{New: func() any { b := make([]byte, piece); return &b }}

// pump reads one output to its end.
func (p *Process) pump(from *os.File, to io.Writer, live func([]byte)) {
	p.drained.Add(1)
	drained := sync.OnceFunc(p.drained.Done)
	take := func(b []byte) {
		if len(b) > 0 {
			p.last.Store(int64(time.Since(p.started)))
			_, _ = to.Write(b)
			live(b)
		}
	}
	p.pumps.Go(func() {
		defer drained()
		held := pieces.Get().(*[]byte)
		defer pieces.Put(held)
		buf := *held
		for {
			n, err := from.Read(buf)
			take(buf[:n])
			switch {
			case errors.Is(err, os.ErrDeadlineExceeded):
				_ = from.SetReadDeadline(time.Time{})
				readReady(from, buf, take)
				drained()
			case err != nil: // the end; of a terminal an error says so
				return
			}
		}
	})
}

// drain has every pump read what has been written until now, and returns when
// they have. A busy machine may take its time before a pump runs at all, so
// that to wait is not enough.
func (p *Process) drain() {
	for _, f := range p.reads {
		if err := f.SetReadDeadline(time.Unix(1, 0)); err != nil {
			return // it is closed, or cannot be told
		}
	}
	p.drained.Wait()
}

// maxReady is how much one drain reads, in bytes: as much as a pipe can hold.
// Somebody in the background may write without end.
const maxReady = 1 << 20

// readReady reads what can be read without waiting.
func readReady(from *os.File, buf []byte, take func([]byte)) {
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; total < maxReady; {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, err = readNow(fd, buf)
			return true
		})
		if err != nil || n <= 0 {
			return
		}
		take(buf[:n])
		total += n
	}
}
