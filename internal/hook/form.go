package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/tool"
)

// claude is the surface in whose names and arguments hooks are shown calls.
var claude = sync.OnceValues(func() (*surface.Surface, error) { return surface.Load("claude") })

// A view is a call as a hook is shown it.
type view struct {
	name  string
	input json.RawMessage
	// back turns a rewritten input into the tool's own arguments.
	back func(json.RawMessage) (json.RawMessage, error)
}

// A shown is a call in every form in which a hook could be shown it.
type shown struct {
	// names are those by which hooks for Claude Code's tools know the call,
	// and views are what they are shown, one after the other.
	names []string
	views []view
	// ownNames are the tool's own, and own is its own form.
	ownNames []string
	own      view
}

// show finds the forms of a call in a workspace.
func show(in *Input, root string) (shown, error) {
	keep := func(raw json.RawMessage) (json.RawMessage, error) { return raw, nil }
	s := shown{ownNames: append([]string{in.Tool}, in.Aliases...), own: view{in.Tool, orEmpty(in.Args), keep}}
	sf, err := claude()
	if err != nil {
		return s, err
	}
	forms := sf.ByTarget(in.Tool)
	for _, f := range forms {
		s.names = append(s.names, f.Name)
	}
	// What the call would do has names too, so that a hook that guards one
	// way to do it guards them all.
	family := familyOf(in)
	for _, name := range family {
		if !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	}
	for _, f := range forms {
		if v, ok := fit(f, in, root); ok {
			s.views = []view{v}
			return s, nil
		}
	}
	s.views = byEffect(in, family)
	return s, nil
}

func orEmpty(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	return args
}

// pick returns what a hook is shown whose matcher is m, nil where it is not
// about the call.
func (s *shown) pick(m matcher) []view {
	switch {
	case m.matches(s.names...):
		return s.views
	case m.matches(s.ownNames...):
		return []view{s.own}
	}
	return nil
}

// familyOf names the tools of Claude Code that do what the call would do. A
// tool of Handrail's own that runs something without saying a command is
// among them; a stranger's may declare what it likes and is known by its name.
func familyOf(in *Input) []string {
	switch {
	case in.Act.Command != "" || in.Act.Filtered && in.Act.Effects != 0 && in.Act.Effects.Has(tool.Exec):
		return []string{"Bash"}
	case len(in.Writes) > 0:
		return []string{"Edit", "Write", "MultiEdit"}
	case len(in.Reads) > 0:
		return []string{"Read"}
	}
	return nil
}

// fit shows a call in a form of the surface, if it has that form: the
// arguments can be said in it, it is about the one file that it must name, and
// a call that brings a command is shown as one.
func fit(f *surface.Tool, in *Input, root string) (view, bool) {
	if in.Act.Command != "" && f.Name != "Bash" || f.Name == "MultiEdit" && !hasKey(in.Args, "edits") || f.Name == "Edit" && hasKey(in.Args, "edits") {
		return view{}, false
	}
	raw, err := f.Show(orEmpty(in.Args))
	if err != nil {
		return view{}, false
	}
	doc, err := jsondoc.Parse(string(raw))
	if err != nil {
		return view{}, false
	}
	files := slices.Concat(in.Reads, in.Writes)
	slices.Sort(files)
	files = slices.Compact(files)
	for _, key := range []string{"file_path", "notebook_path"} {
		if _, has := f.Renames()[key]; !has {
			continue
		}
		at := doc.Find(key)
		if at == nil || len(files) > 1 {
			return view{}, false
		}
		if len(files) == 1 {
			*at = jsondoc.NewString(files[0])
		}
	}
	if at := doc.Find("path"); at != nil && at.Kind == jsondoc.String && !filepath.IsAbs(at.Text()) && root != "" {
		*at = jsondoc.NewString(filepath.Join(root, at.Text()))
	}
	return view{f.Name, doc.JSON(), f.Map}, true
}

func hasKey(raw json.RawMessage, key string) bool {
	doc, err := jsondoc.Parse(string(raw))
	return err == nil && doc.Find(key) != nil
}

// byEffect shows a call that none of Claude Code's tools could have made by
// what it would do: a command, or each of its files. The tool's own arguments
// stand beside.
func byEffect(in *Input, family []string) []view {
	if family == nil {
		keep := func(raw json.RawMessage) (json.RawMessage, error) { return raw, nil }
		return []view{{in.Tool, orEmpty(in.Args), keep}}
	}
	if family[0] == "Bash" {
		command := in.Act.Command
		if command == "" {
			command = allText(in)
		}
		return []view{withKey(in.Args, "Bash", "command", command)}
	}
	files := in.Writes
	if family[0] == "Read" {
		files = in.Reads
	}
	var views []view
	for _, file := range files {
		views = append(views, withKey(in.Args, family[0], "file_path", file))
	}
	if len(views) > 1 {
		for i := range views {
			views[i].back = func(json.RawMessage) (json.RawMessage, error) { return nil, errSeveral }
		}
	}
	return views
}

// withKey is a view of the tool's own arguments with one more, or another
// value of it. A hook may rewrite the rest; it may rewrite that value too
// where one argument holds it.
func withKey(args json.RawMessage, name, key, value string) view {
	doc, err := jsondoc.Parse(string(orEmpty(args)))
	if err != nil || doc.Kind != jsondoc.Object {
		doc = jsondoc.Node{Kind: jsondoc.Object}
	}
	had := doc.Find(key) != nil
	source := key
	if !had {
		for _, e := range doc.Elems {
			if e.Kind == jsondoc.String && e.Text() == value {
				source = e.Key
			}
		}
		doc.Elems = append(doc.Elems, jsondoc.Elem{Key: key, Node: jsondoc.NewString(value)})
	} else {
		*doc.Find(key) = jsondoc.NewString(value)
	}
	back := func(raw json.RawMessage) (json.RawMessage, error) {
		doc, err := jsondoc.Parse(string(raw))
		if err != nil || had {
			return raw, err
		}
		i := doc.Index(key)
		if i < 0 {
			return raw, nil
		}
		if text := doc.Elems[i].Text(); text != value {
			at := doc.Find(source)
			if source == key || at == nil {
				return nil, fmt.Errorf("%s stands for what the call would do and is no argument of %s, so it cannot be rewritten", key, name)
			}
			*at = jsondoc.NewString(text)
		}
		doc.Elems = slices.Delete(doc.Elems, i, i+1)
		return doc.JSON(), nil
	}
	return view{name, doc.JSON(), back}
}

// allText is everything that the caller wrote, for a hook that looks for
// something in a command: the call runs something, and nobody knows which of
// its arguments that is.
func allText(in *Input) string {
	lines := []string{in.Tool}
	doc, err := jsondoc.Parse(string(orEmpty(in.Args)))
	if err != nil {
		return in.Tool
	}
	var walk func(n *jsondoc.Node)
	walk = func(n *jsondoc.Node) {
		if n.Kind == jsondoc.String {
			lines = append(lines, n.Text())
		}
		for i := range n.Elems {
			walk(&n.Elems[i].Node)
		}
	}
	walk(&doc)
	return strings.Join(lines, "\n")
}

// errSeveral is why a call cannot be rewritten that is shown in parts.
var errSeveral = errors.New("the call is shown file by file and cannot be rewritten from one of them")
