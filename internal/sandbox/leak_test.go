//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNothingIsLeft counts descriptors, processes and temporary files around
// fences that were used and closed.
func TestNothingIsLeft(t *testing.T) {
	root, _ := workspace(t)
	temps := func() int {
		m, _ := filepath.Glob(filepath.Join(os.TempDir(), "handrail-tmp-*"))
		return len(m)
	}
	descriptors := func() int {
		e, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(e)
	}
	use := func() {
		for _, d := range []Driver{Namespaces, Landlock} {
			f := open(t, d, Policy{Mode: WorkspaceWrite, Workspace: root, UnixSockets: true, Unreadable: []string{"/etc/shadow"}, Protected: DefaultProtected()})
			for _, script := range []string{"true", "sleep 60 &", "exit 3", "kill -9 $$"} {
				sh(t, f, script)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	use() // the runtime keeps some for itself
	fds, tmp := descriptors(), temps()
	for range 5 {
		use()
	}
	deadline := time.Now().Add(5 * time.Second)
	for descriptors() > fds || len(children(os.Getpid())) > 0 || temps() > tmp {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors, were %d; children %v; %d temporary folders, were %d", descriptors(), fds, children(os.Getpid()), temps(), tmp)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestStandardFiles opens the standard files again by name, as shells and
// compilers do.
func TestStandardFiles(t *testing.T) {
	root, _ := workspace(t)
	for _, d := range drivers(t, Policy{Workspace: root}) {
		f := open(t, d, Policy{Mode: WorkspaceWrite, Workspace: root})
		r := sh(t, f, "cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr; echo x > /dev/fd/1; echo piped | cat /dev/stdin; cat < /dev/null")
		if got := strings.Join(strings.Fields(r.out), " "); got != "out err x piped" {
			t.Errorf("%s: %d %q", d, r.Code, r.out)
		}
	}
}
