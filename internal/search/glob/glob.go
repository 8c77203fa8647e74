// Package glob matches paths against patterns: "*" and "?" within a name,
// "[a-z]" and "[!a-z]" for one character, "{one,two}" for alternatives,
// "**" as a whole element for any number of folders, and "\" before a
// character that stands for itself.
//
// Beside whether a path matches, a [Glob] knows whether anything beneath a
// folder can, so that a walk need not enter the others, and in which folder
// a walk may begin.
package glob

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxPattern is the longest pattern, in bytes.
	MaxPattern = 4096
	// maxAlternatives bounds what braces expand to.
	maxAlternatives = 256
)

// Glob is a compiled pattern. It never changes and may be used from several
// goroutines at once.
type Glob struct {
	alternatives [][]segment
	base         string
}

// Compile reads a pattern. Its errors are meant for whoever wrote it.
func Compile(pattern string) (*Glob, error) {
	switch {
	case strings.TrimSpace(pattern) == "":
		return nil, errors.New("the glob is empty; **/* matches every file")
	case len(pattern) > MaxPattern:
		return nil, fmt.Errorf("the glob is %d bytes long; at most %d are possible", len(pattern), MaxPattern)
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**" // a folder means all that is in it
	}
	flat, err := expand(pattern)
	if err != nil {
		return nil, err
	}
	g := &Glob{}
	for _, one := range flat {
		segments, err := compileSegments(one)
		if err != nil {
			return nil, err
		}
		g.alternatives = append(g.alternatives, segments)
	}
	g.base = g.findBase()
	return g, nil
}

func compileSegments(pattern string) ([]segment, error) {
	if strings.HasPrefix(pattern, "/") {
		return nil, errors.New("a glob is relative: leave out the leading slash")
	}
	var segments []segment
	for text := range strings.SplitSeq(pattern, "/") {
		switch {
		case text == "" || text == ".":
			continue
		case text == "..":
			return nil, errors.New(`".." does not occur in the paths that a glob is matched against; give the folder as path instead`)
		case text == "**" && len(segments) > 0 && segments[len(segments)-1].kind == deep:
			continue
		}
		s, err := compileSegment(text)
		if err != nil {
			return nil, err
		}
		segments = append(segments, s)
	}
	if len(segments) == 0 {
		return nil, errors.New("the glob names nothing; **/* matches every file")
	}
	return segments, nil
}

// findBase returns the folder in which everything lies that can match.
func (g *Glob) findBase() string {
	var common []string
	for i, segments := range g.alternatives {
		var names []string
		for _, s := range segments[:len(segments)-1] {
			if s.kind != literal {
				break
			}
			names = append(names, s.text)
		}
		if i == 0 {
			common = names
			continue
		}
		n := 0
		for n < len(common) && n < len(names) && common[n] == names[n] {
			n++
		}
		common = common[:n]
	}
	return strings.Join(common, "/")
}

// Base returns the folder in which everything lies that can match, as far as
// the pattern's first names are fixed; "" where they are not.
func (g *Glob) Base() string { return g.base }

// Below returns the glob for paths relative to the folder that [Glob.Base]
// names.
func (g *Glob) Below() *Glob {
	if g.base == "" {
		return g
	}
	n := strings.Count(g.base, "/") + 1
	below := &Glob{}
	for _, segments := range g.alternatives {
		below.alternatives = append(below.alternatives, segments[n:])
	}
	return below
}

// Match reports whether the path, names divided by slashes, matches. Without
// dot, a wildcard matches no name that begins with a dot; such a name must
// be asked for by its dot.
func (g *Glob) Match(path []byte, dot bool) bool {
	for _, segments := range g.alternatives {
		if matchPath(segments, path, dot) {
			return true
		}
	}
	return false
}

// matchPath needs to return to the last "**" only: an earlier one could do
// no more than that.
func matchPath(segments []segment, path []byte, dot bool) bool {
	var back []segment // after the last "**"
	var backPath []byte
	for {
		switch {
		case len(segments) == 0 && len(path) == 0:
			return true
		case len(segments) > 0 && segments[0].kind == deep:
			if len(segments) == 1 && len(path) == 0 {
				break // it stands for something
			}
			segments = segments[1:]
			if !slices.ContainsFunc(segments, segment.isDeep) {
				return matchEnd(segments, path, dot)
			}
			back, backPath = segments, path
			continue
		case len(segments) > 0 && len(path) > 0:
			name, rest := cut(path)
			if segments[0].match(name, dot) {
				segments, path = segments[1:], rest
				continue
			}
		}
		if len(backPath) == 0 {
			return false
		}
		name, rest := cut(backPath)
		if !dot && name[0] == '.' {
			return false
		}
		segments, path, backPath = back, rest, rest
	}
}

// matchEnd reports whether the last names of the path match the segments,
// whatever folders there are before them.
func matchEnd(segments []segment, path []byte, dot bool) bool {
	for i := len(segments) - 1; i >= 0; i-- {
		if len(path) == 0 {
			return false
		}
		at := bytes.LastIndexByte(path, '/')
		if !segments[i].match(path[at+1:], dot) {
			return false
		}
		path = path[:max(at, 0)]
	}
	return dot || !anyHidden(path)
}

// cut divides a path after its first name.
func cut(path []byte) (name, rest []byte) {
	if i := bytes.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return path, nil
}

func anyHidden(path []byte) bool {
	return len(path) > 0 && path[0] == '.' || bytes.Contains(path, []byte("/."))
}

// Enter reports whether something beneath the folder at path could match.
func (g *Glob) Enter(path []byte, dot bool) bool {
	return slices.ContainsFunc(g.alternatives, func(s []segment) bool { return enter(s, path, dot) })
}

func enter(segments []segment, path []byte, dot bool) bool {
	for {
		if len(segments) == 0 {
			return false
		}
		if len(path) == 0 {
			return true
		}
		name, rest := cut(path)
		if segments[0].kind == deep {
			if dot || !anyHidden(path) {
				return true
			}
			// The hidden name must be asked for by what follows.
			if enter(segments[1:], path, dot) {
				return true
			}
			if name[0] == '.' {
				return false
			}
			path = rest
			continue
		}
		if !segments[0].match(name, dot) {
			return false
		}
		segments, path = segments[1:], rest
	}
}
