package search

import (
	"bytes"
	"io"
	"strings"

	"github.com/handrail-tools/handrail/internal/search/ignore"
	"github.com/handrail-tools/handrail/internal/search/walk"
)

// Place is where to search: a tree, and what its owner says about it.
type Place struct {
	Tree *walk.Tree
	// Prefix is the path of the tree, with which all paths of the result
	// begin: "" or without a final slash.
	Prefix string
	// Rules are the ignore rules from the folders above.
	Rules *ignore.Level
	// Closed, where it is set, says that a path may not be read or shown.
	Closed func(path []byte) bool
	// Absent, where it is set, says that a hidden file is none that anyone
	// should see or hear of, such as the temporary file of a write.
	Absent func(path []byte) bool
}

// config returns what walks of the place have in common.
func (p *Place) config(hidden, noIgnore bool) walk.Config {
	c := walk.Config{Prefix: p.Prefix, Rules: p.Rules, Hidden: hidden, NoIgnore: noIgnore, Closed: p.Closed}
	if p.Absent != nil {
		c.Want = func(path []byte, dir bool) bool { return dir || !hiddenName(path) || !p.Absent(path) }
	}
	return c
}

// hiddenName reports whether the last element of a path begins with a dot.
func hiddenName(path []byte) bool {
	name := path[bytes.LastIndexByte(path, '/')+1:]
	return len(name) > 0 && name[0] == '.'
}

// open opens a file by its path in the result.
func (p *Place) open(path string) (io.ReadCloser, error) {
	if p.Prefix != "" {
		path = strings.TrimPrefix(path, p.Prefix+"/")
	}
	return p.Tree.OpenFile(path)
}
