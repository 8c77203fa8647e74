package registry

import (
	"errors"
	"fmt"
	"maps"

	"github.com/handrail-tools/handrail/tool"
)

// Child returns a registry for a child session. It shares the tools and the
// policies that r was pruned by, and owns no source: the connections stay
// r's. No tool is marked for the background, because a child is the
// background already. If root is not empty, tools that keep a workspace of
// their own ([tool.Rebinder]) are bound to that root.
//
// Later changes to r or to the child do not reach the other. A view of the
// child that names a view of r as its parent still shows nothing that the
// parent does not.
func (r *Registry) Child(root string) (*Registry, error) {
	parent := r.state.Load()
	s := (&state{shown: maps.Clone(parent.shown), pruned: parent.pruned}).clone()
	var errs []error
	for _, e := range parent.entries {
		own, err := e.forChild(root)
		if err == nil {
			err = s.add(own)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("making a child registry: %w", err)
	}
	child := &Registry{}
	child.state.Store(s)
	return child, nil
}

func (e *Entry) forChild(root string) (*Entry, error) {
	opts := e.Options
	opts.Background = false
	if b, ok := e.Tool.(tool.Rebinder); ok && root != "" {
		t, err := b.Rebind(root)
		if err != nil {
			return nil, fmt.Errorf("binding %s to another workspace: %w", e.describe(), err)
		}
		own, err := newEntry(t, opts)
		if err != nil {
			return nil, err
		}
		if own.Spec.Name != e.Spec.Name {
			return nil, fmt.Errorf("%s calls itself %q in another workspace", e.describe(), own.Spec.Name)
		}
		return own, nil
	}
	own := *e
	own.Options = opts
	return &own, nil
}
