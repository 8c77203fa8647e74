package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func openContainer(ctx context.Context, p Policy, image string) (Fence, error) {
	no := func(reason string, err error) (Fence, error) {
		return nil, &UnavailableError{Driver: Container, Reason: reason, Err: err}
	}
	switch {
	case image == "" || strings.HasPrefix(image, "-"):
		return no("the name of an image is needed, for example debian:stable", nil)
	case p.Network == NetProxy:
		return no("it cannot open a door for the proxy in a container", nil)
	case p.Mode == FullAccess:
		return no("it is not used in full-access mode", nil)
	}
	program, err := findProgram("docker", p)
	if err != nil {
		if program, err = findProgram("podman", p); err != nil {
			return no("neither docker nor podman is installed", err)
		}
	}
	if err := containerPaths(p); err != nil {
		return no("a path cannot be mounted", err)
	}
	places, err := holdPlaces(p)
	if err != nil {
		return nil, err
	}
	f := &direct{report: Report{Driver: Container, Policy: p, Env: []string{"HANDRAIL_SANDBOX=" + string(Container)}, Open: []string{
		"What a container holds is up to the container runtime; whoever may talk to it can do everything.",
		"Programs come from the image, not from this machine.",
	}}, release: places.remove}
	f.wrap = func(s *Spec) error {
		name := "handrail-" + strings.ToLower(rand.Text())
		s.Argv = append(append([]string{filepath.Base(program)}, containerArgs(p, *s, name, image, filepath.Base(program))...), s.Argv[1:]...)
		s.Path, s.Dir = program, "/"
		s.Env = append(slices.Clone(s.Env), clientEnv()...)
		s.stop = func() { removeContainer(program, name) }
		return nil
	}
	if err := tryOne(ctx, f); err != nil {
		_ = f.Close() // the error that matters is the first
		return no("a trial command did not run", err)
	}
	return f, nil
}

// clientNames are the variables by which the runtime's own client finds its
// daemon. None of them reaches the container: only what is passed with --env does.
var clientNames = []string{"HOME", "PATH", "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "XDG_RUNTIME_DIR"}

func clientEnv() []string {
	var env []string
	for _, name := range clientNames {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// containerPaths refuses what would give the container the machine, or cannot
// be written in a mount option.
func containerPaths(p Policy) error {
	var bad []error
	for _, path := range append([]string{p.Workspace}, p.Writable...) {
		if strings.ContainsAny(path, ",:\"\r\n") {
			bad = append(bad, fmt.Errorf("%q: a comma, a colon, a quote or a line break ends a mount option", path))
		}
		if slices.ContainsFunc([]string{"/etc", "/proc", "/sys", "/dev", "/run", "/var/run", "/boot"}, func(dir string) bool { return within(path, dir) }) {
			bad = append(bad, fmt.Errorf("%q belongs to the machine", path))
		}
	}
	return errors.Join(bad...)
}

// containerArgs returns the arguments of docker or podman up to the command's
// own. The values of the environment are read by the client from its own, so
// that they stand in no list of processes.
func containerArgs(p Policy, s Spec, name, image, program string) []string {
	args := []string{"run", "--rm", "--init", "--name", name, "--pull", "never", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--user", strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid())}
	if program == "podman" {
		args = append(args, "--userns", "keep-id")
	}
	if p.Network != NetOn {
		args = append(args, "--network", "none")
	}
	args = append(args, "--interactive")
	if s.Terminal != nil {
		args = append(args, "--tty")
	}
	l := p.Limits
	temp := l.Temp
	if temp == 0 {
		temp = 2 << 30
	}
	for _, path := range []string{"/tmp", "/var/tmp", "/run"} {
		args = append(args, "--tmpfs", path+":rw,nosuid,nodev,exec,size="+strconv.FormatInt(temp, 10))
	}
	for _, limit := range []struct {
		name string
		n    int64
	}{{"--memory", l.Memory}, {"--pids-limit", int64(l.Processes)}} {
		if limit.n > 0 {
			args = append(args, limit.name, strconv.FormatInt(limit.n, 10))
		}
	}
	if l.FileSize > 0 {
		args = append(args, "--ulimit", "fsize="+strconv.FormatInt(l.FileSize, 10))
	}
	if l.CPU > 0 {
		args = append(args, "--ulimit", "cpu="+strconv.FormatInt(int64(l.CPU/time.Second), 10))
	}
	args = append(args, containerMounts(p)...)
	for _, kv := range s.Env {
		name, _, ok := strings.Cut(kv, "=")
		if slices.Contains(clientNames, name) {
			name = kv // the client's own value is another
		}
		if ok {
			args = append(args, "--env", name)
		}
	}
	return append(args, "--workdir", s.Dir, "--entrypoint", s.Path, image)
}

func containerMounts(p Policy) []string {
	var args []string
	mount := func(source, target string, readOnly bool) {
		option := "type=bind,source=" + source + ",target=" + target
		if readOnly {
			option += ",readonly"
		}
		args = append(args, "--mount", option)
	}
	mount(p.Workspace, p.Workspace, p.Mode == ReadOnly)
	if p.Mode == WorkspaceWrite {
		for _, path := range p.Writable {
			mount(path, path, false)
		}
		for _, path := range p.pinned() {
			mount(path, path, false)
		}
		for _, step := range p.lockSteps() {
			if step.last {
				mount(step.path, step.path, true)
			}
		}
	}
	for _, path := range p.Unreadable {
		info, err := os.Stat(path)
		if err != nil || !within(path, p.Workspace) && !slices.ContainsFunc(p.Writable, func(w string) bool { return within(path, w) }) {
			continue // it is not in the container
		}
		if info.IsDir() {
			args = append(args, "--tmpfs", path+":ro,size=4k,mode=000")
		} else {
			mount(os.DevNull, path, true)
		}
	}
	return args
}

// removeContainer ends a container that its client left. Where the client
// ended with it, there is none of that name.
func removeContainer(program, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	_ = exec.CommandContext(ctx, program, "rm", "--force", name).Run() // nothing is left to try
}
