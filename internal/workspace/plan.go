package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/handrail-tools/handrail/tool"
)

// An action is one step with what it means on the disk.
type action struct {
	n    int // from 1
	step Step
	at   place // what is written, made, removed or moved away
	to   place // where it is moved to
	// old is what is at the place that the step is about; of a write, what
	// it replaces. over is what a move replaces.
	old, over *entry
	// nothing says that the step has nothing to do.
	nothing bool
	change  Change

	temp   string // the name of the new content until the commit, or ""
	result node   // what was put there, known from the commit on
}

func (a *action) doing() string {
	switch a.step.Op {
	case OpWrite:
		return "writing"
	case OpRemove:
		return "removing"
	case OpMove:
		return "moving"
	case OpMakeDir:
		return "making the folder"
	default:
		return fmt.Sprintf("operation %d on", a.step.Op)
	}
}

// shown names the step's paths for a message.
func (a *action) shown() string {
	if a.step.Op == OpMove {
		return tool.Clip(a.step.Name) + " to " + tool.Clip(a.step.To)
	}
	return a.step.Name
}

// A spot is a path as a key.
type spot struct {
	zone *zone
	path string
}

func (p place) spot() spot { return spot{p.zone, p.path} }

// An entry is what a path holds at some point of the plan.
type entry struct {
	exists bool
	node   node // what is, or was, on the disk: the type and the attributes
	// disk is where the content lies until the commit; of what is written
	// anew, where the attributes come from.
	disk place
	// by is the step that made it so, or nil if it is from the disk.
	by *action
	// writer is the step that gives it its content, or nil.
	writer *action
	// moved says that by has moved it here.
	moved bool
}

// conflict names the step that is in the way.
func (e *entry) conflict(name string) error {
	what := "makes"
	switch op := e.by.step.Op; {
	case !e.exists && op == OpRemove:
		what = "removes"
	case !e.exists || e.moved:
		what = "moves"
	case e.writer != nil:
		what = "writes"
	}
	return invalid(ErrConflict, "%s: step %d %s this already; say what you want of a path in one step", tool.Clip(name), e.by.n, what)
}

// A plan is what steps come to, as far as it can be told without changing
// anything.
type plan struct {
	w       *Workspace
	ctx     context.Context
	locked  bool // the turns are held
	actions []*action
	// now is what the paths hold after the steps so far; order is the order
	// in which they were first touched, and first what was on the disk.
	now   map[spot]*entry
	order []place
	// folders are those to be made, outermost first.
	folders []newFolder
	// links says that a symbolic link was removed or moved.
	links bool
}

// A newFolder is a folder that a step makes or needs.
type newFolder struct {
	at   place
	mode fs.FileMode // 0: what the umask leaves
	by   *action
	made bool
}

// maxSaid is how many steps an error speaks of.
const maxSaid = 10

func (p *plan) planAll(steps []Step, said func(*action, error) error) error {
	p.now = make(map[spot]*entry, len(steps))
	var errs []error
	for i, s := range steps {
		a := &action{n: i + 1, step: s, change: Change{Op: s.Op}}
		if err := p.one(a); err != nil {
			if len(errs) > 0 && errors.Is(err, ErrNotEmpty) {
				continue // what stays in the folder was said already
			}
			if errs = append(errs, said(a, err)); len(errs) == maxSaid {
				break
			}
			continue
		}
		p.actions = append(p.actions, a)
	}
	return joinSteps(errs)
}

func (p *plan) one(a *action) error {
	switch a.step.Op {
	case OpWrite:
		return p.write(a)
	case OpRemove:
		return p.remove(a)
	case OpMove:
		return p.move(a)
	case OpMakeDir:
		return p.makeDir(a)
	default:
		return invalid(nil, "%d is no operation", a.step.Op)
	}
}

// leaf resolves a name whose last element is not followed, and looks whether
// the steps before leave the way to it as it is.
func (p *plan) leaf(name string) (place, *entry, error) {
	at, err := p.w.resolveLeaf(name)
	if err != nil {
		return place{}, nil, err
	}
	e, err := p.reach(at, name)
	return at, e, err
}

// reach returns what is at a place after the steps so far.
func (p *plan) reach(at place, name string) (*entry, error) {
	if at.linked && p.links {
		return nil, invalid(ErrConflict, "%s goes through a symbolic link while an earlier step removes or moves one; name the path without links", tool.Clip(name))
	}
	for dir, _ := parent(at.path); dir != "."; dir, _ = parent(dir) {
		e := p.now[spot{at.zone, dir}]
		switch {
		case e == nil:
		case !e.exists || e.moved:
			return nil, invalid(ErrConflict, "%s lies in %s, which step %d moves or removes; do that in a call of its own", tool.Clip(name), tool.Clip(dir), e.by.n)
		case !e.node.mode.IsDir():
			return nil, syscall.ENOTDIR
		}
	}
	if e := p.now[at.spot()]; e != nil {
		return e, nil
	}
	return &entry{exists: at.exists, node: at.node, disk: at}, nil
}

// set notes what a place holds from here on.
func (p *plan) set(at place, e *entry) {
	if _, seen := p.now[at.spot()]; !seen {
		p.order = append(p.order, at)
	}
	p.now[at.spot()] = e
}

func (p *plan) write(a *action) error {
	link := a.step.Mode&fs.ModeSymlink != 0
	at, e, err := p.leaf(a.step.Name)
	if err == nil && !link && e.by == nil && e.exists && e.node.isLink() {
		if at, err = p.w.resolve(a.step.Name); err == nil {
			e, err = p.reach(at, a.step.Name)
		}
	}
	if err != nil {
		return err
	}
	judged := at
	judged.exists, judged.node = e.exists, e.node
	if err := p.w.judgeWrite(judged, a.step.Name); err != nil {
		return err
	}
	a.at, a.change.Rel = at, at.name()
	switch {
	case e.exists && e.writer != nil:
		return e.conflict(a.step.Name)
	case e.exists && (a.step.CreateOnly || link):
		return failed(fs.ErrExist, "%s exists already and was left as it is", tool.Clip(a.step.Name))
	case e.exists && !e.node.mode.IsRegular():
		return notRegular(a.step.Name, e.node.mode)
	case a.step.Expect != nil && (!e.exists || e.node.version != *a.step.Expect):
		return changedSince(a.step.Name)
	case at.path == ".":
		return notRegular(a.step.Name, fs.ModeDir)
	}
	next := &entry{exists: true, disk: e.disk, by: a, writer: a}
	if e.exists {
		a.old, next.node = e, e.node
		a.change.Before, a.change.OtherNames = e.node.version, int(e.node.links)-1
	} else {
		next.node = node{mode: a.newMode()}
		if err := p.parents(a, at); err != nil {
			return err
		}
	}
	a.change.Created, a.change.Mode = !e.exists, next.node.mode
	p.set(at, next)
	return nil
}

// newMode is the mode of a file that a write makes.
func (a *action) newMode() fs.FileMode {
	switch {
	case a.step.Mode&fs.ModeSymlink != 0:
		return fs.ModeSymlink | 0o777
	case a.step.Mode != 0:
		return a.step.Mode & (fs.ModePerm | fs.ModeSticky)
	default:
		return 0o666
	}
}

// parents plans the folders that are missing above at.
func (p *plan) parents(a *action, at place) error {
	var missing []place
	for dir, _ := parent(at.path); dir != "."; dir, _ = parent(dir) {
		up := place{zone: at.zone, path: dir}
		if p.now[up.spot()] != nil {
			break // reach has seen that it is a folder
		}
		n, err := at.zone.tree.look(dir)
		if err == nil && !n.mode.IsDir() {
			err = errLink // it was resolved a moment ago
			if !n.isLink() {
				err = syscall.ENOTDIR
			}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, up)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		p.folder(a, missing[i], 0)
		a.change.Folders = append(a.change.Folders, missing[i].name())
	}
	return nil
}

// folder plans a folder that is to be made.
func (p *plan) folder(a *action, at place, mode fs.FileMode) {
	shown := mode & fs.ModePerm
	if mode == 0 {
		shown = 0o777
	}
	p.set(at, &entry{exists: true, node: node{mode: fs.ModeDir | shown}, disk: at, by: a})
	p.folders = append(p.folders, newFolder{at: at, mode: mode, by: a})
}

func (p *plan) makeDir(a *action) error {
	at, e, err := p.leaf(a.step.Name)
	if err == nil && e.by == nil && e.exists && e.node.isLink() {
		if at, err = p.w.resolve(a.step.Name); err == nil {
			e, err = p.reach(at, a.step.Name)
		}
	}
	if err != nil {
		return err
	}
	judged := at
	judged.exists, judged.node = e.exists, e.node
	if err := p.w.judge(judged, a.step.Name, toMake); err != nil {
		return err
	}
	a.at, a.change.Rel = at, at.name()
	switch {
	case e.exists && e.node.mode.IsDir():
		if e.moved {
			return e.conflict(a.step.Name)
		}
		a.nothing, a.change.Unchanged, a.change.Mode = true, true, e.node.mode
		a.change.Before, a.change.After = e.node.version, e.node.version
		return nil
	case e.exists:
		return failed(fs.ErrExist, "%s exists already and is a file, not a folder", tool.Clip(a.step.Name))
	case e.by != nil:
		return e.conflict(a.step.Name)
	}
	if err := p.parents(a, at); err != nil {
		return err
	}
	p.folder(a, at, a.step.Mode)
	a.change.Created, a.change.Mode = true, p.now[at.spot()].node.mode
	return nil
}
