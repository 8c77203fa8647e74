package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/suggest"
)

// source says whose file is being read.
type source int

const (
	trusted source = iota
	workspaceOwn
)

// file is one settings file after it was read.
type file struct {
	name     string
	settings Settings
	// places maps a key path, or a list's path and an entry of it, to the
	// offset of the value.
	places map[string]int
	data   []byte
}

// parse reads the text of one settings file. home stands for "~".
func parse(name string, data []byte, home string, from source) (*file, Problems) {
	f := &file{name: name, places: map[string]int{}, data: data}
	d := &decoder{file: f, home: home, from: from}
	tree, err := parseTree(data)
	var syn *syntaxError
	if errors.As(err, &syn) {
		d.problem(syn.at, "%s", syn.msg)
		return f, d.problems
	}
	f.settings = d.settings(tree)
	return f, d.problems.inOrder()
}

// decoder turns the tree into settings and collects what is wrong.
type decoder struct {
	file     *file
	home     string
	from     source
	problems Problems
}

func (d *decoder) problem(at int, format string, args ...any) {
	line, column := position(d.file.data, at)
	d.problems = append(d.problems, Problem{d.file.name, line, column, fmt.Sprintf(format, args...)})
}

// keys maps each key that an object may have to what reads its value.
type keys map[string]func(path string, n *node)

// object hands each member of n to its reader. Unknown and repeated keys are
// problems, and so is everything that is not an object.
func (d *decoder) object(path string, n *node, known keys) {
	d.members(path, n, func(key member) {
		read := known[key.key]
		if read == nil {
			d.unknown(path, key, known)
			return
		}
		at := join(path, key.key)
		d.file.places[at] = key.value.at
		read(at, key.value)
	})
}

// members calls visit for each member of n, once for each key.
func (d *decoder) members(path string, n *node, visit func(member)) {
	if n.kind != '{' {
		d.problem(n.at, "%s must be an object, not %s", orTop(path), n.what())
		return
	}
	first := map[string]int{}
	for _, m := range n.members {
		if at, again := first[m.key]; again {
			line, _ := position(d.file.data, at)
			d.problem(m.at, "the key %q is here a second time; the first is in line %d", m.key, line)
			continue
		}
		first[m.key] = m.at
		visit(m)
	}
}

// homes says where a key belongs, for the ones that people put elsewhere.
var homes = map[string][]string{
	"mode": {"permission"}, "approval": {"permission"}, "ask": {"permission"},
	"allow": {"permission", "policy"}, "deny": {"permission", "policy"},
	"require_tags": {"policy"}, "shell_writes": {"policy"}, "by_provider": {"policy"},
	"extra": {"workspace"}, "read_only": {"workspace"}, "protected": {"workspace"},
	"surface": {"the top level"}, "exposure": {"the top level"}, "state_dir": {"the top level"},
	"profiles": {"the top level"}, "permission": {"the top level"}, "policy": {"the top level"},
	"workspace": {"the top level"},
}

func (d *decoder) unknown(path string, m member, known keys) {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	switch near := didYouMean(m.key, names); {
	case homes[m.key] != nil && d.from == trusted:
		d.problem(m.at, "%s has no key %q; it belongs in %s", orTop(path), m.key, strings.Join(homes[m.key], " or "))
	case homes[m.key] != nil:
		d.problem(m.at, "a workspace's own file may only take away, so %q has no place in it; it belongs in the user's file", m.key)
	case near != "":
		d.problem(m.at, "unknown key %q%s", m.key, near)
	default:
		d.problem(m.at, "unknown key %q; the keys of %s are %s", m.key, orTop(path), strings.Join(names, ", "))
	}
}

// list reads a list of strings. A null is an error, not "not said": the
// difference between no list and an empty one is too dear for a guess.
func (d *decoder) list(into *[]string) func(string, *node) {
	return func(path string, n *node) {
		if n.kind != '[' {
			d.problem(n.at, "%s must be a list of strings, not %s", path, n.what())
			return
		}
		list := make([]string, 0, len(n.items))
		for _, item := range n.items {
			switch {
			case item.kind != 's':
				d.problem(item.at, "%s must hold strings only, not %s", path, item.what())
			case strings.TrimSpace(item.text) == "":
				d.problem(item.at, "an entry of %s is empty", path)
			default:
				d.file.places[entryKey(path, item.text)] = item.at
				list = append(list, item.text)
			}
		}
		*into = list
	}
}

func (d *decoder) text(into *string) func(string, *node) {
	return func(path string, n *node) {
		switch {
		case n.kind != 's':
			d.problem(n.at, "%s must be a string, not %s", path, n.what())
		case n.text == "":
			d.problem(n.at, "%s is empty; leave the key out instead", path)
		default:
			*into = n.text
		}
	}
}

// word reads one of a closed set of words.
func (d *decoder) word(into *string, words []string) func(string, *node) {
	return func(path string, n *node) {
		var text string
		d.text(&text)(path, n)
		switch {
		case text == "" || slices.Contains(words, text):
			*into = text
		default:
			d.problem(n.at, "%s cannot be %q%s; it is one of %s", path, text, didYouMean(text, words), strings.Join(words, ", "))
		}
	}
}

// dir reads the path of a directory: absolute, or below the home directory.
func (d *decoder) dir(into *string) func(string, *node) {
	return func(path string, n *node) {
		var text string
		d.text(&text)(path, n)
		if text != "" {
			*into = d.absolute(path, text, n.at)
		}
	}
}

// dirs reads a list of such paths.
func (d *decoder) dirs(into *[]string) func(string, *node) {
	return func(path string, n *node) {
		d.list(into)(path, n)
		for i, text := range *into {
			at := d.file.places[entryKey(path, text)]
			(*into)[i] = d.absolute(path, text, at)
			d.file.places[entryKey(path, (*into)[i])] = at
		}
	}
}

func (d *decoder) absolute(path, text string, at int) string {
	if rest, ok := strings.CutPrefix(text, "~/"); ok && d.home != "" {
		return filepath.Join(d.home, rest)
	}
	if !filepath.IsAbs(text) {
		d.problem(at, "%s: %q must be an absolute path or start with ~/", path, text)
		return text
	}
	return filepath.Clean(text)
}

func didYouMean(text string, words []string) string {
	if near, ok := suggest.Nearest(text, words); ok {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func orTop(path string) string {
	if path == "" {
		return "the top level"
	}
	return path
}

// entryKey is the place of an entry of a list. A NUL cannot be in a key
// path that a person reads, so the two kinds of places never meet.
func entryKey(path, entry string) string { return path + "\x00" + entry }
