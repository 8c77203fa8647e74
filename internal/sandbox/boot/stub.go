//go:build linux && (amd64 || arm64)

package boot

import (
	"syscall"
	"unsafe"
)

// Questions to a stub. Smaller numbers are signals for every process in its
// namespace. It answers each with one byte.
const (
	AskAny  byte = 0x80 // is a process left? Answers 1 or 0
	AskKill byte = 0x81 // kill what is left; answers when nothing is
)

// stub is PID 1 of the namespace that a slot's commands run in. It is forked
// without an exec, because starting a program costs more than all the rest of a
// slot. So it is a copy of this process with one thread, in which Go's scheduler
// must never run again: everything that it does is system calls on memory that
// was made before the fork, in functions that the compiler may not add stack
// growth or instrumentation to.
type stub struct {
	control        int // its end of the socket; becomes file 3
	slash, proc    *byte
	empty, pidMax  *byte
	pts, devpts    *byte // the place and the type of its terminals
	terminals      *byte // their options; nil leaves those of the machine
	pids           [20]byte
	pidsLen        uintptr
	attr           mountAttr
	ignored        [4]uintptr // a sigaction with SIG_IGN
	say            [2]byte
	buf            [8]byte
	ownProc, limit byte // what it could not have: an errno, or 0
}

// newStub prepares all memory that a stub needs.
func newStub(control int, p *Plan) *stub {
	s := &stub{control: control, attr: mountAttr{set: attrReadOnly}, ignored: [4]uintptr{1}}
	s.slash, s.proc, s.empty, s.pidMax = cString("/"), cString("/proc"), cString(""), cString("/proc/sys/kernel/pid_max")
	if !p.Free {
		s.pts, s.devpts, s.terminals = cString(terminals), cString("devpts"), cString("newinstance,ptmxmode=0666,mode=620")
	}
	if p.Pids > 0 {
		// The kernel takes no number below 301.
		s.pidsLen = uintptr(copy(s.pids[:], decimal(max(p.Pids, 301))))
	}
	return s
}

// cString returns s as the kernel reads it. The names here hold no NUL.
func cString(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}

// fork starts the stub and returns its pidfd. Its exit sends no signal, so that
// a wait for commands never sees it.
//
//go:norace
//go:nosplit
//go:noinline
func (s *stub) fork() (pidfd int32, errno syscall.Errno) {
	const clonePidfd = 0x1000
	pidfd = -1
	pid, _, e := syscall.RawSyscall6(syscall.SYS_CLONE, syscall.CLONE_NEWPID|syscall.CLONE_NEWNS|clonePidfd, 0, uintptr(unsafe.Pointer(&pidfd)), 0, 0, 0)
	if e != 0 || pid != 0 {
		return pidfd, e
	}
	s.live()
	return 0, 0
}

// proc3 is proc, the type of file system, at the place of the same name.
const procFlags = syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC

// live is the whole life of a stub.
//
//go:norace
//go:nosplit
func (s *stub) live() {
	for sig := uintptr(1); sig <= 64; sig++ {
		// Commands may send any signal to their PID 1. With SIGCHLD ignored, the
		// kernel reaps what they leave behind.
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&s.ignored)), 0, 8, 0, 0)
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_DUP3, uintptr(s.control), 3, syscall.O_CLOEXEC)
	// What it holds by the fork would keep other sockets from ending.
	_, _, _ = syscall.RawSyscall(sysCloseRange, 4, ^uintptr(0)>>32, 0)
	if e := s.mounts(); e != 0 {
		s.say[0], s.say[1] = Failed, byte(e)
		_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, 3, uintptr(unsafe.Pointer(&s.say)), 2)
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 1, 0, 0)
	}
	s.say[0], s.say[1] = s.ownProc, s.limit
	_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, 3, uintptr(unsafe.Pointer(&s.say)), 2)
	for {
		n, _, e := syscall.RawSyscall(syscall.SYS_READ, 3, uintptr(unsafe.Pointer(&s.buf)), 1)
		if e == syscall.EINTR {
			continue
		}
		if e != 0 || n == 0 {
			// The owner let go of the slot; with PID 1 the kernel ends the rest.
			_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		s.say[0] = s.answer(s.buf[0])
		_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, 3, uintptr(unsafe.Pointer(&s.say)), 1)
	}
}

// terminals is where the terminals of a slot are. Each has its own, because
// whoever could open the terminal of another command would read what is typed
// there: they belong to one user.
const terminals = "/dev/pts"

// mounts makes the namespace's view: a follower of the fence's mounts, with
// terminals and a /proc of its own. Without a /proc (a container that masks
// parts of it) the slot still works, and says so.
//
//go:norace
//go:nosplit
func (s *stub) mounts() syscall.Errno {
	_, _, e := syscall.RawSyscall6(syscall.SYS_MOUNT, uintptr(unsafe.Pointer(s.empty)), uintptr(unsafe.Pointer(s.slash)), uintptr(unsafe.Pointer(s.empty)), syscall.MS_REC|syscall.MS_SLAVE, 0, 0)
	if e != 0 {
		return e
	}
	if s.terminals != nil {
		_, _, e = syscall.RawSyscall6(syscall.SYS_MOUNT, uintptr(unsafe.Pointer(s.devpts)), uintptr(unsafe.Pointer(s.pts)), uintptr(unsafe.Pointer(s.devpts)), syscall.MS_NOSUID|syscall.MS_NOEXEC, uintptr(unsafe.Pointer(s.terminals)), 0)
		if e != 0 {
			return e
		}
	}
	// The type and the place are both "…proc": the type is read past the slash.
	kind := uintptr(unsafe.Pointer(s.proc)) + 1
	_, _, e = syscall.RawSyscall6(syscall.SYS_MOUNT, kind, uintptr(unsafe.Pointer(s.proc)), kind, procFlags, 0, 0)
	if e != 0 {
		s.ownProc = byte(e)
		return 0
	}
	if s.pidsLen > 0 {
		fd, _, e := syscall.RawSyscall6(syscall.SYS_OPENAT, ^uintptr(99), uintptr(unsafe.Pointer(s.pidMax)), syscall.O_WRONLY, 0, 0, 0)
		if e == 0 {
			_, _, e = syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&s.pids)), s.pidsLen)
			_, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
		}
		s.limit = byte(e)
	}
	_, _, e = syscall.RawSyscall6(sysMountSetattr, ^uintptr(99), uintptr(unsafe.Pointer(s.proc)), 0, uintptr(unsafe.Pointer(&s.attr)), unsafe.Sizeof(s.attr), 0)
	return e
}

// answer does what it was asked.
//
//go:norace
//go:nosplit
func (s *stub) answer(ask byte) byte {
	const wnohang = 1
	switch {
	case ask == AskAny:
		// With SIGCHLD ignored there is nothing to reap: an error says that there
		// is no child, and what is not a child of PID 1 is one of a child, or the
		// command, which the fence waits for: the filter lets it make no sibling.
		_, _, e := syscall.RawSyscall6(syscall.SYS_WAIT4, ^uintptr(0), 0, wnohang, 0, 0, 0)
		if e != 0 {
			return 0
		}
		return 1
	case ask == AskKill:
		for {
			_, _, _ = syscall.RawSyscall(syscall.SYS_KILL, ^uintptr(0), uintptr(syscall.SIGKILL), 0)
			_, _, e := syscall.RawSyscall6(syscall.SYS_WAIT4, ^uintptr(0), 0, 0, 0, 0, 0)
			if e == syscall.ECHILD {
				return 0
			}
		}
	case ask <= 64:
		_, _, _ = syscall.RawSyscall(syscall.SYS_KILL, ^uintptr(0), uintptr(ask), 0)
	}
	return 0
}
