package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/approval"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// booked opens sessions on a folder that have rules for always.
func booked(t *testing.T, dir string, edit func(*handrail.Options)) (func(context.Context) (*handrail.Session, error), *approval.Book) {
	t.Helper()
	book, err := approval.OpenBook(filepath.Join(t.TempDir(), "workspaces"), dir)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (*handrail.Session, error) {
		o := handrail.Options{
			Workspace: dir, Rules: book, Approver: Approve, Guard: handrail.GuardAdvise, Commands: handrail.CommandOptions{Off: true},
		}
		if edit != nil {
			edit(&o)
		}
		return handrail.Open(ctx, o)
	}, book
}

// TestAnswerForAlways: the question shows the rule, the answer writes it, and
// the call that it is about runs by it without another question.
func TestAnswerForAlways(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			dir := t.TempDir()
			open, book := booked(t, dir, nil)
			var asked []string
			c := client(t, w.connect(t, open), w.version, answering(func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked = append(asked, r.Params.Message+fmt.Sprint(r.Params.RequestedSchema))
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "always"}}, nil
			}))
			r := call(t, c, "write_file", map[string]any{"path": "a.txt", "content": "x"})
			if r.IsError || len(asked) != 1 || !strings.Contains(asked[0], "Always would allow by the rule: write_file(/a.txt)") || !strings.Contains(asked[0], "always") {
				t.Fatalf("%s after %q", textOf(r), asked)
			}
			rules, _, err := book.Rules()
			if err != nil || len(rules) != 1 || rules[0].Rule != "write_file(/a.txt)" || rules[0].By != "client" {
				t.Errorf("%+v, %v", rules, err)
			}
			if r := call(t, c, "delete_file", map[string]any{"path": "a.txt"}); r.IsError || len(asked) != 2 {
				t.Errorf("a rule for one tool counts for another: %s after %d questions", textOf(r), len(asked))
			}
			if r := call(t, c, "write_file", map[string]any{"path": "a.txt", "content": "y"}); r.IsError || len(asked) != 2 {
				t.Errorf("%s after %d questions", textOf(r), len(asked))
			}
		})
	}
}

// TestFormOffersNoAlwaysWithoutARule: a client that answers "always" where no
// rule could be written has answered nothing that the form offers.
func TestFormOffersNoAlwaysWithoutARule(t *testing.T) {
	offered := handrail.ApprovalRequest{Digest: "d", Offers: []handrail.ApprovalOffer{{Rules: []string{"x(a)"}}}}
	for _, c := range []struct {
		name    string
		r       handrail.ApprovalRequest
		lasting bool
		answer  any
		allow   bool
		scope   handrail.ApprovalScope
	}{
		{"always with a rule", offered, false, "always", true, handrail.ForAlways},
		{"always without", handrail.ApprovalRequest{Digest: "d"}, true, "always", false, handrail.Once},
		{"session without one", offered, false, "session", false, handrail.Once},
		{"session", offered, true, "session", true, handrail.ForSession},
		{"a list", offered, true, []any{"once"}, false, handrail.Once},
		{"nothing that is known", offered, true, "ALWAYS", false, handrail.Once},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := answered(c.r, "accept", map[string]any{"answer": c.answer}, c.lasting)
			if err != nil || a.Allow != c.allow || a.Scope != c.scope || a.Digest != "d" {
				t.Errorf("%+v, %v", a, err)
			}
			word, _ := c.answer.(string)
			if offers := strings.Contains(string(form(c.r, c.lasting)), `"`+word+`"`); offers != c.allow {
				t.Errorf("the form offers it: %v", offers)
			}
		})
	}
}

// TestAnAnswerIsToTheRulesOfItsQuestion: rules that changed while the client
// had the question make its answer void; it is asked again.
func TestAnAnswerIsToTheRulesOfItsQuestion(t *testing.T) {
	eachRound(t, func(t *testing.T, make func(func(context.Context) (*handrail.Session, error)) (rounds, *Server)) {
		dir := t.TempDir()
		open, book := booked(t, dir, nil)
		r, _ := make(open)
		const args = `{"path":"a.txt","content":"x"}`
		first, words := r.try("write_file", args, "")
		state, _ := first["requestState"].(string)
		if state == "" {
			t.Fatal(first, words)
		}
		if err := book.Keep([]handrail.Grant{{Rule: "write_file(/b.txt)"}}); err != nil {
			t.Fatal(err)
		}
		second, words := r.try("write_file", args, accepted(state))
		state, _ = second["requestState"].(string)
		if _, err := os.Stat(filepath.Join(dir, "a.txt")); err == nil || state == "" {
			t.Fatalf("an answer to other rules ran the call: %v %s", second, words)
		}
		if third, words := r.try("write_file", args, accepted(state)); third["isError"] == true {
			t.Error(third, words)
		}
		if _, err := os.Stat(filepath.Join(dir, "a.txt")); err != nil {
			t.Error(err)
		}
	})
}

// TestQueueBesideTheClient: who cannot fill in forms has the queue; a client
// that can is asked there as well, or, where its question goes back with the
// result, alone.
func TestQueueBesideTheClient(t *testing.T) {
	for _, w := range ways() {
		for _, forms := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s forms %v", w.name, forms), func(t *testing.T) {
				dir, state := t.TempDir(), t.TempDir()
				open, _ := booked(t, dir, func(o *handrail.Options) { o.StateDir, o.Queue = state, true })
				var o *mcp.ClientOptions
				withdrawn := make(chan struct{}, 1)
				if forms {
					o = answering(func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						if w.version >= modern {
							return &mcp.ElicitResult{Action: "accept"}, nil
						}
						<-ctx.Done() // somebody else is faster
						withdrawn <- struct{}{}
						return nil, ctx.Err()
					})
				}
				c := client(t, w.connect(t, open), w.version, o)
				desk, err := approval.Open(state)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = desk.Close() }()
				done := make(chan *mcp.CallToolResult, 1)
				go func() { done <- call(t, c, "write_file", map[string]any{"path": "a.txt", "content": "x"}) }()
				if !forms || w.version < modern {
					answerInQueue(t, desk)
				}
				if r := <-done; r.IsError {
					t.Error(textOf(r))
				}
				if forms && w.version < modern {
					<-withdrawn
				}
				if list, _, err := desk.Standing(); err != nil || len(list) != 0 {
					t.Errorf("%d questions are left, %v", len(list), err)
				}
			})
		}
	}
}

func answerInQueue(t *testing.T, desk *approval.Queue) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		list, _, err := desk.Standing()
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 {
			if err := desk.Reply(list[0], approval.Reply{Word: approval.WordOnce}); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("nobody asks in the queue")
}
