package handrail

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/internal/search/walk"
	"github.com/handrail-tools/handrail/internal/workspace"
)

// hideTime is how long the first command waits until it is known what is to be
// hidden from it. A hundred thousand files take a tenth of a second.
const hideTime = 5 * time.Second

// hidden lists what is there of the paths that patterns close to tools. A
// fence holds paths and no patterns, so one that is made later is not among
// them. The patterns of an operator are looked for in all of the workspace. The
// usual ones are for home folders, and are looked for at their place there and
// in the workspace: deeper, keys are those of somebody's tests, and a fence of
// Landlock, which hides nothing in a writable folder, could not be had for them.
func (s *Session) hidden(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, hideTime)
	defer cancel()
	patterns, folders := s.options.Files.Unreadable, append([]string{s.root()}, s.options.Files.Granted...)
	usual := patterns == nil
	if usual {
		patterns = workspace.DefaultUnreadable()
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	var found []string
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		found = placed(home, patterns)
	}
	for _, folder := range folders {
		if usual {
			found = append(found, placed(folder, patterns)...)
			continue
		}
		paths, err := s.hiddenIn(ctx, folder)
		found = append(found, paths...)
		if err != nil {
			// A command that runs all the same could read what was not found.
			return nil, fmt.Errorf("looking in %s for what is to be hidden from commands, for %s at most: %w; patterns that begin with the folder are not looked for everywhere", folder, hideTime, err)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// placed looks where the patterns lead from a folder.
func placed(top string, patterns []string) []string {
	var found []string
	for _, pattern := range patterns {
		names, err := fs.Glob(os.DirFS(top), strings.Trim(pattern, "/"))
		if err != nil {
			continue // which the workspace has said of it already
		}
		for _, name := range names {
			found = append(found, filepath.Join(top, filepath.FromSlash(name)))
		}
	}
	return found
}

// hiddenIn looks through one folder of the workspace.
func (s *Session) hiddenIn(ctx context.Context, folder string) ([]string, error) {
	top, prefix, name := folder, filepath.ToSlash(folder), folder
	if folder == s.root() {
		prefix, name = "", "."
	}
	dir, err := s.files.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // only read
	tree, err := walk.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tree.Close() }() // only read
	var mu sync.Mutex
	var found []string
	want := func(path []byte, dir bool) bool {
		name := string(path)
		if !s.files.Unreadable(name) {
			return dir
		}
		mu.Lock()
		defer mu.Unlock()
		found = append(found, filepath.Join(top, strings.TrimPrefix(name, prefix)))
		return false
	}
	_, err = walk.Walk(ctx, tree, walk.Config{Prefix: prefix, Hidden: true, NoIgnore: true, Links: true, Want: want}, func(int, *walk.Entry) {})
	return found, err
}
