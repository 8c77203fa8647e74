package handrail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// ChildOptions say how a child session differs from its parent. Everything
// in them narrows; the zero value is a child that may do what its parent
// may.
type ChildOptions struct {
	// Workspace is another folder for the child, beneath the parent's.
	// Empty means the parent's. Rules for paths stay relative to the
	// workspace of the session that was opened first.
	Workspace string
	// Policy further restricts the child's tools.
	Policy Policy
	// Mode, unless empty, is the child's mode; it is never wider than the
	// parent's.
	Mode Mode
	// Writable are the paths that the child may write, relative to its
	// workspace; "*" and "?" stay within an element. nil means those of the
	// parent, an empty list none. They bind every tool that works through
	// the workspace, and never give more than the parent has.
	Writable []string
	// CreateOnly lets the child make new files, and change or remove none.
	CreateOnly bool
	// Name is how events name the child.
	Name string
}

// errClosed is what a session answers that was closed.
var errClosed = errors.New("the session is closed")

// Child opens a session for a sub-agent. It sees no tool that s does not,
// and may do nothing without a question that s may not. It is closed with s
// at the latest.
func (s *Session) Child(_ context.Context, o ChildOptions) (*Session, error) {
	c := &Session{id: "s_" + rand.Text()[:12], options: s.options, metrics: s.metrics, store: s.store, past: s.past, parent: s}
	c.options.Origin = tool.Origin{Kind: tool.OriginAgent, Name: o.Name, Depth: s.options.Origin.Depth + 1}
	c.options.Policy = o.Policy
	c.options.PolicyByProvider = nil
	var err error
	c.judge, err = s.judge.Narrow(o.Mode)
	if err = errors.Join(err, c.narrowFiles(o.Workspace), c.bindWrites(o)); err == nil {
		err = s.bear(c)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening a child session: %w", err), c.undo())
	}
	return c, nil
}

// narrowFiles moves a child to another folder of its parent's.
func (s *Session) narrowFiles(dir string) error {
	if dir == "" {
		return nil
	}
	if s.parent.files == nil {
		return errors.New("the parent has no files, so its child has none")
	}
	at, err := s.parent.files.Resolve(dir)
	switch {
	case err != nil:
		return fmt.Errorf("the child's workspace: %w", err)
	case at.Zone != workspace.ZoneRoot:
		return fmt.Errorf("the child's workspace: %s does not lie beneath %s", at.Abs, s.parent.root())
	case at.Unreadable != "":
		return fmt.Errorf("the child's workspace: %s is closed by the rule %q", at.Rel, at.Unreadable)
	case at.Unwritable != "":
		s.options.Files.ReadOnly = true
	}
	s.options.Workspace = at.Abs
	if s.options.Files.Top == "" {
		s.options.Files.Top = s.parent.root()
	}
	return nil
}

// bindWrites binds what a child writes. The fences of those above stay, each
// relative to the folder that it was given for.
func (s *Session) bindWrites(o ChildOptions) error {
	if above := s.options.Files.Grants; above != nil && above.Dir == "" {
		own := *above
		own.Dir = s.parent.root()
		s.options.Files.Grants = &own
	}
	if o.Writable == nil && !o.CreateOnly {
		return nil
	}
	if s.parent.files == nil {
		return errors.New("the parent has no files, so there is nothing that its child could be let write")
	}
	s.options.Files.Grants = &workspace.Grants{Patterns: o.Writable, CreateOnly: o.CreateOnly, Above: s.options.Files.Grants}
	return nil
}

// bear opens the child, unless s was closed in the meantime.
func (s *Session) bear(c *Session) error {
	s.children.Lock()
	defer s.children.Unlock()
	if s.children.over {
		return errClosed
	}
	var err error
	if c.registry, err = s.registry.Child(c.options.Workspace); err != nil {
		return err
	}
	c.onClose(c.registry.Close)
	if err := c.openFiles(); err != nil {
		return err
	}
	if err := c.compile(s.view); err != nil {
		return err
	}
	if s.children.open == nil {
		s.children.open = map[*Session]bool{}
	}
	s.children.open[c] = true
	return nil
}

// children are the open child sessions.
type children struct {
	sync.Mutex
	open map[*Session]bool
	over bool // no more are born
}

// closeAll closes every child, side by side, and lets none be opened after.
func (k *children) closeAll() error {
	k.Lock()
	k.over = true
	open := k.open
	k.open = nil
	k.Unlock()
	var wg sync.WaitGroup
	errs := make(chan error, len(open))
	for c := range open {
		wg.Go(func() { errs <- c.Close() })
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// forget drops a child that was closed by itself.
func (k *children) forget(c *Session) {
	k.Lock()
	defer k.Unlock()
	delete(k.open, c)
}
