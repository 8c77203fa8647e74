package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"strings"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// A node is what there is at a path, in fact or in a plan.
type node struct {
	side
	// at is where it lies in fact, "" for what a plan makes.
	at string
	// version is that of a file that was read.
	version workspace.Version
	fresh   bool // data is not what lies there in fact
}

// present looks at a path. A symbolic link is looked at itself.
func present(ctx context.Context, w *workspace.Workspace, name string) (node, error) {
	at, err := w.ResolveEntry(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !at.Exists {
		return node{}, nil
	}
	if err != nil {
		return node{}, err
	}
	n := node{side: side{there: true, mode: at.Mode, size: at.Size}, at: name}
	switch {
	case at.Mode.IsDir():
		n.size = 0
	case at.Mode&fs.ModeSymlink != 0:
		target, err := w.Readlink(name)
		if err != nil {
			return node{}, err
		}
		n.data, n.size = []byte(target), int64(len(target))
	case !at.Mode.IsRegular():
		n.lost = true
	default:
		f, err := w.ReadFile(ctx, name, MaxKept)
		switch {
		case errors.Is(err, workspace.ErrTooLarge):
			n.lost = true
		case errors.Is(err, fs.ErrNotExist):
			return node{}, nil
		case err != nil:
			return node{}, err
		default:
			n.data, n.size, n.version = f.Data, int64(len(f.Data)), f.Version
		}
	}
	return n, nil
}

// is reports whether a node is known to be in a state.
func (n *node) is(k *kept) bool {
	switch {
	case k == nil || !n.there:
		return k == nil && !n.there
	case n.mode.Type() != k.Mode.Type():
		return false
	case n.mode.IsDir():
		return true
	case n.lost || k.Sum == "" || int64(len(n.data)) != k.Size:
		return false
	}
	of := sha256.Sum256(n.data)
	return hex.EncodeToString(of[:]) == k.Sum
}

// mayBe is is for what is too large to be compared.
func (n *node) mayBe(k *kept) bool {
	return n.is(k) || k != nil && n.there && n.lost && k.Lost && n.mode.Type() == k.Mode.Type() && n.size == k.Size
}

// An overlay is the workspace as it would be after what was planned so far.
type overlay struct {
	ctx   context.Context
	w     *workspace.Workspace
	nodes map[string]*node
	facts map[string]node // what lies in fact at what was looked at
	moved []struct{ from, to string }
}

// real is where a path of the plan lies in fact, and false where a folder of
// the plan took all away that was there.
func (o *overlay) real(name string) (string, bool) {
	for i := len(o.moved) - 1; i >= 0; i-- {
		m := o.moved[i]
		if rest, ok := strings.CutPrefix(name, m.to+"/"); ok {
			name = m.from + "/" + rest
		} else if strings.HasPrefix(name, m.from+"/") {
			return "", false
		}
	}
	return name, true
}

// get returns what the plan has at a path.
func (o *overlay) get(name string) (*node, error) {
	if n := o.nodes[name]; n != nil {
		return n, nil
	}
	n := node{}
	if at, ok := o.real(name); ok {
		var err error
		if n, err = present(o.ctx, o.w, at); err != nil {
			return nil, err
		}
		o.facts[at] = n
	}
	o.nodes[name] = &n
	return &n, nil
}

// move gives a node another name, with all that is planned beneath it.
func (o *overlay) move(from, to string, n *node) {
	o.nodes[to], o.nodes[from] = n, &node{}
	if !n.mode.IsDir() {
		return
	}
	o.moved = append(o.moved, struct{ from, to string }{from, to})
	for name, n := range maps.Clone(o.nodes) {
		if rest, ok := strings.CutPrefix(name, from+"/"); ok {
			o.nodes[to+"/"+rest], o.nodes[name] = n, &node{}
		}
	}
}

// isEmpty reports whether a folder of the plan has nothing in it.
func (o *overlay) isEmpty(name string) (bool, error) {
	for p, n := range o.nodes {
		if n.there && strings.HasPrefix(p, name+"/") {
			return false, nil
		}
	}
	at, ok := o.real(name)
	if !ok {
		return true, nil
	}
	d, err := o.w.OpenDir(at)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = d.Close() }()
	for {
		names, err := d.Readdirnames(256)
		for _, elem := range names {
			if workspace.IsTemp(elem) {
				continue
			}
			if n := o.nodes[path.Join(name, elem)]; n == nil || n.there {
				return false, nil
			}
		}
		if errors.Is(err, io.EOF) || err == nil && len(names) == 0 {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}
