package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

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
		t := x.know(e)
		if !t.away {
			continue
		}
		if groups[t.group] == nil {
			groups[t.group] = &AwayGroup{Group: t.group}
		}
		groups[t.group].Tools = append(groups[t.group].Tools, s.shown(e))
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
		for _, name := range x.bring(x.know(e).group, s.seen) {
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
		g := x.know(e).group
		groups = append(groups, strings.TrimPrefix(g, "group:"))
		if g == group || g == "group:"+group {
			found = true
			add(e)
		}
	}
	if !found {
		problems = append(problems, unknownGroup(group, groups))
	}
	return asked, problems
}

func unknownGroup(group string, groups []string) string {
	msg := fmt.Sprintf("There is no group %q.", tool.Clip(group))
	if near := suggest.NearestN(strings.TrimPrefix(group, "group:"), groups, nearNames); len(near) > 0 {
		msg += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return msg
}
