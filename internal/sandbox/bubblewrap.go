package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
)

func openBubblewrap(ctx context.Context, p Policy) (Fence, error) {
	no := func(reason string, err error) (Fence, error) {
		return nil, &UnavailableError{Driver: Bubblewrap, Reason: reason, Err: err}
	}
	switch {
	case runtime.GOOS != "linux":
		return no("bubblewrap is for Linux", nil)
	case p.Network == NetProxy:
		return no("it cannot open a door for the proxy in the network namespace that it makes", nil)
	case p.Mode == FullAccess:
		return no("it is not used in full-access mode", nil)
	}
	bwrap, err := findProgram("bwrap", p)
	if err != nil {
		return no("it is not installed", err)
	}
	f := &direct{report: Report{Driver: Bubblewrap, Policy: p, Env: []string{"HANDRAIL_SANDBOX=" + string(Bubblewrap)}, Open: []string{
		"Unix sockets that a program outside binds in a readable folder while a command runs can be reached by it, where unix sockets are allowed.",
		"PID 1 of each command is bwrap itself, which the command may look into.",
		"A command lives on when this process is killed in the very moment in which bwrap starts it.",
		"A hidden file that a program outside replaces can be read by commands that started before.",
	}}}
	places, err := holdPlaces(p)
	if err != nil {
		return nil, err
	}
	f.release = places.remove
	code := seccompFilter(p)
	f.wrap = func(s *Spec) error {
		if err := s.noFiles(); err != nil {
			return err
		}
		args := bubblewrapArgs(p, s.Dir)
		if code != nil {
			file, err := inMemory(code)
			if err != nil {
				return fmt.Errorf("the filter for bubblewrap: %w", err)
			}
			s.extra = append(s.extra, file)
			args = append(args, "--seccomp", "3")
		}
		s.Argv = append(append(append([]string{"bwrap"}, args...), "--", s.Path), s.Argv[1:]...)
		s.Path, s.Dir = bwrap, "/"
		return nil
	}
	if err := tryOne(ctx, f); err != nil {
		_ = f.Close() // the error that matters is the first
		return no("a trial command did not run", err)
	}
	return f, nil
}

// noFiles refuses regular files for a command: there is no Landlock on top of
// bubblewrap, and a file that was handed over as a descriptor is on a mount of
// outside, where it could be opened again for writing.
func (s *Spec) noFiles() error {
	for _, f := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if f == nil {
			continue
		}
		if info, err := f.Stat(); err != nil {
			return fmt.Errorf("files of a command: %w", err)
		} else if info.Mode().IsRegular() {
			return fmt.Errorf("in the fence %s a command gets pipes and no files: %s could be opened again for writing", Bubblewrap, f.Name())
		}
	}
	return nil
}

// bubblewrapArgs returns the arguments for a command in dir. The order is that
// of the mounts: a folder of the fence's own comes before what is bound into it.
func bubblewrapArgs(p Policy, dir string) []string {
	args := []string{"--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"}
	if p.Network != NetOn {
		args = append(args, "--unshare-net")
	}
	temp := p.Limits.Temp
	if temp == 0 {
		temp = 2 << 30
	}
	tmpfs := func(path string) { args = append(args, "--size", strconv.FormatInt(temp, 10), "--tmpfs", path) }
	args = append(args, "--ro-bind", "/", "/", "--dev", "/dev", "--remount-ro", "/dev", "--proc", "/proc", "--remount-ro", "/proc")
	for _, path := range alwaysHidden {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			args = append(args, "--tmpfs", path, "--remount-ro", path)
		}
	}
	for _, path := range []string{"/tmp", "/var/tmp", "/run"} {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			tmpfs(path)
		}
	}
	if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && within(real, "/run") {
		args = append(args, "--ro-bind", real, real)
	}
	bind := "--ro-bind"
	if p.Mode == WorkspaceWrite {
		bind = "--bind"
	}
	args = append(args, bind, p.Workspace, p.Workspace)
	if p.Mode == WorkspaceWrite {
		writable := slices.Clone(p.Writable)
		slices.Sort(writable)
		for _, path := range writable {
			args = append(args, "--bind-try", path, path)
		}
		for _, path := range p.pinned() {
			args = append(args, "--bind", path, path)
		}
		for _, step := range p.lockSteps() {
			if step.last {
				args = append(args, "--ro-bind", step.path, step.path)
			}
		}
	}
	for _, path := range p.Unreadable {
		switch info, err := os.Stat(path); {
		case err != nil: // missing, or not to be reached by this user anyway
		case info.IsDir():
			args = append(args, "--perms", "0000", "--tmpfs", path, "--remount-ro", path)
		default:
			args = append(args, "--ro-bind", os.DevNull, path)
		}
	}
	if p.UnixSockets {
		for _, s := range machineSockets() {
			if real, err := filepath.EvalSymlinks(s.path); err == nil && !p.open(real) {
				args = append(args, "--ro-bind", os.DevNull, real)
			}
		}
	}
	return append(args, "--chdir", dir)
}

// lockStep is one mount on the way to a protected path.
type lockStep struct {
	path string
	last bool
}

// lockSteps lists the mounts that protect what is there: each folder on the way
// is one, so that it cannot be renamed away with what it protects.
func (p Policy) lockSteps() []lockStep {
	var steps []lockStep
	for _, rel := range p.Protected {
		parts := splitPath(rel)
		at := p.Workspace
		for i, part := range parts {
			at = filepath.Join(at, part)
			info, err := os.Lstat(at)
			if err != nil {
				break
			}
			step := lockStep{at, i == len(parts)-1 || !info.IsDir()}
			// A mount that is there already is made anew only to become read-only.
			if step.last || !slices.ContainsFunc(steps, func(s lockStep) bool { return s.path == at }) {
				steps = append(steps, step)
			}
			if step.last {
				break
			}
		}
	}
	return steps
}

// pinned lists the folders that become mounts for the sake of what lies in
// them, the highest first: those on the way to a protected path, and those
// between a writable folder and a hidden path, which a rename would bring under
// another name.
func (p Policy) pinned() []string {
	var list []string
	for _, step := range p.lockSteps() {
		if !step.last {
			list = append(list, step.path)
		}
	}
	for _, hidden := range p.Unreadable {
		if _, err := os.Lstat(hidden); err != nil {
			continue
		}
		for _, root := range append([]string{p.Workspace}, p.Writable...) {
			for dir := filepath.Dir(hidden); dir != root && within(dir, root) && !p.locks(dir); dir = filepath.Dir(dir) {
				list = append(list, dir)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// locks says that path lies in a protected one, which cannot be renamed.
func (p Policy) locks(path string) bool {
	return slices.ContainsFunc(p.Protected, func(rel string) bool { return within(path, filepath.Join(p.Workspace, rel)) })
}
