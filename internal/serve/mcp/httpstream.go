package mcp

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// beat is how long a stream may be silent before a comment shows that it
	// lives. Proxies and clients give up after 30 s at the earliest.
	beat = 15 * time.Second
	// writeTime is how long one write may take. A client that reads slower
	// than that is given up.
	writeTime = 30 * time.Second
)

// stream is a response that does not wait for ever for its reader, and that
// stays visibly alive where it is a stream of events. Each write is one
// event, so a comment never falls into the middle of one.
type stream struct {
	http.ResponseWriter
	// begun, unless nil, is called once, before the first byte goes out.
	begun func(http.Header)
	// lifted is what belongs into the bytes that are written.
	lifted *lifted

	mu     sync.Mutex
	began  bool
	closed bool
	timer  *time.Timer // nil where the response is no stream of events
}

func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	s.ResponseWriter.WriteHeader(status)
}

// begin looks at the headers before they go out. s.mu is held.
func (s *stream) begin() {
	if s.began {
		return
	}
	s.began = true
	if s.begun != nil {
		s.begun(s.Header())
	}
	if strings.HasPrefix(s.Header().Get("Content-Type"), "text/event-stream") {
		s.Header().Set("X-Accel-Buffering", "no")
		s.timer = time.AfterFunc(beat, s.comment)
	}
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	if s.lifted == nil {
		return s.write(p)
	}
	if _, err := s.write(s.lifted.restore(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *stream) write(p []byte) (int, error) {
	// A writer without a connection has no deadline and needs none.
	_ = http.NewResponseController(s.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTime))
	n, err := s.ResponseWriter.Write(p)
	if s.timer != nil {
		s.timer.Reset(beat)
	}
	return n, err
}

// FlushError sends what was written.
func (s *stream) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// comment shows a silent stream's reader that it lives.
func (s *stream) comment() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if _, err := s.write([]byte(": alive\n\n")); err != nil {
		return // the request ends by itself when the reader has gone
	}
	_ = http.NewResponseController(s.ResponseWriter).Flush()
}

// end stops the comments. Nothing is written after it.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
}
