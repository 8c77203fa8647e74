//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
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

// TestTerminalsAreApart holds that a command cannot open the terminal of
// another, to read what a person types there or to write into its picture.
func TestTerminalsAreApart(t *testing.T) {
	for _, d := range []Driver{Namespaces, Landlock, Bubblewrap} {
		t.Run(string(d), func(t *testing.T) {
			root, _ := workspace(t)
			f := open(t, d, Policy{Mode: WorkspaceWrite, Workspace: root})
			p, err := f.Start(context.Background(), Spec{
				Path: "/bin/sh", Argv: []string{"sh", "-c", "test -t 0 && test -w /dev/tty && tty && read x"}, Env: []string{"PATH=/usr/bin:/bin"}, Terminal: &Size{24, 80},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Terminal().Close()
			name, err := bufio.NewReader(p.Terminal()).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			name = strings.TrimSpace(name)
			if r := sh(t, f, "for p in "+name+" /dev/pts/[0-9]*; do exec 3<>$p && echo opened $p; done"); strings.Contains(r.out, "opened") {
				t.Errorf("the terminal %s: %s", name, r.out)
			}
			// A program that makes a terminal of its own still can.
			if r := run(t, f, Spec{Path: "python3", Argv: []string{"python3", "-c", "import os,pty; m,s=pty.openpty(); os.write(s,b'x'); print(os.ttyname(s), os.read(m,1))"}, Env: []string{"PATH=/usr/bin:/bin"}}); d != Landlock && !strings.Contains(r.out, "/dev/pts/0 b'x'") {
				t.Errorf("a terminal of its own: %s", r.out)
			}
			if err := p.Kill(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHiddenFilesAreNotMovedAway holds that a command cannot bring a hidden
// file under another name by renaming a folder on the way to it: a tool outside
// of the fence knows what is hidden by its name, and so does the next command
// where masks are made for each.
func TestHiddenFilesAreNotMovedAway(t *testing.T) {
	for _, d := range []Driver{Namespaces, Bubblewrap} {
		t.Run(string(d), func(t *testing.T) {
			root, _ := workspace(t)
			write(t, root+"/conf/deep/secret", "the content of it")
			write(t, root+"/conf/plain", "plain")
			f := open(t, d, Policy{Mode: WorkspaceWrite, Workspace: root, Unreadable: []string{root + "/conf/deep/secret"}})
			r := sh(t, f, "mv conf/plain conf/deep/p; mv conf/deep d2; mv conf c2; ls -d d2 c2; exit 0")
			if _, err := os.Stat(root + "/conf/deep/secret"); err != nil {
				t.Errorf("it lies elsewhere: %v; %s", err, r.out)
			}
			if r := sh(t, f, "cat conf/deep/p; cat conf/deep/secret c2/deep/secret d2/secret"); !strings.Contains(r.out, "plain") || strings.Contains(r.out, "the content") {
				t.Errorf("%s", r.out)
			}
		})
	}
}

// TestAProtectedNameThatIsALink holds that a command which makes a link under a
// protected name ends neither the session nor its protection.
func TestAProtectedNameThatIsALink(t *testing.T) {
	for _, to := range []string{"nowhere", "there", "/etc", ".git"} {
		t.Run(to, func(t *testing.T) {
			root, _ := workspace(t)
			write(t, root+"/there/config", "x")
			f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root, Protected: []string{".git/config", ".handrail/"}})
			if r := sh(t, f, "ln -s "+to+" .git"); r.Code != 0 || !slices.Contains(r.Appeared, ".git/config") {
				t.Errorf("%+v", r)
			}
			if r := sh(t, f, "echo works; rm .git; mkdir .git; mkdir new; mv -T new .git"); !strings.HasPrefix(r.out, "works\n") {
				t.Errorf("%+v", r)
			}
			info, err := os.Lstat(root + "/.git")
			if err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link was replaced: %v, %v", info, err)
			}
		})
	}
}

// TestAProtectedNameThatComesAndGoes holds that a path which was there when it
// was looked for, and not when it was to be protected, is protected later.
func TestAProtectedNameThatComesAndGoes(t *testing.T) {
	root, _ := workspace(t)
	f := open(t, Namespaces, Policy{Mode: WorkspaceWrite, Workspace: root, Protected: []string{".git/config"}})
	p, out := start(t, f, `mkdir .git; echo x >.git/config; exec /usr/bin/python3 -c "
import os
os.write(1,b'up')
while True:
    for a,b in ('.git','away'),('away','.git'):
        try: os.rename(a,b)
        except OSError: pass"`)
	_, _ = out.Read(make([]byte, 2))
	for range 30 {
		if r := sh(t, f, "true"); r.Code != 0 {
			t.Errorf("%+v", r)
		}
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	_ = os.Rename(root+"/away", root+"/.git") // where it ended in the middle
	if r := sh(t, f, "echo mine >.git/config"); r.Code == 0 {
		t.Errorf("it can be written to: %+v", r)
	}
}
