package mcp

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

func TestF150_SilentStreamShowsThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record := httptest.NewRecorder()
		s := &stream{ResponseWriter: record}
		s.Header().Set("Content-Type", "text/event-stream")
		if _, err := s.Write([]byte("data: 1\n\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*beat + time.Second)
		if _, err := s.Write([]byte("data: 2\n\n")); err != nil {
			t.Fatal(err)
		}
		s.end()
		time.Sleep(10 * beat)
		if got := record.Body.String(); got != "data: 1\n\n: alive\n\n: alive\n\ndata: 2\n\n" {
			t.Errorf("stream %q", got)
		}
		if record.Header().Get("X-Accel-Buffering") != "no" {
			t.Error("a proxy may hold the stream back")
		}
	})
}

func TestPlainAnswersStayWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record := httptest.NewRecorder()
		s := &stream{ResponseWriter: record}
		s.Header().Set("Content-Type", "application/json")
		if _, err := s.Write([]byte("{")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * beat)
		if _, err := s.Write([]byte("}")); err != nil {
			t.Fatal(err)
		}
		s.end()
		if got := record.Body.String(); got != "{}" {
			t.Errorf("answer %q", got)
		}
	})
}

// news opens a session's stream and returns its messages.
func (f face) news(t *testing.T, id string) (lines <-chan string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set(sessionHeader, id)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET: %d", resp.StatusCode)
	}
	out := make(chan string, 100)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(out)
		scan := bufio.NewScanner(resp.Body)
		for scan.Scan() {
			if line := scan.Text(); strings.HasPrefix(line, "data: ") {
				out <- line
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-ended; _ = resp.Body.Close() })
	return out
}

func TestF150_SecondStreamReplacesTheFirst(t *testing.T) {
	own := make(chan *sessionPeer, 2)
	f := serveTools(t, HTTPOptions{}, oneTool)
	open := f.o.Open
	f.o.Open = func(ctx context.Context) (Peer, error) {
		peer, err := open(ctx)
		if err == nil {
			own <- peer.(*sessionPeer)
		}
		return peer, err
	}
	id := f.open(t)
	first := f.news(t, id)
	second := f.news(t, id)
	select {
	case _, open := <-first:
		if open {
			t.Error("the first stream says something")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the first stream stays open")
	}
	// A change in another session is no news here; one in this session is.
	if err := f.sharedSession(t).Add(ok("pear", tool.Read)); err != nil {
		t.Fatal(err)
	}
	select {
	case line := <-second:
		t.Errorf("the second stream says %q", line)
	case <-time.After(100 * time.Millisecond):
	}
	if err := (<-own).session.Add(ok("pear", tool.Read)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-second:
	case <-time.After(5 * time.Second):
		t.Error("the second stream is silent")
	}
}

// sharedSession is the session of the clients that have none of their own.
func (f face) sharedSession(t *testing.T) *handrail.Session {
	t.Helper()
	return f.shared.(*sessionPeer).session
}

func TestSlowReaderIsGivenUp(t *testing.T) {
	deadlines := &deadlineWriter{ResponseRecorder: httptest.NewRecorder()}
	s := &stream{ResponseWriter: deadlines}
	before := time.Now()
	if _, err := s.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	s.end()
	if d := deadlines.at.Sub(before); d < writeTime-time.Second || d > writeTime+time.Second {
		t.Errorf("a write may take %v", d)
	}
}

type deadlineWriter struct {
	*httptest.ResponseRecorder
	at time.Time
}

func (d *deadlineWriter) SetWriteDeadline(at time.Time) error {
	d.at = at
	return nil
}

func TestModernClientHearsOfChanges(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body := `{"jsonrpc":"2.0","id":"listen","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + metaBody + `}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", versionHeader: modern, "Mcp-Method": "subscriptions/listen",
	} {
		r.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	scan := bufio.NewScanner(resp.Body)
	wait := func(word string) {
		t.Helper()
		for scan.Scan() {
			if strings.Contains(scan.Text(), word) {
				return
			}
		}
		t.Fatalf("the stream ends before %s: %v", word, scan.Err())
	}
	wait("acknowledged")
	if err := f.sharedSession(t).Add(ok("pear", tool.Read)); err != nil {
		t.Fatal(err)
	}
	wait("tools/list_changed")
	f.endStreams() // stopping ends the stream, too
	for scan.Scan() {
		continue
	}
}
