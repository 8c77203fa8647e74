package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the server is below its address.
const Path = "/mcp"

const (
	// DefaultSessions is how many clients may have a session at once.
	DefaultSessions = 256
	// DefaultIdle is how long a session lives that sends nothing.
	DefaultIdle = 30 * time.Minute
	// DefaultRate is how many requests a second one session may send, and
	// how many all clients without one may send together. The busiest client
	// that was measured sends 400.
	DefaultRate = 2000
	// DefaultGrace is how long calls may go on when the server is to stop.
	DefaultGrace = 10 * time.Second

	// maxHeld is how much of request bodies is held at once, in bytes.
	maxHeld = 64 << 20
	// maxHeader is how much of headers one request may have, in bytes.
	maxHeader = 32 << 10
	// bodyTime is how long a client may take to send a body, headerTime how
	// long for headers, and keepTime how long an unused connection is kept.
	bodyTime, headerTime, keepTime = 30 * time.Second, 10 * time.Second, 2 * time.Minute
	// cancelTime is how long a call that was told to stop may take to do so.
	cancelTime = 5 * time.Second
)

// Peer is what one client is served with.
type Peer interface {
	// SDK is the server that answers the client. No two clients that have
	// a session share one.
	SDK() *mcp.Server
	// Close lets go of the peer when its client has gone.
	Close() error
}

// HTTPOptions say who may speak to the server and how much each may take.
// The zero value, but for Open, serves this machine alone.
type HTTPOptions struct {
	// Open makes the peer of one client. It is called for each session, and
	// once for all clients of the stateless revision, which have none: a
	// request of theirs says nothing by which two of them could be told
	// apart.
	Open func(ctx context.Context) (Peer, error)
	// Token, unless "", must be sent with each request.
	Token string
	// Hosts are names for which the server answers, beside those of this
	// machine for itself and, where there is a Token, addresses.
	Hosts []string
	// Origins are pages that may speak to the server, as scheme://host:port,
	// beside those of this machine.
	Origins []string

	// Sessions, Idle, Rate and Grace: 0 means the default of that name.
	Sessions int
	Idle     time.Duration
	Rate     float64
	Grace    time.Duration
	// Logger receives protocol trouble. nil discards.
	Logger *slog.Logger
}

// HTTP serves many clients over streamable HTTP, of every revision, at one
// address: those of 2025-11-25 and before, which open a session, and those of
// 2026-07-28, which do not. It is safe for concurrent use.
type HTTP struct {
	o                   HTTPOptions
	stateful, stateless http.Handler
	shared              Peer // of the clients without a session
	blank               *mcp.Server

	rate  *bucket
	held  atomic.Int64 // bytes of bodies that are held
	calls *calls

	streams    context.Context // of the streams that wait for news
	endStreams context.CancelFunc

	mu       sync.Mutex
	sessions map[string]*session
	reserved int // sessions, those included that are being opened
	waiters  sync.WaitGroup
}

// NewHTTP returns a server. Close it.
func NewHTTP(ctx context.Context, o HTTPOptions) (*HTTP, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	orDefault(&o.Sessions, DefaultSessions)
	orDefault(&o.Idle, DefaultIdle)
	orDefault(&o.Rate, DefaultRate)
	orDefault(&o.Grace, DefaultGrace)
	shared, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	h := &HTTP{
		o: o, shared: shared, rate: newBucket(o.Rate), sessions: map[string]*session{},
		calls: &calls{open: map[int]*openCall{}},
		blank: mcp.NewServer(&mcp.Implementation{Name: "handrail"}, nil),
	}
	h.streams, h.endStreams = context.WithCancel(context.Background())
	shared.SDK().AddReceivingMiddleware(h.calls.track)
	h.stateful = mcp.NewStreamableHTTPHandler(h.peerOf, &mcp.StreamableHTTPOptions{
		Logger: o.Logger, SessionTimeout: o.Idle, MaxRequestBodyBytes: maxLine, DisableLocalhostProtection: true, // admit does more
	})
	h.stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return shared.SDK() }, &mcp.StreamableHTTPOptions{
		Logger: o.Logger, Stateless: true, MaxRequestBodyBytes: maxLine, DisableLocalhostProtection: true,
		PropagateRequestCancellation: true,
	})
	return h, nil
}

func orDefault[N int | float64 | time.Duration](n *N, value N) {
	if *n == 0 {
		*n = value
	}
}

// ServeHTTP answers one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if no := h.admit(r); no != nil {
		no.write(w, nil)
		return
	}
	out := &stream{ResponseWriter: w}
	defer out.end()
	if r.Method != http.MethodPost {
		h.serveOther(out, r)
		return
	}
	body, release, no := h.readBody(w, r)
	if no != nil {
		no.write(out, nil)
		return
	}
	defer release()
	seen, no := look(body)
	if no == nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		parts, end := h.calls.responses.begin(r)
		defer end()
		out.lifted = parts
		no = h.post(out, r, seen)
	}
	if no != nil {
		no.write(out, seen.id)
	}
}

// post passes a message to the handler of its revision, or says why not.
func (h *HTTP) post(w *stream, r *http.Request, seen glance) *refusal {
	if seen.modern(r.Header.Get(versionHeader)) {
		if no := allow(h.rate); no != nil {
			return no
		}
		h.serveModern(w, r, seen)
		return nil
	}
	id := r.Header.Get(sessionHeader)
	switch {
	case id != "":
		return h.postInSession(w, r, id, seen)
	case seen.method == initialize:
		return h.openSession(w, r)
	default:
		return refuse(http.StatusBadRequest, "this request names no session: send initialize first and its %s with every further request, or speak %s, which has no sessions", sessionHeader, modern)
	}
}

func (h *HTTP) serveModern(w *stream, r *http.Request, seen glance) {
	if seen.method == "subscriptions/listen" {
		ctx, stop := h.streamContext(r.Context())
		defer stop()
		r = r.WithContext(ctx)
	}
	plainName(r.Header)
	h.stateless.ServeHTTP(w, r)
}

// serveOther answers what is no POST: a session's stream of news, its end,
// or a method that is not there.
func (h *HTTP) serveOther(w *stream, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	switch {
	case r.Header.Get(versionHeader) >= modern:
		h.stateless.ServeHTTP(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodDelete:
		h.stateful.ServeHTTP(w, r)
	case id == "":
		refuse(http.StatusBadRequest, "%s needs the header %s", r.Method, sessionHeader).write(w, nil)
	default:
		s, no := h.session(id)
		switch {
		case no != nil:
			no.write(w, nil)
		case r.Method == http.MethodGet:
			h.listen(w, r, s)
		default:
			h.calls.cancelSession(id) // the end of a session waits for them
			h.stateful.ServeHTTP(w, r)
		}
	}
}

// streamContext ends with the request or when the server stops.
func (h *HTTP) streamContext(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	stop := context.AfterFunc(h.streams, cancel)
	return ctx, func() { stop(); cancel() }
}

// Listen opens the address to serve at. One that other machines reach needs
// a token.
func (h *HTTP) Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("the address must be HOST:PORT: %w", err)
	}
	if h.o.Token == "" && !loopbackName(host) {
		return nil, fmt.Errorf("%s can be reached from other machines, which needs a token; without one, listen on 127.0.0.1", addr)
	}
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", addr)
}

// Serve answers at the listener until ctx ends. It refuses further calls
// then, lets those that run finish, cancels what is left after the grace,
// and logs which.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: keepTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(h.o.Logger.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	h.drain()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if failed := <-served; !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(err, failed)
	}
	return err
}

// drain ends what runs.
func (h *HTTP) drain() {
	h.endStreams()
	idle := h.calls.refuseMore()
	if !within(idle, h.o.Grace) {
		h.calls.cancelAll()
		within(idle, cancelTime)
	}
	finished, cancelled, left := h.calls.outcome()
	if len(finished)+len(cancelled)+len(left) > 0 {
		h.o.Logger.Warn("stopped while calls were running", "finished", finished, "cancelled", cancelled, "did_not_stop", left)
	}
}

func within(done <-chan struct{}, d time.Duration) bool {
	patience := time.NewTimer(d)
	defer patience.Stop()
	select {
	case <-done:
		return true
	case <-patience.C:
		return false
	}
}

// Close ends every session. Calls that still run are cancelled.
func (h *HTTP) Close() error {
	h.endStreams()
	h.calls.refuseMore()
	h.calls.cancelAll()
	h.closeSessions()
	for s := range h.shared.SDK().Sessions() {
		_ = s.Close() // what is left of a request that has ended
	}
	return h.shared.Close()
}

// SessionPeers returns an opener that gives every client a Handrail session
// of its own, opened with open.
func SessionPeers(open func(context.Context) (*handrail.Session, error), o Options) func(context.Context) (Peer, error) {
	return func(ctx context.Context) (Peer, error) {
		session, err := open(ctx)
		if err != nil {
			return nil, err
		}
		server, err := New(session, o)
		if err != nil {
			return nil, errors.Join(err, session.Close())
		}
		return &sessionPeer{Server: server, stop: server.watch()}, nil
	}
}

type sessionPeer struct {
	*Server
	stop func()
}

func (p *sessionPeer) Close() error {
	p.stop()
	return p.session.Close()
}

// SDK is the protocol's side of the server.
func (s *Server) SDK() *mcp.Server { return s.sdk }
