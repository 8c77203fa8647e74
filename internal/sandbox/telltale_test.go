package sandbox

import (
	"strings"
	"testing"
)

// TestMayTell: where one looks first whether there can be a refusal at all, none
// of those that are looked for is passed over.
func TestMayTell(t *testing.T) {
	r := Report{Driver: Landlock, Policy: Policy{Mode: WorkspaceWrite, Workspace: "/w", Network: NetOff, Unreadable: []string{"/secret"}}}
	for _, line := range []string{
		"sh: 1: cannot create /etc/x: Permission denied", "open /etc/x: permission denied", "touch: cannot touch '/usr/x': Read-only file system",
		"Error: EROFS: read-only file system, open '/usr/x'", "Error: EACCES: permission denied, open '/etc/x'", "cat: /secret/k: Permission denied",
		"rename /w/a /etc/a: operation not permitted", "mount: Operation not permitted", "rm: cannot remove '/secret': Device or resource busy",
		"Error: EPERM: operation not permitted, unlink '/etc/x'", "curl: (6) Could not resolve host: example.com", "getaddrinfo ENOTFOUND example.com",
		"getaddrinfo EAI_AGAIN example.com", "ping: example.com: Temporary failure in name resolution", "ssh: Name or service not known",
		"connect: Network is unreachable", "connect ENETUNREACH 1.2.3.4:80", "dial tcp: lookup example.com: no such host",
		"failed to lookup address information", "nodename nor servname provided", "lookup x: server misbehaving", "CONNECT tunnel failed, response 403",
		"Received HTTP code 403 from proxy after CONNECT", "403 Forbidden from proxy", "Cannot connect to proxy", "the fence does not let it reach x",
	} {
		if len(Denials(r, "/w", line)) == 0 {
			t.Errorf("%q is no refusal", line)
		}
		if !MayTell([]byte("before\n" + line + "\nafter\n")) {
			t.Errorf("%q is passed over", line)
		}
	}
	if MayTell([]byte(strings.Repeat("a line of ordinary text of a build\n", 100))) {
		t.Error("ordinary text is searched")
	}
}
