//go:build linux && (amd64 || arm64)

package boot

import (
	"runtime"
	"syscall"
	"unsafe"
)

// slot is where one command at a time runs: a thread of the fence process that
// has entered the namespaces of a stub and given up every right, and forks the
// commands. So the fence process is their parent and knows how they end.
type slot struct {
	commands int // our end of its socket
	children int // what shows the processes that were left to the stub, or -1
	limits   [][2]uint64
	pidfd    int  // the stub
	ownProc  bool // the stub has a /proc of its own
	ready    chan error
}

// newSlot makes a slot and returns the owner's ends: its socket, the stub's
// socket and the stub's pidfd.
func (s *state) newSlot() (ends [3]int, notes []string, err error) {
	var pairs [2][2]int
	for i := range pairs {
		if pairs[i], err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0); err != nil {
			if i > 0 {
				CloseAll(pairs[0][:])
			}
			return ends, nil, wrap("sockets of a slot", err)
		}
	}
	reap() // what became of earlier slots
	init := newStub(pairs[1][1], s.plan)
	pidfd, errno := init.fork()
	syscall.Close(pairs[1][1])
	ends = [3]int{pairs[0][0], pairs[1][0], int(pidfd)}
	if errno != 0 {
		CloseAll(append(ends[:2], pairs[0][1]))
		return ends, nil, &trouble{"forking a slot", errno}
	}
	notes, err = greeting(pairs[1][0])
	if err == nil {
		sl := &slot{
			commands: pairs[0][1], children: -1, limits: s.plan.Limits,
			pidfd: int(pidfd), ownProc: len(notes) == 0 || notes[0] == "pids", ready: make(chan error),
		}
		t := s.thread
		if s.thread = nil; t == nil {
			t = s.newThread()
		}
		t <- sl
		err = <-sl.ready
	} else {
		syscall.Close(pairs[0][1])
	}
	if err != nil {
		CloseAll(ends[:])
	}
	return ends, notes, err
}

// greeting reads what a stub could not have.
func greeting(sock int) (notes []string, err error) {
	var say [2]byte
	n, err := syscall.Read(sock, say[:])
	switch {
	case err != nil:
		return nil, wrap("waiting for a slot", err)
	case n != 2:
		return nil, &trouble{"waiting for a slot", syscall.EPIPE}
	case say[0] == Failed:
		return nil, &trouble{"the mounts of a slot", syscall.Errno(say[1])}
	case say[0] != 0:
		return []string{"proc: " + syscall.Errno(say[0]).Error()}, nil
	case say[1] != 0:
		return []string{"pids"}, nil
	}
	return nil, nil
}

// reap takes the stubs that ended. They send no signal, and only a wait for
// such children sees them.
func reap() {
	const wclone = 0x80000000
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG|wclone, nil); err != nil || pid <= 0 {
			return
		}
	}
}

// newThread starts a thread that becomes the slot which is sent to it. It
// ends with its goroutine, because it is never unlocked.
func (s *state) newThread() chan<- *slot {
	c := make(chan *slot)
	go func() {
		runtime.LockOSThread()
		err := wrap("a thread of its own", syscall.Unshare(syscall.CLONE_FS))
		sl := <-c
		defer func() { CloseAll([]int{sl.commands, sl.children}) }()
		if err == nil {
			err = s.enter(sl)
		}
		sl.ready <- err
		if err == nil {
			sl.serve()
		}
	}()
	return c
}

// enter moves the thread into the namespaces of the slot's stub and gives up
// its rights, each step while the right for it is there.
func (s *state) enter(sl *slot) error {
	_, _, e := syscall.RawSyscall(sysSetns, uintptr(sl.pidfd), syscall.CLONE_NEWPID|syscall.CLONE_NEWNS, 0)
	if e != 0 {
		return &trouble{"entering a slot", e}
	}
	if sl.ownProc {
		fd, err := syscall.Open("/proc/1/task/1/children", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			sl.children = fd // a kernel without it is asked by way of the stub
		}
	}
	if err := DropCapabilities(); err != nil {
		return err
	}
	return RestrictThread(s.ruleset, s.plan.Filter)
}

// serve runs commands until the owner lets go of the slot.
func (sl *slot) serve() {
	var err error
	buf := make([]byte, maxDatagram)
	for err == nil {
		err = sl.next(buf)
	}
}

// next runs one command and reports its end. An error means that the owner is
// gone.
func (sl *slot) next(buf []byte) error {
	kind, body, files, err := Recv(sl.commands, buf)
	if err != nil {
		return err
	}
	if kind != AskRun {
		CloseAll(files)
		return Send(sl.commands, failure(syscall.EBADMSG))
	}
	c := takeCommand(body)
	pid, err := sl.begin(c, body.Bad, files)
	if pid == 0 {
		return Send(sl.commands, failure(err))
	}
	end := waitFor(pid)
	end.Left = sl.left()
	if err != nil {
		return err
	}
	return Send(sl.commands, end.bytes())
}

// left says that the stub may have processes to look after.
func (sl *slot) left() bool {
	if sl.children < 0 {
		return true
	}
	var b [8]byte
	n, err := syscall.Pread(sl.children, b[:], 0)
	return err != nil || n != 0
}

// begin starts the command and says so. A number with an error means that the
// command runs and there was nobody to tell.
func (sl *slot) begin(c *Command, bad bool, files []int) (pid int, err error) {
	defer CloseAll(files)
	if bad || !c.Terminal && len(files) != 3 {
		return 0, &trouble{"a command", syscall.EBADMSG}
	}
	std, answer := files, []int{-1}
	if c.Terminal {
		master, slave, err := terminal(c.Rows, c.Cols)
		if err != nil {
			return 0, wrap("a terminal", err)
		}
		defer CloseAll([]int{master, slave})
		std, answer = []int{slave, slave, slave}, append(answer, master)
	}
	if len(sl.limits) > 0 {
		pid, answer[0], err = startLimited(c, std, sl.limits)
	} else {
		pid, answer[0], err = start(c, std)
	}
	if err != nil {
		return 0, wrap(blame(c.Dir), err)
	}
	defer syscall.Close(answer[0])
	return pid, Send(sl.commands, []byte{Begun}, answer...)
}

// start starts the command and returns its number in the fence, and a pidfd.
// It does not copy the page tables of this process, as startLimited must.
func start(c *Command, std []int) (pid, pidfd int, err error) {
	pidfd = -1
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Sys: &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd, Setctty: c.Terminal}}
	if attr.Env == nil {
		attr.Env = []string{}
	}
	for _, f := range std {
		attr.Files = append(attr.Files, uintptr(f))
	}
	pid, err = syscall.ForkExec(c.Path, c.Argv, attr)
	return pid, pidfd, err
}

// blame says which of the two names a failed start speaks of.
func blame(dir string) string {
	fd, err := syscall.Open(dir, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "chdir"
	}
	syscall.Close(fd)
	return "start"
}

// waitFor waits for the end of pid.
func waitFor(pid int) End {
	for {
		var ws syscall.WaitStatus
		var use syscall.Rusage
		if _, err := syscall.Wait4(pid, &ws, 0, &use); err == syscall.EINTR {
			continue
		}
		return End{
			Status: uint32(ws),
			UserUS: uint64(use.Utime.Nano() / 1000), SystemUS: uint64(use.Stime.Nano() / 1000),
			MaxRSSKiB: uint64(use.Maxrss), InBlock: uint64(use.Inblock), OutBlock: uint64(use.Oublock),
		}
	}
}

// terminal opens a pair in the terminals of the slot.
func terminal(rows, cols uint16) (master, slave int, err error) {
	master, err = syscall.Open("/dev/pts/ptmx", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, err
	}
	var unlock int32
	size := [4]uint16{rows, cols}
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(master), syscall.TIOCSPTLCK, uintptr(unsafe.Pointer(&unlock)))
	if e == 0 {
		_, _, e = syscall.Syscall(syscall.SYS_IOCTL, uintptr(master), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size)))
	}
	fd := uintptr(0)
	if e == 0 {
		// TIOCGPTPEER opens the other side without a name that could be another's.
		fd, _, e = syscall.Syscall(syscall.SYS_IOCTL, uintptr(master), 0x5441, syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC)
	}
	if e != 0 {
		syscall.Close(master)
		return -1, -1, e
	}
	return master, int(fd), nil
}
