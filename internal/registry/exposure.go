package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
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
	if !ok {
		_, gone := x.gone.Match(e.Spec)
		t = &exposed{away: gone && !x.isPinned(e) && !x.back[x.group(e)], lastUsed: x.turn}
		x.tools[e.Spec.Name] = t
	}
	return t
}

func (x *exposure) isPinned(e *Entry) bool {
	if slices.Contains(e.Spec.Tags, TagDiscovery) || slices.Contains(e.Spec.Tags, TagExposure) {
		return true
	}
	_, pinned := x.pinned.Match(e.Spec)
	return pinned
}

// group names what a tool is put away and brought back with. A tool of no
// group is alone.
func (x *exposure) group(e *Entry) string {
	if entry, ok := x.gone.Match(e.Spec); ok {
		return entry
	}
	if home := x.vocab.HomeGroup(e.Spec); home != "" {
		return "group:" + home
	}
	return e.Spec.Name
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
	if x.tick(v.look().seen) {
		v.listeners.call()
	}
}

func (x *exposure) tick(seen []*Entry) (changed bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn++
	listed := 0
	var idle []*Entry
	for _, e := range seen {
		t := x.know(e)
		if t.away {
			continue
		}
		listed++
		if x.turn-t.lastUsed >= x.idle && !e.Background && !x.isPinned(e) {
			idle = append(idle, e)
		}
	}
	excess := min(listed-x.max, len(idle))
	if excess <= 0 {
		return false
	}
	// seen is sorted by name and the sort is stable, so ties go by name.
	slices.SortStableFunc(idle, func(a, b *Entry) int {
		return cmp.Compare(x.know(a).lastUsed, x.know(b).lastUsed)
	})
	for _, e := range idle[:excess] {
		x.know(e).away = true
		delete(x.back, x.group(e))
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
	x.bring(x.group(e), seen)
	x.changes.Add(1)
	return true
}

// bring lists the tools of a group again and returns the names of those that
// were away.
func (x *exposure) bring(group string, seen []*Entry) (names []string) {
	x.back[group] = true
	for _, e := range seen {
		t := x.know(e)
		if x.group(e) != group || !t.away {
			continue
		}
		t.away, t.lastUsed = false, x.turn
		names = append(names, e.Spec.Name)
	}
	return names
}

// AwayGroup is a group of which at least one tool is put away.
type AwayGroup struct {
	// Group is what [View.Activate] takes: an entry such as "group:web", or
	// the name of a tool of no group.
	Group string `json:"group"`
	// Tools are the tools that are put away, by the names that are shown,
	// sorted.
	Tools []string `json:"tools"`
}

// Away returns what is put away, sorted by group.
func (v *View) Away() []AwayGroup {
	x := v.exposure
	if x == nil {
		return nil
	}
	s := v.look()
	x.mu.Lock()
	defer x.mu.Unlock()
	groups := map[string]*AwayGroup{}
	for _, e := range s.seen {
		if !x.know(e).away {
			continue
		}
		name := x.group(e)
		if groups[name] == nil {
			groups[name] = &AwayGroup{Group: name}
		}
		groups[name].Tools = append(groups[name].Tools, s.shown(e))
	}
	all := make([]AwayGroup, 0, len(groups))
	for _, g := range groups {
		slices.Sort(g.Tools)
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b AwayGroup) int { return cmp.Compare(a.Group, b.Group) })
	return all
}

// shown returns the name under which a tool that is seen is listed.
func (s *sight) shown(e *Entry) string { return s.forms[e][0].Shown }

// Activation says what became of a request to list tools again. All names
// are those shown, sorted.
type Activation struct {
	// Activated were put away and are listed now.
	Activated []string `json:"activated"`
	// Already were asked for and listed all along.
	Already []string `json:"already_active"`
}

// Activate lists tools again, by any of their names, each with its group,
// and the group that is named, with or without "group:". Where something is
// not known it changes nothing and says all that is wrong.
func (v *View) Activate(names []string, group string) (Activation, *tool.Error) {
	x := v.exposure
	if x == nil {
		return Activation{}, tool.Invalidf("nothing is put away: every tool is listed")
	}
	s := v.look()
	act, err := x.activate(s, names, group)
	if err != nil {
		return Activation{}, err
	}
	if len(act.Activated) > 0 {
		v.listeners.call()
	}
	return act, nil
}

func (x *exposure) activate(s *sight, names []string, group string) (Activation, *tool.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	asked, problems := x.find(s, names, group)
	if len(problems) > 0 {
		return Activation{}, tool.Invalidf("%s", strings.Join(problems, "\n"))
	}
	act := Activation{Activated: []string{}, Already: []string{}}
	for _, e := range asked {
		if t := x.know(e); !t.away {
			t.lastUsed = x.turn
			act.Already = append(act.Already, s.shown(e))
		}
	}
	for _, e := range asked {
		if !x.know(e).away {
			continue // listed before, or brought with an earlier one
		}
		for _, name := range x.bring(x.group(e), s.seen) {
			act.Activated = append(act.Activated, s.shown(s.byName[name].Entry))
		}
	}
	if len(act.Activated) > 0 {
		x.changes.Add(1)
	}
	slices.Sort(act.Activated)
	slices.Sort(act.Already)
	return act, nil
}

// find returns the tools that are meant, each once.
func (x *exposure) find(s *sight, names []string, group string) (asked []*Entry, problems []string) {
	add := func(e *Entry) {
		if !slices.Contains(asked, e) {
			asked = append(asked, e)
		}
	}
	for _, name := range names {
		if r, ok := s.byName[name]; ok {
			add(r.Entry)
		} else {
			problems = append(problems, s.unknownError(name).Text)
		}
	}
	if group == "" {
		return asked, problems
	}
	var groups []string
	found := false
	for _, e := range s.seen {
		g := x.group(e)
		groups = append(groups, g)
		if g == group || g == "group:"+group {
			found = true
			add(e)
		}
	}
	if !found {
		slices.Sort(groups)
		msg := fmt.Sprintf("There is no group %q.", tool.Clip(group))
		if near := suggest.NearestN(group, slices.Compact(groups), nearNames); len(near) > 0 {
			msg += " Did you mean " + strings.Join(near, " or ") + "?"
		}
		problems = append(problems, msg)
	}
	return asked, problems
}
