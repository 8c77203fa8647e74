//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scene is what the probes aim at, all of it made for them. It reaches the
// probing process through its environment.
type scene struct {
	ws, out, hidden, secret string
	victim, owner           int    // processes outside: one to attack, and the test itself
	port, port6             string // TCP listeners outside, on the loopback of the machine
	udp                     string
	unixSock, abstract      string
	shmKey, shmID           int
	hostTmp                 string // a file in the machine's /tmp
	hostShm                 string // and one in its /dev/shm
}

// errSkip marks a probe that cannot be made on this machine or by this user.
var errSkip = errors.New("cannot be made")

// probe tries one way out. It returns nil when the way is open.
type probe struct {
	name string
	try  func(s *scene) error
}

func call(n uintptr, a ...uintptr) error {
	_, err := callN(n, a...)
	return err
}

func callN(n uintptr, a ...uintptr) (uintptr, error) {
	a = append(a, 0, 0, 0, 0, 0, 0)
	r, _, e := syscall.Syscall6(n, a[0], a[1], a[2], a[3], a[4], a[5])
	if e != 0 {
		return r, e
	}
	return r, nil
}

func str(s string) uintptr {
	p, err := syscall.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	return uintptr(unsafe.Pointer(p))
}

// allowed makes a probe of a call with arguments that cannot do anything: one
// of these errors says that the right to make it was there.
func allowed(err error, proof ...syscall.Errno) error {
	for _, e := range proof {
		if errors.Is(err, e) {
			return nil
		}
	}
	return err
}

func openFor(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o644)
	if err == nil {
		f.Close()
	}
	return err
}

// readSome reads the first byte: some files of /proc can be opened and are
// empty for those who may not read them.
func readSome(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer silent(f)
	_, err = f.Read(make([]byte, 1))
	if errors.Is(err, io.EOF) {
		err = syscall.ENODATA
	}
	return err
}

func socket(domain, kind, proto int) error {
	s, err := unix.Socket(domain, kind, proto)
	if err == nil {
		unix.Close(s)
	}
	return err
}

func dial(network, addr string) error {
	c, err := net.DialTimeout(network, addr, time.Second)
	if err == nil {
		c.Close()
	}
	return err
}

// started runs a program and says whether it could do what it was to do.
func started(script string) error {
	c := exec.Command("/bin/bash", "-c", script)
	out, err := c.CombinedOutput()
	if err != nil {
		text := strings.TrimSpace(string(out))
		if strings.Contains(text, "not found") {
			return fmt.Errorf("%w: %s", errSkip, text)
		}
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

func cloned(flags uintptr) error {
	c := exec.Command("/bin/true")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	return c.Run()
}

// race swaps a folder for a link to the outside while it writes through it.
func race(s *scene, name string) error {
	dir, link := s.ws+"/race-"+name, s.ws+"/link-"+name
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.Symlink(s.out, link); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	}()
	defer close(stop)
	for i := range 300 {
		_ = os.WriteFile(dir+"/raced-"+name+strconv.Itoa(i%5), []byte("x"), 0o644)
	}
	if m, _ := filepath.Glob(s.out + "/raced-" + name + "*"); len(m) > 0 {
		return nil
	}
	return syscall.EACCES
}

func fileProbes() []probe {
	return []probe{
		{"create outside", func(s *scene) error { return openFor(s.out+"/new", os.O_CREATE|os.O_WRONLY|os.O_EXCL) }},
		{"append outside", func(s *scene) error { return openFor(s.out+"/file", os.O_WRONLY|os.O_APPEND) }},
		{"open read-write outside", func(s *scene) error { return openFor(s.out+"/file", os.O_RDWR) }},
		{"open with O_TRUNC outside", func(s *scene) error { return openFor(s.out+"/trunc", os.O_RDWR|os.O_TRUNC) }},
		{"truncate(2) outside", func(s *scene) error { return os.Truncate(s.out+"/trunc2", 1) }},
		{"mkdir outside", func(s *scene) error { return os.Mkdir(s.out+"/newdir", 0o755) }},
		{"rmdir outside", func(s *scene) error { return syscall.Rmdir(s.out + "/empty") }},
		{"unlink outside", func(s *scene) error { return syscall.Unlink(s.out + "/unlink") }},
		{"rename within outside", func(s *scene) error { return os.Rename(s.out+"/ren", s.out+"/ren2") }},
		{"rename out", func(s *scene) error { return os.Rename(s.ws+"/mine", s.out+"/moved-out") }},
		{"rename in", func(s *scene) error { return os.Rename(s.out+"/ren3", s.ws+"/moved-in") }},
		{"exchange with outside", func(s *scene) error {
			return unix.Renameat2(unix.AT_FDCWD, s.ws+"/mine2", unix.AT_FDCWD, s.out+"/exch", unix.RENAME_EXCHANGE)
		}},
		{"hard link out", func(s *scene) error { return os.Link(s.ws+"/mine2", s.out+"/linked-out") }},
		{"hard link in", func(s *scene) error { return os.Link(s.out+"/file", s.ws+"/linked-in") }},
		{"hard link in, through a link", func(s *scene) error {
			return unix.Linkat(unix.AT_FDCWD, s.ws+"/to-file", unix.AT_FDCWD, s.ws+"/linked-in2", unix.AT_SYMLINK_FOLLOW)
		}},
		{"hard link in, by descriptor", func(s *scene) error {
			fd, err := unix.Open(s.out+"/file", unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, s.ws+"/linked-in3", unix.AT_SYMLINK_FOLLOW)
		}},
		{"symlink outside", func(s *scene) error { return os.Symlink("x", s.out+"/newlink") }},
		{"fifo outside", func(s *scene) error { return unix.Mkfifo(s.out+"/fifo", 0o644) }},
		{"socket file outside", func(s *scene) error { return unix.Mknod(s.out+"/newsock", unix.S_IFSOCK|0o644, 0) }},
		{"chmod outside", func(s *scene) error { return os.Chmod(s.out+"/chmod", 0o777) }},
		{"fchmod of a descriptor", func(s *scene) error {
			f, err := os.Open(s.out + "/chmod2")
			if err != nil {
				return err
			}
			return f.Chmod(0o777)
		}},
		{"chown outside", func(s *scene) error { return os.Lchown(s.out+"/chown", os.Getuid(), os.Getgid()) }},
		{"utimes outside", func(s *scene) error { return os.Chtimes(s.out+"/utimes", time.Unix(1, 0), time.Unix(1, 0)) }},
		{"setxattr outside", func(s *scene) error { return unix.Setxattr(s.out+"/xattr", "user.handrail", []byte("x"), 0) }},
		{"removexattr outside", func(s *scene) error { return unix.Removexattr(s.out+"/xattr2", "user.made") }},
		{"set file flags outside", func(s *scene) error {
			f, err := os.Open(s.out + "/flags")
			if err != nil {
				return err
			}
			return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0x80 /* NOATIME */)
		}},
		{"write by ..", func(s *scene) error { return openFor(s.ws+"/../out/file", os.O_WRONLY) }},
		{"write by many ..", func(s *scene) error {
			return openFor(s.ws+strings.Repeat("/..", 40)+s.out+"/file", os.O_WRONLY)
		}},
		{"write by a link to a file", func(s *scene) error { return openFor(s.ws+"/to-file", os.O_WRONLY) }},
		{"write by a link to a folder", func(s *scene) error { return openFor(s.ws+"/to-out/file", os.O_WRONLY) }},
		{"write by a chain of links", func(s *scene) error { return openFor(s.ws+"/to-link/file", os.O_WRONLY) }},
		{"write by /proc/self/root", func(s *scene) error { return openFor("/proc/self/root"+s.out+"/file", os.O_WRONLY) }},
		{"write by /proc/1/root", func(s *scene) error { return openFor("/proc/1/root"+s.out+"/file", os.O_WRONLY) }},
		{"write by the owner's root", func(s *scene) error {
			return openFor(fmt.Sprintf("/proc/%d/root%s/file", s.owner, s.out), os.O_WRONLY)
		}},
		{"write by the victim's cwd", func(s *scene) error {
			return openFor(fmt.Sprintf("/proc/%d/cwd/file", s.victim), os.O_WRONLY)
		}},
		{"write by /proc/self/cwd/..", func(s *scene) error { return openFor("/proc/self/cwd/../out/file", os.O_WRONLY) }},
		{"write beneath a folder's descriptor", func(s *scene) error {
			fd, err := unix.Open(s.out, unix.O_PATH|unix.O_DIRECTORY, 0)
			if err != nil {
				return err
			}
			_, err = unix.Openat(fd, "file", unix.O_WRONLY, 0)
			return err
		}},
		{"reopen a read descriptor for writing", func(s *scene) error {
			f, err := os.Open(s.out + "/file")
			if err != nil {
				return err
			}
			return openFor("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), os.O_WRONLY)
		}},
		{"reopen an inherited descriptor for writing", func(*scene) error {
			if info, err := os.Stdin.Stat(); err != nil || !info.Mode().IsRegular() {
				return errSkip // a fence that hands no files over
			}
			return openFor("/proc/self/fd/0", os.O_WRONLY)
		}},
		{"O_TMPFILE outside", func(s *scene) error { return openFor(s.out, unix.O_TMPFILE|os.O_RDWR) }},
		{"link an O_TMPFILE out", func(s *scene) error {
			fd, err := unix.Open(s.ws, unix.O_TMPFILE|unix.O_RDWR, 0o644)
			if err != nil {
				return err
			}
			return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, s.out+"/tmpfile", unix.AT_SYMLINK_FOLLOW)
		}},
		{"shared writable map of a read file", func(s *scene) error {
			fd, err := unix.Open(s.out+"/file", unix.O_RDWR, 0)
			if err != nil {
				return err
			}
			_, err = unix.Mmap(fd, 0, 4096, unix.PROT_WRITE, unix.MAP_SHARED)
			return err
		}},
		{"open by handle", func(s *scene) error {
			h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, s.out+"/file", 0)
			if err != nil {
				return fmt.Errorf("%w: %w", errSkip, err)
			}
			m, err := unix.Open(s.ws, unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			_, err = unix.OpenByHandleAt(m, h, unix.O_WRONLY)
			return err
		}},
		{"rename race", func(s *scene) error { return race(s, "a") }},
		{"rename race, second", func(s *scene) error { return race(s, "b") }},
		{"append to a dotfile of HOME", func(s *scene) error { return openFor(s.out+"/home/.bashrc", os.O_WRONLY|os.O_APPEND) }},
		{"make authorized_keys in HOME", func(s *scene) error {
			return openFor(s.out+"/home/.ssh/authorized_keys", os.O_WRONLY|os.O_CREATE)
		}},
		{"make a program in PATH", func(s *scene) error { return openFor(s.out+"/bin/git", os.O_WRONLY|os.O_CREATE) }},
		{"write a file of the machine's /tmp", func(s *scene) error { return openFor(s.hostTmp, os.O_WRONLY) }},
		{"read a file of the machine's /tmp", func(s *scene) error { return openFor(s.hostTmp, os.O_RDONLY) }},
		{"write a file of the machine's /dev/shm", func(s *scene) error { return openFor(s.hostShm, os.O_WRONLY) }},
		{"read a file of the machine's /dev/shm", func(s *scene) error { return openFor(s.hostShm, os.O_RDONLY) }},
		{"chmod by shell", func(s *scene) error { return started("chmod 600 " + s.out + "/chmod3") }},
		{"tee by shell", func(s *scene) error { return started("echo x | tee -a " + s.out + "/file >/dev/null") }},
		{"cp by shell", func(s *scene) error { return started("cp /dev/null " + s.out + "/copied") }},
		{"git in a folder outside", func(s *scene) error { return started("git init -q " + s.out + "/repo") }},
		{"tar out", func(s *scene) error {
			return started("cd " + s.ws + " && tar cPf t.tar --transform 's,^mine2,../out/untarred,' mine2 && tar xPf t.tar && test -e ../out/untarred")
		}},
		{"create by a dangling link", func(s *scene) error { return openFor(s.ws+"/dangling", os.O_CREATE|os.O_WRONLY) }},
		{"mkdir beneath a descriptor", func(s *scene) error { return at(s, func(fd int) error { return unix.Mkdirat(fd, "made", 0o755) }) }},
		{"unlink beneath a descriptor", func(s *scene) error { return at(s, func(fd int) error { return unix.Unlinkat(fd, "unlink", 0) }) }},
		{"rename beneath descriptors", func(s *scene) error { return at(s, func(fd int) error { return unix.Renameat(fd, "ren", fd, "ren9") }) }},
		{"symlink beneath a descriptor", func(s *scene) error { return at(s, func(fd int) error { return unix.Symlinkat("x", fd, "sym") }) }},
		{"chmod beneath a descriptor", func(s *scene) error { return at(s, func(fd int) error { return unix.Fchmodat(fd, "chmod", 0o777, 0) }) }},
		{"utimes beneath a descriptor", func(s *scene) error {
			return at(s, func(fd int) error { return unix.UtimesNanoAt(fd, "utimes", make([]unix.Timespec, 2), 0) })
		}},
		{"utimes of a descriptor", func(s *scene) error {
			f, err := os.Open(s.out + "/utimes")
			if err != nil {
				return err
			}
			defer silent(f)
			return unix.Futimes(int(f.Fd()), make([]unix.Timeval, 2))
		}},
		{"setxattr of a descriptor", func(s *scene) error {
			f, err := os.Open(s.out + "/xattr")
			if err != nil {
				return err
			}
			defer silent(f)
			return unix.Fsetxattr(int(f.Fd()), "user.handrail", []byte("x"), 0)
		}},
		{"create by openat2", func(s *scene) error {
			return at(s, func(fd int) error {
				_, err := unix.Openat2(fd, "new2", &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o644, Resolve: unix.RESOLVE_BENEATH})
				return err
			})
		}},
		{"rm by shell", func(s *scene) error { return started("rm -rf " + s.out + "/empty && test ! -e " + s.out + "/empty") }},
		{"mv by shell", func(s *scene) error { return started("mv " + s.out + "/ren " + s.out + "/ren8") }},
		{"mv in by shell", func(s *scene) error { return started("mv " + s.out + "/ren3 " + s.ws + "/ren7") }},
		{"sed -i by shell", func(s *scene) error { return started("sed -i s/f/g/ " + s.out + "/file") }},
		{"dd by shell", func(s *scene) error {
			return started("dd if=/dev/zero of=" + s.out + "/file count=1 conv=notrunc status=none")
		}},
		{"install by shell", func(s *scene) error { return started("install /dev/null " + s.out + "/installed") }},
		{"redirect through a link by shell", func(s *scene) error { return started("echo x >> " + s.ws + "/to-file") }},
		{"touch by shell", func(s *scene) error { return started("touch " + s.out + "/utimes") }},
		{"python open", func(s *scene) error { return started("python3 -c 'open(\"" + s.out + "/file\",\"a\")'") }},
	}
}

// at does something beneath a descriptor of the folder outside.
func at(s *scene, do func(fd int) error) error {
	fd, err := unix.Open(s.out, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

func hiddenProbes() []probe {
	return []probe{
		{"read a hidden file", func(s *scene) error { return openFor(s.secret, os.O_RDONLY) }},
		{"read a hidden file by a link", func(s *scene) error { return openFor(s.ws+"/to-secret", os.O_RDONLY) }},
		{"read a hidden file by /proc/self/root", func(s *scene) error { return openFor("/proc/self/root"+s.secret, os.O_RDONLY) }},
		{"read a hidden file by /proc/1/root", func(s *scene) error { return openFor("/proc/1/root"+s.secret, os.O_RDONLY) }},
		{"read a hidden file by its folder's descriptor", func(s *scene) error {
			fd, err := unix.Open(filepath.Dir(s.secret), unix.O_PATH, 0)
			if err != nil {
				return err
			}
			_, err = unix.Openat(fd, filepath.Base(s.secret), unix.O_RDONLY, 0)
			return err
		}},
		{"chmod and read a hidden file", func(s *scene) error {
			_ = os.Chmod(s.secret, 0o644)
			data, err := os.ReadFile(s.secret)
			if err == nil && len(data) == 0 {
				return syscall.ENODATA
			}
			return err
		}},
		{"link a hidden file in", func(s *scene) error { return os.Link(s.secret, s.ws+"/secret-link") }},
		{"rename a hidden file in", func(s *scene) error { return os.Rename(s.out+"/hid2", s.ws+"/secret-moved") }},
		{"list a hidden folder", func(s *scene) error { _, err := os.ReadDir(s.hidden); return err }},
		{"read in a hidden folder", func(s *scene) error { return openFor(s.hidden+"/key", os.O_RDONLY) }},
		{"write in a hidden folder", func(s *scene) error { return openFor(s.hidden+"/new", os.O_CREATE|os.O_WRONLY) }},
		{"chmod a hidden folder", func(s *scene) error { return os.Chmod(s.hidden, 0o755) }},
		{"chdir into a hidden folder", func(s *scene) error { return started("cd " + s.hidden) }},
		{"read in a hidden folder by O_PATH", func(s *scene) error {
			fd, err := unix.Open(s.hidden, unix.O_PATH, 0)
			if err != nil {
				return err
			}
			return openFor("/proc/self/fd/"+strconv.Itoa(fd)+"/key", os.O_RDONLY)
		}},
		{"cat by shell", func(s *scene) error { return started("cat " + s.secret + " | grep -q secret") }},
		{"open /etc/shadow", func(*scene) error { return openFor("/etc/shadow", os.O_RDONLY) }},
	}
}

func protectedProbes() []probe {
	git := func(s *scene) string { return s.ws + "/.git" }
	return []probe{
		{"make a hook", func(s *scene) error { return openFor(git(s)+"/hooks/post-commit", os.O_CREATE|os.O_WRONLY) }},
		{"change a hook", func(s *scene) error { return openFor(git(s)+"/hooks/pre-commit", os.O_WRONLY|os.O_APPEND) }},
		{"chmod a hook", func(s *scene) error { return os.Chmod(git(s)+"/hooks/pre-commit", 0o755) }},
		{"remove a hook", func(s *scene) error { return os.Remove(git(s) + "/hooks/pre-commit") }},
		{"rename hooks away", func(s *scene) error { return os.Rename(git(s)+"/hooks", git(s)+"/hooks2") }},
		{"rename .git away", func(s *scene) error { return os.Rename(git(s), s.ws+"/git2") }},
		{"exchange .git", func(s *scene) error {
			if err := os.MkdirAll(s.ws+"/other-git", 0o755); err != nil {
				return err
			}
			return unix.Renameat2(unix.AT_FDCWD, s.ws+"/other-git", unix.AT_FDCWD, git(s), unix.RENAME_EXCHANGE)
		}},
		{"remove .git", func(s *scene) error {
			return os.RemoveAll(git(s))
		}},
		{"write .git/config", func(s *scene) error { return openFor(git(s)+"/config", os.O_WRONLY|os.O_APPEND) }},
		{"rename over .git/config", func(s *scene) error {
			_ = os.WriteFile(git(s)+"/config.lock", nil, 0o644)
			return os.Rename(git(s)+"/config.lock", git(s)+"/config")
		}},
		{"unlink .git/config", func(s *scene) error { return os.Remove(git(s) + "/config") }},
		{"link a hook into the workspace", func(s *scene) error { return os.Link(git(s)+"/hooks/pre-commit", s.ws+"/hook-link") }},
		{"link the config into the workspace", func(s *scene) error { return os.Link(git(s)+"/config", s.ws+"/config-link") }},
		{"git config by shell", func(s *scene) error { return started("cd " + s.ws + " && git config core.hooksPath /tmp") }},
		{"write a protected folder that was missing", func(s *scene) error {
			return openFor(s.ws+"/.handrail/settings.toml", os.O_CREATE|os.O_WRONLY)
		}},
		{"replace a protected folder that was missing", func(s *scene) error { return os.Remove(s.ws + "/.handrail") }},
		{"write hooks by a descriptor of .git", func(s *scene) error {
			fd, err := unix.Open(git(s), unix.O_PATH, 0)
			if err != nil {
				return err
			}
			_, err = unix.Openat(fd, "hooks/x", unix.O_CREAT|unix.O_WRONLY, 0o755)
			return err
		}},
	}
}

func mountProbes() []probe {
	unshare := func(flag int) func(*scene) error {
		return func(*scene) error { return unix.Unshare(flag) }
	}
	return []probe{
		{"bind mount outside into the workspace", func(s *scene) error {
			return unix.Mount(s.out, s.ws+"/mnt", "", unix.MS_BIND, "")
		}},
		{"mount a tmpfs", func(s *scene) error { return unix.Mount("tmpfs", s.ws+"/mnt2", "tmpfs", 0, "") }},
		{"mount a proc", func(s *scene) error { return unix.Mount("proc", s.ws+"/mnt2", "proc", 0, "") }},
		{"remount the root writable", func(*scene) error {
			return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "")
		}},
		{"make the root writable by mount_setattr", func(*scene) error {
			return unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		}},
		{"unmount the mask of a hidden file", func(s *scene) error { return allowed(unix.Unmount(s.secret, 0), unix.EINVAL) }},
		{"clone a mount", func(s *scene) error {
			_, err := unix.OpenTree(unix.AT_FDCWD, s.out, unix.OPEN_TREE_CLONE)
			return err
		}},
		{"move a mount", func(s *scene) error {
			return allowed(unix.MoveMount(unix.AT_FDCWD, s.out, unix.AT_FDCWD, s.ws+"/mnt", 0), unix.EINVAL)
		}},
		{"fsopen", func(*scene) error { _, err := unix.Fsopen("tmpfs", 0); return err }},
		{"fspick", func(*scene) error { _, err := unix.Fspick(unix.AT_FDCWD, "/", 0); return err }},
		{"pivot_root", func(s *scene) error {
			return allowed(unix.PivotRoot(s.ws+"/mnt", s.ws+"/mnt"), unix.EINVAL, unix.EBUSY)
		}},
		{"chroot", func(s *scene) error {
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return err
			}
			return unix.Chroot(s.ws)
		}},
		{"unshare a mount namespace", unshare(unix.CLONE_NEWNS)},
		{"unshare a PID namespace", unshare(unix.CLONE_NEWPID)},
		{"unshare a network namespace", unshare(unix.CLONE_NEWNET)},
		{"unshare an IPC namespace", unshare(unix.CLONE_NEWIPC)},
		{"unshare a UTS namespace", unshare(unix.CLONE_NEWUTS)},
		{"unshare a cgroup namespace", unshare(unix.CLONE_NEWCGROUP)},
		{"unshare a time namespace", unshare(unix.CLONE_NEWTIME)},
		{"clone a user namespace", func(*scene) error { return cloned(unix.CLONE_NEWUSER) }},
		{"clone user and mount namespaces", func(*scene) error { return cloned(unix.CLONE_NEWUSER | unix.CLONE_NEWNS) }},
		{"clone user and network namespaces", func(*scene) error { return cloned(unix.CLONE_NEWUSER | unix.CLONE_NEWNET) }},
		{"clone a PID namespace", func(*scene) error { return cloned(unix.CLONE_NEWPID) }},
		{"clone3 a user namespace", func(*scene) error {
			args := [11]uint64{unix.CLONE_NEWUSER | unix.CLONE_VFORK | unix.CLONE_VM, 0, 0, 0, 17}
			// A size that is too small is refused before anything is made.
			return allowed(call(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), 8), unix.EINVAL)
		}},
		{"unshare -Ur by shell", func(*scene) error { return started("unshare -Ur true") }},
		{"bwrap by shell", func(*scene) error { return started("bwrap --ro-bind / / --unshare-user true") }},
		{"enter the mount namespace of PID 1", func(*scene) error { return enter("/proc/1/ns/mnt", unix.CLONE_NEWNS) }},
		{"enter the owner's network namespace", func(s *scene) error {
			return enter(fmt.Sprintf("/proc/%d/ns/net", s.owner), unix.CLONE_NEWNET)
		}},
		{"enter its own IPC namespace", func(*scene) error { return enter("/proc/self/ns/ipc", unix.CLONE_NEWIPC) }},
		{"nsenter by shell", func(s *scene) error { return started(fmt.Sprintf("nsenter -t %d -m true", s.owner)) }},
	}
}

func enter(path string, kind int) error {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if kind == unix.CLONE_NEWNS {
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return err
		}
	}
	return unix.Setns(fd, kind)
}

func onlyAMD64(try func(*scene) error) func(*scene) error {
	return func(s *scene) error {
		if runtime.GOARCH != "amd64" {
			return errSkip
		}
		return try(s)
	}
}

func silent(c io.Closer) { _ = c.Close() }
