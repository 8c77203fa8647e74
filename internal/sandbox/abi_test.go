//go:build linux && (amd64 || arm64)

package sandbox

import (
	"math/bits"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestF118_OlderKernels holds that what an older Landlock lacks is refused or
// named, and never asked of it.
func TestF118_OlderKernels(t *testing.T) {
	p := Policy{Mode: WorkspaceWrite, Workspace: "/w", Network: NetOff, UnixSockets: true}
	// The bits that each version added, from the kernel's documentation.
	known := []int{0, 13, 14, 15, 15, 16, 16, 16, 16, 17, 17}
	for abi, most := range known {
		why := landlockMissing(p, abi)
		if (why != "") != (abi < abiTruncate) {
			t.Errorf("ABI %d: %q", abi, why)
		}
		r := rulesetFor(p, abi, []string{"/w"}, []string{"/dev/null"}, 0)
		if abi == 0 {
			if !r.Empty() {
				t.Errorf("a ruleset without Landlock: %+v", r)
			}
			continue
		}
		if n := bits.Len64(r.FS); n != most {
			t.Errorf("ABI %d: %d rights to files, want %d", abi, n, most)
		}
		if (r.Net != 0) != (abi >= abiNet) || (r.Scoped != 0) != (abi >= abiScope) {
			t.Errorf("ABI %d: %+v", abi, r)
		}
		for _, rule := range r.Rules {
			if rule.Access&^r.FS != 0 {
				t.Errorf("ABI %d: the rule for %s has rights that are not held", abi, rule.Path)
			}
			if rule.Access&nodeAccess != 0 {
				t.Errorf("ABI %d: device nodes may be made in %s", abi, rule.Path)
			}
			if rule.Path == "/w" && abi >= abiRefer && rule.Access&unix.LANDLOCK_ACCESS_FS_REFER == 0 {
				t.Errorf("F114 ABI %d: renames between folders are not allowed in the workspace", abi)
			}
		}
		open := strings.Join(landlockOpen(p, abi), " ")
		for gap, from := range map[string]int{"signalled": abiScope, "Devices": abiIoctl, "Unix sockets outside": abiUnix} {
			if strings.Contains(open, gap) != (abi < from) {
				t.Errorf("ABI %d: %q named: %v", abi, gap, strings.Contains(open, gap))
			}
		}
	}
	if landlockMissing(Policy{Network: NetProxy}, 3) == "" {
		t.Error("a proxy with a Landlock that does not know ports")
	}
}

// TestF113_OwnList holds that what is protected is the caller's list alone.
func TestF113_OwnList(t *testing.T) {
	root, _ := workspace(t)
	write(t, root+"/.vscode/settings.json", "{}")
	write(t, root+"/.git/hooks/x", "")
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root, Protected: []string{".vscode/"}})
	if r := sh(t, f, "echo x > .vscode/settings.json"); r.Code == 0 {
		t.Error("a listed path was changed")
	}
	f = open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root})
	if r := sh(t, f, "echo x > .vscode/settings.json && echo x > .git/hooks/x && rm -r .vscode"); r.Code != 0 {
		t.Errorf("a path that is not listed could not be changed: %s", r.out)
	}
}

// TestFilter runs over the assembled program as the kernel would, for the
// answers that matter.
func TestFilter(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy filterPolicy
		call   uint32
		args   [3]uint32
		want   uint32
	}{
		{"read", filterPolicy{}, unix.SYS_READ, [3]uint32{}, unix.SECCOMP_RET_ALLOW},
		{"ptrace", filterPolicy{}, unix.SYS_PTRACE, [3]uint32{}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"clone3", filterPolicy{}, unix.SYS_CLONE3, [3]uint32{}, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{"a thread", filterPolicy{}, unix.SYS_CLONE, [3]uint32{unix.CLONE_VM | unix.CLONE_THREAD}, unix.SECCOMP_RET_ALLOW},
		{"a namespace", filterPolicy{}, unix.SYS_CLONE, [3]uint32{unix.CLONE_NEWUSER}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"TCP, none given", filterPolicy{}, unix.SYS_SOCKET, [3]uint32{unix.AF_INET, unix.SOCK_STREAM}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"unix, none given", filterPolicy{}, unix.SYS_SOCKET, [3]uint32{unix.AF_UNIX, unix.SOCK_STREAM}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"unix", filterPolicy{families: []uint32{unix.AF_UNIX}}, unix.SYS_SOCKET, [3]uint32{unix.AF_UNIX, unix.SOCK_DGRAM}, unix.SECCOMP_RET_ALLOW},
		{"UDP where only streams go", filterPolicy{families: []uint32{unix.AF_INET}, streamsOnly: true}, unix.SYS_SOCKET, [3]uint32{unix.AF_INET, unix.SOCK_DGRAM}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"TCP where only streams go", filterPolicy{families: []uint32{unix.AF_INET6, unix.AF_INET}, streamsOnly: true}, unix.SYS_SOCKET, [3]uint32{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, unix.IPPROTO_TCP}, unix.SECCOMP_RET_ALLOW},
		{"multipath TCP where only streams go", filterPolicy{families: []uint32{unix.AF_INET}, streamsOnly: true}, unix.SYS_SOCKET, [3]uint32{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"another family where only streams go", filterPolicy{families: []uint32{unix.AF_INET}, streamsOnly: true}, unix.SYS_SOCKET, [3]uint32{unix.AF_VSOCK, unix.SOCK_STREAM}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"fast open where only streams go", filterPolicy{families: []uint32{unix.AF_INET}, streamsOnly: true}, unix.SYS_SENDMSG, [3]uint32{0, 0, unix.MSG_FASTOPEN}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"typing into a terminal", filterPolicy{}, unix.SYS_IOCTL, [3]uint32{0, unix.TIOCSTI}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"its size", filterPolicy{}, unix.SYS_IOCTL, [3]uint32{0, unix.TIOCGWINSZ}, unix.SECCOMP_RET_ALLOW},
	} {
		if got := interpret(t, filter(c.policy), auditArch, c.call, c.args); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
	if got := interpret(t, filter(filterPolicy{}), unix.AUDIT_ARCH_I386, unix.SYS_READ, [3]uint32{}); got != unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS) {
		t.Errorf("another architecture: %#x", got)
	}
}

// interpret runs the instructions that the assembler writes.
func interpret(t *testing.T, code []byte, arch, call uint32, args [3]uint32) uint32 {
	t.Helper()
	data := map[uint32]uint32{dataNumber: call, dataArch: arch}
	for i, a := range args {
		data[dataArgs+8*uint32(i)] = a
	}
	var acc uint32
	for at := 0; at+8 <= len(code); at += 8 {
		op := uint16(code[at]) | uint16(code[at+1])<<8
		k := uint32(code[at+4]) | uint32(code[at+5])<<8 | uint32(code[at+6])<<16 | uint32(code[at+7])<<24
		var yes bool
		switch op {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = data[k]
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= k
			continue
		case unix.BPF_RET:
			return k
		case unix.BPF_JMP | unix.BPF_JEQ:
			yes = acc == k
		case unix.BPF_JMP | unix.BPF_JGE:
			yes = acc >= k
		case unix.BPF_JMP | unix.BPF_JSET:
			yes = acc&k != 0
		default:
			t.Fatalf("instruction %#x", op)
		}
		if yes {
			at += 8 * int(code[at+2])
		} else {
			at += 8 * int(code[at+3])
		}
	}
	t.Fatal("the program has no end")
	return 0
}
