//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helplessMark has the test binary be the owner of a command that it may not
// kill; its value is a program that becomes root.
const helplessMark = "HANDRAIL_TEST_HELPLESS"

// TestWhatCannotBeKilled holds that a command which became another user, as
// sudo does, does not keep Kill and Close waiting until it ends.
func TestWhatCannotBeKilled(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a program that becomes root")
	}
	dir := scratch(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"/usr/bin/setpriv": "become", os.Args[0]: "test"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, to)
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
		if to == "become" {
			if err := os.Chmod(path, 0o755|os.ModeSetuid); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "test"))
	cmd.Dir, cmd.Env = "/", []string{helplessMark + "=" + filepath.Join(dir, "become"), "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "closed") {
		t.Errorf("%v: %s", err, out)
	}
}

func helpless(become string) {
	f, err := Open(context.Background(), Options{Driver: None, Policy: Policy{Mode: FullAccess, Workspace: "/tmp", Network: NetOn}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := f.Start(context.Background(), Spec{Path: become, Argv: []string{become, "--reuid", "0", "--regid", "0", "--clear-groups", "sleep", "20"}, Env: os.Environ(), Keep: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	time.Sleep(300 * time.Millisecond) // until it is somebody else
	began := time.Now()
	if err := p.Kill(); err == nil {
		fmt.Println("Kill says that it is gone")
		return
	}
	if err := f.Close(); err == nil {
		fmt.Println("Close says that nothing is left")
		return
	}
	if took := time.Since(began); took < 10*time.Second {
		fmt.Println("closed")
	}
}
