package tooltest

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

// assess tries that what a tool says beforehand stays within what it
// declares, is the same every time, and changes nothing.
func assess(tb testing.TB, s *subject) {
	a, ok := s.tool.(tool.Assesser)
	if !ok {
		return
	}
	for _, e := range s.opts.Examples {
		s.setup(tb, e)
		before := s.look(tb)
		acts := make([]tool.Act, parallel)
		errs := make([]error, parallel)
		var all sync.WaitGroup
		for i := range acts {
			all.Go(func() {
				if p := guarded(func() { acts[i], errs[i] = a.Assess(s.context(tb.Context()), s.call(tb, e.Args)) }); p != nil {
					tb.Errorf("%s: Assess panicked: %v", e.name(), p)
				}
			})
		}
		all.Wait()
		before.same(tb, e.name()+": Assess", s.look(tb))
		for i := range acts {
			if !reflect.DeepEqual(acts[i], acts[0]) || (errs[i] == nil) != (errs[0] == nil) {
				tb.Errorf("%s: Assess says %+v, %v and then %+v, %v", e.name(), acts[0], errs[0], acts[i], errs[i])
				break
			}
		}
		if errs[0] == nil {
			s.within(tb, e.name(), acts[0])
		} else if e.Code == "" {
			tb.Errorf("%s: Assess refuses a call that succeeds: %v", e.name(), errs[0])
		}
	}
}

// within tries that an act names nothing beyond the declared effects.
func (s *subject) within(tb testing.TB, what string, act tool.Act) {
	tb.Helper()
	if !act.Effects.Within(s.spec.Effects) {
		tb.Errorf("%s: the act has the effects %s; declared are %s", what, act.Effects, s.spec.Effects)
	}
	for _, part := range []struct {
		name    string
		some    bool
		effects tool.Effects
	}{
		{"reads files", len(act.Reads)+len(act.Trees) > 0, tool.Read | tool.Write | tool.Exec},
		{"writes files", len(act.Writes)+len(act.Entries) > 0, tool.Write | tool.Exec},
		{"reaches hosts", len(act.Hosts) > 0, tool.Network | tool.Exec},
		{"runs a command", act.Command != "", tool.Exec},
	} {
		if part.some && act.Effects.Declared()&part.effects == 0 {
			tb.Errorf("%s: the act %s and has the effects %s", what, part.name, act.Effects)
		}
	}
	if strings.ContainsAny(act.Summary, "\r\n") {
		tb.Errorf("%s: the summary of the act is not one line: %q", what, act.Summary)
	}
}
