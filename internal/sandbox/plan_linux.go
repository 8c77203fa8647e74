//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/handrail-tools/handrail/internal/sandbox/boot"
)

const defaultTemp = 2 << 30

// planFor turns a policy into what a fence process is told, and returns what
// this kernel does not hold of it.
func planFor(p Policy, abi int) (*boot.Plan, []string) {
	plan := &boot.Plan{
		UID:      uint64(os.Getuid()),
		GID:      uint64(os.Getgid()),
		Free:     p.Mode == FullAccess,
		Root:     p.Workspace,
		Temp:     uint64(p.Limits.Temp),
		Loopback: p.Network == NetLoopback || p.Network == NetProxy,
		Door:     p.Network == NetProxy,
		Pids:     uint64(p.Limits.Processes),
		Hidden:   p.Unreadable,
	}
	if plan.Temp == 0 {
		plan.Temp = defaultTemp
	}
	switch p.Mode {
	case ReadOnly:
		if slices.ContainsFunc(replaced, func(dir string) bool { return within(p.Workspace, dir) }) {
			plan.Visible = []string{p.Workspace}
		}
	case WorkspaceWrite:
		plan.Writable = append(plan.Writable, p.Workspace)
		for _, path := range p.Writable {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				plan.Writable = append(plan.Writable, path)
			}
		}
		// A folder comes before what lies in it, which would be covered otherwise.
		slices.SortFunc(plan.Writable, func(a, b string) int { return len(a) - len(b) })
	}
	if p.Mode != ReadOnly {
		for _, rel := range p.Protected {
			plan.Protected = append(plan.Protected, filepath.Join(p.Workspace, rel))
		}
	}
	if p.Mode != FullAccess {
		for _, path := range alwaysHidden {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				plan.Hidden = append(plan.Hidden, real)
			}
		}
	}
	writable := append([]string{"/tmp", "/var/tmp", "/dev/shm"}, plan.Writable...)
	plan.Ruleset = rulesetFor(p, abi, writable, []string{"/dev"}, 0)
	plan.Filter = seccompFilter(p)
	limits := p.Limits
	limits.Processes = 0 // counted by the PID namespace, which root cannot step over
	for what, n := range rlimits(limits) {
		plan.Limits = append(plan.Limits, [2]uint64{uint64(what), n})
	}
	return plan, openOf(p, abi)
}

// openOf says what the namespaces driver leaves open with a Landlock of this
// age.
func openOf(p Policy, abi int) []string {
	var open []string
	if p.Mode == FullAccess {
		open = append(open, "Full access: everything may be written and reached, except what is hidden or protected.")
	}
	if abi == 0 && p.Mode != FullAccess {
		open = append(open, "The kernel has no Landlock: a file that is handed to a command as a descriptor can be opened again for writing.")
	}
	if p.UnixSockets && p.Mode != FullAccess && abi < abiUnix {
		open = append(open, fmt.Sprintf("A unix socket that a program outside binds in a readable folder while a command runs can be reached by it until the next command (Landlock ABI %d; %d holds it).", abi, abiUnix))
	}
	if slices.ContainsFunc(p.Unreadable, isFile) {
		open = append(open, "A hidden file that a program outside replaces can be read for the moment until it is hidden again; a hidden folder cannot.")
	}
	if p.Network == NetOn && p.Mode != FullAccess {
		open = append(open, "The network is on: services on the loopback of this machine can be reached.")
	}
	if p.Network == NetOn && p.UnixSockets && abi < abiScope {
		open = append(open, fmt.Sprintf("Abstract unix sockets of the machine can be reached (Landlock ABI %d; %d holds them).", abi, abiScope))
	}
	if p.Limits.Memory > 0 {
		open = append(open, "The memory limit holds for each process, not for all of a command together.")
	}
	return open
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err != nil || !info.IsDir()
}
