package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/handrail-tools/handrail/internal/policy"
)

// Defaults of a deferred exposure, as octos had them.
const (
	DefaultMaxListed = 15
	DefaultIdleTurns = 5
)

// Exposure says which of the tools that a session sees are listed. It saves
// tokens and protects nothing: a tool that is put away can be called by its
// name, and comes back when it is, together with its group.
type Exposure struct {
	// Deferred turns putting away on. Without it every tool that is seen is
	// listed, and the other fields mean nothing.
	Deferred bool
	// Pinned are policy entries of tools that are never put away. Those
	// tagged [TagDiscovery] or [TagExposure] never are.
	Pinned []string
	// Away are policy entries of tools that are put away from the start. The
	// tools of one entry are a group: they come back together. Any other
	// tool is of the first group of the vocabulary that has it.
	Away []string
	// MaxListed is how many tools may be listed before those that were idle
	// longest are put away. 0 means [DefaultMaxListed].
	MaxListed int
	// IdleTurns is for how many turns a tool must have been idle before it
	// is put away. 0 means [DefaultIdleTurns].
	IdleTurns int
	// Vocabulary has the groups. nil means the default one.
	Vocabulary *policy.Vocabulary
}

// exposure is the state of one session's deferred exposure. A nil exposure
// lists everything.
type exposure struct {
	vocab        *policy.Vocabulary
	pinned, gone *policy.Set
	max, idle    int

	changes atomic.Uint64 // counts what may show in the list

	mu    sync.Mutex
	turn  int
	tools map[string]*exposed // by canonical name
	back  map[string]bool     // groups that came back
}

// exposed is what is known of one tool that was seen.
type exposed struct {
	away     bool
	lastUsed int // turn

	// The rest follows from the entry.
	entry  *Entry
	group  string
	pinned bool
}

func newExposure(c Exposure, catalog policy.Catalog) (*exposure, error) {
	if !c.Deferred {
		return nil, nil
	}
	if c.MaxListed < 0 || c.IdleTurns < 0 {
		return nil, fmt.Errorf("the deferred exposure: a maximum of %d tools and %d idle turns: neither may be negative", c.MaxListed, c.IdleTurns)
	}
	x := &exposure{
		vocab: c.Vocabulary,
		max:   cmp.Or(c.MaxListed, DefaultMaxListed),
		idle:  cmp.Or(c.IdleTurns, DefaultIdleTurns),
		tools: map[string]*exposed{},
		back:  map[string]bool{},
	}
	var err error
	if x.pinned, err = policy.CompileSet("pinned", c.Pinned, c.Vocabulary, catalog); err != nil {
		return nil, fmt.Errorf("the deferred exposure:\n%w", err)
	}
	if x.gone, err = policy.CompileSet("away", c.Away, c.Vocabulary, catalog); err != nil {
		return nil, fmt.Errorf("the deferred exposure:\n%w", err)
	}
	return x, nil
}

func (x *exposure) version() uint64 {
	if x == nil {
		return 0
	}
	return x.changes.Load()
}

// away returns which tools are put away and the version that this holds for.
func (x *exposure) away(s *sight) (map[*Entry]bool, uint64) {
	if x == nil {
		return nil, 0
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	away := map[*Entry]bool{}
	for _, e := range s.seen {
		if x.know(e).away {
			away[e] = true
		}
	}
	return away, x.changes.Load()
}

// know returns what is known of a tool; one that was never seen before is
// put away if the configuration says so and its group did not come back.
func (x *exposure) know(e *Entry) *exposed {
	t, ok := x.tools[e.Spec.Name]
	if ok && t.entry == e {
		return t
	}
	entry, gone := x.gone.Match(e.Spec)
	group := strings.TrimSuffix(entry, "?")
	if !gone {
		group = e.Spec.Name
		if home := x.vocab.HomeGroup(e.Spec); home != "" {
			group = "group:" + home
		}
	}
	if !ok {
		t = &exposed{away: gone && !x.isPinned(e) && !x.back[group], lastUsed: x.turn}
		x.tools[e.Spec.Name] = t
	}
	t.entry, t.group, t.pinned = e, group, x.isPinned(e)
	return t
}

func (x *exposure) isPinned(e *Entry) bool {
	if slices.Contains(e.Spec.Tags, TagDiscovery) || slices.Contains(e.Spec.Tags, TagExposure) {
		return true
	}
	_, pinned := x.pinned.Match(e.Spec)
	return pinned
}

// forget drops what is known of tools that are no longer registered.
func (x *exposure) forget(s *state) {
	groups := map[string]bool{}
	for name, t := range x.tools {
		if e := s.byName[name]; e == nil || e.Spec.Name != name {
			delete(x.tools, name)
		} else {
			groups[t.group] = true
		}
	}
	for group := range x.back {
		if !groups[group] {
			delete(x.back, group)
		}
	}
}

// Tick begins a turn: it is called before each request to the model. Where
// more tools than the maximum are listed, it puts the excess away: those
// that were idle longest, if they were idle long enough, are not pinned and
// do not run in the background.
func (v *View) Tick() {
	x := v.exposure
	if x == nil {
		return
	}
	if x.tick(v.look()) {
		v.listeners.call()
	}
}

func (x *exposure) tick(s *sight) (changed bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(s.state)
	for _, e := range s.seen { // what comes with this turn is as old as the turn before it
		x.know(e)
	}
	x.turn++
	listed := 0
	var idle []*exposed
	for _, e := range s.seen {
		t := x.know(e)
		if t.away {
			continue
		}
		listed++
		if x.turn-t.lastUsed >= x.idle && !e.Background && !t.pinned {
			idle = append(idle, t)
		}
	}
	excess := min(listed-x.max, len(idle))
	if excess <= 0 {
		return false
	}
	// seen is sorted by name and the sort is stable, so ties go by name.
	slices.SortStableFunc(idle, func(a, b *exposed) int { return cmp.Compare(a.lastUsed, b.lastUsed) })
	for _, t := range idle[:excess] {
		t.away = true
		delete(x.back, t.group)
	}
	x.changes.Add(1)
	return true
}

// Touch notes that a tool is used, by its canonical name. One that was put
// away comes back with its group.
func (v *View) Touch(name string) {
	x := v.exposure
	if x == nil {
		return
	}
	s := v.look()
	r, ok := s.byName[name]
	if ok && x.touch(r.Entry, s.seen) {
		v.listeners.call()
	}
}

func (x *exposure) touch(e *Entry, seen []*Entry) (changed bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.know(e)
	t.lastUsed = x.turn
	if !t.away {
		return false
	}
	x.bring(t.group, seen)
	x.changes.Add(1)
	return true
}

// bring lists the tools of a group again and returns the names of those that
// were away.
func (x *exposure) bring(group string, seen []*Entry) (names []string) {
	x.back[group] = true
	for _, e := range seen {
		t := x.know(e)
		if t.group != group || !t.away {
			continue
		}
		t.away, t.lastUsed = false, x.turn
		names = append(names, e.Spec.Name)
	}
	return names
}
