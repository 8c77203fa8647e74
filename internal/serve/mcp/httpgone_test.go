package mcp

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A client of a session loses its connection, or ends its session, while a
// person is asked: the question ends and nothing runs.
func TestClientThatIsGoneEndsItsQuestion(t *testing.T) {
	var d danger
	f, _ := faceOf(t, dangerous(&d))
	for _, how := range []string{"connection", "session"} {
		id, stream, vanish := f.asked(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger","arguments":{"path":"x"}}}`)
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
		_ = stream.Close()
	}
	if d.total() != 0 {
		t.Errorf("ran %d", d.total())
	}
}

// asked opens a session whose client fills in forms, sends a request that it
// is asked about, and returns when the question has come. vanish breaks the
// request off.
func (f face) asked(t *testing.T, body string) (session string, stream io.Closer, vanish func()) {
	t.Helper()
	session = f.post(t, strings.Replace(openBody, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)).header.Get(sessionHeader)
	f.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, sessionHeader, session)
	ctx, vanish := context.WithCancel(t.Context())
	resp := f.begin(ctx, t, body, session)
	for scan := bufio.NewScanner(resp.Body); scan.Scan() && !strings.Contains(scan.Text(), "elicitation/create"); {
		continue
	}
	return session, resp.Body, vanish
}

// begin sends a request in a session and returns its answer as it comes.
func (f face) begin(ctx context.Context, t *testing.T, body, session string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", sessionHeader: session} {
		r.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
