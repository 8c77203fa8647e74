package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Driver is the name of one way to build a fence.
type Driver string

// The drivers. Auto is not one itself: it takes the strongest that works.
const (
	Auto       Driver = "auto"
	Namespaces Driver = "namespaces"
	Landlock   Driver = "landlock"
	Bubblewrap Driver = "bubblewrap"
	Seatbelt   Driver = "seatbelt"
	Container  Driver = "container"
	None       Driver = "none"
)

// Options say how a fence is built.
type Options struct {
	// Driver is the way; "" is Auto. Auto never takes Container or None.
	Driver Driver
	// Policy is what the fence holds.
	Policy Policy
	// Image is what Container runs commands in, for example "debian:stable";
	// it must be on the machine already.
	Image string
}

// Open builds a fence. It tries the driver by running it, so a fence that
// Open returned works. A policy in full-access mode with nothing hidden,
// protected, proxied or limited needs no fence and gets None from Auto. When no
// driver works, the error holds an UnavailableError for each that was tried.
func Open(ctx context.Context, o Options) (Fence, error) {
	p, err := o.Policy.normal()
	if err != nil {
		return nil, fmt.Errorf("the policy of the fence: %w", err)
	}
	if o.Driver != "" && o.Driver != Auto {
		return openDriver(ctx, o.Driver, p, o.Image)
	}
	if p.free() {
		return openDriver(ctx, None, p, "")
	}
	return openStrongest(ctx, runtime.GOOS, p)
}

// free says that the policy forbids nothing.
func (p Policy) free() bool {
	return p.Mode == FullAccess && p.Network == NetOn && len(p.Unreadable) == 0 && len(p.Protected) == 0 && p.Limits == Limits{}
}

func openDriver(ctx context.Context, d Driver, p Policy, image string) (Fence, error) {
	switch d {
	case Namespaces:
		return openNamespaces(ctx, p)
	case Landlock:
		return openLandlock(ctx, p)
	case Bubblewrap:
		return openBubblewrap(ctx, p)
	case Seatbelt:
		return openSeatbelt(ctx, p)
	case Container:
		return openContainer(ctx, p, image)
	case None:
		return openNone(p), nil
	}
	return nil, fmt.Errorf("fence driver %q: there are %q, %q, %q, %q, %q, %q and %q", d, Auto, Namespaces, Landlock, Bubblewrap, Seatbelt, Container, None)
}

// lookPath finds the program of a command in the PATH of its own
// environment, and never below the folder that it runs in unless PATH says so
// with an absolute path.
func lookPath(name string, env []string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if name == "" || strings.ContainsRune(name, '/') {
		return "", &fs.PathError{Op: "start", Path: name, Err: fmt.Errorf("neither an absolute path nor a bare name: %w", os.ErrNotExist)}
	}
	for _, kv := range env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			full := filepath.Join(dir, name)
			if info, err := os.Stat(full); filepath.IsAbs(dir) && err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
				return full, nil
			}
		}
	}
	return "", &fs.PathError{Op: "start", Path: name, Err: fmt.Errorf("not in the PATH of the command: %w", os.ErrNotExist)}
}

// check refuses a Spec that cannot mean anything.
func (s *Spec) check(p Policy) error {
	if len(s.Argv) == 0 {
		return fmt.Errorf("a command needs an Argv, its name at least")
	}
	if s.Dir == "" {
		s.Dir = p.Workspace
	}
	if !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("the working folder %q is not an absolute path", s.Dir)
	}
	if s.Terminal != nil && (s.Stdin != nil || s.Stdout != nil || s.Stderr != nil) {
		return fmt.Errorf("a command has a terminal or files, not both")
	}
	for _, text := range append(append([]string{s.Path, s.Dir}, s.Argv...), s.Env...) {
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("a NUL byte in %.40q", text)
		}
	}
	path, err := lookPath(s.Path, s.Env)
	s.Path = path
	return err
}
