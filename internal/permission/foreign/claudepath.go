package foreign

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pathRule turns a path pattern of Claude Code into patterns of ours, which
// are seen from the workspace: "//x" is absolute there, "~/x" below the home
// folder, "/x" seen from the folder that the file belongs to, and everything
// else from the folder in which one works. why, if not "", says why it cannot
// be said; stricter, that what comes out covers more.
func (r *reader) pathRule(e effect, pattern string) (out []string, stricter bool, why string) {
	var abs []string
	switch {
	case strings.HasPrefix(pattern, "!"):
		return nil, false, `a rule cannot take back another with "!"`
	case strings.Contains(pattern, `\`):
		return nil, false, `a path pattern has no backslash here`
	case strings.HasPrefix(pattern, "//"):
		abs = []string{pattern[1:]}
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		if r.src.Home == "" {
			return nil, false, "there is no home folder"
		}
		for _, home := range both(r.src.Home, r.src.HomeLink) {
			abs = append(abs, home+pattern[1:])
		}
	case strings.HasPrefix(pattern, "~"):
		return nil, false, "the home folder of somebody else is not known"
	case strings.HasPrefix(pattern, "/"):
		if base := r.base(); base != r.src.Workspace {
			abs = []string{base + pattern}
			break
		}
		return []string{pattern}, false, ""
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		abs = []string{r.src.Workspace + "/" + pattern}
	case e == allows && strings.HasPrefix(pattern, "./"):
		return []string{strings.TrimPrefix(pattern, ".")}, false, ""
	default:
		return []string{pattern}, false, ""
	}
	return r.fromWorkspace(e, abs)
}

// both returns a folder under its two names, or its one.
func both(name, link string) []string {
	if link == "" || link == name {
		return []string{name}
	}
	return []string{name, link}
}

// fromWorkspace says an absolute pattern, under each of its names, as seen from
// the workspace. One that lies elsewhere, where file tools come only into
// folders that are granted, is made to match there at any depth if it refuses.
func (r *reader) fromWorkspace(e effect, names []string) (out []string, stricter bool, why string) {
	var elsewhere []string
	for _, abs := range names {
		elems := parts(abs)
		if len(elems) > maxElems || strings.Count(abs, "**") > maxStars {
			return nil, false, "the path has too many parts"
		}
		for _, workspace := range both(r.src.Workspace, r.src.WorkspaceLink) {
			if workspace == "" || len(parts(workspace)) > maxElems {
				continue
			}
			for _, rest := range remainders(elems, parts(workspace)) {
				if text := strings.Join(rest, "/"); text == "" || text == "**" {
					out = append(out, "**")
				} else {
					out = append(out, "/"+text)
				}
			}
		}
		elsewhere = append(elsewhere, "**/"+strings.Join(elems, "/"))
	}
	switch {
	case len(out) > 0:
		slices.Sort(out)
		return slices.Compact(out), false, ""
	case e == allows:
		return nil, false, "it is about files outside of the workspace"
	}
	return elsewhere, true, ""
}

// A pattern above the workspace may have this many parts, and this many "**":
// each of those is tried at every depth.
const (
	maxElems = 64
	maxStars = 4
)

func parts(abs string) []string { return strings.Split(strings.Trim(path.Clean(abs), "/"), "/") }

// remainders returns what is left of a pattern once its beginning has matched
// a folder: in every way in which that is possible.
func remainders(pattern, folder []string) [][]string {
	switch {
	case len(folder) == 0:
		return [][]string{pattern}
	case len(pattern) == 0:
		return [][]string{nil} // a folder covers what is below it
	case pattern[0] == "**":
		return append(remainders(pattern[1:], folder), remainders(pattern, folder[1:])...)
	}
	if ok, err := doublestar.Match(pattern[0], folder[0]); err != nil || !ok {
		return nil
	}
	return remainders(pattern[1:], folder[1:])
}

// base is the folder that a pattern with a leading slash is seen from: the
// project of a project's settings, and the folder of the file for a user's.
func (r *reader) base() string {
	dir := path.Dir(r.src.Name)
	if path.Base(dir) == ".claude" && path.Dir(dir) != r.src.Home {
		return path.Dir(dir)
	}
	return dir
}
