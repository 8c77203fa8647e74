package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/permission"
)

type touch = permission.Touch

const formMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`

// rounds is a server that is spoken to attempt by attempt, and what it
// answers to one.
type rounds struct {
	t    *testing.T
	send func(params string, header ...string) (result map[string]any, refused string)
}

func (r rounds) try(name, args, more string, header ...string) (map[string]any, string) {
	r.t.Helper()
	return r.send(fmt.Sprintf(`{"name":%q,"arguments":%s,%s%s}`, name, args, more, formMeta), header...)
}

// asks makes the first attempt and returns the state that came with the
// question.
func (r rounds) asks(args string, header ...string) string {
	r.t.Helper()
	result, refused := r.try("danger", args, "", header...)
	state, _ := result["requestState"].(string)
	if result["resultType"] != "input_required" || state == "" || result["content"] != nil {
		r.t.Fatalf("no question: %v %s", result, refused)
	}
	return state
}

// methodOf is the method that has the parameters.
func methodOf(params string) string {
	if strings.HasPrefix(params, `{"uri"`) {
		return readMethod
	}
	return callMethod
}

func accepted(state string) string {
	return fmt.Sprintf(`"inputResponses":{"approval":{"action":"accept"}},"requestState":%q,`, state)
}

func faceOf(t *testing.T, open func(context.Context) (*handrail.Session, error)) (face, *HTTP) {
	t.Helper()
	h, err := NewHTTP(t.Context(), HTTPOptions{Open: SessionPeers(open, Options{Version: "test"})})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		h.endStreams()
		s.Close()
		if err := h.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return face{h, s.URL + Path}, h
}

func roundsOverHTTP(t *testing.T, open func(context.Context) (*handrail.Session, error)) (rounds, *Server) {
	f, h := faceOf(t, open)
	return rounds{t, func(params string, header ...string) (map[string]any, string) {
		method := methodOf(params)
		a := f.post(t, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`,
			append([]string{versionHeader, modern, "Mcp-Method", method, "Mcp-Name", nameOf(params)}, header...)...)
		if a.message.Error != nil {
			return nil, a.message.Error.Message
		}
		return a.message.Result, ""
	}}, h.shared.(*sessionPeer).Server
}

func roundsOverStdio(t *testing.T, open func(context.Context) (*handrail.Session, error)) (rounds, *Server) {
	p := stdioClientOf(t, open)
	var mu sync.Mutex
	waiting, id := map[string]chan string{}, 0
	go func() {
		for line := range p.lines {
			var m struct{ ID json.RawMessage }
			_ = json.Unmarshal([]byte(line), &m) // every line is looked at by its caller
			mu.Lock()
			if c := waiting[string(m.ID)]; c != nil {
				c <- line
			}
			mu.Unlock()
		}
	}()
	return rounds{t, func(params string, _ ...string) (map[string]any, string) {
		mu.Lock()
		id++
		c := make(chan string, 1)
		waiting[fmt.Sprint(id)] = c
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, methodOf(params), params)
		mu.Unlock()
		p.send(line)
		var m struct {
			Result map[string]any
			Error  *struct{ Message string }
		}
		select {
		case line = <-c:
		case <-time.After(10 * time.Second):
			t.Error("no answer")
			return nil, ""
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if m.Error != nil {
			return nil, m.Error.Message
		}
		return m.Result, ""
	}}, p.server
}

func eachRound(t *testing.T, test func(t *testing.T, make func(open func(context.Context) (*handrail.Session, error)) (rounds, *Server))) {
	t.Run("http", func(t *testing.T) {
		test(t, func(open func(context.Context) (*handrail.Session, error)) (rounds, *Server) {
			return roundsOverHTTP(t, open)
		})
	})
	t.Run("stdio", func(t *testing.T) {
		test(t, func(open func(context.Context) (*handrail.Session, error)) (rounds, *Server) {
			return roundsOverStdio(t, open)
		})
	})
}

func TestAnAnswerIsForOneCallOnce(t *testing.T) {
	eachRound(t, func(t *testing.T, make func(func(context.Context) (*handrail.Session, error)) (rounds, *Server)) {
		var d danger
		r, server := make(dangerous(&d))
		refused := func(name, tool, args, more, want string) {
			t.Helper()
			before := d.total()
			result, words := r.try(tool, args, more)
			if !strings.Contains(words, want) || !strings.Contains(words, "Nothing was run") || d.total() != before {
				t.Errorf("%s: %v %q", name, result, words)
			}
		}
		state := r.asks(`{"path":"a"}`)
		refused("changed arguments", "danger", `{"path":"b"}`, accepted(state), "the arguments are not those")
		refused("another tool", "recall", `{"path":"a"}`, accepted(state), "another request")
		refused("changed", "danger", `{"path":"a"}`, accepted(state[:len(state)-2]+"AA"), "not made here")
		refused("invented", "danger", `{"path":"a"}`, accepted("yes"), "not made here")
		if d.total() != 0 {
			t.Fatalf("ran %v", d.ran)
		}
		// A refused attempt has not used it up; white space and the order of
		// keys change no arguments.
		if result, words := r.try("danger", ` { "path" : "a" } `, accepted(state)); d.count("a") != 1 || result["resultType"] != "complete" {
			t.Errorf("ran %d: %v %s", d.count("a"), result, words)
		}
		refused("replay", "danger", `{"path":"a"}`, accepted(state), "brought back before")

		// What is asked again is a new question.
		if next := r.asks(`{"path":"a"}`); next == state {
			t.Error("the same state twice")
		}
		// An answer without a state, or a state without an answer, asks anew.
		for _, more := range []string{
			`"inputResponses":{"approval":{"action":"accept"}},`, fmt.Sprintf(`"requestState":%q,`, r.asks(`{"path":"a"}`)),
			fmt.Sprintf(`"requestState":%q,"inputResponses":{"other":{"action":"accept"}},`, r.asks(`{"path":"a"}`)),
		} {
			if result, words := r.try("danger", `{"path":"a"}`, more); result["resultType"] != "input_required" || d.count("a") != 1 {
				t.Errorf("%s: %v %s", more, result, words)
			}
		}
		state = r.asks(`{"path":"z"}`)
		if result, _ := r.try("danger", `{"path":"z"}`, strings.Replace(accepted(state), "accept", "approve", 1)); result["isError"] != true || d.count("z") != 0 {
			t.Errorf("an action that does not exist: %v", result)
		}
		var other danger
		foreign, _ := make(dangerous(&other))
		refused("of another server", "danger", `{"path":"a"}`, accepted(foreign.asks(`{"path":"a"}`)), "not made here")

		server.sealer.Life = time.Millisecond
		state = r.asks(`{"path":"late"}`)
		time.Sleep(5 * time.Millisecond)
		refused("expired", "danger", `{"path":"late"}`, accepted(state), "too old")
	})
}

func TestTwoFacesAnswerAtOnce(t *testing.T) {
	eachRound(t, func(t *testing.T, make func(func(context.Context) (*handrail.Session, error)) (rounds, *Server)) {
		var d danger
		r, _ := make(dangerous(&d))
		for i := range 20 {
			path := fmt.Sprint("p", i)
			args := fmt.Sprintf(`{"path":%q}`, path)
			state := r.asks(args)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { r.try("danger", args, accepted(state)) })
			}
			wg.Wait()
			if d.count(path) != 1 {
				t.Errorf("ran %d times", d.count(path))
			}
		}
	})
}

func TestAnotherPrincipalCannotAnswer(t *testing.T) {
	var d danger
	r, _ := roundsOverHTTP(t, dangerous(&d))
	state := r.asks(`{"path":"a"}`, "Authorization", "Bearer one")
	if _, words := r.try("danger", `{"path":"a"}`, accepted(state), "Authorization", "Bearer two"); !strings.Contains(words, "somebody else") {
		t.Errorf("%q", words)
	}
	if _, words := r.try("danger", `{"path":"a"}`, accepted(state), "Authorization", "Bearer one"); words != "" || d.count("a") != 1 {
		t.Errorf("ran %d: %q", d.count("a"), words)
	}
}

// Between the question and the answer a link comes to lead elsewhere: what
// was approved is not what would happen.
func TestAnAnswerIsToWhatWasAsked(t *testing.T) {
	eachRound(t, func(t *testing.T, make func(func(context.Context) (*handrail.Session, error)) (rounds, *Server)) {
		dir := t.TempDir()
		for _, name := range []string{"a.txt", "b.txt"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("old\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(dir, "link")
		if err := os.Symlink("a.txt", link); err != nil {
			t.Fatal(err)
		}
		r, _ := make(func(ctx context.Context) (*handrail.Session, error) {
			return handrail.Open(ctx, handrail.Options{Workspace: dir, Approver: Approve, Guard: handrail.GuardAdvise})
		})
		const args = `{"path":"link","old_string":"old","new_string":"new"}`
		// A file must have been seen before it is changed.
		for _, name := range []string{"a.txt", "b.txt"} {
			if result, words := r.try("read_file", fmt.Sprintf(`{"path":%q}`, name), ""); result["isError"] == true {
				t.Fatal(result, words)
			}
		}
		first, words := r.try("edit_file", args, "")
		message := fmt.Sprint(first["inputRequests"])
		if !strings.Contains(message, "Writes: a.txt") {
			t.Fatalf("%v %s", first, words)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("b.txt", link); err != nil {
			t.Fatal(err)
		}
		second, words := r.try("edit_file", args, accepted(first["requestState"].(string)))
		if message := fmt.Sprint(second["inputRequests"]); !strings.Contains(message, "Writes: b.txt") {
			t.Errorf("%v %s", second, words)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(data) != "old\n" {
			t.Errorf("%q %v", data, err)
		}
		if state, _ := second["requestState"].(string); state != "" {
			r.try("edit_file", args, accepted(state))
		}
		if data, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(data) != "new\n" {
			t.Errorf("%q %v", data, err)
		}
	})
}

// A client that hangs up ends its question; nothing runs.
func TestHangingUpEndsTheQuestion(t *testing.T) {
	var d danger
	p := stdioClientOf(t, dangerous(&d))
	p.send(strings.Replace(openBody, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	p.next()
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger","arguments":{"path":"x"}}}`)
	if _, line := p.next(); !strings.Contains(line, `"elicitation/create"`) {
		t.Fatal(line)
	}
	_ = p.in.Close()
	select {
	case <-d.finished:
	case <-time.After(5 * time.Second):
		t.Error("the question stayed open")
	}
	if d.total() != 0 {
		t.Errorf("ran %d", d.total())
	}
}

// An answer that comes back is to a question about the same files, also where
// only the command names them, and to what is as unclear as it was.
func TestAnActIsAllThatItMeans(t *testing.T) {
	base := func() handrail.ApprovalRequest {
		r := handrail.ApprovalRequest{Tool: "shell", Args: []byte(`{"command":"cat link"}`), Rule: "mode read-only", Reason: "exec"}
		r.Act.Command = "cat link"
		r.Act.Touches = make([]touch, 1)
		r.Act.Touches[0].Path = "a"
		return r
	}
	var r round
	for name, change := range map[string]func(*handrail.ApprovalRequest){
		"another file by the same name": func(q *handrail.ApprovalRequest) { q.Act.Touches[0].Path = "secret" },
		"one file more":                 func(q *handrail.ApprovalRequest) { q.Act.Touches = append(q.Act.Touches, touch{Path: "b"}) },
		"more may run":                  func(q *handrail.ApprovalRequest) { q.Act.Unclear = "it is typed into a program" },
		"a place that is not known":     func(q *handrail.ApprovalRequest) { q.Act.Unresolved = "x" },
		"outside of the fence":          func(q *handrail.ApprovalRequest) { q.Act.Unfenced = true },
	} {
		q := base()
		change(&q)
		if r.actOf(q) == r.actOf(base()) {
			t.Errorf("%s: a yes to the one counts for the other", name)
		}
	}
	if first, again := r.actOf(base()), r.actOf(base()); first != again {
		t.Error("the same act is another")
	}
}
