package sandbox

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func dieWithThread(sys *syscall.SysProcAttr) { sys.Pdeathsig = syscall.SIGKILL }

// run starts the command and stays until no process of it is left.
func (h *hostProc) run(s Spec, p Policy, files []*os.File, started chan<- error) {
	if err := h.fork(s, files); err != nil {
		started <- err
		return
	}
	limitProcess(h.pid, p.Limits)
	started <- nil
	var info unix.Siginfo
	var use unix.Rusage
	var err error
	for {
		// WNOWAIT leaves the leader a zombie, and with it the number of the group.
		err = unix.Waitid(unix.P_PID, h.pid, &info, unix.WEXITED|unix.WNOWAIT, &use)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		// Somebody else in this process reaped it: a wait for any child.
		h.err = os.NewSyscallError("waitid", err)
	}
	h.exit = exitOf(&info, &use)
	h.exit.Left = len(members(h.pid)) > 0
	if !s.Keep {
		h.sweep()
	}
	if s.inspect != nil {
		s.inspect(&h.exit)
	}
	close(h.ended)
	if s.Keep {
		for len(members(h.pid)) > 0 {
			time.Sleep(goneEvery)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reaped = true
	if h.err == nil {
		var ws syscall.WaitStatus
		_, _ = syscall.Wait4(h.pid, &ws, 0, nil) // a zombie: it cannot fail or block
	}
}

// sweep kills what is left of the command, as far as it can be killed.
func (h *hostProc) sweep() {
	for until := time.Now().Add(killFor); len(members(h.pid)) > 0 && time.Now().Before(until); {
		signalTree(h.pid, syscall.SIGKILL)
		time.Sleep(time.Millisecond)
	}
}

func exitOf(info *unix.Siginfo, use *unix.Rusage) Exit {
	e := Exit{
		Code:   -1,
		User:   time.Duration(use.Utime.Nano()),
		System: time.Duration(use.Stime.Nano()),
		MaxRSS: int64(use.Maxrss) << 10, ReadBlocks: int64(use.Inblock), WriteBlocks: int64(use.Oublock),
	}
	// si_status follows si_pid and si_uid, which follow the three fields that
	// unix.Siginfo names, padded to a word.
	words := (*[8]int32)(unsafe.Pointer(info))
	status := words[6]
	if unsafe.Sizeof(uintptr(0)) == 4 {
		status = words[5]
	}
	if info.Code == cldExited {
		e.Code = int(status)
	} else {
		e.Signal = syscall.Signal(status)
	}
	return e
}

// cldExited is CLD_EXITED of <signal.h>: the process ended by itself.
const cldExited = 1

// signalTree sends sig to the group that leader leads and to every descendant
// and member of its session that can be found.
func signalTree(leader int, sig syscall.Signal) {
	_ = unix.Kill(-leader, sig) // ESRCH: the group is empty
	for _, pid := range members(leader) {
		_ = unix.Kill(pid, sig) // ESRCH: it ended meanwhile
	}
}

// members lists the living processes of a command, its zombies and its leader's
// zombie left out: those of its session, and the descendants of any of them.
func members(leader int) []int {
	parents := map[int]int{}
	in := map[int]bool{leader: true}
	for _, pid := range after(leader) {
		state, parent, session := stat(pid)
		if state == 0 || state == 'Z' || state == 'X' {
			continue
		}
		parents[pid] = parent
		if session == leader {
			in[pid] = true
		}
	}
	var found []int
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if in[at] {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// maxGuess is how many numbers are tried one by one before the whole table is
// read: a number that is not there costs 2 µs, the table of a desktop 3 ms.
const maxGuess = 500

// after lists the numbers that processes which began after leader may have.
// Numbers are given out in ascending order, and the kernel tells the last one.
func after(leader int) []int {
	last := lastPID()
	if last == leader {
		return nil // nothing began: the usual end of a short command
	}
	var list []int
	if last > leader && last-leader <= maxGuess {
		for pid := leader + 1; pid <= last; pid++ {
			list = append(list, pid)
		}
		return list
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }() // only read
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	for _, name := range names {
		// Below leader's are older ones, unless the numbers began anew.
		if pid, err := strconv.Atoi(name); err == nil && (pid > leader || last < leader) {
			list = append(list, pid)
		}
	}
	return list
}

// lastPID returns the number that was given out last, or 0.
func lastPID() int {
	fd, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Close(fd) }() // only read
	var buf [128]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil || n <= 0 {
		return 0
	}
	fields := bytes.Fields(buf[:n])
	last, _ := strconv.Atoi(string(fields[len(fields)-1])) // the kernel wrote a number
	return last
}

// stat reads a process's state, parent and session; state is 0 when it is gone.
func stat(pid int) (state byte, parent, session int) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, 0
	}
	// The second field is the program's name, which may hold anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 4 {
		return 0, 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[1]))  // the kernel wrote a number
	session, _ = strconv.Atoi(string(fields[3])) // the kernel wrote a number
	return fields[0][0], parent, session
}

// limitProcess sets what the kernel counts per process. What it starts
// inherits them.
func limitProcess(pid int, l Limits) {
	limits := rlimits(l)
	limits[unix.RLIMIT_CORE] = 0
	for what, n := range limits {
		lim := unix.Rlimit{Cur: n, Max: n}
		_ = unix.Prlimit(pid, what, &lim, nil) // ESRCH: it ended already
	}
}

// rlimits returns the limits by their number in <sys/resource.h>.
func rlimits(l Limits) map[int]uint64 {
	m := map[int]uint64{}
	if l.Memory > 0 {
		m[unix.RLIMIT_DATA] = uint64(l.Memory)
	}
	if l.Processes > 0 {
		m[unix.RLIMIT_NPROC] = uint64(l.Processes)
	}
	if l.FileSize > 0 {
		m[unix.RLIMIT_FSIZE] = uint64(l.FileSize)
	}
	if l.CPU > 0 {
		m[unix.RLIMIT_CPU] = uint64(l.CPU / time.Second)
	}
	return m
}

// inMemory returns a file that holds data and lies nowhere.
func inMemory(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("handrail", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "memory")
	if _, err := f.WriteAt(data, 0); err != nil {
		_ = f.Close() // nobody gets it
		return nil, err
	}
	return f, nil
}

// isFirstThread reports whether this thread is the one that the process
// began with.
func isFirstThread() bool { return unix.Gettid() == os.Getpid() }
