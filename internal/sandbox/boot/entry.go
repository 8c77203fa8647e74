//go:build linux && (amd64 || arm64)

package boot

import (
	"runtime"
	"syscall"
	"unsafe"
)

// Supported says that this package can build fences on this system.
const Supported = true

// Mark is the variable in the environment of a fence process, and AsFence its
// value. It means something only to PID 1 of a namespace with a socket as its
// file 3.
const (
	Mark    = "HANDRAIL_FENCE"
	AsFence = "fence"
)

// DoorPort is where the proxy of a session listens, on the loopback of the
// fence. Nothing else is there, so the number can be the one that proxies
// commonly have.
const DoorPort = 3128

// Capabilities are what a fence process keeps in its own user namespace:
// SETPCAP, NET_ADMIN, SYS_CHROOT, SYS_PTRACE and SYS_ADMIN, to build namespaces,
// to enter those of its slots, and to drop all of it there.
func Capabilities() []uintptr { return []uintptr{8, 12, 18, 19, 21} }

// An init function, because a fence process must not become the program that
// it was started from.
func init() {
	if syscall.Getpid() != 1 {
		return
	}
	if as, _ := syscall.Getenv(Mark); as != AsFence {
		return
	}
	if _, err := syscall.GetsockoptInt(3, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil {
		return
	}
	runtime.LockOSThread()
	closeOnExec(3)
	defaultSignals()
	fence()
	syscall.Exit(0)
}

// state is the fence process.
type state struct {
	plan    *Plan
	masks   masks
	ruleset int
	thread  chan<- *slot // one that waits for a slot, or nil
	buf     [maxDatagram]byte
}

// fence builds the fence and serves its owner until the socket closes. When it
// exits, the kernel kills everything in its PID namespace.
func fence() {
	s := &state{ruleset: -1}
	// The first slot's thread starts up beside the making of the mounts.
	s.thread = s.newThread()
	_, body, files, err := Recv(3, s.buf[:])
	CloseAll(files)
	if err != nil {
		return
	}
	s.plan = takePlan(body)
	if body.Bad {
		err = syscall.EBADMSG
	} else {
		err = s.plan.mapUser()
	}
	_ = prctl(4 /* PR_SET_DUMPABLE */, 0, 0)
	door := -1
	if err == nil {
		door, err = s.setUp()
	}
	if err != nil {
		_ = Send(3, failure(err)) // the owner is gone, too: nobody is left to tell
		return
	}
	if door >= 0 {
		err = s.sendSlot(Ready, door)
		syscall.Close(door)
	} else {
		err = s.sendSlot(Ready)
	}
	for err == nil {
		err = s.serve()
	}
}

// mapUser gives this user namespace its one user and group, under the numbers
// that they have outside, so that files belong to whom they belong there.
func (p *Plan) mapUser() error {
	for _, m := range [][2]string{{"setgroups", "deny"}, {"gid_map", idMap(p.GID)}, {"uid_map", idMap(p.UID)}} {
		fd, err := syscall.Open("/proc/self/"+m[0], syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			_, err = syscall.Write(fd, []byte(m[1]))
			syscall.Close(fd)
		}
		if err != nil {
			return wrap("writing "+m[0]+" of a user namespace", err)
		}
	}
	return nil
}

func idMap(id uint64) string { return decimal(id) + " " + decimal(id) + " 1" }

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
	if err := noCore(); err != nil {
		return door, wrap("a resource limit", err)
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
		return s.sendSlot(HaveSlot)
	case AskHide, AskLock:
		return s.mask(kind, body.TakeList())
	}
	return Send(3, failure(syscall.EBADMSG))
}

// mask hides or locks paths, and answers with those that are not there: they
// may be again.
func (s *state) mask(kind byte, paths []string) (err error) {
	done := &Buf{B: []byte{Done}}
	var missing []string
	for _, path := range paths {
		var e error
		if kind == AskLock {
			e = lock(s.plan.Root, path)
		} else {
			e = s.masks.hide(path)
		}
		switch {
		case e == syscall.ENOENT || e == syscall.ENOTDIR:
			missing = append(missing, path)
		case e != nil && err == nil:
			err = wrap(path, e)
		}
	}
	if err != nil {
		return Send(3, failure(err))
	}
	done.List(missing)
	return Send(3, done.B)
}

// sendSlot makes a slot and hands it to the owner.
func (s *state) sendSlot(kind byte, more ...int) error {
	ends, notes, err := s.newSlot()
	if err != nil {
		return Send(3, failure(err))
	}
	b := &Buf{B: []byte{kind}}
	b.List(notes)
	err = Send(3, b.B, append(ends[:], more...)...)
	CloseAll(ends[:])
	return err
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

// setFlags sets IFF_UP and IFF_RUNNING on the loopback interface.
func setFlags(sock int) error {
	var req [40]byte // struct ifreq: the name, then the flags
	copy(req[:], "lo")
	req[16], req[17] = 0x41, 0
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(sock), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&req)))
	if e != 0 {
		return e
	}
	return nil
}
