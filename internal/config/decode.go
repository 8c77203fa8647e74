package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

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

const top = "the top level"

// homes says where a key belongs, for the ones that people put elsewhere.
var homes = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"mode": {"permission"}, "approval": {"permission"}, "ask": {"permission"},
		"allow": {"permission", "policy"}, "deny": {"permission", "policy"},
		"require_tags": {"policy"}, "shell_writes": {"policy"}, "by_provider": {"policy"},
		"granted": {"workspace"}, "read_only_dirs": {"workspace"}, "protected": {"workspace"}, "unreadable": {"workspace"},
		"deferred": {"exposure"}, "pinned": {"exposure"}, "away": {"exposure"}, "max_listed": {"exposure"}, "idle_turns": {"exposure"},
		"surface": {top}, "exposure": {top}, "state_dir": {top}, "timeout": {top}, "secret_env": {top},
		"history": {top}, "enabled": {"history", "commands"}, "max_bytes": {"history"}, "max_age_days": {"history"},
		"commands": {top}, "fence": {"commands"}, "network": {"commands"}, "pass_env": {"commands"}, "allow_hosts": {"commands"}, "deny_hosts": {"commands"}, "check": {"commands"}, "formatters": {"commands"},
		"profiles": {top}, "import": {top}, "hooks": {top}, "permission": {top}, "policy": {top}, "workspace": {top},
	}
})

func (d *decoder) unknown(path string, m member, known keys) {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	switch near := didYouMean(m.key, names); {
	case homes()[m.key] != nil && d.from == trusted:
		d.problem(m.at, "%s has no key %q; it belongs in %s", orTop(path), m.key, strings.Join(homes()[m.key], " or "))
	case homes()[m.key] != nil:
		d.problem(m.at, "a workspace's own file may only take away, so %q has no place in it; it belongs in the user's file", m.key)
	case near != "":
		d.problem(m.at, "unknown key %q%s", m.key, near)
	default:
		d.problem(m.at, "unknown key %q; the keys of %s are %s", m.key, orTop(path), strings.Join(names, ", "))
	}
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
		return top
	}
	return path
}

// entryKey is the place of an entry of a list. A NUL cannot be in a key
// path that a person reads, so the two kinds of places never meet.
func entryKey(path, entry string) string { return path + "\x00" + entry }
