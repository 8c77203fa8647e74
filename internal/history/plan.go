package history

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// A plan is an undo before it is carried out: what each path would become.
type plan struct {
	t *Timeline
	*overlay
	said      map[string]UndoneFile
	conflicts []string
	bad       map[string]bool // the paths of the conflicts
}

// run plans the undo of a selection, the newest change first.
func (p *plan) run(s *selection) error {
	for _, c := range s.changes {
		for _, r := range slices.Backward(c.group.applied()) {
			if err := p.record(s, r); err != nil {
				return err
			}
		}
	}
	if len(p.conflicts) == 0 {
		return nil
	}
	e := tool.Failf("nothing was undone, because files were changed since:\n- %s\nUndo the later changes first, or change these files by hand.", strings.Join(p.conflicts, "\n- "))
	e.Err = ErrConflict
	return e
}

// A reversal is one entry to be taken back, in the session's spelling.
type reversal struct {
	r *record
	e *entry
	// name and from are the paths of the entry.
	name, from string
}

// record plans the undo of one record. The entries of a record say what each
// path was and became, in no order; so files go before the folders that hold
// them, and folders come before their files.
func (p *plan) record(s *selection, r *record) error {
	var list []reversal
	for i := range r.Entries {
		e := &r.Entries[i]
		name, ok := p.t.seen(e.Rel)
		if !ok {
			continue
		}
		from := ""
		if e.From != "" {
			if from, ok = p.t.seen(e.From); !ok {
				p.conflict(name, "it was moved from outside of this session's folder")
				continue
			}
		}
		list = append(list, reversal{r, e, name, from})
	}
	movedAway := map[string]*reversal{} // old places that a move explains
	for i := range list {
		if v := &list[i]; v.from != "" && v.e.After != nil {
			movedAway[v.from] = v
		}
	}
	list = slices.DeleteFunc(list, func(v reversal) bool {
		if m := movedAway[v.name]; m != nil && v.e.After == nil {
			return true
		}
		return !s.covers(v.name) && (v.from == "" || !s.covers(v.from))
	})
	slices.SortStableFunc(list, compareReversals)
	for i := range list {
		if err := p.reverse(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// compareReversals orders: moves, files that go, folders that go with the
// deepest first, folders that come with the highest first, all other files.
func compareReversals(a, b reversal) int {
	phase := func(v reversal) int {
		dir := v.e.Before != nil && v.e.Before.Mode.IsDir() || v.e.After != nil && v.e.After.Mode.IsDir()
		switch {
		case v.from != "":
			return 0
		case v.e.Before == nil && !dir:
			return 1
		case v.e.Before == nil:
			return 2
		case dir:
			return 3
		default:
			return 4
		}
	}
	if by := cmp.Compare(phase(a), phase(b)); by != 0 {
		return by
	}
	if phase(a) == 2 {
		return strings.Compare(b.name, a.name)
	}
	return strings.Compare(a.name, b.name)
}

// conflict notes why a path cannot be taken back. What else was done to it is
// then not looked at.
func (p *plan) conflict(name, format string, args ...any) {
	p.bad[name] = true
	p.conflicts = append(p.conflicts, tool.Clip(name)+": "+fmt.Sprintf(format, args...))
}

func (p *plan) say(name, what, note string) {
	p.said[name] = UndoneFile{Path: name, What: what, Note: note}
}

// reverse plans one entry.
func (p *plan) reverse(v *reversal) error {
	if p.bad[v.name] || p.bad[v.from] {
		return nil
	}
	now, err := p.get(v.name)
	if err != nil {
		return err
	}
	switch {
	case v.from != "":
		return p.moveBack(v, now)
	case now.is(v.e.Before) && !now.is(v.e.After):
		p.say(v.name, UndoAlready, "it is as it was before already")
	case v.e.Before == nil:
		return p.takeAway(v, now)
	case !now.there && v.e.After == nil:
		p.bringBack(v, UndoBack)
	case now.is(v.e.After) && v.e.After != nil:
		if v.e.Before.Mode.IsDir() {
			return nil // a folder has no content
		}
		p.bringBack(v, UndoRestored)
	case !now.there:
		p.conflict(v.name, "it was removed since")
	case v.e.After == nil:
		p.conflict(v.name, "it was deleted, and there is another one now")
	default:
		p.mergeBack(v, now)
	}
	return nil
}

// takeAway plans the end of what was created.
func (p *plan) takeAway(v *reversal, now *node) error {
	switch {
	case !now.is(v.e.After):
		p.conflict(v.name, "it was created by this change and changed since%s", p.where(v, now))
		return nil
	case now.mode.IsDir():
		empty, err := p.isEmpty(v.name)
		if err != nil {
			return err
		}
		if !empty {
			p.say(v.name, UndoAlready, "the folder is not empty")
			return nil
		}
	}
	p.nodes[v.name] = &node{}
	p.say(v.name, UndoRemoved, "")
	return nil
}

// bringBack plans that a path becomes what it was before.
func (p *plan) bringBack(v *reversal, what string) {
	k := v.e.Before
	n := &node{side: side{there: true, mode: k.Mode, size: k.Size}, fresh: true}
	if !k.Mode.IsDir() {
		data, err := p.t.trail.content(v.r, k)
		if err != nil {
			p.conflict(v.name, "its earlier content (%d bytes) is not kept", k.Size)
			return
		}
		n.data = data
	}
	p.replace(v.name, n)
	p.say(v.name, what, "")
}

// replace puts a new content in the place of a file that stays the same
// file.
func (p *plan) replace(name string, n *node) {
	if old := p.nodes[name]; old != nil && old.there && old.mode.IsRegular() && n.mode.IsRegular() {
		n.at, n.version, n.mode = old.at, old.version, old.mode
	}
	p.nodes[name] = n
}

// moveBack plans the way back of what was moved. What was changed at its new
// place keeps these changes.
func (p *plan) moveBack(v *reversal, now *node) error {
	old, err := p.get(v.from)
	if err != nil {
		return err
	}
	was, wasIn := v.e.After, v.r
	left := (*kept)(nil) // what the change left at the old place
	for i := range v.r.Entries {
		if e := &v.r.Entries[i]; e.Rel == v.e.From {
			was, left = e.Before, e.After
		}
	}
	switch {
	case !now.there && old.mayBe(was):
		p.say(v.name, UndoAlready, "it is back at "+v.from+" already")
		return nil
	case !now.there:
		p.conflict(v.name, "it was moved here by this change and is gone")
		return nil
	case old.there && !old.is(left):
		p.conflict(v.from, "it was moved from here, and there is another one now")
		return nil
	}
	back := *now
	if !v.e.After.Mode.IsDir() && !was.same(v.e.After) && !(was.Lost && v.e.After.Lost) {
		// It was changed when it was moved.
		if now.is(v.e.After) {
			if back.data, err = p.t.trail.content(wasIn, was); err != nil {
				p.conflict(v.name, "its earlier content (%d bytes) is not kept", was.Size)
				return nil
			}
		} else {
			var ok bool
			if back.data, ok = p.merged(v.name, now, v.r, v.e.After, wasIn, was); !ok {
				return nil
			}
		}
		back.size, back.fresh = int64(len(back.data)), true
	}
	p.move(v.name, v.from, &back)
	p.say(v.name, UndoMoved, "to "+v.from)
	return p.uncover(v)
}

// uncover brings back what a move had replaced.
func (p *plan) uncover(v *reversal) error {
	if v.e.Before != nil {
		p.bringBack(v, UndoBack)
		p.say(v.name, UndoMoved, "to "+v.from+"; what had been replaced is back")
	}
	return nil
}

// files lists what was said, in order.
func (p *plan) files() []UndoneFile {
	out := make([]UndoneFile, 0, len(p.said))
	for _, f := range p.said {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b UndoneFile) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// steps are the plan as the workspace carries it out: what goes, what moves,
// what comes.
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
			moves = append(moves, workspace.Step{Op: workspace.OpMove, Name: n.at, To: name})
		}
		switch {
		case n.mode.IsDir() && n.at == "":
			mkdirs = append(mkdirs, workspace.Step{Op: workspace.OpMakeDir, Name: name, Mode: n.mode.Perm()})
		case n.fresh && n.at == name:
			writes = append(writes, workspace.Step{Op: workspace.OpWrite, Name: name, Data: n.data, Expect: n.expect()})
		case n.fresh:
			writes = append(writes, workspace.Step{Op: workspace.OpWrite, Name: name, Data: n.data, Mode: n.mode, CreateOnly: n.at == ""})
		}
	}
	return slices.Concat(removes, mkdirs, moves, rmdirs, writes)
}

// carried reports whether a moved folder takes a node along to its name.
func (p *plan) carried(name string, n *node) bool {
	for _, m := range p.moved {
		if rest, ok := strings.CutPrefix(name, m.to+"/"); ok && n.at == path.Join(m.from, rest) {
			return true
		}
	}
	return false
}

// expect is the state in which a file must still be when it is changed.
func (n *node) expect() *workspace.Version {
	if n.version.IsZero() {
		return nil
	}
	v := n.version
	return &v
}

// diff shows the plan.
func (p *plan) diff() string {
	var b strings.Builder
	moved := map[string]bool{}
	for name, n := range p.nodes {
		if n.there && n.at != "" && n.at != name {
			moved[n.at] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.nodes)) {
		n := p.nodes[name]
		switch {
		case b.Len() > maxDiff:
			return b.String() + "The rest is left out.\n"
		case n.there && n.at != "" && n.at != name:
			if p.facts[name].there { // it takes the place of another
				b.WriteString(diffFile("", n.at, p.facts[n.at].side, side{}))
				b.WriteString(diffFile("", name, p.facts[name].side, n.side))
				continue
			}
			b.WriteString(diffFile(n.at, name, p.facts[n.at].side, n.side))
		case n.there || !moved[name]:
			b.WriteString(diffFile("", name, p.facts[name].side, n.side))
		}
	}
	return b.String()
}
