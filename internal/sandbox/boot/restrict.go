//go:build linux && (amd64 || arm64)

package boot

import (
	"syscall"
	"unsafe"
)

// A Rule allows Access, bits of landlock_access_fs, beneath Path.
type Rule struct {
	Path   string
	Access uint64
}

// A Ruleset is what Landlock shall hold: FS and Net are the accesses that are
// refused unless a rule allows them, Scoped what may not leave the domain, Ports
// the TCP ports that may be connected to although Net refuses connecting. The
// caller leaves out what its kernel does not know.
type Ruleset struct {
	FS, Net, Scoped uint64
	Rules           []Rule
	Ports           []uint64
}

// Empty says that there is nothing to hold.
func (r *Ruleset) Empty() bool { return r.FS|r.Net|r.Scoped == 0 }

type rulesetAttr struct{ fs, net, scoped uint64 }

// Make makes the kernel's ruleset and returns its descriptor. A rule whose path
// is missing is left out: it can only allow less.
func (r *Ruleset) Make() (int, error) {
	attr := rulesetAttr{r.FS, r.Net, r.Scoped}
	size := unsafe.Sizeof(attr) // older kernels take a longer struct when its tail is zero
	fd, _, e := syscall.Syscall(sysLandlockCreate, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return -1, &trouble{"making the Landlock ruleset", e}
	}
	for _, rule := range r.Rules {
		dir, err := syscall.Open(rule.Path, oPath|syscall.O_CLOEXEC, 0)
		if err == syscall.ENOENT {
			continue
		}
		if err == nil {
			err = addPath(int(fd), dir, rule.Access&r.FS)
			syscall.Close(dir)
		}
		if err != nil {
			syscall.Close(int(fd))
			return -1, wrap("the Landlock rule for "+rule.Path, err)
		}
	}
	for _, port := range r.Ports {
		a := [2]uint64{2 /* LANDLOCK_ACCESS_NET_CONNECT_TCP */, port}
		if _, _, e := syscall.Syscall6(sysLandlockAdd, fd, 2 /* LANDLOCK_RULE_NET_PORT */, uintptr(unsafe.Pointer(&a)), 0, 0, 0); e != 0 {
			syscall.Close(int(fd))
			return -1, &trouble{"the Landlock rule for the proxy's port", e}
		}
	}
	return int(fd), nil
}

// fileAccess are the bits that a rule for a file, not a folder, may have:
// execute, write, read, truncate and ioctl.
const fileAccess = 1<<0 | 1<<1 | 1<<2 | 1<<14 | 1<<15

func addPath(ruleset, dir int, access uint64) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(dir, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		access &= fileAccess
	}
	if access == 0 {
		return nil
	}
	// struct landlock_path_beneath_attr is packed: 8 bytes and 4.
	var a [3]uint32
	a[0], a[1], a[2] = uint32(access), uint32(access>>32), uint32(dir)
	_, _, e := syscall.Syscall6(sysLandlockAdd, uintptr(ruleset), 1 /* LANDLOCK_RULE_PATH_BENEATH */, uintptr(unsafe.Pointer(&a)), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// DropCapabilities takes every capability from the calling thread, and the
// possibility to have one again by running a program.
func DropCapabilities() error {
	_ = prctl(47 /* PR_CAP_AMBIENT */, 4 /* PR_CAP_AMBIENT_CLEAR_ALL */, 0) // EINVAL: an old kernel has none
	for c := uintptr(0); c < 64; c++ {
		if err := prctl(24 /* PR_CAPBSET_DROP */, c, 0); err == syscall.EINVAL {
			break // past the last one
		}
		// EPERM: a thread without CAP_SETPCAP cannot gain by the set either, once
		// no_new_privs is on.
	}
	header := struct {
		version uint32
		pid     int32
	}{version: 0x20080522}
	var none [6]uint32
	if _, _, e := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0); e != 0 {
		return &trouble{"dropping capabilities", e}
	}
	return nil
}

// RestrictThread narrows the calling thread for ever: no new privileges, the
// Landlock ruleset unless it is negative, and the seccomp filter, given as the
// kernel's 8 byte instructions. The caller has locked itself to the thread.
func RestrictThread(ruleset int, filter []byte) error {
	if err := prctl(38 /* PR_SET_NO_NEW_PRIVS */, 1, 0); err != nil {
		return wrap("no_new_privs", err)
	}
	if ruleset >= 0 {
		if _, _, e := syscall.RawSyscall(sysLandlockSelf, uintptr(ruleset), 0, 0); e != 0 {
			return &trouble{"putting on Landlock", e}
		}
	}
	if len(filter) == 0 {
		return nil
	}
	prog := struct {
		n    uint16
		code unsafe.Pointer
	}{uint16(len(filter) / 8), unsafe.Pointer(&filter[0])}
	if _, _, e := syscall.RawSyscall(sysSeccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return &trouble{"putting on seccomp", e}
	}
	return nil
}
