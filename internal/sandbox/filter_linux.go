//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"
)

// filterPolicy is what the seccomp filter holds beyond what it always does.
type filterPolicy struct {
	families []uint32 // socket families that may be made
	// streamsOnly allows internet sockets for plain TCP alone, where Landlock
	// watches connect and knows of no other protocol.
	streamsOnly bool
	// ownIPC allows System V and POSIX message queues, segments and semaphores,
	// where the fence has an IPC namespace, so that they are not the machine's.
	ownIPC bool
}

// sharedIPC are the calls that reach what the processes of a machine share under
// numbers and names that are no paths.
func sharedIPC() []uint32 {
	return []uint32{
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
		unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	}
}

// refused are system calls that no development tool needs and that reach past
// the fence: into other processes, the kernel, mounts, or around the filter
// itself (io_uring makes sockets that seccomp does not see).
func refused() []uint32 {
	list := []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
		unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT, unix.SYS_SYSLOG,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_LSM_SET_SELF_ATTR,
	}
	return append(list, refusedHere...)
}

// newNamespaces are the flags of clone and unshare that make a namespace. In a
// user namespace of its own a command would have every capability again.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// refusedClone are the flags that clone refuses. With CLONE_PARENT a command
// would make a sibling of itself: a child of the process that started it, which
// waits for the command alone, and takes its slot for empty when it ended.
const refusedClone = newNamespaces | unix.CLONE_PARENT

// assembler writes classic BPF.
type assembler struct{ code []byte }

func (a *assembler) op(code uint16, yes, no uint8, k uint32) {
	a.code = binary.NativeEndian.AppendUint16(a.code, code)
	a.code = append(a.code, yes, no)
	a.code = binary.NativeEndian.AppendUint32(a.code, k)
}

// Offsets in struct seccomp_data. The low half of an argument comes first on
// the little-endian machines that there is a filter for.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
)

func (a *assembler) load(offset uint32)       { a.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset) }
func (a *assembler) arg(n uint32)             { a.load(dataArgs + 8*n) }
func (a *assembler) equal(k uint32, y, n int) { a.op(unix.BPF_JMP|unix.BPF_JEQ, uint8(y), uint8(n), k) }
func (a *assembler) bits(k uint32, y, n int)  { a.op(unix.BPF_JMP|unix.BPF_JSET, uint8(y), uint8(n), k) }
func (a *assembler) fail(e unix.Errno)        { a.ret(unix.SECCOMP_RET_ERRNO | uint32(e)) }
func (a *assembler) allow()                   { a.ret(unix.SECCOMP_RET_ALLOW) }
func (a *assembler) ret(k uint32)             { a.op(unix.BPF_RET, 0, 0, k) }

// filter assembles the seccomp filter. What is not refused is allowed: a list of
// what is allowed would break with each new libc, and the mounts, the missing
// capabilities and Landlock hold without it.
func filter(p filterPolicy) []byte {
	a := &assembler{code: make([]byte, 0, 8*200)}
	a.load(dataArch)
	a.equal(auditArch, 1, 0)
	a.fail(unix.ENOSYS) // 32-bit calls have other numbers
	a.load(dataNumber)
	if runtime.GOARCH == "amd64" {
		a.op(unix.BPF_JMP|unix.BPF_JGE, 0, 1, 0x40000000)
		a.fail(unix.ENOSYS) // x32 as well
	}
	// The flags of clone3 lie in memory, where a filter cannot look. A libc that
	// is told that there is no clone3 takes clone.
	a.equal(unix.SYS_CLONE3, 0, 1)
	a.fail(unix.ENOSYS)
	list := refused()
	if !p.ownIPC {
		list = append(list, sharedIPC()...)
	}
	for _, n := range list {
		a.equal(n, 0, 1)
		a.fail(unix.EPERM)
	}
	for _, c := range []struct{ number, flags uint32 }{{unix.SYS_CLONE, refusedClone}, {unix.SYS_UNSHARE, newNamespaces | unix.CLONE_NEWTIME}} {
		a.equal(c.number, 0, 4)
		a.arg(0)
		a.bits(c.flags, 0, 1)
		a.fail(unix.EPERM)
		a.allow()
	}
	// Typing into a terminal that somebody else reads from.
	a.equal(unix.SYS_IOCTL, 0, 5)
	a.arg(1)
	a.equal(unix.TIOCSTI, 1, 0)
	a.equal(tioclinux, 0, 1)
	a.fail(unix.EPERM)
	a.allow()
	a.sockets(p)
	a.allow()
	return a.code
}

const tioclinux = 0x541C // TIOCLINUX of <asm-generic/ioctls.h>

// sockets refuses every family that is not listed: AF_VSOCK, AF_ALG, AF_PACKET
// and their like would be ways round a network namespace.
func (a *assembler) sockets(p filterPolicy) {
	if p.streamsOnly {
		// Sending with MSG_FASTOPEN connects without connect.
		for _, c := range []struct{ number, arg uint32 }{{unix.SYS_SENDTO, 3}, {unix.SYS_SENDMSG, 2}, {unix.SYS_SENDMMSG, 3}} {
			a.equal(c.number, 0, 4)
			a.arg(c.arg)
			a.bits(unix.MSG_FASTOPEN, 0, 1)
			a.fail(unix.EPERM)
			a.allow()
		}
	}
	body := &assembler{}
	body.arg(0)
	for _, f := range p.families {
		if p.streamsOnly && (f == unix.AF_INET || f == unix.AF_INET6) {
			body.equal(f, 0, 9)
			body.arg(1)
			body.op(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0, 0, 0xf)
			body.equal(unix.SOCK_STREAM, 1, 0)
			body.fail(unix.EPERM)
			body.arg(2)
			body.equal(0, 2, 0)
			body.equal(unix.IPPROTO_TCP, 1, 0)
			body.fail(unix.EPERM)
			body.allow()
			continue
		}
		body.equal(f, 0, 1)
		body.allow()
	}
	body.fail(unix.EPERM)
	a.equal(unix.SYS_SOCKET, 0, len(body.code)/8)
	a.code = append(a.code, body.code...)
}
