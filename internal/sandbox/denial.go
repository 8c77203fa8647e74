package sandbox

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Op is what a command was kept from.
type Op string

// The kinds of denial.
const (
	OpRead    Op = "read"
	OpWrite   Op = "write"
	OpConnect Op = "connect"
	// OpSystem is a system call: a mount, a debugger, a namespace.
	OpSystem Op = "system"
)

// Denial is one thing that the fence kept a command from, as its output tells.
type Denial struct {
	Op Op
	// Path is the file or folder, absolute and clean, for OpRead and OpWrite; ""
	// when the output does not name it.
	Path string
	// Host is the host, or host:port, for OpConnect; "" when it is not named.
	Host string
	// Line is the line of output that tells, at most 300 bytes of it.
	Line string
}

// Bounds of the search: errors stand at the end of an output, and nobody asks a
// person twenty questions.
const (
	maxDenialText = 256 << 10
	maxDenialLine = 300
	maxDenials    = 20
)

// Denials finds in the whole output of a command, run in dir behind the fence
// of r, what the fence kept it from. A refusal that the fence cannot have caused,
// such as a file in the workspace that belongs to somebody else, is none. The
// exit status does not matter: a program may go on after a refusal. The answer is
// a reading of text that the command wrote: ask a person with it, and never act
// on it alone.
func Denials(r Report, dir, output string) []Denial {
	if r.Driver == None {
		return nil
	}
	if len(output) > maxDenialText {
		output = output[len(output)-maxDenialText:]
	}
	var found []Denial
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		low := strings.ToLower(line)
		d, ok := r.denied(dir, line, low)
		if !ok || slices.ContainsFunc(found, func(o Denial) bool { return o.Op == d.Op && o.Path == d.Path && o.Host == d.Host }) {
			continue
		}
		d.Line = strings.ToValidUTF8(line[:min(len(line), maxDenialLine)], "")
		if found = append(found, d); len(found) == maxDenials {
			break
		}
	}
	return found
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// MayTell reports whether [Denials] could find something in a part of an
// output. It takes a fraction of its time.
func MayTell(output []byte) bool {
	return slices.ContainsFunc(tellTale, func(sign []byte) bool { return bytes.Contains(output, sign) })
}

// tellTale are parts of the phrases that denied looks for, in the cases in
// which programs write them.
var tellTale = [][]byte{
	[]byte("ermission denied"), []byte("ead-only file system"), []byte("ead-only filesystem"), []byte("EROFS"), []byte("erofs"), []byte("EACCES"), []byte("eacces"),
	[]byte("not permitted"), []byte("EPERM"), []byte("eperm"), []byte("resource busy"), []byte("EBUSY"), []byte("ebusy"),
	[]byte("esolve"), []byte("resolution"), []byte("not known"), []byte("unreachable"), []byte("ENOTFOUND"), []byte("enotfound"), []byte("EAI_AGAIN"), []byte("eai_again"),
	[]byte("ENETUNREACH"), []byte("enetunreach"), []byte("uch host"), []byte("ookup"), []byte("odename nor"), []byte("misbehaving"), []byte("403"), []byte("to proxy"), []byte("let it reach"),
}

// denied reads one line.
func (r Report) denied(dir, line, low string) (Denial, bool) {
	p := r.Policy
	switch {
	case containsAny(low, "read-only file system", "erofs"):
		// No file system of the machine is read-only for others, so a name is
		// not needed to know whose refusal it is.
		for _, path := range paths(dir, line) {
			if !p.mayWrite(path) {
				return Denial{Op: OpWrite, Path: path}, true
			}
		}
		return Denial{Op: OpWrite}, true
	case containsAny(low, "permission denied", "eacces", "operation not permitted", "eperm", "device or resource busy", "ebusy"):
		for _, path := range paths(dir, line) {
			if d, ok := r.refusedPath(path, low); ok {
				return d, true
			}
		}
		if p.Network != NetOn && containsAny(low, "socket", "connect", "listen", "bind", "dial ") && !strings.Contains(low, "busy") {
			return Denial{Op: OpConnect, Host: host(line)}, true
		}
		if containsAny(low, "ptrace", "mount", "unshare", "clone", "namespace", "keyctl", "io_uring", "chroot", "setns", "perf_event") && strings.Contains(low, "not permitted") {
			return Denial{Op: OpSystem}, true
		}
	case p.Network != NetOn && containsAny(low,
		"could not resolve host", "temporary failure in name resolution", "name or service not known", "network is unreachable",
		"enotfound", "eai_again", "enetunreach", "no such host", "failed to lookup address", "nodename nor servname", "server misbehaving",
		"connect tunnel failed, response 403", "received http code 403 from proxy", "403 forbidden from proxy", "cannot connect to proxy", "does not let it reach"):
		return Denial{Op: OpConnect, Host: host(line)}, true
	}
	return Denial{}, false
}

// refusedPath says whether the fence is why a path was refused.
func (r Report) refusedPath(path, low string) (Denial, bool) {
	p := r.Policy
	hidden := func(h string) bool { return within(path, h) }
	switch {
	case slices.ContainsFunc(p.Unreadable, hidden):
		return Denial{Op: OpRead, Path: path}, true
	case p.protects(path):
		return Denial{Op: OpWrite, Path: path}, true
	case r.Driver == Landlock || r.Driver == Seatbelt:
		// These answer every write outside like this, and reads of what lies in
		// the folders that other drivers replace.
		if !p.mayWrite(path) && containsAny(low, "creat", "write", "open", "touch", "mkdir", "remove", "rename", "unlink", "redirect", "cannot", "permission denied") {
			return Denial{Op: OpWrite, Path: path}, true
		}
	}
	return Denial{}, false
}

// protects says that path is a protected one, lies in one, or is on the way
// to one.
func (p Policy) protects(path string) bool {
	if p.Mode == ReadOnly || !within(path, p.Workspace) || path == p.Workspace {
		return false
	}
	return slices.ContainsFunc(p.Protected, func(rel string) bool {
		full := filepath.Join(p.Workspace, rel)
		return within(path, full) || within(full, path)
	})
}

// mayWrite says that the policy lets commands write at path.
func (p Policy) mayWrite(path string) bool {
	switch {
	case p.protects(path):
		return false
	case p.Mode == FullAccess || within(path, "/tmp") || within(path, "/var/tmp") || within(path, "/dev/shm"):
		return true
	case p.Mode != WorkspaceWrite:
		return false
	}
	return within(path, p.Workspace) || slices.ContainsFunc(p.Writable, func(w string) bool { return within(path, w) })
}

// expressions are what names stand in, in the messages of common programs.
type expressions struct{ quoted, bare, host, url *regexp.Regexp }

var denialExpressions = sync.OnceValue(func() expressions {
	return expressions{
		quoted: regexp.MustCompile("['\"`‘“]([^'\"`‘’“”]+)['\"`’”]"),
		bare:   regexp.MustCompile(`(?:^|[\s=(\[])((?:/|\.{1,2}/|~/)[^\s:;,'"()\[\]]+|[\w.@+-]+(?:/[\w.@+-]+)+)`),
		host:   regexp.MustCompile(`(?i)(?:resolve host:?|lookup|enotfound|eai_again|connect to|host named|resolving|let it reach)\s+['"]?([a-z0-9_\[][a-z0-9_.:\]-]*)`),
		url:    regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://(?:[^/\s@]*@)?([a-z0-9_.\[\]-]+(?::\d+)?)`),
	}
})

// paths returns what could be paths in a line, absolute, likeliest first.
func paths(dir, line string) []string {
	e := denialExpressions()
	var list []string
	for _, re := range []*regexp.Regexp{e.quoted, e.bare} {
		for _, m := range re.FindAllStringSubmatch(line, 8) {
			path := m[1]
			if strings.Contains(path, "://") {
				continue
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			list = append(list, filepath.Clean(path))
		}
	}
	// The shell's own form: "sh: 1: cannot create out/x: Permission denied".
	if before, _, ok := strings.Cut(line, ": Permission denied"); ok {
		if word := before[strings.LastIndexAny(before, " :")+1:]; word != "" {
			if !filepath.IsAbs(word) {
				word = filepath.Join(dir, word)
			}
			list = append(list, filepath.Clean(word))
		}
	}
	return list
}

// host returns the host that a line names, or "".
func host(line string) string {
	e := denialExpressions()
	for _, re := range []*regexp.Regexp{e.url, e.host} {
		if m := re.FindStringSubmatch(line); m != nil {
			return strings.TrimRight(strings.ToLower(m[1]), ".:")
		}
	}
	return ""
}
