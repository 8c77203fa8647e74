// Package model is a scripted stand-in for the model providers that agents
// speak with, for checking real MCP clients without a network. It knows four
// wire forms; what it says in them comes from a script, and what the client
// showed it is kept.
package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody is the largest request that is read, in bytes: the whole
// conversation with its images comes with every one.
const maxBody = 64 << 20

// Tool is a tool as a client offers it to its model.
type Tool struct {
	// Name is the name to call it by. Space is the namespace that it stands
	// in, where the wire form has such.
	Space, Name string
	// Schema is the schema of its arguments.
	Schema json.RawMessage
}

// Result is the answer to a call as it came to the model.
type Result struct {
	// Text is all text of it, and Images its pictures.
	Text   string
	Images []Image
	// Failed says that the wire form marks it as an error; not every one can.
	Failed bool
}

// Image is a picture that came to the model.
type Image struct {
	MIME  string
	Bytes int // as encoded
}

// Request is what a client showed its model: one request of a conversation.
type Request struct {
	Tools   []Tool
	Results []Result // of every call up to here, in order
	// Turn says that the request asks for a turn of the conversation; others
	// ask for a title, count tokens or look whether somebody is there.
	Turn bool
}

// Call asks the client to call a tool.
type Call struct {
	Space, Name string
	Args        json.RawMessage
}

// dialect is one wire form.
type dialect interface {
	// read takes a request apart.
	read(path string, body []byte) (Request, error)
	// write answers a turn: with the call, which is the n-th from 0, or, where
	// that is nil, with a last word.
	write(w *stream, n int, c *Call)
	// idle answers a request that is no turn.
	idle(w http.ResponseWriter, path string, body []byte)
}

// The wire forms by name.
var dialects = map[string]dialect{
	"anthropic": anthropic{}, // Messages
	"responses": responses{}, // OpenAI Responses
	"chat":      chat{},      // OpenAI Chat Completions
	"gemini":    gemini{},    // streamGenerateContent
}

// Script says what to call next, from what was shown so far. nil ends the
// conversation.
type Script func(Request) *Call

// Server is a model that listens on loopback. Its methods may be called by
// many at once.
type Server struct {
	dialect  dialect
	script   Script
	http     *http.Server
	listener net.Listener
	done     chan struct{}

	mu      sync.Mutex
	log     *os.File
	tools   []Tool
	results []Result
	calls   int
	trouble []string
}

// Start starts a model that speaks the named wire form and writes every
// request to a file. Close it.
func Start(form string, script Script, logFile string) (*Server, error) {
	d, ok := dialects[form]
	if !ok {
		return nil, fmt.Errorf("no wire form is named %q", form)
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		_ = log.Close()
		return nil, err
	}
	s := &Server{dialect: d, script: script, listener: listener, log: log, done: make(chan struct{})}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // ends with Close
	}()
	return s, nil
}

// Close ends the server and what it still answers.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.log.Close())
}

// URL is where the server is reached, without a path.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Seen is what a client has shown so far.
type Seen struct {
	// Tools are those that it offered last, and Results the first form in
	// which each result was shown: some clients shorten old ones later.
	Tools   []Tool
	Results []Result
	// Calls is how many calls the script has asked for.
	Calls int
	// Trouble are requests that could not be read.
	Trouble []string
}

// Seen returns what was shown so far.
func (s *Server) Seen() Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Seen{slices.Clone(s.tools), slices.Clone(s.results), s.calls, slices.Clone(s.trouble)}
}

// ServeHTTP answers one request of a client.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request, err := s.dialect.read(r.URL.Path, body)
	s.note(r, body, request, err)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !request.Turn {
		s.dialect.idle(w, r.URL.Path, body)
		return
	}
	call := s.script(request)
	if call != nil {
		s.mu.Lock()
		s.calls = max(s.calls, len(request.Results)+1)
		s.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s.dialect.write(&stream{w}, len(request.Results), call)
}

// note keeps what a request showed.
func (s *Server) note(r *http.Request, body []byte, request Request, err error) {
	line := &bytes.Buffer{}
	if json.Compact(line, body) != nil {
		line.Reset()
		line.WriteString("null")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.log, "{\"path\":%q,\"body\":%s}\n", r.URL.Path, line)
	if err != nil {
		s.trouble = append(s.trouble, fmt.Sprintf("%s: %v", r.URL.Path, err))
		return
	}
	if !request.Turn {
		return
	}
	s.tools = request.Tools
	if n := len(s.results); len(request.Results) > n {
		s.results = append(s.results, request.Results[n:]...)
	}
}

// object is a JSON object to be written.
type object = map[string]any

// stream writes server-sent events.
type stream struct{ w io.Writer }

// send writes one event; without a kind it has data only.
func (s *stream) send(kind string, v any) {
	data, _ := json.Marshal(v) // maps of plain values can be encoded
	if kind != "" {
		fmt.Fprintf(s.w, "event: %s\n", kind)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", data)
}

// writeJSON answers with a JSON value.
func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that has gone needs no answer
}

// parts is content that may be one text or a list.
type parts []part

// part is one part of a content, in the spelling of any wire form.
type part struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content parts           `json:"content"`
	ID      string          `json:"tool_use_id"`
	Failed  bool            `json:"is_error"`
	URL     json.RawMessage `json:"image_url"`
	Source  struct {
		MIME string `json:"media_type"`
		Data string `json:"data"`
	} `json:"source"`
}

// UnmarshalJSON reads a text as a list of one.
func (p *parts) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); {
	case bytes.Equal(data, []byte("null")):
		return nil
	case bytes.HasPrefix(data, []byte(`"`)):
		var text string
		err := json.Unmarshal(data, &text)
		*p = parts{{Type: "text", Text: text}}
		return err
	}
	return json.Unmarshal(data, (*[]part)(p))
}

// result gathers the texts and pictures of a content.
func (p parts) result() Result {
	var r Result
	var texts []string
	for _, one := range p {
		if image, ok := one.image(); ok {
			r.Images = append(r.Images, image)
		} else if one.Text != "" {
			texts = append(texts, one.Text)
		}
	}
	r.Text = strings.Join(texts, "\n")
	return r
}

// image is the picture of a part.
func (p part) image() (Image, bool) {
	if p.Source.Data != "" {
		return Image{p.Source.MIME, len(p.Source.Data)}, true
	}
	if p.URL == nil {
		return Image{}, false
	}
	var url string
	if json.Unmarshal(p.URL, &url) != nil {
		var nested struct{ URL string }
		_ = json.Unmarshal(p.URL, &nested) // what is neither has no url
		url = nested.URL
	}
	kind, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	return Image{kind, len(data)}, ok
}
