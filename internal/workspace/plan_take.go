package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/handrail-tools/handrail/tool"
)

// MaxMoved is the most entries that a folder which is moved may hold. Each is
// judged at both paths.
const MaxMoved = 10_000

// taken refuses what a step may not take away: what is not there, what is no
// file, link or folder, and the folders that are open by themselves.
func (p *plan) taken(a *action, e *entry) error {
	switch {
	case !e.exists && e.by != nil:
		return e.conflict(a.step.Name)
	case !e.exists:
		return fs.ErrNotExist
	case a.at.path == ".":
		return denied(ErrProtected, "%s is a folder that was opened as a whole; it stays where it is", tool.Clip(a.step.Name))
	case e.by != nil && (e.writer == nil || e.moved || a.step.Op == OpRemove):
		return e.conflict(a.step.Name)
	case !e.node.mode.IsRegular() && !e.node.isLink() && !e.node.mode.IsDir():
		return notRegular(a.step.Name, e.node.mode)
	case a.step.Expect != nil && (!e.node.mode.IsRegular() || e.node.version != *a.step.Expect):
		return changedSince(a.step.Name)
	}
	a.old, a.change.Mode = e, e.node.mode
	a.change.Before, a.change.OtherNames = e.node.version, 0
	if e.node.mode.IsRegular() {
		a.change.OtherNames = int(e.node.links) - 1
	}
	if !e.node.mode.IsDir() {
		return nil
	}
	for _, in := range a.at.zone.inner {
		if beneath(a.at.path, in.rest) {
			return denied(ErrProtected, "%s holds %s, which was opened by itself; it stays where it is", tool.Clip(a.step.Name), tool.Clip(in.rest))
		}
	}
	return nil
}

func (p *plan) remove(a *action) error {
	at, e, err := p.leaf(a.step.Name)
	if err != nil {
		return err
	}
	a.at, a.change.Rel = at, at.name()
	if err := p.w.judge(at, a.step.Name, toTake); err != nil {
		return err
	}
	if err := p.taken(a, e); err != nil {
		return err
	}
	if e.node.mode.IsDir() {
		if err := p.empty(a); err != nil {
			return err
		}
	}
	p.links = p.links || e.node.isLink()
	p.set(at, &entry{node: e.node, disk: at, by: a})
	return nil
}

// empty fails unless the steps before leave nothing in the folder.
func (p *plan) empty(a *action) error {
	for s, e := range p.now {
		if e.exists && s.zone == a.at.zone && strings.HasPrefix(s.path, a.at.path+"/") {
			return e.conflict(s.path)
		}
	}
	f, err := a.at.zone.tree.open(a.at.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if e := p.now[spot{a.at.zone, join(a.at.path, name)}]; IsTemp(name) || e != nil && !e.exists {
				continue
			}
			return failed(ErrNotEmpty, "%s is a folder that is not empty; it was left as it is", tool.Clip(a.step.Name))
		}
		if errors.Is(err, io.EOF) || err == nil && len(names) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *plan) move(a *action) error {
	at, e, err := p.leaf(a.step.Name)
	if err != nil {
		return err
	}
	a.at = at
	to, over, err := p.leaf(a.step.To)
	if err != nil {
		return explain("moving to", a.step.To, err)
	}
	a.to, a.change.Rel, a.change.From = to, to.name(), at.name()
	if err := p.w.judge(at, a.step.Name, toTake); err != nil {
		return err
	}
	use := toWrite
	if e.node.mode.IsDir() {
		use = toMake
	}
	judged := to
	judged.exists, judged.node = over.exists, over.node
	if err := p.w.judge(judged, a.step.To, use); err != nil {
		return err
	}
	if err := p.taken(a, e); err != nil {
		return err
	}
	if at.spot() == to.spot() {
		a.nothing, a.change.Unchanged, a.change.After = true, true, e.node.version
		return nil
	}
	if over.exists {
		if err := p.replaces(a, e, over); err != nil {
			return err
		}
	}
	if e.node.mode.IsDir() {
		if err := p.moveFolder(a); err != nil {
			return err
		}
	}
	if err := p.parents(a, to); err != nil {
		return explain("moving to", a.step.To, err)
	}
	p.links = p.links || e.node.isLink()
	a.change.Created = !over.exists
	p.set(at, &entry{node: e.node, disk: at, by: a})
	p.set(to, &entry{exists: true, node: e.node, disk: e.disk, by: a, writer: e.writer, moved: true})
	return nil
}

// replaces refuses a move onto something that it may not replace.
func (p *plan) replaces(a *action, e, over *entry) error {
	v, o := e.node.version, over.node.version
	switch name := tool.Clip(a.step.To); {
	case over.by != nil:
		return over.conflict(a.step.To)
	case over.node.mode.IsDir():
		return failed(fs.ErrExist, "%s is an existing folder; name the new path itself, for example %s", name, tool.Clip(join(a.to.path, leafOf(a.at.path))))
	case v.Inode != 0 && v.Dev == o.Dev && v.Inode == o.Inode:
		return failed(fs.ErrExist, "%s and %s are two names of one file; remove the one that is not wanted", tool.Clip(a.step.Name), name)
	case !a.step.Overwrite:
		return failed(fs.ErrExist, "%s exists already and was left as it is; nothing was moved", name)
	case e.node.mode.IsDir():
		return failed(fs.ErrExist, "%s is a file; a folder does not replace it", name)
	case !over.node.mode.IsRegular() && !over.node.isLink():
		return notRegular(a.step.To, over.node.mode)
	}
	a.over = over
	return nil
}

func leafOf(p string) string {
	_, leaf := parent(p)
	return leaf
}

// moveFolder judges everything in a folder that is moved.
func (p *plan) moveFolder(a *action) error {
	switch {
	case a.at.zone != a.to.zone:
		return failed(syscall.EXDEV, "%s cannot be moved to %s: a folder stays within the folder that it was opened with. Move its files one by one", tool.Clip(a.step.Name), tool.Clip(a.step.To))
	case beneath(a.at.path, a.to.path):
		return invalid(nil, "%s cannot be moved into itself", tool.Clip(a.step.Name))
	}
	for s, e := range p.now {
		if s.zone == a.at.zone && strings.HasPrefix(s.path, a.at.path+"/") {
			return invalid(ErrConflict, "%s: step %d is about %s in it; move the folder in a call of its own", tool.Clip(a.step.Name), e.by.n, tool.Clip(s.path))
		}
	}
	if !p.locked {
		return nil // it is judged under the locks, once
	}
	return p.w.judgeMove(p.ctx, a, a.at)
}

// judgeMove judges everything in a folder that is moved and is at disk now.
func (w *Workspace) judgeMove(ctx context.Context, a *action, disk place) error {
	err := w.judgeTree(ctx, disk, a.at, a.to)
	var e *tool.Error
	if errors.As(err, &e) {
		return withText(e, err, fmt.Sprintf("the folder %s is not moved with what it holds: %s", tool.Clip(a.step.Name), e.Text))
	}
	return err
}

// judgeTree judges everything in the folder that is at disk now, at the path
// old that it comes from and at the path that it gets. What rules for the
// call close in its trees is refused as well.
func (w *Workspace) judgeTree(ctx context.Context, disk, old, to place) error {
	left, closed := MaxMoved, ClosedFrom(ctx)
	var walk func(rest string) error
	walk = func(rest string) error {
		names, err := w.namesIn(place{zone: disk.zone, path: join(disk.path, rest)}, &left)
		if err != nil {
			return err
		}
		for _, name := range names {
			below := name
			if rest != "." {
				below = rest + "/" + name
			}
			n, err := disk.zone.tree.look(join(disk.path, below))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			was, will := place{zone: old.zone, path: join(old.path, below)}, place{zone: to.zone, path: join(to.path, below)}
			if err := w.judgeMoved(n, settle(was), settle(will), closed); err != nil {
				return err
			}
			if n.mode.IsDir() {
				if err := walk(below); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return walk(".")
}

// namesIn lists a folder, within what is left of the bound.
func (w *Workspace) namesIn(dir place, left *int) ([]string, error) {
	f, err := dir.zone.tree.open(dir.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(*left + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if *left -= len(names); *left < 0 {
		return nil, failed(ErrTooLarge, "the folder holds more than %d entries, of which each would have to be judged; move parts of it", MaxMoved)
	}
	return names, nil
}

// judgeMoved judges one entry of a folder that is moved.
func (w *Workspace) judgeMoved(n node, old, to place, closed func(string) bool) error {
	old.exists, old.node = true, n
	use := toWrite
	if n.mode.IsDir() {
		use = toMake
	}
	if err := w.judge(old, old.name(), toTake); err != nil {
		return err
	}
	if err := w.judge(to, to.name(), use); err != nil {
		return err
	}
	for _, at := range []place{old, to} {
		if closed(at.judged()) {
			return denied(ErrUnreadable, "%s is closed by a rule, so the folder that holds it is not moved", tool.Clip(at.name()))
		}
	}
	return nil
}
