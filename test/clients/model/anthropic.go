package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// anthropic is the Messages form, which Claude Code speaks.
type anthropic struct{}

func (anthropic) read(path string, body []byte) (Request, error) {
	if path != "/v1/messages" {
		return Request{}, nil
	}
	var in struct {
		Stream bool
		Tools  []struct {
			Name   string
			Schema json.RawMessage `json:"input_schema"`
		}
		Messages []struct{ Content parts }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("reading a Messages request: %w", err)
	}
	out := Request{Turn: in.Stream && len(in.Tools) > 0}
	for _, t := range in.Tools {
		out.Tools = append(out.Tools, Tool{Name: t.Name, Schema: t.Schema})
	}
	for _, m := range in.Messages {
		for _, p := range m.Content {
			if p.Type == "tool_result" {
				r := p.Content.result()
				r.Failed = p.Failed
				out.Results = append(out.Results, r)
			}
		}
	}
	return out, nil
}

func (anthropic) write(w *stream, n int, c *Call) {
	w.send("message_start", object{"type": "message_start", "message": object{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": "scripted", "content": []any{},
		"usage": object{"input_tokens": 1, "output_tokens": 1}}})
	stop := "end_turn"
	if c != nil {
		stop = "tool_use"
		w.send("content_block_start", object{"type": "content_block_start", "index": 0,
			"content_block": object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": c.Name, "input": object{}}})
		w.send("content_block_delta", object{"type": "content_block_delta", "index": 0,
			"delta": object{"type": "input_json_delta", "partial_json": string(c.Args)}})
	} else {
		w.send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}})
		w.send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": "done"}})
	}
	w.send("content_block_stop", object{"type": "content_block_stop", "index": 0})
	w.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 1}})
	w.send("message_stop", object{"type": "message_stop"})
}

// idle answers a title, a count of tokens, or a look whether somebody is
// there.
func (a anthropic) idle(w http.ResponseWriter, path string, body []byte) {
	var in struct{ Stream bool }
	_ = json.Unmarshal(body, &in) // an empty body streams nothing
	switch {
	case path != "/v1/messages" && strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, object{"input_tokens": 1})
	case path != "/v1/messages":
		writeJSON(w, object{})
	case in.Stream:
		w.Header().Set("Content-Type", "text/event-stream")
		a.write(&stream{w}, 0, nil)
	default:
		writeJSON(w, object{"id": "msg_idle", "type": "message", "role": "assistant", "model": "scripted", "stop_reason": "end_turn",
			"content": []any{object{"type": "text", "text": "done"}}, "usage": object{"input_tokens": 1, "output_tokens": 1}})
	}
}
