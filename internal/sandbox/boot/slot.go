//go:build linux && (amd64 || arm64)

package boot

import (
	"runtime"
	"syscall"
	"unsafe"
)

const noMore = syscall.ECHILD

// slot is PID 1 of the namespace of one command at a time. Its main thread
// gives up every right, then starts what it is told to and reaps what is left.
// Everything that a command could do to it, it could do to itself.
func slot() {
	var buf [maxDatagram]byte
	_, body, files, err := Recv(3, buf[:])
	if err != nil {
		return
	}
	p := &Plan{}
	p.takeSlotPart(body)
	ruleset := -1
	if len(files) > 0 {
		ruleset = files[0]
	}
	notes, err := settle(p, ruleset)
	if ruleset >= 0 {
		syscall.Close(ruleset)
	}
	if err != nil {
		_ = Send(3, failure(err)) // the fence is gone, too
		return
	}
	b := &Buf{B: []byte{Ready}}
	b.List(notes)
	for err = Send(3, b.B); err == nil; {
		err = runNext(buf[:])
	}
}

// settle makes the slot's own view and gives up its rights, in the order in
// which each step still has the right that it needs.
func settle(p *Plan, ruleset int) (notes []string, err error) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGTERM, syscall.SIGTRAP, syscall.SIGSYS} {
		// Commands may send these to their PID 1, for which Go has handlers that
		// end the program. What is started gets the default back.
		ignore(sig)
	}
	if err := syscall.Unshare(syscall.CLONE_NEWNS | syscall.CLONE_FS); err != nil {
		return nil, wrap("a mount namespace", err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return nil, wrap("following the fence's mounts", err)
	}
	const flags = syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC
	if err := syscall.Mount("proc", "/proc", "proc", flags, ""); err != nil {
		notes = append(notes, "proc: "+err.Error())
	} else {
		if p.Pids > 0 && limitPids(p.Pids) != nil {
			notes = append(notes, "pids")
		}
		if err := setAttr(atFdcwd, "/proc", 0, attrReadOnly); err != nil {
			return nil, wrap("making /proc read-only", err)
		}
	}
	if err := syscall.Chdir("/"); err != nil {
		return nil, wrap("the root of the new view", err)
	}
	for _, l := range p.Limits {
		if err := setLimit(int(l[0]), l[1]); err != nil {
			return nil, wrap("a resource limit", err)
		}
	}
	signals := make(chan error)
	go relaySignals(signals)
	if err := <-signals; err != nil {
		return nil, err
	}
	if err := prctl(4 /* PR_SET_DUMPABLE */, 0, 0); err != nil {
		return nil, wrap("hiding the memory of PID 1", err)
	}
	if err := DropCapabilities(); err != nil {
		return nil, err
	}
	return notes, RestrictThread(ruleset, p.Filter)
}

// limitPids bounds how many processes and threads there may be in this PID
// namespace. The kernel takes no number below 301.
func limitPids(n uint64) error {
	fd, err := syscall.Open("/proc/sys/kernel/pid_max", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	_, err = syscall.Write(fd, []byte(decimal(max(n, 301))))
	return err
}

// relaySignals sends each signal number that comes from the owner to every
// process of the slot. It has a thread of its own, because the other one waits.
func relaySignals(ready chan<- error) {
	runtime.LockOSThread()
	err := DropCapabilities()
	ready <- err
	if err != nil {
		return
	}
	var b [8]byte
	for {
		n, err := syscall.Read(4, b[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n < 1 {
			syscall.Exit(0) // the owner let go of the slot
		}
		_ = syscall.Kill(-1, syscall.Signal(b[0])) // ESRCH: nothing is there
		_, _ = syscall.Write(4, b[:1])             // the owner waits, or is gone
	}
}

// runNext runs one command and reports its end. An error means that the owner
// is gone.
func runNext(buf []byte) error {
	kind, body, files, err := Recv(3, buf)
	if err != nil {
		return err
	}
	if kind != AskRun {
		CloseAll(files)
		return Send(3, failure(syscall.EBADMSG))
	}
	c := takeCommand(body)
	pid, err := begin(c, body.Bad, files)
	if err != nil {
		if _, told := err.(*trouble); !told {
			return err // nobody to tell
		}
		return Send(3, failure(err))
	}
	end := waitFor(pid)
	left := false
	for {
		// Without WNOHANG this would wait for what was left behind.
		other, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == noMore {
			break
		}
		if err == nil && other == 0 {
			left = true
			break
		}
	}
	end.Left = left
	if left && c.Keep {
		if err := Send(3, end.bytes()); err != nil {
			return err
		}
		reap()
		return Send(3, []byte{Gone})
	}
	for left {
		_ = syscall.Kill(-1, syscall.SIGKILL) // ESRCH: they ended meanwhile
		other, err := syscall.Wait4(-1, nil, 0, nil)
		left = err != noMore || other > 0
	}
	return Send(3, end.bytes())
}

// begin starts the command and says so.
func begin(c *Command, bad bool, files []int) (pid int, err error) {
	defer CloseAll(files)
	if bad || !c.Terminal && len(files) != 3 {
		return 0, &trouble{"a command", syscall.EBADMSG}
	}
	pidfd, answer := -1, []int{-1}
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Sys: &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd, Setctty: c.Terminal}}
	if attr.Env == nil {
		attr.Env = []string{}
	}
	std := files
	if c.Terminal {
		master, slave, err := terminal(c.Rows, c.Cols)
		if err != nil {
			return 0, wrap("a terminal", err)
		}
		defer CloseAll([]int{master, slave})
		std, answer = []int{slave, slave, slave}, append(answer, master)
	}
	for _, f := range std {
		attr.Files = append(attr.Files, uintptr(f))
	}
	pid, err = syscall.ForkExec(c.Path, c.Argv, attr)
	if err != nil {
		return 0, wrap(blame(c.Dir), err)
	}
	defer syscall.Close(pidfd)
	answer[0] = pidfd
	return pid, Send(3, []byte{Begun}, answer...)
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

// waitFor waits for the end of pid, and reaps whatever else ends before.
func waitFor(pid int) End {
	for {
		var ws syscall.WaitStatus
		var use syscall.Rusage
		got, err := syscall.Wait4(-1, &ws, 0, &use)
		if err == syscall.EINTR || err == nil && got != pid {
			continue
		}
		return End{
			Status: uint32(ws),
			UserUS: uint64(use.Utime.Nano() / 1000), SystemUS: uint64(use.Stime.Nano() / 1000),
			MaxRSSKiB: uint64(use.Maxrss), InBlock: uint64(use.Inblock), OutBlock: uint64(use.Oublock),
		}
	}
}

// reap waits until no process is left.
func reap() {
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err == noMore {
			return
		}
	}
}

// terminal opens a pair in the terminals of the fence.
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
