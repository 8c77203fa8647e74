package mcp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one client that opened a session.
type session struct {
	sdk  *mcp.ServerSession
	rate *bucket
	// unused ends the session unless it is stopped, as its first message
	// does: who only opens sessions must not keep others out for long.
	unused *time.Timer

	mu   sync.Mutex
	open map[string]struct{} // ids of requests that are not answered
	// The stream of news that is open: how to end it, and when it has ended.
	stop  context.CancelFunc
	ended chan struct{}
}

type peerKey struct{}

// peerOf gives the SDK the server of a session that is being opened. For
// other requests it only asks which revisions there are.
func (h *HTTP) peerOf(r *http.Request) *mcp.Server {
	if peer, ok := r.Context().Value(peerKey{}).(Peer); ok {
		return peer.SDK()
	}
	return h.blank
}

// session returns an open session.
func (h *HTTP) session(id string) (*session, *refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[id]; s != nil {
		return s, nil
	}
	return nil, refuse(http.StatusNotFound, "there is no such session, or no longer; send initialize for a new one")
}

// openSession makes a peer and lets the SDK open its session.
func (h *HTTP) openSession(w *stream, r *http.Request) *refusal {
	if !h.reserve() {
		return busy("all %d sessions are taken; send initialize again later", h.o.Sessions)
	}
	// The peer lives longer than the request.
	peer, err := h.o.Open(context.WithoutCancel(r.Context()))
	if err != nil {
		h.free("")
		h.o.Logger.Error("opening a session", "error", err)
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			return busy("no further session can be opened while so many files are open; send initialize again later")
		}
		return refuse(http.StatusInternalServerError, "the session could not be opened; the server's log says why")
	}
	peer.SDK().AddReceivingMiddleware(h.calls.track)
	registered := false
	// The client may use its session as soon as it has read its name.
	w.begun = func(header http.Header) { registered = h.register(header.Get(sessionHeader), peer) }
	h.stateful.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), peerKey{}, peer)))
	if !registered {
		for sdk := range peer.SDK().Sessions() {
			_ = sdk.Close() // however it ends, it does
		}
		h.free("")
		h.closePeer(peer)
	}
	return nil
}

// reserve takes the place of one session.
func (h *HTTP) reserve() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reserved >= h.o.Sessions || h.streams.Err() != nil {
		return false
	}
	h.reserved++
	return true
}

// free gives the place of a session back.
func (h *HTTP) free(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reserved--
	delete(h.sessions, id)
}

// register makes a session known by its id and waits for its end beside.
func (h *HTTP) register(id string, peer Peer) bool {
	for sdk := range peer.SDK().Sessions() {
		if id == "" || sdk.ID() != id {
			continue
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.streams.Err() != nil {
			return false // the server is being closed and would not end it
		}
		s := &session{sdk: sdk, rate: newBucket(h.o.Rate), open: map[string]struct{}{}}
		s.unused = time.AfterFunc(cmp.Or(h.first, firstTime), func() { _ = sdk.Close() })
		h.sessions[id] = s
		h.waiters.Go(func() {
			_ = sdk.Wait() // however it ended, it has
			s.unused.Stop()
			h.free(id)
			h.closePeer(peer)
		})
		return true
	}
	return false
}

func (h *HTTP) closePeer(peer Peer) {
	if err := peer.Close(); err != nil {
		h.o.Logger.Error("closing a session", "error", err)
	}
}

// postInSession passes on a message of an open session.
func (h *HTTP) postInSession(w *stream, r *http.Request, id string, seen glance) *refusal {
	s, no := h.session(id)
	if no != nil {
		return no
	}
	s.unused.Stop()
	if seen.id != nil {
		key := idKey(seen.id)
		if no := s.begin(key); no != nil {
			return no
		}
		defer s.end(key)
	}
	h.stateful.ServeHTTP(w, r)
	return nil
}

func (s *session) begin(key string) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.open[key]; taken {
		// Two answers under one id could not be told apart.
		return refuse(http.StatusBadRequest, idTaken)
	}
	if len(s.open) >= maxOpen {
		return busy(tooMany)
	}
	s.open[key] = struct{}{}
	return nil
}

func (s *session) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, key)
}

// listen serves the stream of news. It takes the place of an earlier one,
// which a client that lost its connection cannot end itself.
func (h *HTTP) listen(w *stream, r *http.Request, s *session) {
	ctx, stop := h.streamContext(r.Context())
	defer stop()
	ended := make(chan struct{})
	defer close(ended)
	s.mu.Lock()
	before, beforeEnded := s.stop, s.ended
	s.stop, s.ended = stop, ended
	s.mu.Unlock()
	if before != nil {
		before()
		<-beforeEnded
	}
	h.stateful.ServeHTTP(w, r.WithContext(ctx))
}

// closeSessions ends every session and waits until each is closed.
func (h *HTTP) closeSessions() {
	h.mu.Lock()
	var open []*session
	for _, s := range h.sessions {
		open = append(open, s)
	}
	h.mu.Unlock()
	for _, s := range open {
		_ = s.sdk.Close() // however it ends, it does
	}
	h.waiters.Wait()
}
