package handrail_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// Whether a call did what it was asked is a fact of its own on every face;
// nobody guesses it from the text.
func TestL5_SuccessIsNotReadFromTheText(t *testing.T) {
	says := func(name string, r *tool.Result, err error) fake {
		return fake{spec: tool.Spec{Name: name, Effects: tool.Read, Concurrency: tool.Safe},
			run: func(context.Context, *tool.Call) (*tool.Result, error) { return r, err }}
	}
	var mu sync.Mutex
	told := map[string]bool{}
	s := open(t, handrail.Options{
		Tools: []tool.Tool{
			says("gloomy", tool.Text("Error: failed, denied, timeout"), nil),
			says("cheerful", &tool.Result{Text: "Success! Done. OK"}, nil),
			says("errs", nil, errors.New("Success!")),
		},
		OnEvent: func(e handrail.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Phase == handrail.PhaseFinished {
				told[e.Tool] = e.Result.OK
			}
		},
	})
	client := dial(t, s)
	for name, want := range map[string]tool.Code{"gloomy": "", "cheerful": tool.CodeFailed, "errs": tool.CodeFailed} {
		if r := run(s, name, `{}`); r.Code != want || r.OK != (want == "") {
			t.Errorf("%s: %v %q", name, r.OK, r.Code)
		}
		if code, _ := callMCP(client, name, `{}`); code != string(want) {
			t.Errorf("%s over MCP: %q", name, code)
		}
		if told[name] != (want == "") {
			t.Errorf("%s: the event says OK %v", name, told[name])
		}
	}
	log, err := s.Log(t.Context(), handrail.LogFilter{})
	if err != nil || len(log.Events) != 6 {
		t.Fatalf("%d entries, %v", len(log.Events), err)
	}
	for _, e := range log.Events {
		if e.OK != (e.Tool == "gloomy") || (e.Code == "") != e.OK {
			t.Errorf("the log says of %s: %v %q", e.Tool, e.OK, e.Code)
		}
	}
}

// A hook that refuses is an expected outcome with a code and a reason of its
// own, not a fault of the tool or of Handrail.
func TestL6_AHooksRefusalIsNoFault(t *testing.T) {
	var finished handrail.Event
	s := open(t, handrail.Options{
		Tools: []tool.Tool{named("x", tool.Read)},
		Hooks: []handrail.Hook{{Event: handrail.PreToolUse, Func: func(context.Context, handrail.HookInput) (handrail.HookAnswer, error) {
			return handrail.HookAnswer{Verdict: handrail.HookDeny, Reason: "not on a Friday"}, nil
		}}},
		OnEvent: func(e handrail.Event) { finished = e },
	})
	r := run(s, "x", `{}`)
	if r.Code != tool.CodeDenied || !strings.Contains(r.Text, "not on a Friday") || strings.Contains(r.Text, "internal") {
		t.Errorf("%q %s", r.Code, r.Text)
	}
	if finished.Step != "before-hooks" || finished.Rule != "hook" {
		t.Errorf("the event says step %q, rule %q", finished.Step, finished.Rule)
	}
}

// TestL17_OneContextForEveryPath: a tool finds the same workspace, session,
// origin and arguments whichever way its call came.
func TestL17_OneContextForEveryPath(t *testing.T) {
	for _, origin := range origins {
		t.Run(fmt.Sprintf("%q", origin), func(t *testing.T) {
			dir := tree(t, nil)
			var seen []string
			var mu sync.Mutex
			look := fake{spec: tool.Spec{Name: "look", Effects: tool.Read, Concurrency: tool.Safe}, run: func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, fmt.Sprint(workspace.From(ctx).Root(), c.Session, c.Origin, c.Tool, string(c.Args)))
				return tool.Text("ok"), nil
			}}
			s := open(t, handrail.Options{Workspace: dir, Tools: []tool.Tool{look}, Origin: tool.Origin{Kind: origin, Name: "me", Depth: 2}})
			run(s, "look", `{"n":1}`)
			s.Run(t.Context(), handrail.Call{Tool: "look", Args: json.RawMessage(`{"n":1}`)}, handrail.Call{Tool: "nope"}, handrail.Call{Tool: "look", Args: json.RawMessage(`{"n":"1"}`)})
			if _, err := s.CallJSON(t.Context(), "look", map[string]int{"n": 1}); err != nil {
				t.Error(err)
			}
			if code, text := callMCP(dial(t, s), "look", `{"n":1}`); code != "" {
				t.Errorf("over MCP: %q %s", code, text)
			}
			if len(seen) != 5 || len(slices.Compact(slices.Clone(seen))) != 1 {
				t.Errorf("the paths differ:\n%s", strings.Join(seen, "\n"))
			}
		})
	}
}

// TestL16_AChildCanStillAsk: a child session outlives the turn in which it
// was opened, and its questions still reach a person.
func TestL16_AChildCanStillAsk(t *testing.T) {
	asked := ""
	s := open(t, handrail.Options{
		Tools: []tool.Tool{named("runs", tool.Exec)},
		Approver: func(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			asked += r.Origin.Name
			return handrail.ApprovalAnswer{Allow: true, Digest: r.Digest}, ctx.Err()
		},
	})
	turn, end := context.WithCancel(t.Context())
	c, err := s.Child(turn, handrail.ChildOptions{Name: "helper"})
	if err != nil {
		t.Fatal(err)
	}
	end()
	if r := run(c, "runs", `{}`); !r.OK || asked != "helper" {
		t.Errorf("%q %s, asked for %q", r.Code, r.Text, asked)
	}
}

// TestL21_NothingVanishes: everything that may be used is listed, however
// long it was not.
func TestL21_NothingVanishes(t *testing.T) {
	var many []tool.Tool
	for i := range 40 {
		many = append(many, named(fmt.Sprintf("tool_%02d", i), tool.Read))
	}
	s := open(t, handrail.Options{Tools: many, Guard: handrail.GuardOff})
	before := bytes.Clone(s.SpecsJSON())
	for range 50 {
		s.Turn()
		run(s, "tool_07", `{}`)
	}
	if !bytes.Equal(before, s.SpecsJSON()) || !slices.Contains(names(s), "tool_39") {
		t.Error("the list changed by itself")
	}

	t.Run("and what is put away on request comes back when it is called", func(t *testing.T) {
		s := open(t, handrail.Options{Tools: many, Guard: handrail.GuardOff, Exposure: handrail.Exposure{Deferred: true, Away: []string{"tool_0*"}}})
		if slices.Contains(names(s), "tool_07") {
			t.Fatal("it is not put away")
		}
		if r := run(s, "tool_07", `{}`); !r.OK {
			t.Errorf("it does not run: %q %s", r.Code, r.Text)
		}
		if got := names(s); !slices.Contains(got, "tool_07") || !slices.Contains(got, "tool_03") {
			t.Errorf("it did not come back with its group: %v", got)
		}
		e := s.Explain(t.Context(), handrail.Call{Tool: "tool_12"})
		if e.Outcome != handrail.Allow {
			t.Errorf("explained as %s", e.Outcome)
		}
	})
}

// TestL25_ANarrowedChildLeavesItsParentAlone: whatever is taken from a
// child, the parent's list stays the same bytes.
func TestL25_ANarrowedChildLeavesItsParentAlone(t *testing.T) {
	s := open(t, handrail.Options{Workspace: t.TempDir(), Tools: []tool.Tool{named("a", tool.Read), named("b", tool.Exec)}})
	before := bytes.Clone(s.SpecsJSON())
	c := child(t, s, handrail.ChildOptions{Policy: handrail.Policy{Deny: []string{"effect:write"}}})
	for _, p := range []handrail.Policy{{Deny: []string{"effect:exec"}}, {Allow: []string{"a"}}, {Allow: []string{}}} {
		if err := c.Restrict(p); err != nil {
			t.Fatal(err)
		}
	}
	c.SetContext("review")
	c.Remove("a")
	if err := c.Add(named("only_the_childs", tool.Read)); err != nil {
		t.Fatal(err)
	}
	if len(c.Specs()) != 0 {
		t.Errorf("the child lists %v", names(c))
	}
	if !bytes.Equal(before, s.SpecsJSON()) {
		t.Errorf("the parent lists %v", names(s))
	}
	if r := run(s, "a", `{}`); !r.OK {
		t.Errorf("the parent may not use it any more: %q", r.Code)
	}
}

// TestL29_TheOnlyToolThereIs: where a model must use one tool, the others
// are not there, instead of being advised against.
func TestL29_TheOnlyToolThereIs(t *testing.T) {
	s := open(t, handrail.Options{Workspace: tree(t, map[string]string{"a.txt": "a\n"}), Policy: handrail.Policy{Allow: []string{"read_file"}}})
	if got := names(s); !slices.Equal(got, []string{"read_file"}) {
		t.Errorf("listed: %v", got)
	}
	all := open(t, handrail.Options{Workspace: t.TempDir()})
	for _, spec := range all.Specs() {
		r := run(s, spec.Name, `{}`)
		if refused := r.Code == tool.CodeDenied || r.Code == tool.CodeUnknownTool; refused != (spec.Name != "read_file") {
			t.Errorf("%s: %q", spec.Name, r.Code)
		}
		if spec.Name != "read_file" && strings.Contains(strings.Replace(r.Text, spec.Name, "", 1), "edit_file") {
			t.Errorf("the refusal of %s names a tool that is not there: %s", spec.Name, r.Text)
		}
	}
}

// TestL34_ReadOnlyClosesEveryDoor: a mode that stops the file tools stops
// every other way to change something as well.
func TestL34_ReadOnlyClosesEveryDoor(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "a\n"})
	doors := []tool.Tool{
		named("undeclared", 0), named("touches", tool.Exec), named("writes_too", tool.Read|tool.Write), named("fetches", tool.Network),
		named("tells", tool.Message), named("hires", tool.Delegate), named("rules", tool.Admin), named("both", tool.Read|tool.Exec),
	}
	for approval, want := range map[handrail.Approval]tool.Code{"": tool.CodeApprovalRequired, handrail.Never: tool.CodeDenied} {
		s := open(t, handrail.Options{Workspace: dir, Tools: doors, Permission: handrail.Permission{Mode: handrail.ReadOnly, Approval: approval}})
		for _, door := range doors {
			if r := run(s, door.Spec().Name, `{}`); r.Code != want {
				t.Errorf("%s: %q, want %q", door.Spec().Name, r.Code, want)
			}
		}
		if r := run(s, "write_file", `{"path":"a.txt","content":"b\n"}`); r.Code != want {
			t.Errorf("write_file: %q", r.Code)
		}
		if r := run(s, "edit_file", `{"path":"a.txt","old_string":"a","new_string":"b"}`); r.Code != want {
			t.Errorf("edit_file: %q %s", r.Code, r.Text)
		}
		if r := run(s, "read_file", `{"path":"a.txt"}`); !r.OK {
			t.Errorf("read_file: %q", r.Code)
		}
	}
	if content(t, dir, "a.txt") != "a\n" {
		t.Error("the file was changed")
	}
}

// TestL8_AHomeFolder: a search from a folder full of caches does not walk
// them, says what it left out, and fills no log.
func TestL8_AHomeFolder(t *testing.T) {
	files := map[string]string{"notes.go": "needle\n", ".gitignore": "node_modules/\n"}
	for i := range 300 {
		files[fmt.Sprintf(".cache/pkg/%03d.go", i)] = "needle\n"
		files[fmt.Sprintf("node_modules/pkg/%03d.go", i)] = "needle\n"
	}
	dir := tree(t, files)
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	s := open(t, handrail.Options{Workspace: dir, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	for tl, args := range map[string]string{"glob": `{"pattern":"**/*.go"}`, "grep": `{"pattern":"needle"}`, "list_dir": `{"depth":2}`} {
		start := time.Now()
		r := run(s, tl, args)
		if !r.OK || !strings.Contains(r.Text, "notes.go") || strings.Contains(r.Text, "000.go") || time.Since(start) > 5*time.Second {
			t.Errorf("%s after %s: %q %.600s", tl, time.Since(start), r.Code, r.Text)
		}
	}
	if r := run(s, "grep", `{"pattern":"nothing like it"}`); !strings.Contains(r.Text, "node_modules; no_ignore searches them") || !strings.Contains(r.Text, "left out as hidden") {
		t.Errorf("what was left out is not said: %s", r.Text)
	}
	if logged.Len() > 0 {
		t.Errorf("the log has %s", logged.String())
	}
}

// TestL46_OneFolderForEveryTool: what a relative path means is the same to
// every tool of a session, and of a child that works further down.
func TestL46_OneFolderForEveryTool(t *testing.T) {
	dir := tree(t, map[string]string{"f.txt": "top marker\n", "sub/f.txt": "sub marker\n", "other/f.txt": "other marker\n"})
	t.Chdir(filepath.Join(dir, "other")) // the process' own folder means nothing
	s := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.FullAccess}})
	for want, in := range map[string]*handrail.Session{"top": s, "sub": child(t, s, handrail.ChildOptions{Workspace: "sub"})} {
		for name, args := range map[string]string{
			"read_file": `{"path":"f.txt"}`, "grep": `{"pattern":"marker","path":"f.txt"}`, "edit_file": `{"path":"f.txt","old_string":"marker","new_string":"marker and more"}`,
		} {
			if r := run(in, name, args); !r.OK || !strings.Contains(r.Text, want+" marker") {
				t.Errorf("%s in %s: %s", name, want, r.Text)
			}
		}
		for name, args := range map[string]string{"glob": `{"pattern":"*.txt"}`, "list_dir": `{}`} {
			if r := run(in, name, args); !r.OK || !strings.Contains(r.Text, "\nf.txt") || strings.Contains(r.Text, "other/f.txt") {
				t.Errorf("%s in %s: %s", name, want, r.Text)
			}
		}
		if r := run(in, "write_file", `{"path":"new.txt","content":"`+want+`"}`); !r.OK {
			t.Errorf("write_file in %s: %s", want, r.Text)
		}
	}
	if content(t, dir, "new.txt") != "top" || content(t, dir, "sub/new.txt") != "sub" || content(t, dir, "other/new.txt") != "" {
		t.Error("a file was made in another folder")
	}
}

// TestL47_ARefusalIsNotHiddenBehindNotFound: a path that may not be touched
// is refused as such, whether or not there is anything.
func TestL47_ARefusalIsNotHiddenBehindNotFound(t *testing.T) {
	s := open(t, handrail.Options{Workspace: tree(t, map[string]string{"f.txt": "x\n"}), Permission: handrail.Permission{Deny: []string{"read_file(closed/**)"}}})
	for _, path := range []string{"/nowhere/at/all.txt", "../nowhere.txt", ".ssh/nothing", "closed/nothing.txt"} {
		if r := run(s, "read_file", `{"path":"`+path+`"}`); r.Code != tool.CodeDenied || strings.Contains(r.Text, "there is no") {
			t.Errorf("%s: %q %s", path, r.Code, r.Text)
		}
	}
	if r := run(s, "read_file", `{"path":"nothing.txt"}`); r.Code != tool.CodeFailed || !strings.Contains(r.Text, "there is no file nothing.txt") {
		t.Errorf("a file that is not there: %q %s", r.Code, r.Text)
	}
}

// TestL48_AFolderThatIsNamedOpensNoOther: a search in a folder that was
// named finds what lies in it, and nothing that a link in it leads to.
func TestL48_AFolderThatIsNamedOpensNoOther(t *testing.T) {
	outside := tree(t, map[string]string{"tenant/secret.txt": "needle of another\n"})
	dir := tree(t, map[string]string{"uploads/mine.txt": "needle\n", "uploads/.gitignore": "*\n", ".gitignore": "uploads/\n"})
	for name, target := range map[string]string{"uploads/away": filepath.Join(outside, "tenant"), "uploads/file": filepath.Join(outside, "tenant/secret.txt"), "door": "uploads"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.FullAccess}})
	for _, path := range []string{"uploads", "door", "uploads/mine.txt"} {
		if r := run(s, "grep", `{"pattern":"needle","path":"`+path+`","no_ignore":true}`); !r.OK || !strings.Contains(r.Text, "uploads/mine.txt\n1│needle") || strings.Contains(r.Text, "another") {
			t.Errorf("%s: %s", path, r.Text)
		}
	}
	for _, path := range []string{"uploads/away", "uploads/file", "door/away", "door/file"} {
		if r := run(s, "grep", `{"pattern":"needle","path":"`+path+`"}`); r.OK || strings.Contains(r.Text, "another") {
			t.Errorf("%s: %s", path, r.Text)
		}
	}
}
