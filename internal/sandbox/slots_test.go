//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestSiblings holds that a command cannot make a process whose parent is the
// fence process instead of itself: the slot would be taken for empty while that
// process is in it, to meet the next command there.
func TestSiblings(t *testing.T) {
	number := map[string]int{"amd64": 56, "arm64": 220}[runtime.GOARCH]
	script := fmt.Sprintf(`import ctypes,os,time
libc=ctypes.CDLL(None,use_errno=True)
pid=libc.syscall(%d,0x8000|17,0,0,0,0)
if pid==0:
    os.close(1); os.close(2)
    time.sleep(30)
    os._exit(0)
print("made" if pid>0 else "refused", flush=True)
os._exit(0)`, number)
	for _, d := range []Driver{Namespaces, Landlock, Bubblewrap} {
		t.Run(string(d), func(t *testing.T) {
			root, _ := workspace(t)
			f := open(t, d, Policy{Mode: WorkspaceWrite, Workspace: root})
			if r := run(t, f, Spec{Path: "python3", Argv: []string{"python3", "-c", script}}); r.out != "refused\n" {
				t.Errorf("the command: %q", r.out)
			}
			if d == Landlock {
				return // which has no namespace of processes
			}
			if r := sh(t, f, `for p in /proc/[0-9]*; do test ${p#/proc/} = 1 || tr '\0' ' ' <$p/cmdline; done`); strings.Contains(r.out, "python") {
				t.Errorf("the next command meets %q", r.out)
			}
		})
	}
}
