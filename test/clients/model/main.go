// Command model is a scripted stand-in for a model provider, for checking
// real MCP clients without a network. It speaks the Anthropic Messages wire
// form: the first turn asks for one tool call, and once a tool result is in
// the conversation the next turn ends it.
//
//	model -addr 127.0.0.1:0 -tool mcp__handrail__read_file -args '{"path":"a"}' -log requests.jsonl
//
// It prints the address that it listens on and stops when its input ends.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	name := flag.String("tool", "", "the tool that the first turn calls")
	args := flag.String("args", "{}", "its arguments")
	log := flag.String("log", "", "file that receives each request body as a line")
	flag.Parse()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	m := &model{tool: *name, args: *args, log: *log}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Fprintln(os.Stderr, http.Serve(listener, m))
}

type model struct {
	tool, args, log string
	mu              sync.Mutex
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.URL.Path != "/v1/messages" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
		return
	}
	m.note(body)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, v any) {
		data, _ := json.Marshal(v) // plain maps always marshal
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	type object = map[string]any
	offered := bytes.Contains(body, []byte(`"name":"`+m.tool+`"`))
	answered := bytes.Contains(body, []byte(`"tool_result"`))
	send("message_start", object{"type": "message_start", "message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": []any{},
		"usage": object{"input_tokens": 1, "output_tokens": 1}}})
	stop := "end_turn"
	if offered && !answered {
		stop = "tool_use"
		send("content_block_start", object{"type": "content_block_start", "index": 0,
			"content_block": object{"type": "tool_use", "id": "toolu_1", "name": m.tool, "input": object{}}})
		send("content_block_delta", object{"type": "content_block_delta", "index": 0,
			"delta": object{"type": "input_json_delta", "partial_json": m.args}})
	} else {
		send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}})
		send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": "done"}})
	}
	send("content_block_stop", object{"type": "content_block_stop", "index": 0})
	send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 1}})
	send("message_stop", object{"type": "message_stop"})
}

// note appends a request body to the log.
func (m *model) note(body []byte) {
	if m.log == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer f.Close()
	var line bytes.Buffer
	if json.Compact(&line, body) == nil {
		line.WriteByte('\n')
		_, _ = f.Write(line.Bytes())
	}
}
