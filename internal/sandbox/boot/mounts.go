//go:build linux && (amd64 || arm64)

package boot

import "syscall"

// Names of what is put over hidden things.
const (
	hiddenFile   = "/.hidden-file"
	hiddenFolder = "/.hidden-folder"
	// freeMasks is where they lie when /dev is the machine's own: a folder that
	// every slot's own /proc covers.
	freeMasks = "/proc/fs"
)

// devices are the nodes that every program expects and none can do harm with.
var devices = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// kept are things below /run that programs read through fixed names: the
// resolver's file, and on NixOS every program there is.
var kept = [...]string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/current-system", "/run/opengl-driver", "/run/wrappers"}

// masks are the descriptors of the mounts that go over hidden things.
type masks struct {
	file, folder int
	writable     []string // folders that commands may write in
}

// build makes the mounts of a fence, in the only order that works: what shall
// stay writable or visible is cloned before the root becomes read-only and
// before anything is put over it.
func build(p *Plan) (masks, error) {
	m := masks{file: -1, folder: -1}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return m, wrap("making the mounts private", err)
	}
	var err error
	if p.Free {
		if err = tmpfs(freeMasks, "755", smallTmpfs); err == nil {
			m, err = makeMasks(freeMasks)
		}
	} else {
		m, err = replace(p)
	}
	if err != nil {
		return m, err
	}
	for _, path := range p.Protected {
		if err := lock(p.Root, path); err != nil && err != syscall.ENOENT {
			return m, wrap("protecting "+path, err)
		}
	}
	for _, path := range p.Hidden {
		if err := m.hide(path); err != nil && err != syscall.ENOENT && err != syscall.EACCES {
			return m, wrap("hiding "+path, err)
		}
	}
	// Slots are slaves of these mounts, so a mask that is added later reaches
	// commands that run.
	return m, wrap("sharing the mounts with slots", syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""))
}

type clone struct {
	path string
	fd   int
	set  uint64
}

// replace makes the file system read-only but for the plan's folders, and
// /tmp, /var/tmp, /run and /dev the fence's own.
func replace(p *Plan) (m masks, err error) {
	var clones, nodes []clone
	add := func(list []string, set uint64) error {
		for _, path := range list {
			fd, err := openTree(path)
			if err != nil {
				return wrap("taking "+path, err)
			}
			clones = append(clones, clone{path, fd, set})
		}
		return nil
	}
	if err := add(p.Visible, attrReadOnly|attrNoSuid|attrNoDev); err != nil {
		return m, err
	}
	if err := add(p.Writable, attrNoSuid|attrNoDev); err != nil {
		return m, err
	}
	for _, path := range append(devices[:], kept[:]...) {
		if fd, err := openTree(path); err == nil {
			nodes = append(nodes, clone{path, fd, attrReadOnly * flag(below(path, "/run"))})
		}
	}
	if err := setAttr(atFdcwd, "/", atRecursive, attrReadOnly|attrNoSuid); err != nil {
		return m, wrap("making the file system read-only", err)
	}
	if err := privateFolders(p); err != nil {
		return m, err
	}
	for _, c := range nodes {
		if err := c.attach(); err != nil {
			return m, err
		}
	}
	if err := fillDev(p); err != nil {
		return m, err
	}
	if m, err = makeMasks("/dev"); err != nil {
		return m, err
	}
	m.writable = p.Writable
	for _, c := range clones {
		if err := c.attach(); err != nil {
			return m, err
		}
	}
	for _, path := range []string{"/dev", "/run"} {
		if err := setAttr(atFdcwd, path, 0, attrReadOnly); err != nil && err != syscall.ENOENT && err != syscall.EINVAL {
			return m, wrap("making "+path+" read-only", err)
		}
	}
	return m, nil
}

// attach puts a clone where it was taken from.
func (c clone) attach() error {
	if c.set != 0 {
		if err := setAttr(c.fd, "", atRecursive, c.set); err != nil {
			return wrap("attributes of "+c.path, err)
		}
	}
	to, err := syscall.Open(c.path, oPath|syscall.O_CLOEXEC, 0)
	if err == syscall.ENOENT {
		if err = c.makePlace(); err == nil {
			to, err = syscall.Open(c.path, oPath|syscall.O_CLOEXEC, 0)
		}
	}
	if err != nil {
		return wrap("the place of "+c.path, err)
	}
	defer syscall.Close(to)
	err = mountFD(c.fd, to)
	syscall.Close(c.fd)
	return wrap("mounting "+c.path, err)
}

// makePlace makes what a clone is mounted on, in a folder of the fence's own.
func (c clone) makePlace() error {
	var st syscall.Stat_t
	if err := syscall.Fstat(c.fd, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return makeFolders(c.path)
	}
	if err := makeFolders(parentOf(c.path)); err != nil {
		return err
	}
	fd, err := syscall.Open(c.path, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_CLOEXEC, 0o644)
	if err == nil {
		syscall.Close(fd)
	}
	return err
}

// tmpfs mounts an empty file system; a folder that the machine does not have
// needs none.
func tmpfs(path, mode string, size uint64) error {
	opt := "mode=" + mode + ",size=" + decimal(size)
	err := syscall.Mount("tmpfs", path, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, opt)
	if err == syscall.ENOENT {
		return nil
	}
	return wrap("an empty "+path, err)
}

const smallTmpfs = 256 << 10 // holds mount points only

func privateFolders(p *Plan) error {
	if err := tmpfs("/tmp", "1777", p.Temp); err != nil {
		return err
	}
	if err := tmpfs("/var/tmp", "1777", p.Temp); err != nil {
		return err
	}
	if err := tmpfs("/run", "755", smallTmpfs); err != nil {
		return err
	}
	return tmpfs("/dev", "755", smallTmpfs)
}

// fillDev adds to /dev what is not a node of the machine.
func fillDev(p *Plan) error {
	for _, l := range [][2]string{{"/proc/self/fd", "/dev/fd"}, {"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"}, {"/proc/self/fd/2", "/dev/stderr"}, {"pts/ptmx", "/dev/ptmx"}} {
		if err := syscall.Symlink(l[0], l[1]); err != nil {
			return wrap("linking "+l[1], err)
		}
	}
	for _, dir := range []string{terminals, "/dev/shm"} {
		if err := syscall.Mkdir(dir, 0o755); err != nil {
			return wrap("making "+dir, err)
		}
	}
	return tmpfs("/dev/shm", "1777", p.Temp)
}

// makeMasks makes the empty file and folder, without any right, that go over
// hidden things. They stay mounted, because only a mount that is in place can be
// cloned once more.
func makeMasks(dir string) (m masks, err error) {
	m = masks{file: -1, folder: -1}
	fd, err := syscall.Open(dir+hiddenFile, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return m, wrap("making a mask", err)
	}
	syscall.Close(fd)
	if err := syscall.Mkdir(dir+hiddenFolder, 0); err != nil {
		return m, wrap("making a mask", err)
	}
	if m.file, err = syscall.Open(dir+hiddenFile, oPath|syscall.O_CLOEXEC, 0); err != nil {
		return m, wrap("taking a mask", err)
	}
	m.folder, err = syscall.Open(dir+hiddenFolder, oPath|syscall.O_CLOEXEC, 0)
	return m, wrap("taking a mask", err)
}

func decimal(n uint64) string {
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[i:])
		}
	}
}
