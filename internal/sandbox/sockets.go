package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// replaced are the folders that a fence has of its own.
var replaced = []string{"/tmp", "/var/tmp", "/run", "/dev"}

// alwaysHidden show the kernel's inside to whoever may read them.
var alwaysHidden = []string{"/sys/kernel/debug", "/sys/kernel/tracing", "/sys/firmware"}

// open says that commands may use a socket at path, or cannot see it.
func (p Policy) open(path string) bool {
	open := replaced
	if p.Mode == WorkspaceWrite {
		open = append(append([]string{p.Workspace}, p.Writable...), replaced...)
	}
	return slices.ContainsFunc(open, func(dir string) bool { return within(path, dir) })
}

// A boundSocket is a unix socket that can be connected to by an absolute path.
// Its id tells it from another that is bound to the same path later.
type boundSocket struct{ id, path string }

// machineSockets lists the sockets that can be connected to by a path now.
func machineSockets() []boundSocket {
	data, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	list := pathSockets(string(data))
	if path := os.Getenv("SSH_AUTH_SOCK"); filepath.IsAbs(path) {
		list = append(list, boundSocket{"", path})
	}
	return list
}

// pathSockets reads a /proc/net/unix. The connections of a server bear its path
// too, but nobody connects to them: only to one that listens, and to one for
// datagrams.
func pathSockets(text string) []boundSocket {
	const listens, datagrams = "00010000", "0002"
	var list []boundSocket
	for line := range strings.Lines(text) {
		// The path follows seven columns; abstract names begin with @.
		i := strings.Index(line, " /")
		if i < 0 {
			continue
		}
		if f := strings.Fields(line[:i]); len(f) == 7 && (f[3] == listens || f[4] == datagrams) {
			list = append(list, boundSocket{f[6], strings.TrimSuffix(line[i+1:], "\n")})
		}
	}
	return list
}
