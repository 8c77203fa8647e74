package model

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// forms are a request of each wire form, with two results, of which the
// second is an error where the form can say so and the first has a picture;
// and what the answers must hold.
var forms = []struct {
	form, path, body string
	want             Request
	call, last       []string
}{
	{
		form: "anthropic", path: "/v1/messages?beta=true",
		body: `{"stream":true,"tools":[{"name":"mcp__h__read","input_schema":{"type":"object"}}],"messages":[
			{"role":"user","content":"go"},
			{"role":"assistant","content":[{"type":"tool_use","id":"toolu_0","name":"mcp__h__read","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0","content":[{"type":"text","text":"one"},
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"text","text":"two"}]}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"no","is_error":true}]}]}`,
		want: Request{Turn: true, Tools: []Tool{{Name: "mcp__h__read"}}, Results: []Result{
			{Text: "one\ntwo", Images: []Image{{"image/png", 4}}}, {Text: "no", Failed: true}}},
		call: []string{`"stop_reason":"tool_use"`, `"name":"t"`, `"partial_json":"{\"a\":1}"`, "event: message_stop"},
		last: []string{`"stop_reason":"end_turn"`, `"text":"done"`},
	},
	{
		form: "responses", path: "/v1/responses",
		body: `{"tools":[{"type":"function","name":"own","parameters":{}},{"type":"namespace","name":"mcp__h","tools":[{"type":"function","name":"read"}]}],
			"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},
			{"type":"function_call","name":"read","arguments":"{}","call_id":"call_0"},
			{"type":"function_call_output","call_id":"call_0","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},
			{"type":"function_call_output","call_id":"call_1","output":"no"}]}`,
		want: Request{Turn: true, Tools: []Tool{{Name: "own"}, {Space: "mcp__h", Name: "read"}}, Results: []Result{
			{Text: "one", Images: []Image{{"image/png", 4}}}, {Text: "no"}}},
		call: []string{`"type":"function_call"`, `"namespace":"s"`, `"name":"t"`, `"arguments":"{\"a\":1}"`, "event: response.completed"},
		last: []string{`"text":"done"`, "event: response.completed"},
	},
	{
		form: "chat", path: "/v1/chat/completions",
		body: `{"tools":[{"type":"function","function":{"name":"h_read","parameters":{}}}],"messages":[
			{"role":"system","content":"be"},{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[]},
			{"role":"tool","tool_call_id":"call_0","content":"one"},
			{"role":"user","content":[{"type":"text","text":"media"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
			{"role":"tool","tool_call_id":"call_1","content":"no"}]}`,
		want: Request{Turn: true, Tools: []Tool{{Name: "h_read"}}, Results: []Result{
			{Text: "one", Images: []Image{{"image/png", 4}}}, {Text: "no"}}},
		call: []string{`"finish_reason":"tool_calls"`, `"name":"t"`, `"arguments":"{\"a\":1}"`, "data: [DONE]"},
		last: []string{`"finish_reason":"stop"`, `"content":"done"`, "data: [DONE]"},
	},
	{
		form: "gemini", path: "/v1beta/models/m:streamGenerateContent?alt=sse",
		body: `{"tools":[{"functionDeclarations":[{"name":"mcp_h_read","parametersJsonSchema":{}}]}],"contents":[
			{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"mcp_h_read","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"mcp_h_read","response":{"output":"one"}}},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"mcp_h_read","response":{"error":"no"}}}]}]}`,
		want: Request{Turn: true, Tools: []Tool{{Name: "mcp_h_read"}}, Results: []Result{
			{Text: "one", Images: []Image{{"image/png", 4}}}, {Text: "no", Failed: true}}},
		call: []string{`"functionCall":{"args":{"a":1}`, `"name":"t"`},
		last: []string{`"text":"done"`, `"finishReason":"STOP"`},
	},
}

func TestForms(t *testing.T) {
	for _, f := range forms {
		t.Run(f.form, func(t *testing.T) {
			var got Request
			again := false
			s, err := Start(f.form, func(r Request) *Call {
				if got = r; again {
					return nil
				}
				return &Call{Space: "s", Name: "t", Args: json.RawMessage(`{"a":1}`)}
			}, filepath.Join(t.TempDir(), "log"))
			if err != nil {
				t.Fatal(err)
			}
			answer := post(t, s.URL()+f.path, f.body)
			if diff := cmp.Diff(f.want, got, cmpopts.IgnoreFields(Tool{}, "Schema")); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			holds(t, answer, f.call)
			again = true
			holds(t, post(t, s.URL()+f.path, f.body), f.last)
			seen := s.Seen()
			if len(seen.Results) != 2 || seen.Calls != 3 || len(seen.Tools) != len(f.want.Tools) || seen.Trouble != nil {
				t.Errorf("seen: %+v", seen)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOtherQuestions: what is asked beside the conversation is answered and
// does not move the script.
func TestOtherQuestions(t *testing.T) {
	for form, questions := range map[string]map[string][2]string{
		"anthropic": {
			"/v1/messages/count_tokens": {`{}`, `"input_tokens"`},
			"/v1/messages":              {`{"stream":true,"messages":[{"role":"user","content":"a title?"}]}`, "message_stop"},
			"/api/event":                {`{}`, `{}`},
		},
		"responses": {"/v1/models": {``, `"models"`}, "/v1/responses": {`{"input":[]}`, "response.completed"}},
		"chat":      {"/v1/models": {``, `"data"`}, "/v1/chat/completions": {`{"messages":[]}`, "[DONE]"}},
		"gemini": {
			"/v1beta/models/m:countTokens":           {`{}`, `"totalTokens"`},
			"/v1beta/models/m:generateContent":       {`{}`, `"candidates"`},
			"/v1beta/models/m:streamGenerateContent": {`{}`, `"candidates"`},
		},
	} {
		log := filepath.Join(t.TempDir(), "log")
		s, err := Start(form, func(Request) *Call { t.Error("the script was asked"); return nil }, log)
		if err != nil {
			t.Fatal(err)
		}
		for path, q := range questions {
			holds(t, post(t, s.URL()+path, q[0]), []string{q[1]})
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		lines, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(lines, []byte("\n")); n != len(questions) {
			t.Errorf("%s: %d lines in the log of %d requests", form, n, len(questions))
		}
		for line := range bytes.Lines(lines) {
			if !json.Valid(line) {
				t.Errorf("%s: not JSON: %s", form, line)
			}
		}
	}
}

func TestWhatCannotBeReadIsTold(t *testing.T) {
	for _, f := range forms {
		s, err := Start(f.form, func(Request) *Call { return nil }, filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		post(t, s.URL()+f.path, `{"messages":7,"input":7,"contents":7}`)
		if seen := s.Seen(); len(seen.Trouble) != 1 {
			t.Errorf("%s: trouble %q", f.form, seen.Trouble)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Start("morse", nil, filepath.Join(t.TempDir(), "log")); err == nil {
		t.Error("a wire form that is not known is no error")
	}
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	answer, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func holds(t *testing.T, text string, wants []string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
