package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// askedReads opens sessions in which a person is asked about each reading.
func askedReads(t *testing.T, events func(handrail.Event)) func(context.Context) (*handrail.Session, error) {
	dir := folder(t, map[string]string{"a.txt": "one", "b.txt": "two"})
	return func(ctx context.Context) (*handrail.Session, error) {
		return handrail.Open(ctx, handrail.Options{
			Workspace: dir, Permission: handrail.Permission{Ask: []string{"read_file"}}, Approver: Approve,
			Guard: handrail.GuardAdvise, OnEvent: events,
		})
	}
}

// The reading of a resource that needs a person's word is asked about as the
// call that it is, in every revision over every way.
func TestReadingAsksThePerson(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			var action atomic.Value
			var questions atomic.Int32
			c := client(t, w.connect(t, askedReads(t, nil)), w.version, answering(func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				questions.Add(1)
				if !strings.Contains(r.Params.Message, "Tool: read_file") || !strings.Contains(r.Params.Message, "Reads: a.txt") {
					t.Errorf("the question: %q", r.Params.Message)
				}
				return &mcp.ElicitResult{Action: action.Load().(string)}, nil
			}))
			for i, step := range []struct{ action, text, refusal string }{
				{"accept", "one", ""}, {"decline", "", "a person refused"}, {"cancel", "", "closed without an answer"}, {"accept", "one", ""},
			} {
				action.Store(step.action)
				r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "handrail://files/a.txt"})
				switch {
				case step.refusal != "":
					if err == nil || !strings.Contains(err.Error(), step.refusal) {
						t.Errorf("%s: %+v %v", step.action, r, err)
					}
				case err != nil || len(r.Contents) != 1 || r.Contents[0].Text != step.text:
					t.Errorf("%s: %+v %v", step.action, r, err)
				}
				if n := int(questions.Load()); n != i+1 {
					t.Errorf("%s: asked %d times", step.action, n)
				}
			}
			// Looking around asks nobody.
			if _, err := c.ListResources(t.Context(), nil); err != nil {
				t.Error(err)
			}
			if n := questions.Load(); n != 4 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func TestReadingOfAClientThatCannotAskIsRefused(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			c := client(t, w.connect(t, askedReads(t, nil)), w.version, nil)
			if r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "handrail://files/a.txt"}); err == nil || !strings.Contains(err.Error(), "nobody can be asked") {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
}

// An answer is to one reading: not to that of another file, not to a call
// of the tool that reads, not twice.
func TestAnAnswerIsForOneReading(t *testing.T) {
	eachRound(t, func(t *testing.T, make func(func(context.Context) (*handrail.Session, error)) (rounds, *Server)) {
		r, _ := make(askedReads(t, nil))
		read := func(name, more string) (map[string]any, string) {
			return r.send(fmt.Sprintf(`{"uri":"handrail://files/%s",%s%s}`, name, more, formMeta))
		}
		ask := func(name string) string {
			t.Helper()
			result, refused := read(name, "")
			state, _ := result["requestState"].(string)
			if result["resultType"] != "input_required" || state == "" || result["contents"] != nil || result["ttlMs"] != nil {
				t.Fatalf("no question: %v %s", result, refused)
			}
			return state
		}
		state := ask("a.txt")
		if result, words := read("b.txt", accepted(state)); !strings.Contains(words, "another request") {
			t.Errorf("another file: %v %s", result, words)
		}
		if result, words := r.try("read_file", `{"path":"./a.txt"}`, accepted(state)); !strings.Contains(words, "another request") {
			t.Errorf("a call: %v %s", result, words)
		}
		if result, words := read("a.txt", accepted(state)); result["contents"] == nil {
			t.Errorf("%v %s", result, words)
		}
		if result, words := read("a.txt", accepted(state)); !strings.Contains(words, "brought back before") {
			t.Errorf("twice: %v %s", result, words)
		}
		ofCall, _ := r.try("read_file", `{"path":"./a.txt"}`, "")
		if result, words := read("a.txt", accepted(ofCall["requestState"].(string))); !strings.Contains(words, "another request") {
			t.Errorf("the answer to a call: %v %s", result, words)
		}
	})
}

// A client that goes while a person is asked about a reading ends the
// question, as for a call.
func TestClientThatIsGoneEndsTheQuestionOfItsReading(t *testing.T) {
	finished := make(chan handrail.Event, 10)
	f, _ := faceOf(t, askedReads(t, func(e handrail.Event) {
		if e.Phase == handrail.PhaseFinished {
			finished <- e
		}
	}))
	for _, how := range []string{"connection", "session"} {
		id, stream, vanish := f.asked(t, `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"handrail://files/a.txt"}}`)
		if how == "connection" {
			vanish()
		} else {
			f.send(t.Context(), t, http.MethodDelete, "", sessionHeader, id)
		}
		select {
		case <-finished:
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the question stayed open", how)
		}
		vanish()
		_ = stream.Close()
	}
}

// Readings of clients that lose their connections go on, and are bounded as
// calls are.
func TestReadingsOfClientsThatDieAreBounded(t *testing.T) {
	release := make(chan struct{})
	f, _ := serveSessions(t, handrail.Options{
		Workspace: folder(t, map[string]string{"a.txt": "one"}), Permission: handrail.Permission{Ask: []string{"read_file"}},
		Approver: func(ctx context.Context, _ handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			select {
			case <-ctx.Done():
			case <-release:
			}
			return handrail.ApprovalAnswer{}, handrail.ErrNobody
		},
	})
	defer close(release)
	id := f.open(t)
	for range maxOpen + 20 {
		ctx, die := context.WithTimeout(t.Context(), time.Millisecond)
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+Path,
			strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"resources/read","params":{"uri":"handrail://files/a.txt"}}`, rand.Int64())))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set(sessionHeader, id)
		f.ServeHTTP(httptest.NewRecorder(), r)
		die()
	}
	a := f.handle(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"handrail://files/a.txt"}}`, sessionHeader, id)
	if !strings.Contains(a.Body.String(), "too many") {
		t.Errorf("one more: %d %.300s", a.Code, a.Body)
	}
	if a := f.send(t.Context(), t, http.MethodDelete, "", sessionHeader, id); a.status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", a.status, a.body)
	}
}

// An answer is to a question about one workspace: the file of that name in
// another root is another file.
func TestAnAnswerDoesNotMoveToAnotherRoot(t *testing.T) {
	e := newEstate(t)
	roots, err := NewRoots([]string{filepath.Join(e.top, "in")}, nil, func(ctx context.Context, dir, beneath string) (*handrail.Session, error) {
		return handrail.Open(ctx, handrail.Options{
			Workspace: dir, Files: handrail.WorkspaceOptions{Beneath: beneath}, Permission: handrail.Permission{Ask: []string{"read_file"}},
			Approver: Approve, Guard: handrail.GuardAdvise,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	p := lines{stdioClientWith(t, e.none, Options{Version: "test", Roots: roots}), map[string]string{}}
	p.send(strings.Replace(openBody, `"capabilities":{}`, `"capabilities":{"roots":{"listChanged":true}}`, 1))
	p.next()
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	settle := func(id int, root string) {
		t.Helper()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_dir","arguments":{"path":"."}}}`, id))
		p.roots(p.asked(), e.uri(root))
		if all := p.answers(1); !strings.Contains(all[fmt.Sprint(id)], "name.txt") {
			t.Fatal(all)
		}
	}
	for i, method := range []string{"tools/call", "resources/read"} {
		target := map[string]string{
			"tools/call": `"name":"read_file","arguments":{"path":"name.txt"}`, "resources/read": `"uri":"handrail://files/name.txt"`,
		}[method]
		ask := func(id int, more string) string {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s,%s%s}}`, id, method, target, more, formMeta))
			return p.answers(1)[fmt.Sprint(id)]
		}
		at := 100 * (i + 1)
		if i > 0 {
			p.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		}
		settle(at, "in/one")
		var asked struct{ Result struct{ RequestState string } }
		line := ask(at+1, "")
		if err := json.Unmarshal([]byte(line), &asked); err != nil || asked.Result.RequestState == "" {
			t.Fatal(line)
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		settle(at+2, "in/two")
		if line := ask(at+3, accepted(asked.Result.RequestState)); !strings.Contains(line, "input_required") || strings.Contains(line, "this is") {
			t.Errorf("%s: %s", method, line)
		}
	}
}
