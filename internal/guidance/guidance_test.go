package guidance

import (
	"strings"
	"testing"
	"time"
)

// A fact that does not hold is no sentence, and one that does is.
func TestTextHasASentenceForEachFact(t *testing.T) {
	base := Text(Facts{Folder: "w", Free: []string{"read"}, Timeout: time.Minute})
	for words, f := range map[string]Facts{
		"Is refused: `x`.": {Refused: []string{"x"}}, AskedWords + ": `x`.": {Asked: []string{"x"}, CanAsk: true}, NobodyWords + ": `x`.": {Asked: []string{"x"}},
		"Rules refuse: `x(y)`.": {Deny: []string{"x(y)"}}, "By rule a person is asked about: `x(y)`.": {Ask: []string{"x(y)"}, CanAsk: true},
		"are refused, since nobody can be asked: `x(y)`.": {Ask: []string{"x(y)"}}, "as far as nothing else here speaks against it: `x(y)`.": {Allow: []string{"x(y)"}},
		"Further checks": {Checked: true}, "leads nowhere is refused": {Loops: true}, "These folders are open as well: `/a`.": {Further: []string{"/a"}},
		"may only be read: `/a`.": {ReadOnlyDirs: []string{"/a"}}, "Nothing in the workspace may be changed.": {ReadOnly: true},
		"Never read, listed or changed": {Unreadable: []string{"k"}}, "Never changed": {Protected: []string{"k"}},
		"`recall` brings the rest": {Recall: "recall"}, "`log` lists it.": {Log: "log"}, "`log` lists it and `undo` takes it back.": {Log: "log", Undo: "undo"},
		"No path may be changed.":            {Fences: []Fence{{Patterns: []string{}}}},
		"seen from `top`: `a/*`.":            {Fences: []Fence{{Patterns: []string{"a/*"}, From: "top"}}},
		"nothing that exists may be changed": {Fences: []Fence{{Patterns: []string{"a"}, CreateOnly: true}}},
	} {
		f.Folder, f.Timeout = "w", time.Minute
		if f.Free == nil {
			f.Free = []string{"read"}
		}
		if text := Text(f); !strings.Contains(text, words) || strings.Contains(base, words) {
			t.Errorf("%q is not said of %+v, or always:\n%s", words, f, text)
		}
	}
	if text := Text(Facts{Folder: "w", Fences: []Fence{{}}, Free: []string{"read"}, Timeout: time.Minute}); text != base {
		t.Errorf("a fence that holds nothing back is spoken of:\n%s", text)
	}
	if text := Text(Facts{}); !strings.Contains(text, "No tool may be used.") || !strings.Contains(text, "This session has no files.") {
		t.Error(text)
	}
}
