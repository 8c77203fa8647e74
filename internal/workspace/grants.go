package workspace

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// Grants are the write fence of a child session: what they do not cover is
// never written, moved, removed or made, by whatever operation of the
// workspace. They give nothing that the other rules refuse.
type Grants struct {
	// Patterns are paths relative to Dir, compared as a whole and with
	// regard to case; "*" and "?" stay within an element. Folders above a
	// granted path may be made. nil means every path, an empty list none.
	//
	// The syntax is what a glob and the profile of a sandbox express alike
	// (octos): no pattern is empty, absolute or has "**", a control
	// character, one of ()\":[]{} or an element that is empty, "." or "..".
	Patterns []string
	// CreateOnly lets new files be made, and nothing that exists be touched.
	CreateOnly bool
	// Dir is the absolute path that Patterns are relative to. Empty means
	// the root of the workspace.
	Dir string
	// Above is the fence of the session above, which must allow a write as
	// well. nil means that there is none.
	Above *Grants
}

// A fence is a set of grants that was read.
type fence struct {
	dir        string // absolute, with slashes, links resolved
	all        bool
	createOnly bool
	texts      []string
	patterns   [][]string // the elements of each pattern
}

// maxFences bounds the chain of sessions above, which are far fewer.
const maxFences = 64

// fenceIn reads the grants of the session and those above.
func (w *Workspace) fenceIn(g *Grants) error {
	var errs []error
	for ; g != nil; g = g.Above {
		if len(w.fences) == maxFences {
			return fmt.Errorf("more than %d fences lie in each other", maxFences)
		}
		f := fence{dir: slashed(w.Root()), all: g.Patterns == nil, createOnly: g.CreateOnly, texts: g.Patterns}
		if g.Dir != "" {
			real, err := realDir(g.Dir)
			if err == nil && !filepath.IsAbs(g.Dir) {
				err = fmt.Errorf("%q is not an absolute path", g.Dir)
			}
			errs = append(errs, err)
			f.dir = slashed(real)
		}
		for _, p := range g.Patterns {
			errs = append(errs, checkGrant(p))
			f.patterns = append(f.patterns, strings.Split(p, "/"))
		}
		w.fences = append(w.fences, f)
	}
	return errors.Join(errs...)
}

// checkGrant refuses a pattern that would mean different things to different
// readers.
func checkGrant(p string) error {
	bad := func(why string) error { return fmt.Errorf("write grant %q: %s", tool.Clip(p), why) }
	switch {
	case p == "":
		return bad("it is empty and names nothing")
	case strings.HasPrefix(p, "/"):
		return bad("it is absolute; a grant is relative to the workspace")
	case strings.Contains(p, "**"):
		return bad("a wildcard stays within one element; name each level, as in docs/*/*.md")
	}
	for i := 0; i < len(p); i++ {
		if c := p[i]; c < 0x20 || c == 0x7f || strings.IndexByte(`()\":[]{}`, c) >= 0 {
			return bad(fmt.Sprintf(`it has the character %q; only "*" and "?" are special in a grant`, c))
		}
	}
	for elem := range strings.SplitSeq(p, "/") {
		switch elem {
		case "":
			return bad("it has an empty element")
		case ".", "..":
			return bad("it has the element " + elem + ", which no path has")
		}
	}
	return nil
}

// refuses says why the fence keeps at from being used so, or "".
func (f *fence) refuses(at place, to use) string {
	folder := to == toMake || to == toWrite && at.exists && at.node.mode.IsDir()
	if !f.all {
		rel, inside := cutFolder(slashed(at.abs()), f.dir)
		if !inside || !f.covers(rel, folder) {
			return f.says()
		}
	}
	if f.createOnly && (to == toTake || at.exists && !folder) {
		return "this session may make new files, and leaves those alone that exist"
	}
	return ""
}

// covers reports whether a pattern matches rel. A folder is covered as well
// if something in it may be: it is passed through, or made.
func (f *fence) covers(rel string, folder bool) bool {
	if rel == "" {
		return folder && len(f.patterns) > 0
	}
	elems := strings.Split(rel, "/")
	for _, p := range f.patterns {
		if len(p) == len(elems) && matchElems(p, elems) {
			return true
		}
		if folder && len(p) > len(elems) && matchElems(p[:len(elems)], elems) {
			return true
		}
	}
	return false
}

func matchElems(pattern, elems []string) bool {
	for i, want := range pattern {
		// checkGrant leaves no syntax that could be wrong.
		if ok, err := path.Match(want, elems[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// maxGrantsSaid is how many patterns a refusal lists.
const maxGrantsSaid = 20

func (f *fence) says() string {
	if len(f.texts) == 0 {
		return "this session may write nothing"
	}
	text := "this session may write only " + strings.Join(f.texts[:min(len(f.texts), maxGrantsSaid)], ", ")
	if n := len(f.texts) - maxGrantsSaid; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if f.createOnly {
		text += ", and only as new files"
	}
	return tool.ClipText(text, tool.MaxErrorText/2)
}
