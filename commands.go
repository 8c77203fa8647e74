package handrail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/handrail-tools/handrail/internal/netproxy"
	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/internal/tools"
	"github.com/handrail-tools/handrail/internal/tools/exec"
	"github.com/handrail-tools/handrail/internal/witness"
	"github.com/handrail-tools/handrail/tool"
)

// CommandOptions say how the session's commands run. The zero value runs them
// in the strongest fence that the machine can build, without a network beyond
// the fence's own loopback.
type CommandOptions struct {
	// Off leaves the tools out that run commands.
	Off bool
	// Fence is the driver, FenceAuto or "" the strongest that works.
	// FenceNone holds nothing: then a person is asked about each command,
	// short of [FullAccess].
	Fence FenceDriver
	// Network is what commands may reach; "" is the loopback of the fence,
	// or everything with [FullAccess].
	Network CommandNetwork
	// AllowHosts are the hosts that commands may reach with [NetworkProxy],
	// through a proxy of the session's: "example.com", "*.example.com", each
	// with ":port" or on ports 80 and 443. DenyHosts win. About any other a
	// person is asked; without one it is refused. Hosts here make
	// NetworkProxy the meaning of an empty Network, short of [FullAccess].
	AllowHosts, DenyHosts []string
	// Limits bound what a command may use.
	Limits CommandLimits
	// Pass names variables of the environment to pass on beside those that
	// are harmless, Set are further ones, "NAME=value". Variables that put
	// code into every program are never passed on.
	Pass, Set []string
	// Check is the project's own checker, as a shell command, for the tool
	// check. "" finds one by the files in the folder.
	Check string
	// Formatters are run, in the fence, on a file that a tool has edited, by
	// the ending of its name with the dot: {".go": {"gofmt", "-w"}}. The name
	// of the file comes last. nil runs none.
	Formatters map[string][]string
}

// The types of [CommandOptions]. Each is documented where it is declared.
type (
	FenceDriver    = sandbox.Driver
	CommandNetwork = sandbox.Network
	CommandLimits  = sandbox.Limits
)

// The settings of [CommandOptions].
const (
	FenceAuto       = sandbox.Auto
	FenceNamespaces = sandbox.Namespaces
	FenceLandlock   = sandbox.Landlock
	FenceBubblewrap = sandbox.Bubblewrap
	FenceNone       = sandbox.None

	NetworkOff      = sandbox.NetOff
	NetworkLoopback = sandbox.NetLoopback
	NetworkProxy    = sandbox.NetProxy
	NetworkOn       = sandbox.NetOn
)

// hasCommands reports whether the session has the tools that run commands.
func (s *Session) hasCommands() bool {
	return sandbox.Supported && s.options.Workspace != "" && !s.options.Commands.Off && !s.options.NoBuiltins
}

// confined reports whether a fence holds commands to the mode.
func (s *Session) confined() bool { return s.options.Commands.Fence != sandbox.None }

// watchCommands puts the witness between the workspace and its history, so
// that it knows which changes were made by tools.
func (s *Session) watchCommands() error {
	if !s.hasCommands() {
		return nil
	}
	dir, err := s.spoolDir()
	if err != nil {
		return err
	}
	s.commands = process.NewTable()
	s.witness = witness.New(witness.Options{
		Folders: append([]string{"."}, s.options.Files.Granted...), Recorder: s.options.Files.Recorder, Dir: dir, Busy: s.commands.Running,
	})
	s.options.Files.Recorder = s.witness.Recorder(s.options.Files.Recorder)
	s.onClose(s.witness.Close)
	return nil
}

// spoolDir is the folder for what is kept while commands run.
func (s *Session) spoolDir() (string, error) {
	dir := filepath.Join(s.options.StateDir, "commands")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making the folder for outputs: %w", err)
	}
	return dir, nil
}

// openCommands makes what the tools that run commands need. No fence is built
// and nothing is started before the first command.
func (s *Session) openCommands(policies []*policy.Policy) error {
	if s.commands == nil {
		return nil
	}
	s.witness.Watch(s.files)
	held, err := s.fencePolicy()
	if err != nil {
		return err
	}
	dir, err := s.spoolDir()
	if err != nil {
		return err
	}
	s.fences = s.newFences(held)
	s.onClose(s.commands.Close)
	leave := s.fences.free.open
	if narrow, err := s.narrowCommands(policies, exec.Effects(held)); err != nil {
		return err
	} else if narrow {
		leave = nil
	}
	o := s.options.Commands
	s.kit = &exec.Kit{
		Fence: s.fences.held.open, Free: leave, Policy: held, Commands: s.commands, Writes: shellWrites(policies), Spool: dir,
		Cache: s.cacheDir(), Environment: s.environment(), Keep: s.keepOutput, Witness: s.witness, Check: o.Check, Formatters: o.Formatters,
	}
	return nil
}

// Warm builds the fence of the session's commands in the background, which the
// first command would otherwise wait for: as long as starting Handrail once.
// It is worth calling when the model has been shown its tools and thinks.
// What keeps a fence from being built is told by the first command.
func (s *Session) Warm() {
	if s.kit != nil {
		s.fences.held.warm()
	}
}

// narrowCommands lets the tools that run commands declare what the fence lets a
// command do, where that decides whether a policy admits them. Whoever denies
// effect:network wants nothing to reach the network, and a command whose fence
// holds no network does not. It reports whether one is declared so, here or
// above: then no command may leave the fence.
func (s *Session) narrowCommands(policies []*policy.Policy, can tool.Effects) (narrow bool, err error) {
	admit := func(spec *tool.Spec) bool {
		return !slices.ContainsFunc(policies, func(p *policy.Policy) bool { return !p.Decide(spec).Allowed })
	}
	if s.options.Commands.Fence == sandbox.None {
		return false, nil // which holds nothing
	}
	for _, t := range tools.Commands() {
		whole := t.Spec()
		entry, ok := s.registry.Entry(whole.Name)
		if !ok || entry.Options.Source != "" {
			continue
		}
		now := *entry.Spec
		now.Effects &= can
		if now.Effects != entry.Spec.Effects && !admit(entry.Spec) && admit(&now) {
			if err := s.registry.Replace(exec.Narrow(t, now.Effects), entry.Options); err != nil {
				return false, fmt.Errorf("declaring %s for this session: %w", whole.Name, err)
			}
			narrow = true
		}
		narrow = narrow || entry.Spec.Effects != whole.Effects
	}
	return narrow, nil
}

// fences are where commands run: in the session's fence, or outside where a
// person let them out.
type fences struct{ held, free *lazyFence }

func (s *Session) newFences(held sandbox.Policy) fences {
	f := fences{&lazyFence{options: sandbox.Options{Driver: s.options.Commands.Fence, Policy: held}}, &lazyFence{options: sandbox.Options{
		Driver: sandbox.None,
		Policy: sandbox.Policy{Mode: sandbox.FullAccess, Network: sandbox.NetOn, Workspace: s.root()},
	}}}
	if held.Mode == sandbox.WorkspaceWrite {
		f.held.cache = s.cacheDir()
	}
	if held.Mode != sandbox.FullAccess && s.confined() {
		f.held.hidden = s.hidden
	}
	s.onClose(f.free.close)
	s.onClose(f.held.close)
	return f
}

// environment is what commands get to know.
func (s *Session) environment() process.Environment {
	o := s.options.Commands
	return process.Environment{Pass: o.Pass, Set: o.Set, Secrets: s.secretValues()}
}

// fencePolicy is what the fence holds: the mode, and the rules for files.
func (s *Session) fencePolicy() (sandbox.Policy, error) {
	o := s.options
	judge, _ := s.judge.Current()
	p := sandbox.Policy{
		Mode: sandbox.Mode(judge.Mode()), Workspace: s.root(), Writable: o.Files.Granted, Unreadable: o.Files.Closed,
		Protected: sandbox.DefaultProtected(), Network: o.Commands.Network, Limits: o.Commands.Limits,
	}
	switch {
	case p.Network != "":
	case p.Mode == sandbox.FullAccess:
		p.Network = sandbox.NetOn
	case len(o.Commands.AllowHosts) > 0:
		p.Network = sandbox.NetProxy
	default:
		p.Network = sandbox.NetLoopback
	}
	// What binds a tool to some files of the workspace cannot be said to the
	// kernel, so that commands write nothing there.
	if p.Mode == sandbox.WorkspaceWrite && (o.Files.ReadOnly || o.Files.Grants != nil) {
		p.Mode, p.Writable = sandbox.ReadOnly, nil
	}
	if p.Mode == sandbox.FullAccess {
		p.Protected, p.Unreadable = nil, nil
	}
	if dir := s.cacheDir(); dir != "" && p.Mode == sandbox.WorkspaceWrite {
		p.Writable = append(slices.Clone(p.Writable), dir)
	}
	var errs []error
	if p.Network == sandbox.NetProxy {
		proxy, err := netproxy.New(netproxy.Config{Allow: o.Commands.AllowHosts, Deny: o.Commands.DenyHosts, Approve: s.approveHost()})
		if err != nil {
			return p, fmt.Errorf("commands: %w", err)
		}
		p.Proxy = proxy
		s.onClose(proxy.Close)
	} else if len(o.Commands.AllowHosts)+len(o.Commands.DenyHosts) > 0 {
		errs = append(errs, fmt.Errorf("commands: hosts are listed, and the network is %q; they are for %q", p.Network, sandbox.NetProxy))
	}
	for _, script := range s.hookScripts() {
		if rel, err := filepath.Rel(p.Workspace, script); err == nil && filepath.IsLocal(rel) && p.Mode != sandbox.FullAccess {
			if info, err := os.Stat(script); err == nil && info.IsDir() {
				rel += "/"
			}
			p.Protected = append(p.Protected, rel)
		}
	}
	for _, dir := range o.Files.ReadOnlyDirs {
		if rel, err := filepath.Rel(p.Workspace, dir); err == nil && filepath.IsLocal(rel) && rel != "." {
			p.Protected = append(p.Protected, rel+"/")
		}
	}
	for _, kv := range o.Commands.Set {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" {
			errs = append(errs, fmt.Errorf("commands: %q is not of the form NAME=value", tool.Clip(name)))
		}
	}
	return p, errors.Join(errs...)
}

func (s *Session) secretValues() []string {
	var values []string
	for _, v := range s.options.Secrets {
		values = append(values, v)
	}
	return values
}

// shellWrites is the strictest of what the policies say.
func shellWrites(policies []*policy.Policy) exec.Writes {
	order := []exec.Writes{exec.WritesAllow, exec.WritesWarn, exec.WritesDeny}
	at := 0
	for _, p := range policies {
		at = max(at, slices.Index(order, exec.Writes(p.ShellWrites())))
	}
	return order[at]
}

// keepOutput puts the whole of a long output into the ledger.
func (s *Session) keepOutput(ctx context.Context, call *tool.Call, whole io.ReadSeeker) (string, error) {
	return s.store.PutFrom(ctx, store.Entry{Session: s.id, Workspace: s.root(), Tool: call.Tool, Call: call.ID, Durable: true}, whole)
}

// polish is what runs the formatters, or nil where there are none.
func (s *Session) polish() func(context.Context, *tool.Call, []string) (further, notes []string) {
	if s.kit == nil || len(s.options.Commands.Formatters) == 0 || s.kit.Policy.Mode == sandbox.ReadOnly {
		return nil
	}
	return s.kit.Format
}

// A lazyFence is built when the first command needs it. One that cannot be
// had stays so for the session: a machine does not change meanwhile, and a
// person hears of it once.
type lazyFence struct {
	options sandbox.Options
	// cache is made before. "" is none.
	cache string
	// hidden lists paths to hide beside those of the options. nil lists none.
	hidden func(context.Context) ([]string, error)

	mu      sync.Mutex
	fence   sandbox.Fence
	err     error
	closed  bool
	warming sync.WaitGroup
	stop    atomic.Pointer[context.CancelFunc] // of the warming, without mu
}

// warm has the fence built beside what the caller does.
func (l *lazyFence) warm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.fence != nil || l.err != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	l.warming.Go(func() {
		defer stop()
		_, _ = l.open(ctx) // a command is told of the error
	})
	l.stop.Store(&stop)
}

func (l *lazyFence) open(ctx context.Context) (sandbox.Fence, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, sandbox.ErrClosed
	case l.fence != nil || l.err != nil:
		return l.fence, l.err
	}
	o := l.options
	if l.hidden != nil {
		hidden, err := l.hidden(ctx)
		if err != nil {
			return nil, err // the next time may be quicker
		}
		o.Policy.Unreadable = slices.Concat(o.Policy.Unreadable, hidden)
	}
	l.makeCache(&o.Policy)
	fence, err := sandbox.Open(ctx, o)
	if err != nil {
		if ctx.Err() == nil {
			l.err = err
		}
		return nil, err
	}
	l.fence = fence
	if !process.Contained(fence) {
		process.EndStrays(ctx)
	}
	return fence, nil
}

func (l *lazyFence) close() error {
	defer l.warming.Wait()
	if stop := l.stop.Load(); stop != nil {
		(*stop)()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.fence == nil {
		return nil
	}
	return l.fence.Close()
}
