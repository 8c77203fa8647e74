package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tryTimeout is how long a trial command may take. A container may have to be
// made for it.
const tryTimeout = 20 * time.Second

// tryOne runs a command that does nothing in a fence that was just built.
func tryOne(ctx context.Context, f Fence) error {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	s := Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "exit 0"}, Env: f.Report().Env, Stdout: w, Stderr: w}
	p, err := f.Start(ctx, s)
	_ = w.Close() // the command has its own
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() }) // what is gone cannot be killed
	defer stop()
	x, err := p.Wait()
	if err != nil {
		return err
	}
	if x.Code != 0 {
		said := make([]byte, 500)
		_ = r.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // it was written before the end
		n, _ := r.Read(said)                                          // nothing said is an answer, too
		return fmt.Errorf("it ended with %d: %s", x.Code, strings.TrimSpace(string(said[:n])))
	}
	return nil
}

// findProgram finds a program of an operator's, in the PATH of this process,
// and never in a folder that commands may write to: there it could be theirs.
func findProgram(name string, p Policy) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || slices.ContainsFunc(append([]string{p.Workspace}, p.Writable...), func(w string) bool { return within(real, w) || within(path, w) }) {
			continue
		}
		return path, nil
	}
	return "", fmt.Errorf("the program %s is not in PATH outside the workspace: %w", name, exec.ErrNotFound)
}

// strongest lists the drivers that Auto tries, best first.
func strongest(goos string) []Driver {
	switch goos {
	case "linux":
		return []Driver{Namespaces, Bubblewrap, Landlock}
	case "darwin":
		return []Driver{Seatbelt}
	}
	return nil
}

func openStrongest(ctx context.Context, goos string, p Policy) (Fence, error) {
	var passed []string
	var bad []error
	for _, d := range strongest(goos) {
		f, err := openDriver(ctx, d, p, "")
		if err == nil {
			f.passed(passed)
			return f, nil
		}
		var un *UnavailableError
		if !errors.As(err, &un) {
			return nil, err // the policy, not the driver
		}
		passed, bad = append(passed, un.Error()), append(bad, err)
	}
	if bad == nil {
		return nil, &UnavailableError{Driver: Auto, Reason: "there is no driver for " + goos}
	}
	return nil, errors.Join(bad...)
}
