package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/foldname"
	"github.com/handrail-tools/handrail/tool"
)

// closeTo notes, in every zone, which of the closed paths lie in it. A zone
// that itself lies in a closed folder could serve nothing, so it is an error.
func (w *Workspace) closeTo(paths []string) error {
	var errs []error
	for _, name := range paths {
		spots, err := closedSpots(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, spot := range spots {
			for _, z := range w.zones {
				errs = append(errs, z.close(spot))
			}
		}
	}
	return errors.Join(errs...)
}

// close keeps the absolute path spot closed in z.
func (z *zone) close(spot string) error {
	top := slashed(z.dir)
	if _, ok := cutFolder(top, spot); ok {
		return fmt.Errorf("%s lies in %s, which is closed to tools", tool.Clip(z.dir), tool.Clip(spot))
	}
	rest, ok := cutFolder(spot, top)
	if !ok {
		return nil
	}
	r := rule{text: spot, anchored: true}
	for elem := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		// A file name may hold anything, so nothing in it is a wildcard.
		r.elems, r.literal = append(r.elems, foldname.Elem(elem)), append(r.literal, true)
	}
	z.closed.add(r)
	return nil
}

// closedSpots returns the absolute places, with slashes, that a closed path
// stands for: its own and, where it is a symbolic link, every one that it
// leads to. Nothing of it need exist: what is missing could be made.
func closedSpots(name string) ([]string, error) {
	if !filepath.IsAbs(name) || strings.ContainsRune(name, 0) {
		return nil, fmt.Errorf("%q is not an absolute path", name)
	}
	links := 0
	var spots []string
	for at := filepath.Clean(name); ; {
		dir, err := realFuture(filepath.Dir(at), &links)
		if err != nil {
			return nil, err
		}
		at = filepath.Join(dir, filepath.Base(at))
		if s := slashed(at); !slices.Contains(spots, s) {
			spots = append(spots, s)
		}
		target, err := os.Readlink(at)
		if err != nil {
			return spots, nil // it is no link, or does not exist
		}
		if links++; links > maxLinks {
			return nil, fmt.Errorf("%s goes through more than %d symbolic links", tool.Clip(name), maxLinks)
		}
		// Where the target exists the system knows best what it means.
		switch real, err := filepath.EvalSymlinks(at); {
		case err == nil:
			return append(spots, slashed(real)), nil
		case filepath.IsAbs(target):
			at = target
		default:
			at = filepath.Join(dir, target)
		}
	}
}

// realFuture resolves the links in a path as far as it exists.
func realFuture(dir string, links *int) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil || filepath.Dir(dir) == dir {
		return real, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	up, err := realFuture(filepath.Dir(dir), links)
	if err != nil {
		return "", err
	}
	at := filepath.Join(up, filepath.Base(dir))
	target, err := os.Readlink(at)
	if err != nil {
		return at, nil
	}
	if *links++; *links > maxLinks {
		return "", fmt.Errorf("%s goes through more than %d symbolic links", tool.Clip(dir), maxLinks)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(up, target)
	}
	return realFuture(target, links)
}

func slashed(name string) string { return filepath.ToSlash(name) }
