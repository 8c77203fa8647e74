package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// system probes what a fence can be built from.
func system(ctx context.Context) []Fact {
	return []Fact{kernel(), openat2(), landlock(), seccomp(), userNamespaces(ctx)}
}

func kernel() Fact {
	f := Fact{Group: "machine", Name: "kernel"}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		f.State, f.Value = Unknown, err.Error()
		return f
	}
	f.State, f.Value = OK, unix.ByteSliceToString(u.Release[:])
	return f
}

func openat2() Fact {
	f := Fact{Group: "fence", Name: "openat2", State: OK, Value: "paths are held beneath the workspace by the kernel"}
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		f.State, f.Value, f.Matters = Missing, err.Error(), "paths are walked one part at a time instead, which is slower"
		return f
	}
	_ = unix.Close(fd)
	return f
}

func landlock() Fact {
	f := Fact{Group: "fence", Name: "landlock"}
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		f.State, f.Value = Missing, errno.Error()
		f.Matters = "a command cannot be kept to some files without user namespaces"
		return f
	}
	f.State, f.Value = OK, fmt.Sprintf("ABI %d", abi)
	return f
}

func seccomp() Fact {
	f := Fact{Group: "fence", Name: "seccomp", State: OK, Value: "filters can be loaded"}
	// A filter that is not there is refused with EFAULT by a kernel that
	// could load one, and with EINVAL or ENOSYS by one that could not.
	const setModeFilter = 1 // SECCOMP_SET_MODE_FILTER
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, 0, 0)
	if !errors.Is(errno, unix.EFAULT) {
		f.State, f.Value, f.Matters = Missing, errno.Error(), "system calls of a command cannot be filtered"
	}
	return f
}

// userNamespaces starts a program in a namespace of its own: kernels and
// containers forbid that in half a dozen ways, and only the try tells.
func userNamespaces(ctx context.Context) Fact {
	f := Fact{Group: "fence", Name: "user namespaces"}
	program, err := exec.LookPath("true")
	if err != nil {
		f.State, f.Value = Unknown, "there is no program `true` to start in one"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, programTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Run(); err != nil {
		f.State, f.Value = Missing, reason(err)
		f.Matters = "a command cannot have a file system and a process table of its own"
		return f
	}
	f.State, f.Value = OK, "a program was started in its own"
	return f
}

func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// fileSystems names the file systems by their magic numbers.
var fileSystems = map[int64]string{
	unix.BTRFS_SUPER_MAGIC: "btrfs", unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs",
	unix.TMPFS_MAGIC: "tmpfs", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.NFS_SUPER_MAGIC: "nfs",
	unix.FUSE_SUPER_MAGIC: "fuse", unix.F2FS_SUPER_MAGIC: "f2fs", unix.SMB2_SUPER_MAGIC: "smb",
	unix.V9FS_MAGIC: "9p", unix.MSDOS_SUPER_MAGIC: "vfat", unix.RAMFS_MAGIC: "ramfs", 0x2fc12fc1: "zfs",
}

// fileSystem asks what the file system of dir is and what it has room for.
func fileSystem(group, dir string) []Fact {
	f := Fact{Group: group, Name: "file system"}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		f.State, f.Value = Unknown, err.Error()
		return []Fact{f}
	}
	name, known := fileSystems[int64(s.Type)]
	if !known {
		name = fmt.Sprintf("magic number %#x", s.Type)
	}
	f.State, f.Value = OK, fmt.Sprintf("%s, %s free", name, size(s.Bavail*uint64(s.Bsize)))
	switch {
	case s.Flags&unix.ST_RDONLY != 0:
		f.State, f.Value, f.Matters = Missing, f.Value+", mounted read-only", "no tool can write here"
	case !writable(dir):
		f.State, f.Value, f.Matters = Missing, f.Value+", not writable by this user", "no tool can write here"
	case name == "nfs" || name == "smb" || name == "9p" || name == "fuse":
		f.Matters = "a file may change on another machine without this one being told"
	}
	return []Fact{f}
}
