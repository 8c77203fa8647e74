package workspace

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxName is PATH_MAX of Linux, in bytes: no longer path can be opened.
	maxName = 4096
	// maxElem is NAME_MAX of the common file systems, in bytes.
	maxElem = 255
)

// checkName refuses what is no path at all, whatever the file system holds.
func checkName(name string) error {
	switch {
	case name == "":
		return invalid(nil, `the path is empty; give a path relative to the workspace ("." is its top folder)`)
	case len(name) > maxName:
		return invalid(nil, "the path %s has %d bytes; at most %d are possible", tool.Clip(name), len(name), maxName)
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < 0x20 || c == 0x7f {
			return invalid(nil, "the path %q has the control character %#02x; a path is plain text", tool.Clip(name), c)
		}
	}
	if why := misread(name); why != "" {
		return invalid(nil, `the path %s: %s; give a path relative to the workspace ("./%s" for a file of that very name)`, tool.Clip(name), why, tool.Clip(name))
	}
	return nil
}

// misread says what a path was meant as that does not mean that here, or "".
func misread(name string) string {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		return `"~" is not expanded here`
	case len(name) > 5 && strings.EqualFold(name[:6], "file:/"):
		return "a URL is no path"
	}
	return ""
}

// split divides a path into its elements, without the empty ones and ".".
func split(name string) ([]string, error) {
	var elems []string
	for elem := range strings.SplitSeq(name, "/") {
		if elem == "" || elem == "." {
			continue
		}
		if len(elem) > maxElem {
			return nil, invalid(nil, "the path has a name of %d bytes (%s); at most %d are possible", len(elem), tool.Clip(elem), maxElem)
		}
		elems = append(elems, elem)
	}
	return elems, nil
}

// simple reports whether name is already a clean relative path, so that the
// common case costs no allocation.
func simple(name string) bool {
	start := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		elem := name[start:i]
		if elem == "" || elem == "." || elem == ".." || len(elem) > maxElem {
			return false
		}
		start = i + 1
	}
	return true
}

// locate brings a name to the folder it lies in and a clean path beneath it.
// Symbolic links are not looked at, save where ".." would have to be
// undone: that is done on paper only where it means the same on the disk.
func (w *Workspace) locate(name string) (place, error) {
	if err := checkName(name); err != nil {
		return place{}, err
	}
	given := name
	if runtime.GOOS == "windows" {
		name = filepath.ToSlash(name)
	}
	if simple(name) && !filepath.IsAbs(given) {
		return settle(place{zone: w.zones[0], path: name}), nil
	}
	z, rest := w.zones[0], name
	if filepath.IsAbs(given) || strings.HasPrefix(name, "/") {
		if z, rest = w.zoneOf(name); z == nil {
			return place{}, w.outside(given)
		}
	}
	elems, err := split(rest)
	if err != nil {
		return place{}, err
	}
	return w.collapse(z, elems, given)
}

// collapse removes each ".." together with the folder before it. That
// folder must exist and be no link: "missing/../x" names nothing on the
// disk, and "link/../x" lies beside the link's target, where nobody who
// reads the path would look for it.
func (w *Workspace) collapse(z *zone, elems []string, given string) (place, error) {
	kept := elems[:0:len(elems)]
	for _, elem := range elems {
		if elem != ".." {
			kept = append(kept, elem)
			continue
		}
		if len(kept) == 0 {
			return place{}, w.outside(given)
		}
		before := strings.Join(kept, "/")
		n, err := z.tree.look(before)
		if err != nil || !n.mode.IsDir() {
			return place{}, invalid(nil, `the path %s goes through %s and back with ".."; that is allowed only through an existing plain folder. Write the path without ".."`,
				tool.Clip(given), tool.Clip(before))
		}
		kept = kept[:len(kept)-1]
	}
	if len(kept) == 0 {
		return place{zone: z, path: "."}, nil
	}
	return settle(place{zone: z, path: strings.Join(kept, "/")}), nil
}

// zoneOf finds the folder that holds an absolute path, the innermost if
// there are several, and the rest of the path.
func (w *Workspace) zoneOf(abs string) (*zone, string) {
	var found *zone
	rest, longest := "", -1
	for _, z := range w.zones {
		for _, top := range z.spellings {
			if r, ok := cutFolder(abs, top); ok && len(top) > longest {
				found, rest, longest = z, r, len(top)
			}
		}
	}
	return found, rest
}

// cutFolder returns what follows the folder top in the absolute path abs.
func cutFolder(abs, top string) (string, bool) {
	if top == "/" {
		return abs, true
	}
	// Doubled slashes and "/./" are spelling, not meaning. A ".." in the
	// part that must match is refused by not matching.
	for strings.Contains(abs, "//") {
		abs = strings.ReplaceAll(abs, "//", "/")
	}
	for strings.Contains(abs, "/./") {
		abs = strings.ReplaceAll(abs, "/./", "/")
	}
	if len(abs) < len(top) || !sameFolder(abs[:len(top)], top) {
		return "", false
	}
	if len(abs) == len(top) {
		return "", true
	}
	if abs[len(top)] != '/' {
		return "", false
	}
	return abs[len(top)+1:], true
}

// sameFolder compares two spellings as the system's usual file system does.
func sameFolder(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// outside is the refusal for a name that leads out. It names the root, which
// the model may know, and nothing else of the machine.
func (w *Workspace) outside(name string) error {
	return denied(ErrOutside, "the path %s lies outside the workspace; paths are relative to %s, or absolute inside it",
		tool.Clip(name), tool.Clip(w.Root()))
}
