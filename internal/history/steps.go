package history

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// steps are the plan as the workspace carries it out: files that go, what is
// made, moves or ends among folders, and what comes.
func (p *plan) steps() []workspace.Step {
	var removes, moves, rmdirs, mkdirs, writes []workspace.Step
	stays := map[string]bool{} // what lies on after the plan, under some name
	for _, n := range p.nodes {
		stays[n.at] = stays[n.at] || n.there
	}
	for _, at := range slices.Sorted(maps.Keys(p.facts)) {
		switch n := p.facts[at]; {
		case !n.there || stays[at]:
		case n.mode.IsDir():
			rmdirs = append(rmdirs, workspace.Step{Op: workspace.OpRemove, Name: at})
		default:
			removes = append(removes, workspace.Step{Op: workspace.OpRemove, Name: at, Expect: n.expect()})
		}
	}
	slices.Reverse(rmdirs) // what lies deeper comes first
	for _, name := range slices.Sorted(maps.Keys(p.nodes)) {
		n := p.nodes[name]
		if !n.there {
			continue
		}
		if n.at != "" && n.at != name && !p.carried(name, n) {
			moves = append(moves, workspace.Step{Op: workspace.OpMove, Name: n.at, To: name, Expect: n.expect()})
		}
		switch {
		case n.mode.IsDir() && n.at == "":
			mkdirs = append(mkdirs, workspace.Step{Op: workspace.OpMakeDir, Name: name, Mode: n.mode.Perm()})
		case p.isLeft(name):
		case n.fresh && n.at == name:
			writes = append(writes, workspace.Step{Op: workspace.OpWrite, Name: name, Data: n.data, Expect: n.expect()})
		case n.fresh:
			writes = append(writes, workspace.Step{Op: workspace.OpWrite, Name: name, Data: n.data, Mode: n.mode, CreateOnly: n.at == ""})
		}
	}
	return slices.Concat(removes, inOrder(slices.Concat(mkdirs, moves, rmdirs)), writes)
}

// carried reports whether a moved folder takes a node along to its name.
func (p *plan) carried(name string, n *node) bool {
	dir, rest := p.above(name)
	return dir != nil && n.at == path.Join(dir.at, rest)
}

// expect is the state in which a file must still be when it is changed.
func (n *node) expect() *workspace.Version {
	if n.version.IsZero() {
		return nil
	}
	v := n.version
	return &v
}

// inOrder puts steps about folders and moves behind those that make room for
// them: a path has to be free before something else gets it, a folder has to
// be there before something comes into it, and all that leaves a folder goes
// before the folder does. Where that is a circle, the steps stay as they are,
// and the workspace refuses them.
func inOrder(steps []workspace.Step) []workspace.Step {
	after := make([][]int, len(steps)) // the steps that come after each
	waits := make([]int, len(steps))   // for how many each one waits
	before := func(first, then int) {
		if first != then {
			after[first] = append(after[first], then)
			waits[then]++
		}
	}
	leaves, makes := map[string]int{}, map[string]int{} // by path
	for i, s := range steps {
		if s.Op == workspace.OpMakeDir {
			makes[s.Name] = i
		} else {
			leaves[s.Name] = i
		}
	}
	for i, s := range steps {
		comes := s.To
		if s.Op == workspace.OpMakeDir {
			comes = s.Name
		}
		if first, ok := leaves[comes]; ok && comes != "" {
			before(first, i)
		}
		for dir := path.Dir(comes); comes != "" && dir != "." && dir != "/"; dir = path.Dir(dir) {
			if first, ok := makes[dir]; ok {
				before(first, i)
			}
		}
		for dir := path.Dir(s.Name); s.Op != workspace.OpMakeDir && dir != "." && dir != "/"; dir = path.Dir(dir) {
			if then, ok := leaves[dir]; ok && steps[then].Op == workspace.OpRemove {
				before(i, then)
			}
		}
	}
	out := make([]workspace.Step, 0, len(steps))
	var ready []int
	for i := range steps {
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		out = append(out, steps[i])
		for _, then := range after[i] {
			if waits[then]--; waits[then] == 0 {
				ready = append(ready, then)
			}
		}
	}
	if len(out) < len(steps) {
		return steps
	}
	return out
}

// above returns the innermost folder of the plan above a path, and the rest
// of the path; nil where the plan says nothing of any.
func (o *overlay) above(name string) (*node, string) {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if n := o.nodes[dir]; n != nil {
			return n, strings.TrimPrefix(name, dir+"/")
		}
	}
	return nil, ""
}

// touched lists the paths that steps change.
func touched(steps []workspace.Step) []string {
	out := []string{}
	for _, s := range steps {
		out = append(out, s.Name)
		if s.Op == workspace.OpMove {
			out = append(out, s.To)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
