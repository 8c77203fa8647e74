package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// responses is OpenAI's Responses form, which Codex speaks.
type responses struct{}

// responsesTool is a tool, or a namespace of some.
type responsesTool struct {
	Type, Name string
	Parameters json.RawMessage
	Tools      []responsesTool
}

func (responses) read(path string, body []byte) (Request, error) {
	if !strings.HasSuffix(path, "/responses") {
		return Request{}, nil
	}
	var in struct {
		Tools []responsesTool
		Input []struct {
			Type   string
			Output parts
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("reading a Responses request: %w", err)
	}
	out := Request{Turn: len(in.Tools) > 0}
	for _, t := range in.Tools {
		if t.Type != "namespace" {
			out.Tools = append(out.Tools, Tool{Name: t.Name, Schema: t.Parameters})
		}
		for _, inner := range t.Tools {
			out.Tools = append(out.Tools, Tool{Space: t.Name, Name: inner.Name, Schema: inner.Parameters})
		}
	}
	for _, item := range in.Input {
		if item.Type == "function_call_output" {
			out.Results = append(out.Results, item.Output.result())
		}
	}
	return out, nil
}

func (responses) write(w *stream, n int, c *Call) {
	id := fmt.Sprintf("resp_%d", n)
	w.send("response.created", object{"type": "response.created", "response": object{"id": id}})
	item := object{"type": "message", "id": fmt.Sprintf("msg_%d", n), "role": "assistant", "content": []any{object{"type": "output_text", "text": "done"}}}
	if c != nil {
		item = object{"type": "function_call", "call_id": fmt.Sprintf("call_%d", n), "name": c.Name, "arguments": string(c.Args)}
		if c.Space != "" {
			item["namespace"] = c.Space
		}
	}
	w.send("response.output_item.done", object{"type": "response.output_item.done", "item": item})
	w.send("response.completed", object{"type": "response.completed", "response": object{"id": id, "usage": object{
		"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2}}})
}

func (r responses) idle(w http.ResponseWriter, path string, _ []byte) {
	if strings.HasSuffix(path, "/responses") {
		w.Header().Set("Content-Type", "text/event-stream")
		r.write(&stream{w}, 0, nil)
		return
	}
	writeJSON(w, object{"data": []any{}, "models": []any{}})
}

// chat is OpenAI's Chat Completions form, which opencode speaks with a
// provider that is compatible with it.
type chat struct{}

func (chat) read(path string, body []byte) (Request, error) {
	if !strings.HasSuffix(path, "/chat/completions") {
		return Request{}, nil
	}
	var in struct {
		Tools []struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
		Messages []struct {
			Role    string
			Content parts
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("reading a Chat request: %w", err)
	}
	out := Request{Turn: len(in.Tools) > 0}
	for _, t := range in.Tools {
		out.Tools = append(out.Tools, Tool{Name: t.Function.Name, Schema: t.Function.Parameters})
	}
	for _, m := range in.Messages {
		r := m.Content.result()
		switch n := len(out.Results); {
		case m.Role == "tool":
			out.Results = append(out.Results, r)
		case m.Role == "user" && n > 0:
			// The form has no pictures in results; they come in a message of
			// the user's after it.
			out.Results[n-1].Images = append(out.Results[n-1].Images, r.Images...)
		}
	}
	return out, nil
}

func (chat) write(w *stream, n int, c *Call) {
	chunk := func(delta object, finish any) {
		w.send("", object{"id": fmt.Sprintf("chat_%d", n), "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	if c != nil {
		chunk(object{"role": "assistant", "tool_calls": []any{object{"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
			"function": object{"name": c.Name, "arguments": string(c.Args)}}}}, nil)
		chunk(object{}, "tool_calls")
	} else {
		chunk(object{"role": "assistant", "content": "done"}, nil)
		chunk(object{}, "stop")
	}
	_, _ = io.WriteString(w.w, "data: [DONE]\n\n") // a client that has gone needs no end
}

func (c chat) idle(w http.ResponseWriter, path string, _ []byte) {
	if strings.HasSuffix(path, "/chat/completions") {
		w.Header().Set("Content-Type", "text/event-stream")
		c.write(&stream{w}, 0, nil)
		return
	}
	writeJSON(w, object{"data": []any{}})
}
