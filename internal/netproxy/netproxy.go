// Package netproxy is the one door to the network that a fence may have: an
// HTTP proxy (CONNECT and plain requests) that decides about each host by a list
// and, where the list is silent, by asking.
//
// A name is resolved once, by the proxy; every address of the answer must be a
// public one, and the connection goes to an address that was checked, so that a
// second answer of the name server cannot lead inside. What goes through a
// CONNECT tunnel is not looked at: a host that serves many names, such as a
// content network, is allowed or refused as a whole.
package netproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Bounds of a proxy. A session's commands share them.
const (
	maxConns      = 256              // connections at once; the next ones wait
	maxHeader     = 64 << 10         // bytes of a request's header
	headerTimeout = 10 * time.Second // for a client to say what it wants
	dialTimeout   = 20 * time.Second // for resolving and connecting
	idleTimeout   = 5 * time.Minute  // without a byte in either direction
	maxRefusals   = 100              // that are remembered
	maxAnswers    = 1000             // of a person, that are remembered
)

// Config says what a proxy lets through. The zero Config lets nothing.
type Config struct {
	// Allow and Deny are lists of hosts: "example.com", "*.example.com" (every name
	// below it, not itself), "*" (every public host), an address, each with
	// ":port" or without, which means ports 80 and 443. Deny wins. Only an address
	// that stands in Allow itself may be a private one; those of cloud metadata
	// services are refused always.
	Allow, Deny []string
	// Approve is asked about a host that neither list decides; nil refuses it. Its
	// answer holds for that host and port as long as the proxy lives. It is asked
	// once at a time for each of them, and ctx ends when nobody waits any more. An
	// error refuses and is not remembered.
	Approve func(ctx context.Context, t Target) (bool, error)
	// Resolve looks a name up; nil is the machine's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address that was checked; nil is the machine's network.
	Dial func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
}

// Target is what a command wants to reach.
type Target struct {
	// Host is a name in lower case without a final dot, or an address.
	Host string
	Port uint16
}

// String returns host:port.
func (t Target) String() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }

// Refusal is a target that was not let through.
type Refusal struct {
	Target
	// Reason says why, in words for a person.
	Reason string
	// Askable says that a person could allow it; a rule or the kind of address
	// decided otherwise.
	Askable bool
	Time    time.Time
}

// Proxy decides and forwards. It is safe for use by several goroutines, and
// may serve several listeners.
type Proxy struct {
	allow, deny []rule
	config      Config
	slots       chan struct{} // one for each open connection
	server      *http.Server
	forward     *httputil.ReverseProxy
	transport   *http.Transport

	mu       sync.Mutex
	closed   bool
	tunnels  map[net.Conn]struct{}
	answers  map[Target]bool
	asking   map[Target]*question
	refusals []Refusal
	work     sync.WaitGroup
}

// New returns a proxy, or an error that names every bad entry of its lists.
func New(c Config) (*Proxy, error) {
	allow, err := parseRules("allow", c.Allow)
	deny, err2 := parseRules("deny", c.Deny)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	if c.Resolve == nil {
		c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.Dial == nil {
		var d net.Dialer
		c.Dial = func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
			return d.DialContext(ctx, "tcp", addr.String())
		}
	}
	p := &Proxy{
		allow: allow, deny: deny, config: c,
		slots:   make(chan struct{}, maxConns),
		tunnels: map[net.Conn]struct{}{}, answers: map[Target]bool{}, asking: map[Target]*question{},
	}
	p.transport = &http.Transport{
		DialContext:           p.dialAddress,
		MaxIdleConns:          16,
		IdleConnTimeout:       30 * time.Second,
		ResponseHeaderTimeout: idleTimeout,
		DisableCompression:    true,
		// Proxy stays nil: the machine's own proxy would resolve names again.
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.Out.URL.Host
			// What is upgraded would be a tunnel without the bounds of ours, and a
			// host that upgrades without being asked is answered with an error.
			r.Out.Header.Del("Connection")
			r.Out.Header.Del("Upgrade")
		},
		Transport:    p.transport,
		ErrorHandler: p.forwardFailed,
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serveHTTP), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader}
	return p, nil
}

// Serve answers at l until l or the proxy is closed, and returns why it ended.
func (p *Proxy) Serve(l net.Listener) error {
	return p.server.Serve(&bounded{Listener: l, slots: p.slots})
}

// Close ends every connection. It returns when none is left; questions that
// were asked are given up.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	for c := range p.tunnels {
		_ = c.Close() // its copying ends with it
	}
	p.mu.Unlock()
	err := p.server.Close()
	p.transport.CloseIdleConnections()
	p.work.Wait()
	return err
}

// Refusals returns what was refused at or after since, oldest first. The
// proxy remembers the last hundred.
func (p *Proxy) Refusals(since time.Time) []Refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.refusals, func(r Refusal) bool { return !r.Time.Before(since) })
	if i < 0 {
		return nil
	}
	return slices.Clone(p.refusals[i:])
}

// serveHTTP answers one request of a command.
func (p *Proxy) serveHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		http.Error(w, "The proxy is closed.", http.StatusServiceUnavailable)
		return
	}
	p.work.Add(1)
	p.mu.Unlock()
	defer p.work.Done()
	hostPort, scheme := r.Host, "https"
	if r.Method != http.MethodConnect {
		if r.URL.Scheme != "http" || r.URL.Host == "" {
			http.Error(w, "This is a proxy for CONNECT and for http URLs; it serves nothing itself.", http.StatusBadRequest)
			return
		}
		hostPort, scheme = r.URL.Host, "http"
	}
	t, err := parseTarget(hostPort, scheme)
	if err != nil {
		http.Error(w, "The target cannot be understood: "+err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	addrs, refusal := p.decide(ctx, t)
	if refusal != nil {
		p.refuse(w, *refusal)
		return
	}
	if r.Method == http.MethodConnect {
		p.tunnel(ctx, w, addrs)
		return
	}
	r = r.WithContext(context.WithValue(ctx, addressesKey{}, addrs))
	r.URL.Host = t.String()
	p.forward.ServeHTTP(w, r)
}

// addressesKey is under which a request carries the addresses that were checked.
type addressesKey struct{}

// dialAddress connects for the transport, which does not choose the address.
func (p *Proxy) dialAddress(ctx context.Context, _, _ string) (net.Conn, error) {
	addrs, ok := ctx.Value(addressesKey{}).([]netip.AddrPort)
	if !ok {
		return nil, errors.New("a request without checked addresses")
	}
	return p.dial(ctx, addrs)
}

// dial connects to the first address that answers.
func (p *Proxy) dial(ctx context.Context, addrs []netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var bad []error
	for _, a := range addrs {
		c, err := p.config.Dial(ctx, a)
		if err == nil {
			return c, nil
		}
		bad = append(bad, err)
	}
	return nil, errors.Join(bad...)
}

// refuse tells the command, and remembers for whoever reads its output.
func (p *Proxy) refuse(w http.ResponseWriter, r Refusal) {
	r.Time = time.Now()
	p.mu.Lock()
	if len(p.refusals) >= maxRefusals {
		p.refusals = append(p.refusals[:0], p.refusals[1:]...)
	}
	p.refusals = append(p.refusals, r)
	p.mu.Unlock()
	w.Header().Set("X-Handrail-Refused", r.Target.String())
	http.Error(w, fmt.Sprintf("The fence around this command does not let it reach %s: %s.", r.Target, r.Reason), http.StatusForbidden)
}

func (p *Proxy) forwardFailed(w http.ResponseWriter, _ *http.Request, err error) {
	http.Error(w, "The host was allowed but could not be reached: "+err.Error(), http.StatusBadGateway)
}
