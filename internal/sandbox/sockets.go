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

// machineSockets lists the unix sockets that have an absolute path now.
func machineSockets() []string {
	data, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	list := pathSockets(string(data))
	if path := os.Getenv("SSH_AUTH_SOCK"); filepath.IsAbs(path) {
		list = append(list, path)
	}
	return list
}

// pathSockets reads the absolute paths in a /proc/net/unix.
func pathSockets(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		// The path follows seven columns; abstract names begin with @.
		if i := strings.Index(line, " /"); i > 0 {
			list = append(list, strings.TrimSuffix(line[i+1:], "\n"))
		}
	}
	return list
}
