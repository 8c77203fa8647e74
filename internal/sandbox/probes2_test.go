//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func processProbes() []probe {
	return []probe{
		{"signal a process outside", func(s *scene) error { return unix.Kill(s.victim, unix.SIGUSR1) }},
		{"signal 0 to a process outside", func(s *scene) error { return unix.Kill(s.victim, 0) }},
		{"signal a group outside", func(s *scene) error { return unix.Kill(-s.victim, unix.SIGUSR1) }},
		{"signal a thread outside", func(s *scene) error { return unix.Tgkill(s.victim, s.victim, unix.SIGUSR1) }},
		{"queue a signal outside", func(s *scene) error {
			var info [128]byte
			*(*int32)(unsafe.Pointer(&info[8])) = -1 // SI_QUEUE
			return call(unix.SYS_RT_SIGQUEUEINFO, uintptr(s.victim), uintptr(unix.SIGUSR1), uintptr(unsafe.Pointer(&info)))
		}},
		{"pidfd of a process outside", func(s *scene) error {
			fd, err := unix.PidfdOpen(s.victim, 0)
			if err != nil {
				return err
			}
			return unix.PidfdSendSignal(fd, unix.SIGUSR1, nil, 0)
		}},
		{"steal a descriptor", func(s *scene) error {
			fd, err := unix.PidfdOpen(s.victim, 0)
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, 0, 0)
			return err
		}},
		{"have the kernel signal outside", func(s *scene) error {
			p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			// F_SETOWN with O_ASYNC sends SIGIO; the number must mean something here.
			if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETOWN, s.victim); err != nil {
				return err
			}
			owner, err := unix.FcntlInt(uintptr(p[0]), unix.F_GETOWN, 0)
			if err == nil && owner == 0 {
				err = syscall.ESRCH
			}
			if err != nil {
				return err
			}
			return unix.Kill(s.victim, 0) // the right is checked when the signal is sent
		}},
		{"attach to a process outside", func(s *scene) error {
			err := call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(s.victim), 0, 0)
			if err == nil {
				_ = call(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(s.victim), 0, 0)
			}
			return err
		}},
		{"attach to its own child", func(*scene) error {
			c := exec.Command("/bin/sleep", "5")
			if err := c.Start(); err != nil {
				return err
			}
			defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
			return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(c.Process.Pid), 0, 0)
		}},
		{"attach to PID 1", func(*scene) error {
			err := call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, 1, 0, 0)
			if err == nil {
				_ = call(unix.SYS_PTRACE, unix.PTRACE_DETACH, 1, 0, 0)
			}
			return err
		}},
		{"read memory outside", func(s *scene) error { return vm(unix.SYS_PROCESS_VM_READV, s.victim) }},
		{"write memory outside", func(s *scene) error { return vm(unix.SYS_PROCESS_VM_WRITEV, s.victim) }},
		{"open /proc/PID/mem outside", func(s *scene) error { return openFor(fmt.Sprintf("/proc/%d/mem", s.victim), os.O_RDWR) }},
		{"read /proc/PID/environ outside", func(s *scene) error { return readSome(fmt.Sprintf("/proc/%d/environ", s.victim)) }},
		{"read the owner's environ", func(s *scene) error { return readSome(fmt.Sprintf("/proc/%d/environ", s.owner)) }},
		{"F059 read the parent's environ", func(*scene) error {
			return readSome(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
		}},
		{"see the command line of a process outside", func(s *scene) error {
			return readSome(fmt.Sprintf("/proc/%d/cmdline", s.victim))
		}},
		{"open /proc/1/mem", func(*scene) error { return openFor("/proc/1/mem", os.O_RDWR) }},
		{"read /proc/1/environ", func(*scene) error { return readSome("/proc/1/environ") }},
		{"open a descriptor of PID 1", func(*scene) error {
			_, err := os.Readlink("/proc/1/fd/0")
			return err
		}},
		{"kcmp", func(s *scene) error {
			return call(unix.SYS_KCMP, uintptr(s.victim), uintptr(s.victim), 0, 0, 0)
		}},
		{"priority of a process outside", func(s *scene) error { return unix.Setpriority(unix.PRIO_PROCESS, s.victim, 1) }},
		{"I/O priority outside", func(s *scene) error { return call(unix.SYS_IOPRIO_SET, 1, uintptr(s.victim), 2<<13|7) }},
		{"affinity of a process outside", func(s *scene) error {
			var set unix.CPUSet
			set.Set(0)
			return unix.SchedSetaffinity(s.victim, &set)
		}},
		{"limits of a process outside", func(s *scene) error {
			var lim unix.Rlimit
			if err := unix.Prlimit(s.victim, unix.RLIMIT_CORE, nil, &lim); err != nil {
				return err
			}
			return unix.Prlimit(s.victim, unix.RLIMIT_CORE, &lim, nil)
		}},
		{"a System V segment outside", func(s *scene) error {
			_, err := callN(unix.SYS_SHMGET, uintptr(s.shmKey), 0, 0)
			return err
		}},
		{"map a System V segment by its number", func(s *scene) error {
			_, err := callN(unix.SYS_SHMAT, uintptr(s.shmID), 0, unix.SHM_RDONLY)
			return err
		}},
		{"a System V queue outside", func(s *scene) error {
			_, err := callN(unix.SYS_MSGGET, uintptr(s.shmKey), 0)
			return err
		}},
		{"a POSIX queue outside", func(s *scene) error {
			_, err := callN(unix.SYS_MQ_OPEN, str(s.abstract), unix.O_RDWR, 0, 0)
			return err
		}},
		{"size of a hidden file", func(s *scene) error {
			info, err := os.Stat(s.hidden + "/key")
			if err == nil && info.Size() == 0 {
				return unix.ENOENT // what lies over it
			}
			return err
		}},
		{"lower its own oom score", func(*scene) error { return os.WriteFile("/proc/self/oom_score_adj", []byte("-500"), 0o644) }},
		{"write its own uid_map", func(*scene) error {
			return os.WriteFile("/proc/self/uid_map", []byte("0 0 1"), 0o644)
		}},
		{"kill PID 1", func(*scene) error {
			if os.Getppid() != 1 && os.Getpid() > 20 {
				return errSkip // that would be the machine's
			}
			if err := unix.Kill(1, unix.SIGKILL); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
			return syscall.EPERM // still here
		}},
	}
}

func vm(n uintptr, pid int) error {
	var b [8]byte
	local := unix.Iovec{Base: &b[0], Len: 8}
	remote := unix.RemoteIovec{Base: 0x1000, Len: 8}
	// EFAULT says that the right was there and the address was not.
	return allowed(call(n, uintptr(pid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0), unix.EFAULT)
}

func kernelProbes() []probe {
	return []probe{
		{"io_uring", func(*scene) error {
			var params [120]byte
			return call(unix.SYS_IO_URING_SETUP, 2, uintptr(unsafe.Pointer(&params)))
		}},
		{"bpf", func(*scene) error { return allowed(call(unix.SYS_BPF, 5, 0, 0), unix.EINVAL, unix.EFAULT) }},
		{"perf_event_open", func(*scene) error {
			attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
			_, err := unix.PerfEventOpen(&attr, 0, -1, -1, 0)
			return allowed(err, unix.ENOENT)
		}},
		{"userfaultfd", func(*scene) error { return call(unix.SYS_USERFAULTFD, 1) }},
		{"keyctl", func(*scene) error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
			return allowed(err, unix.ENOKEY)
		}},
		{"add_key", func(*scene) error {
			_, err := unix.AddKey("user", "handrail", []byte("x"), unix.KEY_SPEC_THREAD_KEYRING)
			return err
		}},
		{"request_key", func(*scene) error {
			_, err := unix.RequestKey("user", "handrail-none", "", 0)
			return allowed(err, unix.ENOKEY)
		}},
		{"init_module", func(*scene) error {
			return allowed(call(unix.SYS_INIT_MODULE, 0, 0, 0), unix.EFAULT, unix.ENOEXEC, unix.EINVAL)
		}},
		{"finit_module", func(*scene) error {
			return allowed(call(unix.SYS_FINIT_MODULE, ^uintptr(0), 0, 0), unix.EFAULT, unix.EBADF)
		}},
		{"delete_module", func(*scene) error { return allowed(call(unix.SYS_DELETE_MODULE, str("handrail_none"), 0), unix.ENOENT) }},
		{"kexec_load", func(*scene) error { return allowed(call(unix.SYS_KEXEC_LOAD, 0, 99999, 0, 0), unix.EINVAL) }},
		{"kexec_file_load", func(*scene) error {
			return allowed(call(unix.SYS_KEXEC_FILE_LOAD, ^uintptr(0), ^uintptr(0), 0, 0, 1<<20), unix.EINVAL)
		}},
		{"swapon", func(s *scene) error { return allowed(call(unix.SYS_SWAPON, str(s.ws+"/none"), 0), unix.ENOENT) }},
		{"swapoff", func(s *scene) error { return allowed(call(unix.SYS_SWAPOFF, str(s.ws+"/none")), unix.ENOENT) }},
		{"reboot", func(*scene) error { return allowed(call(unix.SYS_REBOOT, 1, 1, 1), unix.EINVAL) }},
		{"quotactl", func(s *scene) error {
			return allowed(call(unix.SYS_QUOTACTL, 0x80000300, str(s.ws), 0, 0), unix.ENOTBLK, unix.ENOENT, unix.EINVAL, unix.ESRCH)
		}},
		{"acct", func(s *scene) error { return allowed(call(unix.SYS_ACCT, str(s.ws+"/none")), unix.ENOENT) }},
		{"read the kernel log", func(*scene) error { return call(unix.SYS_SYSLOG, 10, 0, 0) }},
		{"settimeofday", func(*scene) error {
			bad := unix.Timeval{Usec: -5}
			return allowed(call(unix.SYS_SETTIMEOFDAY, uintptr(unsafe.Pointer(&bad)), 0), unix.EINVAL)
		}},
		{"clock_settime", func(*scene) error {
			bad := unix.Timespec{Nsec: -5}
			return allowed(call(unix.SYS_CLOCK_SETTIME, 0, uintptr(unsafe.Pointer(&bad))), unix.EINVAL)
		}},
		{"adjtimex", func(*scene) error {
			_, err := unix.Adjtimex(&unix.Timex{Modes: 0x4000 /* ADJ_TICK */, Tick: 1})
			return allowed(err, unix.EINVAL)
		}},
		{"sethostname", func(*scene) error { return allowed(call(unix.SYS_SETHOSTNAME, 0, ^uintptr(0)), unix.EINVAL) }},
		{"setdomainname", func(*scene) error { return allowed(call(unix.SYS_SETDOMAINNAME, 0, ^uintptr(0)), unix.EINVAL) }},
		{"fanotify", func(*scene) error { _, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF, 0); return err }},
		{"iopl", onlyAMD64(func(*scene) error { return call(172, 3) })},
		{"ioperm", onlyAMD64(func(*scene) error { return call(173, 0x80, 1, 1) })},
		{"an x32 call", onlyAMD64(func(*scene) error { return call(0x40000000 + 39) })},
		{"raise a capability", func(*scene) error {
			hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			data := [2]unix.CapUserData{{Effective: 1 << unix.CAP_SYS_ADMIN, Permitted: 1 << unix.CAP_SYS_ADMIN}}
			return unix.Capset(&hdr, &data[0])
		}},
		{"raise an ambient capability", func(*scene) error {
			return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_KILL, 0, 0)
		}},
		{"drop from the bounding set", func(*scene) error { return unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_WAKE_ALARM, 0, 0, 0) }},
		{"setuid", func(*scene) error { return call(unix.SYS_SETRESUID, 12345, 12345, 12345) }},
		{"setgid", func(*scene) error { return call(unix.SYS_SETRESGID, 12345, 12345, 12345) }},
		{"setgroups", func(*scene) error { return call(unix.SYS_SETGROUPS, 0, 0) }},
		{"securebits", func(*scene) error { return unix.Prctl(unix.PR_SET_SECUREBITS, 0, 0, 0, 0) }},
		{"a negative nice value", func(*scene) error { return unix.Setpriority(unix.PRIO_PROCESS, 0, -10) }},
		{"real-time scheduling", func(*scene) error {
			param := int32(1)
			return call(unix.SYS_SCHED_SETSCHEDULER, 0, 1, uintptr(unsafe.Pointer(&param)))
		}},
		{"raise a hard limit", func(*scene) error {
			var lim unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_CORE, &lim); err != nil {
				return err
			}
			if lim.Max == unix.RLIM_INFINITY {
				return errSkip
			}
			lim.Max = unix.RLIM_INFINITY
			return unix.Setrlimit(unix.RLIMIT_CORE, &lim)
		}},
		{"a character device in the workspace", func(s *scene) error { return unix.Mknod(s.ws+"/null", unix.S_IFCHR|0o666, 0x103) }},
		{"a block device in the workspace", func(s *scene) error { return unix.Mknod(s.ws+"/disk", unix.S_IFBLK|0o666, 0xfe00) }},
		{"give a file away", func(s *scene) error { return os.Chown(s.ws+"/mine2", 12345, 12345) }},
		{"sudo", func(*scene) error { return started("sudo -n true") }},
		{"gain by a setuid program", func(s *scene) error {
			if os.Getuid() != 0 {
				return errSkip // it would ask for a password, and wait after a wrong one
			}
			return started("su -s /bin/true nobody </dev/null")
		}},
		{"F119 type into its terminal", func(*scene) error {
			m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				return fmt.Errorf("%w: %w", errSkip, err)
			}
			defer silent(m)
			b := byte('x')
			return allowed(call(unix.SYS_IOCTL, m.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&b))), unix.EIO)
		}},
		{"TIOCLINUX", func(*scene) error {
			m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				return fmt.Errorf("%w: %w", errSkip, err)
			}
			defer silent(m)
			b := [2]byte{2}
			return allowed(call(unix.SYS_IOCTL, m.Fd(), 0x541C, uintptr(unsafe.Pointer(&b))), unix.ENOTTY)
		}},
	}
}

func deviceProbes() []probe {
	write := func(path string) func(*scene) error {
		return func(*scene) error { return openFor(path, os.O_WRONLY) }
	}
	read := func(path string) func(*scene) error {
		return func(*scene) error { return openFor(path, os.O_RDONLY) }
	}
	var list []probe
	for _, dev := range []string{"vda", "sda", "nvme0n1", "mem", "kmsg", "kvm", "fuse", "net/tun", "loop-control", "vhost-net", "vsock", "hwrng", "rtc0", "console", "tty0", "tty1", "ttyS0", "port", "nvram", "uinput", "mapper/control", "cpu_dma_latency", "userfaultfd"} {
		list = append(list, probe{"open /dev/" + dev, func(*scene) error { return openFor("/dev/"+dev, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY) }})
	}
	return append(list, []probe{
		{"create in /dev", func(*scene) error {
			defer os.Remove("/dev/handrail-probe")
			return openFor("/dev/handrail-probe", os.O_CREATE|os.O_WRONLY)
		}},
		{"write core_pattern", write("/proc/sys/kernel/core_pattern")},
		{"write modprobe's path", write("/proc/sys/kernel/modprobe")},
		{"write the host name by /proc", write("/proc/sys/kernel/hostname")},
		{"write ip_forward", write("/proc/sys/net/ipv4/ip_forward")},
		{"write vm settings", write("/proc/sys/vm/swappiness")},
		{"write sysrq-trigger", write("/proc/sysrq-trigger")},
		{"read /proc/kcore", read("/proc/kcore")},
		{"read /proc/kmsg", func(*scene) error { return openFor("/proc/kmsg", os.O_RDONLY|unix.O_NONBLOCK) }},
		{"write uevent_helper", write("/sys/kernel/uevent_helper")},
		{"write /sys/power/state", write("/sys/power/state")},
		{"write a class of devices", write("/sys/block/vda/queue/read_ahead_kb")},
		{"make a cgroup", func(*scene) error {
			err := os.Mkdir("/sys/fs/cgroup/unified/handrail-probe", 0o755)
			_ = os.Remove("/sys/fs/cgroup/unified/handrail-probe")
			return err
		}},
		{"move itself to another cgroup", write("/sys/fs/cgroup/unified/cgroup.procs")},
		{"move itself to another cgroup, version 1", write("/sys/fs/cgroup/memory/cgroup.procs")},
		{"write a release agent", write("/sys/fs/cgroup/memory/release_agent")},
		{"look into the kernel's debugging", func(*scene) error { return someEntry("/sys/kernel/debug") }},
		{"look into the firmware", func(*scene) error { return someEntry("/sys/firmware") }},
	}...)
}

func someEntry(dir string) error {
	e, err := os.ReadDir(dir)
	if err == nil && len(e) == 0 {
		err = syscall.ENOENT
	}
	return err
}

func networkProbes() []probe {
	sock := func(domain, kind, proto int) func(*scene) error {
		return func(*scene) error { return socket(domain, kind, proto) }
	}
	list := []probe{
		{"TCP socket", sock(unix.AF_INET, unix.SOCK_STREAM, 0)},
		{"UDP socket", sock(unix.AF_INET, unix.SOCK_DGRAM, 0)},
		{"TCP socket, version 6", sock(unix.AF_INET6, unix.SOCK_STREAM, 0)},
		{"UDP socket, version 6", sock(unix.AF_INET6, unix.SOCK_DGRAM, 0)},
		{"raw socket", sock(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)},
		{"raw socket, version 6", sock(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6)},
		{"ping socket", sock(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP)},
		{"multipath TCP", sock(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)},
		{"SCTP", sock(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP)},
		{"UDP-Lite", sock(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE)},
		{"packet socket", sock(unix.AF_PACKET, unix.SOCK_RAW, 0)},
		{"netlink socket", sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)},
		{"audit socket", sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)},
		{"virtual machine socket", sock(unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
		{"kernel crypto socket", sock(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)},
		{"key socket", sock(unix.AF_KEY, unix.SOCK_RAW, 2)},
		{"XDP socket", sock(unix.AF_XDP, unix.SOCK_RAW, 0)},
		{"TIPC socket", sock(unix.AF_TIPC, unix.SOCK_STREAM, 0)},
		{"RDS socket", sock(unix.AF_RDS, unix.SOCK_SEQPACKET, 0)},
		{"CAN socket", sock(unix.AF_CAN, unix.SOCK_RAW, 1)},
		{"Bluetooth socket", sock(unix.AF_BLUETOOTH, unix.SOCK_RAW, 1)},
		{"QIPCRTR socket", sock(unix.AF_QIPCRTR, unix.SOCK_DGRAM, 0)},
		{"SMC socket", sock(unix.AF_SMC, unix.SOCK_STREAM, 0)},
		{"a family above the low half", func(*scene) error {
			// Only the low 32 bits of the argument mean something to the kernel.
			return call(unix.SYS_SOCKET, uintptr(unix.AF_INET)|1<<32, unix.SOCK_STREAM, 0)
		}},
		{"connect to the loopback", func(s *scene) error { return dial("tcp4", "127.0.0.1:"+s.port) }},
		{"F105 connect to the loopback, version 6", func(s *scene) error { return dial("tcp6", "[::1]:"+s.port6) }},
		{"F105 connect to a mapped loopback", func(s *scene) error { return dial("tcp", "[::ffff:127.0.0.1]:"+s.port) }},
		{"F105 connect to 0.0.0.0", func(s *scene) error { return dial("tcp4", "0.0.0.0:"+s.port) }},
		{"F105 connect to localhost", func(s *scene) error { return dial("tcp", "localhost:"+s.port) }},
		{"connect by shell", func(s *scene) error { return started("exec 3<>/dev/tcp/127.0.0.1/" + s.port) }},
		{"connect by TCP fast open", func(s *scene) error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			port, _ := strconv.Atoi(s.port)
			return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
		}},
		{"send a datagram", func(s *scene) error {
			c, err := net.Dial("udp4", "127.0.0.1:"+s.udp)
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.Write([]byte("probe"))
			if err == nil {
				// It was sent somewhere; the listener outside says whether it came.
				_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
				_, err = c.Read(make([]byte, 8))
			}
			return err
		}},
		{"ask a name server", func(s *scene) error {
			c, err := net.Dial("udp4", "127.0.0.1:"+s.udp)
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err := c.Write([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x01\x00\x01")); err != nil {
				return err
			}
			_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
			_, err = c.Read(make([]byte, 8))
			return err
		}},
		{"connect to a unix socket outside", func(s *scene) error { return dial("unix", s.unixSock) }},
		{"connect to a unix socket by a link", func(s *scene) error { return dial("unix", s.ws+"/to-sock") }},
		{"connect to a unix socket by /proc", func(s *scene) error { return dial("unix", "/proc/self/root"+s.unixSock) }},
		{"connect to a unix socket by a descriptor", func(s *scene) error {
			fd, err := unix.Open(s.unixSock, unix.O_PATH, 0)
			if err != nil {
				return err
			}
			return dial("unix", "/proc/self/fd/"+strconv.Itoa(fd))
		}},
		{"connect to an abstract socket", func(s *scene) error { return dial("unix", "@"+s.abstract) }},
		{"send to an abstract socket", func(s *scene) error { return dial("unixgram", "@"+s.abstract+"-dgram") }},
		{"send to an abstract socket by a pair", func(s *scene) error {
			p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(p[0], []byte("x"), 0, &unix.SockaddrUnix{Name: "@" + s.abstract + "-dgram"})
		}},
		{"listen where the network can see it", func(s *scene) error {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				return err
			}
			defer l.Close()
			// Only the machine's loopback has the listener outside.
			if err := dial("tcp4", "127.0.0.1:"+s.port); err != nil {
				return errors.Join(err, errors.New("a loopback of its own"))
			}
			return nil
		}},
	}
	return list
}

func allProbes() []probe {
	var all []probe
	for _, part := range [][]probe{fileProbes(), hiddenProbes(), protectedProbes(), mountProbes(), processProbes(), kernelProbes(), deviceProbes(), networkProbes(), lastProbes()} {
		all = append(all, part...)
	}
	return all
}

// lastProbes break the machine's view for those that come after them, where
// they succeed.
func lastProbes() []probe {
	return []probe{
		{"unmount /proc", func(*scene) error { return unix.Unmount("/proc", unix.MNT_DETACH) }},
	}
}
