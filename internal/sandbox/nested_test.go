//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const nestedMark = "HANDRAIL_TEST_NESTED"

// nested opens the strongest fence that can be had where it runs, and says
// which that is, what was passed over, and whether it holds.
func nested() {
	root := os.Getenv(nestedMark)
	d := Driver(os.Getenv("DRIVER"))
	f, err := Open(context.Background(), Options{Driver: d, Policy: Policy{Mode: WorkspaceWrite, Workspace: root}})
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	r := f.Report()
	fmt.Println("driver", r.Driver)
	for _, p := range r.Passed {
		fmt.Println("passed", p)
	}
	for _, o := range r.Open {
		fmt.Println("open", o)
	}
	p, err := f.Start(context.Background(), Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "echo inside > in && echo wrote; echo x > ../out/x || echo held; echo y >/dev/null && head -c2 /dev/urandom >/dev/null && echo devices"}, Env: []string{"PATH=/bin:/usr/bin"}, Stdout: os.Stdout, Stderr: os.Stdout})
	if err != nil {
		fmt.Println("start:", err)
		return
	}
	x, err := p.Wait()
	fmt.Println("exit", x.Code, err, f.Close())
}

func nestedIn(t *testing.T, root string, d Driver, c *exec.Cmd) string {
	t.Helper()
	c.Env = append(c.Env, nestedMark+"="+root, "DRIVER="+string(d), "PATH="+os.Getenv("PATH"), "HOME=/nonexistent")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	return out.String()
}

// TestF102F115F103_InsideAFence runs Handrail inside each of its own fences.
func TestF102F115F103_InsideAFence(t *testing.T) {
	for _, outer := range []Driver{Namespaces, Landlock, Bubblewrap} {
		t.Run(string(outer), func(t *testing.T) {
			root, _ := workspace(t)
			inner := filepath.Join(root, "inner")
			write(t, filepath.Join(inner, "ws", ".keep"), "")
			write(t, filepath.Join(inner, "out", ".keep"), "")
			copyProgram(t, filepath.Join(root, "program"))
			f, err := Open(context.Background(), Options{Driver: outer, Policy: Policy{Mode: WorkspaceWrite, Workspace: root}})
			if err != nil {
				t.Logf("not here: %v", err)
				return
			}
			defer f.Close()
			for _, d := range []Driver{Auto, Namespaces} {
				r := run(t, f, Spec{Path: filepath.Join(root, "program"), Argv: []string{"program"}, Env: []string{nestedMark + "=" + filepath.Join(inner, "ws"), "DRIVER=" + string(d)}})
				if d == Namespaces {
					if !strings.Contains(r.out, "refused:") || !strings.Contains(r.out, "inside a Handrail fence") {
						t.Errorf("an explicit driver: %s", r.out)
					}
					continue
				}
				if !strings.Contains(r.out, "driver landlock") || !strings.Contains(r.out, "passed") || !strings.Contains(r.out, "wrote") || !strings.Contains(r.out, "held") || !strings.Contains(r.out, "devices") {
					t.Errorf("%s", r.out)
				}
			}
		})
	}
}

// TestF101F117F120_WhatAContainerTakesAway takes the parts of a fence away one
// by one, as container runtimes and distributions do.
func TestF101F117F120_WhatAContainerTakesAway(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("taking things away takes root; CI runs as root")
		return
	}
	root, _ := workspace(t)
	program := filepath.Join(filepath.Dir(root), "program")
	copyProgram(t, program)
	user := func(c *exec.Cmd) *exec.Cmd {
		c.SysProcAttr = &syscall.SysProcAttr{}
		return c
	}
	for _, c := range []struct {
		name, script, want, not string
		driver                  Driver
	}{
		{"masked /proc", "mount -t tmpfs x /proc/fs && exec unshare -U --map-root-user " + program, "names of processes outside", "refused:", Namespaces},
		{"no user namespaces", "exec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec " + program + "'", "driver landlock", "", Auto},
		{"no user namespaces, explicit", "exec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec " + program + "'", "max_user_namespaces", "driver", Namespaces},
		{"root without CAP_SETFCAP", "exec setpriv --bounding-set -setfcap,-sys_admin --inh-caps -all " + program, "", "refused:", Auto},
		{"root without any capability", "exec setpriv --bounding-set -all --inh-caps -all " + program, "", "refused:", Auto},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := user(exec.Command("/bin/sh", "-c", c.script))
			cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
			out := nestedIn(t, root, c.driver, cmd)
			if !strings.Contains(out, c.want) || c.not != "" && strings.Contains(out, c.not) {
				t.Errorf("%s", out)
			}
			if strings.Contains(out, "driver") && (!strings.Contains(out, "held") || !strings.Contains(out, "wrote")) {
				t.Errorf("does not hold: %s", out)
			}
			t.Log(strings.SplitN(out, "\n", 3)[:2])
		})
	}
}
