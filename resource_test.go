package handrail_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// file asks for a file as it is.
func file(path string) handrail.Resource { return handrail.Resource{Path: path} }

func pathArgs(path string) json.RawMessage {
	raw, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		panic(err) // strings can be written
	}
	return raw
}

// codeOf is the code of a failure, or "ok".
func codeOf(err error) tool.Code {
	if e, is := errors.AsType[*tool.Error](err); is {
		return e.Code
	}
	if err != nil {
		return tool.Code("no code: " + err.Error())
	}
	return "ok"
}

func TestContentIsAsItIs(t *testing.T) {
	utf16 := "\xff\xfeh\x00\xe9\x00\n\x00"
	dir := tree(t, map[string]string{
		"a.txt": "one\r\ntwo \x1b[0m", "empty": "", "deep/ä b%25?#.txt": "odd", "u16.txt": utf16, "~x": "tilde", "file:/x": "url", "a.jpg": "\xff\xd8\xff\xe0\x00\x10JFIF",
	})
	s := open(t, handrail.Options{Workspace: dir})
	for path, want := range map[string]string{
		"a.txt": "one\r\ntwo \x1b[0m", "empty": "", "deep/ä b%25?#.txt": "odd", "u16.txt": "hé\n", "~x": "tilde", "file:/x": "url",
	} {
		c, err := s.Content(t.Context(), file(path))
		if err != nil || c.Text != want || c.Media != nil || c.Notes != nil {
			t.Errorf("%q: %+v, %v", path, c, err)
		}
	}
	c, err := s.Content(t.Context(), file("a.jpg"))
	if err != nil || len(c.Media) != 1 || string(c.Media[0].Data) != "\xff\xd8\xff\xe0\x00\x10JFIF" || c.Text != "" {
		t.Errorf("bytes: %+v, %v", c, err)
	}
	if _, err = s.Content(t.Context(), file("nothing.txt")); !errors.Is(err, handrail.ErrNoResource) || !strings.Contains(err.Error(), "there is no file nothing.txt") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err = s.Content(t.Context(), handrail.Resource{Kind: 99}); err == nil {
		t.Error("a kind that is none is answered")
	}
}

// What a host has read the model has not seen, and may not replace unread.
func TestContentIsNotSeenByTheModel(t *testing.T) {
	long := strings.Repeat("one line of many\n", 1000)
	dir := tree(t, map[string]string{"a.txt": long})
	s := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}})
	if _, err := s.Content(t.Context(), file("a.txt")); err != nil {
		t.Fatal(err)
	}
	if r := run(s, "write_file", `{"path":"a.txt","content":"two\n"}`); r.Code != tool.CodeDenied || content(t, dir, "a.txt") != long {
		t.Errorf("a file that only a host has read may be overwritten: %s", r.Text)
	}
}

// Nothing that the tool would refuse is to be had as it is, and no error
// tells what it holds.
func TestContentIsGovernedAsTheToolIs(t *testing.T) {
	outside := tree(t, map[string]string{"far.txt": canary})
	dir := tree(t, map[string]string{
		"in.txt": "in", "secret/key.txt": canary, ".ssh/id": canary, "id_rsa": canary, "own/closed.txt": canary, "asked/x.txt": "x", "state/s.txt": canary, "sub/in.txt": "sub",
	})
	for name, to := range map[string]string{"out": outside, "link.txt": "in.txt", "far": filepath.Join(outside, "far.txt"), "key": "secret/key.txt"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, handrail.Options{
		Workspace: dir, StateDir: filepath.Join(dir, "state"),
		Files:      handrail.WorkspaceOptions{Closed: []string{filepath.Join(dir, "own")}},
		Permission: handrail.Permission{Deny: []string{"read_file(secret/**)"}, Ask: []string{"read_file(asked/**)"}},
	})
	for path, want := range map[string]tool.Code{
		"in.txt": "ok", "link.txt": "ok", "sub/../in.txt": "ok",
		"secret/key.txt": tool.CodeDenied, "key": tool.CodeDenied, "./secret//key.txt": tool.CodeDenied, ".ssh/id": tool.CodeDenied, "id_rsa": tool.CodeDenied,
		"own/closed.txt": tool.CodeDenied, "state/s.txt": tool.CodeDenied, "asked/x.txt": tool.CodeApprovalRequired,
		"out/far.txt": tool.CodeDenied, "far": tool.CodeDenied, "../far.txt": tool.CodeDenied, "sub/../../far.txt": tool.CodeDenied,
		"in.txt\x00": tool.CodeInvalidInput, "": tool.CodeFailed, "sub": tool.CodeFailed, strings.Repeat("a/", 3000): tool.CodeInvalidInput,
	} {
		c, err := s.Content(t.Context(), file(path))
		if got := codeOf(err); got != want {
			t.Errorf("%q: %s (%v), want %s", tool.Clip(path), got, err, want)
		}
		if strings.Contains(fmt.Sprint(c, err), canary) {
			t.Errorf("%q: %+v, %v gives the content away", path, c, err)
		}
		// The tool says the same of the same path, but for what it shows.
		asked := s.Explain(t.Context(), handrail.Call{Tool: "read_file", Args: pathArgs("./" + path)})
		if refused := asked.Outcome != handrail.Allow; refused && want == "ok" || !refused && (want == tool.CodeDenied || want == tool.CodeApprovalRequired) {
			t.Errorf("%q: an explanation says %s, a read %s", path, asked.Outcome, want)
		}
	}
	for _, path := range traversals() {
		if c, err := s.Content(t.Context(), file(path)); err == nil || strings.Contains(fmt.Sprint(c, err), "root:") {
			t.Errorf("%q: %+v, %v", tool.Clip(path), c, err)
		}
	}
}

func TestContentOfADeniedToolIsNotThere(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "one"})
	for name, o := range map[string]handrail.Options{
		"denied":            {Policy: handrail.Policy{Deny: []string{"read_file"}}},
		"by effect":         {Policy: handrail.Policy{Deny: []string{"effect:read"}}},
		"by an alias":       {Policy: handrail.Policy{Deny: []string{"group:fs"}}},
		"of other contexts": {Tags: []string{"history"}},
		"without built-ins": {NoBuiltins: true},
	} {
		o.Workspace = dir
		s := open(t, o)
		if s.HasResource(handrail.ResourceFile) {
			t.Errorf("%s: there are said to be files", name)
		}
		if c, err := s.Content(t.Context(), file("a.txt")); err == nil || c.Text != "" {
			t.Errorf("%s: %+v", name, c)
		}
		if paths, _, err := s.Files(t.Context(), handrail.FileQuery{}); err != nil || len(paths) > 0 {
			t.Errorf("%s: %q, %v", name, paths, err)
		}
	}
	// A restriction holds from the moment on in which it is made.
	s := open(t, handrail.Options{Workspace: dir})
	if err := s.Restrict(handrail.Policy{Deny: []string{"read_file"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Content(t.Context(), file("a.txt")); codeOf(err) != tool.CodeDenied {
		t.Errorf("after a restriction: %v", err)
	}
}

// A stranger's tool of that name is not ours, and nothing stands in for it.
func TestContentOfAStrangersToolIsRefused(t *testing.T) {
	s := open(t, handrail.Options{Workspace: tree(t, map[string]string{"a.txt": "one"}), NoBuiltins: true, Tools: []tool.Tool{named("read_file", tool.Read)}})
	if _, err := s.Content(t.Context(), file("a.txt")); codeOf(err) != tool.CodeDenied || s.HasResource(handrail.ResourceFile) {
		t.Errorf("%v", err)
	}
}

func TestContentOfAChildIsNarrower(t *testing.T) {
	dir := tree(t, map[string]string{"top.txt": "top", "sub/in.txt": "in", "sub/secret/x": canary})
	s := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Deny: []string{"read_file(sub/secret/**)"}}})
	c := child(t, s, handrail.ChildOptions{Workspace: "sub"})
	if got, err := c.Content(t.Context(), file("in.txt")); err != nil || got.Text != "in" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, path := range []string{"../top.txt", "top.txt", filepath.Join(dir, "top.txt"), "secret/x"} {
		if got, err := c.Content(t.Context(), file(path)); err == nil {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if paths, _, err := c.Files(t.Context(), handrail.FileQuery{}); err != nil || !slices.Equal(paths, []string{"in.txt"}) {
		t.Errorf("%q, %v", paths, err)
	}
	blind := child(t, s, handrail.ChildOptions{Policy: handrail.Policy{Deny: []string{"read_file"}}})
	if _, err := blind.Content(t.Context(), file("top.txt")); codeOf(err) != tool.CodeDenied {
		t.Errorf("a child without read_file: %v", err)
	}
}

func TestContentIsAskedAboutAndRecorded(t *testing.T) {
	var mu sync.Mutex
	var events []handrail.Event
	var asked atomic.Int64
	s := open(t, handrail.Options{
		Workspace:  tree(t, map[string]string{"a.txt": "one", "b.txt": "two"}),
		Permission: handrail.Permission{Ask: []string{"read_file"}},
		Approver: func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			asked.Add(1)
			return handrail.ApprovalAnswer{Allow: slices.Equal(r.Act.Reads, []string{"a.txt"}), Digest: r.Digest}, nil
		},
		OnEvent: func(e handrail.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Phase == handrail.PhaseFinished {
				events = append(events, e)
			}
		},
	})
	if c, err := s.Content(t.Context(), file("a.txt")); err != nil || c.Text != "one" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := s.Content(t.Context(), file("b.txt")); codeOf(err) != tool.CodeApprovalDenied {
		t.Errorf("%v", err)
	}
	if asked.Load() != 2 || len(events) != 2 || events[0].Tool != "read_file" || !strings.HasPrefix(events[0].CallID, "resource_") || events[1].Step != "permit" {
		t.Errorf("asked %d times; events %+v", asked.Load(), events)
	}
	log, err := s.Log(t.Context(), handrail.LogFilter{})
	if err != nil || len(log.Events) != 2 {
		t.Errorf("the log has %+v, %v", log, err)
	}
	// What a host may list while somebody types asks nobody.
	if paths, _, err := open(t, handrail.Options{Workspace: t.TempDir(), Permission: handrail.Permission{Approval: handrail.Always}}).Files(t.Context(), handrail.FileQuery{Quiet: true}); err != nil || paths != nil {
		t.Errorf("%q, %v", paths, err)
	}
}

func TestContentKeepsSecrets(t *testing.T) {
	const secret = "hunter2-hunter2"
	dir := tree(t, map[string]string{"a.txt": "key " + secret + "\n", "b.bin": "\xff\xd8\xff\xe0" + secret, "u16.txt": "\xff\xfe" + strings.Join(strings.Split(secret, ""), "\x00") + "\x00"})
	s := open(t, handrail.Options{Workspace: dir, Secrets: map[string]string{"DB": secret}})
	c, err := s.Content(t.Context(), file("a.txt"))
	if err != nil || strings.Contains(c.Text, secret) || !strings.Contains(c.Text, "[redacted: ") || len(c.Notes) != 1 {
		t.Errorf("text: %+v, %v", c, err)
	}
	if c, err = s.Content(t.Context(), file("u16.txt")); err != nil || strings.Contains(c.Text, secret) || !strings.Contains(c.Text, "[redacted: ") {
		t.Errorf("UTF-16: %+v, %v", c, err)
	}
	if c, err = s.Content(t.Context(), file("b.bin")); codeOf(err) != tool.CodeDenied || len(c.Media) > 0 || strings.Contains(err.Error(), secret) {
		t.Errorf("bytes: %+v, %v", c, err)
	}
}

func TestContentHasABound(t *testing.T) {
	dir := tree(t, map[string]string{"most": strings.Repeat("x", handrail.MaxContent), "more": strings.Repeat("x", handrail.MaxContent+1)})
	s := open(t, handrail.Options{Workspace: dir})
	if c, err := s.Content(t.Context(), file("most")); err != nil || len(c.Text) != handrail.MaxContent {
		t.Errorf("%d bytes, %v", len(c.Text), err)
	}
	if _, err := s.Content(t.Context(), file("more")); codeOf(err) != tool.CodeTooLarge || !strings.Contains(err.Error(), "read_file shows a part") {
		t.Errorf("%v", err)
	}
	grown, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var writing sync.WaitGroup
	writing.Go(func() {
		for !stop.Load() {
			if _, err := grown.WriteString("line\n"); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(10 * time.Microsecond)
		}
	})
	for range 50 {
		c, err := s.Content(t.Context(), file("log"))
		if err != nil || strings.Trim(c.Text, "line\n") != "" || len(c.Text)%5 != 0 {
			t.Errorf("a file that grows: %d bytes, %v", len(c.Text), err)
			break
		}
	}
	stop.Store(true)
	writing.Wait()
	if err := grown.Close(); err != nil {
		t.Error(err)
	}
}

// What hooks say is beside the content, what they refuse is refused, and a
// call that they make into another is not taken for the first.
func TestContentPassesHooks(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "one", "b.txt": "two"})
	var decision handrail.HookAnswer
	s := open(t, handrail.Options{Workspace: dir, Hooks: []handrail.Hook{
		{Event: handrail.PreToolUse, Func: func(context.Context, handrail.HookInput) (handrail.HookAnswer, error) { return decision, nil }},
		{Event: handrail.PostToolUse, Func: func(context.Context, handrail.HookInput) (handrail.HookAnswer, error) {
			return handrail.HookAnswer{Context: "well read"}, nil
		}},
	}})
	c, err := s.Content(t.Context(), file("a.txt"))
	if err != nil || c.Text != "one" || !slices.Equal(c.Notes, []string{"[hook] well read"}) {
		t.Errorf("%+v, %v", c, err)
	}
	decision.Args = []byte(`{"path":"b.txt"}`)
	if c, err = s.Content(t.Context(), file("a.txt")); err != nil || c.Text != "two" {
		t.Errorf("rewritten: %+v, %v", c, err)
	}
	decision.Args = []byte(`{"path":"b.txt","start_line":1}`)
	if c, err = s.Content(t.Context(), file("a.txt")); codeOf(err) != tool.CodeDenied || c.Text != "" {
		t.Errorf("rewritten into a window: %+v, %v", c, err)
	}
}
