//go:build amd64 || arm64

package sandbox

import (
	"golang.org/x/sys/unix"

	"github.com/handrail-tools/handrail/internal/sandbox/boot"
)

// Versions of Landlock from which it holds more, from the kernel's
// Documentation/userspace-api/landlock.rst.
const (
	abiRefer    = 2
	abiTruncate = 3
	abiNet      = 4
	abiIoctl    = 5
	abiScope    = 6
	abiUnix     = 9
	abiUDP      = 10
)

// landlockABI asks the kernel; 0 means that it has no Landlock.
func landlockABI() int {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

const (
	readAccess   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	deviceAccess = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// nodeAccess is given to nobody: making device nodes.
	nodeAccess = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// fileAccess returns every right to files that a kernel of this ABI holds.
func fileAccess(abi int) uint64 {
	all := uint64(1)<<13 - 1
	for _, v := range []struct {
		abi int
		bit uint64
	}{
		{abiRefer, unix.LANDLOCK_ACCESS_FS_REFER},
		{abiTruncate, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{abiIoctl, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{abiUnix, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
	} {
		if abi >= v.abi {
			all |= v.bit
		}
	}
	return all
}

// rulesetFor returns what Landlock shall hold. writable are folders, devices
// what may be written to without being made. port is that of a proxy on the
// machine's loopback, or 0.
func rulesetFor(p Policy, abi int, writable, devices []string, port uint16) boot.Ruleset {
	if abi == 0 || p.Mode == FullAccess {
		return boot.Ruleset{}
	}
	r := boot.Ruleset{FS: fileAccess(abi)}
	r.Rules = append(r.Rules, boot.Rule{Path: "/", Access: readAccess})
	for _, path := range devices {
		r.Rules = append(r.Rules, boot.Rule{Path: path, Access: deviceAccess & r.FS})
	}
	for _, path := range writable {
		r.Rules = append(r.Rules, boot.Rule{Path: path, Access: r.FS &^ nodeAccess})
	}
	if abi >= abiScope {
		r.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	if abi >= abiNet && (p.Network == NetOff || port != 0) {
		r.Net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		if abi >= abiUDP {
			r.Net |= unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP
		}
		if port != 0 {
			r.Ports = []uint64{uint64(port)}
		}
	}
	return r
}

// families returns the socket families that a policy gives.
func families(p Policy, inet bool) []uint32 {
	var f []uint32
	if p.UnixSockets || p.Mode == FullAccess {
		f = append(f, unix.AF_UNIX)
	}
	if inet {
		f = append(f, unix.AF_INET, unix.AF_INET6)
	}
	if inet && p.Network != NetProxy {
		f = append(f, unix.AF_NETLINK) // the resolver and `ip` ask for interfaces
	}
	return f
}
