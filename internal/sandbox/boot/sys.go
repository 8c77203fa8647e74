//go:build linux && (amd64 || arm64)

package boot

import (
	"syscall"
	"unsafe"
)

// System calls that package syscall does not name. Those from 424 on have one
// number on every architecture.
const (
	sysPidfdSendSignal = 424
	sysOpenTree        = 428
	sysMoveMount       = 429
	sysCloseRange      = 436
	sysMountSetattr    = 442
	sysLandlockCreate  = 444
	sysLandlockAdd     = 445
	sysLandlockSelf    = 446
)

// From <linux/mount.h> and <fcntl.h>.
const (
	atFdcwd         = -100
	atEmptyPath     = 0x1000
	atRecursive     = 0x8000
	openTreeClone   = 1
	openTreeCloexec = syscall.O_CLOEXEC
	moveFromEmpty   = 0x4
	moveToEmpty     = 0x40

	attrReadOnly = 0x1
	attrNoSuid   = 0x2
	attrNoDev    = 0x4

	oPath = 0x200000
)

// openTree clones the mount at path, recursively, so that it stays as it is
// whatever is mounted over the path later.
func openTree(path string) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	fd, _, e := syscall.Syscall(sysOpenTree, ^uintptr(99), uintptr(unsafe.Pointer(p)), openTreeClone|openTreeCloexec|atRecursive)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// mountFD puts a cloned mount on what the descriptor to stands for, so that no
// name is resolved twice.
func mountFD(tree, to int) error {
	var empty byte
	_, _, e := syscall.Syscall6(sysMoveMount, uintptr(tree), uintptr(unsafe.Pointer(&empty)), uintptr(to), uintptr(unsafe.Pointer(&empty)), moveFromEmpty|moveToEmpty, 0)
	if e != 0 {
		return e
	}
	return nil
}

type mountAttr struct{ set, clr, propagation, userns uint64 }

// setAttr sets attributes of the mount that fd stands for, or of the one at
// path when fd is atFdcwd.
func setAttr(fd int, path string, flags int, set uint64) error {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	if path == "" {
		flags |= atEmptyPath
	}
	a := mountAttr{set: set}
	_, _, e := syscall.Syscall6(sysMountSetattr, uintptr(fd), uintptr(unsafe.Pointer(p)), uintptr(flags), uintptr(unsafe.Pointer(&a)), unsafe.Sizeof(a), 0)
	if e != 0 {
		return e
	}
	return nil
}

// closeOnExec marks every descriptor from first on, so that nothing that was
// inherited by accident reaches a command.
func closeOnExec(first int) {
	// Kernels before 5.11 lack it; they lack mount_setattr too, and the fence
	// ends there with a reason.
	_, _, _ = syscall.Syscall(sysCloseRange, uintptr(first), ^uintptr(0)>>32, 4 /* CLOSE_RANGE_CLOEXEC */)
}

func prctl(op, a, b uintptr) error {
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, op, a, b, 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

// defaultSignals makes every signal that is ignored do again what it does by
// default. A program that is started with one ignored, as under nohup, cannot
// tell, and a shell may not even catch it.
func defaultSignals() {
	for sig := uintptr(1); sig <= 64; sig++ {
		var action [4]uintptr // the handler first; 1 is SIG_IGN, 0 is SIG_DFL
		_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&action)), 8, 0, 0)
		if e == 0 && action[0] == 1 {
			action = [4]uintptr{}
			_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
		}
	}
}

// noCore keeps this process, and all that come of it, from writing their
// memory to a file when they crash.
func noCore() error {
	var none [2]uint64
	_, _, e := syscall.RawSyscall6(sysPrlimit, 0, syscall.RLIMIT_CORE, uintptr(unsafe.Pointer(&none)), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// makeFolders makes path and its parents.
func makeFolders(path string) error {
	for i := 1; i <= len(path); i++ {
		if i == len(path) || path[i] == '/' {
			if err := syscall.Mkdir(path[:i], 0o755); err != nil && err != syscall.EEXIST {
				return wrap("making "+path[:i], err)
			}
		}
	}
	return nil
}

func parentOf(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "/"
}

// below says that path is dir or lies in it.
func below(path, dir string) bool {
	return path == dir || len(path) > len(dir) && path[:len(dir)] == dir && path[len(dir)] == '/'
}
