package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainGrace is how long requests that were already taken may still be
// answered after a client has closed its sending side.
const drainGrace = 10 * time.Second

// draining wraps a transport so that the end of input does not cut off
// answers: a script that writes its requests and closes gets them all.
//
// It also keeps the order of calls. The SDK handles each request in a
// goroutine of its own, so of two calls that follow each other on the wire
// the second could take its place in the queue first: the next call is read
// only when the one before has its place.
type draining struct {
	mcp.Transport
	placed *placed
}

// placed is told when a call has its place in the session's queue.
type placed struct{ signal chan struct{} }

func newPlaced() *placed { return &placed{make(chan struct{}, 1)} }

func (p *placed) tell() {
	select {
	case p.signal <- struct{}{}:
	default:
	}
}

func (d draining) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: conn, placed: d.placed, open: map[jsonrpc.ID]bool{}, closed: make(chan struct{})}, nil
}

type drainingConn struct {
	mcp.Connection
	placed *placed
	call   bool       // the last request that was read is a call; used by Read alone
	callID jsonrpc.ID // its id, under mu

	mu      sync.Mutex
	open    map[jsonrpc.ID]bool
	settled chan struct{} // made at the end of input; closed when none is open
	closed  chan struct{}
	once    sync.Once
}

func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	if c.call {
		c.call = false
		select {
		case <-c.placed.signal:
		case <-c.closed:
		case <-ctx.Done():
		}
	}
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		c.mu.Lock()
		c.open[req.ID] = true
		if c.call = req.Method == "tools/call"; c.call {
			c.callID = req.ID
			select {
			case <-c.placed.signal: // left by the call before
			default:
			}
		}
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.drain(ctx)
	}
	return msg, err
}

// drain waits until every request that was read has been answered.
func (c *drainingConn) drain(ctx context.Context) {
	c.mu.Lock()
	if len(c.open) == 0 {
		c.mu.Unlock()
		return
	}
	settled := make(chan struct{})
	c.settled = settled
	c.mu.Unlock()
	patience := time.NewTimer(drainGrace)
	defer patience.Stop()
	select {
	case <-settled:
	case <-c.closed:
	case <-ctx.Done():
	case <-patience.C:
	}
}

func (c *drainingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if resp, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, resp.ID)
		if resp.ID == c.callID {
			c.placed.tell() // refused before it came to the session
		}
		if c.settled != nil && len(c.open) == 0 {
			close(c.settled)
			c.settled = nil
		}
		c.mu.Unlock()
	}
	return err
}

func (c *drainingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
