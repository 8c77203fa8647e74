package registry

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/surface"
)

// Tags that the predicate itself knows.
const (
	// TagDiscovery marks a tool by which others are found. It is never put
	// away.
	TagDiscovery = "discovery"
	// TagExposure marks a tool that handles what is put away. Only a view
	// whose exposure is deferred has it.
	TagExposure = "exposure"
)

// ViewConfig says what a session may see. Everything in it narrows: the zero
// value sees every tool that is not hidden.
type ViewConfig struct {
	// Policies must all allow a tool. A nil policy among them allows
	// nothing.
	Policies []*policy.Policy
	// Context is the model context that is active; a tool that declares
	// contexts is seen in those alone. Empty means that none is active.
	Context string
	// Tags, unless nil, asks for at least one of these tags on a tool: a
	// tool without tags is not seen, and an empty list sees nothing.
	Tags []string
	// Surface gives tools other names and schemas. nil shows them as they
	// declare themselves.
	Surface *surface.Surface
	// Exposure says which of the tools that are seen are listed.
	Exposure Exposure
	// Parent is the view of the session that this one is a child of: a tool
	// that the parent does not see is not seen here.
	Parent *View
}

// View is one session's sight of a registry. It may be used from several
// goroutines.
//
// A name may be used for a tool exactly when the tool is seen; then its
// canonical name, its aliases and the names that the surface shows all mean
// it. The list has every tool that is seen except those that are put away,
// which can be called and found all the same.
type View struct {
	reg     *Registry
	surface *surface.Surface
	parent  *View
	rules   atomic.Pointer[rules]

	exposure *exposure // nil: everything is listed

	// mu serialises rebuilding. The caches hold what was built last.
	mu      sync.Mutex
	sight   atomic.Pointer[sight]
	list    atomic.Pointer[list]
	schemas map[form]*args.Schema

	listeners listeners
}

// form is one tool in the form that a surface gives it.
type form struct {
	entry *Entry
	shown *surface.Tool
}

// rules are what a view judges tools by. They never change once published.
type rules struct {
	policies []*policy.Policy
	context  string
	tags     []string
	deferred bool
}

// NewView returns a view of a registry. It fails when the surface's names
// clash with those of other tools, when a schema of the surface is broken,
// or when the exposure names something unknown.
func NewView(r *Registry, c ViewConfig) (*View, error) {
	if err := checkSurface(r, c.Surface); err != nil {
		return nil, err
	}
	v := &View{reg: r, surface: c.Surface, parent: c.Parent, schemas: map[form]*args.Schema{}}
	v.rules.Store(&rules{
		policies: slices.Clone(c.Policies),
		context:  c.Context,
		tags:     slices.Clone(c.Tags),
		deferred: c.Exposure.Deferred,
	})
	var err error
	if v.exposure, err = newExposure(c.Exposure, r); err != nil {
		return nil, err
	}
	return v, nil
}

func checkSurface(r *Registry, s *surface.Surface) error {
	for _, t := range s.Tools() {
		if t.Schema == nil {
			continue
		}
		if _, err := args.Compile(t.Name, t.Schema, nil); err != nil {
			return fmt.Errorf("using the surface %s: %w", s.Name, err)
		}
	}
	if err := r.UseSurface(s); err != nil {
		return fmt.Errorf("using the surface %s: %w", s.Name, err)
	}
	return nil
}

// Restrict adds a policy to those that must allow a tool. There is no way to
// take one off a view.
func (v *View) Restrict(p *policy.Policy) {
	v.setRules(func(r *rules) { r.policies = append(slices.Clip(r.policies), p) })
}

// SetContext makes another model context the active one; "" means none.
func (v *View) SetContext(name string) {
	v.setRules(func(r *rules) { r.context = name })
}

func (v *View) setRules(edit func(*rules)) {
	v.mu.Lock()
	next := *v.rules.Load()
	edit(&next)
	v.rules.Store(&next)
	v.mu.Unlock()
	v.listeners.call()
}

// Subscribe calls fn after every change that may show in the list, in the
// goroutine that made it, until cancel is called. fn must be quick and may
// not change the view or its registry.
func (v *View) Subscribe(fn func()) (cancel func()) {
	cancels := []func(){v.listeners.add(fn), v.reg.Subscribe(fn)}
	if v.parent != nil {
		cancels = append(cancels, v.parent.Subscribe(fn))
	}
	return func() {
		for _, cancel := range cancels {
			cancel()
		}
	}
}

// verdict says whether a tool is seen.
type verdict struct {
	seen bool
	// denied holds when the tool is there and a policy denies it; otherwise
	// a tool that is not seen is not there.
	denied   bool
	decision policy.Decision
}

// judge is the predicate: whether a view sees a tool. Every path asks it:
// the list, the search, and the resolving of a call by whatever name.
func (s *sight) judge(e *Entry) verdict {
	v := s.rules.judge(e)
	if !v.seen || s.parent == nil {
		return v
	}
	// The parent must see a tool of that name, and its rules hold for the
	// child's own form of it too.
	theirs, ok := s.parent.state.byName[e.Spec.Name]
	if !ok || theirs.Spec.Name != e.Spec.Name {
		return verdict{}
	}
	if v = s.parent.judge(theirs); !v.seen || theirs == e {
		return v
	}
	return s.parent.judgeRules(e)
}

// judgeRules applies the rules of a view and of all above it to a tool,
// wherever it is registered.
func (s *sight) judgeRules(e *Entry) verdict {
	v := s.rules.judge(e)
	if !v.seen || s.parent == nil {
		return v
	}
	return s.parent.judgeRules(e)
}

func (r *rules) judge(e *Entry) verdict {
	there := !e.Hidden &&
		(r.deferred || !slices.Contains(e.Spec.Tags, TagExposure)) &&
		(e.Spec.Contexts == nil || slices.Contains(e.Spec.Contexts, r.context)) &&
		(r.tags == nil || slices.ContainsFunc(e.Spec.Tags, func(t string) bool { return slices.Contains(r.tags, t) }))
	if !there {
		return verdict{}
	}
	v := verdict{seen: true}
	for _, p := range r.policies {
		if v.decision = p.Decide(e.Spec); !v.decision.Allowed {
			return verdict{denied: true, decision: v.decision}
		}
	}
	return v
}

// sight is what a view sees at one time. It never changes once published.
type sight struct {
	state  *state
	rules  *rules
	parent *sight
	seen   []*Entry // sorted by canonical name
	byName map[string]*Resolved
	forms  map[*Entry][]*Resolved // as which a tool is listed
	index  func() *index
}

// look returns what the view sees now, from the cache while nothing changed.
func (v *View) look() *sight {
	var above *sight
	if v.parent != nil {
		above = v.parent.look()
	}
	if s := v.sight.Load(); s.fresh(v, above) {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.sight.Load(); s.fresh(v, above) {
		return s
	}
	s := v.build(above)
	v.sight.Store(s)
	return s
}

func (s *sight) fresh(v *View, above *sight) bool {
	return s != nil && s.state == v.reg.state.Load() && s.rules == v.rules.Load() && s.parent == above
}

// build makes the sight of this moment. The caller holds mu.
func (v *View) build(above *sight) *sight {
	s := &sight{
		state:  v.reg.state.Load(),
		rules:  v.rules.Load(),
		parent: above,
		byName: map[string]*Resolved{},
		forms:  map[*Entry][]*Resolved{},
	}
	used := map[form]*args.Schema{}
	for _, e := range s.state.entries {
		if !s.judge(e).seen {
			continue
		}
		s.seen = append(s.seen, e)
		own := &Resolved{Entry: e, Name: e.Spec.Name, Shown: e.Spec.Name, Args: e.Args}
		for name := range e.names {
			s.byName[name] = own
		}
		for _, shown := range v.surface.ByTarget(e.Spec.Name) {
			f := form{e, shown}
			used[f] = v.schema(f)
			r := &Resolved{Entry: e, Name: e.Spec.Name, Shown: shown.Name, Args: used[f], Form: shown}
			s.byName[shown.Name] = r
			s.forms[e] = append(s.forms[e], r)
		}
		if s.forms[e] == nil {
			s.forms[e] = []*Resolved{own}
		}
	}
	v.schemas = used
	s.index = sync.OnceValue(func() *index { return newIndex(s) })
	return s
}

type viewKey struct{}

// WithView returns a context that carries a session's view.
func WithView(ctx context.Context, v *View) context.Context {
	return context.WithValue(ctx, viewKey{}, v)
}

// ViewFrom returns the view that ctx carries. It panics when there is none:
// a tool that needs it runs within a session.
func ViewFrom(ctx context.Context) *View {
	v, ok := ctx.Value(viewKey{}).(*View)
	if !ok {
		panic("registry: the context carries no view")
	}
	return v
}
