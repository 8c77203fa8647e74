package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// check takes a client through the scenario over both transports, and
// interrupts it in a further run while a call is under way.
func (c client) check(ctx context.Context, p place, ours []string, r *report) {
	for _, http := range []bool{false, true} {
		c.play(ctx, p, ours, r, http)
	}
	c.stop(ctx, p, r)
	if c.believes {
		c.unasked(ctx, p, r)
	}
}

func (c client) play(ctx context.Context, p place, ours []string, r *report, http bool) {
	label := "stdio"
	if http {
		label = "http"
	}
	r.who = c.name + " over " + label
	defer func() { r.who = c.name }()
	run, err := newRun(ctx, p, c, label, steps, http)
	if err != nil {
		r.failed("settings", err)
		return
	}
	list, err := run.command("list", nil, append([]string{run.program()}, c.listing...)...).run(ctx)
	r.failed("mcp list", err)
	if !strings.Contains(list, "handrail") || !strings.Contains(list, c.connected) {
		r.wrong("mcp list", fmt.Sprintf("handrail, and %q", c.connected), list)
	}
	_, err = run.prompted().run(ctx)
	r.failed("run", err)
	seen := run.model.Seen()
	for _, trouble := range seen.Trouble {
		r.wrong("run", "requests that can be read", trouble)
	}
	r.tools(c, ours, seen.Tools)
	r.shown(c, steps, seen.Results)
	log, err := run.settle(ctx, len(steps))
	r.failed("log", err)
	r.recorded(steps, log)
	made, err := os.ReadFile(filepath.Join(run.files, "made", "list.txt"))
	r.failed("edit a file", err)
	if string(made) != "one\nthree\n" {
		r.wrong("edit a file", `the file holds "one\nthree\n"`, string(made))
	}
	r.failed("end", run.close())
	r.gone(run)
	r.did("%s: %d tools, %d steps", label, len(ours), len(steps))
}

// stop presses Ctrl-C while the slow call runs.
func (c client) stop(ctx context.Context, p place, r *report) {
	script := []step{slowStep}
	run, err := newRun(ctx, p, c, "interrupt", script, false)
	if err != nil {
		r.failed("interrupt", err)
		return
	}
	r.failed("interrupt", run.prompted().interrupt(ctx, run.calling))
	log, err := run.settle(ctx, 1)
	r.failed("interrupt", err)
	r.recorded(script, log)
	r.failed("end", run.close())
	r.gone(run)
	r.did("Ctrl-C ends the call and the server")
}

// unasked has a tool called that reads and one that writes, without leave.
func (c client) unasked(ctx context.Context, p place, r *report) {
	script := []step{steps[1], steps[2]}
	script[1].theirs = true
	run, err := newRun(ctx, p, c, "unasked", script, false)
	if err != nil {
		r.failed("unasked", err)
		return
	}
	run.leave = false
	_, err = run.prompted().run(ctx)
	r.failed("unasked", err)
	r.shown(c, script, run.model.Seen().Results)
	log, err := run.recorded(ctx)
	r.failed("unasked", err)
	r.recorded(script[:1], log)
	r.failed("end", run.close())
	r.gone(run)
	r.did("reads without leave, does not write")
}

// gone checks that no process of the run is left, and ends what is.
func (r *report) gone(run *run) {
	left := leftovers(run.dir)
	for deadline := time.Now().Add(5 * time.Second); len(left) > 0 && time.Now().Before(deadline); left = leftovers(run.dir) {
		time.Sleep(100 * time.Millisecond)
	}
	for _, p := range left {
		r.wrong("end", "no process of the run is left", p.line)
		if err := syscall.Kill(p.id, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			r.failed("end", err)
		}
	}
}
