package mcp

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/handrail-tools/handrail"
)

// maxLeft is how many sessions may still finish calls in workspaces that the
// client has left. When there are more, the oldest is ended.
const maxLeft = 4

// home is one Handrail session that a server shows, and the calls that are
// in it.
type home struct {
	session *handrail.Session
	root    string // the client's root that it was opened for; "" for the operator's own
	calls   int
	left    bool // another has taken its place
	ending  bool
	stop    func() // of the watch on its list
}

// homes are the sessions of one server: the one that is shown and those that
// were left and finish their calls.
type homes struct {
	mu      sync.Mutex
	own     *home // the operator's, which outlives the server
	current *home
	left    []*home
	ending  sync.WaitGroup
	ends    int           // how many are ending
	over    chan struct{} // closed, and made anew, when one has ended
}

// enter gives the session that calls go to; leave gives it back.
func (s *Server) enter() *home {
	s.homes.mu.Lock()
	defer s.homes.mu.Unlock()
	h := s.homes.current
	h.calls++
	return h
}

func (s *Server) leave(h *home) {
	s.homes.mu.Lock()
	h.calls--
	over := h.left && h.calls == 0
	s.homes.mu.Unlock()
	if over {
		s.endLater(h)
	}
}

// serving is the session that is shown.
func (s *Server) serving() *handrail.Session {
	s.homes.mu.Lock()
	defer s.homes.mu.Unlock()
	return s.homes.current.session
}

// root is the client's root that is the workspace, or "".
func (s *Server) root() string {
	s.homes.mu.Lock()
	defer s.homes.mu.Unlock()
	return s.homes.current.root
}

// move shows another session from here on. Calls that are in the one before
// finish there.
func (s *Server) move(to *home) {
	s.homes.mu.Lock()
	from := s.homes.current
	s.homes.current = to
	var over []*home
	if from != to && from != s.homes.own {
		from.left = true
		s.homes.left = append(s.homes.left, from)
		if from.calls == 0 {
			over = append(over, from)
		} else if len(s.homes.left) > maxLeft {
			over = append(over, s.homes.left[0])
		}
	}
	s.homes.mu.Unlock()
	for _, h := range over {
		s.endLater(h)
	}
}

// endLater ends a session that was left, without waiting for it: its calls
// may take a moment to stop. closeHomes waits.
func (s *Server) endLater(h *home) {
	s.homes.mu.Lock()
	if h.ending {
		s.homes.mu.Unlock()
		return
	}
	h.ending = true
	s.homes.left = slices.DeleteFunc(s.homes.left, func(l *home) bool { return l == h })
	s.homes.ending.Add(1) // under the lock, so that closeHomes sees it
	s.homes.ends++
	s.homes.mu.Unlock()
	go func() {
		defer s.homes.ending.Done()
		defer s.ended()
		h.stop()
		if err := h.session.Close(); err != nil {
			s.logger.Error("closing a session", "error", err)
		}
	}()
}

// ended lets go on who waits for a session to end.
func (s *Server) ended() {
	s.homes.mu.Lock()
	defer s.homes.mu.Unlock()
	s.homes.ends--
	close(s.homes.over)
	s.homes.over = make(chan struct{})
}

// roomForHome waits until no more than maxLeft sessions are ending, each of
// which still has its files open: a client can change its roots faster than
// its calls stop.
func (s *Server) roomForHome(ctx context.Context) error {
	for {
		s.homes.mu.Lock()
		ends, over := s.homes.ends, s.homes.over
		s.homes.mu.Unlock()
		if ends < maxLeft {
			return nil
		}
		select {
		case <-over:
		case <-ctx.Done():
			return fmt.Errorf("%d sessions of this client are still ending: %w", ends, ctx.Err())
		}
	}
}

// closeHomes ends every session but the operator's, and shows that again.
func (s *Server) closeHomes() {
	s.move(s.homes.own)
	s.homes.mu.Lock()
	left := slices.Clone(s.homes.left)
	s.homes.mu.Unlock()
	for _, h := range left {
		s.endLater(h)
	}
	s.homes.ending.Wait()
}
