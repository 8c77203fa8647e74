//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/handrail-tools/handrail/internal/sandbox/boot"
)

// watch keeps the mounts of a fence true while the world outside changes: it
// hides again what a program outside replaced (a rename over a mount point
// takes the mount away), hides what appears under a hidden name or as a unix
// socket, and protects what appears under a protected name.
type watch struct {
	policy     Policy
	askSockets bool
	file       *os.File // inotify
	fd         int

	mu      sync.Mutex
	folders map[int32]string // on the way to hidden paths, by inotify's number
	lost    []string         // hidden paths whose folder is not there to be watched
	again   []string         // hidden paths whose mask may be gone
	missing []string         // protected paths that are not there
	// seen are the sockets that there are, and whether they are to be hidden.
	seen map[boundSocket]bool
}

const watchEvents = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

func newWatch(p Policy, abi int) (*watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watching hidden paths: %w", err)
	}
	w := &watch{
		policy: p, fd: fd, file: os.NewFile(uintptr(fd), "inotify"),
		askSockets: p.UnixSockets && p.Mode != FullAccess && abi < abiUnix,
		folders:    map[int32]string{}, seen: map[boundSocket]bool{},
	}
	w.lost = w.add(p.Unreadable)
	if p.Mode != ReadOnly {
		w.missing = p.missing()
	}
	return w, nil
}

// add watches the folders on the way to paths, and returns the paths whose own
// folder it cannot watch. It begins at the top, so that what is made meanwhile
// further down is told.
func (w *watch) add(paths []string) (lost []string) {
	for _, path := range paths {
		var err error
		for at := 0; !errors.Is(err, unix.ENOENT); {
			dir := path[:max(at, 1)]
			var n int
			if n, err = unix.InotifyAddWatch(w.fd, dir, watchEvents|unix.IN_ONLYDIR); err == nil {
				w.folders[int32(n)] = dir
			}
			next := strings.IndexByte(path[at+1:], '/')
			at += next + 1
			if next < 0 {
				break
			}
		}
		if err != nil {
			lost = append(lost, path)
		}
	}
	return lost
}

// follow hides what changes until the fence closes.
func (w *watch) follow(f *spaces) {
	raw, err := w.file.SyscallConn()
	if err != nil {
		return
	}
	// The function always asks for more, so Read ends only with the file.
	_ = raw.Read(func(uintptr) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = w.refresh(f) // the fence is closed: nothing is left to hide from
		return false
	})
}

func (w *watch) close() { _ = w.file.Close() } // nothing was written

// before brings the masks up to date for a command that is about to start.
func (w *watch) before(f *spaces) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.refresh(f); err != nil {
		return err
	}
	sockets, err := w.newSockets()
	if err != nil {
		return err
	}
	if _, err := f.paths(boot.AskHide, sockets); err != nil {
		w.seen = map[boundSocket]bool{} // the next command must not take them for hidden
		return err
	}
	_, err = w.protect(f)
	return err
}

// after returns the protected paths that a command made, and protects them
// from the next one.
func (w *watch) after(f *spaces) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	made, _ := w.protect(f) // the next command asks again and fails where it must
	return made
}

// protect locks protected paths that were missing and are there. One that is
// gone again when it is to be locked, as a command that runs can make it, stays
// among those that are missing.
func (w *watch) protect(f *spaces) ([]string, error) {
	var made, full []string
	for _, rel := range w.missing {
		if w.policy.there(rel) {
			made, full = append(made, rel), append(full, filepath.Join(w.policy.Workspace, rel))
		}
	}
	gone, err := f.paths(boot.AskLock, full)
	if err != nil {
		return made, err
	}
	w.missing = slices.DeleteFunc(w.missing, func(rel string) bool {
		return slices.Contains(made, rel) && !slices.Contains(gone, filepath.Join(w.policy.Workspace, rel))
	})
	return made, nil
}

// refresh reads what happened and hides again what it touches.
func (w *watch) refresh(f *spaces) error {
	w.read()
	if len(w.lost) > 0 {
		slices.Sort(w.lost)
		was := slices.Compact(w.lost)
		w.lost = w.add(was)
		for _, path := range was {
			if !slices.Contains(w.lost, path) {
				w.again = append(w.again, path)
			}
		}
	}
	slices.Sort(w.again)
	w.again = slices.Compact(w.again)
	if _, err := f.paths(boot.AskHide, w.again); err != nil {
		return err // what is not hidden is asked for again
	}
	w.again = nil
	return nil
}

// read reads what happened.
func (w *watch) read() {
	var buf [4 << 10]byte
	for {
		n, err := unix.Read(w.fd, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n < unix.SizeofInotifyEvent {
			return
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
			name := string(bytes.TrimRight(buf[at+unix.SizeofInotifyEvent:at+unix.SizeofInotifyEvent+int(e.Len)], "\x00"))
			w.touched(e, name)
			at += unix.SizeofInotifyEvent + int(e.Len)
		}
	}
}

// touched takes note of the hidden paths that an event speaks of.
func (w *watch) touched(e *unix.InotifyEvent, name string) {
	dir := w.folders[e.Wd]
	path := filepath.Join(dir, name)
	switch {
	case e.Mask&unix.IN_Q_OVERFLOW != 0:
		w.lost = slices.Clone(w.policy.Unreadable)
		return
	case e.Mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_IGNORED) != 0:
		delete(w.folders, e.Wd)
		_, _ = unix.InotifyRmWatch(w.fd, uint32(e.Wd)) // EINVAL: it is gone with its folder
		path = dir
	case slices.Contains(w.policy.Unreadable, path):
		w.again = append(w.again, path)
		return
	}
	// Another folder on the way to a path is another thing at its end.
	for _, hidden := range w.policy.Unreadable {
		if dir != "" && hidden != path && within(hidden, path) {
			w.lost = append(w.lost, hidden)
		}
	}
}

// sockets returns the unix sockets to hide at the start.
func (w *watch) sockets() ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newSockets()
}

// maxSockets bounds how many sockets are masked: each is a mount.
const maxSockets = 4096

// newSockets returns the sockets that are bound to a path outside the fence's
// own and the writable folders and were not seen before. A program that starts
// again binds another socket to the same path.
func (w *watch) newSockets() ([]string, error) {
	if !w.askSockets {
		return nil, nil
	}
	var fresh []string
	now := map[boundSocket]bool{}
	masked := 0
	for _, s := range machineSockets() {
		hide, seen := w.seen[s]
		if !seen {
			real, err := filepath.EvalSymlinks(s.path)
			if hide = err == nil && !w.policy.open(real); hide {
				fresh = append(fresh, real)
			}
		}
		now[s] = hide
		if hide {
			masked++
		}
	}
	if masked > maxSockets {
		return nil, fmt.Errorf("%d unix sockets of this machine would have to be hidden; at most %d can be", masked, maxSockets)
	}
	w.seen = now
	return fresh, nil
}
