package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// BenchmarkStdioRead is a read over the wire, from the line of the request to
// the line of the answer, in a session that keeps its results and events.
func BenchmarkStdioRead(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
		for _, open := range []int{1, 16} {
			b.Run(fmt.Sprintf("%d_KiB/%d_in_flight", size>>10, open), func(b *testing.B) { benchmarkStdioRead(b, size, open) })
		}
	}
}

func benchmarkStdioRead(b *testing.B, size, open int) {
	line := strings.Repeat("0123456789abcde ", 4)[:63] + "\n"
	b.SetBytes(int64(size))
	benchmarkStdio(b, strings.Repeat(line, size/64), open, func(int) string {
		return `"read_file","arguments":{"path":"a.txt"}`
	})
}

// BenchmarkStdioEdit changes one line of 400 there and back, kept and
// recorded.
func BenchmarkStdioEdit(b *testing.B) {
	text := strings.Repeat("a line of a file\n", 200) + "MARK-0\n" + strings.Repeat("a line of a file\n", 200)
	benchmarkStdio(b, text, 1, func(i int) string {
		return fmt.Sprintf(`"edit_file","arguments":{"path":"a.txt","old_string":"MARK-%d","new_string":"MARK-%d"}`, i%2, (i+1)%2)
	})
}

// benchmarkStdio makes calls on a.txt with that text, and has as many of
// them open at once as said.
func benchmarkStdio(b *testing.B, text string, open int, call func(i int) string) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	c := benchClient(b, handrail.Options{
		Workspace: dir, StateDir: b.TempDir(), Guard: handrail.GuardAdvise,
		Permission: handrail.Permission{Mode: handrail.WorkspaceWrite},
	})
	defer c.leave(b)

	b.ReportAllocs()
	turns := make(chan struct{}, open)
	asked := make(chan struct{})
	b.ResetTimer()
	go func() {
		defer close(asked)
		for i := range b.N {
			turns <- struct{}{}
			c.ask(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s}}`, i, call(i)))
		}
	}()
	for range b.N {
		c.hear(b)
		<-turns
	}
	b.StopTimer()
	<-asked
}

// benchPeer is a client over stdio that does nothing but ask and hear.
type benchPeer struct {
	session  *handrail.Session
	toServer *io.PipeWriter
	replies  *bufio.Reader
	ended    chan error
}

// benchClient opens a session and a client of it.
func benchClient(b *testing.B, o handrail.Options) *benchPeer {
	session, err := handrail.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	server, err := New(session, Options{Version: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &benchPeer{session, toServer, bufio.NewReaderSize(fromServer, maxLine), make(chan error, 1)}
	go func() { c.ended <- server.ServeStdio(context.Background(), in, out) }()
	c.ask(b, openBody)
	c.hear(b)
	c.ask(b, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *benchPeer) ask(b *testing.B, text string) {
	if _, err := io.WriteString(c.toServer, text+"\n"); err != nil {
		b.Error(err)
	}
}

// hear takes in an answer, which must be no refusal.
func (c *benchPeer) hear(b *testing.B) {
	reply, err := c.replies.ReadSlice('\n')
	if err != nil || strings.Contains(string(reply[:min(len(reply), 60)]), `"error"`) || strings.Contains(string(reply), `"isError"`) {
		b.Fatalf("%.200s, %v", reply, err)
	}
}

// leave closes the client's side and waits for the end of the server's.
func (c *benchPeer) leave(b *testing.B) {
	_ = c.toServer.Close()
	go func() { _, _ = io.Copy(io.Discard, c.replies) }()
	if err := <-c.ended; err != nil {
		b.Error(err)
	}
	if err := c.session.Close(); err != nil {
		b.Error(err)
	}
}

// BenchmarkHTTPResult is a call in a session over HTTP whose tool does
// nothing but answer with that much text.
func BenchmarkHTTPResult(b *testing.B) {
	for _, size := range []int{100, 8 << 10, 48 << 10} {
		b.Run(fmt.Sprintf("%d_bytes", size), func(b *testing.B) {
			text := strings.Repeat("0123456789abcde\n", size/16+1)[:size]
			big := tool.Func("big", "Answers at length.", tool.Pure, func(context.Context, struct{}) (string, error) { return text, nil })
			h, err := NewHTTP(b.Context(), HTTPOptions{Rate: 1e9, Open: SessionPeers(func(ctx context.Context) (*handrail.Session, error) {
				return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Tools: []tool.Tool{big}, Guard: handrail.GuardOff})
			}, Options{Version: "bench"})})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = h.Close() }()
			s := httptest.NewServer(h)
			defer s.Close()
			f := face{h, s.URL + Path}
			id := f.open(b)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, f.url, strings.NewReader(toolCall(1, "big")))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				r.Header.Set(sessionHeader, id)
				reply, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				n, _ := io.Copy(io.Discard, reply.Body)
				_ = reply.Body.Close()
				if int(n) < size || reply.StatusCode != http.StatusOK {
					b.Fatal(reply.Status, n)
				}
			}
			b.StopTimer()
			h.endStreams()
		})
	}
}
