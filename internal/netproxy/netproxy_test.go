package netproxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var public = netip.MustParseAddr("93.184.215.14")

// start serves a proxy whose names all lead to addr and whose connections go
// to far, wherever they were meant to go.
func start(t *testing.T, c Config, far string) (*Proxy, string) {
	t.Helper()
	if c.Resolve == nil {
		c.Resolve = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{public}, nil }
	}
	if c.Dial == nil {
		c.Dial = func(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
			if a.Addr() != public && !a.Addr().IsLoopback() {
				return nil, fmt.Errorf("dialed %v", a)
			}
			var d net.Dialer
			return d.DialContext(ctx, "tcp", far)
		}
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.Serve(l)
	}()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		<-done
	})
	return p, l.Addr().String()
}

func web(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %q", r.Host, r.URL.Path, r.Header.Get("X-Forwarded-For"))
	}))
	t.Cleanup(s.Close)
	return s
}

// connect asks for a tunnel and returns the status and the connection.
func connect(t *testing.T, proxy, target string) (int, net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, c, r
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		name        string
		allow, deny string
		target      string
		want        int
	}{
		{"exact", "example.com", "", "example.com:443", 200},
		{"letter case and final dot", "Example.COM.", "", "EXAMPLE.com.:443", 200},
		{"other port", "example.com", "", "example.com:22", 403},
		{"port named", "example.com:22", "", "example.com:22", 200},
		{"named port only", "example.com:22", "", "example.com:443", 403},
		{"not below", "example.com", "", "a.example.com:443", 403},
		{"below", "*.example.com", "", "a.b.example.com:443", 200},
		{"below is not itself", "*.example.com", "", "example.com:443", 403},
		{"a suffix is not below", "*.example.com", "", "evilexample.com:443", 403},
		{"a prefix is not the host", "example.com", "", "example.com.evil.org:443", 403},
		{"everything public", "*", "", "anything.org:443", 200},
		{"deny wins", "*", "*.evil.org", "a.evil.org:443", 403},
		{"deny is for every port", "* a.evil.org:8443", "a.evil.org", "a.evil.org:8443", 403},
		{"deny an address that a name leads to", "*", "93.184.215.14", "anything.org:443", 403},
		{"L77 an empty list allows nothing", "", "", "example.com:443", 403},
		{"user info", "example.com", "", "example.com@evil.org:443", 400},
		{"slash", "example.com", "", "example.com/x:443", 400},
		{"space", "example.com", "", "example.com%20:443", 400},
		{"other alphabet", "*", "", "exаmple.com:443", 400},
		{"port 0", "*", "", "example.com:0", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, addr := start(t, Config{Allow: strings.Fields(c.allow), Deny: strings.Fields(c.deny)}, web(t).Listener.Addr().String())
			if got, _, _ := connect(t, addr, c.target); got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
		})
	}
	_, err := New(Config{Allow: []string{"a b", "exa*mple.com", "h:99999", "ok.org"}, Deny: []string{""}})
	for _, bad := range []string{`"a b"`, `"exa*mple.com"`, `"h:99999"`, `""`} {
		if err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("New does not name %s: %v", bad, err)
		}
	}
}

// TestInnerAddresses holds every spelling of an address that is not public.
func TestInnerAddresses(t *testing.T) {
	_, addr := start(t, Config{Allow: []string{"*", "127.0.0.1:5432", "169.254.169.254"}}, web(t).Listener.Addr().String())
	for _, target := range []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "169.254.1.1", "169.254.169.254", "100.100.100.200",
		"192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::127.0.0.1]", "[fe80::1]", "[fe80::1%25lo]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]",
		"[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2001::1]", "[2001:db8::1]", "[100::1]",
	} {
		if got, _, _ := connect(t, addr, target+":443"); got != http.StatusForbidden && got != http.StatusBadRequest {
			t.Errorf("%s: status %d", target, got)
		}
	}
	t.Run("F106 an allowed host and port of this machine", func(t *testing.T) {
		if got, _, _ := connect(t, addr, "127.0.0.1:5432"); got != http.StatusOK {
			t.Errorf("status %d", got)
		}
		t.Run("F105 in its other spelling, too", func(t *testing.T) {
			if got, _, _ := connect(t, addr, "[::ffff:127.0.0.1]:5432"); got != http.StatusOK {
				t.Errorf("status %d", got)
			}
		})
	})
}

// TestL75_NamesThatLeadInside: no answer is a refusal, one bad address among
// good ones too, and what was resolved is what is dialled.
func TestL75_NamesThatLeadInside(t *testing.T) {
	answers := [][]netip.Addr{
		{netip.MustParseAddr("127.0.0.1")},
		{public, netip.MustParseAddr("10.0.0.1")},
		{netip.MustParseAddr("::ffff:169.254.169.254")},
		{},
	}
	for _, a := range answers {
		_, addr := start(t, Config{Allow: []string{"*"}, Resolve: func(context.Context, string) ([]netip.Addr, error) { return a, nil }}, web(t).Listener.Addr().String())
		if got, _, _ := connect(t, addr, "rebind.org:443"); got != http.StatusForbidden {
			t.Errorf("%v: status %d", a, got)
		}
	}
	var asked atomic.Int32
	// The second answer would lead inside; there is no second question.
	p, addr := start(t, Config{Allow: []string{"*"}, Resolve: func(context.Context, string) ([]netip.Addr, error) {
		if asked.Add(1) > 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return []netip.Addr{public}, nil
	}}, web(t).Listener.Addr().String())
	if got, _, _ := connect(t, addr, "rebind.org:443"); got != http.StatusOK || asked.Load() != 1 {
		t.Errorf("status %d after %d questions", got, asked.Load())
	}
	if got, _, _ := connect(t, addr, "rebind.org:443"); got != http.StatusForbidden {
		t.Errorf("status %d", got)
	}
	if r := p.Refusals(time.Time{}); len(r) != 1 || r[0].Host != "rebind.org" || r[0].Askable {
		t.Errorf("Refusals = %+v", r)
	}
}

func TestPlainRequests(t *testing.T) {
	_, addr := start(t, Config{Allow: []string{"example.com"}}, web(t).Listener.Addr().String())
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: addr}), DisableKeepAlives: true}}
	get := func(target string) (int, string) {
		req, err := http.NewRequest(http.MethodGet, target, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body)
	}
	if code, body := get("http://example.com/path"); code != 200 || body != `example.com:80 /path ""` {
		t.Errorf("%d %s", code, body)
	}
	// The name in the header cannot be another than the one that was decided on.
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET http://example.com/path HTTP/1.1\r\nHost: evil.org\r\nConnection: close\r\n\r\n")
	if answer, _ := io.ReadAll(c); !strings.Contains(string(answer), "example.com:80 /path") || strings.Contains(string(answer), "evil") {
		t.Errorf("%s", answer)
	}
	if code, body := get("http://other.org/"); code != 403 || !strings.Contains(body, "other.org:80") {
		t.Errorf("%d %s", code, body)
	}
	resp, err := http.Get("http://" + addr + "/status")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("the proxy itself: %d", resp.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestAsking(t *testing.T) {
	var asked atomic.Int32
	release := make(chan struct{})
	_, addr := start(t, Config{Deny: []string{"never.org"}, Approve: func(ctx context.Context, target Target) (bool, error) {
		asked.Add(1)
		if target.Host == "error.org" {
			return true, errors.New("the terminal is gone")
		}
		<-release
		return target.Host == "yes.org", nil
	}}, web(t).Listener.Addr().String())
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if got, _, _ := connect(t, addr, "yes.org:443"); got != 200 {
				t.Errorf("yes: %d", got)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	close(release)
	all.Wait()
	for host, want := range map[string]int{"yes.org:443": 200, "no.org:443": 403, "never.org:443": 403, "error.org:443": 403, "10.0.0.1:443": 403} {
		if got, _, _ := connect(t, addr, host); got != want {
			t.Errorf("%s: %d", host, got)
		}
	}
	if got, _, _ := connect(t, addr, "no.org:443"); got != 403 {
		t.Errorf("no again: %d", got)
	}
	// Once for yes.org, no.org and error.org each; never for what is refused anyway.
	if asked.Load() != 3 {
		t.Errorf("asked %d times", asked.Load())
	}
	if got, _, _ := connect(t, addr, "yes.org:22"); got != 403 && got != 200 || asked.Load() != 4 {
		t.Errorf("another port is another question: %d", asked.Load())
	}
}

// TestNobodyWaits ends a question when its command is gone.
func TestNobodyWaits(t *testing.T) {
	given := make(chan struct{})
	_, addr := start(t, Config{Approve: func(ctx context.Context, _ Target) (bool, error) {
		<-ctx.Done()
		close(given)
		return false, ctx.Err()
	}}, "")
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\r\n\r\n")
	time.Sleep(50 * time.Millisecond)
	c.Close()
	select {
	case <-given:
	case <-time.After(5 * time.Second):
		t.Error("the question is still open")
	}
}

func TestTunnel(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	go func() {
		for {
			c, err := far.Accept()
			if err != nil {
				return
			}
			data, _ := io.ReadAll(c) // until the near side closes its half
			_, _ = c.Write([]byte(strings.ToUpper(string(data))))
			_ = c.Close()
		}
	}()
	_, addr := start(t, Config{Allow: []string{"a.org"}}, far.Addr().String())
	code, c, r := connect(t, addr, "a.org:443")
	if code != 200 {
		t.Fatal(code)
	}
	fmt.Fprint(c, "hello")
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "HELLO" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	// A tunnel that stays open ends with the proxy, or goleak finds it.
	if code, _, _ := connect(t, addr, "a.org:443"); code != 200 {
		t.Fatal(code)
	}
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"a.org:443", "[::1]:80", "::1", "a:b:c", "*.a.org", "%00", "127.1:80", "[fe80::1%25lo]:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := parseTarget(s, "https")
		if err == nil {
			again, err := parseTarget(target.String(), "https")
			if err != nil || again != target {
				t.Errorf("%q is %v, which is %v, %v", s, target, again, err)
			}
		}
		if r, err := parseRule(s); err == nil && !r.addr.IsValid() && strings.ContainsAny(r.host, " /@:*%") {
			t.Errorf("%q is the rule %+v", s, r)
		}
	})
}
