package registry_test

import (
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
)

func library(t testing.TB) *registry.Registry {
	return with(t,
		named("read_file", aliases("cat"), tags("fs"), described("Reads a text file, whole or from a line on.")),
		named("write_file", tags("fs"), described("Writes a file atomically.")),
		named("grep", tags("search"), described("Searches the contents of files for a pattern.")),
		named("glob", tags("search"), described("Finds files by the pattern of their names.")),
		named("web_search", tags("web"), described("Searches the web.")),
		named("imageResize", tags("media"), described("Makes a picture smaller.")),
		named("update_plan", described("Keeps the list of steps.")),
	)
}

func TestSearch(t *testing.T) {
	v := view(t, library(t), registry.ViewConfig{})
	for _, c := range []struct{ name, query, want string }{
		{"no query lists by name", "", "glob grep imageResize read_file update_plan web_search write_file"},
		{"only marks is no query", " .,- ", "glob grep imageResize read_file update_plan web_search write_file"},
		{"a whole name first", "grep", "grep"},
		{"an alias", "cat", "read_file"},
		{"a word of a name before one of a description", "search", "web_search grep glob"},
		{"words add up", "write file", "write_file read_file glob grep"},
		{"a tag", "fs", "read_file write_file"},
		{"a word of a description", "atomically", "write_file"},
		{"the beginning of a word", "pict", "imageResize"},
		{"camel case is two words", "resize", "imageResize"},
		{"a longer form of a word of a name", "planning", "update_plan"},
		{"case does not matter", "GREP", "grep"},
		{"nothing like it", "quantum", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, total := v.Search(c.query, 32)
			got := make([]string, 0, len(found))
			for _, m := range found {
				got = append(got, m.Name)
			}
			if strings.Join(got, " ") != c.want || total != len(found) {
				t.Errorf("found %q of %d, want %q", got, total, c.want)
			}
		})
	}
}

func TestSearchLimit(t *testing.T) {
	v := view(t, library(t), registry.ViewConfig{})
	for limit, want := range map[int]int{-1: 0, 0: 0, 2: 2, 100: 4} {
		if found, total := v.Search("file", limit); len(found) != want || total != 4 {
			t.Errorf("limit %d: %d of %d", limit, len(found), total)
		}
	}
}

// Discovery finds what can be called and nothing else.
func TestSearchSeesWhatIsSeen(t *testing.T) {
	r := library(t)
	v := view(t, r, registry.ViewConfig{Policies: []*policy.Policy{compile(t, r, policy.Config{Deny: []string{"tag:fs"}})}})
	if found, _ := v.Search("write_file", 10); len(found) != 2 { // glob and grep, for the word file
		t.Errorf("found %+v", found)
	}
	found, unknown := v.Find([]string{"grep", "write_file", "nonsense"})
	if len(found) != 1 || found[0].Name != "grep" || strings.Join(unknown, " ") != "write_file nonsense" {
		t.Errorf("found %+v, unknown %q", found, unknown)
	}
}

func TestSearchOfAHugeQuery(t *testing.T) {
	v := view(t, library(t), registry.ViewConfig{})
	if found, _ := v.Search(strings.Repeat("file grep ", 100_000), 1); len(found) != 1 || found[0].Name != "grep" {
		t.Errorf("found %+v", found)
	}
}
