package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

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

func (d *decoder) boolean(into **bool) func(string, *node) {
	return func(path string, n *node) {
		if n.kind != 'b' {
			d.problem(n.at, "%s must be true or false, not %s", path, n.what())
			return
		}
		value := n.text == "true"
		*into = &value
	}
}

// count reads a whole number from 1.
func (d *decoder) count(into *int) func(string, *node) {
	return func(path string, n *node) {
		value, err := strconv.Atoi(n.text)
		if n.kind != 'n' || err != nil || value < 1 {
			d.problem(n.at, "%s must be a whole number from 1", path)
			return
		}
		*into = value
	}
}

// duration reads a time such as "90s" or "5m".
func (d *decoder) duration(into *time.Duration) func(string, *node) {
	return func(path string, n *node) {
		value, err := time.ParseDuration(n.text)
		if n.kind != 's' || err != nil || value <= 0 || value > tool.MaxTimeout {
			d.problem(n.at, "%s must be a time such as \"90s\" or \"5m\", at most %s", path, tool.MaxTimeout)
			return
		}
		*into = value
	}
}
