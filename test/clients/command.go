package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxTail is how much of a program's output a failure shows, in bytes.
const maxTail = 1500

// command is a program with an environment of its own, so that no settings
// and no keys of the machine reach it.
type command struct {
	dir  string
	env  []string
	args []string
	// output is a file that gets what the program prints.
	output string
	// patience is how long it may take, in all.
	patience time.Duration
}

// start starts the program in a process group of its own.
func (c command) start(ctx context.Context) (*exec.Cmd, *os.File, error) {
	out, err := os.OpenFile(c.output, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return cmd, out, nil
}

// run runs the program to its end and returns what it printed.
func (c command) run(ctx context.Context) (string, error) {
	ctx, stop := context.WithTimeout(ctx, c.patience)
	defer stop()
	cmd, out, err := c.start(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Close() }()
	err = cmd.Wait()
	if ctx.Err() != nil {
		err = fmt.Errorf("not done after %v", c.patience)
	}
	text, readErr := os.ReadFile(c.output)
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, tail(text))
	}
	return string(text), errors.Join(err, readErr)
}

// interrupt runs the program and presses Ctrl-C, as a terminal does: every
// process of its group gets the signal. ready returns when it is time.
func (c command) interrupt(ctx context.Context, ready func(context.Context) error) error {
	ctx, stop := context.WithTimeout(ctx, c.patience)
	defer stop()
	cmd, out, err := c.start(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // with whatever status: it was told to end
	}()
	waitCtx, stopWaiting := context.WithCancel(ctx)
	defer stopWaiting()
	isReady := make(chan error, 1)
	go func() { isReady <- ready(waitCtx) }()
	select {
	case <-ended:
		text, _ := os.ReadFile(c.output) // for the message only
		return fmt.Errorf("ended before it was interrupted\n%s", tail(text))
	case err := <-isReady:
		if err != nil {
			stop()
			<-ended
			return err
		}
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-time.After(20 * time.Second):
		stop()
		<-ended
		return errors.New("still there 20 s after Ctrl-C")
	}
}

func tail(text []byte) []byte { return text[max(0, len(text)-maxTail):] }

// process is one that is there.
type process struct {
	id   int
	line string // its command line
}

// leftovers are the processes that have a path in their environment or on
// their command line. Every program of a run has its home, so none is missed.
func leftovers(path string) []process {
	var found []process
	folders, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline")) // what has gone meanwhile is not left
		environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
		id, err := strconv.Atoi(filepath.Base(folder))
		if err == nil && (bytes.Contains(line, []byte(path)) || bytes.Contains(environment, []byte(path))) {
			found = append(found, process{id, strings.ReplaceAll(string(line), "\x00", " ")})
		}
	}
	return found
}
