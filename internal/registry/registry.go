package registry

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/tool"
)

// ErrClosed is returned for every change to a registry that was closed.
var ErrClosed = errors.New("the registry is closed")

// Registry holds the tools of a process or a session. It may be used from
// several goroutines. Names and aliases are unique across all its tools.
type Registry struct {
	// mu serialises changes. Readers use state alone.
	mu      sync.Mutex
	state   atomic.Pointer[state]
	sources []source
	closed  bool

	listeners listeners
}

// state is what a registry holds at one time. It never changes once it is
// published.
type state struct {
	version uint64
	entries []*Entry          // sorted by canonical name
	byName  map[string]*Entry // canonical names and aliases
	shown   map[string]shown  // the names that the surfaces in use show
	pruned  []*policy.Policy  // what each tool, present or to come, must pass
}

// shown is a name under which a surface shows a tool.
type shown struct{ surface, target string }

// New returns an empty registry.
func New() *Registry {
	r := &Registry{}
	r.state.Store(&state{})
	return r
}

// Add registers a tool. It is an error if its declaration is not valid, if
// one of its names is taken, or if a policy that the registry was pruned by
// denies it (then a [*DeniedError]).
func (r *Registry) Add(t tool.Tool, opts Options) error { return r.AddAll([]tool.Tool{t}, opts) }

// AddAll registers several tools as one change: all of them, or none and an
// error that names everything in the way.
func (r *Registry) AddAll(tools []tool.Tool, opts Options) error {
	entries := make([]*Entry, 0, len(tools))
	var errs []error
	for _, t := range tools {
		e, err := newEntry(t, opts)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		entries = append(entries, e)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.change(func(s *state) error {
		var errs []error
		for _, e := range entries {
			errs = append(errs, s.add(e))
		}
		return errors.Join(errs...)
	})
}

// Replace puts a tool in the place of the one that has its name.
func (r *Registry) Replace(t tool.Tool, opts Options) error {
	e, err := newEntry(t, opts)
	if err != nil {
		return err
	}
	return r.change(func(s *state) error {
		if old := s.byName[e.Spec.Name]; old == nil || old.Spec.Name != e.Spec.Name {
			return fmt.Errorf("replacing the tool %q: there is none of that name", e.Spec.Name)
		}
		s.remove(func(old *Entry) bool { return old.Spec.Name == e.Spec.Name })
		return s.add(e)
	})
}

// Remove takes the tool of a canonical name away and reports whether there
// was one.
func (r *Registry) Remove(name string) bool {
	removed, _ := r.removeIf(func(e *Entry) bool { return e.Spec.Name == name })
	return len(removed) > 0
}

// Prune removes every tool that a policy denies and returns their names,
// sorted. The policy stays in force: a tool that it denies cannot be added
// afterwards, here or in a child. The connection of a source stays open even
// when all its tools are gone.
func (r *Registry) Prune(p *policy.Policy) ([]string, error) {
	var removed []string
	err := r.change(func(s *state) error {
		removed = s.remove(func(e *Entry) bool { return !p.Decide(e.Spec).Allowed })
		s.pruned = append(slices.Clip(s.pruned), p)
		return nil
	})
	return removed, err
}

// UseSurface makes the names that a surface shows known: they resolve to
// their tools, and no other tool may take one. It is an error if another
// tool has one already, or another surface shows another tool under it.
func (r *Registry) UseSurface(sf *surface.Surface) error {
	known := r.state.Load().shown
	if !slices.ContainsFunc(sf.Tools(), func(t *surface.Tool) bool { return known[t.Name].target != t.Target }) {
		return nil // nothing to add, so no reason for views to look again
	}
	return r.change(func(s *state) error {
		var errs []error
		for _, t := range sf.Tools() {
			if e, taken := s.byName[t.Name]; taken && e.Spec.Name != t.Target {
				errs = append(errs, fmt.Errorf("the surface %s shows %s as %q, which is a name of %s", sf.Name, t.Target, t.Name, e.describe()))
			}
			if other, taken := s.shown[t.Name]; taken && other.target != t.Target {
				errs = append(errs, fmt.Errorf("the surface %s shows %s as %q, as which the surface %s shows %s",
					sf.Name, t.Target, t.Name, other.surface, other.target))
			}
			s.shown[t.Name] = shown{sf.Name, t.Target}
		}
		return errors.Join(errs...)
	})
}

// Entry returns the tool that has a canonical name or alias, hidden ones
// too.
func (r *Registry) Entry(nameOrAlias string) (*Entry, bool) {
	e, ok := r.state.Load().byName[nameOrAlias]
	return e, ok
}

// Entries yields every tool, hidden ones too, sorted by canonical name. They
// are those of the moment when the iteration begins.
func (r *Registry) Entries() iter.Seq[*Entry] { return slices.Values(r.state.Load().entries) }

// Resolve returns the tool that a name means: a canonical name, an alias, or
// a name that a surface in use shows. With All it makes a registry the
// catalog that policies are compiled against.
func (r *Registry) Resolve(name string) (*tool.Spec, bool) {
	s := r.state.Load()
	if sh, ok := s.shown[name]; ok {
		name = sh.target
	}
	e, ok := s.byName[name]
	if !ok {
		return nil, false
	}
	return e.Spec, true
}

// All yields the declaration of every tool, sorted by name.
func (r *Registry) All() iter.Seq[*tool.Spec] {
	return func(yield func(*tool.Spec) bool) {
		for e := range r.Entries() {
			if !yield(e.Spec) {
				return
			}
		}
	}
}

// Version counts the changes to the registry.
func (r *Registry) Version() uint64 { return r.state.Load().version }

// Subscribe calls fn after every change, in the goroutine that made it, until
// cancel is called. fn must be quick and may not change the registry.
func (r *Registry) Subscribe(fn func()) (cancel func()) { return r.listeners.add(fn) }

// change publishes what edit makes of a copy of the state, or nothing if it
// returns an error.
func (r *Registry) change(edit func(*state) error) error {
	if err := r.edit(edit); err != nil {
		return err
	}
	r.listeners.call()
	return nil
}

func (r *Registry) edit(edit func(*state) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	next := r.state.Load().clone()
	if err := edit(next); err != nil {
		return err
	}
	next.version++
	r.state.Store(next)
	return nil
}

// removeIf removes tools and returns their names; it makes no change when
// there are none.
func (r *Registry) removeIf(gone func(*Entry) bool) (removed []string, err error) {
	if !slices.ContainsFunc(r.state.Load().entries, gone) {
		return nil, nil
	}
	err = r.change(func(s *state) error {
		removed = s.remove(gone)
		return nil
	})
	return removed, err
}

func (s *state) clone() *state {
	next := &state{
		version: s.version,
		entries: slices.Clone(s.entries),
		byName:  maps.Clone(s.byName),
		shown:   maps.Clone(s.shown),
		pruned:  s.pruned,
	}
	if next.byName == nil {
		next.byName = map[string]*Entry{}
	}
	if next.shown == nil {
		next.shown = map[string]shown{}
	}
	return next
}

// add puts an entry into a state that is not published yet.
func (s *state) add(e *Entry) error {
	for _, p := range s.pruned {
		if d := p.Decide(e.Spec); !d.Allowed {
			return fmt.Errorf("adding the tool %q: %w", e.Spec.Name, &DeniedError{Spec: e.Spec, Decision: d})
		}
	}
	var errs []error
	for name := range e.names {
		if other, taken := s.byName[name]; taken {
			errs = append(errs, fmt.Errorf("adding %s: the name %q belongs to %s", e.describe(), name, other.describe()))
		}
		if sh, taken := s.shown[name]; taken && sh.target != e.Spec.Name {
			errs = append(errs, fmt.Errorf("adding %s: the surface %s shows %s as %q", e.describe(), sh.surface, sh.target, name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for name := range e.names {
		s.byName[name] = e
	}
	at, _ := slices.BinarySearchFunc(s.entries, e.Spec.Name, func(e *Entry, name string) int {
		return cmp.Compare(e.Spec.Name, name)
	})
	s.entries = slices.Insert(s.entries, at, e)
	return nil
}

func (s *state) remove(gone func(*Entry) bool) (removed []string) {
	s.entries = slices.DeleteFunc(s.entries, func(e *Entry) bool {
		if !gone(e) {
			return false
		}
		removed = append(removed, e.Spec.Name)
		for name := range e.names {
			delete(s.byName, name)
		}
		return true
	})
	return removed
}

// describe names a tool and where it comes from.
func (e *Entry) describe() string {
	if e.Source == "" {
		return fmt.Sprintf("the tool %q", e.Spec.Name)
	}
	return fmt.Sprintf("the tool %q of %s", e.Spec.Name, tool.Clip(e.Source))
}

var _ policy.Catalog = (*Registry)(nil)
