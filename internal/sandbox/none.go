package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
)

// direct is a fence of the drivers that start each command as a child of
// this process: none, landlock, bubblewrap, seatbelt and container.
type direct struct {
	report Report
	// wrap turns the command into the one that is started, or is nil.
	wrap func(*Spec) error
	// restrict narrows the thread that starts the command, or is nil. A
	// restricted thread is never used for anything else.
	restrict func() error
	// port is where the proxy answers on the machine's loopback, or 0.
	port uint16
	// loose says that protected paths are not held, and are looked at instead.
	loose bool
	// release frees what the driver holds, or is nil.
	release func()

	mu     sync.Mutex
	closed bool
	live   map[*hostProc]struct{}
}

// openNone returns the fence that holds nothing.
func openNone(p Policy) Fence {
	f := &direct{report: Report{Driver: None, Policy: p}}
	if !p.free() {
		f.report.Open = []string{"Nothing is held: commands run with all rights of the user."}
	}
	return f
}

func (f *direct) Report() Report          { return f.report }
func (f *direct) passed(reasons []string) { f.report.Passed = reasons }

// openDoor has the policy's proxy answer on the machine's loopback, for the
// drivers that have no network of their own.
func (f *direct) openDoor() error {
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr, ok := door.Addr().(*net.TCPAddr)
	if !ok {
		_ = door.Close() // nobody uses it
		return fmt.Errorf("a listener at %v", door.Addr())
	}
	done := make(chan struct{})
	go func() { // ends with the listener
		defer close(done)
		_ = f.report.Policy.Proxy.Serve(door) // it ends with an error by design
	}()
	f.port = uint16(addr.Port)
	release := f.release
	f.release = func() {
		_ = door.Close() // nothing was written
		<-done
		release()
	}
	f.report.Env = append(f.report.Env, proxyEnv(addr.Port)...)
	return nil
}

func (f *direct) Start(ctx context.Context, s Spec) (Proc, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.check(f.report.Policy); err != nil {
		return nil, err
	}
	if info, err := os.Stat(s.Dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, &os.PathError{Op: "chdir", Path: s.Dir, Err: os.ErrNotExist}
	}
	if f.wrap != nil {
		if err := f.wrap(&s); err != nil {
			return nil, err
		}
	}
	if p := f.report.Policy; f.loose && len(p.Protected) > 0 {
		before := p.fingerprints()
		s.inspect = func(x *Exit) { x.Appeared = p.changed(before) }
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, ErrClosed
	}
	p, err := startHost(s, f.report.Policy, f.restrict, func(p *hostProc) {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.live, p)
	})
	if err != nil {
		return nil, err
	}
	if f.live == nil {
		f.live = map[*hostProc]struct{}{}
	}
	f.live[p] = struct{}{}
	return p, nil
}

func (f *direct) Close() error {
	f.mu.Lock()
	was := f.closed
	f.closed = true
	var live []*hostProc
	for p := range f.live {
		live = append(live, p)
	}
	f.mu.Unlock()
	var bad []error
	for _, p := range live {
		if err := p.Kill(); err != nil {
			bad = append(bad, err)
		}
	}
	if !was && f.release != nil {
		f.release()
	}
	return errors.Join(bad...)
}
