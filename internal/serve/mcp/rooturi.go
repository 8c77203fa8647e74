package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxRootURI is the longest root that is looked at, in bytes: the longest
// path that Linux takes, with every byte written as three.
const maxRootURI = 3 * 4096

// rootPath is the path that a root of a client names. It is not looked up.
func rootPath(uri string) (string, error) {
	if len(uri) > maxRootURI {
		return "", errors.New("it is too long")
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", errors.New("it is no address")
	case u.Scheme != "file":
		return "", errors.New("it is no folder: only file:///PATH names one")
	case u.Opaque != "" || !strings.HasPrefix(u.Path, "/"):
		return "", errors.New("its path is not absolute: file:///PATH has three slashes")
	case u.Host != "" && !strings.EqualFold(u.Host, "localhost") || u.User != nil:
		return "", errors.New("it names another machine")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(uri, "#"):
		return "", errors.New("it has more than a path; ? and # in a folder's name are written %3F and %23")
	case strings.ContainsRune(u.Path, 0):
		return "", errors.New("it has a NUL in it")
	case slices.Contains(strings.Split(u.Path, "/"), ".."):
		return "", errors.New("it has \"..\" in it")
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // of /C:/folder
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		return "", errors.New("its path is not absolute")
	}
	return filepath.Clean(path), nil
}

// place judges a root. It returns the folder without links and the folder of
// the operator's that it lies in.
func (r *Roots) place(uri string) (dir, beneath string, err error) {
	path, err := rootPath(uri)
	if err != nil {
		return "", "", err
	}
	// Whether anything is there is told only of what lies inside.
	outside := errors.New("it does not lie in a folder that the operator of this server allows")
	dir, err = filepath.EvalSymlinks(path)
	if err != nil {
		if beneath = folderOf(r.allowed, path); beneath != "" && errors.Is(err, os.ErrNotExist) {
			return "", "", errors.New("there is no such folder")
		}
		return "", "", outside
	}
	beneath = folderOf(r.allowed, dir)
	if beneath == "" {
		return "", "", outside
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", "", errors.New("it is not a folder")
	}
	for _, name := range r.closed {
		if real, err := filepath.EvalSymlinks(name); err == nil && folderOf([]string{real}, dir) != "" {
			return "", "", errors.New("it is kept closed to tools")
		}
	}
	return dir, beneath, nil
}

// folderOf returns the longest of the folders that dir is or lies in, or "".
func folderOf(folders []string, dir string) string {
	longest := ""
	for _, f := range folders {
		rel, err := filepath.Rel(f, dir)
		if err == nil && filepath.IsLocal(rel) && len(f) > len(longest) {
			longest = f
		}
	}
	return longest
}

// realFolders are folders without links. The error names every one that is
// none.
func realFolders(names []string) ([]string, error) {
	var real []string
	var errs []error
	for _, name := range names {
		dir, err := filepath.Abs(name)
		if err == nil {
			dir, err = filepath.EvalSymlinks(dir)
		}
		if err == nil {
			if info, statErr := os.Stat(dir); statErr != nil || !info.IsDir() {
				err = fmt.Errorf("%s is not a folder", name)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("folder for clients' roots: %w", err))
			continue
		}
		real = append(real, dir)
	}
	return real, errors.Join(errs...)
}
