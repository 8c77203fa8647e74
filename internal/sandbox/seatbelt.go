package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// seatbeltProgram is part of macOS; a program of that name elsewhere is not it.
const seatbeltProgram = "/usr/bin/sandbox-exec"

func openSeatbelt(ctx context.Context, p Policy) (Fence, error) {
	no := func(reason string, err error) (Fence, error) {
		return nil, &UnavailableError{Driver: Seatbelt, Reason: reason, Err: err}
	}
	switch {
	case runtime.GOOS != "darwin":
		return no("sandbox-exec is for macOS", nil)
	case p.Mode == FullAccess:
		return no("it is not used in full-access mode", nil)
	}
	if _, err := os.Stat(seatbeltProgram); err != nil {
		return no("the system has none", err)
	}
	tmp, err := os.MkdirTemp("", "handrail-tmp-")
	if err != nil {
		return no("a folder for temporary files cannot be made", err)
	}
	if tmp, err = filepath.EvalSymlinks(tmp); err != nil {
		return no("the folder for temporary files", err)
	}
	places, err := holdPlaces(p)
	if err != nil {
		_ = os.Remove(tmp) // it is empty
		return nil, err
	}
	f := &direct{report: Report{Driver: Seatbelt, Policy: p, Env: []string{"HANDRAIL_SANDBOX=" + string(Seatbelt), "TMPDIR=" + tmp}, Open: seatbeltOpen(p)}}
	f.release = func() {
		places.remove()
		_ = os.RemoveAll(tmp) // what a command made unremovable stays
	}
	if p.Network == NetProxy {
		if err := f.openDoor(); err != nil {
			f.release()
			return no("the door of the proxy", err)
		}
	}
	args := seatbeltArgs(p, tmp, f.port)
	f.wrap = func(s *Spec) error {
		s.Argv = append(append(append([]string{"sandbox-exec"}, args...), s.Path), s.Argv[1:]...)
		s.Path = seatbeltProgram
		return nil
	}
	if err := tryOne(ctx, f); err != nil {
		_ = f.Close() // the error that matters is the first
		return no("a trial command did not run; a process in a seatbelt cannot put on another", err)
	}
	return f, nil
}

func seatbeltOpen(p Policy) []string {
	open := []string{
		"Processes that a command leaves behind in a session of their own are not found when it ends.",
		"Memory and processes are not limited by this driver.",
		"Terminals of the user can be opened, those of other programs too.",
	}
	if p.Network == NetLoopback {
		open = append(open, "The loopback is that of the machine: its services can be reached.")
	}
	return open
}

// seatbeltArgs returns the arguments of sandbox-exec up to the command. Paths
// are parameters, so that no path can be read as part of the profile.
func seatbeltArgs(p Policy, tmp string, port uint16) []string {
	var params []string
	param := func(path string) string {
		name := fmt.Sprintf("P%d", len(params)/2)
		params = append(params, "-D", name+"="+path)
		return `(param "` + name + `")`
	}
	var b strings.Builder
	b.WriteString("(version 1)\n(deny default)\n")
	b.WriteString("(allow process-exec process-fork process-info* signal (target same-sandbox))\n")
	b.WriteString("(allow sysctl-read mach-lookup ipc-posix-sem ipc-posix-shm pseudo-tty)\n")
	b.WriteString("(allow file-read*)\n(allow file-ioctl (literal \"/dev/tty\") (regex #\"^/dev/ttys[0-9]+$\") (literal \"/dev/ptmx\"))\n")
	b.WriteString("(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\") (literal \"/dev/ptmx\") (regex #\"^/dev/ttys[0-9]+$\"))\n")
	writable := []string{tmp}
	if p.Mode == WorkspaceWrite {
		writable = append(append(writable, p.Workspace), p.Writable...)
	}
	for _, path := range writable {
		fmt.Fprintf(&b, "(allow file-write* (subpath %s))\n", param(path))
	}
	// A later rule beats an earlier one.
	for _, rel := range p.Protected {
		parts := splitPath(rel)
		for i := range parts {
			at := filepath.Join(append([]string{p.Workspace}, parts[:i+1]...)...)
			if i == len(parts)-1 {
				fmt.Fprintf(&b, "(deny file-write* (subpath %s))\n", param(at))
			} else {
				fmt.Fprintf(&b, "(deny file-write-unlink (literal %s))\n", param(at))
			}
		}
	}
	if p.Mode != ReadOnly {
		for _, path := range p.pinned() {
			fmt.Fprintf(&b, "(deny file-write-unlink (literal %s))\n", param(path))
		}
	}
	for _, path := range p.Unreadable {
		fmt.Fprintf(&b, "(deny file-read* file-write* (subpath %s))\n", param(path))
	}
	switch p.Network {
	case NetOn:
		b.WriteString("(allow network* system-socket)\n")
	case NetLoopback:
		b.WriteString("(allow system-socket)\n(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))\n")
	case NetProxy:
		fmt.Fprintf(&b, "(allow system-socket)\n(allow network-outbound (remote ip \"localhost:%d\"))\n", port)
	}
	if p.UnixSockets {
		for _, path := range writable {
			fmt.Fprintf(&b, "(allow network* (subpath %s))\n", param(path))
		}
	}
	return append([]string{"-p", b.String()}, params...)
}
