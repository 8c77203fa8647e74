//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	folders map[int32]string // watched, by inotify's number
	lost    []string         // hidden paths whose folder is not there to be watched
	missing []string         // protected paths that are not there
	seen    map[string]bool  // sockets that are hidden or need not be
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
		folders:    map[int32]string{}, seen: map[string]bool{},
	}
	w.lost = w.add(p.Unreadable)
	if p.Mode != ReadOnly {
		w.missing = p.missing()
	}
	return w, nil
}

// add watches the folders that paths lie in, and returns those that it cannot.
func (w *watch) add(paths []string) (lost []string) {
	for _, path := range paths {
		dir := filepath.Dir(path)
		n, err := unix.InotifyAddWatch(w.fd, dir, watchEvents|unix.IN_ONLYDIR)
		if err != nil {
			lost = append(lost, path)
			continue
		}
		w.folders[int32(n)] = dir
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
	if err := f.paths(boot.AskHide, w.newSockets()); err != nil {
		return err
	}
	_, err := w.protect(f)
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

// protect locks protected paths that were missing and are there.
func (w *watch) protect(f *spaces) ([]string, error) {
	var made, full, still []string
	for _, rel := range w.missing {
		if w.policy.there(rel) {
			made, full = append(made, rel), append(full, filepath.Join(w.policy.Workspace, rel))
		} else {
			still = append(still, rel)
		}
	}
	if err := f.paths(boot.AskLock, full); err != nil {
		return made, err
	}
	w.missing = still
	return made, nil
}

// refresh reads what happened and hides again what it touches.
func (w *watch) refresh(f *spaces) error {
	var again []string
	if len(w.lost) > 0 {
		was := w.lost
		w.lost = w.add(was)
		for _, path := range was {
			if !slices.Contains(w.lost, path) {
				again = append(again, path)
			}
		}
	}
	var buf [4 << 10]byte
	for {
		n, err := unix.Read(w.fd, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n < unix.SizeofInotifyEvent {
			break
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
			name := string(bytes.TrimRight(buf[at+unix.SizeofInotifyEvent:at+unix.SizeofInotifyEvent+int(e.Len)], "\x00"))
			again = append(again, w.touched(e, name)...)
			at += unix.SizeofInotifyEvent + int(e.Len)
		}
	}
	slices.Sort(again)
	return f.paths(boot.AskHide, slices.Compact(again))
}

// touched returns the hidden paths that an event speaks of.
func (w *watch) touched(e *unix.InotifyEvent, name string) []string {
	if e.Mask&unix.IN_Q_OVERFLOW != 0 {
		return w.policy.Unreadable
	}
	dir := w.folders[e.Wd]
	if e.Mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_IGNORED) != 0 {
		delete(w.folders, e.Wd)
		for _, path := range w.policy.Unreadable {
			if filepath.Dir(path) == dir && !slices.Contains(w.lost, path) {
				w.lost = append(w.lost, path)
			}
		}
		return nil
	}
	path := filepath.Join(dir, name)
	if slices.Contains(w.policy.Unreadable, path) {
		return []string{path}
	}
	return nil
}

// sockets returns the unix sockets to hide at the start.
func (w *watch) sockets() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newSockets()
}

// maxSockets bounds how many sockets are masked: each is a mount.
const maxSockets = 4096

// newSockets returns the sockets that are bound to a path outside the fence's
// own and the writable folders and were not seen before.
func (w *watch) newSockets() []string {
	if !w.askSockets {
		return nil
	}
	var fresh []string
	for _, path := range machineSockets() {
		if w.seen[path] || len(w.seen) >= maxSockets {
			continue
		}
		w.seen[path] = true
		if real, err := filepath.EvalSymlinks(path); err == nil && !w.policy.open(real) {
			fresh = append(fresh, real)
		}
	}
	return fresh
}
