package search

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/search/glob"
)

// Filter chooses files by globs and types. A nil Filter takes every file.
type Filter struct {
	prefix   string
	rules    []filterRule
	includes bool // whether a file must match one of the rules

	names map[string]bool // of the types: whole names,
	exts  map[string]bool // what follows the last dot,
	globs []*glob.Glob    // and the rest
	types bool
}

// filterRule is one glob. With a slash it is matched against the path, else
// against the name alone.
type filterRule struct {
	glob    *glob.Glob
	below   *glob.Glob // for "x/**": x itself
	exclude bool
	name    bool
}

// NewFilter returns the filter for some globs and file types. A glob that
// begins with "!" leaves files out; the last one that matches decides, and
// where some do not begin so, a file must match one. A glob without a slash
// is matched against names; one with a slash against the path from prefix
// on, and against the whole path. The error names everything that is wrong.
func NewFilter(prefix string, globs, types []string) (*Filter, error) {
	if len(globs)+len(types) == 0 {
		return nil, nil
	}
	f := &Filter{prefix: prefix}
	var errs []error
	for _, text := range globs {
		rule, err := newFilterRule(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("glob %q: %w", clipName(text), err))
			continue
		}
		f.rules = append(f.rules, rule)
		f.includes = f.includes || !rule.exclude
	}
	for _, name := range types {
		if err := f.addType(name); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return f, nil
}

func newFilterRule(text string) (filterRule, error) {
	var rule filterRule
	text, rule.exclude = strings.CutPrefix(text, "!")
	rule.name = !strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	var err error
	if rule.glob, err = glob.Compile(text); err != nil {
		return rule, err
	}
	if rule.exclude && strings.HasSuffix(text, "/**") {
		text = strings.TrimSuffix(text, "/**")
	} else if rule.exclude && strings.HasSuffix(text, "/") {
		text = strings.TrimSuffix(text, "/")
		rule.name = !strings.Contains(text, "/")
	} else {
		return rule, nil
	}
	rule.below, err = glob.Compile(text)
	return rule, err
}

// clipName keeps an echoed glob short.
func clipName(s string) string {
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:200], "") + "…"
}

func (f *Filter) addType(name string) error {
	globs, ok := fileTypes()[name]
	if !ok {
		return fmt.Errorf("unknown file type %q; the types are %s", clipName(name), strings.Join(TypeNames(), ", "))
	}
	f.types = true
	if f.names == nil {
		f.names, f.exts = map[string]bool{}, map[string]bool{}
	}
	for _, text := range globs {
		ext, isExt := strings.CutPrefix(text, "*.")
		switch {
		case !strings.ContainsAny(text, "*?[{"):
			f.names[text] = true
		case isExt && !strings.ContainsAny(ext, "*?[{."):
			f.exts[ext] = true
		default:
			g, err := glob.Compile(text)
			if err != nil {
				return err
			}
			f.globs = append(f.globs, g)
		}
	}
	return nil
}

// Want reports whether a file is chosen, or a folder is worth entering.
func (f *Filter) Want(path []byte, dir bool) bool {
	name := path[bytes.LastIndexByte(path, '/')+1:]
	if f.types && !dir && !f.ofType(name) {
		return false
	}
	below := path
	if n := len(f.prefix); n > 0 && len(path) > n {
		below = path[n+1:]
	}
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := &f.rules[i]
		if r.matches(path, below, name, dir) {
			return !r.exclude
		}
	}
	return !f.includes
}

func (f *Filter) ofType(name []byte) bool {
	if f.names[string(name)] {
		return true
	}
	if dot := bytes.LastIndexByte(name, '.'); dot >= 0 && f.exts[string(name[dot+1:])] {
		return true
	}
	for _, g := range f.globs {
		if g.Match(name, true) {
			return true
		}
	}
	return false
}

// matches reports whether the rule decides on a path: it names the file, or
// leaves out the folder, or can match something in it.
func (r *filterRule) matches(path, below, name []byte, dir bool) bool {
	switch {
	case !r.exclude && dir:
		return r.name || r.glob.Enter(path, true) || r.glob.Enter(below, true)
	case r.below != nil && dir:
		return r.below.Match(below, true) || r.below.Match(path, true) || r.name && r.below.Match(name, true)
	case r.below != nil && r.name:
		return false // "!x/" leaves out folders
	case r.name:
		return r.glob.Match(name, true)
	}
	return r.glob.Match(below, true) || r.glob.Match(path, true)
}
