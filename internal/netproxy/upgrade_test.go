package netproxy

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestUpgrade holds that a plain request does not become a connection that
// nobody bounds and that Close does not know: a CONNECT tunnel is for that.
func TestUpgrade(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	asked := make(chan string, 1)
	go func() {
		c, err := far.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = c.Close() })
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		asked <- r.Header.Get("Upgrade")
		fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n")
	}()
	p, addr := start(t, Config{Allow: []string{"example.com"}}, far.Addr().String())
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	fmt.Fprint(c, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "" || resp.StatusCode != http.StatusBadGateway {
		t.Errorf("the host was asked for %q, the command got %s", got, resp.Status)
	}
	closed := make(chan struct{})
	go func() { _ = p.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Error("Close waits for a connection that it does not end")
		_ = c.Close() // so that the test ends
	}
}
