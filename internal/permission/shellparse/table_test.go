package shellparse

import (
	"slices"
	"strings"
	"testing"
)

func TestFactsAreReadable(t *testing.T) {
	f, err := readFacts(commandsText, variablesText)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range f.runs {
		if !f.hasMeaning(strings.TrimSuffix(name, "*")) {
			t.Errorf("%s is run and has no meaning", name)
		}
	}
	roles := []string{"", "text", "read", "write", "copy", "host", "remote", "code", "program", "script"}
	kinds := []string{"", "list"}
	for kind := range specials() {
		kinds = append(kinds, kind)
	}
	// Those that run.go and judge.go know by name.
	kinds = append(kinds, "env", "xargs", "shell", "eval", "source", "trap", "ssh", "su", "joined", "parallel", "alias", "git", "hash", "dashes")
	for name, e := range f.entries {
		if parent, _, ok := cutLast(name); ok {
			if p := f.entries[parent]; p == nil || !p.subs {
				t.Errorf("%s can never be reached: %s has no sub-commands", name, parent)
			}
		}
		for _, a := range e.args {
			if !slices.Contains(roles, a) {
				t.Errorf("%s: an argument is no %q", name, a)
			}
		}
		if !slices.Contains(kinds, e.kind) {
			t.Errorf("%s: nothing knows the kind %q", name, e.kind)
		}
		if strings.TrimSpace(name) != name || strings.Contains(name, "  ") {
			t.Errorf("%q is no name", name)
		}
		for option, o := range e.options {
			if e.class == ReadOnly && e.anyOption && o.role == fine && o.same == "" && !o.takes {
				t.Errorf("%s: %s says no more than ok *", name, option)
			}
		}
	}
}

func cutLast(name string) (before, after string, ok bool) {
	at := strings.LastIndexByte(name, ' ')
	if at < 0 {
		return "", name, false
	}
	return name[:at], name[at+1:], true
}

func TestFactsRefuseWhatTheyDoNotKnow(t *testing.T) {
	for _, bad := range []string{
		"x", "x: good", " ok -a", "x: read\n okay -a", "x: read\n ok a", "x: read\n ok -a -a", "x, x: read", "x: read\n is big", "x: read\n most many", "x: read\n wrap", ": read",
	} {
		if _, err := readFacts(bad, ""); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if _, err := readFacts("", "safe PATH"); err == nil {
		t.Error("a variable that is neither harmless nor meaning was taken")
	}
}
