package mcp

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A client of a session loses its connection, or ends its session, while a
// person is asked: the question ends and nothing runs.
func TestClientThatIsGoneEndsItsQuestion(t *testing.T) {
	var d danger
	h, err := NewHTTP(t.Context(), HTTPOptions{Open: SessionPeers(dangerous(&d), Options{Version: "test"})})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	f := face{h, s.URL + Path}
	t.Cleanup(func() {
		s.CloseClientConnections()
		h.endStreams()
		s.Close()
		if err := h.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	for _, how := range []string{"connection", "session"} {
		a := f.post(t, strings.Replace(openBody, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
		id := a.header.Get(sessionHeader)
		f.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, sessionHeader, id)
		ctx, vanish := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url,
			strings.NewReader(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger","arguments":{"path":"x"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", sessionHeader: id} {
			r.Header.Set(k, v)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		for scan := bufio.NewScanner(resp.Body); scan.Scan() && !strings.Contains(scan.Text(), "elicitation/create"); {
			continue
		}
		if how == "connection" {
			vanish()
		} else {
			f.send(t.Context(), t, http.MethodDelete, "", sessionHeader, id)
		}
		select {
		case code := <-d.finished:
			t.Logf("%s: %s", how, code)
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the question stayed open", how)
		}
		vanish()
		_ = resp.Body.Close()
	}
	if d.total() != 0 {
		t.Errorf("ran %d", d.total())
	}
}
