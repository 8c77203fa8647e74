package handrail_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// all lists every file, a few at a time.
func all(t *testing.T, s *handrail.Session, q handrail.FileQuery) []string {
	t.Helper()
	var paths []string
	for {
		page, more, err := s.Files(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, page...)
		if !more {
			return paths
		}
		if len(page) != q.Limit {
			t.Fatalf("a page of %d that is not the last has %d", q.Limit, len(page))
		}
		q.After = page[len(page)-1]
	}
}

func TestFilesAreThoseThatMayBeRead(t *testing.T) {
	files := map[string]string{
		"a.txt": "", "b/c.txt": "", "b.txt": "", "b-d/e.txt": "", "zebra": "", "ä.txt": "", ".hidden": "", ".git/config": "", "ignored.log": "", ".gitignore": "*.log\n",
		"secret/key": "", ".ssh/id": "", "id_rsa": "", "state/x": "", "own/y": "", "bad\x01name": "",
	}
	dir := tree(t, files)
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "\xff.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, handrail.Options{
		Workspace: dir, StateDir: filepath.Join(dir, "state"), Files: handrail.WorkspaceOptions{Closed: []string{filepath.Join(dir, "own")}},
		Permission: handrail.Permission{Deny: []string{"read_file(secret/**)"}},
	})
	want := []string{"a.txt", "b-d/e.txt", "b.txt", "b/c.txt", "zebra", "ä.txt"}
	for _, limit := range []int{1, 2, 3, 6, 100} {
		if got := all(t, s, handrail.FileQuery{Limit: limit}); !slices.Equal(got, want) {
			t.Errorf("%d at a time: %q", limit, got)
		}
	}
	for prefix, want := range map[string]string{"b": "b-d/e.txt b.txt b/c.txt", "b/": "b/c.txt", "b-d/e": "b-d/e.txt", "a.txt": "a.txt", "x": "", "secret/": "", ".": "", "../": ""} {
		if got := strings.Join(all(t, s, handrail.FileQuery{Prefix: prefix, Limit: 2}), " "); got != want {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
	for _, path := range want {
		if _, err := s.Content(t.Context(), file(path)); err != nil {
			t.Errorf("%s is listed: %v", path, err)
		}
	}
	// Files that come and go between two pages move none of the others.
	first, more, err := s.Files(t.Context(), handrail.FileQuery{Limit: 3})
	if err != nil || !more {
		t.Fatal(first, more, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "b.txt")), os.Remove(filepath.Join(dir, "a.txt")), os.WriteFile(filepath.Join(dir, "aa"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := all(t, s, handrail.FileQuery{After: first[2], Limit: 2}); !slices.Equal(got, want[3:]) {
		t.Errorf("after %q: %q", first[2], got)
	}
}

func TestFilesNeedGlobToo(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "one"})
	s := open(t, handrail.Options{Workspace: dir, Policy: handrail.Policy{Deny: []string{"glob"}}})
	if paths, _, err := s.Files(t.Context(), handrail.FileQuery{}); err != nil || len(paths) > 0 {
		t.Errorf("%q, %v", paths, err)
	}
	ruled := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Deny: []string{"glob"}}})
	if paths, _, err := ruled.Files(t.Context(), handrail.FileQuery{}); codeOf(err) != tool.CodeDenied {
		t.Errorf("%q, %v", paths, err)
	}
}

// long is a tool whose result is cut, and holds what must not be shown.
func long(secret string) tool.Tool {
	return fake{spec: tool.Spec{Name: "long", Effects: tool.Read, OutputBytes: 1000}, run: func(context.Context, *tool.Call) (*tool.Result, error) {
		return tool.Text(secret + "\x1b[31m\n" + strings.Repeat("a line of it\n", 5000)), nil
	}}
}

func TestResultsAreTheSessionsOwn(t *testing.T) {
	const secret = "hunter2-hunter2"
	dir, state := tree(t, map[string]string{"a.txt": "one"}), t.TempDir()
	s := open(t, handrail.Options{Workspace: dir, StateDir: state, Secrets: map[string]string{"DB": secret}, Guard: handrail.GuardOff, Tools: []tool.Tool{long(secret)}})
	if list, err := s.Results(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("before the first call: %+v, %v", list, err)
	}
	first, second := run(s, "read_file", `{"path":"a.txt"}`), run(s, "long", `{}`)
	list, err := s.Results(t.Context())
	if err != nil || len(list) != 2 || list[0].ID != second.ID || list[1].ID != first.ID || list[0].Tool != "long" || list[0].Created.IsZero() {
		t.Fatalf("%+v, %v", list, err)
	}
	c, err := s.Content(t.Context(), handrail.Resource{Kind: handrail.ResourceResult, ID: second.ID})
	if err != nil || strings.Count(c.Text, "a line of it\n") != 5000 || strings.Contains(c.Text, secret) || strings.Contains(c.Text, "\x1b") {
		t.Errorf("whole: %d bytes, %v", len(c.Text), err)
	}
	if second.Omitted == 0 {
		t.Error("the result itself was not cut")
	}
	// A child may have its parent's, a stranger none of them.
	kid, other := child(t, s, handrail.ChildOptions{}), open(t, handrail.Options{Workspace: dir, StateDir: state})
	if _, err := kid.Content(t.Context(), handrail.Resource{Kind: handrail.ResourceResult, ID: first.ID}); err != nil {
		t.Errorf("a child: %v", err)
	}
	if ids := kid.ResultIDs(first.ID[:5]); !slices.Contains(ids, first.ID) {
		t.Errorf("a child knows %q", ids)
	}
	for _, id := range []string{first.ID, "r_aaaaaaaaaaaa", "", "../x"} {
		if c, err := other.Content(t.Context(), handrail.Resource{Kind: handrail.ResourceResult, ID: id}); err == nil || id == first.ID && !errors.Is(err, handrail.ErrNoResource) {
			t.Errorf("a stranger asks for %q: %+v, %v", id, c, err)
		}
	}
	if list, err = other.Results(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("a stranger lists %+v, %v", list, err)
	}
	if err := s.Restrict(handrail.Policy{Deny: []string{"recall"}}); err != nil {
		t.Fatal(err)
	}
	if list, err = s.Results(t.Context()); err != nil || len(list) != 0 || s.ResultIDs("") != nil {
		t.Errorf("without recall: %+v, %v", list, err)
	}
}

func TestResultsAreTheNewest(t *testing.T) {
	s := open(t, handrail.Options{Guard: handrail.GuardOff, Tools: []tool.Tool{named("quick", tool.Read)}})
	var last string
	for range 130 {
		last = run(s, "quick", `{}`).ID
	}
	if ids := s.ResultIDs(""); len(ids) != 100 || ids[0] != last {
		t.Errorf("%d ids, the first is %s, want %s", len(ids), ids[0], last)
	}
}

func TestHistoryAsItIs(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "one\n", "secret/x": "s\n"})
	o := handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}}
	s := open(t, o)
	for i, edit := range []string{`{"path":"a.txt","old_string":"one","new_string":"two"}`, `{"path":"secret/x","old_string":"s","new_string":"` + canary + `"}`} {
		if r := run(s, "edit_file", edit); !r.OK {
			t.Fatal(i, r.Text)
		}
	}
	ids, err := s.Changes(t.Context())
	if err != nil || len(ids) != 2 {
		t.Fatal(ids, err)
	}
	hidden, id := ids[0], ids[1]
	version := handrail.Resource{Kind: handrail.ResourceVersion, ID: id, Path: "a.txt"}
	before := version
	before.Before = true
	for r, want := range map[handrail.Resource]string{
		version: "two\n", before: "one\n",
		{Kind: handrail.ResourceChange, ID: id}:     "+two",
		{Kind: handrail.ResourceLog}:                id,
		{Kind: handrail.ResourceLog, Path: "a.txt"}: id,
	} {
		c, err := s.Content(t.Context(), r)
		if err != nil || !strings.Contains(c.Text, want) {
			t.Errorf("%+v: %q, %v", r, c.Text, err)
		}
		if r.Kind == handrail.ResourceVersion && c.Text != want {
			t.Errorf("%+v: %q", r, c.Text)
		}
	}
	if paths, err := s.ChangedFiles(t.Context(), id); err != nil || !slices.Equal(paths, []string{"a.txt"}) {
		t.Errorf("%q, %v", paths, err)
	}
	for _, r := range []handrail.Resource{{Kind: handrail.ResourceChange, ID: "c_aaaaaaaaaaaa"}, {Kind: handrail.ResourceVersion, ID: id, Path: "b.txt"}} {
		if c, err := s.Content(t.Context(), r); err == nil || r.Path == "" && !errors.Is(err, handrail.ErrNoResource) {
			t.Errorf("%+v: %+v, %v", r, c, err)
		}
	}
	// What may not be read now was never to be read.
	o.Permission.Deny = []string{"read_file(secret/**)"}
	later := open(t, o)
	for _, r := range []handrail.Resource{{Kind: handrail.ResourceVersion, ID: hidden, Path: "secret/x"}, {Kind: handrail.ResourceChange, ID: hidden}, {Kind: handrail.ResourceLog}} {
		if c, err := later.Content(t.Context(), r); strings.Contains(fmt.Sprint(c, err), canary) {
			t.Errorf("%+v: %+v, %v", r, c, err)
		}
	}
	if paths, err := later.ChangedFiles(t.Context(), hidden); len(paths) > 0 {
		t.Errorf("%q, %v", paths, err)
	}
}
