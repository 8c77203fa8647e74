package handrail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/handrail-tools/handrail/internal/dispatch"
	"github.com/handrail-tools/handrail/internal/guard"
	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/internal/telemetry"
	"github.com/handrail-tools/handrail/internal/tools"
	"github.com/handrail-tools/handrail/internal/tools/exec"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// Open starts a session. Everything that is wrong with the options is
// reported at once; a session that cannot be what was asked for is not
// opened.
func Open(ctx context.Context, o Options) (*Session, error) {
	s := &Session{id: "s_" + rand.Text()[:12], options: o, metrics: telemetry.New(), registry: registry.New()}
	s.onClose(s.registry.Close)
	// The files come after the store, whose folder they keep closed.
	err := errors.Join(o.check(), s.openStore(), s.openQueue(), s.openHistory(), s.openFiles(), s.addTools())
	if err == nil {
		err = s.compile(nil)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening a session: %w", err), s.undo())
	}
	return s, nil
}

// check refuses numbers that mean nothing.
func (o *Options) check() error {
	var errs []error
	if o.Timeout < 0 || o.Timeout > tool.MaxTimeout {
		errs = append(errs, fmt.Errorf("the timeout %s is not between 0 and %s", o.Timeout, tool.MaxTimeout))
	}
	if o.Queue && o.StateDir == "" {
		errs = append(errs, errors.New("a queue of questions needs a state folder, which others know"))
	}
	if o.AskFor < 0 {
		errs = append(errs, fmt.Errorf("the time for an answer, %s, is negative", o.AskFor))
	}
	if o.Guard > GuardOff {
		errs = append(errs, fmt.Errorf("the guard level %d is unknown", o.Guard))
	}
	if o.Files.Recorder != nil && !o.History.Off {
		errs = append(errs, errors.New("the files have a recorder of the embedder's own, so the history must be off"))
	}
	return errors.Join(errs...)
}

func (s *Session) onClose(f func() error) { s.cleanup = append(s.cleanup, f) }

// undo lets go of what a failed opening has set up.
func (s *Session) undo() error {
	var errs []error
	for _, f := range slices.Backward(s.cleanup) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

func (s *Session) openFiles() error {
	if s.options.Workspace == "" {
		return nil
	}
	s.watchReads()
	if err := errors.Join(s.closeStateDir(), s.protectHooks()); err != nil {
		return err
	}
	if err := s.openTimeline(); err != nil {
		return err
	}
	if err := s.watchCommands(); err != nil {
		return err
	}
	files, err := workspace.Open(s.options.Workspace, s.options.Files)
	if err != nil {
		return err
	}
	s.files = files
	s.onClose(files.Close)
	return nil
}

// watchReads sets up what is optional about reads. What a model has before it
// is its own, so a child session has receipts of its own.
func (s *Session) watchReads() {
	if s.options.ShortenRepeats {
		s.receipts = &workspace.Receipts{}
	}
	if s.options.ProbeReads {
		s.probe = &telemetry.ReadProbe{}
	}
}

// closeStateDir keeps tools from the folder of results, wherever it lies:
// what a result is said to hold must stay true, and the results there are
// not redacted.
func (s *Session) closeStateDir() error {
	if s.parent != nil || s.options.StateDir == "" {
		return nil // a child has its parent's rules
	}
	root, err := realPath(s.options.Workspace)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	state, err := realPath(s.options.StateDir)
	if err != nil {
		return fmt.Errorf("opening the state folder: %w", err)
	}
	if state == root {
		return errors.New("the state folder is the workspace itself; it must be another")
	}
	s.options.Files.Closed = append(slices.Clone(s.options.Files.Closed), state)
	return nil
}

// realPath is the absolute path of what exists, without links.
func realPath(name string) (string, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

func (s *Session) openStore() error {
	dir := s.options.StateDir
	if dir == "" {
		temp, err := os.MkdirTemp("", "handrail-state-")
		if err != nil {
			return fmt.Errorf("making a folder for the session's results: %w", err)
		}
		dir = temp
		s.onClose(func() error { return os.RemoveAll(temp) })
	}
	st, err := store.Open(dir, store.Options{Logger: s.options.Logger})
	if err != nil {
		return err
	}
	s.store, s.options.StateDir = st, dir
	s.onClose(st.Close)
	return nil
}

// sourceEmbedder is where the tools come from that are not Handrail's own.
const sourceEmbedder = "embedder"

// addTools registers the built-in tools that the session can serve, then the
// embedder's.
func (s *Session) addTools() error {
	var errs []error
	add := func(list []tool.Tool, source string) {
		for _, t := range list {
			errs = append(errs, s.registry.Add(t, registry.Options{Source: source}))
		}
	}
	if !s.options.NoBuiltins {
		add(tools.Always(), "")
		if s.files != nil {
			add(tools.Files(), "")
		}
		if s.timeline != nil {
			add(tools.History(), "")
		}
		if s.commands != nil {
			add(tools.Commands(), "")
		}
	}
	add(s.options.Tools, sourceEmbedder)
	return errors.Join(errs...)
}

// compile builds the view, the judge and the dispatcher. Only a child has a
// view above.
func (s *Session) compile(above *registry.View) error {
	sf, err := surface.Load(s.options.Surface)
	if err == nil {
		err = s.registry.UseSurface(sf) // policies may use its names
	}
	policies, policyErr := s.policies()
	var judgeErr error
	if s.judge == nil { // a child has its parent's
		s.judge, judgeErr = permission.NewLive(s.options.Permission, ruleNames{s.registry}, s.options.Rules)
	}
	redactor, redactorErr := s.redactor()
	if err := errors.Join(err, policyErr, judgeErr, redactorErr); err != nil {
		return err
	}
	if err := s.openCommands(policies); err != nil {
		return err
	}
	if err := s.openHooks(); err != nil {
		return err
	}
	view, err := registry.NewView(s.registry, registry.ViewConfig{
		Policies: policies, Context: s.options.Context, Tags: s.options.Tags, Surface: sf,
		Exposure: s.options.Exposure, Parent: above,
	})
	if err != nil {
		return err
	}
	s.view = view
	s.dispatch = dispatch.New(dispatch.Config{
		Session: s.id, Origin: s.options.Origin, View: view, Judge: s.judge, Approver: s.options.Approver, AskFor: s.options.AskFor,
		Hooks: s.hooks, Guard: guard.New(s.options.Guard), Workspace: s.files, Ledger: s.store,
		Redactor: redactor, Observe: s.observe, Surround: s.surround,
		Confined: s.confined(), Polish: s.polish(), Timeout: s.options.Timeout, Logger: s.options.Logger,
	})
	return nil
}

func (s *Session) policies() ([]*policy.Policy, error) {
	own, err := compilePolicy(s.options.Policy, s.registry)
	if err != nil {
		return nil, err
	}
	list := []*policy.Policy{own}
	// All of them are compiled, so that a mistake shows before its provider
	// is ever used.
	for _, name := range slices.Sorted(maps.Keys(s.options.PolicyByProvider)) {
		if _, err := compilePolicy(s.options.PolicyByProvider[name], s.registry); err != nil {
			return nil, fmt.Errorf("policy for provider %q: %w", name, err)
		}
	}
	if c, ok := policy.ForProvider(s.options.PolicyByProvider, s.options.Model, s.options.Provider); ok {
		further, err := compilePolicy(c, s.registry)
		if err != nil {
			return nil, err
		}
		list = append(list, further)
	}
	return list, nil
}

func compilePolicy(c Policy, r *registry.Registry) (*policy.Policy, error) {
	return policy.Compile(c, nil, r)
}

// redactor knows the secrets that it is told beside those that it
// recognises.
func (s *Session) redactor() (*output.Redactor, error) {
	r := &output.Redactor{}
	var errs []error
	for name, value := range s.options.Secrets {
		errs = append(errs, r.Know(name, value))
	}
	return r, errors.Join(errs...)
}

// surround gives tools what they take from their context.
func (s *Session) surround(ctx context.Context) context.Context {
	ctx = registry.WithView(ctx, s.view)
	ctx = output.WithRedactor(ctx, s.dispatch.Redactor)
	ctx = store.WithReader(ctx, s.store.Bind(s.scopes()...))
	if s.files != nil {
		ctx = workspace.With(ctx, s.files)
	}
	if s.timeline != nil {
		ctx = history.With(ctx, s.timeline)
	}
	if s.kit != nil {
		ctx = exec.With(ctx, s.kit)
	}
	if s.receipts != nil {
		ctx = workspace.WithReceipts(ctx, s.receipts)
	}
	if s.probe != nil {
		ctx = telemetry.WithReadProbe(ctx, s.probe)
	}
	return ctx
}

// scopes say whose results the session may recall: its own and those of the
// sessions that it is a child of, or, where a person asks at the command
// line, all of the workspace.
func (s *Session) scopes() []store.Scope {
	scopes := []store.Scope{{Session: s.id}}
	if root := s.root(); root != "" && s.options.Origin.Kind == tool.OriginCLI {
		scopes = append(scopes, store.Scope{Workspace: root})
	}
	for p := s.parent; p != nil; p = p.parent {
		scopes = append(scopes, store.Scope{Session: p.id})
	}
	return scopes
}

// ruleNames is how permission rules find tools: by canonical name, alias, or
// a name that the surface shows; where nothing of the session has it, by the
// name under which Claude Code knows the tool, as whose rules these are written.
type ruleNames struct{ *registry.Registry }

// Resolve returns the tool that a rule means by a name.
func (n ruleNames) Resolve(name string) (*tool.Spec, bool) {
	if spec, ok := n.Registry.Resolve(name); ok {
		return spec, true
	}
	sf, err := surface.Load("claude")
	if err != nil {
		return nil, false
	}
	shown, ok := sf.ByName(name)
	if !ok {
		return nil, false
	}
	return n.Registry.Resolve(shown.Target)
}

// Names returns the canonical names.
func (n ruleNames) Names() []string {
	var names []string
	for spec := range n.All() {
		names = append(names, spec.Name)
	}
	return names
}
