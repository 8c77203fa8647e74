package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// Finding says whether one driver can be had, as Probe found by trying.
type Finding struct {
	Driver Driver
	// OK says that a command ran in it.
	OK bool
	// Reason says why not, for an operator.
	Reason string
	// Open is what it does not hold here (Report.Open).
	Open []string
	// Opening is how long the fence took to be built, and Command how long its
	// first command took.
	Opening, Command time.Duration
}

// Probe tries every driver for this system, strongest first, with a policy like
// that of a session: workspace-write, loopback, something hidden and something
// protected. It changes nothing but a temporary folder of its own.
func Probe(ctx context.Context) ([]Finding, error) {
	dir, err := os.MkdirTemp("", "handrail-probe-")
	if err != nil {
		return nil, fmt.Errorf("a workspace to try fences in: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // it held nothing
	found := make([]Finding, 0, 3)
	for _, d := range strongest(runtime.GOOS) {
		found = append(found, probeOne(ctx, d, Policy{
			Mode: WorkspaceWrite, Workspace: dir, Network: NetLoopback, UnixSockets: true,
			Unreadable: []string{"/etc/shadow"}, Protected: DefaultProtected(),
		}))
	}
	return found, nil
}

func probeOne(ctx context.Context, d Driver, p Policy) Finding {
	began := time.Now()
	found := Finding{Driver: d}
	f, err := Open(ctx, Options{Driver: d, Policy: p})
	found.Opening = time.Since(began)
	if err != nil {
		found.Reason = err.Error()
		var un *UnavailableError
		if errors.As(err, &un) {
			found.Reason = un.Reason
			if un.Err != nil {
				found.Reason += " (" + un.Err.Error() + ")"
			}
		}
		return found
	}
	defer func() { _ = f.Close() }() // the finding stands
	began = time.Now()
	if err := tryOne(ctx, f); err != nil {
		found.Reason = "a trial command did not run (" + err.Error() + ")"
		return found
	}
	found.OK, found.Command, found.Open = true, time.Since(began), f.Report().Open
	return found
}
