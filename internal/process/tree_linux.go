package process

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/handrail-tools/handrail/internal/sandbox"
)

// killFor is how long processes that were killed may take to be gone. One
// that waits for a disk in the kernel takes as long as the disk.
const killFor = 2 * time.Second

// lookEvery is how often what a command left behind is looked for while it
// runs in the background.
const lookEvery = 100 * time.Millisecond

// A tree finds the processes of a command that left its session and its
// parent, where the fence cannot hold them. nil is the tree of a command that
// a PID namespace holds: it has nothing to do.
type tree struct {
	mark string // the whole variable
	proc sandbox.Proc

	mu   sync.Mutex
	seen map[int]uint64 // orphans of ours, and when they began
	over bool
}

// subreaper is how many commands need this process to be given their orphans.
// It is the one thing in this package that is not a value's own, because the
// kernel keeps it for the process as a whole.
var subreaper struct {
	sync.Mutex
	users int
}

// contains says that nothing can leave a command of that driver.
func contains(d sandbox.Driver) bool {
	return d == sandbox.Namespaces || d == sandbox.Bubblewrap || d == sandbox.Container
}

// Contained reports whether nothing that runs in a fence can leave it.
func Contained(f sandbox.Fence) bool { return contains(f.Report().Driver) }

// watchTree prepares for a command.
func watchTree(fence sandbox.Fence, s *sandbox.Spec) (*tree, error) {
	if contains(fence.Report().Driver) {
		return nil, nil
	}
	owner, err := self()
	if err != nil {
		return nil, fmt.Errorf("marking a command: %w", err)
	}
	t := &tree{mark: markName + "=" + owner + "." + rand.Text()[:16], seen: map[int]uint64{}}
	s.Env = append(append([]string(nil), s.Env...), t.mark)
	subreaper.Lock()
	defer subreaper.Unlock()
	if subreaper.users == 0 {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return nil, fmt.Errorf("becoming the parent of orphans: %w", err)
		}
	}
	subreaper.users++
	return t, nil
}

func (t *tree) follow(p sandbox.Proc) {
	if t != nil {
		t.proc = p
	}
}

// release ends the watch. It may be called again.
func (t *tree) release() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.over = true
	subreaper.Lock()
	defer subreaper.Unlock()
	if subreaper.users--; subreaper.users == 0 {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) // it was set, so it can be
	}
}

// self names this process so that no other in any PID namespace is called
// the same.
func self() (string, error) {
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	_, began, _, ok := look(os.Getpid())
	if !ok {
		return "", errors.New("/proc has no entry of this process")
	}
	return fmt.Sprintf("%s.%d.%d", strings.Trim(ns, "pid:[]"), os.Getpid(), began), nil
}

// orphans returns the living processes of the command that were given to this
// process, and reaps those that have ended.
func (t *tree) orphans() []int { return t.among(children()) }

// among is orphans of a list of this process's children.
func (t *tree) among(children []int) []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []int
	for _, pid := range children {
		state, began, _, ok := look(pid)
		switch {
		case !ok || t.proc != nil && pid == t.proc.Pid():
			continue
		case t.seen[pid] != began && (state == 'Z' || !bears(pid, t.mark)):
			continue // not ours, as far as can be told
		}
		t.seen[pid] = began
		if state == 'Z' {
			var ws syscall.WaitStatus
			_, _ = syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
			delete(t.seen, pid)
			continue
		}
		found = append(found, pid)
	}
	return found
}

// left reports whether a process of the command still runs that the fence
// does not know of.
func (t *tree) left() bool { return t != nil && len(t.orphans()) > 0 }

// wait returns when no such process is left, and ends the watch.
func (t *tree) wait() {
	if t == nil {
		return
	}
	for t.left() {
		time.Sleep(lookEvery)
	}
	t.release()
}

// signal sends a signal to the orphans and all that they started.
func (t *tree) signal(sig syscall.Signal) {
	if t == nil {
		return
	}
	tops := t.orphans()
	if len(tops) == 0 {
		return
	}
	ours := map[int]bool{}
	for _, pid := range tops {
		ours[pid] = true
	}
	all := processes()
	for pid := range all {
		for at := pid; at > 1; at = all[at].parent {
			if ours[at] {
				send(pid, all[pid].began, sig)
				break
			}
		}
	}
}

// kill kills the orphans and returns when they are gone, or after two
// seconds.
func (t *tree) kill() {
	if t == nil {
		return
	}
	for until := time.Now().Add(killFor); time.Now().Before(until); {
		// The kernel's list of children misses some while others end, so that it
		// is believed when there are none at all; else all of /proc is asked.
		if !t.left() && (childless() || len(t.among(childrenOf(os.Getpid()))) == 0) {
			return
		}
		t.signal(syscall.SIGKILL)
		time.Sleep(2 * time.Millisecond)
	}
}

// childless says that this process has no child.
func childless() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD)
}

// send signals a process if it is still the one that began then.
func send(pid int, began uint64, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if _, now, _, ok := look(pid); ok && now == began {
		_ = unix.PidfdSendSignal(fd, unix.Signal(sig), nil, 0)
	}
}

// children lists the direct children of this process.
func children() []int {
	if childless() {
		return nil // the common case costs one system call
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	var pids []int
	for _, task := range tasks {
		data, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if errors.Is(err, os.ErrNotExist) && len(pids) == 0 {
			return childrenOf(os.Getpid()) // a thread that ended, or a kernel without these lists
		}
		for _, f := range bytes.Fields(data) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func childrenOf(parent int) []int {
	var pids []int
	for pid, p := range processes() {
		if p.parent == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

type process struct {
	parent int
	began  uint64
}

// processes lists all that can be seen.
func processes() map[int]process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	all := map[int]process{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if _, began, parent, ok := look(pid); ok {
				all[pid] = process{parent, began}
			}
		}
	}
	return all
}

// look reads of a process its state, when it began in clock ticks since the
// machine's start, and its parent.
func look(pid int) (state byte, began uint64, parent int, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, 0, false
	}
	// The second field is the program's name, which may hold anything.
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(f) < 20 {
		return 0, 0, 0, false
	}
	parent, err = strconv.Atoi(string(f[1]))
	began, err2 := strconv.ParseUint(string(f[19]), 10, 64)
	return f[0][0], began, parent, err == nil && err2 == nil
}

// startFor is how long a program may take to get its environment, which is
// empty for a moment while it takes the place of another.
const startFor = 20 * time.Millisecond

// bears reports whether the environment that a process began with has the
// variable.
func bears(pid int, mark string) bool {
	name := "/proc/" + strconv.Itoa(pid) + "/environ"
	data, err := os.ReadFile(name)
	for until := time.Now().Add(startFor); err == nil && len(data) == 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
		data, err = os.ReadFile(name)
	}
	return err == nil && bytes.Contains(append([]byte{0}, data...), []byte("\x00"+mark+"\x00"))
}

// EndStrays kills processes of commands whose owner was killed before it
// could end them, and returns how many. It reads the environment of every
// process of this user, so it is called once, before commands are started
// outside of a PID namespace.
func EndStrays(ctx context.Context) int {
	owner, err := self()
	if err != nil {
		return 0
	}
	ns, _, _ := strings.Cut(owner, ".")
	ended := 0
	for pid, p := range processes() {
		if ctx.Err() != nil {
			break
		}
		value := markOf(pid)
		f := strings.Split(value, ".")
		if len(f) != 4 || f[0] != ns {
			continue // the numbers of another namespace mean nothing here
		}
		of, err := strconv.Atoi(f[1])
		if err != nil {
			continue
		}
		if _, began, _, ok := look(of); ok && strconv.FormatUint(began, 10) == f[2] {
			continue // the owner lives
		}
		send(pid, p.began, syscall.SIGKILL)
		ended++
	}
	return ended
}

// markOf returns the value of the mark that a process bears, or "".
func markOf(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for kv := range bytes.SplitSeq(data, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(markName+"=")); ok {
			return string(value)
		}
	}
	return ""
}
