package process

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAsked is how many threads of a command are asked what they wait for.
const maxAsked = 256

// AwaitsInput reports whether a process of the command waits for something to
// read from its open input: it has called the kernel to read from the pipe or
// the terminal, or to be told when one of those has something. false says
// nothing: a program that waits for several things at once is not recognised,
// nor is one of another user.
func (p *Process) AwaitsInput() bool {
	p.inputs.Lock()
	in := p.stdin
	var st unix.Stat_t
	if in != nil && p.screen == nil {
		raw, err := in.SyscallConn()
		if err == nil {
			_ = raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &st) })
		}
		if err != nil {
			in = nil
		}
	}
	p.inputs.Unlock()
	top := p.proc.Pid()
	if in == nil || top == 0 {
		return false
	}
	isInput := func(file string) bool { return file == fmt.Sprintf("pipe:[%d]", st.Ino) }
	if p.screen != nil {
		// A command has no other terminal than its own.
		isInput = func(file string) bool { return file == "/dev/tty" || strings.HasPrefix(file, "/dev/pts/") }
	}
	asked := 0
	for _, pid := range family(top) {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			continue
		}
		for _, task := range tasks {
			if asked++; asked > maxAsked {
				return false
			}
			fd, ok := readsFrom(pid, task.Name())
			if !ok {
				continue
			}
			if file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); err == nil && isInput(file) {
				return true
			}
		}
	}
	return false
}

// family lists a process and those that descend from it, up to maxAsked. Where
// the kernel keeps no lists of children it is the process alone.
func family(top int) []int {
	found := []int{top}
	for i := 0; i < len(found) && i < maxAsked; i++ {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", found[i])) // the pattern has no mistake
		for _, list := range lists {
			data, err := os.ReadFile(list)
			if err != nil {
				continue // it has ended
			}
			for _, f := range strings.Fields(string(data)) {
				if pid, err := strconv.Atoi(f); err == nil {
					found = append(found, pid)
				}
			}
		}
	}
	return found
}

// readsFrom returns the one descriptor that a thread waits to read from.
func readsFrom(pid int, task string) (fd int, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/syscall", pid, task))
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(data))
	if len(f) < 3 {
		return 0, false // "running"
	}
	call, err := strconv.Atoi(f[0])
	first, err1 := strconv.ParseUint(strings.TrimPrefix(f[1], "0x"), 16, 64)
	second, err2 := strconv.ParseUint(strings.TrimPrefix(f[2], "0x"), 16, 64)
	if err != nil || err1 != nil || err2 != nil {
		return 0, false
	}
	switch {
	case call == unix.SYS_READ || call == unix.SYS_READV:
		return int(int32(first)), true
	case isSelect(call) && first == 1:
		return 0, true // of one descriptor, which can only be the first
	case isPoll(call) && second == 1:
		return polled(pid, first)
	}
	return 0, false
}

// polled reads from the memory of a process the descriptor that it waits for.
func polled(pid int, at uint64) (fd int, ok bool) {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return 0, false
	}
	defer func() { _ = mem.Close() }()
	var word [4]byte
	if _, err := mem.ReadAt(word[:], int64(at)); err != nil {
		return 0, false
	}
	return int(int32(binary.NativeEndian.Uint32(word[:]))), true
}
