package sandbox

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"
)

// Mode says what commands may write. The words are those of the session's
// permission mode.
type Mode string

const (
	// ReadOnly lets commands write only into the private /tmp. The zero Mode
	// means the same.
	ReadOnly Mode = "read-only"
	// WorkspaceWrite lets them write in the workspace and the extra folders too.
	WorkspaceWrite Mode = "workspace-write"
	// FullAccess lets them write everywhere and reach every network; only what
	// is hidden or protected stays so.
	FullAccess Mode = "full-access"
)

// Network says what commands may reach.
type Network string

const (
	// NetOff refuses every network socket. The zero Network means the same, except
	// in full-access mode, where it is NetOn.
	NetOff Network = "off"
	// NetLoopback gives the session a loopback of its own, on which its commands
	// reach each other and nothing else.
	NetLoopback Network = "loopback"
	// NetProxy is NetLoopback with one more door: a proxy, served by the owner of
	// the fence, that decides about each host.
	NetProxy Network = "proxy"
	// NetOn is the network of the machine, its loopback included.
	NetOn Network = "on"
)

// Server is what answers at the door of NetProxy. Serve accepts connections
// until the listener is closed. An *http.Server and a *netproxy.Proxy are one.
type Server interface {
	Serve(net.Listener) error
}

// Limits bound what a command may use. Zero means no limit of ours.
type Limits struct {
	// Memory is how many bytes of private memory one process may have.
	Memory int64
	// Processes is how many processes and threads a command may have at once.
	Processes int
	// FileSize is how long, in bytes, a file may be that a command writes.
	FileSize int64
	// CPU is how much processor time one process may use; whole seconds count.
	CPU time.Duration
	// Temp is how many bytes the private /tmp holds; 0 means 2 GiB.
	Temp int64
}

// Policy is what a fence holds. The zero Policy with a Workspace is the
// strictest: read-only and without a network.
type Policy struct {
	// Mode says what may be written; "" is ReadOnly.
	Mode Mode
	// Workspace is the folder that the session works in, absolute.
	Workspace string
	// Writable are more folders that WorkspaceWrite opens, absolute. Those that
	// are not there are left out.
	Writable []string
	// Unreadable are files and folders that commands must not see the content
	// of, absolute. They hold in every mode.
	Unreadable []string
	// Protected are paths that stay read-only although they lie in a writable
	// folder, relative to Workspace. One that ends in "/" is a folder, and when it
	// is missing an empty one holds its place while the fence stands. Another that
	// is missing cannot be held; if a command makes it, Exit.Appeared says so, and
	// from then on it is read-only.
	Protected []string
	// Network says what may be reached; "" is NetOff, or NetOn in full-access mode.
	Network Network
	// Proxy answers at the door of NetProxy, and must be set with it and only
	// with it. The fence closes the listener, not the server.
	Proxy Server
	// UnixSockets lets commands make sockets of the unix family. Those that
	// listen outside the writable folders are masked before each command; where
	// the kernel's Landlock is older than ABI 9, one that is bound there while a
	// command runs can be reached by it. Pairs of sockets are always allowed.
	UnixSockets bool
	// Limits bound what a command may use.
	Limits Limits
}

// DefaultProtected are the paths in a workspace that make a later program,
// outside the fence, run what a command wrote there.
func DefaultProtected() []string {
	return []string{".git/hooks/", ".git/config", ".git/info/attributes", ".handrail/"}
}

// maxPaths bounds each list of paths in a policy: every one is a mount, and a
// mount namespace is copied for each slot.
const maxPaths = 4096

// normal returns the policy with every default spelled out and every path
// clean, or an error that names all that is wrong with it.
func (p Policy) normal() (Policy, error) {
	var bad []error
	switch p.Mode {
	case "":
		p.Mode = ReadOnly
	case ReadOnly, WorkspaceWrite, FullAccess:
	default:
		bad = append(bad, fmt.Errorf("mode %q: the modes are %q, %q and %q", p.Mode, ReadOnly, WorkspaceWrite, FullAccess))
	}
	if p.Network == "" && p.Mode == FullAccess {
		p.Network = NetOn
	}
	switch p.Network {
	case "":
		p.Network = NetOff
	case NetOff, NetLoopback, NetProxy, NetOn:
	default:
		bad = append(bad, fmt.Errorf("network %q: it may be %q, %q, %q or %q", p.Network, NetOff, NetLoopback, NetProxy, NetOn))
	}
	if (p.Network == NetProxy) != (p.Proxy != nil) {
		bad = append(bad, fmt.Errorf("network %q and a proxy server belong together", NetProxy))
	}
	root, err := realFolder(p.Workspace)
	if err != nil {
		bad = append(bad, fmt.Errorf("workspace: %w", err))
	}
	p.Workspace = root
	p.Writable, err = cleanPaths("writable", p.Writable)
	bad = append(bad, err)
	p.Unreadable, err = cleanPaths("unreadable", p.Unreadable)
	bad = append(bad, err)
	p.Protected, err = cleanProtected(p.Protected)
	bad = append(bad, err, p.Limits.check(), p.contradiction())
	return p, errors.Join(bad...)
}

// contradiction finds folders that are to be hidden and worked in.
func (p Policy) contradiction() error {
	var bad []error
	for _, w := range append([]string{p.Workspace}, p.Writable...) {
		for _, h := range p.Unreadable {
			if w != "" && within(w, h) {
				bad = append(bad, fmt.Errorf("%s is to be hidden, and %s lies in it", h, w))
			}
		}
	}
	return errors.Join(bad...)
}

// realFolder resolves links, because a mount and a Landlock rule hold the
// thing itself and not its name.
func realFolder(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%q is not an absolute path", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if real == "/" {
		return "", errors.New("the root of the file system cannot be a workspace")
	}
	return real, nil
}

func cleanPaths(what string, list []string) ([]string, error) {
	if len(list) > maxPaths {
		return nil, fmt.Errorf("%s: %d paths; at most %d", what, len(list), maxPaths)
	}
	var bad []error
	out := make([]string, 0, len(list))
	for _, p := range list {
		if !filepath.IsAbs(p) || strings.ContainsRune(p, 0) {
			bad = append(bad, fmt.Errorf("%s: %q is not an absolute path", what, p))
			continue
		}
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		if p = filepath.Clean(p); p == "/" {
			bad = append(bad, fmt.Errorf("%s: the root of the file system cannot be listed", what))
			continue
		}
		out = append(out, p)
	}
	return out, errors.Join(bad...)
}

func cleanProtected(list []string) ([]string, error) {
	if len(list) > maxPaths {
		return nil, fmt.Errorf("protected: %d paths; at most %d", len(list), maxPaths)
	}
	var bad []error
	out := make([]string, 0, len(list))
	for _, p := range list {
		if !filepath.IsLocal(p) || filepath.Clean(p) == "." || strings.ContainsRune(p, 0) {
			bad = append(bad, fmt.Errorf("protected: %q is not a path below the workspace", p))
			continue
		}
		clean := filepath.Clean(p)
		if strings.HasSuffix(p, "/") {
			clean += "/"
		}
		out = append(out, clean)
	}
	return out, errors.Join(bad...)
}

// minMemory is what a shell needs to start, and some more.
const minMemory = 1 << 20

func (l Limits) check() error {
	if l.Memory < 0 || l.Processes < 0 || l.FileSize < 0 || l.CPU < 0 || l.Temp < 0 {
		return errors.New("limits: none may be negative; 0 means no limit")
	}
	if l.Memory > 0 && l.Memory < minMemory {
		return fmt.Errorf("limits: memory of %d bytes; at least %d, with which a shell starts", l.Memory, int64(minMemory))
	}
	if l.CPU > 0 && l.CPU < time.Second {
		return fmt.Errorf("limits: processor time of %v; the kernel counts whole seconds", l.CPU)
	}
	return nil
}
