package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// gemini is the form of streamGenerateContent, which gemini-cli speaks.
type gemini struct{}

// geminiPart is one part of a content.
type geminiPart struct {
	Text   string
	Inline *struct {
		MIME string `json:"mimeType"`
		Data string
	} `json:"inlineData"`
	Response *struct {
		Name     string
		Response map[string]any
		Parts    []geminiPart
	} `json:"functionResponse"`
}

func (p geminiPart) images() []Image {
	if p.Inline == nil {
		return nil
	}
	return []Image{{p.Inline.MIME, len(p.Inline.Data)}}
}

func (gemini) read(path string, body []byte) (Request, error) {
	if !strings.HasSuffix(path, ":streamGenerateContent") {
		return Request{}, nil
	}
	var in struct {
		Tools []struct {
			Functions []struct {
				Name       string
				JSONSchema json.RawMessage `json:"parametersJsonSchema"`
				Parameters json.RawMessage
			} `json:"functionDeclarations"`
		}
		Contents []struct{ Parts []geminiPart }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("reading a Gemini request: %w", err)
	}
	var out Request
	for _, group := range in.Tools {
		for _, f := range group.Functions {
			out.Tools = append(out.Tools, Tool{Name: f.Name, Schema: append(f.JSONSchema, f.Parameters...)})
		}
	}
	out.Turn = len(out.Tools) > 0
	for _, c := range in.Contents {
		answered := false
		for _, p := range c.Parts {
			if p.Response != nil {
				answered = true
				out.Results = append(out.Results, p.result())
			} else if answered {
				last := &out.Results[len(out.Results)-1]
				last.Images = append(last.Images, p.images()...)
			}
		}
	}
	return out, nil
}

// result is the answer that a part holds: an object with output or error.
func (p geminiPart) result() Result {
	var r Result
	for _, key := range []string{"output", "error"} {
		switch v := p.Response.Response[key].(type) {
		case nil:
		case string:
			r.Text += v
			r.Failed = r.Failed || key == "error"
		default:
			text, _ := json.Marshal(v) // it came from JSON
			r.Text += string(text)
			r.Failed = r.Failed || key == "error"
		}
	}
	for _, inner := range p.Response.Parts {
		r.Images = append(r.Images, inner.images()...)
	}
	return r
}

func (gemini) write(w *stream, n int, c *Call) { w.send("", geminiAnswer(n, c)) }

func geminiAnswer(n int, c *Call) object {
	part := object{"text": "done"}
	if c != nil {
		part = object{"functionCall": object{"id": fmt.Sprintf("call_%d", n), "name": c.Name, "args": c.Args}}
	}
	return object{
		"candidates":    []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{part}}}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
}

func (g gemini) idle(w http.ResponseWriter, path string, _ []byte) {
	switch {
	case strings.HasSuffix(path, ":streamGenerateContent"):
		w.Header().Set("Content-Type", "text/event-stream")
		g.write(&stream{w}, 0, nil)
	case strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, object{"totalTokens": 1})
	default:
		writeJSON(w, geminiAnswer(0, nil))
	}
}
