package netproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// tunnel connects and lets bytes through in both directions.
func (p *Proxy) tunnel(ctx context.Context, w http.ResponseWriter, addrs []netip.AddrPort) {
	far, err := p.dial(ctx, addrs)
	if err != nil {
		http.Error(w, "The host was allowed but could not be reached: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = far.Close() }() // both directions have ended
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "The connection cannot become a tunnel.", http.StatusInternalServerError)
		return
	}
	defer func() { _ = near.Close() }() // both directions have ended
	if !p.track(near, far) {
		return
	}
	defer p.untrack(near, far)
	_ = near.SetDeadline(time.Time{}) // the header's; copying sets its own
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		// What the client sent with its request was read already.
		early := io.LimitReader(buffered, int64(buffered.Reader.Buffered()))
		if _, err := io.Copy(far, early); err == nil {
			pass(far, near)
		}
		halfClose(far)
	})
	both.Go(func() {
		pass(near, far)
		halfClose(near)
	})
	both.Wait()
}

// pass copies until the end or until nothing came for idleTimeout.
func pass(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		_ = from.SetReadDeadline(time.Now().Add(idleTimeout)) // a closed connection fails in Read
		n, err := from.Read(buf)
		if n > 0 {
			_ = to.SetWriteDeadline(time.Now().Add(idleTimeout)) // a closed connection fails in Write
			if _, werr := to.Write(buf[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				// A broken direction breaks the other, or both would wait.
				_, _ = to.Close(), from.Close()
			}
			return
		}
	}
}

// halfClose passes the end of one direction on and leaves the other open.
func halfClose(c net.Conn) {
	if b, ok := c.(*boundedConn); ok {
		c = b.Conn
	}
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		_ = h.CloseWrite() // closed already, by the other side
		return
	}
	_ = c.Close() // it cannot close by halves
}

// track remembers the connections of a tunnel for Close, unless that was.
func (p *Proxy) track(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	for _, c := range conns {
		p.tunnels[c] = struct{}{}
	}
	return true
}

func (p *Proxy) untrack(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.tunnels, c)
	}
}

// bounded is a listener that accepts no more than its slots.
type bounded struct {
	net.Listener
	slots chan struct{}
	once  sync.Once
	done  chan struct{}
}

// Accept waits for a slot, then for a connection.
func (b *bounded) Accept() (net.Conn, error) {
	b.once.Do(func() { b.done = make(chan struct{}) })
	select {
	case b.slots <- struct{}{}:
	case <-b.done:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.slots
		return nil, err
	}
	return &boundedConn{Conn: c, free: func() { <-b.slots }}, nil
}

// Close ends a waiting Accept, too.
func (b *bounded) Close() error {
	b.once.Do(func() { b.done = make(chan struct{}) })
	select {
	case <-b.done:
	default:
		close(b.done)
	}
	return b.Listener.Close()
}

// boundedConn gives its slot back when it is closed.
type boundedConn struct {
	net.Conn
	once sync.Once
	free func()
}

// Close closes the connection.
func (c *boundedConn) Close() error {
	c.once.Do(c.free)
	return c.Conn.Close()
}
