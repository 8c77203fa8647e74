//go:build linux && (amd64 || arm64)

package boot

import (
	"runtime"
	"syscall"
)

// Supported says that this package can build fences on this system.
const Supported = true

// Mark is the one variable in the environment of a fence process or a slot. It
// means something only to PID 1 of a namespace with a socket as its file 3.
const (
	Mark    = "HANDRAIL_FENCE"
	AsFence = "fence"
	asSlot  = "slot"
)

// DoorPort is where the proxy of a session listens, on the loopback of the
// fence. Nothing else is there, so the number can be the one that proxies
// commonly have.
const DoorPort = 3128

// Capabilities are what a fence process keeps in its own user namespace:
// SETPCAP, NET_ADMIN, SYS_CHROOT and SYS_ADMIN, to build namespaces and to drop
// all of it in the slots.
func Capabilities() []uintptr { return []uintptr{8, 12, 18, 21} }

// An init function, because a fence process must not become the program that
// it was started from.
func init() {
	if syscall.Getpid() != 1 {
		return
	}
	as, ok := syscall.Getenv(Mark)
	if !ok || as != AsFence && as != asSlot {
		return
	}
	if _, err := syscall.GetsockoptInt(3, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil {
		return
	}
	runtime.LockOSThread()
	closeOnExec(3)
	if as == AsFence {
		fence()
	} else {
		slot()
	}
	syscall.Exit(0)
}

// state is the fence process.
type state struct {
	plan    *Plan
	masks   masks
	ruleset int
	spare   *newSlot
	buf     [maxDatagram]byte
}

// fence builds the fence and serves its owner until the socket closes. When it
// exits, the kernel kills everything in its PID namespace.
func fence() {
	ignore(syscall.SIGCHLD) // slots that end need nobody to wait for them
	_ = prctl(4 /* PR_SET_DUMPABLE */, 0, 0)
	s := &state{ruleset: -1}
	_, body, files, err := Recv(3, s.buf[:])
	CloseAll(files)
	if err != nil {
		return
	}
	s.plan = takePlan(body)
	if body.Bad {
		err = syscall.EBADMSG
	}
	if err == nil {
		// The first slot starts up while the mounts are made.
		s.spare, err = fork()
	}
	door := -1
	if err == nil {
		door, err = s.setUp()
	}
	if err != nil {
		_ = Send(3, failure(err)) // the owner is gone, too: nobody is left to tell
		return
	}
	ready := []byte{Ready}
	if door >= 0 {
		err = Send(3, ready, door)
		syscall.Close(door)
	} else {
		err = Send(3, ready)
	}
	for err == nil {
		err = s.serve()
	}
}

// setUp makes the fence and returns the listener of its door, or -1.
func (s *state) setUp() (door int, err error) {
	door = -1
	if s.masks, err = build(s.plan); err != nil {
		return door, err
	}
	if s.plan.Loopback {
		if err := loopbackUp(); err != nil {
			return door, wrap("bringing the loopback up", err)
		}
	}
	if s.plan.Door {
		if door, err = listen(); err != nil {
			return door, wrap("opening the door of the proxy", err)
		}
	}
	if !s.plan.Ruleset.Empty() {
		s.ruleset, err = s.plan.Ruleset.Make()
	}
	return door, err
}

// serve answers one question of the owner. An error means that there is no
// owner any more.
func (s *state) serve() error {
	kind, body, files, err := Recv(3, s.buf[:])
	CloseAll(files)
	if err != nil {
		return err
	}
	switch kind {
	case AskSlot:
		n := s.spare
		s.spare = nil
		if n == nil {
			if n, err = fork(); err != nil {
				return Send(3, failure(err))
			}
		}
		defer n.close()
		notes, err := n.finish(s)
		if err != nil {
			return Send(3, failure(err))
		}
		b := &Buf{B: []byte{HaveSlot}}
		b.List(notes)
		return Send(3, b.B, n.commands, n.signals, n.pidfd)
	case AskHide, AskLock:
		for _, path := range body.TakeList() {
			do := s.masks.hide
			if kind == AskLock {
				do = func(path string) error { return lock(s.plan.Root, path) }
			}
			if e := do(path); e != nil && e != syscall.ENOENT && e != syscall.ENOTDIR && err == nil {
				err = wrap(path, e)
			}
		}
		if err != nil {
			return Send(3, failure(err))
		}
		return Send(3, []byte{Done})
	}
	return Send(3, failure(syscall.EBADMSG))
}

// newSlot is our side of a slot.
type newSlot struct{ commands, signals, pidfd int }

func (n *newSlot) close() { CloseAll([]int{n.commands, n.signals, n.pidfd}) }

// fork starts a slot, which waits for finish.
func fork() (*newSlot, error) {
	var pairs [2][2]int
	for i := range pairs {
		var err error
		if pairs[i], err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0); err != nil {
			return nil, wrap("sockets of a slot", err)
		}
		defer syscall.Close(pairs[i][1])
	}
	n := &newSlot{commands: pairs[0][0], signals: pairs[1][0], pidfd: -1}
	_, err := syscall.ForkExec("/proc/self/exe", []string{"handrail-slot"}, &syscall.ProcAttr{
		Env:   []string{Mark + "=" + asSlot},
		Files: []uintptr{0, 1, 2, uintptr(pairs[0][1]), uintptr(pairs[1][1])},
		Sys:   &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, AmbientCaps: Capabilities(), PidFD: &n.pidfd},
	})
	if err != nil {
		n.close()
		return nil, wrap("starting a slot", err)
	}
	return n, nil
}

// finish tells a slot that the mounts stand, and waits until it is ready.
func (n *newSlot) finish(s *state) (notes []string, err error) {
	b := &Buf{B: []byte{0}}
	s.plan.slotPart(b)
	if s.ruleset >= 0 {
		err = Send(n.commands, b.B, s.ruleset)
	} else {
		err = Send(n.commands, b.B)
	}
	if err != nil {
		return nil, wrap("telling a slot", err)
	}
	kind, body, files, err := Recv(n.commands, s.buf[:])
	CloseAll(files)
	switch {
	case err != nil:
		return nil, wrap("waiting for a slot", err)
	case kind == Failed:
		e := syscall.Errno(body.TakeUint())
		return nil, &trouble{"a slot: " + body.TakeStr(), e}
	}
	return body.TakeList(), nil
}

// loopbackUp sets the loopback interface of this network namespace up.
func loopbackUp() error {
	sock, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(sock)
	return setFlags(sock)
}

// listen opens the door. Whoever holds the listener accepts connections from
// this network namespace, in whatever namespace it is itself.
func listen() (int, error) {
	sock, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	err = syscall.Bind(sock, &syscall.SockaddrInet4{Port: DoorPort, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = syscall.Listen(sock, 128)
	}
	if err != nil {
		syscall.Close(sock)
		return -1, err
	}
	return sock, nil
}
