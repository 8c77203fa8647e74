package handrail_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/approval"
	"github.com/handrail-tools/handrail/tool"
)

// governed opens a session on a folder in which writing needs a question.
func governed(t *testing.T, edit func(*handrail.Options)) (*handrail.Session, string) {
	t.Helper()
	dir := t.TempDir()
	o := handrail.Options{Workspace: dir, StateDir: t.TempDir(), Commands: handrail.CommandOptions{Off: true}}
	if edit != nil {
		edit(&o)
	}
	s, err := handrail.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

func writing(name string) handrail.Call {
	args, err := json.Marshal(map[string]string{"path": name, "content": name})
	if err != nil {
		panic(err)
	}
	return handrail.Call{Tool: "write_file", Args: args}
}

func written(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// TestRuleForAlways: the rule is kept in a file outside of the workspace, holds
// in this session, in its children and in the next one of the same folder, and
// nowhere once it was taken back.
func TestRuleForAlways(t *testing.T) {
	books := filepath.Join(t.TempDir(), "workspaces")
	dir := t.TempDir()
	var asked atomic.Int32
	sit := func(workspace string) *handrail.Session {
		book, err := approval.OpenBook(books, workspace)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := governed(t, func(o *handrail.Options) {
			o.Workspace, o.Rules = workspace, book
			o.Files.Closed = []string{books}
			o.Approver = func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
				asked.Add(1)
				if len(r.Offers) != 1 || len(r.Offers[0].Rules) != 1 || r.Offers[0].Rules[0] != "write_file(/a.txt)" {
					return handrail.ApprovalAnswer{Digest: r.Digest}, nil
				}
				return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true, Scope: handrail.ForAlways, By: "test"}, nil
			}
		})
		return s
	}
	s := sit(dir)
	if r := s.Run(t.Context(), writing("a.txt"))[0]; !r.OK || asked.Load() != 1 {
		t.Fatal(r.Text)
	}
	child, err := s.Child(t.Context(), handrail.ChildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other := sit(dir)
	for name, one := range map[string]*handrail.Session{"the session": s, "its child": child, "the next session": other} {
		if e := one.Explain(t.Context(), writing("a.txt")); e.Outcome != handrail.Allow {
			t.Errorf("%s does not have the rule: %+v", name, e)
		}
		if e := one.Explain(t.Context(), writing("b.txt")); e.Outcome != handrail.Ask {
			t.Errorf("%s has more than the rule: %+v", name, e)
		}
		if e := one.Explain(t.Context(), writing("sub/a.txt")); e.Outcome != handrail.Ask {
			t.Errorf("%s: the rule holds at every depth: %+v", name, e)
		}
	}
	if e := sit(t.TempDir()).Explain(t.Context(), writing("a.txt")); e.Outcome != handrail.Ask {
		t.Error("the rule holds in another workspace")
	}
	g := other.Grants()
	if len(g) != 1 || g[0].Rule != "write_file(/a.txt)" || g[0].ID != g[0].Rule || g[0].By != "test" || g[0].Given.IsZero() {
		t.Fatalf("%+v", g)
	}
	if there, err := other.Revoke(g[0].ID); !there || err != nil {
		t.Fatal(there, err)
	}
	for name, one := range map[string]*handrail.Session{"the session": s, "its child": child, "the other session": other} {
		if e := one.Explain(t.Context(), writing("a.txt")); e.Outcome != handrail.Ask || len(one.Grants()) != 0 {
			t.Errorf("%s still has a rule that was taken back: %+v", name, e)
		}
	}
	if there, err := s.Revoke("nothing"); there || err != nil {
		t.Error(there, err)
	}
}

// TestF100_RulesOfARepositoryAreNone: a workspace cannot bring a book of its
// own, be it by a file in it, a book of another folder, or a link.
func TestF100_RulesOfARepositoryAreNone(t *testing.T) {
	books, dir := t.TempDir(), t.TempDir()
	book, err := approval.OpenBook(books, dir)
	if err != nil {
		t.Fatal(err)
	}
	allow := func(workspace string) string {
		return fmt.Sprintf(`{"workspace": %q, "allow": [{"rule": "write_file"}]}`, workspace)
	}
	open := func() (*handrail.Session, error) {
		return handrail.Open(t.Context(), handrail.Options{Workspace: dir, Rules: book, Commands: handrail.CommandOptions{Off: true}})
	}
	for name, text := range map[string]string{
		"of another workspace": allow(t.TempDir()), "of none": `{"allow": [{"rule": "write_file"}]}`, "not JSON": "allow",
		"of a key nobody knows": strings.Replace(allow(dir), `"rule"`, `"rules"`, 1), "twice": allow(dir) + allow(dir), "empty": "",
	} {
		if err := os.WriteFile(book.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := open(); err == nil {
			_ = s.Close()
			t.Errorf("a book %s is taken", name)
		}
	}
	if err := os.Remove(book.Path()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(dir, "book.json")
	if err := os.WriteFile(outside, []byte(allow(dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, book.Path()); err != nil {
		t.Fatal(err)
	}
	if s, err := open(); err == nil {
		_ = s.Close()
		t.Error("a book behind a link is taken")
	}
	// A damaged book is not written over either.
	if err := book.Keep([]handrail.Grant{{Rule: "write_file(/a)"}}); err == nil {
		t.Error("a link is written through")
	}
}

// TestBookIsClosedToTools: what decides about the model's calls is nothing
// that the model can write, wherever it lies.
func TestBookIsClosedToTools(t *testing.T) {
	dir := t.TempDir()
	books := filepath.Join(dir, ".config", "handrail", "workspaces")
	if err := os.MkdirAll(books, 0o700); err != nil {
		t.Fatal(err)
	}
	book, err := approval.OpenBook(books, dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := handrail.Open(t.Context(), handrail.Options{
		Workspace: dir, Rules: book, Permission: handrail.Permission{Mode: handrail.FullAccess}, Commands: handrail.CommandOptions{Off: true},
		Files: handrail.WorkspaceOptions{Closed: []string{books}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	rel, err := filepath.Rel(dir, book.Path())
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Run(t.Context(), writing(rel))[0]; r.Code != tool.CodeDenied || written(dir, rel) {
		t.Errorf("%s: %s", r.Code, r.Text)
	}
}

// TestTwoFacesAndAQueue: a face that dies does not refuse for the others, the
// first word counts, and the rest hear of it.
func TestTwoFacesAndAQueue(t *testing.T) {
	told := make(chan error, 1)
	state := t.TempDir()
	s, dir := governed(t, func(o *handrail.Options) {
		o.StateDir, o.Queue = state, true
		o.Approver = handrail.AskAll(
			func(context.Context, handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) { panic("gone") },
			func(ctx context.Context, _ handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
				<-ctx.Done()
				told <- context.Cause(ctx)
				return handrail.ApprovalAnswer{}, ctx.Err()
			})
	})
	done := make(chan *tool.Result, 1)
	go func() { done <- s.Run(t.Context(), writing("a.txt"))[0] }()
	desk, err := handrail.OpenApprovalQueue(state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = desk.Close() }()
	q := waitFor(t, desk, 1)[0]
	if err := desk.Reply(q, approval.Reply{Word: approval.WordOnce, By: "a person"}); err != nil {
		t.Fatal(err)
	}
	if r := <-done; !r.OK || !written(dir, "a.txt") {
		t.Error(r.Text)
	}
	if cause := <-told; !errors.Is(cause, handrail.ErrAnswered) {
		t.Error(cause)
	}
}

func waitFor(t *testing.T, desk *handrail.ApprovalQueue, n int) []approval.Question {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		list, _, err := desk.Standing()
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == n {
			return list
		}
	}
	t.Fatalf("there are not %d questions", n)
	return nil
}

// TestRestartWhileWaiting: a session that ends takes its questions with it; the
// answer that comes later runs nothing, in the next session neither.
func TestRestartWhileWaiting(t *testing.T) {
	state, dir := t.TempDir(), t.TempDir()
	open := func() *handrail.Session {
		s, _ := governed(t, func(o *handrail.Options) { o.StateDir, o.Workspace, o.Queue = state, dir, true })
		return s
	}
	first := open()
	done := make(chan *tool.Result, 2)
	go func() { done <- first.Run(t.Context(), writing("a.txt"))[0] }()
	desk, err := handrail.OpenApprovalQueue(state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = desk.Close() }()
	old := waitFor(t, desk, 1)[0]
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.OK || written(dir, "a.txt") {
		t.Error("the call of a session that was closed ran")
	}
	second := open()
	go func() { done <- second.Run(t.Context(), writing("a.txt"))[0] }()
	now := waitFor(t, desk, 1)[0]
	if err := desk.Reply(old, approval.Reply{Word: approval.WordOnce}); !errors.Is(err, approval.ErrGone) {
		t.Errorf("the old question is answered: %v", err)
	}
	if written(dir, "a.txt") {
		t.Error("the old answer ran the new call")
	}
	if err := desk.Reply(now, approval.Reply{Word: approval.WordNo, Reason: "not any more"}); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.Code != tool.CodeApprovalDenied || !strings.Contains(r.Text, "not any more") || written(dir, "a.txt") {
		t.Error(r.Code, r.Text)
	}
}

// TestThousandQuestions: a thousand calls wait, each gets its own answer, what
// was refused does not run and nothing runs twice.
func TestThousandQuestions(t *testing.T) {
	const n = 1000
	var mu sync.Mutex
	waiting := map[string]chan bool{} // by the call's argument
	ran := map[string]int{}
	count := tool.Func("count", "Counts.", tool.Write, func(_ context.Context, in struct {
		Name string `json:"name" jsonschema:"a name"`
	}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		ran[in.Name]++
		return "", nil
	})
	var answered atomic.Int32
	s, err := handrail.Open(t.Context(), handrail.Options{
		NoBuiltins: true, Tools: []tool.Tool{count},
		OnEvent: func(e handrail.Event) {
			if e.Phase == handrail.PhaseAnswered {
				answered.Add(1)
			}
		},
		Approver: func(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			c := make(chan bool, 1)
			mu.Lock()
			waiting[string(r.Args)] = c
			mu.Unlock()
			select {
			case allow := <-c:
				return handrail.ApprovalAnswer{Digest: r.Digest, Allow: allow}, nil
			case <-ctx.Done():
				return handrail.ApprovalAnswer{}, ctx.Err()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	results := make([]*tool.Result, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			results[i] = s.Run(t.Context(), handrail.Call{Tool: "count", Args: fmt.Appendf(nil, `{"name":"%d"}`, i)})[0]
		})
	}
	for there := 0; there < n; time.Sleep(5 * time.Millisecond) {
		mu.Lock()
		there = len(waiting)
		mu.Unlock()
	}
	mu.Lock()
	for i := n - 1; i >= 0; i-- { // in another order than they came
		waiting[fmt.Sprintf(`{"name":"%d"}`, i)] <- i%3 != 0
	}
	mu.Unlock()
	wg.Wait()
	for i, r := range results {
		if want := i%3 != 0; r.OK != want || ran[fmt.Sprint(i)] != map[bool]int{true: 1}[want] {
			t.Fatalf("%d: ok %v, ran %d times", i, r.OK, ran[fmt.Sprint(i)])
		}
	}
	if answered.Load() != n {
		t.Errorf("%d questions were answered", answered.Load())
	}
	var metrics strings.Builder
	s.WriteMetrics(&metrics)
	if !strings.Contains(metrics.String(), `handrail_questions_total{tool="count",answer="no"} 334`) {
		t.Error(metrics.String())
	}
}

// TestF095_NobodyToAsk: a child in the background asks whom its parent asks;
// without anybody it says that a person's word is missing, and does nothing.
func TestF095_NobodyToAsk(t *testing.T) {
	var by string
	s, _ := governed(t, func(o *handrail.Options) {
		o.Approver = func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			by = string(r.Origin.Kind)
			return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true}, nil
		}
	})
	child, err := s.Child(t.Context(), handrail.ChildOptions{Name: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	if r := child.Run(t.Context(), writing("a.txt"))[0]; !r.OK || by != string(tool.OriginAgent) {
		t.Errorf("%s: asked for %q", r.Text, by)
	}
	alone, dir := governed(t, nil)
	child, err = alone.Child(t.Context(), handrail.ChildOptions{Name: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	if r := child.Run(t.Context(), writing("b.txt"))[0]; r.Code != tool.CodeApprovalRequired || !strings.Contains(r.Text, "nobody can be asked") || written(dir, "b.txt") {
		t.Errorf("%s: %s", r.Code, r.Text)
	}
}

func TestApprovalOptions(t *testing.T) {
	for name, o := range map[string]handrail.Options{
		"a queue without a folder": {Queue: true}, "a negative time": {AskFor: -1},
	} {
		if s, err := handrail.Open(t.Context(), o); err == nil {
			_ = s.Close()
			t.Errorf("%s is taken", name)
		}
	}
}
