package handrail_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// kept opens a session with a workspace whose state outlives it.
func kept(t *testing.T, dir, state string, change func(*handrail.Options)) *handrail.Session {
	t.Helper()
	o := handrail.Options{Workspace: dir, StateDir: state, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}}
	if change != nil {
		change(&o)
	}
	s, err := handrail.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func mustCall(t *testing.T, s *handrail.Session, id, name, args string) *tool.Result {
	t.Helper()
	r := s.Run(context.Background(), handrail.Call{ID: id, Tool: name, Args: []byte(args)})[0]
	if !r.OK {
		t.Fatalf("%s: %s: %s", name, r.Code, r.Text)
	}
	return r
}

func fileText(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "(nothing)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What every changing tool does can be undone, by a model and by an
// embedder, in this session and in a later one.
func TestF228_EveryChangeOfAFileToolCanBeUndone(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	s := kept(t, dir, state, nil)
	mustCall(t, s, "1", "write_file", `{"path":"a.txt","content":"one\n"}`)
	mustCall(t, s, "2", "edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`)
	mustCall(t, s, "3", "move_file", `{"from":"a.txt","to":"b.txt"}`)
	mustCall(t, s, "4", "delete_file", `{"path":"b.txt"}`)
	for _, want := range []string{"two\n", "", "one\n"} {
		r := mustCall(t, s, "u"+want, "undo", `{}`)
		if len(r.Changed) == 0 {
			t.Errorf("the undo names no file: %s", r.Text)
		}
		name := "b.txt"
		if want != "two\n" {
			name = "a.txt"
		}
		if got := fileText(t, dir, name); want != "" && got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	l, err := s.History(context.Background(), handrail.HistoryFilter{})
	if err != nil || len(l.Changes) != 7 {
		t.Fatalf("%d changes, %v", len(l.Changes), err)
	}
	first := l.Changes[6]
	if first.Tool != "write_file" || first.Call != "1" || first.Session != s.ID() || !first.Own {
		t.Errorf("the first change is %+v", first)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	later := kept(t, dir, state, nil)
	if _, err := later.Undo(context.Background(), handrail.UndoOptions{}); !errors.Is(err, handrail.ErrNoChange) {
		t.Errorf("without a name, the change of an earlier session: %v", err)
	}
	if _, err := later.Undo(context.Background(), handrail.UndoOptions{ID: first.ID}); err != nil {
		t.Error(err)
	}
	if got := fileText(t, dir, "a.txt"); got != "(nothing)" {
		t.Errorf("a.txt holds %q", got)
	}
}

// A child's changes are in the history of its parent, under the parent's
// names, and the parent's undo takes them back.
func TestAChildRecordsIntoItsParentsHistory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := kept(t, dir, t.TempDir(), nil)
	child, err := s.Child(context.Background(), handrail.ChildOptions{Workspace: "sub", Name: "helper"})
	if err != nil {
		t.Fatal(err)
	}
	mustCall(t, child, "1", "write_file", `{"path":"f","content":"x"}`)
	l, err := s.History(context.Background(), handrail.HistoryFilter{Path: "sub/f"})
	if err != nil || len(l.Changes) != 1 || l.Changes[0].Origin.Kind != tool.OriginAgent || !l.Changes[0].Own {
		t.Fatalf("the parent sees %+v, %v", l.Changes, err)
	}
	mustCall(t, s, "2", "undo", `{}`)
	if got := fileText(t, dir, "sub/f"); got != "(nothing)" {
		t.Errorf("the file holds %q", got)
	}
}

// Rules about files hold for the tools over the history.
func TestRulesHoldForTheHistory(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	s := kept(t, dir, state, nil)
	mustCall(t, s, "1", "write_file", `{"path":"open.txt","content":"o"}`)
	mustCall(t, s, "2", "write_file", `{"path":"shut.txt","content":"the secret"}`)
	l, err := s.History(context.Background(), handrail.HistoryFilter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	id := l.Changes[0].ID
	for name, change := range map[string]func(*handrail.Options){
		"unreadable": func(o *handrail.Options) { o.Files.Unreadable = []string{"shut.txt"} },
		"read rule":  func(o *handrail.Options) { o.Permission.Deny = []string{"read_file(shut.txt)"} },
	} {
		t.Run(name, func(t *testing.T) {
			s := kept(t, dir, state, change)
			for _, c := range []struct{ tool, args string }{
				{"workspace_log", `{}`}, {"workspace_show", `{"id":"` + id + `"}`}, {"workspace_show", `{"id":"` + id + `","path":"shut.txt"}`},
				{"workspace_diff", `{"id":"` + id + `"}`}, {"undo", `{"dry_run":true,"id":"` + id + `"}`}, {"undo", `{"id":"` + id + `"}`},
			} {
				r := s.Run(context.Background(), handrail.Call{Tool: c.tool, Args: []byte(c.args)})[0]
				if strings.Contains(r.Text, "the secret") {
					t.Errorf("%s %s shows it: %s", c.tool, c.args, r.Text)
				}
				if c.tool == "workspace_log" && (!r.OK || !strings.Contains(r.Text, "open.txt") || strings.Contains(r.Text, "shut.txt")) {
					t.Errorf("the log: %s", r.Text)
				}
			}
			if got := fileText(t, dir, "shut.txt"); got != "the secret" {
				t.Errorf("it was undone: %q", got)
			}
		})
	}
	t.Run("read-only", func(t *testing.T) {
		s := kept(t, dir, state, func(o *handrail.Options) { o.Permission.Mode = handrail.ReadOnly })
		if r := s.Run(context.Background(), handrail.Call{Tool: "undo", Args: []byte(`{"id":"` + id + `"}`)})[0]; r.Code != tool.CodeApprovalRequired {
			t.Errorf("the answer is %s: %s", r.Code, r.Text)
		}
		mustCall(t, s, "1", "undo", `{"dry_run":true,"id":"`+id+`"}`)
	})
	t.Run("F196 no tool reads the history's own files", func(t *testing.T) {
		inside := filepath.Join(dir, "state")
		s := kept(t, dir, inside, nil)
		mustCall(t, s, "1", "write_file", `{"path":"x.txt","content":"x"}`)
		found, err := filepath.Glob(filepath.Join(inside, "history", "*", "*.seg"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
		rel, _ := filepath.Rel(dir, found[0])
		if r := s.Run(context.Background(), handrail.Call{Tool: "read_file", Args: []byte(`{"path":"` + filepath.ToSlash(rel) + `"}`)})[0]; r.Code != tool.CodeDenied {
			t.Errorf("the answer is %s: %s", r.Code, r.Text)
		}
	})
}

func TestWithoutAHistory(t *testing.T) {
	s := kept(t, t.TempDir(), t.TempDir(), func(o *handrail.Options) { o.History.Off = true })
	if slices.ContainsFunc(s.Specs(), func(spec handrail.Spec) bool { return spec.Name == "undo" }) {
		t.Error("the tool undo is there")
	}
	if _, err := s.History(context.Background(), handrail.HistoryFilter{}); !errors.Is(err, handrail.ErrNoHistory) {
		t.Errorf("the history: %v", err)
	}
	if _, err := s.Undo(context.Background(), handrail.UndoOptions{}); !errors.Is(err, handrail.ErrNoHistory) {
		t.Errorf("an undo: %v", err)
	}
	_, err := handrail.Open(context.Background(), handrail.Options{History: handrail.HistoryOptions{MaxBytes: -1}, Workspace: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "negative") {
		t.Errorf("a negative limit: %v", err)
	}
}
