//go:build linux && (amd64 || arm64)

package boot

import (
	"syscall"
	"unsafe"
)

// maxLimits is more than there are limits of one process.
const maxLimits = 8

// limited is a command under resource limits while it is started. Go's way to
// start a program can set none, and this process cannot have them for it: the
// kernel counts its heap, which is not the command's, and what is set after the
// start does not hold for a process that the command forked at once. So the
// child sets them itself, by the rules of a stub.
type limited struct {
	path, dir   *byte
	argv, env   []*byte
	std         [3]uintptr
	terminal    bool
	limits      [maxLimits][2]uint64 // by number, soft and hard the same
	count       uintptr
	both        [2]uint64
	errno       uint32
	report, end int // of the pipe that tells why the program was not started
}

// startLimited starts the command under limits and returns its number in the
// fence, and a pidfd.
func startLimited(c *Command, std []int, limits [][2]uint64) (pid, pidfd int, err error) {
	l := &limited{terminal: c.Terminal, count: uintptr(min(len(limits), maxLimits))}
	copy(l.limits[:], limits)
	for i := range l.std {
		l.std[i] = uintptr(std[i])
	}
	if err := l.texts(c); err != nil {
		return 0, -1, err
	}
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return 0, -1, err
	}
	l.end, l.report = pipe[0], pipe[1]
	pid, fd, errno := l.fork()
	syscall.Close(l.report)
	defer syscall.Close(l.end)
	if errno != 0 {
		return 0, -1, errno
	}
	var said [4]byte
	n, err := syscall.Read(l.end, said[:])
	for err == syscall.EINTR {
		n, err = syscall.Read(l.end, said[:])
	}
	if n == 0 && err == nil {
		return pid, int(fd), nil // the program has begun, which closed the pipe
	}
	waitFor(pid)
	syscall.Close(int(fd))
	if n == len(said) {
		err = syscall.Errno(*(*uint32)(unsafe.Pointer(&said)))
	}
	return 0, -1, err
}

// texts makes what the kernel reads of the command.
func (l *limited) texts(c *Command) (err error) {
	if l.path, err = syscall.BytePtrFromString(c.Path); err != nil {
		return err
	}
	if l.dir, err = syscall.BytePtrFromString(c.Dir); err != nil {
		return err
	}
	if l.argv, err = syscall.SlicePtrFromStrings(c.Argv); err != nil {
		return err
	}
	l.env, err = syscall.SlicePtrFromStrings(c.Env)
	return err
}

// fork starts the child.
//
//go:norace
//go:nosplit
//go:noinline
func (l *limited) fork() (pid int, pidfd int32, errno syscall.Errno) {
	const clonePidfd = 0x1000
	pidfd = -1
	n, _, e := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD)|clonePidfd, 0, uintptr(unsafe.Pointer(&pidfd)), 0, 0, 0)
	if e != 0 || n != 0 {
		return int(n), pidfd, e
	}
	l.errno = uint32(l.become())
	_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, uintptr(l.report), uintptr(unsafe.Pointer(&l.errno)), 4)
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 1, 0, 0)
	}
}

// become turns the child into the program, or says why it cannot.
//
//go:norace
//go:nosplit
func (l *limited) become() syscall.Errno {
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0); e != 0 {
		return e
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_CHDIR, uintptr(unsafe.Pointer(l.dir)), 0, 0); e != 0 {
		return e
	}
	for i := uintptr(0); i < 3; i++ {
		// The files of a command have numbers above these three.
		if _, _, e := syscall.RawSyscall(syscall.SYS_DUP3, l.std[i], i, 0); e != 0 {
			return e
		}
	}
	if l.terminal {
		if _, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, 0, syscall.TIOCSCTTY, 1); e != 0 {
			return e
		}
	}
	for i := uintptr(0); i < l.count; i++ {
		l.both[0], l.both[1] = l.limits[i][1], l.limits[i][1]
		if _, _, e := syscall.RawSyscall6(sysPrlimit, 0, uintptr(l.limits[i][0]), uintptr(unsafe.Pointer(&l.both)), 0, 0, 0); e != 0 {
			return e
		}
	}
	_, _, e := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(l.path)), uintptr(unsafe.Pointer(&l.argv[0])), uintptr(unsafe.Pointer(&l.env[0])))
	return e
}
