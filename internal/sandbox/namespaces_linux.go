//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/handrail-tools/handrail/internal/sandbox/boot"
)

const (
	// startTimeout is how long the fence process may take for one answer. It
	// takes milliseconds; a machine that swaps may need seconds.
	startTimeout = 20 * time.Second
	// maxSlots bounds the commands that run at once; each costs 3 MB.
	maxSlots = 256
	// idleSlots is how many slots wait for a command after a quiet time, and
	// shrinkEvery how long that time is for each slot above.
	idleSlots   = 2
	shrinkEvery = 5 * time.Second
)

// spaces is the namespaces driver's fence: our side of a fence process.
type spaces struct {
	report Report
	places placeholders
	watch  *watch
	door   net.Listener
	exited chan struct{} // closed when the fence process is gone

	// ask guards the conversation with the fence process.
	ask  sync.Mutex
	sock int
	buf  [boot.MaxDatagram]byte

	mu     sync.Mutex
	closed bool
	slots  int // that exist or are being made
	idle   []*slotRef
	shrink *time.Timer
	work   sync.WaitGroup // goroutines of ours and commands that run
}

func openNamespaces(ctx context.Context, p Policy) (Fence, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	abi := landlockABI()
	plan, open := planFor(p, abi)
	f := &spaces{exited: make(chan struct{}), sock: -1}
	f.report = Report{Driver: Namespaces, Policy: p, Open: open, Env: []string{"HANDRAIL_SANDBOX=" + string(Namespaces)}}
	var err error
	if f.places, err = holdPlaces(p); err != nil {
		return nil, err
	}
	if f.watch, err = newWatch(p, abi); err != nil {
		f.places.remove()
		return nil, err
	}
	sockets, err := f.watch.sockets()
	if err == nil {
		plan.Hidden = append(plan.Hidden, sockets...)
		err = f.boot(plan)
	} else {
		close(f.exited)
	}
	if err != nil {
		_ = f.Close() // the error that matters is the first
		return nil, err
	}
	if f.door != nil {
		f.report.Env = append(f.report.Env, proxyEnv(boot.DoorPort)...)
		f.work.Go(func() { _ = p.Proxy.Serve(f.door) }) // ends with the listener
	}
	f.work.Go(func() { f.watch.follow(f) })
	return f, nil
}

// boot starts the fence process, hands it the plan and takes its first slot.
func (f *spaces) boot(plan *boot.Plan) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		close(f.exited)
		return fmt.Errorf("a socket to the fence process: %w", err)
	}
	f.sock = pair[0]
	tv := unix.NsecToTimeval(int64(startTimeout))
	_ = unix.SetsockoptTimeval(f.sock, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv) // without it a stuck fence would be waited for
	started := make(chan error, 1)
	go f.own(f.report.Policy.Network != NetOn, pair[1], started)
	if err := <-started; err != nil {
		return explainStart(err)
	}
	if err := boot.Send(f.sock, plan.Bytes()); err != nil {
		return fmt.Errorf("telling the fence process: %w", err)
	}
	kind, body, files, err := boot.Recv(f.sock, f.buf[:])
	if err != nil {
		return &UnavailableError{Driver: Namespaces, Reason: "the fence process did not answer", Err: err}
	}
	if kind == boot.Failed {
		errno := syscall.Errno(body.TakeUint())
		return &UnavailableError{Driver: Namespaces, Reason: body.TakeStr(), Err: errno}
	}
	if len(files) < 3 {
		boot.CloseAll(files)
		return &UnavailableError{Driver: Namespaces, Reason: "the fence process sent no slot"}
	}
	f.note(body.TakeList())
	f.slots++
	f.put(&slotRef{commands: files[0], signals: files[1], pidfd: files[2]})
	for _, fd := range files[3:] {
		file := os.NewFile(uintptr(fd), "door")
		f.door, err = net.FileListener(file)
		_ = file.Close() // the listener has its own descriptor
		if err != nil {
			return fmt.Errorf("the door of the proxy: %w", err)
		}
	}
	return nil
}

// own starts the fence process and stays with it, on a thread of its own,
// because the kernel ends the process when the thread that started it ends.
func (f *spaces) own(net bool, sock int, started chan<- error) {
	defer close(f.exited)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		started <- err
		return
	}
	flags := uintptr(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC)
	if net {
		flags |= unix.CLONE_NEWNET
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"handrail-fence"}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{boot.Mark + "=" + boot.AsFence},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), uintptr(sock)},
		Sys: &syscall.SysProcAttr{
			// The fence process maps its user itself: without mappings here, Go need
			// not copy this process's page tables to start it.
			Cloneflags: flags, Setsid: true, Pdeathsig: syscall.SIGKILL, AmbientCaps: boot.Capabilities(),
		},
	})
	_ = null.Close()     // only read
	_ = unix.Close(sock) // the fence process has its own
	started <- err
	if err != nil {
		return
	}
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// explainStart says why a process in namespaces of its own cannot be had.
func explainStart(err error) error {
	reason := "a process in namespaces of its own cannot be started"
	switch {
	case os.Getenv("HANDRAIL_SANDBOX") != "":
		reason = "this process runs inside a Handrail fence already, which does not let another be built"
	case errors.Is(err, syscall.ENOSPC):
		reason = "the number of user namespaces on this machine is limited to none (user.max_user_namespaces)"
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES):
		reason = "making a user namespace is forbidden here: by a container's seccomp profile, by AppArmor (kernel.apparmor_restrict_unprivileged_userns), or because root lacks CAP_SETFCAP"
	case errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS):
		reason = "the kernel was built without user namespaces"
	}
	return &UnavailableError{Driver: Namespaces, Reason: reason, Err: err}
}

// question asks the fence process. The caller closes the files of the answer.
func (f *spaces) question(msg []byte) (*boot.Buf, []int, error) {
	f.ask.Lock()
	defer f.ask.Unlock()
	if f.sock < 0 {
		return nil, nil, ErrClosed
	}
	if err := boot.Send(f.sock, msg); err != nil {
		return nil, nil, fmt.Errorf("%w (%w)", ErrClosed, err)
	}
	kind, body, files, err := boot.Recv(f.sock, f.buf[:])
	if err != nil {
		// After a late answer the next question would get the wrong one.
		_ = unix.Shutdown(f.sock, unix.SHUT_RDWR)
		return nil, nil, fmt.Errorf("%w (%w)", ErrClosed, err)
	}
	if kind == boot.Failed {
		errno := syscall.Errno(body.TakeUint())
		return nil, nil, fmt.Errorf("the fence process: %s: %w", body.TakeStr(), errno)
	}
	return &boot.Buf{B: append([]byte(nil), body.B...)}, files, nil
}

// paths asks the fence process to hide or lock paths, and returns those that
// were not there.
func (f *spaces) paths(kind byte, list []string) (missing []string, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	b := &boot.Buf{B: []byte{kind}}
	b.List(list)
	body, _, err := f.question(b.B)
	if err != nil {
		return nil, err
	}
	return body.TakeList(), nil
}

// note adds what a slot could not have to the report, once.
func (f *spaces) note(notes []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range notes {
		text := "The number of processes is not limited: the kernel has no limit for one PID namespace."
		if n != "pids" {
			text = "Commands see the names of processes outside, because a /proc of their own cannot be mounted here (" + n + ")."
		}
		if !slices.Contains(f.report.Open, text) {
			f.report.Open = append(slices.Clip(f.report.Open), text)
		}
	}
}

func (f *spaces) passed(reasons []string) { f.report.Passed = reasons }

func (f *spaces) Report() Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report
}

func (f *spaces) Close() error {
	f.mu.Lock()
	was := f.closed
	f.closed = true
	if f.shrink != nil {
		f.shrink.Stop()
	}
	idle := f.idle
	f.idle = nil
	f.mu.Unlock()
	if was {
		<-f.exited
		f.work.Wait()
		return nil
	}
	if f.sock >= 0 {
		// The fence process sees the end and exits; the kernel kills what is in it.
		_ = unix.Shutdown(f.sock, unix.SHUT_RDWR)
	}
	<-f.exited
	for _, s := range idle {
		s.close()
	}
	var err error
	if f.door != nil {
		if err = f.door.Close(); errors.Is(err, net.ErrClosed) {
			err = nil // the server closed it first
		}
	}
	f.watch.close()
	f.work.Wait()
	f.ask.Lock()
	if f.sock >= 0 {
		_ = unix.Close(f.sock)
		f.sock = -1
	}
	f.ask.Unlock()
	f.places.remove()
	return err
}
