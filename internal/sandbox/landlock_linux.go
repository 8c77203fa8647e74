//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/handrail-tools/handrail/internal/sandbox/boot"
)

// landlockDevices may be written to under Landlock alone, where /dev is the
// machine's own.
var landlockDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

func openLandlock(ctx context.Context, p Policy) (Fence, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	abi := landlockABI()
	no := func(reason string, err error) (Fence, error) {
		return nil, &UnavailableError{Driver: Landlock, Reason: reason, Err: err}
	}
	if why := landlockMissing(p, abi); why != "" {
		return no(why, nil)
	}
	tmp, err := os.MkdirTemp("", "handrail-tmp-")
	if err != nil {
		return no("a folder for temporary files cannot be made", err)
	}
	f := &direct{loose: p.Mode == WorkspaceWrite, report: Report{Driver: Landlock, Policy: p, Open: landlockOpen(p, abi), Env: []string{
		"HANDRAIL_SANDBOX=" + string(Landlock), "TMPDIR=" + tmp, "TMP=" + tmp, "TEMP=" + tmp,
	}}}
	f.release = func() { _ = os.RemoveAll(tmp) } // what a command made unremovable stays
	if err := f.landlock(p, abi, tmp); err != nil {
		f.release()
		return no("the rules cannot be made", err)
	}
	if err := tryOne(ctx, f); err != nil {
		_ = f.Close() // the error that matters is the first
		return no("a trial command did not run", err)
	}
	return f, nil
}

// landlockMissing says why a Landlock of this age cannot hold the policy, or
// nothing. What it leaves open and may is in landlockOpen.
func landlockMissing(p Policy, abi int) string {
	switch {
	case abi == 0:
		return "the kernel has no Landlock, or it is not among the security modules that it was started with"
	case abi < abiTruncate:
		return fmt.Sprintf("the kernel's Landlock is of ABI %d, which lets every file be truncated; %d is needed", abi, abiTruncate)
	case p.Network == NetProxy && abi < abiNet:
		return fmt.Sprintf("the kernel's Landlock is of ABI %d, which does not know ports; the proxy needs %d", abi, abiNet)
	case p.Mode == FullAccess:
		return "it can hide nothing in full-access mode"
	}
	return ""
}

// landlock makes the ruleset, the filter and the door of the proxy.
func (f *direct) landlock(p Policy, abi int, tmp string) error {
	writable := []string{tmp}
	if p.Mode == WorkspaceWrite {
		writable = append(append(writable, p.Workspace), p.Writable...)
	}
	if p.Network == NetProxy {
		if err := f.openDoor(); err != nil {
			return fmt.Errorf("the door of the proxy: %w", err)
		}
	}
	rules := rulesetFor(p, abi, writable, landlockDevices, f.port)
	carved, err := carve(p.Unreadable, writable)
	if err != nil {
		return err
	}
	for _, path := range append([]string{p.Workspace}, keptInRun...) {
		carved = append(carved, boot.Rule{Path: path, Access: readAccess})
	}
	rules.Rules = append(carved, rules.Rules[1:]...) // the first one is for "/"
	fd, err := rules.Make()
	if err != nil {
		return err
	}
	release := f.release
	f.release = func() {
		_ = unix.Close(fd)
		release()
	}
	inet := p.Network == NetOn || p.Network == NetProxy
	code := filter(filterPolicy{families: families(p, inet), streamsOnly: p.Network == NetProxy})
	f.restrict = func() error {
		if err := boot.DropCapabilities(); err != nil {
			return err
		}
		return boot.RestrictThread(fd, code)
	}
	return nil
}

// maxCarved bounds the rules that stand for "everything but".
const maxCarved = 8192

// keptInRun are below /run and read through fixed names: the resolver's file,
// and on NixOS every program there is.
var keptInRun = []string{"/run/systemd/resolve", "/run/resolvconf", "/run/current-system", "/run/opengl-driver", "/run/wrappers"}

// carve returns rules that allow reading everything except the hidden paths
// and the folders that another driver would replace, which Landlock can only say
// by naming everything else. What appears later beside such a path, or beside a
// folder on the way to it, cannot be read.
func carve(hidden, writable []string) ([]boot.Rule, error) {
	for _, h := range hidden {
		for _, w := range writable {
			if within(h, w) || within(w, h) {
				return nil, fmt.Errorf("%s cannot be hidden with %s writable: Landlock has no exceptions", h, w)
			}
		}
	}
	hidden = slices.Concat(replaced, alwaysHidden, hidden)
	var rules []boot.Rule
	todo := []string{"/"}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		for _, path := range namesIn(dir) {
			info, err := os.Lstat(path)
			switch {
			case err != nil || info.Mode()&os.ModeSymlink != 0 || slices.Contains(hidden, path):
				// A rule for a link would be one for what it points to.
			case slices.ContainsFunc(hidden, func(h string) bool { return within(h, path) }):
				todo = append(todo, path)
			default:
				rules = append(rules, boot.Rule{Path: path, Access: readAccess})
			}
		}
		if len(rules) > maxCarved {
			return nil, errors.New("hiding these paths takes too many rules; hide whole folders instead")
		}
	}
	return rules, nil
}

// namesIn lists the paths in dir. The root folder cannot be listed inside
// another such fence; there, the names that systems have in it must do.
func namesIn(dir string) []string {
	f, err := os.Open(dir)
	var names []string
	if err == nil {
		names, err = f.Readdirnames(-1)
		_ = f.Close() // only read
	}
	if err != nil && dir == "/" {
		names = strings.Fields("bin boot etc gnu home lib lib32 lib64 libx32 media mnt nix opt proc root sbin snap srv sys usr var")
	}
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}

// landlockOpen says what Landlock and seccomp do not hold without namespaces.
func landlockOpen(p Policy, abi int) []string {
	open := []string{
		"Mode, owner, times and extended attributes of files outside the workspace can be changed, where the user may.",
		"Processes that a command leaves behind in a session of their own are not found when it ends; other processes of the user can be seen, and their priority and limits changed.",
		"/tmp is the machine's: commands get a folder of their own in TMPDIR, and programs that write to /tmp by name fail.",
	}
	if len(p.Protected) > 0 && p.Mode == WorkspaceWrite {
		open = append(open, "Protected paths in the workspace can be changed by commands; which ones were is told when a command ends.")
	}
	open = append(open, "The root folder, and those above hidden paths, cannot be listed.",
		"Hidden folders can be entered, and size and times of a hidden file asked for by its name; what is in it cannot be read.",
		"Shared memory, queues and semaphores of System V and POSIX are refused, because they are the machine's.")
	if p.UnixSockets && abi < abiUnix {
		open = append(open, fmt.Sprintf("Unix sockets outside the workspace can be reached (Landlock ABI %d; %d holds them).", abi, abiUnix))
	}
	if abi < abiScope {
		open = append(open, fmt.Sprintf("Other processes of the user can be signalled (Landlock ABI %d; %d holds it).", abi, abiScope))
	}
	if abi < abiIoctl {
		open = append(open, fmt.Sprintf("Devices that the user may open can be controlled (Landlock ABI %d; %d holds it).", abi, abiIoctl))
	}
	switch p.Network {
	case NetLoopback:
		open = append(open, "A loopback of its own needs namespaces: every network socket is refused instead.")
	case NetProxy:
		open = append(open, "Past the proxy, a host can be reached that listens on the very port of the proxy: Landlock knows ports, not hosts.")
	case NetOn:
		open = append(open, "The network is on: services on the loopback of this machine can be reached.")
	}
	if p.Limits != (Limits{}) {
		open = append(open, "Limits are set right after a command begins, hold for each process, and the number of processes is that of the user.")
	}
	return open
}

// seccompFilter returns the filter for a fence whose namespaces hold the rest.
func seccompFilter(p Policy) []byte {
	return filter(filterPolicy{families: families(p, p.Network != NetOff), ownIPC: true})
}
